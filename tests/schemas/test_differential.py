"""An adapter accepts what the document admits: both validate the same values, for generated schemas."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import FLAG, INTEGER, TEXT, object_of, ref
from tests.examples import examples
from tests.schemas.adapter import adapted
from tests.schemas.oracle import validator

Schema = dict[str, Any]

WIRES = ("petId", "name", "kind", "homeAddress", "tags", "x-flag", "class", "isOld")
"""Each property name always has values of one kind, so that branches of allOf do not contradict one another."""


def texts() -> st.SearchStrategy[Schema]:
    return st.sampled_from(
        [
            TEXT,
            {"type": "string", "enum": ["a", "b"]},
            {"type": "string", "enum": ["a", "c"]},
            {"type": "string", "minLength": 1},
            {"type": "string", "maxLength": 2},
            {"type": "string", "pattern": "^[a-z]*$"},
            {"const": "a"},
            {"oneOf": [{"type": "string", "maxLength": 1}, {"type": "string", "pattern": "^a"}]},
        ]
    )


def numbers() -> st.SearchStrategy[Schema]:
    return st.sampled_from(
        [
            INTEGER,
            {"type": "number"},
            {"type": "integer", "minimum": 1},
            {"type": "integer", "maximum": 5},
            {"type": "number", "multipleOf": 2},
            {"type": "integer", "multipleOf": 3},
            {"type": ["integer", "string"]},
            {"enum": [1, 2, 6]},
        ]
    )


def arrays(depth: int) -> st.SearchStrategy[Schema]:
    extra: list[Schema] = [
        {},
        {"minItems": 1},
        {"maxItems": 2},
        {"uniqueItems": True},
        {"contains": {"const": "a"}},
        {"contains": {"type": "object", "required": ["petId"]}, "minContains": 1, "maxContains": 1},
        {"prefixItems": [TEXT, INTEGER], "items": False},
        {"prefixItems": [TEXT]},
    ]
    item = st.one_of(texts(), objects(depth - 1) if depth > 0 else texts())
    return st.builds(
        lambda items, keywords: {"type": "array", "items": items, **keywords}, item, st.sampled_from(extra)
    )


def field(wire: str, depth: int) -> st.SearchStrategy[Any]:
    if wire in ("petId",):
        return numbers()
    if wire == "homeAddress":
        return st.one_of(objects(depth - 1), st.just(ref("Address"))) if depth else st.just({})
    if wire == "tags":
        return arrays(depth)
    if wire == "isOld":
        return st.sampled_from([FLAG, True])
    return texts()


@st.composite
def conditions(draw: st.DrawFn) -> Schema:
    """Return a schema that constrains the fields of the enclosing object."""
    wires = st.lists(st.sampled_from(WIRES), min_size=1, max_size=2, unique=True)
    kind = draw(st.sampled_from(["required", "const", "nested", "properties", "not"]))
    if kind == "required":
        return {"required": draw(wires)}
    if kind == "const":
        return {"properties": {"kind": {"const": draw(st.sampled_from(["a", "b"]))}}, "required": ["kind"]}
    if kind == "nested":
        return {"properties": {"homeAddress": {"required": draw(wires)}}}
    if kind == "not":
        return {"not": {"required": draw(wires)}}
    wire = draw(st.sampled_from(("petId", "name", "kind")))
    return {"properties": {wire: draw(field(wire, 0))}}


@st.composite
def objects(draw: st.DrawFn, depth: int, *, branches: bool = True) -> Schema:
    wires = draw(st.lists(st.sampled_from(WIRES), max_size=4, unique=True))
    schema: Schema = {}
    if draw(st.integers(0, 4)):
        schema["type"] = draw(st.sampled_from(["object", "object", ["object", "null"]]))
    if wires:
        schema["properties"] = {wire: draw(field(wire, depth)) for wire in wires}
    if draw(st.booleans()):
        schema["required"] = draw(st.lists(st.sampled_from(WIRES), max_size=2, unique=True))
    if not branches:
        return schema
    strategies = keywords(depth)
    for index in draw(st.lists(st.sampled_from(range(len(strategies))), max_size=3, unique=True)):
        schema |= draw(strategies[index])
    if "allOf" in schema:  # where a closed branch counts as open, as documented
        schema.pop("additionalProperties", None)
    if not schema.keys().isdisjoint({"allOf", "anyOf", "oneOf", "properties", "required"}):  # which may be renamed
        schema.pop("patternProperties", None)
    return schema


def keywords(depth: int) -> list[st.SearchStrategy[Any]]:
    """Return strategies for one more keyword (or pair of keywords) of an object each."""
    wire = st.sampled_from(WIRES)
    simple = objects(0, branches=False)
    branches = st.lists(parts(depth - 1), min_size=1, max_size=3)
    return [
        st.fixed_dictionaries({"allOf": branches}) if depth > 0 else st.just({}),
        st.fixed_dictionaries({"anyOf": st.lists(st.one_of(conditions(), simple), min_size=1, max_size=3)}),
        st.fixed_dictionaries({"oneOf": st.lists(simple, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"if": conditions(), "then": conditions()}),
        st.fixed_dictionaries({"if": conditions(), "else": conditions()}),
        st.fixed_dictionaries({"not": conditions()}),
        st.fixed_dictionaries({"dependentSchemas": entry(wire, conditions())}),
        st.fixed_dictionaries({"patternProperties": entry(st.sampled_from(["^x-", "^[a-z_]+$", "-"]), texts())}),
        st.fixed_dictionaries({"additionalProperties": st.one_of(st.just(False), texts())}),
        st.just({"unevaluatedProperties": False}),
        st.just({"propertyNames": {"pattern": "^[a-zA-Z]*$"}}),
        st.just({"minProperties": 1}),
    ]


def entry(key: st.SearchStrategy[str], value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda key, value: {key: value}, key, value)


def parts(depth: int) -> st.SearchStrategy[Any]:
    """Return a strategy for branches of allOf: open objects, conditions, a component."""
    return st.one_of(
        objects(depth, branches=False),
        conditions(),
        st.just(ref("Address")),
        st.just(ref("Node")),
    )


COMPONENTS: dict[str, Schema] = {
    "Address": object_of(name=TEXT, petId=INTEGER),
    "Node": object_of(homeAddress=ref("Node"), kind=TEXT),
}

SCALARS = st.sampled_from([None, True, 0, 1, 2, 3, 6, 2.5, "", "a", "ab", "b", "abc", "A1"])


def values(depth: int = 2) -> st.SearchStrategy[Any]:
    plain = {
        "petId": st.sampled_from([1, 2, 6, 0, "a"]),
        "isOld": st.booleans(),
        "name": st.sampled_from(["a", "b", ""]),
    }
    if depth == 0:
        return SCALARS
    inner = values(depth - 1)
    keys = {wire: plain.get(wire, inner if wire in ("tags", "homeAddress") else SCALARS) for wire in WIRES}
    keys["tags"] = st.lists(inner, max_size=3)
    object_values = st.fixed_dictionaries({}, optional={**keys, "other": SCALARS, "otherKey": SCALARS})
    return st.one_of(object_values, object_values, object_values, SCALARS, st.lists(inner, max_size=3))


def agree(schema: Any, value: Any, openapi: str) -> None:
    """Assert that no admitted value is rejected, and that every other accepted one is a documented leniency."""
    ours = adapted(schema, COMPONENTS, openapi=openapi)
    taken = ours.admits(value)
    if validator(schema, COMPONENTS, openapi, lenient=False).is_valid(value):
        assert taken, (ours.schema, ours.types)
    elif taken:
        assert validator(schema, COMPONENTS, openapi, lenient=True).is_valid(value), (ours.schema, ours.types)


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(objects(2), st.lists(values(), min_size=3, max_size=6))
def test_an_adapter_takes_what_a_schema_of_3_1_admits(schema: Schema, given_values: list[Any]) -> None:
    for value in given_values:
        agree(schema, value, "3.1")


def in_3_0(schema: Any) -> Any:
    """Return a schema with null as in 3.0, without keywords that 3.0 does not have."""
    if isinstance(schema, list):
        return [in_3_0(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: in_3_0(value) for key, value in schema.items() if key not in ("prefixItems", "contains")}
    if isinstance(out.get("type"), list):
        out |= {"type": out["type"][0], "nullable": True}
    if "const" in out:
        out["enum"] = [out.pop("const")]
    return out


@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(objects(2).map(in_3_0), st.lists(values(), min_size=3, max_size=6))
def test_an_adapter_takes_what_a_schema_of_3_0_admits(schema: Schema, given_values: list[Any]) -> None:
    for value in given_values:
        agree(schema, value, "3.0")
