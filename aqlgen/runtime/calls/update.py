"""Updates (R-UPD-2): as the patch that the API takes, or read, merged (RFC 7396, RFC 6902) and written as a whole.

A whole is written only over what was read: by the API's ETag, or else after the resource was read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..encode.urls import resource_of
from ..envelope import CallWarning
from ..errors import Code, Failure, invalid
from ..exact_json import read_json, write_json
from ..schema import at, steps_of, union_of
from ..text import line, listed, shown
from ..wire import QuotaPaused
from .merge import agree, covers, differences
from .resource import Carried
from .update_plan import UpdatePlan, prepare, replaced_fields, unreadable

if TYPE_CHECKING:
    from ..state.locks import Turns
    from ..table import Row, Table
    from ..wire import ApiRequest, ApiResponse
    from . import Exchanges

_MOST_FIELDS = 20
_WRITTEN = (200, 201, 203, 204, 205)
"""The statuses of a write that is done."""


def guarded(request: ApiRequest, etag: str) -> ApiRequest:
    """Return the request that is performed only if the resource still has this ETag (RFC 9110, 13.1.1)."""
    kept = tuple(header for header in request.headers if header[0].lower() != "if-match")
    return replace(request, headers=(*kept, ("If-Match", _header(etag))))


def patched(request: ApiRequest, plan: UpdatePlan, etag: str | None = None) -> ApiRequest:
    """Return the request of a change that is sent as operations on a resource that was not read."""
    return _with(request, plan.operations(read_json(request.content or b"null")), etag)


async def perform(
    exchanges: Exchanges, row: Row, table: Table, params: Mapping[str, Any], etag: str | None, turns: Turns
) -> tuple[ApiResponse, list[CallWarning]]:
    """Update, and return the API's answer. `etag` is the one that the caller expects the resource to have."""
    plan = prepare(row, table)
    async with turns.of(resource_of(row, params)):
        if plan.reader is not None:
            return await _Merging(exchanges, plan, params, plan.reader, plan.reading(params)).perform(etag)
        change: Callable[[ApiRequest], ApiRequest] | None = None
        if plan.patches:

            def change(request: ApiRequest) -> ApiRequest:
                return patched(request, plan, etag)

        elif etag is not None:

            def change(request: ApiRequest) -> ApiRequest:
                return guarded(request, etag)

        response = await exchanges.send(row, params, change)
    lost = replaced_fields(plan, params)
    return response, [_replaced_warning(row, lost)] if lost else []


class _Read(NamedTuple):
    """What was read, and its ETag; `is_missing` where there is nothing yet, and the update creates it."""

    answer: Any
    etag: str | None
    is_missing: bool = False


@dataclass(slots=True)
class _Merging:
    """One update that reads first."""

    exchanges: Exchanges
    plan: UpdatePlan
    params: Mapping[str, Any]
    reader: Row
    reading: Mapping[str, Any]
    """The parameters of the reader."""
    warnings: list[CallWarning] = field(default_factory=list)

    async def perform(self, etag: str | None) -> tuple[ApiResponse, list[CallWarning]]:
        """Read, merge, write. Raises Failure when the resource is not as expected, or changes in between."""
        plan, row = self.plan, self.plan.row
        request = self.exchanges.api.of(row).build(row, self.params)
        asked = read_json(request.content or b"null")
        expected = etag or next((value for name, value in request.headers if name.lower() == "if-match"), None)
        if not isinstance(asked, dict):  # operations are sent as they are
            change = None if expected is None else lambda request: guarded(request, expected)
            return await self.exchanges.send(row, self.params, change), self.warnings
        if row.update is not None and row.update.fills:
            return await self._fill(asked, expected), self.warnings
        read = await self._read_whole(creates=expected is None)
        etag = self._condition(read, expected)
        if not plan.patches:
            return await self._replace(read, asked, etag), self.warnings
        body = list(plan.patch(read.answer, asked))
        return await self.exchanges.send(row, self.params, lambda request: _with(request, body, etag)), []

    async def _replace(self, read: _Read, asked: Mapping[str, Any], etag: str | None) -> ApiResponse:
        """Write the whole that was read, with the change in it, and look at what became of it."""
        row = self.plan.row
        state = self.plan.state(read.answer, asked)
        whole = self.plan.body(state, asked, is_new=read.is_missing)
        self._warn(state, asked)
        only_new = read.is_missing and _knows_versions(row)
        if etag in (None, "*") and not only_new:
            changed = await self._changed(state, asked)
            if changed:
                raise _changed_meanwhile(row, changed)
        response = await self.exchanges.send(
            row, self.params, lambda request: _with(request, whole, etag, only_new=only_new)
        )
        if response.status == 412:
            await self._explain(state, asked)
        if response.status in _WRITTEN and read.is_missing:
            self._add("VALIDATION_CREATED_WARNING", f"This '{row.resource}' did not exist: the update created it")
        elif response.status in _WRITTEN and state is not None and row.long_running is None:
            await self._verify(state, asked)
        return response

    async def _fill(self, change: Mapping[str, Any], etag: str | None) -> ApiResponse:
        """Send a patch with the required fields that it lacks; as it is where they cannot be read."""
        body: Any = change
        if self.plan.needs_reading(change):
            try:
                read = await self._read_whole()
                body = self.plan.filled(self.plan.state(read.answer, change), change)
            except Failure:
                body = change
            else:
                etag = self._condition(read, etag)
        return await self.exchanges.send(self.plan.row, self.params, lambda request: _with(request, body, etag))

    def _condition(self, read: _Read, expected: str | None) -> str | None:
        """Return the ETag by which the API notices a change after the reading, the expected one if it gave none.

        A weak one never matches (RFC 9110, 13.1.1): it is sent where the API says that it does. Raises Failure if the
        ETag that was read is another one than expected.
        """
        if read.etag is None:
            return expected
        if expected not in (None, "*") and _tag(expected) != _tag(read.etag):
            raise Failure(
                Code.VERSION_MISMATCH,
                f"Version mismatch: the resource is not of version {shown(expected)}. Read it again, then update it.",
                {"expected_version": expected, "actual_version": line(read.etag, 200)},
            )
        return read.etag if not read.etag.startswith("W/") or _knows_versions(self.plan.row) else expected

    async def _read_whole(self, *, creates: bool = False) -> _Read:
        """Read the resource, also without what may leave out parts of an answer: parameters of the call, and defaults.

        What has more is the resource, unless the two are different ones, as in two languages. Raises Failure if neither
        has all of the other.
        """
        read, shaped = await self._read(creates=creates), (self.reader, self.reading)
        plain = self.plan.bare_reader or self.reader, self.plan.identifying(self.params)
        if plain == shaped or read.is_missing:
            return read
        self.reader, self.reading = plain
        try:
            bare = await self._read()
        except Failure:
            bare = read
        first, second = self.plan.resource(read.answer), self.plan.resource(bare.answer)
        if first is None or (covers(second, first) and not covers(first, second)):
            return bare
        self.reader, self.reading = shaped
        if not covers(first, second) and agree(first, second):
            raise self._trimmed(sorted(shaped[1].keys() - plain[1].keys()))
        return read

    def _trimmed(self, names: list[str]) -> Failure:
        """Build the failure of a resource that nobody can tell the whole of, by the reader's names."""
        if not names:
            return unreadable(self.reader)
        name = self.plan.named[names[0]]
        shown = f"Parameter '{name}' changes which part of this '{self.plan.row.resource}' the API shows"
        return invalid(name, f"{shown}; it is read before it is written. Nothing was written: leave it out")

    async def _read(self, *, creates: bool = False, aside: bool = False) -> _Read:
        """Read the resource. Raises Failure when there is none, or when its answer is not JSON.

        With `creates` there may be none, if the update creates it.
        """
        reader, update = self.reader, self.plan.row.update
        assert update is not None  # noqa: S101 - prepared so
        response = await self.exchanges.send(reader, self.reading, aside=aside)
        if response.status == 404 and creates and update.creates:
            return _Read(None, None, is_missing=True)
        if response.file is not None or (response.status < 300 and response.status != 204 and not response.content):
            raise unreadable(reader)  # an empty answer is no word of the API that there is nothing
        try:
            answer = read_json(response.content or b"null") if response.status < 300 else None
        except (ValueError, RecursionError):
            raise unreadable(reader) from None
        await self.exchanges.decode(response, reader, self.reading)
        return _Read(answer, response.headers.get("etag"))

    async def _verify(self, state: Carried, asked: Mapping[str, Any]) -> None:
        """Read the resource after the write, and warn of other changes. Raises nothing: the write has been made."""
        try:
            again = await self._read(aside=True)
            changed = self.plan.side_effects(state, self.plan.state(again.answer, asked), asked)
        except (Failure, QuotaPaused, RecursionError):
            message = "The update was made and could not be read again: other fields may have changed unseen"
            self._add("VALIDATION_UPDATE_NOT_VERIFIED_WARNING", message, "low")
            return
        if changed:
            message = "Other fields than those named changed with the update, see details.fields"
            self._add("VALIDATION_FIELDS_CHANGED_WARNING", message, fields=changed[:_MOST_FIELDS], count=len(changed))

    def _add(self, code: str, message: str, severity: str = "medium", **details: Any) -> None:
        self.warnings.append(CallWarning(code, message, severity, {"operation": self.plan.row.name, **details}))

    async def _changed(self, state: Carried | None, asked: Mapping[str, Any]) -> list[str]:
        """Read again, and return the fields that are not as they were.

        A field that the request does not declare and that is another one at each reading is a clock or a counter.
        """
        first, declared = self._fields(state)
        again, _ = self._fields(self.plan.state((await self._read(creates=state is None)).answer, asked))
        changed = _differing(first, again)
        if not changed or changed & declared or (first is None) != (again is None):
            return self._named(changed)
        last, _ = self._fields(self.plan.state((await self._read()).answer, asked))
        return self._named(changed - _differing(again, last))

    def _fields(self, state: Carried | None) -> tuple[dict[str, Any] | None, frozenset[str]]:
        shape = union_of(self.plan.table.types, self.plan.target)
        return None if state is None else state.value, frozenset(wire for wire, _ in shape.properties.values())

    def _named(self, changed: frozenset[str]) -> list[str]:
        """Return fields by the agent's names."""
        names = {wire: name for name, (wire, _) in union_of(self.plan.table.types, self.plan.target).properties.items()}
        return [line(names.get(key, key), 100) for key in sorted(changed)][:_MOST_FIELDS]

    async def _explain(self, state: Carried | None, asked: Mapping[str, Any]) -> None:
        """Raise Failure with the fields that changed, if the API found another version and they can be told."""
        try:
            first, _ = self._fields(state)
            again, _ = self._fields(self.plan.state((await self._read()).answer, asked))
        except Failure:
            return
        changed = self._named(_differing(first, again))
        if changed:
            raise _changed_meanwhile(self.plan.row, changed)

    def _warn(self, state: Carried | None, asked: Mapping[str, Any]) -> None:
        """Add the warnings about what is not written back."""
        inner = at(asked, self.plan.steps)
        masked = [dropped.label for dropped in state.masked if not dropped.is_named(inner)] if state else []
        if masked:
            message = f"The API does not show {listed(masked, _MOST_FIELDS)}, so the update did not send it"
            self._add("VALIDATION_FIELDS_NOT_SENT_WARNING", message, fields=masked[:_MOST_FIELDS])


def _differing(first: dict[str, Any] | None, second: dict[str, Any] | None) -> frozenset[str]:
    """Return the keys whose values differ."""
    return frozenset(
        steps_of(operation["path"])[0] for operation in differences(first or {}, second or {}) if operation["path"]
    )


def _changed_meanwhile(row: Row, changed: list[str]) -> Failure:
    return Failure(
        Code.VERSION_MISMATCH,
        "Version mismatch: the resource changed while it was being updated, see details.changed_fields. Nothing was "
        "written: read it again, then update it.",
        {"operation": row.name, "changed_fields": changed},
    )


def _replaced_warning(row: Row, lost: list[str]) -> CallWarning:
    return CallWarning(
        "VALIDATION_FIELDS_REPLACED_WARNING",
        f"The update replaced the whole: the API may have reset fields left out, {listed(lost, _MOST_FIELDS)}",
        "high",
        {"operation": row.name, "fields": lost[:_MOST_FIELDS]},
    )


def _with(request: ApiRequest, body: Any, etag: str | None, *, only_new: bool = False) -> ApiRequest:
    request = replace(request, content=write_json(body).encode())
    if only_new:
        return replace(request, headers=(*request.headers, ("If-None-Match", "*")))
    return request if etag is None else guarded(request, etag)


def _knows_versions(row: Row) -> bool:
    """Return True if the API says that it notices a change by the ETag, be it a weak one."""
    return row.update is not None and row.update.etag


def _tag(etag: str) -> str:
    return etag.strip().removeprefix("W/")


def _header(value: str) -> str:
    if any(character in value for character in "\r\n\0"):
        raise invalid(
            "if_match", "Parameter 'if_match' is sent as a header: it must not hold line breaks or control characters"
        )
    return value.strip()
