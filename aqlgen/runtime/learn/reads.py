"""The choice of reads: parameters from defaults and enums, and identifiers from the lists that were read before.

The first item of a list fills the path of what is read of one item: `/pets` that of `/pets/{id}` and all below it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ..redaction import occurs
from ..schema import MISSING
from ..text import counted, folded
from ..wire import ApiRequest, is_json

if TYPE_CHECKING:
    from ..table import Parameter, Row
    from ..wire import ApiResponse
    from .requests import AdapterRequests
    from .things import Named

_LARGEST_KEPT: Final = 16 << 20
"""Bytes of all answers that are kept for what looks at them later."""
_LONGEST_ID: Final = 200
_DEEPEST: Final = 3
_MOST_LEVELS: Final = 64
_MOST_MEMBERS: Final = 100
_ANYONES: Final = frozenset({"id", "name", "key", "type", "status", "version"})
"""Fields that every object may have: they say nothing of a parameter of the same name elsewhere."""
_PLACE: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Read:
    """A read that was made: `data` is the JSON of its answer under the API's names, MISSING for anything else.

    `carried` says that its request held a credential.
    """

    row: Row
    params: Mapping[str, Any]
    response: ApiResponse | None
    data: Any = field(default=MISSING, repr=False)
    carried: bool = False

    @property
    def status(self) -> int:
        """The status of the answer, 0 for none."""
        return 0 if self.response is None else self.response.status

    @property
    def success(self) -> bool:
        """True if the API answered with success."""
        return 200 <= self.status < 300


def read_json(response: ApiResponse | None) -> Any:
    """Return the JSON of an answer, MISSING for what is none, or is nested without end."""
    if response is None or response.cut or not is_json(response.headers.get("content-type", "")):
        return MISSING
    try:
        data = json.loads(response.content)
        return MISSING if _is_deep(data) else data
    except (ValueError, RecursionError):
        return MISSING


def _is_deep(data: Any) -> bool:
    """Return True for data of more levels than any walk over them may take."""
    level = [data] if isinstance(data, (dict, list)) else []
    for _ in range(_MOST_LEVELS):
        objects = (item.values() if isinstance(item, dict) else item for item in level)
        level = [inner for values in objects for inner in values if isinstance(inner, (dict, list))]
        if not level:
            return False
    return True


def lists_in(data: Any, pointer: str = "", depth: int = 0) -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of an answer with their pointers, the outermost first; names that are not plain are left out."""
    if isinstance(data, list):
        yield pointer, data
    elif isinstance(data, dict) and depth < _DEEPEST:
        members = [(key, value) for key, value in islice(data.items(), _MOST_MEMBERS) if is_plain(key)]
        for key, value in sorted(members, key=lambda member: not isinstance(member[1], list)):
            yield from lists_in(value, f"{pointer}/{key}", depth + 1)


def is_plain(name: str) -> bool:
    """Return True for a name of a field or a header that may be repeated: it is of an answer, and the API's."""
    return re.fullmatch(r"[A-Za-z_@$][A-Za-z0-9_.@$:-]{0,63}", name) is not None


class Known:
    """The identifiers that were read, each by the path that ends with it, with `{}` for every identifier."""

    def __init__(self, rows: Sequence[Row], named: Iterable[Named] = ()) -> None:
        self._values: dict[str, Any] = {}
        self._named: dict[str, Any] = {}
        self._asked: dict[str, dict[str, None]] = {}
        for row in rows:
            for prefix, wire in _places(row.path):
                self._asked.setdefault(f"{row.api}:{prefix}", {})[wire] = None
        for resource in named:
            for (prefix, _), value in zip(_places(resource.path), resource.values, strict=False):
                self._values |= {f"{api}:{prefix}": value for api in {row.api for row in rows}}

    def params(self, row: Row) -> dict[str, Any] | None:
        """Return the parameters that every call must give, None where a value is not known yet, or never will be."""
        params = self._required(row)
        return params if None not in params.values() and (row.body is None or not row.body.required) else None

    def lacking(self, rows: Iterable[Row]) -> str:
        """Return how to give the parameter a value that most reads lack, "" if they lack none outside the path."""
        unknown = Counter(
            f"{parameter.location}:{parameter.wire}"
            for row in rows
            for parameter in (row.parameters[name] for name, value in self._required(row).items() if value is None)
            if parameter.location != "path"
        )
        place = max(unknown, key=lambda each: unknown[each], default="")
        entry = f'`parameters: {{"{place}": {{value: …}}}}` in overrides.yaml'
        return f"{place} has no known value for {counted(unknown[place], 'read')}: {entry} sets one." if place else ""

    def _required(self, row: Row) -> dict[str, Any]:
        by_wire = {wire: self._values.get(f"{row.api}:{prefix}") for prefix, wire in _places(row.path)}
        params: dict[str, Any] = {}
        for name, parameter in row.parameters.items():
            if parameter.required and name not in row.presets:
                read = by_wire.get(parameter.wire) if parameter.location == "path" else None
                values = (read, _declared_value(parameter), self._named.get(folded(parameter.wire)))
                params[name] = next((value for value in values if value is not None), None)
        return params

    def learn(self, row: Row, data: Any) -> None:
        """Note the identifier of the first item of a list, and the fields that are called as a parameter elsewhere."""
        for key, value in islice(data.items(), _MOST_MEMBERS) if isinstance(data, dict) else ():
            is_list = isinstance(value, list) and bool(value) and key.endswith("s")
            name, first = (key[:-1], value[0]) if is_list else (key, value)
            if is_identifier(first) and folded(key) not in _ANYONES:
                self._named.setdefault(folded(name), first)
        prefix = f"{row.api}:{_PLACE.sub('{}', row.path).rstrip('/')}/{{}}"
        if prefix not in self._values and all(row.path.split("/")[1:-1]):
            candidates = (
                _identifier(items, wire) for _, items in lists_in(data) for wire in self._asked.get(prefix, ())
            )
            value = next((value for value in candidates if value is not None), None)
            if value is not None:
                self._values[prefix] = value


def _places(path: str) -> Iterator[tuple[str, str]]:
    """Yield the path up to each parameter that is a whole segment, with its name."""
    parts = path.split("/")
    for index, part in enumerate(parts):
        place = _PLACE.fullmatch(part)
        if place is not None:
            yield _PLACE.sub("{}", "/".join(parts[: index + 1])), place[1]


def _declared_value(parameter: Parameter) -> Any:
    """Return a value that the document gives: the default, the constant, or the first of an enum."""
    schema = parameter.schema
    return schema.get("default", schema.get("const", next(iter(schema.get("enum") or ()), None)))


def _identifier(items: Sequence[Any], wire: str) -> Any:
    """Return the identifier of the first item, for a parameter of that name; None if none fits."""
    first = items[0] if items else None
    if isinstance(first, dict):
        name = folded(wire)
        keys = [key for key in islice(first, _MOST_MEMBERS) if name.endswith(folded(key)) and folded(key)]
        first = first.get(max(keys, key=len) if keys else "id")
    return first if is_identifier(first) else None


def is_identifier(value: Any) -> bool:
    """Return True for a text or a number that can stand in a path."""
    is_plain_value = isinstance(value, (str, int)) and not isinstance(value, bool)
    text = str(value) if is_plain_value else ""
    return 0 < len(text) <= _LONGEST_ID and text.isprintable() and "/" not in text


def _carries(request: ApiRequest) -> bool:
    """Return True if a request holds a credential in its query or a header."""
    texts = (urlsplit(request.url).query, *(value for _, value in request.headers))
    return any(occurs(text, request.secrets) for text in texts)


async def read_all(
    requests: AdapterRequests, rows: Sequence[Row], reads: list[Read], most: int, named: Iterable[Named] = ()
) -> str:
    """Read each operation once whose parameters are known, the ones with the fewest first; add to `reads`.

    The resources that the owner has `named` are read in place of the first of a list. Returns how to give the
    parameter a value that the others lack. Raises Spent, with what was read until then in `reads`.
    """
    known, kept, sent = Known(rows, named), 0, list[ApiRequest]()
    waiting = sorted(rows, key=lambda row: (row.path.count("{"), row.path.count("/"), row.key))

    def note(request: ApiRequest) -> ApiRequest:
        sent[:] = [request]
        return request

    while ready := [(row, params) for row in waiting if (params := known.params(row)) is not None]:
        waiting = [row for row in waiting if known.params(row) is None]
        for row, params in ready:
            if len(reads) >= most:
                return ""
            response = await requests.send(row, params, change=note)
            data = read_json(response) if response is not None and response.status < 300 else MISSING
            kept += 0 if response is None else len(response.content)
            known.learn(row, data)
            carried = response is not None and any(map(_carries, sent))
            if kept > _LARGEST_KEPT and response is not None:
                response, data = replace(response, content=b""), MISSING
            reads.append(Read(row, params, response, data, carried))
    return known.lacking(waiting)
