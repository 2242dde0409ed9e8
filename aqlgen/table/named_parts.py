"""The parts of a body or a filter that the document leaves open: further fields, and the names of fields.

What an adapter renamed in an answer has its API's name again where it is sent to the same resource (R-SEL-1): an update
takes the names of what reads the resource, an operation that creates one those of its own answer or of what reads an
item. An object whose schema lacks fields of the document's own example takes further ones (R-REQ-3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from aqlgen.decide.decision import Category
from aqlgen.ir import MISSING, Json
from aqlgen.runtime.calls.selection import items_path
from aqlgen.runtime.encode.urls import without_names
from aqlgen.runtime.schema import alternatives, as_schema, only_type, parts, pointer_of, referred, shape_of, union_of
from aqlgen.runtime.schema.field_names import NAMED_AS, Names
from aqlgen.runtime.table import Parameter, Update, first_success
from aqlgen.runtime.text import folded
from aqlgen.table.kinds import Choices
from aqlgen.table.rows import Draft

if TYPE_CHECKING:
    from aqlgen.runtime.table import Table as RuntimeTable

_DEEPEST: Final = 8
_MOST: Final = 200
"""How deep a body is looked into for what it leaves open, and how many of its schemas."""

_SAID: Final = frozenset({"properties", "items", "additionalProperties", "patternProperties", "enum", "const"})
"""Keywords that say what an object, a list or a map holds."""

Schema: TypeAlias = Mapping[str, Json]


def with_names_as_read(drafts: Sequence[Draft], types: Mapping[str, dict[str, Json]]) -> list[Draft]:
    """Return drafts whose parameters tell the type of each part of a body that the document leaves open."""
    naming = _Naming(drafts, types)
    return [naming.named(draft) for draft in drafts]


class _Naming:
    """What operations answer, and the names that it has."""

    def __init__(self, drafts: Sequence[Draft], types: Mapping[str, dict[str, Json]]) -> None:
        self._types = types
        self._names = Names(cast("RuntimeTable", SimpleNamespace(types=types)))
        reads = [draft for draft in drafts if draft.decision.category is Category.READ]
        self._by_name = {draft.decision.name: draft for draft in reads}
        self._things: dict[str, tuple[tuple[str, ...], Schema]] = {}
        self._by_path = {_template(draft): draft for draft in reads if draft.decision.operation.method.upper() == "GET"}

    def named(self, draft: Draft) -> Draft:
        """Return a draft whose parameters have the types of what they leave open."""
        read = () if draft.body is None else self._read(draft)
        asked = self._asked(draft)
        if not read and not asked:
            return draft
        choices = draft.choices
        kinds = [kind for choice in choices.by_parameter.values() for kind in choice.kinds.values()]
        wholes = frozenset(body.parameter for body in (draft.body, *(kind.body for kind in kinds)) if body is not None)

        fields = [dict(union_of(self._types, schema).properties.values()) for schema in read]

        def typed(parameter: Parameter) -> Parameter:
            if parameter.location == "query":
                return self._filter(parameter, asked)
            if not parameter.location.startswith("body"):
                return parameter
            if parameter.location != "body" or parameter.name in wholes:
                return self._typed(parameter, read)
            wire = parameter.wire
            return self._typed(parameter, tuple(declared[wire] for declared in fields if wire in declared)[:1])

        by_parameter = {
            name: replace(
                choice,
                kinds={
                    key: replace(kind, parameters={item: typed(value) for item, value in kind.parameters.items()})
                    for key, kind in choice.kinds.items()
                },
            )
            for name, choice in choices.by_parameter.items()
        }
        changed = {name: typed(item) for name, item in choices.changed.items()}
        added = tuple(map(typed, choices.parameters))
        return replace(
            draft,
            parameters=tuple(map(typed, draft.parameters)),
            choices=Choices(parameters=added, changed=changed, by_parameter=by_parameter),
        )

    def _read(self, draft: Draft) -> tuple[Schema, ...]:
        """Return the resource as it is read, alone and within its envelope; nothing where no field is renamed."""
        template = _template(draft)
        candidates: list[Draft | None] = []
        if draft.decision.category is Category.CREATE:
            candidates = [draft, self._by_path.get(f"{template}/{{}}")]
        elif draft.decision.category is Category.UPDATE:
            update = draft.decision.trait(Update)
            reader = None if update is None else self._by_name.get(update.read or "")
            candidates = [reader, self._by_path.get(template), draft]
        for candidate in filter(None, candidates):
            answer = _answer(candidate)
            path, thing = self._thing(candidate)
            if union_of(self._types, thing).properties:
                read = (thing, answer) if path else (thing,)
                return read if self._names.renaming(answer) is not None else ()
        return ()

    def _thing(self, draft: Draft) -> tuple[tuple[str, ...], Schema]:
        """Return where in its answer the things of an operation are, and the schema of one, looked up once."""
        thing = self._things.get(draft.decision.name)
        if thing is None:
            thing = self._things[draft.decision.name] = items_path(self._types, _answer(draft))
        return thing

    def _asked(self, draft: Draft) -> tuple[Schema, ...]:
        """Return the things that the query of an operation is about: those of its path, or of the one above."""
        if all(parameter.location != "query" for parameter in draft.parameters):
            return ()
        template = _template(draft)
        above = template.rpartition("/")[0]
        for place in (template, f"{template}/{{}}", above, f"{above}/{{}}"):
            reader = self._by_path.get(place)
            thing = {} if reader is None else self._thing(reader)[1]
            if self._names.renaming(thing) is not None:
                return (thing,)
        return ()

    def _filter(self, parameter: Parameter, asked: tuple[Schema, ...]) -> Parameter:
        """Return a parameter of the query with the type of the things, if it is an object of which no more is said.

        The keys of such an object are conditions on fields, whatever the schema says of further ones.
        """
        schema = {
            key: value for key, value in parameter.schema.items() if (key, value) != ("additionalProperties", True)
        }
        if not asked or only_type(schema) != "object" or not self._is_open(schema):
            return parameter
        types = {"$ref": asked[0]["$ref"]} if "$ref" in asked[0] else asked[0]
        return replace(parameter, schema={**parameter.schema, NAMED_AS: {"": types}})

    def _typed(self, parameter: Parameter, read: tuple[Schema, ...]) -> Parameter:
        """Return a parameter with the types of what it leaves open, by pointers of the agent's names."""
        places = dict(self._places(parameter.schema, read))
        return replace(parameter, schema={**parameter.schema, NAMED_AS: places}) if places else parameter

    def _places(self, written: Schema, read: tuple[Schema, ...]) -> Iterator[tuple[str, Schema]]:
        """Yield where a schema leaves open what is read with renamed fields, and the type of that."""
        todo: list[tuple[tuple[str, ...], Schema, tuple[Schema, ...]]] = [((), written, read)]
        seen: set[tuple[str | None, str | None]] = set()
        for _ in range(_MOST):
            if not todo:
                break
            steps, written, read = todo.pop(0)
            read = tuple(schema for schema in read if self._names.renaming(schema) is not None)
            if not read:
                continue
            pair = (referred(written), referred(read[0]))
            if pair[0] is not None and (pair in seen or pair[0] == pair[1]):
                continue
            seen.add(pair)
            if self._is_open(written):
                types = [{"$ref": schema["$ref"]} if "$ref" in schema else schema for schema in read]
                yield pointer_of(steps), types[0] if len(types) == 1 else {"anyOf": types}
                continue
            if len(steps) < _DEEPEST:
                todo += self._within(steps, written, read)

    def _within(
        self, steps: tuple[str, ...], written: Schema, read: tuple[Schema, ...]
    ) -> Iterator[tuple[tuple[str, ...], Schema, tuple[Schema, ...]]]:
        """Yield the fields of an object or the items of a list, each with its schemas as written and as read."""
        shape = shape_of(self._types, written)
        wires = {wire for wire, _ in shape.properties.values()}
        shapes = [union_of(self._types, schema) for schema in read]
        nearest = max(shapes, key=lambda other: len(wires & {wire for wire, _ in other.properties.values()}))
        declared = dict(nearest.properties.values())
        for name, (wire, inner) in shape.properties.items():
            if wire in declared:
                yield (*steps, name), inner, (declared[wire],)
        if shape.items and nearest.items:
            yield (*steps, "*"), shape.items[0], (nearest.items[0],)

    def _is_open(self, schema: Schema) -> bool:
        """Return True if a schema, or an alternative of it, is an object of which no more is said: it is no map."""
        if any(not part.keys().isdisjoint(_SAID) for part in parts(schema, self._types)):
            return False
        shape = shape_of(self._types, schema)
        if shape.alternatives:
            return any(self._is_open(option) for option in shape.alternatives if referred(option) is None)
        return only_type(schema, guess=False) in (None, "object")


def _template(draft: Draft) -> str:
    return without_names(draft.decision.operation.path.rstrip("/"))


def _answer(draft: Draft) -> Schema:
    return as_schema(first_success(draft.responses).get("schema"))


_MOST_VALUES: Final = 10_000
"""How many values of examples are looked at."""
_CLOSING: Final = frozenset({"additionalProperties", "unevaluatedProperties"})


def open_by_examples(drafts: Iterable[Draft], types: Mapping[str, Schema], target: Callable[[Json], Json]) -> None:
    """Mark each schema within a body that lacks a field of the body's example as one that takes further fields.

    The body itself is not marked: a credential that the adapter sends may be in its example.
    """
    todo: list[tuple[Json, Json]] = []
    roots: set[int] = set()
    for draft in drafts:
        roots.add(id(_root(draft)))
        todo += _values(draft, target)
    for _ in range(_MOST_VALUES):
        if not todo:
            break
        schema, value = todo.pop()
        shape = union_of(types, schema)
        if isinstance(value, list) and shape.items:
            todo += ((shape.items[0], item) for item in value)
        elif isinstance(value, dict) and shape.properties:
            declared = dict(shape.properties.values()) | {name: raw for name, (_, raw) in shape.properties.items()}
            further, hidden = value.keys() - declared.keys(), set(map(folded, shape.hidden))
            if id(schema) not in roots and not hidden.issuperset(map(folded, further)):
                _open(schema, types)
            todo += ((declared[key], value[key]) for key in filter(declared.__contains__, value))


def _root(draft: Draft) -> Schema | None:
    """Return the schema of a body that is one parameter."""
    name = None if draft.body is None else draft.body.parameter
    return next((parameter.schema for parameter in draft.parameters if parameter.name == name), None)


def _values(draft: Draft, target: Callable[[Json], Json]) -> Iterator[tuple[Json, Json]]:
    """Yield schema and value of each parameter in the examples of a body."""
    root = _root(draft)
    for example in _examples(draft, target):
        for parameter in draft.parameters:
            if parameter.schema is root:
                yield parameter.schema, example
            elif parameter.location == "body" and isinstance(example, dict) and parameter.wire in example:
                yield parameter.schema, example[parameter.wire]


def _examples(draft: Draft, target: Callable[[Json], Json]) -> Iterator[Json]:
    """Yield the examples of an operation's body: that of its content, and those of its schemas."""
    body = draft.decision.operation.body
    if draft.body_example is not MISSING:
        yield draft.body_example
    for media in body.media if body is not None else ():
        schema = as_schema(target(media.schema))
        yield from (schema["example"],) if "example" in schema else ()
        yield from schema["examples"] if isinstance(schema.get("examples"), list) else ()


def _open(schema: Mapping[str, Json], types: Mapping[str, Schema]) -> None:
    for option in (schema, *alternatives(schema)):
        for part in parts(option, types):
            if isinstance(part, dict) and "properties" in part and part.keys().isdisjoint(_CLOSING):
                part["additionalProperties"] = True
