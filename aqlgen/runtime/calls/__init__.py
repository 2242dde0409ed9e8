"""The exchanges with the API that one call needs, and the extracts of their answers by the presets.

Each exchange goes through the owner's hooks.

An agent needs of a write what the thing is, its state, its version and where it is (R-SEL-2). Beside these stay what
the API remarks, the fields that an update changed, and what no read gives again, secrets among it: it would be lost. A
secret that a read gives is left out. A thing without identifying fields stays whole.

`standard` leaves the beginning of texts and lists, and the upper levels. Of another thing within it, at any level, what
identifies that one is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..errors import UNKNOWN_OUTCOME, Failure
from ..text import folded
from ..wire import QuotaPaused, changes_something, current_spending

if TYPE_CHECKING:
    from anyio import CapacityLimiter

    from ..client import ApiSide
    from ..hooks import Call, Hooks
    from ..table import Row
    from ..wire import ApiRequest, ApiResponse


class Approved(Protocol):
    """The approval of a call; `safety.approvals.Approval` implements it."""

    def check(self, row: Row, request: ApiRequest) -> None:
        """Raise Failure for a request of the approved operation that is another one than was approved."""


class Gate(Protocol):
    """The admission of requests in place of an admitted one, by Failure or none; `safety.gatekeeper` implements it."""

    def admit_changed(
        self,
        row: Row,
        params: Mapping[str, Any],
        first: ApiRequest,
        changed: ApiRequest,
        page: Mapping[str, Any] | None,
    ) -> None:
        """Admit a request in place of another: the whole of an update, or a page with its parameters."""

    def follows(self, row: Row, first: ApiRequest, changed: ApiRequest) -> bool:
        """Return True if a redirect may be followed."""

    def admit_hooked(self, row: Row, call: Call, method: str) -> None:
        """Admit a request that a hook changed."""


_LONG = 1 << 20
"""Bytes of an answer that is read in a thread."""


@cache
def _limiter() -> CapacityLimiter:
    """Return the limit of answers that are read in threads: one at a time."""
    import anyio  # not above: generating imports this package, and runs no event loop

    return anyio.CapacityLimiter(1)


async def apart(length: int, work: Callable[[], Any]) -> Any:
    """Return what work on an answer of so many bytes returns: of a long one in a thread, one at a time."""
    if length <= _LONG:
        return work()
    from anyio import to_thread

    return await to_thread.run_sync(work, limiter=_limiter())


class Exchanges:
    """Sends the requests of one call; `seconds` is the API's time for all of them, `last` its answer to `request`.

    The names of hooks that change a request are added to `altered_by`.
    """

    __slots__ = ("_altered_by", "_approved", "_call", "_gate", "_hooks", "_sent", "api", "last", "request", "seconds")

    def __init__(
        self,
        api: ApiSide,
        hooks: Hooks,
        call: Call | None,
        approved: Approved | None = None,
        gate: Gate | None = None,
        altered_by: list[str] | None = None,
    ) -> None:
        self.api = api
        self.seconds = 0.0
        self.last: ApiResponse | None = None
        self.request: ApiRequest | None = None
        self._hooks = hooks
        self._call = call
        self._approved = approved
        self._gate = gate
        self._altered_by = [] if altered_by is None else altered_by
        self._sent = False

    async def send(
        self,
        row: Row,
        params: Mapping[str, Any],
        change: Callable[[ApiRequest], ApiRequest] | None = None,
        *,
        page: Mapping[str, Any] | None = None,
        aside: bool = False,
    ) -> ApiResponse:
        """Build a request, apply `change`, send it and return the answer, which is not the call's if it is `aside`.

        `page` are the parameters of a page of the call's list: the request is made of them, in place of the call's.

        Raises Failure when the API cannot be reached, and when the request is not the one that was approved. Where a
        write may have been carried out, it says how to find out. Raises QuotaPaused for a request aside
        that somebody would have to be asked about.
        """
        api, call = self.api.of(row), self._call
        first, request = self._admitted(row, params, change, page)
        if call is not None:
            request = await self._hooked(row, call, request)
        request = self._finished(row, first, request)
        self._sent = self._sent or changes_something(row, request.method)
        begin, spending, response = perf_counter(), current_spending(), None
        try:
            while response is None:
                try:
                    response = await api.send(request, row)
                except QuotaPaused as paused:  # it is sent once somebody says so, and nobody is asked for one aside
                    if aside or spending is None:
                        raise
                    await spending.go_on(row, paused)
        except Failure as failure:
            raise self._advised(failure, row, params, request) from None
        self.seconds += perf_counter() - begin
        if call is not None:
            try:
                response = await self._hooks.on_response(response, call)
            except Failure as refusal:
                raise self.unfinished(refusal, row, params) from None
        if not aside:
            self.last, self.request = response, request
        return response

    def _admitted(
        self,
        row: Row,
        params: Mapping[str, Any],
        change: Callable[[ApiRequest], ApiRequest] | None,
        page: Mapping[str, Any] | None,
    ) -> tuple[ApiRequest, ApiRequest]:
        """Return the call's own request, as the gate has seen it, and the one to send. Raises Failure."""
        build = self.api.of(row).build
        first = request = build(row, params)
        if self._approved is not None:
            self._approved.check(row, first)
        if page is not None and page != params:
            request = build(row, page)
        if change is not None:
            request = change(request)
        if self._gate is not None and request is not first:
            self._gate.admit_changed(row, params, first, request, page)
        return first, request

    def _finished(self, row: Row, first: ApiRequest, request: ApiRequest) -> ApiRequest:
        """Return a request with its idempotency key, and which redirects it may follow by what was admitted first."""
        if row.idempotency is not None:
            from ..client.idempotency import with_idempotency_key

            request = with_idempotency_key(request, row)
        return request if self._gate is None else replace(request, follows=partial(self._gate.follows, row, first))

    async def _hooked(self, row: Row, call: Call, request: ApiRequest) -> ApiRequest:
        """Return a request as the owner's hook leaves it. Raises Failure for one that is not let through."""
        hooked = await self._hooks.on_send(request, call)
        if hooked != request:
            self._altered_by.append("before_send")
            if self._gate is not None:
                self._gate.admit_hooked(row, call, hooked.method)
        return hooked

    async def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any]) -> Any:
        """Return the data of an answer, a long one read in a thread, one at a time. Raises Failure as `send` does."""
        try:
            return await apart(len(response.content), partial(self.api.of(row).decode, response, row, params))
        except Failure as failure:
            raise self._advised(failure, row, params, self.request) from None

    def unfinished(self, failure: Failure, row: Row, params: Mapping[str, Any]) -> Failure:
        """Return the failure of a call after something was sent, with how to find out whether it was carried out."""
        if self._sent:
            failure = Failure(failure.code, failure.message, {"outcome": UNKNOWN_OUTCOME, **failure.details})
        return self._advised(failure, row, params, self.request)

    def _advised(self, failure: Failure, row: Row, params: Mapping[str, Any], request: ApiRequest | None) -> Failure:
        """Return a failure with how to find out whether a write was carried out, and the key that it was sent with."""
        if "outcome" not in failure.details:
            return failure
        from ..decode.outcome import with_advice

        return with_advice(failure, row, params, self.api.table, "" if request is None else request.idempotency_key)


IDENTIFIERS: Final = frozenset({"id", "uuid", "guid", "gid", "sid", "uid", "key", "slug", "number", "code", "arn"})
NAMES: Final = frozenset({"name", "title", "fullname", "displayname", "login", "username", "label", "summary", "email"})
PAGES_OF_PEOPLE: Final = frozenset({"html_url", "web_url"})

_STATES: Final = frozenset(
    {
        "state",
        "status",
        "phase",
        "conclusion",
        "outcome",
        "enabled",
        "active",
        "archived",
        "deleted",
        "merged",
        "paid",
        "ok",
        "success",
        "type",
        "kind",
    }
)
_VERSIONS: Final = frozenset({"version", "revision", "etag", "resourceversion", "generation", "sha"})
_PLACES: Final = frozenset(
    {"url", "href", "link", "uri", "self", "selflink", "location", "permalink", "weburl", "htmlurl"}
)
_REMARKS: Final = frozenset({"warning", "warnings", "error", "errors", "message", "messages", "failures"})
_SECRETS: Final = ("token", "secret", "password", "passphrase", "apikey", "privatekey", "accesskey", "credentials")
_RESOURCE_SUFFIXES: Final = ("id", "name", "key", "uuid", "number")

_MOST_NESTED: Final = 3
_MOST_SCALARS: Final = 12


@dataclass(frozen=True, slots=True)
class Echo:
    """What stays of the answer to a write beside what identifies the thing, by the agent's names of fields."""

    once: frozenset[str] = frozenset()
    """The fields that no read gives again."""
    readable: frozenset[str] = frozenset()
    """The fields that are declared, and that a read gives."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """What an update was asked to change."""

    def hides(self, key: str, value: Any) -> bool:
        """Return True for a secret that a read gives."""
        return isinstance(value, str) and key in self.readable and folded(key).endswith(_SECRETS)

    def keeps(self, key: str, value: Any) -> bool:
        """Return True for a field that is shown whatever it is called."""
        is_secret = folded(key).endswith(_SECRETS)
        return key in self.once or (is_secret and not self.hides(key, value)) or (key in self.changes and not is_secret)


_NO_ECHO: Final = Echo()


def key_names(resource: str, keys: Iterable[str] = ()) -> frozenset[str]:
    """Return the folded names of the fields that identify a thing, those that begin with its own name among them."""
    prefix = folded(resource)
    return IDENTIFYING.union(keys, (f"{prefix}{suffix}" for suffix in _RESOURCE_SUFFIXES if prefix))


def identity(value: Any, identifying: frozenset[str], echo: Echo = _NO_ECHO) -> Any:
    """Return the part of a thing that a write's answer shows, of a list of each; `identifying` are its `key_names`."""
    if isinstance(value, list):
        return [identity(item, identifying, echo) for item in value]
    if not isinstance(value, dict):
        return value
    if echo.changes.keys().isdisjoint(value):  # the body may have an object around them that the answer lacks
        objects = [change for change in echo.changes.values() if isinstance(change, Mapping)]
        echo = replace(echo, changes={**echo.changes, **{key: each[key] for each in objects for key in each}})
    kept = _wanted(value, identifying, echo)
    if not any(folded(key) in identifying for key in kept):
        nested = _nested(value, identifying, echo)
        if not nested:
            return without_secrets(value, echo)
        kept = {key: nested.get(key, kept.get(key)) for key in value if key in nested or key in kept}
    return kept


def without_secrets(value: Any, echo: Echo) -> Any:
    """Return the answer to a write without the secrets that a read gives, at the thing and in the objects in it."""
    if isinstance(value, list):
        return [without_secrets(item, echo) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: without_secrets(inner, echo) for key, inner in value.items() if not echo.hides(key, inner)}


def _wanted(value: Mapping[str, Any], identifying: frozenset[str], echo: Echo) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, inner in value.items():
        if echo.keeps(key, inner):
            kept[key] = inner if key in echo.once else _changed(inner, echo.changes.get(key))
        elif _is_wanted(folded(key), inner, identifying):
            kept[key] = _kept(inner)
    return kept


def _is_wanted(name: str, value: Any, identifying: frozenset[str]) -> bool:
    if name in identifying or name in _PLACES:
        return not isinstance(value, (dict, list))
    return name in _STATES or name in _VERSIONS or name in _REMARKS


def _changed(value: Any, change: Any) -> Any:
    """Return of a value what a change was about: of an object the fields that it names."""
    if not isinstance(value, dict) or not isinstance(change, Mapping):
        return value
    return {key: _changed(inner, change[key]) for key, inner in value.items() if key in change}


def _kept(value: Any) -> Any:
    """Return a value, of an object its plain ones."""
    if not isinstance(value, dict):
        return value
    plain = [key for key, inner in value.items() if not isinstance(inner, (dict, list))]
    return {key: value[key] for key in plain[:_MOST_SCALARS]}


def _nested(value: Mapping[str, Any], identifying: frozenset[str], echo: Echo) -> dict[str, Any]:
    """Return the parts that identify the thing where it does not itself, as `metadata` does."""
    parts: dict[str, Any] = {}
    for key, inner in value.items():
        if len(parts) < _MOST_NESTED and isinstance(inner, dict) and any(folded(name) in identifying for name in inner):
            change = echo.changes.get(key)
            within = replace(echo, changes=change) if isinstance(change, Mapping) else echo
            parts[key] = _wanted(inner, identifying, within)
    return parts


_LONGEST_TEXT, _TEXT = 600, 400
_LONGEST_LIST, _LIST = 20, 10
_MOST_FIELDS: Final = 12
"""Fields of a thing within another from which on only those that identify it are shown."""

IDENTIFYING: Final = IDENTIFIERS | NAMES
_DEEPEST: Final = 3
"""Levels of objects below a thing; of what is deeper only the plain values of the level above stay."""


def shortened(value: Any, cut: set[str], path: str = "", depth: int = 0) -> Any:
    """Return a value with long texts, long lists and deep objects cut; `cut` takes the paths."""
    if isinstance(value, str):
        if len(value) <= _LONGEST_TEXT:
            return value
        cut.add(path)
        return f"{value[:_TEXT]}… [{len(value)} characters]"
    if isinstance(value, list):
        kept = value
        if depth and len(value) > _LONGEST_LIST:
            cut.add(path)
            kept = value[:_LIST]
        return [shortened(item, cut, path, depth) for item in kept]
    return _shortened_object(value, cut, path, depth) if isinstance(value, dict) else value


def identifying(thing: Any) -> dict[str, Any]:
    """Return the identifiers and names of a thing that no document declares; empty if it has none."""
    fields = thing if isinstance(thing, dict) else {}
    return {
        key: value
        for key, value in fields.items()
        if folded(key) in IDENTIFYING and not isinstance(value, (dict, list))
    }


def _shortened_object(value: Mapping[str, Any], cut: set[str], path: str, depth: int) -> dict[str, Any]:
    if depth and len(value) > _MOST_FIELDS and any(folded(key) in IDENTIFIERS for key in value):
        cut.add(path)
        return identifying(value)
    short: dict[str, Any] = {}
    for key, inner in value.items():
        inner_path = f"{path}.{key}" if path else key
        if depth >= _DEEPEST and isinstance(inner, (dict, list)) and inner:
            cut.add(inner_path)
        else:
            short[key] = shortened(inner, cut, inner_path, depth + 1)
    return short
