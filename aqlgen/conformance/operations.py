"""The operations of an adapter, as its table and its introspection tell, and calls that are made of them.

What a call should become as a request is said here once more, by the OpenAPI document's rules for simple values and
independently of the code that builds the adapter's requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

from aqlgen.conformance.stand_in import Arrived
from aqlgen.runtime.schema import resolve
from aqlgen.runtime.table import FAMILIES, Parameter, Row, Table, is_plain_read
from aqlgen.table.sample_values import ValueMaker

__all__ = ["Operation", "is_sent", "operations_of", "path_of", "request_problem", "sampled"]

_SIMPLE = (str, int, float, bool)
_TEXT_RULES = ("pattern", "format", "maxLength")


@dataclass(frozen=True)
class Operation:
    """An operation with its row of the table. `details` is what introspection tells of it."""

    row: Row
    table: Table = field(repr=False)

    @property
    def name(self) -> str:
        """The name that agents call it by."""
        return self.row.name

    @property
    def family(self) -> str:
        """Its endpoint family."""
        return self.row.family

    @property
    def is_safe_read(self) -> bool:
        """True for a GET that is safe."""
        return self.row.method == "GET" and self.row.danger == "safe" and self.family == "read"

    @property
    def is_plain_read(self) -> bool:
        """True for a read that a read-only adapter offers."""
        return is_plain_read(self.family, self.row.method, self.row.danger, self.row.rule)

    def always_is(self, levels: Iterable[str]) -> bool:
        """Return True if it is of one of these levels of danger, whatever a call of it carries."""
        carries = self.row.carries
        return self.row.danger in levels and (carries is None or not carries.places)

    @property
    def reads_first(self) -> bool:
        """True if the adapter reads what it updates before it writes."""
        return self.row.update is not None and self.row.update.reads_first

    @cached_property
    def params(self) -> dict[str, Any] | None:
        """The parameters of a call that is valid; None if none is known."""
        return None if self.row.example is None else dict(self.row.example)

    @property
    def required(self) -> list[str]:
        """The parameters that every call must give."""
        return [name for name, parameter in self.row.shown_parameters.items() if parameter.required]

    def schema(self, parameter: Parameter) -> Mapping[str, Any]:
        """Return the schema of a parameter, references followed at its top."""
        schema = resolve(parameter.schema, self.table.types) if parameter.schema else {}
        return schema if isinstance(schema, Mapping) else {}

    def takes_any_text(self, parameter: Parameter) -> bool:
        """Return True for a parameter of plain text."""
        schema = self.schema(parameter)
        return schema.get("type") == "string" and schema.keys().isdisjoint(("enum", "const", *_TEXT_RULES))

    def sample(self, name: str) -> Any:
        """Return a value for a parameter, in the API's names."""
        return ValueMaker(self.table.types).answer(self.row.shown_parameters[name].schema)


def operations_of(table: Table) -> list[Operation]:
    """Return every operation, family by family."""
    rows = (table.find(name, family) for family in FAMILIES for name in table.raw(family))
    return [Operation(row, table) for row in rows if row is not None]


def sampled(operations: list[Operation], count: int) -> list[Operation]:
    """Return at most `count` operations, spread evenly over each family; all of them for 0."""
    if not count or len(operations) <= count:
        return operations
    chosen: list[Operation] = []
    for family in FAMILIES:
        members = [operation for operation in operations if operation.family == family]
        share = min(len(members), max(3, round(count * len(members) / len(operations))))
        chosen += [members[index * len(members) // share] for index in range(share)]
    return chosen


def path_of(operation: Operation) -> str:
    """Return a path of an operation, with something in the place of each parameter."""
    path = operation.row.path.partition("#")[0].partition("?")[0]
    for parameter in operation.row.parameters.values():
        path = path.replace(f"{{{parameter.wire}}}", "x")
    return path


def request_problem(operation: Operation, params: Mapping[str, Any], request: Arrived) -> str | None:
    """Return what is wrong with the request of a call; None if nothing is. Only what is simple is compared."""
    row = operation.row
    if request.method != row.method:
        return f"{request.method} instead of {row.method}"
    problems = (_value_problems, _list_problems, _fixed_problems)
    others = (next(find(row, params, request), None) for find in problems)
    return _path_problem(row, params, request) or next((problem for problem in others if problem), None)


def _path_problem(row: Row, params: Mapping[str, Any], request: Arrived) -> str | None:
    template = row.path.partition("#")[0].partition("?")[0]
    pattern, names = "", []
    for part in re.split(r"(\{[^{}]*\})", template):
        if part.startswith("{"):
            names.append(part[1:-1])
            pattern += "([^/?#]*)"
        else:
            pattern += re.escape(part)
    match = re.fullmatch(pattern, request.path)
    if match is None:
        return f"the path {request.path[:120]!r} is not that of {template}"
    by_wire = {item.wire: name for name, item in row.parameters.items() if item.location == "path"}
    for wire, raw in zip(names, match.groups(), strict=True):
        value = params.get(by_wire.get(wire, ""))
        if isinstance(value, _SIMPLE) and row.parameters[by_wire[wire]].style == "simple":
            text = _text(value)
            if not is_sent(unquote(raw), value) or (raw != quote(text, safe="-._~!$&'()*+,;=:@") and "/" in raw):
                return f"path parameter {wire} is sent as {raw[:80]!r} for {text[:80]!r}"
    return None


def _value_problems(row: Row, params: Mapping[str, Any], request: Arrived) -> Iterator[str]:
    """Yield what is wrong with single values in the query, in headers, in forms and in the fields of a JSON body."""
    sent = {"query": dict(request.query), "header": request.headers}
    for name, value in params.items():
        parameter = row.parameters.get(name)
        if parameter is None or not isinstance(value, _SIMPLE) or parameter.content_type:
            continue
        location, wire, text = parameter.location, parameter.wire, _text(value)
        if location in sent:
            got = sent[location].get(wire.lower() if location == "header" else wire)
            if not is_sent(got, value) and (location == "query" or text.isascii()):
                noun = "header" if location == "header" else "query parameter"
                yield f"{noun} {wire} is sent as {got!r} for {text[:80]!r}"
        elif location == "body" and row.body is not None and row.body.shape == "fields" and row.update is None:
            yield from _field_problems(wire, value, request)


def _field_problems(wire: str, value: Any, request: Arrived) -> Iterator[str]:
    """Yield what is wrong with a field of a body: of JSON, or of a form, whose parts may be files."""
    kind, data = request.headers.get("content-type", ""), request.data
    if isinstance(data, dict) and data.get(wire) != value:
        yield f"field {wire} is sent as {data.get(wire)!r} for {value!r}"
    if "x-www-form-urlencoded" in kind and not any(key == wire and is_sent(text, value) for key, text in request.form):
        yield f"field {wire} of the form is not sent as {_text(value)[:80]!r}"
    if "multipart/form-data" in kind and wire not in dict(request.form):
        yield f"part {wire} of the form is not sent"


def _list_problems(row: Row, params: Mapping[str, Any], request: Arrived) -> Iterator[str]:
    """Yield what is wrong with lists of simple values in the query, of style form (OpenAPI 3.1, Style Values)."""
    for name, value in params.items():
        parameter = row.parameters.get(name)
        if parameter is None or (parameter.location, parameter.style, parameter.content_type) != (
            "query",
            "form",
            None,
        ):
            continue
        if not isinstance(value, list) or not value or not all(isinstance(item, _SIMPLE) for item in value):
            continue
        texts, sent = list(map(_text, value)), [text for key, text in request.query if key == parameter.wire]
        items = sent if parameter.explode else ",".join(sent).split(",")
        is_right = sent == (texts if parameter.explode else [",".join(texts)])
        is_right = is_right or (len(items) == len(value) and all(map(is_sent, items, value)))
        if not is_right:
            yield f"query parameter {parameter.wire} is sent as {sent} for {texts}"


def _fixed_problems(row: Row, _: Mapping[str, Any], request: Arrived) -> Iterator[str]:
    """Yield what the owner has fixed and is not sent so, and a wish for an answer that the document does not have."""
    query = dict(request.query)
    for parameter in row.fixed.values():
        value = parameter.preset
        is_simple = parameter.location == "query" and isinstance(value, _SIMPLE)
        if is_simple and not is_sent(query.get(parameter.wire), value):
            yield f"query parameter {parameter.wire} is not sent as the owner has fixed it"
    accept = request.headers.get("accept", "*/*")
    types = {str(response.get("content_type")).partition(";")[0] for response in row.responses.values()}
    is_served = "*/*" in accept or not types - {"None"} or any(type_ in accept for type_ in types)
    if not is_served and "Accept" not in row.headers:
        yield f"it asks for {accept[:80]}, and the document has {sorted(types)}"


def is_sent(text: str | None, value: Any) -> bool:
    """Return True if a text of a request stands for a value: it is that text, or the same number (1 for 1.0)."""
    if text is None or text == _text(value):
        return text is not None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        number = json.loads(text)
    except ValueError:
        return False
    return type(number) in (int, float) and number == value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
