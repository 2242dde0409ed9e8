"""What an update does with the fields that it does not name, by trying it on a thing that may be changed.

Each try sends a body and compares what is read before and after it. Of a resource of the owner only texts are changed,
which it has, and it is written back as it was read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ..calls.merge import operations
from ..calls.resource import nested
from ..calls.update import guarded
from ..calls.update_plan import UpdatePlan, prepare
from ..errors import Failure
from ..exact_json import read_json, write_json
from ..schema import as_schema, at, schema_at, steps_of, union_of
from ..table import JsonSchema, chosen, first_success
from ..text import listed
from ..wire import is_json
from .model import Fact, Observation
from .things import Elsewhere, base_of, free_value, here, marked, params_of, rows_of
from .tries import MISSING_STATUSES, Try, is_ours, unnamed, verdict, without_nulls

if TYPE_CHECKING:
    from ..table import Row
    from ..wire import ApiRequest
    from .ledger import Entry, Ledger
    from .requests import AdapterRequests

_MOST_TRIED = 4
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LARGEST = 5_000_000
"""The bytes of an answer that is looked into."""


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

    def __init__(
        self, requests: AdapterRequests, ledger: Ledger, *, most: int, seconds: float, creates: Collection[str] = ()
    ) -> None:
        self.table, self.ledger, self.rows = requests.table, ledger, rows_of(requests.table, creates)
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
                write_json(read).encode()  # what cannot be written back, such as NaN, is no data
                data = read
        return Answer(response.status, data, response.headers.get("etag", ""))

    async def read(self, row: Row, values: Sequence[str]) -> Answer:
        """Read what is at a path with these values."""
        return await self.send(row, params_of(row, values))


@dataclass(slots=True)
class Thing:
    """A thing that is written to: the path of its item with values, its read, and the marker that new texts have.

    `sent` is the body of its create; `unread` are identifiers in the answer to it by which nothing is read.
    """

    path: str
    values: tuple[str, ...]
    reader: Row
    marker: str
    entry: Entry | None = None
    """The entry of its create; None for a resource of the owner."""
    sent: Any = None
    unread: Sequence[str] = ()


async def observe_updates(site: Site, thing: Thing) -> None:
    """Try each update of a thing; a resource of the owner is restored after each."""
    for row in site.rows.updates(thing.path):
        if site.goes_on and row.example is not None:
            update = _Update.of(site, row, thing.reader)
            if thing.entry is not None:
                await update.observe(thing, thing.entry)
            else:
                await update.observe_named(thing)


async def restore(site: Site, row: Row, entry: Entry) -> None:
    """Write a resource back as it was read, after an observation that was killed."""
    reader = site.rows.reader(row.path)
    if reader is not None:
        await _Update.of(site, row, reader).restore(entry)


@dataclass(slots=True)
class _Update:
    """An update with the read of the same resource, and the fields that it can write, by the API's names."""

    site: Site
    plan: UpdatePlan
    reader: Row
    steps: tuple[str, ...]
    fields: Mapping[str, JsonSchema]
    names: Mapping[str, str]
    required: tuple[str, ...]
    tries: list[Try] = field(default_factory=list)

    @classmethod
    def of(cls, site: Site, row: Row, reader: Row) -> _Update:
        """Prepare an update. Its fields are those of the whole body where the table knows none of the resource."""
        plan, types = prepare(row, site.table), site.table.types
        shape, steps = union_of(types, plan.target), plan.steps
        if not any(free_value(schema, types, "") is not None for _, schema in shape.properties.values()):
            shape, steps = union_of(types, plan.written), ()
        properties = {wire: (name, schema) for name, (wire, schema) in shape.properties.items()}
        required = tuple(wire for wire, (name, _) in properties.items() if name in shape.required)
        fields = {wire: schema for wire, (_, schema) in properties.items()}
        return cls(site, plan, reader, steps, fields, {wire: name for wire, (name, _) in properties.items()}, required)

    def resource(self, data: Any) -> dict[str, Any] | None:
        """Return the resource in what was read, None where it is not there."""
        update = self.plan.row.update
        pointer = "" if update is None or update.undeclared or self.steps != self.plan.steps else update.read_at
        inner = at(data, steps_of(pointer))
        return inner if isinstance(inner, dict) else data if isinstance(data, dict) else None

    async def read(self, values: Sequence[str]) -> tuple[Answer, dict[str, Any] | None]:
        """Read the thing; None where it cannot be told what it is."""
        answer = await self.site.read(self.reader, values)
        return answer, self.resource(answer.data) if answer.is_done else None

    async def write(
        self, entry: Entry, values: Sequence[str], body: Any, row: Row | None = None, etag: str = ""
    ) -> Answer:
        """Send a body of the update. Raises Elsewhere."""
        row = row or self.plan.row
        is_patch = row.update is not None and row.update.strategy == "json-patch"
        content = write_json(list(operations(body)) if is_patch else nested(body, self.steps)).encode()

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
            await self.restore(entry, keeps=keeps)

    def _readable(self) -> set[str]:
        """Return the fields that the read declares."""
        update, types = self.plan.row.update, self.site.table.types
        schema = as_schema(first_success(self.reader.responses).get("schema"))
        shape = union_of(types, schema_at(types, schema, () if update is None else steps_of(update.read_at)))
        return {wire for wire, _ in shape.properties.values()}

    async def restore(self, entry: Entry, *, keeps: bool = False) -> None:
        """Write a resource back as it was read; with `keeps` what else changed is the API's. What is left is open."""
        original = entry.original or {}
        for attempt in range(3):
            resource = (await self.read(entry.values))[1]
            if resource is None:
                return
            changed = {key: value for key, value in original.items() if resource.get(key) != value}
            ours = {key: value for key, value in changed.items() if is_ours(resource.get(key), entry.marker)}
            if not ours and (keeps or not changed or attempt == 2):
                self._say_computed(changed, ", also when it is restored")
                self.site.ledger.done(entry)
                return
            least = {key: original[key] for key in filter(original.__contains__, self.required)} | ours
            with suppress(Elsewhere):
                await self.write(entry, entry.values, without_nulls(least if ours and not attempt else original))

    def _say_computed(self, wires: Collection[str], when: str = "") -> None:
        names = listed(sorted({self.names[key] for key in wires if key in self.names}))
        if names:
            self.site.say(self.plan.row, Fact.UPDATE, f"The API computes or changes {names} by itself{when}")

    async def observe(self, thing: Thing, entry: Entry) -> bool:
        """Send parts of the thing, then the whole, in each media type; True if the API keeps what is not named."""
        first = (await self.read(thing.values))[1]
        if first is None:
            return False
        free = self._free(thing, entry, first)
        await self._parts(thing, entry, first, free)
        parts = list(self.tries)
        keeps = await self._judge(thing, parts, await self._whole(thing, entry))
        await self._media_types(thing, entry, free)
        return keeps

    async def _parts(self, thing: Thing, entry: Entry, first: Mapping[str, Any], free: Mapping[str, Any]) -> None:
        """Set some fields, or else one of them, then send the least that there is: who replaces all loses them."""
        set_before, took = self._set_before(thing, first), set[str]()
        for change in [*([free] if len(free) > 1 else []), *({wire: value} for wire, value in free.items())]:
            body = {**self._least(entry, self._now(first)), **change}
            trial = await self._try(thing, entry, body, ours=set_before)
            took = trial.took(change) if trial is not None and trial.is_done else set()
            if took or trial is None or trial.after is None:
                break
        least = self._least(entry, self._now(first), {*self.fields} - took)
        if took and least:
            await self._try(thing, entry, least, ours=took, works=True)

    def _now(self, first: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the resource as it was read last."""
        return next((trial.after for trial in reversed(self.tries) if trial.after is not None), first)

    async def _try(
        self, thing: Thing, entry: Entry, body: Mapping[str, Any], row: Row | None = None, **known: Any
    ) -> Try | None:
        """Send a body and compare what is read before and after; None where it cannot be read before."""
        answer, before = await self.read(thing.values)
        if before is None:
            return None
        done = await self.write(entry, thing.values, body, row, answer.etag)
        self.tries.append(Try(body, done.status, before, (await self.read(thing.values))[1], **known))
        return self.tries[-1]

    def _free(self, thing: Thing, entry: Entry, resource: Mapping[str, Any]) -> dict[str, Any]:
        """Return new values of fields that may have any; of a resource of the owner texts that it has."""
        free: dict[str, Any] = {}
        for wire, schema in self.fields.items():
            was = resource.get(wire)
            text = f"{thing.marker}-1" if was == thing.marker else thing.marker
            value = free_value(schema, self.site.table.types, text, was)
            is_text, is_owners = isinstance(value, str), entry.original is not None
            is_new = is_text and not (isinstance(was, str) and was and "/" not in was)
            is_place = any(thing.marker in place for place in thing.values)
            if (is_owners and not is_text) or (is_new and (is_owners or is_place)):
                continue  # it could not be written back, or it could be the name by which the thing is found
            if value is not None and was not in thing.values:
                free[wire] = value
        order = sorted(free, key=lambda wire: (wire in entry.fields, not isinstance(free[wire], str)))
        return {wire: free[wire] for wire in order[:_MOST_TRIED]}

    def _set_before(self, thing: Thing, now: Mapping[str, Any]) -> set[str]:
        """Return the fields that the create of a thing has set, and that are no defaults of the document."""
        sent, marks = self.resource(thing.sent) or {}, thing.entry.fields if thing.entry is not None else ()
        known = {key for key in sent.keys() & now.keys() if now[key] == sent[key] and not is_ours(now[key])}
        known -= {key for key, schema in self.fields.items() if key in sent and sent[key] == schema.get("default")}
        return known | {key for key in marks if thing.marker in str(now.get(key))}

    def _least(self, entry: Entry, now: Mapping[str, Any], others: Collection[str] = ()) -> dict[str, Any]:
        """Return the fields of every part: those that are demanded, and the marker, by which the thing is found.

        Where there are none of these, one of the `others` that is a text or a number, as it is.
        """
        least = [key for key in (*self.required, *entry.fields) if key in now and key in self.fields]
        places = (*entry.values, entry.item)
        plain = [key for key in self.fields if key in others and isinstance(now.get(key), (str, int))]
        return {key: now[key] for key in least or [key for key in plain if str(now[key]) not in places][:1]}

    async def _whole(self, thing: Thing, entry: Entry) -> Try | None:
        """Write what was read back as it is; None where the adapter would not send that."""
        if self.plan.row.method != "PUT":
            return None
        answer, now = await self.read(thing.values)
        body: Any = None if entry.original is None else without_nulls(entry.original)
        if body is None and self.plan.reader is not None:
            with suppress(Failure, RecursionError):
                body = at(self.plan.body(self.plan.state(answer.data, {}), {}), self.steps)
        return await self._try(thing, entry, body) if now is not None and isinstance(body, dict) else None

    async def _judge(self, thing: Thing, parts: Sequence[Try], whole: Try | None) -> bool:
        """Report what the update does with the fields that it does not name, and propose what to send.

        Returns True if it keeps them.
        """
        row, types = self.plan.row, self.site.table.types
        lost, kept = unnamed(parts, self.fields)
        is_whole = row.update is not None and row.update.replaces
        judged = verdict(parts, lost, kept, whole, self.names, is_whole=is_whole)
        if judged is not None:
            says, override = judged
            if is_whole and not any(trial.is_done for trial in parts) and await self._takes_another_name(thing, parts):
                says += f": the identifier by which alone {self.reader.name} finds the thing"
                override = {"send": "named"}
            nests = any(union_of(types, schema).properties for schema in self.fields.values())
            certain = not (kept and nests and whole is not None and whole.is_done)
            self.site.say(row, Fact.UPDATE, says, override, certain=certain)
        self._say_values(parts, whole, lost)
        return bool(kept) and not lost

    def _say_values(self, parts: Sequence[Try], whole: Try | None, lost: Collection[str]) -> None:
        """Report the fields that the API computes, and propose the types that it took beyond its document."""
        changed = {key for trial in parts if trial.is_done for key in trial.differing() if key in self.fields}
        self._say_computed(changed.difference(lost) | (whole.untaken() if whole is not None else set()))
        lenient = whole.lenient(self.fields, self.site.table.types) if whole is not None and whole.is_done else {}
        if lenient:
            says = f"It takes {listed(sorted(lenient))} of other types, as {self.reader.name} gives them"
            self.site.say(self.plan.row, Fact.TYPES, says, {"parameters": lenient})

    async def _takes_another_name(self, thing: Thing, parts: Sequence[Try]) -> bool:
        """Return True if the update finds things by another identifier than the one by which alone this one is read.

        It does not find the thing, or refuses it where it only misses one that does not exist: a random UUID.
        """
        entry, statuses = thing.entry, {trial.status for trial in parts}
        if entry is None or not any(map(_UUID.fullmatch, thing.unread)) or max(statuses) >= 500:
            return False
        if statuses <= {*MISSING_STATUSES}:
            return True
        body, absent = parts[-1].body, str(uuid4())
        fields = marked(write_json(body).encode(), entry.marker)
        entry = self.site.ledger.begin(**{**asdict(entry), "fields": fields, "item": absent, "copies": 1})
        answer = await self.write(entry, (*thing.values[:-1], absent), body)
        if 400 <= answer.status < 500:
            self.site.ledger.done(entry)
        return answer.status in MISSING_STATUSES

    async def _media_types(self, thing: Thing, entry: Entry, free: Mapping[str, Any]) -> None:
        """Send a change in each media type that the document declares."""
        taken: dict[str, bool] = {}
        wire = next((wire for wire, value in free.items() if isinstance(value, str)), "")
        for row, kind in self._kinds() if wire else ():
            body = {**self._least(entry, self._now({})), wire: f"{free[wire]}-{len(taken) + 1}"}
            trial = await self._try(thing, entry, body, row)
            taken[kind] = trial is not None and bool(trial.took([wire]))
        good = [kind for kind, is_taken in taken.items() if is_taken]
        if len(taken) > 1:
            is_default = self.plan.row.body is not None and self.plan.row.body.content_type in good
            override = {"body": {"content_type": good[0]}} if good and not is_default else {}
            says = f"It takes a change as {listed(good)}" if good else "It accepts changes in none of its media types"
            self.site.say(self.plan.row, Fact.MEDIA_TYPE, f"{says}; sent were {listed(list(taken))}", override)

    def _kinds(self) -> Iterator[tuple[Row, str]]:
        """Yield the update in each media type of JSON that the document declares."""
        for parameter, choice in self.plan.row.choices.items():
            for kind in choice.kinds:
                row = chosen(self.plan.row, {parameter: kind})
                if row.body is not None and is_json(row.body.content_type):
                    yield row, row.body.content_type
