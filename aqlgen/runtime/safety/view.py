"""The view of a call that a person approves: the question whether it may run.

First the question in words, the request and its danger, then a line for each value that the line of the request does
not show: what differs from a default, required parameters first and short values before long ones, then long values,
then what equals its default.
Within an object, declared fields come before others. The order in which an agent gave them never matters.

Nothing is left out silently. A value that does not fit is shown as its length and digest, and the question says that
it cannot be shown in full. A file is its name, type, size and digest. Credentials stay hidden, and their length is
said.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..encode.uploads import SOURCES
from ..exact_json import write_json
from ..redaction import redact
from ..schema import Shape, follow, string_enum, union_of
from ..text import folded, iso_time
from .policy import danger_reasons
from .question_texts import (
    CUT_NAME,
    SecretNames,
    fields_of_reason,
    has_right_to_left,
    key_literal,
    literal,
    prose,
    secret_names,
    title_of,
    url_text,
)

if TYPE_CHECKING:
    from ..hooks import GateDecision
    from ..schema import Types
    from ..table import Parameter, Row
    from ..wire import ApiRequest, SentFile

_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
INCOMPLETE = "cannot be shown in full"
_LONGEST_QUESTION = 6000
_LONGEST_VALUE = 2000
_SHORT = 200
_LONGEST_ADDRESS = 500
_MOST_REFUSED = 40
_LONGEST_REFUSED = 4000
"""The bounds of the lines about values that do not fit; what is beyond them is one line together."""
_DEEPEST = 4
_MOST_ITEMS = 50
_MOST_FIELDS = 2000
_DIGEST = 32


@dataclass(frozen=True, slots=True)
class CallView:
    """The question about a call; `incomplete` names what of it cannot be shown in full."""

    text: str
    incomplete: tuple[str, ...]


_REQUIRED, _OPTIONAL, _UNDECLARED, _DEFAULTED = range(4)
_WORD = re.compile(r"[^\W_]+")
_EPOCH = re.compile(r"unix|epoch|timestamp|date-time", re.IGNORECASE)
"""Words of a number that counts from 1970, in seconds or, if it is that large, in milliseconds."""
_SEGMENT = re.compile(r"[A-Za-z0-9._-]+")
_FILLERS = frozenset("a an the by for of with given specified id".split())
"""Words of a summary that add nothing to the name of an operation and its parameters."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A value as a line of the question, and where it belongs in the order."""

    path: str
    shown: str | None
    """None for what cannot be shown in full."""
    size: int
    digest: str
    rank: int
    depth: int = 0

    @property
    def order(self) -> tuple[bool, bool, bool, int, int]:
        """The place of the value: defaults last, long values behind short ones, undeclared behind declared ones.

        Deep values stand behind others: many items of a list cannot push a parameter out of sight.
        """
        long = self.shown is None or len(self.shown) > _SHORT
        return self.rank == _DEFAULTED, long, self.rank == _UNDECLARED, self.depth, self.rank

    @property
    def whole(self) -> str:
        """The value, or why it cannot be shown."""
        return self.short if self.shown is None else f"- {self.path}: {self.shown}"

    @property
    def short(self) -> str:
        """The value by its length and digest."""
        return f"- {self.path}: {self.size:,} characters, {INCOMPLETE}, sha256 {self.digest}"


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of a call with its place: `hidden` says that it is within a secret."""

    path: str
    key: str
    value: Any
    schema: Mapping[str, Any]
    rank: int
    hidden: bool
    secrets: SecretNames
    depth: int = 0
    room: list[int] = field(default_factory=lambda: [_MOST_FIELDS])
    """The number of fields left that get a line each, over all values of a call."""


def view_of(
    row: Row,
    params: Mapping[str, Any],
    decision: GateDecision,
    request: ApiRequest,
    types: Types,
    *,
    hooked: bool = False,
) -> CallView:
    """Return the question whether a call may run; `hooked` says that the owner's hooks see the request before it goes.

    `request` is the one that the parameters make.
    """
    incomplete: list[str] = []
    request_line = _request_line(row, request, incomplete)
    reason = _reason_of_call(row, params, types)
    lines = [title_of(row, params, secret_names(row, types)), request_line, *_about(row, decision, reason)]
    if row.update is not None and row.update.reads_first:
        lines.append("Only the fields below change; the rest is read first and sent back unchanged.")
        if row.update.creates:
            lines.append("They create a missing resource.")
    elif row.update is not None and row.update.replaces:
        lines.append("It replaces the whole resource: fields not named below may be lost.")
    if hooked:
        lines.append("Functions of the adapter's owner (hooks.py) may still change the request.")
    sent = set(_in_path(row, params, request))
    values = [*_files(request.files), *_values(row, params, types, request.files, sent)]
    lines += _value_lines(values, _LONGEST_QUESTION - sum(map(len, lines)), incomplete)
    if not (values or sent):
        lines.append("It takes no parameters.")
    if incomplete:
        lines.append(f"Part of this call {INCOMPLETE}. Approve it only if you know its content.")
    return CallView("\n".join(lines), tuple(incomplete))


def text_of_any(row: Row, decision: GateDecision) -> str:
    """Return the question whether any calls of an operation may run; its lines are in the order of those of one."""
    request = f"{row.method} {url_text(row.path)}"
    reach = "Its parameters come from earlier answers, and are not known yet. A yes is for each call in this session."
    return "\n".join((title_of(row, {}), request, *_about(row, decision, row.danger_reason), reach))


def _reason_of_call(row: Row, params: Mapping[str, Any], types: Types) -> str:
    """Return the reason of an operation's danger, with what of it a call does not send, or which value it has."""
    reason, fields = row.danger_reason, fields_of_reason(row, params)
    if fields:
        left_out = [name for name, is_sent in fields.items() if not is_sent]
        may = reason.replace(" has ", " can have ", 1)
        return f"{may}, not sent here: {', '.join(left_out)}" if left_out else reason
    quoted = {*_WORD.findall(reason.partition("“")[2].lower())}
    for name, value, schema in _fields_sent(row, params, types) if quoted else ():
        values = {other.lower() for other in string_enum(follow(schema, types))}
        if str(value).lower() in values - quoted and not quoted.isdisjoint(values):
            return f"{reason}; here {name} is {value}"
    return reason


def _fields_sent(row: Row, params: Mapping[str, Any], types: Types) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield the parameters of a call and the fields of objects among them, each with its schema."""
    for name, value in params.items():
        schema = row.parameters[name].schema if name in row.parameters else {}
        fields = union_of(types, schema).properties if isinstance(value, Mapping) else {}
        yield from ((key, value[key], inner) for key, (_, inner) in fields.items() if key in value)
        yield name, value, schema


def _about(row: Row, decision: GateDecision, danger_reason: str) -> Iterator[str]:
    """Yield the summary of an operation, if it adds to the name, and the danger with the reasons of this call."""
    texts = (row.summary, row.name)
    words, names = ({word.removesuffix("s") for word in _WORD.findall(text.lower())} for text in texts)
    if not (row.confirmation or words - _FILLERS <= names):
        yield f'The API\'s document says: "{prose(row.summary, 200)}"'
    why = f' ("{prose(danger_reason, 300)}")' if danger_reason else ""
    usual = danger_reasons(row)
    reasons = "".join(f" {prose(reason, 300)}." for reason in decision.reasons if reason not in usual)
    yield f"Danger: {decision.danger}{why}.{reasons}"


def _request_line(row: Row, request: ApiRequest, incomplete: list[str]) -> str:
    """Return method, host and path as they are sent, with what the operation itself fixes of the query."""
    parts = urlsplit(redact(request.url, request.secrets))
    origin = url_text(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
    fixed = row.path.partition("#")[0].partition("?")[2]
    path = url_text(parts.path + (f"?{fixed}" if fixed else ""))
    if len(path) > _LONGEST_ADDRESS:
        incomplete.append("the path")
        size = f"a path of {len(parts.path):,} characters"
        base = parts.path.partition(row.path.partition("{")[0])[0]
        path = f"{url_text(base + row.path)[:_LONGEST_ADDRESS]} ({size}, {INCOMPLETE}, sha256 {_digest(parts.path)})"
    return f"{request.method} {origin}{path}"


def _value_lines(values: Sequence[_Line], room: int, incomplete: list[str]) -> Iterator[str]:
    """Yield a line for each value while there is room, then short ones, then one for all that is left."""
    left_over: list[_Line] = []
    refused, room_for_refused, defaults = 0, _LONGEST_REFUSED, False
    for value in sorted(values, key=lambda value: value.order):
        text = value.whole
        fits = value.shown is not None and len(text) <= room
        if fits:
            room -= len(text)
        else:
            incomplete.append(value.path)
            text, refused = value.short, refused + 1
            room_for_refused -= len(text)
            if refused > _MOST_REFUSED or room_for_refused < 0:
                left_over.append(value)
                continue
        if value.rank == _DEFAULTED and not defaults:
            defaults = True
            yield "Default values:"
        yield text
    if left_over:
        size = sum(value.size for value in left_over)
        digest = _digest("".join(value.path + value.digest for value in left_over))
        yield f"- {len(left_over):,} more values, {size:,} characters, {INCOMPLETE}, sha256 {digest}"


def _in_path(row: Row, params: Mapping[str, Any], request: ApiRequest) -> Iterator[str]:
    """Yield the parameters that the line of the request shows as they are: each a whole segment of the path sent."""
    sent = urlsplit(redact(request.url, request.secrets)).path.split("/")
    template = row.path.partition("?")[0].split("/")
    if len(url_text("/".join(sent))) > _LONGEST_ADDRESS:
        return
    for name, parameter in row.parameters.items():
        place = f"{{{parameter.wire}}}"
        if parameter.location == "path" and name in params and template.count(place) == 1:
            behind = template.index(place) - len(template)
            if -behind <= len(sent) and sent[behind] == str(params[name]) and _SEGMENT.fullmatch(sent[behind]):
                yield name


def _values(
    row: Row, params: Mapping[str, Any], types: Types, files: Sequence[SentFile], shown: Collection[str]
) -> Iterator[_Line]:
    """Yield the values of a call without its files, and without those that are `shown` already."""
    expected, secrets = Counter(folded(file.parameter) for file in files), secret_names(row, types)
    room = [_MOST_FIELDS]
    for name, parameter in row.parameters.items():
        if name not in params or name in shown:
            continue
        value = params[name]
        if expected and parameter.location in ("body", "body_rest"):
            names = {folded(name), folded(parameter.wire)}
            if any(_count_files(value) == expected[key] for key in names & expected.keys()):
                continue
            if isinstance(value, Mapping):
                counts = {key: _count_files(inner) for key, inner in value.items()}
                value = {
                    key: inner for key, inner in value.items() if not 0 < counts[key] == expected[folded(str(key))]
                }
        yield from _lines(
            _Node(
                key_literal(name), name, value, parameter.schema, _rank(parameter, value), parameter.sensitive,
                secrets=secrets, room=room,
            ),
            types,
        )  # fmt: skip
    for name in params.keys() - row.parameters.keys():
        yield from _lines(_Node(key_literal(name), name, params[name], {}, _UNDECLARED, False, secrets=secrets), types)


def _rank(parameter: Parameter, value: Any) -> int:
    default = parameter.schema.get("default")
    if "default" in parameter.schema and type(default) is type(value) and default == value:
        return _DEFAULTED
    return _REQUIRED if parameter.required else _OPTIONAL


def _lines(node: _Node, types: Types) -> Iterator[_Line]:
    """Yield a value as one line if it is simple or short, else a line for each value within it."""
    value = node.value
    hidden = node.hidden or node.key in node.secrets
    if not isinstance(value, Mapping | list | tuple) or not value:
        yield _line(node, hidden=hidden)
        return
    is_long = len(json.dumps(value, ensure_ascii=False, default=str)) > _SHORT
    opens = hidden or is_long or _has_credential(value, node.secrets) or has_right_to_left(value)
    if isinstance(value, Mapping) and not opens:
        fields = union_of(types, node.schema).properties
        opens = any(_moment(value.get(name), schema) for name, (_, schema) in fields.items())
    if node.depth < _DEEPEST and opens and (isinstance(value, Mapping) or len(value) <= _MOST_ITEMS):
        for inner in (_fields if isinstance(value, Mapping) else _items)(node, types):
            yield from _lines(replace(inner, hidden=hidden), types)
        return
    line = _line(node, hidden=False)
    if line.shown is not None and (hidden or _has_credential(value, node.secrets)):
        line = replace(line, shown=None)
    yield line


def _items(node: _Node, types: Types) -> Iterator[_Node]:
    """Yield the items of a list."""
    items = union_of(types, node.schema).items
    schema = items[0] if items else {}
    for index, item in enumerate(node.value):
        yield replace(node, path=f"{node.path}[{index}]", value=item, schema=schema, depth=node.depth + 1)


def _fields(node: _Node, types: Types) -> Iterator[_Node]:
    """Yield the fields of an object; those that the schema requires or declares rank before others.

    Of more fields than there is room for, those that are not declared are one value.
    """
    shape = union_of(types, node.schema) if node.schema else Shape()
    fields = node.value
    node.room[0] -= len(fields)
    if node.room[0] < 0:
        fields = {key: value for key, value in fields.items() if key in shape.properties}
        rest = {key: value for key, value in node.value.items() if key not in fields}
        yield replace(node, value=rest, rank=_UNDECLARED, depth=_DEEPEST)
    for key, value in fields.items():
        _, schema = shape.properties.get(key, ("", {}))
        rank = node.rank
        if rank != _DEFAULTED:
            declared = max(rank, _REQUIRED if key in shape.required else _OPTIONAL)
            rank = declared if key in shape.properties else _UNDECLARED
        path = f"{node.path}.{key_literal(key)}"
        depth = node.depth + 1
        yield replace(node, path=path, key=key, value=value, schema=schema, rank=rank, hidden=False, depth=depth)


def _line(node: _Node, *, hidden: bool) -> _Line:
    value = node.value
    text = value if isinstance(value, str) else write_json(value, _encode)
    if hidden and text:
        shown: str | None = f"hidden, since it is a secret by its name or declaration ({len(text):,} characters)"
        return _Line(node.path, shown, len(text), "", node.rank, node.depth)
    shown = (
        literal(value) + _moment(value, node.schema)
        if len(text) <= _LONGEST_VALUE and CUT_NAME not in node.path
        else None
    )
    fits = shown is not None and len(shown) <= _LONGEST_VALUE
    return _Line(node.path, shown if fits else None, len(text), _digest(text), node.rank, node.depth)


def _moment(value: Any, schema: Mapping[str, Any]) -> str:
    """Return the date of a number that the document says is a time since the epoch, "" for anything else."""
    is_time = type(value) is int and _EPOCH.search(f"{schema.get('format')} {schema.get('description')}")
    if not is_time or not 10**8 <= value < 10**14:
        return ""
    return f" ({iso_time(value / 1000 if value >= 10**11 else value)})"


def _has_credential(value: Any, secrets: SecretNames) -> bool:
    if isinstance(value, Mapping):
        return any(str(key) in secrets or _has_credential(inner, secrets) for key, inner in value.items())
    return isinstance(value, list | tuple) and any(_has_credential(inner, secrets) for inner in value)


def _digest(text: str | bytes) -> str:
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha256(raw).hexdigest()[:_DIGEST]


def _count_files(value: Any) -> int:
    """Count the forms in which a call gives a file: base64, an object with one of its sources, a list of these."""
    if isinstance(value, list | tuple):
        return sum(map(_count_files, value))
    return isinstance(value, str) or (isinstance(value, Mapping) and len(SOURCES.intersection(value)) == 1)


def _files(files: Sequence[SentFile]) -> Iterator[_Line]:
    """Yield a line for each file that is sent."""
    for file in files:
        size, digest, kind = len(file.content), _digest(file.content), file.mime_type or "of no stated type"
        name = literal(file.filename) if file.filename else "without a name"
        shown = f"file {name}, {prose(kind, 200)}, {size:,} bytes, sha256 {digest}"
        yield _Line(key_literal(file.parameter), shown if len(name) <= _LONGEST_ADDRESS else None, size, digest, 0)
