"""Observation that writes (R-LEARN-2): what updates keep, what a repeated create does, whether a delete takes it back.

It writes to things that it made, and to resources that the owner named, and leaves the API as it was: each write stands
in the ledger first. A thing is deleted only after it was read with the marker that was sent with its create.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..encode.urls import without_names
from ..exact_json import read_json
from ..schema import at, steps_of
from ..text import listed
from .model import Fact, Observation, Spent
from .things import (
    Elsewhere,
    Kind,
    Named,
    base_of,
    carries,
    here,
    identifiers,
    items_of,
    marked,
    marked_calls,
    new_marker,
    params_of,
    rows_of,
    text_of,
)
from .updates import Answer, Site, Thing, observe_updates, restore

if TYPE_CHECKING:
    from ..table import Row
    from ..wire import ApiRequest
    from .ledger import Entry, Ledger
    from .requests import AdapterRequests

_GONE = (404, 410)
_DEEPEST = 3
_MOST_FOUND = 20


async def observe_writes(
    requests: AdapterRequests,
    named: Sequence[Named],
    ledger: Ledger,
    *,
    most: int = 200,
    seconds: float = 60,
    creates: Collection[str] = (),
    named_alone: bool = False,
) -> list[Observation]:
    """Observe what writes do to things that are made and taken away, and to the resources that the owner names.

    `creates` are those that the owner names, by which a thing is made though it gives access; with `named_alone`,
    nothing is made by other ones. What an earlier run left is undone first. No experiment begins after `most` requests
    or `seconds`; the requests must allow some more, by which everything is taken back. Raises ValueError for a create
    by which nothing can be made and taken away.
    """
    site = Site(requests, ledger, most=most, seconds=seconds, creates=creates)
    known = {name for kind in site.rows.kinds.values() for name in (kind.create.name, kind.create.key)}
    if unknown := sorted({*creates} - known):
        raise ValueError(f"{unknown[0]} makes nothing that can be read, marked and taken away again")
    if named_alone:
        site.rows = replace(site.rows, kinds={name: kind for name, kind in site.rows.kinds.items() if kind.is_named})
    with suppress(Spent):
        await _take_back(site)
        for resource in named:
            await _observe_named(site, resource)
        await _observe_kinds(site, "", ())
        await _take_back(site)  # what could not be at once, such as what went with the thing around it
    return [*site.observations, *_left(ledger)]


def _left(ledger: Ledger) -> list[Observation]:
    """Return an observation for each open entry: what may be at the API, and what to do."""
    observations = []
    for entry in ledger.entries.values():
        says = f"{entry.operation}: a part of it may remain. Look for '{entry.marker}' in the API and delete what "
        says += f"has it, then remove {ledger.path}"
        if entry.original is not None:
            says = f"{entry.operation}: its change could not be restored. Write the fields back that {ledger.path} "
            says += "has, then remove that file"
        observations.append(Observation("", Fact.REVERSAL, says, certain=False))
    return observations


async def _take_back(site: Site) -> None:
    entries = sorted(site.ledger.entries.values(), key=lambda entry: -entry.number)
    rows = rows_of(site.table, {entry.operation for entry in entries}) if entries else site.rows
    for entry in entries:
        kind, row = rows.kinds.get(entry.operation), site.table.find(entry.operation)
        if entry.original is None and kind is not None:
            await _undo(site, kind, entry)
        elif entry.original is not None and row is not None and row in rows.updates(row.path):
            await restore(site, row, entry)


async def _observe_named(site: Site, resource: Named) -> None:
    """Observe the updates of a resource of the owner, then what can be made within it."""
    reader = site.rows.reader(resource.path)
    if reader is None:
        says = f"Not observed: no operation reads {without_names(resource.path)}"
        site.say(None, Fact.UPDATE, says, certain=False)
        return
    await observe_updates(site, Thing(resource.path, resource.values, reader, text_of(new_marker())))
    await _observe_kinds(site, resource.path, resource.values)


async def _observe_kinds(site: Site, path: str, values: tuple[str, ...], depth: int = 0) -> None:
    """Make a thing of each kind within a path, observe it, and take it away."""
    for kind in site.rows.within(path):
        if site.goes_on and depth < _DEEPEST:
            await _observe_kind(site, kind, values, depth)


async def _observe_kind(site: Site, kind: Kind, values: tuple[str, ...], depth: int) -> None:
    statuses: set[int] = set()
    marker, before = new_marker(), await _count(site, kind, values)
    for call in marked_calls(kind.create, site.table.types, marker):
        params = {**call, **params_of(kind.create, values)}
        thing = await _create(site, kind, params, values=values, marker=marker, before=before)
        if isinstance(thing, int):
            statuses.add(thing)
            continue
        try:
            if thing.entry is not None and thing.entry.item is not None:
                thing.entry = await _repeat(site, kind, params, thing.entry)
                await observe_updates(site, thing)
                await _observe_kinds(site, thing.path, thing.values, depth + 1)
        finally:
            if thing.entry is not None:
                await _undo(site, kind, thing.entry, observes=thing.entry.item is not None)
        return
    known = f", with {listed(sorted(statuses - {0}))}" if statuses - {0} else ""
    site.say(kind.create, Fact.REVERSAL, f"Not observed: nothing could be created{known}")


async def _create(
    site: Site, kind: Kind, params: Mapping[str, Any], *, values: tuple[str, ...], marker: str, before: int | None
) -> Thing | int:
    """Create a thing and find it by its marker, its entry is open; return the status where nothing was thing."""
    thing = Thing(f"{kind.create.path.rstrip('/')}/{{}}", values, kind.read, text_of(marker))

    def intend(request: ApiRequest) -> ApiRequest:
        request = _keyed(request, kind.create, marker)
        thing.entry = site.ledger.begin(
            operation=kind.create.name,
            base=base_of(request, kind.create),
            values=values,
            marker=marker,
            before=before,
            fields=marked(request.content, marker),
        )
        with suppress(ValueError):
            thing.sent = read_json(request.content or b"null")
        return request

    answer = await site.send(kind.create, params, intend)
    if thing.entry is None or 300 <= answer.status < 500:
        if thing.entry is not None:
            site.ledger.done(thing.entry)
        return answer.status
    ids = [*identifiers(answer.data, kind), marker] if answer.is_done else []
    item = await _find(site, kind, thing.entry, ids)
    thing.entry = site.ledger.write(thing.entry, item=item)
    if item is not None:
        thing.values, thing.unread = (*values, item), ids[: ids.index(item)]
    return thing


async def _find(site: Site, kind: Kind, entry: Entry, candidates: Sequence[str]) -> str | None:
    """Return the first of these identifiers that reads a thing with the marker of the entry."""
    for item in dict.fromkeys(candidates):
        answer = await site.read(kind.read, (*entry.values, item))
        if answer.is_done and carries(answer.data, entry.fields, entry.marker):
            return item
    return None


async def _repeat(site: Site, kind: Kind, params: Mapping[str, Any], entry: Entry) -> Entry:
    """Send the same create once more; what it makes is taken away."""
    entry = site.ledger.write(entry, copies=2)
    answer = await site.send(
        kind.create, params, lambda request: _keyed(here(request, kind.create, entry.base), kind.create, entry.marker)
    )
    ids = list(identifiers(answer.data, kind)) if answer.is_done else []
    is_keyed = kind.create.idempotency is not None and bool(kind.create.idempotency.header)
    second = "A second create with the same idempotency key" if is_keyed else "A second identical create"
    if 300 <= answer.status < 500:
        says, copies = f"{second} is refused with {answer.status}", 1
    elif entry.item in ids:
        says, copies = f"{second} answers with the same thing", 1
    elif answer.is_done:
        other = await _find(site, kind, entry, ids)
        copies = 1 if other is not None and await _delete(site, kind, entry, other) else 2
        says = f"{second} makes a duplicate"
    else:
        return entry
    site.say(kind.create, Fact.REPETITION, says)
    return site.ledger.write(entry, copies=copies)


async def _delete(site: Site, kind: Kind, entry: Entry, item: str) -> bool:
    """Delete a thing if it has the marker, and return True if it is gone. Raises Elsewhere."""
    values = (*entry.values, item)
    for _ in range(2):
        answer = await site.read(kind.read, values)
        if answer.status in _GONE or not (answer.is_done and carries(answer.data, entry.fields, entry.marker)):
            return answer.status in _GONE
        await site.send(kind.delete, params_of(kind.delete, values), lambda sent: here(sent, kind.delete, entry.base))
    return (await site.read(kind.read, values)).status in _GONE


async def _undo(site: Site, kind: Kind, entry: Entry, *, observes: bool = False) -> None:
    """Take away what an entry made, and close it; what may be left stays open."""
    is_gone, is_known = False, entry.item is not None and entry.copies == 1
    with suppress(Elsewhere):
        marked_items = [] if is_known else (await _listed(site, kind, entry))[0]
        items = list(dict.fromkeys([*([entry.item] if entry.item is not None else []), *marked_items]))
        for _ in range(2):
            if len(items) > entry.copies:
                break
            is_gone = all([await _delete(site, kind, entry, item) for item in items])
            left, is_as_before = await _listed(site, kind, entry)
            is_gone = is_gone and not left and (is_as_before or is_known or 0 < len(items) == entry.copies)
            items = left
            if not left:
                break
        if is_gone:
            site.ledger.done(entry)
            if observes:
                says = f"{kind.delete.name} reverts it: afterwards it is neither read nor listed"
                override = {} if kind.create.asked == "always" else {"can_undo": True}
                site.say(kind.create, Fact.REVERSAL, says, override, certain=kind.create.asked == "never")


async def _listed(site: Site, kind: Kind, entry: Entry) -> tuple[list[str], bool]:
    """Return the identifiers of the things with the marker, and whether there are no more things than before."""
    marked_items = dict.fromkeys(filter(None, [await _find(site, kind, entry, [text_of(entry.marker)])]))
    answer = Answer() if kind.listing is None else await site.read(kind.listing, entry.values)
    items = items_of(answer.data) if answer.is_done else None
    text = text_of(entry.marker)
    marks = [item for item in items or () if text == item or carries(item, entry.fields, entry.marker)]
    for item in marks[:_MOST_FOUND]:
        known = await _find(site, kind, entry, list(identifiers(item, kind)))
        marked_items |= {} if known is None else {known: None}
    count = _whole_count(kind, answer)
    is_as_before = count is not None and entry.before is not None and count <= entry.before
    return list(marked_items), is_as_before or (bool(entry.values) and answer.status in _GONE)


async def _count(site: Site, kind: Kind, values: tuple[str, ...]) -> int | None:
    """Return how many things of a kind there are, None if that cannot be told."""
    return None if kind.listing is None else _whole_count(kind, await site.read(kind.listing, values))


def _whole_count(kind: Kind, answer: Answer) -> int | None:
    """Return how many things an answer lists, None if there may be others."""
    items, paging = items_of(answer.data) if answer.is_done else None, kind.listing and kind.listing.pagination
    total = at(answer.data, steps_of(paging.total)) if paging and paging.total is not None else None
    return len(items) if items is not None and (not paging or not items or total == len(items)) else None


def _keyed(request: ApiRequest, row: Row, key: str) -> ApiRequest:
    """Return a request with the key by which the API knows it again."""
    header = None if row.idempotency is None else row.idempotency.header
    if not header:
        return request
    kept = tuple(each for each in request.headers if each[0].lower() != header.lower())
    return replace(request, headers=(*kept, (header, key)))
