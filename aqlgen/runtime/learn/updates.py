# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What an update does with the fields that it does not name, by trying it on a thing that may be changed.

Of a resource of the owner only texts are changed, which it has, and it is written back as it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..calls.merge import json_text, operations, read_json
from ..calls.resource import nested
from ..calls.update import guarded
from ..calls.update_plan import Plan, prepare
from ..errors import Failure
from ..schema import as_schema, at, schema_at, steps_of, union_of
from ..table import JsonSchema, chosen
from ..text import counted, listed
from ..wire import is_json
from .model import Fact, Observation, Requests
from .things import Elsewhere, base_of, free_value, here, params_of, rows_of

if TYPE_CHECKING:
    from ..table import Row, Table
    from ..wire import ApiRequest
    from .ledger import Entry, Ledger

__all__ = ["Answer", "Site", "Thing", "observe_updates", "restore"]

_MOST_TRIED = 4
_LARGEST = 5_000_000
"""The bytes of an answer that is looked into."""
_EMPTY: tuple[Any, ...] = (None, "", [], {}, False, 0)


@dataclass(slots=True)
class Answer:
    """An answer; a `status` of 0 is none."""

    status: int = 0
    data: Any = None
    etag: str = ""

    @property
    def is_done(self) -> bool:
        """True if the API did what it was asked for."""
        return 200 <= self.status < 300


class Site:
    """The API as an observation that writes sees it: rows, requests, the ledger, and what was seen until now."""

    def __init__(self, requests: Requests, table: Table, ledger: Ledger, most: int, seconds: float) -> None:
        self.table, self.ledger, self.rows = table, ledger, rows_of(table)
        self.observations: list[Observation] = []
        self._requests, self._left, self._end = requests, most, monotonic() + seconds

    @property
    def goes_on(self) -> bool:
        """True if another experiment may begin."""
        return self._left > 0 and monotonic() < self._end

    def say(
        self, row: Row | None, fact: Fact, says: str, override: Mapping[str, Any] | None = None, *, certain: bool = True
    ) -> None:
        """Add an observation of an operation, None for the whole adapter."""
        self.observations.append(Observation("" if row is None else row.key, fact, says, override or {}, certain))

    async def send(
        self, row: Row, params: Mapping[str, Any], change: Callable[[ApiRequest], ApiRequest] | None = None
    ) -> Answer:
        """Send a request and return its answer, as data where it is JSON."""
        self._left -= 1
        response = await self._requests.send(row, params, change=change)
        if response is None:
            return Answer()
        data = None
        if not response.cut and len(response.content) <= _LARGEST:
            with suppress(ValueError, RecursionError):
                read = read_json(response.content)
                json_text(read).encode()  # what cannot be written back, such as NaN, is no data
                data = read
        return Answer(response.status, data, response.headers.get("etag", ""))

    async def read(self, row: Row, values: Sequence[str]) -> Answer:
        """Read what is at a path with these values."""
        return await self.send(row, params_of(row, values))


@dataclass(slots=True)
class Thing:
    """A thing that is written to: the path of its item with values, its read, and the marker that new texts have."""

    path: str
    values: tuple[str, ...]
    reader: Row
    marker: str
    entry: Entry | None = None
    """The entry of its create; None for a resource of the owner."""


@dataclass(slots=True)
class _Tries:
    """What came of parts of a resource: the fields that the API kept, lost or changed though none was named."""

    statuses: list[int] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    computed: set[str] = field(default_factory=set)

    @property
    def is_done(self) -> bool:
        """True if the last one was done."""
        return Answer(self.statuses[-1]).is_done


async def observe_updates(site: Site, thing: Thing) -> None:
    """Try each update of a thing; a resource of the owner is restored after each."""
    for row in site.rows.updates(thing.path):
        if site.goes_on and row.example is not None:
            update = _Update.of(site, row, thing.reader)
            if thing.entry is not None:
                await update.observe(thing, thing.entry)
            else:
                await update.observe_named(thing)


async def restore(site: Site, row: Row, entry: Entry, *, keeps: bool = False) -> None:
    """Write a resource back as it was read; with `keeps` what else changed is the API's. What is left stays open."""
    reader = site.rows.reader(row.path)
    original, update = entry.original or {}, None if reader is None else _Update.of(site, row, reader)
    for attempt in range(3):
        answer = Answer() if reader is None else await site.read(reader, entry.values)
        resource = None if update is None or not answer.is_done else update.resource(answer.data)
        if resource is None or update is None:
            break
        changed = {key: value for key, value in original.items() if resource.get(key) != value}
        ours = {key: value for key, value in changed.items() if _is_ours(resource.get(key), entry.marker)}
        if not ours and (keeps or not changed or attempt == 2):
            if changed:
                names = listed(sorted(update.names[key] for key in changed))
                site.say(row, Fact.UPDATE, f"The API computes or changes {names} by itself, also when it is restored")
            site.ledger.done(entry)
            return
        required = {key: value for key, value in original.items() if key in update.required}
        with suppress(Elsewhere):
            body = {**required, **ours} if ours and attempt == 0 else original
            await update.write(entry, entry.values, {key: value for key, value in body.items() if value is not None})


def _is_ours(value: Any, marker: str) -> bool:
    return value in _EMPTY or (isinstance(value, str) and marker in value)


@dataclass(slots=True)
class _Update:
    """An update with the read of the same resource, and the fields that it can write, by the API's names."""

    site: Site
    plan: Plan
    reader: Row
    steps: tuple[str, ...]
    fields: Mapping[str, JsonSchema]
    names: Mapping[str, str]
    required: frozenset[str]

    @classmethod
    def of(cls, site: Site, row: Row, reader: Row) -> _Update:
        """Prepare an update. Its fields are those of the whole body where the table knows none of the resource."""
        plan, types = prepare(row, site.table), site.table.types
        shape, steps = union_of(types, plan.target), plan.steps
        if not any(free_value(schema, types, "") is not None for _, schema in shape.properties.values()):
            shape, steps = union_of(types, plan.written), ()
        properties = {wire: (name, schema) for name, (wire, schema) in shape.properties.items()}
        required = frozenset(wire for wire, (name, _) in properties.items() if name in shape.required)
        fields = {wire: schema for wire, (_, schema) in properties.items()}
        return cls(site, plan, reader, steps, fields, {wire: name for wire, (name, _) in properties.items()}, required)

    def resource(self, data: Any) -> dict[str, Any] | None:
        """Return the resource in what was read, None where it is not there."""
        update = self.plan.row.update
        pointer = "" if update is None or update.undeclared or self.steps != self.plan.steps else update.read_at
        inner = at(data, steps_of(pointer))
        return inner if isinstance(inner, dict) else data if isinstance(data, dict) else None

    async def read(self, thing: Thing) -> tuple[Answer, dict[str, Any] | None]:
        """Read the thing; None where it cannot be told what it is."""
        answer = await self.site.read(self.reader, thing.values)
        return answer, self.resource(answer.data) if answer.is_done else None

    async def write(
        self, entry: Entry, values: Sequence[str], body: Any, row: Row | None = None, etag: str = ""
    ) -> Answer:
        """Send a body of the update. Raises Elsewhere."""
        row = row or self.plan.row
        is_patch = row.update is not None and row.update.strategy == "json-patch"
        content = json_text(list(operations(body)) if is_patch else nested(body, self.steps)).encode()

        def change(request: ApiRequest) -> ApiRequest:
            kept = tuple(each for each in here(request, row, entry.base).headers if each[0].lower() != "content-type")
            kind = "" if row.body is None else row.body.content_type
            request = replace(request, content=content, headers=(*kept, ("Content-Type", kind)))
            return guarded(request, etag) if etag and row.update is not None and row.update.etag else request

        return await self.site.send(row, {**(row.example or {}), **params_of(row, values)}, change)

    async def observe_named(self, thing: Thing) -> None:
        """Try the update on a resource of the owner, where all that it can write can be read, and restore it."""
        row, bases = self.plan.row, list[str]()

        def look(request: ApiRequest) -> ApiRequest:
            bases.append(base_of(request, self.reader))
            return request

        answer = await self.site.send(self.reader, params_of(self.reader, thing.values), look)
        resource = self.resource(answer.data) if answer.is_done else None
        known = {*(resource or ()), *self._readable()}
        unread = [self.names[wire] for wire in self.fields if wire not in known]
        if resource is None or unread or not self.fields:
            reason = f"{listed(unread)} cannot be read" if unread and resource is not None else "it cannot be read"
            self.site.say(row, Fact.UPDATE, f"Not tried, since lost fields could not be restored: {reason}")
            return
        original = {wire: resource.get(wire) for wire in self.fields}
        entry = self.site.ledger.begin(
            operation=row.name, base=bases[0], values=thing.values, marker=thing.marker, original=original
        )
        keeps = False
        try:
            keeps = await self.observe(thing, entry)
        finally:
            await restore(self.site, row, entry, keeps=keeps)

    def _readable(self) -> set[str]:
        """Return the fields that the read declares."""
        update, types = self.plan.row.update, self.site.table.types
        responses = sorted(pair for pair in self.reader.responses.items() if pair[0].startswith("2"))
        schema = as_schema(responses[0][1].get("schema")) if responses else {}
        shape = union_of(types, schema_at(types, schema, () if update is None else steps_of(update.read_at)))
        return {wire for wire, _ in shape.properties.values()}

    async def observe(self, thing: Thing, entry: Entry) -> bool:
        """Send parts of the thing, then the whole, and say what the API makes of the rest; True if it keeps that."""
        answer, resource = await self.read(thing)
        if resource is None:
            return False
        free = self._free(thing, entry, resource)
        tries = await self._parts(thing, entry, (answer, resource), free)
        whole = 0
        if entry.original is None and self.plan.row.method == "PUT" and self.plan.reader is not None:
            whole = await self._whole(thing, entry, tries)
        self._judge(tries, whole)
        await self._media_types(thing, entry, free)
        return bool(tries.kept) and not tries.lost

    def _free(self, thing: Thing, entry: Entry, resource: Mapping[str, Any]) -> dict[str, Any]:
        """Return new values of fields that may have any; of a resource of the owner texts that it has."""
        free: dict[str, Any] = {}
        for wire, schema in self.fields.items():
            was = resource.get(wire)
            value = free_value(schema, self.site.table.types, thing.marker, was)
            is_new_text = isinstance(value, str) and not (isinstance(was, str) and was and "/" not in was)
            is_bound = entry.original is not None or any(thing.marker in place for place in thing.values)
            if is_bound and (is_new_text or not isinstance(value, str)):
                continue  # it could not be written back, or it could be the name by which the thing is found
            if value is not None and was not in thing.values:
                free[wire] = value
        order = sorted(free, key=lambda wire: (wire in entry.fields, not isinstance(free[wire], str)))
        return {wire: free[wire] for wire in order[:_MOST_TRIED]}

    async def _parts(
        self, thing: Thing, entry: Entry, read: tuple[Answer, dict[str, Any]], free: Mapping[str, Any]
    ) -> _Tries:
        """Set some fields, or else one of them, then send the least that there is, and compare what is read."""
        tries, (answer, now) = _Tries(), read
        ours = set(entry.fields) & now.keys() if self.fields.keys().isdisjoint(now) else set()
        took: set[str] = set()
        for trial in [*([free] if len(free) > 1 else []), *({wire: value} for wire, value in free.items())]:
            body = {**self._least(entry, now), **trial}
            answer, after = await self._part(tries, thing, entry, body, answer)
            if after is None:
                return tries
            if tries.is_done:
                self._compare(tries, now, after, body, ours, has_effect=after != now)
                took = {wire for wire, value in trial.items() if after.get(wire) == value and now.get(wire) != value}
            now = after
            if took:
                break
        least = self._least(entry, now)
        plain = [key for key in self.fields if key not in took and isinstance(now.get(key), (str, int))]
        least = least or {key: now[key] for key in [key for key in plain if now[key] not in thing.values][:1]}
        if took and least:  # who replaces the whole loses what was set
            answer, after = await self._part(tries, thing, entry, least, answer)
            if after is not None and tries.is_done:
                self._compare(tries, now, after, least, took, has_effect=True)
        return tries

    def _least(self, entry: Entry, now: Mapping[str, Any]) -> dict[str, Any]:
        """Return what every part has: the fields that are demanded, and the marker, by which the thing is found."""
        return {key: now[key] for key in (*self.required, *entry.fields) if key in now and key in self.fields}

    async def _part(
        self, tries: _Tries, thing: Thing, entry: Entry, body: Mapping[str, Any], before: Answer
    ) -> tuple[Answer, dict[str, Any] | None]:
        done = await self.write(entry, thing.values, body, etag=before.etag)
        tries.statuses.append(done.status)
        return await self.read(thing)

    def _compare(
        self,
        tries: _Tries,
        now: Mapping[str, Any],
        after: Mapping[str, Any],
        body: Mapping[str, Any],
        ours: set[str],
        *,
        has_effect: bool,
    ) -> None:
        """Note what became of the fields that a part did not name; `ours` are those that were set for it."""
        unnamed = now.keys() - body.keys()
        differing = {key for key in unnamed if after.get(key) != now[key]}
        emptied = {key for key in differing & self.fields.keys() if now[key] not in _EMPTY and after.get(key) in _EMPTY}
        tries.lost |= emptied | (differing & ours)
        tries.computed |= (differing & self.fields.keys()) - tries.lost
        if has_effect:
            tries.kept |= (ours & unnamed) - differing

    async def _whole(self, thing: Thing, entry: Entry, tries: _Tries) -> int:
        """Write what was read back as it is, and return the status, 0 where that cannot be."""
        answer, now = await self.read(thing)
        try:
            state = self.plan.state(answer.data, {})
            body = at(self.plan.body(state, {}), self.steps)
        except (Failure, RecursionError):
            return 0
        done = await self.write(entry, thing.values, body, etag=answer.etag)
        after = (await self.read(thing))[1]
        if done.is_done and now is not None and after is not None:
            tries.computed |= {key for key in now if after.get(key) != now[key]}
        return done.status

    def _judge(self, tries: _Tries, whole: int) -> None:
        """Report what the update does with the fields that it does not name, and propose what to send."""
        row, say, is_whole = (
            self.plan.row,
            self.site.say,
            self.plan.row.update is not None and self.plan.row.update.replaces,
        )
        takes_whole, refused = 200 <= whole < 300, [status for status in tries.statuses if not 200 <= status < 300]
        if tries.lost:
            lost = listed(sorted(self.names.get(key, key) for key in tries.lost if key in self.names))
            override = {"send": "whole"} if not is_whole else {}
            says = f"It loses omitted fields{f': {lost}' if lost else ''}"
            say(row, Fact.UPDATE, says, override, certain=any(self.site.rows.updates(row.path)))
        elif tries.kept:
            says = f"It keeps omitted fields: {counted(len(tries.kept), 'field')} of those that were set"
            if whole and not takes_whole:
                says += f"; it refuses the whole resource as read, with {whole}"
            nests = any(union_of(self.site.table.types, schema).properties for schema in self.fields.values())
            is_certain = row.asked == "never" and not (takes_whole and nests)
            say(row, Fact.UPDATE, says, {"send": "named"} if is_whole else {}, certain=is_certain)
        elif refused and len(refused) == len(tries.statuses):
            beside = ", and takes the whole" if takes_whole else ""
            say(row, Fact.UPDATE, f"It refuses a part, with {listed(sorted(set(refused)))}{beside}")
        computed = sorted(self.names[key] for key in tries.computed if key in self.names)
        if computed:
            say(row, Fact.UPDATE, f"The API computes or changes {listed(computed)} by itself")

    async def _media_types(self, thing: Thing, entry: Entry, free: Mapping[str, Any]) -> None:
        """Send a change in each media type that the document declares."""
        taken: dict[str, bool] = {}
        text = next(((wire, value) for wire, value in free.items() if isinstance(value, str)), None)
        for parameter, choice in self.plan.row.choices.items() if text is not None else ():
            for number, kind in enumerate(choice.kinds):
                row = chosen(self.plan.row, {parameter: kind})
                if row.body is None or not is_json(row.body.content_type) or text is None:
                    continue
                answer, now = await self.read(thing)
                wire, value = text[0], f"{text[1]}-{number + 1}"
                body = {**self._least(entry, now or {}), wire: value}
                await self.write(entry, thing.values, body, row, answer.etag)
                after = (await self.read(thing))[1] or {}
                taken[row.body.content_type] = after.get(wire) == value
        default = "" if self.plan.row.body is None else self.plan.row.body.content_type
        good = [kind for kind, is_taken in taken.items() if is_taken]
        if len(taken) > 1:
            override = {"body": {"content_type": good[0]}} if good and default not in good else {}
            says = f"It takes a change as {listed(good)}" if good else "It takes a change in none of its media types"
            self.site.say(self.plan.row, Fact.MEDIA_TYPE, f"{says}; sent were {listed(list(taken))}", override)
