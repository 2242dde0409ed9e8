"""Answers of the API beside their types, and the identifiers by which a GET finds what its update takes.

Only names that the document declares, types and counts leave this module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from ..decode import declared_response
from ..schema import JSON_TYPES, MISSING, admitted_types, steps_of, union_of
from ..schema.deviations import deviations
from ..text import listed
from ..wire import QUOTA_NAMES
from .model import Fact, Observation
from .reads import lists_in, read_json

if TYPE_CHECKING:
    from ..table import Row, Table
    from ..wire import ApiRequest
    from .reads import Read
    from .requests import AdapterRequests

_MOST_MEMBERS: Final = 500
_MOST_NAMED: Final = 10
_MOST_OTHERS: Final = 3
_LONGEST_ID: Final = 200
_VERSIONS: Final = frozenset({"etag", "last-modified"})


def observe_answers(table: Table, reads: Sequence[Read]) -> Iterator[Observation]:
    """Yield the deviations of answers from their types, their meaning for updates, and the headers that came."""
    for read in reads:
        if read.data is not MISSING:
            seen = deviations(read.data, declared_response(read.row, read.status).get("schema") or {}, table)
            if seen.counts or seen.extra:
                yield Observation(read.row.key, Fact.TYPES, str(seen))
            yield from of_updates(table, read.row, seen.counts)
    yield from _headers(reads)


def of_updates(table: Table, reader: Row, seen: Collection[tuple[str, str]]) -> Iterator[Observation]:
    """Yield the types of fields that an update reads first, of the `seen` pairs of a path and its kind.

    It may take others than the API gives: look at them.
    """
    for row in _updates(table, reader):
        if row.update is None:
            continue
        body = row.body.schema if row.body is not None else {}
        for step in steps_of(row.update.write_at):
            body = dict(union_of(table.types, body).properties.values()).get(step, {})
        lenient = {}
        for wire, inner in union_of(table.types, body).properties.values():
            place = ".".join((*steps_of(row.update.read_at), wire))
            admitted = admitted_types(inner, table.types)
            kinds = ({kind for path, kind in seen if path == place} & JSON_TYPES) - admitted
            if kinds:
                lenient[wire] = {"type": sorted((admitted | kinds) - ({"integer"} if "number" in admitted else set()))}
        if lenient:
            says = f"{reader.key} returns {listed(list(lenient), _MOST_NAMED)} with other types"
            yield Observation(row.key, Fact.TYPES, says, {"parameters": lenient}, certain=False)


def _headers(reads: Sequence[Read]) -> Iterator[Observation]:
    """Yield the headers of versions and quotas, with the number of reads that had each."""
    known = _VERSIONS | QUOTA_NAMES
    counts = Counter(name for read in reads if read.response for name in known & read.response.headers.keys())
    if counts:
        texts = [f"{name} in {count} of {len(reads)} answers" for name, count in sorted(counts.items())]
        yield Observation("", Fact.HEADERS, ", ".join(texts[:_MOST_NAMED]))


async def observe_readers(requests: AdapterRequests, reads: Sequence[Read]) -> AsyncIterator[Observation]:
    """Look for the identifier by which a GET finds what its update names by another one.

    Of an item of a list whose GET is not found by the identifier of its path, other texts of the item take its place.
    """
    lists = {read.row.path.rstrip("/"): read.data for read in reads if read.success}
    for read in [read for read in reads if read.status == 404]:
        above, _, last = read.row.path.rstrip("/").rpartition("/")
        item: Any = next((items[0] for _, items in lists_in(lists.get(above)) if items), None)
        updates = _updates(requests.table, read.row) if isinstance(item, dict) and last.startswith("{") else []
        wires = {read.row.parameters[name].wire: value for name, value in read.params.items()}
        for key in _others(item, wires.get(last[1:-1])) if updates else ():
            response = await requests.send(read.row, read.params, change=_at_segment(str(item[key])))
            if _shares(read_json(response), item):
                reader = f"{read.row.name}, which it reads first,"
                says = f"{reader} finds nothing by its identifier, and the same thing by another one"
                for row in updates:
                    yield Observation(row.key, Fact.READ_OF_UPDATE, says, {"send": "named"}, certain=False)
                break


def _updates(table: Table, reader: Row) -> list[Row]:
    """Return the updates that a read is made for."""
    rows = (table.find(name, family) for name, family in table.names() if family == "update")
    return [row for row in rows if row is not None and row.update is not None and row.update.read == reader.name]


def _others(item: Mapping[str, Any], known: object) -> list[str]:
    """Return the members that may identify an item, without the known one."""
    texts = [
        key
        for key, value in list(item.items())[:_MOST_MEMBERS]
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != known
    ]
    fit = [key for key in texts if 0 < len(str(item[key])) <= _LONGEST_ID and str(item[key]) not in (".", "..")]
    return sorted(fit, key=lambda key: "name" not in key.lower())[:_MOST_OTHERS]


def _at_segment(value: str) -> Any:
    def change(request: ApiRequest) -> ApiRequest:
        path, mark, query = request.url.partition("?")
        return replace(request, url=f"{path.rstrip('/').rpartition('/')[0]}/{quote(value, safe='')}{mark}{query}")

    return change


def _shares(data: Any, item: Mapping[str, Any]) -> bool:
    """Return True if an answer is of the item: most of the members that both have are alike."""
    if not isinstance(data, dict):
        return False
    both = data.keys() & item.keys()
    return bool(both) and sum(data[key] == item[key] for key in both) * 2 > len(both)
