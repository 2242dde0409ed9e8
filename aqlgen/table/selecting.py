"""The parameters by which agents choose from an answer: `fields` of writes, `where`, `order_by` and more of lists.

R-SEL-2 and R-SEL-4.

One that has the name of a parameter of the API gives way to it, as `answer_fields`: the API's keeps the name that it
has. A write answers `minimal` where its answer can be read again, whatever envelope it was sent in; where it is a
result that was asked for, as the reply of a model, it is in full.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from aqlgen.decide.decision import Category, Decision
from aqlgen.ir import Json
from aqlgen.runtime.calls import key_names
from aqlgen.runtime.calls.selection import items_path
from aqlgen.runtime.redaction import SECRET_NAME
from aqlgen.runtime.schema import as_schema, referred, schema_at, union_of
from aqlgen.runtime.table import Body, Parameter, Response, first_success
from aqlgen.runtime.text import folded
from aqlgen.table.parameters import FIELDS, SELECTION, choosing_parameter, has_fields

_WHERE: Final = "Only items like {'state': 'open', 'size': {'gt': 3}}"
_AGGREGATE: Final = "Numbers, not items: {'group_by': 'state', 'sum': 'size'}"
_ORDER: Final = "The field to order by; '-size' has the highest first"
_FIRST: Final = "How many items of the list"
_PART: Final = "A part of the text, such as ['[40000:]']"
_ENOUGH: Final = 0.8
"""The share of a write's fields that a read has to give, so that the rest may be left to it."""
_RESULTS: Final = frozenset(
    "answer answers choices completion completions generations output outputs outputtext prediction"
    " predictions reply".split()
)
"""The fields, folded, of what was made in answer to what was sent: a result that was asked for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers with: the type of the thing, its fields, whether it is a list of them, or a text."""

    type: str | None
    fields: frozenset[str]
    required: frozenset[str]
    is_list: bool
    is_text: bool


@dataclass(frozen=True, slots=True)
class Readable:
    """What the operations that read give, by type, and by the fields of each resource."""

    types: frozenset[str]
    fields: Mapping[str, tuple[frozenset[str], ...]]
    keys: Mapping[str, str]
    """The field, folded, of each listed resource that is its variable in the path, with or without its name."""
    listed: frozenset[str]
    """The names, folded, that sound like secrets and are keys of things that the API lists."""

    @classmethod
    def of(cls, answers: Collection[tuple[Decision, Answer]], listed: frozenset[str] = frozenset()) -> Readable:
        """Collect what reads answer with."""
        types: set[str] = set()
        fields: dict[str, tuple[frozenset[str], ...]] = {}
        lists: dict[str, tuple[str, frozenset[str]]] = {}
        for decision, answer in answers:
            resource = decision.resource
            if answer.type is not None:
                types.add(answer.type)
            fields[resource] = (*fields.get(resource, ()), answer.fields)
            if answer.is_list:
                lists[decision.operation.path] = resource, frozenset(map(folded, answer.fields))
        keys: dict[str, str] = {}
        for decision, _ in answers:
            path, _, variable = decision.operation.path.rpartition("/")
            if path in lists and variable[:1] == "{" and variable[-1:] == "}":
                (thing, shown), key = lists[path], folded(variable[1:-1])
                names = (name for name in (key, key.removeprefix(folded(thing))) if name in shown)
                if key in listed or not SECRET_NAME.search(variable):
                    keys.update((thing, name) for name in islice(names, 1))
        return cls(frozenset(types), fields, keys, listed)

    def keys_of(self, resource: str, answer: Answer, sent: Collection[str]) -> tuple[str, ...]:
        """Return the names, folded, that identify things in an answer or a call, although they do not look so."""
        keys = self.listed.intersection(map(folded, sent if self.listed else ()))
        key = self.keys.get(resource, "")
        if key and key not in key_names(resource) and key in map(folded, answer.fields):
            keys |= {key}
        return tuple(sorted(keys))

    def has(self, resource: str, answer: Answer) -> bool:
        """Return True if what an answer says can be read again."""
        if not answer.fields:
            return False
        return answer.type in self.types or any(
            len(answer.fields & fields) >= len(answer.fields) * _ENOUGH for fields in self.fields.get(resource, ())
        )

    def lacks(self, resource: str, answer: Answer) -> tuple[str, ...]:
        """Return the fields of an answer that no operation gives that reads the resource."""
        if answer.type in self.types:
            return ()
        readable = frozenset[str]().union(*self.fields.get(resource, ()))
        return tuple(sorted(answer.fields - readable))


def answer_of(responses: Mapping[str, Response], resource: str, types: Mapping[str, Mapping[str, Json]]) -> Answer:
    """Return the answer of an operation on a resource; one under its own name, as `{server: …}`, is unwrapped."""
    response = first_success(responses)
    schema = as_schema(response.get("schema"))
    is_text = response.get("content_type", "").startswith("text/")
    path, item = items_path(types, schema)
    is_list = bool(union_of(types, schema_at(types, schema, path)).items)
    shape, type_name = union_of(types, item), referred(item)
    thing = folded(resource)
    for name, (_, inner) in shape.properties.items():
        if folded(name) == thing and (within := union_of(types, inner)).properties:
            shape, type_name = within, referred(inner)
            break
    return Answer(type_name, frozenset(shape.properties), frozenset(shape.required), is_list, is_text)


def fields_sent(
    body: Body | None, parameters: Iterable[Parameter], types: Mapping[str, Mapping[str, Json]]
) -> frozenset[str]:
    """Return the fields of the thing that an operation sends; none if it has no body."""
    if body is not None and body.schema:
        return frozenset(union_of(types, items_path(types, body.schema)[1]).properties)
    return frozenset(parameter.name for parameter in parameters if parameter.location == "body")


def selecting_parameters(
    category: Category,
    resource: str,
    returns: str,
    answer: Answer,
    sent: frozenset[str],
    readable: Readable,
    taken: Iterable[str],
    *,
    paged: bool,
) -> tuple[Parameter, ...]:
    """Return the parameters of an operation that choose from its answer; `taken` are the names that the API's have."""
    names = frozenset(taken)
    if category is not Category.READ:
        if not has_fields(returns):
            return ()
        results = set(map(folded, answer.required - sent)) & _RESULTS if category is not Category.UPDATE else ()
        is_result = bool(sent and results)
        usual = "minimal" if not is_result and readable.has(resource, answer) else "full"
        return (choosing_parameter("fields", {**SELECTION, "default": usual}, FIELDS, names),)
    if returns == "string" and answer.is_text:
        return (choosing_parameter("fields", {**SELECTION, "default": "full"}, _PART, names),)
    if not (paged or answer.is_list):
        return ()
    return (
        choosing_parameter("where", {"$ref": "#/types/WhereCondition"}, _WHERE, names),
        choosing_parameter("order_by", {"type": "string", "minLength": 1, "maxLength": 200}, _ORDER, names),
        choosing_parameter("aggregate", {"$ref": "#/types/AggregateRequest"}, _AGGREGATE, names),
        *(() if paged else (choosing_parameter("first", {"type": "integer", "minimum": 1}, _FIRST, names),)),
    )
