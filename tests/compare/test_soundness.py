"""The comparison of two schemas against a validator: what stops being valid is reported as breaking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aqlgen.compare import Level, Surface, compare
from aqlgen.runtime.table import Adapter, row_of
from tests.examples import examples
from tests.runtime.api.hand_made import operation

Schema = dict[str, Any]

ADAPTER = Adapter(
    name="things",
    package="things_adapter",
    title="Things",
    description="",
    version="1",
    api_version="1",
    spec_version="1",
    field_case="snake",
    servers=(),
    security=(),
    security_schemes={},
    counts={"execute": 1},
    quick_start={"execute": "do"},
)
NAMES = ("a", "b", "c")
TYPES = ("One", "Two")
WORDS = ("x", "yy", "zzz")

SCALARS: st.SearchStrategy[Schema] = st.one_of(
    st.just({}),
    st.just({"type": "boolean"}),
    st.fixed_dictionaries({"type": st.just("string")}, optional={"maxLength": st.integers(1, 3)}),
    st.fixed_dictionaries({"type": st.just("string")}, optional={"minLength": st.integers(1, 3)}),
    st.lists(st.sampled_from(WORDS), min_size=1, unique=True).map(lambda words: {"type": "string", "enum": words}),
    st.sampled_from(WORDS).map(lambda word: {"const": word}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={"minimum": st.integers(0, 2), "maximum": st.integers(2, 4)},
    ),
    st.just({"type": ["string", "integer"]}),
    st.just({"type": ["string", "null"]}),
    st.sampled_from(TYPES).map(lambda name: {"$ref": f"#/types/{name}"}),
)


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    properties = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=3))
    schema: Schema = {"type": "object", "properties": properties}
    needed = [name for name in properties if draw(st.booleans())]
    if needed:
        schema["required"] = needed
    more = draw(st.one_of(st.none(), st.just(False), inner))
    return schema if more is None else {**schema, "additionalProperties": more}


def _within(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.one_of(
        _objects(inner),
        inner.map(lambda schema: {"type": "array", "items": schema}),
        st.lists(inner, min_size=2, max_size=3).map(lambda some: {"anyOf": some}),
        inner.map(lambda schema: {"anyOf": [schema, {"type": "null"}]}),
    )


SCHEMAS = st.recursive(SCALARS, _within, max_leaves=5)


@st.composite
def _edited(draw: st.DrawFn, schema: Any) -> Any:
    """Draw a schema that differs from another in one place."""
    inner = [
        key
        for key in ("properties", "items", "anyOf", "additionalProperties")
        if isinstance(schema.get(key), dict | list)
    ]
    if not inner or draw(st.booleans()):
        if schema.get("properties") and draw(st.booleans()):
            return {**schema, "required": draw(st.lists(st.sampled_from(sorted(schema["properties"])), unique=True))}
        return draw(st.one_of(SCALARS, SCALARS.map(lambda other: {"anyOf": [schema, other]})))
    key = draw(st.sampled_from(inner))
    held = schema[key]
    if key == "properties":
        if not held:
            return {**schema, "properties": {"a": draw(SCALARS)}}
        name = draw(st.sampled_from(sorted(held)))
        return {**schema, key: {**held, name: draw(_edited(held[name]))}}
    if key == "anyOf":
        index = draw(st.integers(0, len(held) - 1))
        return {**schema, key: [draw(_edited(form)) if at == index else form for at, form in enumerate(held)]}
    return {**schema, key: draw(_edited(held))}


PAIRS = st.one_of(
    st.tuples(SCHEMAS, SCHEMAS), SCHEMAS.flatmap(lambda schema: st.tuples(st.just(schema), _edited(schema)))
)


def surface(schema: Schema, types: Mapping[str, Schema]) -> Surface:
    """Return an adapter whose one operation takes a value of the schema and answers with one."""
    answers = {"200": {"content_type": "application/json", "schema": schema}}
    value = {"value": {"in": "body", "schema": schema}}
    row = operation("POST", "/things", resource="thing", danger="reversible", parameters=value, responses=answers)
    return Surface({"do": row_of("do", "execute", row)}, types, ADAPTER)


def values(schema: Any, types: Mapping[str, Schema], data: st.DataObject, depth: int = 0) -> Any:
    """Draw a value that is likely to be valid, with no fields but declared ones and `d`."""
    if "$ref" in schema:
        return values(types[schema["$ref"].rsplit("/", 1)[-1]], types, data, depth + 1) if depth < 4 else None
    if "anyOf" in schema:
        return values(data.draw(st.sampled_from(schema["anyOf"])), types, data, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return data.draw(st.sampled_from(schema["enum"]))
    kind = schema.get("type", ["string", "integer", "boolean", "null", "array", "object"])
    kind = data.draw(st.sampled_from(kind)) if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        names = [*schema.get("required", ()), *data.draw(st.lists(st.sampled_from([*properties, "d"]), max_size=3))]
        more = schema.get("additionalProperties", {})
        fields = {}
        for name in dict.fromkeys(names):
            inner = properties.get(name, more)
            if inner is not False:
                fields[name] = values(inner, types, data, depth + 1) if depth < 4 else None
        return fields
    if kind == "array":
        return [values(schema.get("items", {}), types, data, depth + 1) for _ in range(data.draw(st.integers(0, 2)))]
    samples = {
        "string": st.sampled_from(["", *WORDS, "other"]),
        "integer": st.integers(-1, 5),
        "number": st.sampled_from([-1, 0.5, 1, 3.5, 5]),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return data.draw(samples[kind])


def valid(schema: Schema, types: Mapping[str, Schema], value: Any) -> bool:
    whole = {**schema, "types": dict(types)}
    return jsonschema_rs.Draft202012Validator(whole).is_valid(value)


def levels(old: Surface, new: Surface, direction: str) -> Iterator[Level]:
    for change in compare(old, new).changes:
        if not change.directions or direction in [way.value for way in change.directions]:
            yield change.level


UNNOTICED = frozenset({"minLength", "maxLength", "minimum", "maximum", "additionalProperties"})
"""Keywords that may be looser in an answer without an effect on an agent that reads it."""

SIDES = st.tuples(_objects(SCALARS), _objects(SCALARS)).map(lambda both: dict(zip(TYPES, both, strict=True)))
EXAMPLES = settings(
    max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def without(schema: Any) -> Any:
    """Return a schema without the keywords that have no effect in answers."""
    if isinstance(schema, dict):
        return {key: without(value) for key, value in schema.items() if key not in UNNOTICED}
    return [without(item) for item in schema] if isinstance(schema, list) else schema


@EXAMPLES
@given(PAIRS, SIDES, SIDES, st.data())
def test_what_is_refused_now_is_reported_as_breaking(
    pair: tuple[Schema, Schema], before: dict[str, Schema], after: dict[str, Schema], data: st.DataObject
) -> None:
    old, new = pair
    value = values(old, before, data)
    assume(valid(old, before, value) and not valid(new, after, value))
    assert Level.BREAKING in levels(surface(old, before), surface(new, after), "input")


@EXAMPLES
@given(PAIRS, SIDES, SIDES, st.data())
def test_what_is_answered_now_and_was_not_before_is_reported(
    pair: tuple[Schema, Schema], before: dict[str, Schema], after: dict[str, Schema], data: st.DataObject
) -> None:
    old, new, before, after = without(pair[0]), without(pair[1]), without(before), without(after)
    value = values(new, after, data)
    assume(valid(new, after, value) and not valid(old, before, value))
    assert {*levels(surface(old, before), surface(new, after), "output")} - {Level.COMPATIBLE}


def test_a_field_that_is_declared_no_more_must_fit_what_other_fields_must() -> None:
    """Found by the property above: a text that was taken is refused where undeclared fields are to be booleans."""
    old = {"type": "object", "properties": {"a": {"const": "x"}}, "additionalProperties": False}
    new = {"type": "object", "properties": {}, "additionalProperties": {"type": "boolean"}}
    assert Level.BREAKING in levels(surface(old, {}), surface(new, {}), "input")
