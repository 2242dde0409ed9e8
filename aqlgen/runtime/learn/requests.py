"""The requests of an observation: through the adapter's own client and its owner's hooks, counted, within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, Self

from ..assembly import Assembly, assemble
from ..calls import Exchanges
from ..client.retries import READS
from ..errors import Code, Failure
from ..hooks import Call, HookError
from ..logs.observers import Exchange, Observer
from ..table import Adapter, Row, Table
from ..wire import ApiRequest, ApiResponse, QuotaPaused, origin_of, stream_form
from .model import Observation, Spent

_LONGEST = 10.0
"""Seconds that one request may take."""
_SETTINGS = {"MCP_AQL_RETRIES": "0"}


def is_certain_read(row: Row) -> bool:
    """Return True for a read without doubt, by its method, its family and its danger; a stream has no end."""
    return (
        row.method in ("GET", "HEAD", "OPTIONS")
        and (row.family, row.danger, row.asked) == ("read", "safe", "never")
        and not row.effects
        and not any(stream_form(response.get("content_type", "")) for response in row.responses.values())
    )


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that an observation may ask of the API."""

    requests: int = 300
    seconds: float = 60.0


@dataclass(slots=True)
class _Counter(Observer):
    """Counts each request as it is sent, those of redirects and of renewed credentials among them.

    No redirect leads a write anywhere, nor a read to another origin: what answers there is not the API.
    """

    count: int = 0
    first: ApiRequest | None = None
    """The first request of those that are sent for one operation."""
    _open: ExitStack = field(default_factory=ExitStack)

    def exchanging(self, exchange: Exchange) -> AbstractContextManager[object]:
        request, first = exchange.request, self.first or exchange.request
        self.first = first
        is_same = (request.method, request.url.partition("?")[0]) == (first.method, first.url.partition("?")[0])
        is_near = first.method in READS and origin_of(request.url) == origin_of(first.url)
        if not (is_same or is_near):
            raise Failure(Code.INTERNAL_ERROR, "The API redirected the request, which an observation does not follow")
        self.count += 1
        return self._open


class AdapterRequests:
    """Sends requests of operations as the adapter does; without `writes` those of certain reads alone."""

    def __init__(
        self,
        folder: Path,
        hooks: object | None,
        environ: Mapping[str, str],
        budget: Budget,
        *,
        writes: bool = False,
        key: str = "",
    ) -> None:
        self.key = key
        """The owner's key for an API whose document names no credential, "" for none."""
        self.missing: dict[str, None] = {}
        """The variables of credentials without which a request was not sent."""
        self._folder = folder
        self._hooks = hooks
        self._environ = {**environ, **_SETTINGS}
        self._budget = budget
        self._writes = writes
        self._begin = monotonic()
        self._counter = _Counter()
        self._most_of_one = 1
        self._is_limited = False
        self._sides: dict[bool, Assembly] = {}

    async def __aenter__(self) -> Self:
        """Begin: the seconds of the budget count from here."""
        self._begin = monotonic()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        for side in self._sides.values():
            await side.close()

    @property
    def adapter(self) -> Adapter:
        """The adapter."""
        return self._side(carries=True).adapter

    @property
    def table(self) -> Table:
        """The operation table."""
        return self._side(carries=True).table

    @property
    def count(self) -> int:
        """The requests that were sent."""
        return self._counter.count

    @property
    def seconds(self) -> float:
        """The seconds since it began."""
        return monotonic() - self._begin

    @property
    def left(self) -> int:
        """The requests that may still be sent."""
        return max(0, self._budget.requests - self.count)

    async def send(
        self,
        row: Row,
        params: Mapping[str, Any],
        *,
        carries: bool = True,
        change: Callable[[ApiRequest], ApiRequest] | None = None,
    ) -> ApiResponse | None:
        """Send the request of an operation and return the answer, None for none; without `carries` no credential.

        Raises Spent before a request beyond the budget, and ValueError for a write that the owner has not allowed.
        """
        if not self._writes and not is_certain_read(row):
            raise ValueError(f"{row.key} is not a certain read, and writes are not allowed")
        seconds_left = self._budget.seconds - self.seconds
        if self.left < self._most_of_one or seconds_left <= 0:
            raise Spent("the budget is used up")
        if self._is_limited:
            raise Spent("the API asked for fewer requests (HTTP 429)")
        self._counter.first = None
        before, parts = self.count, self._side(carries=carries).dispatcher
        if parts.api.masked(values := dict(params)) is not values:
            return None  # an identifier that an answer told is a credential, which goes into no address
        call = Call(row.name, params, row.family, f"learn-{before + 1}")
        try:
            async with asyncio.timeout(min(seconds_left, _LONGEST)):
                call = await parts.hooks.on_call(call)
                params = parts.api.of(row).validate(row, call.params, [])
                exchanges = Exchanges(parts.api, parts.hooks, call)
                response = await exchanges.send(row, params, change)
                self._is_limited = response.status == 429 and not self._writes
                return response
        except TimeoutError:
            return None
        except Failure as failure:
            self.missing |= dict.fromkeys(failure.details.get("missing", ()))
            return None
        except (HookError, QuotaPaused):
            return None
        finally:
            self._most_of_one = max(self._most_of_one, self.count - before)

    def masked(self, observations: Iterable[Observation]) -> list[Observation]:
        """Return observations without the adapter's secrets, which an answer can have as names of its fields."""
        mask = self._side(carries=True).dispatcher.api.masked
        return [replace(seen, says=mask(seen.says), override=mask(dict(seen.override))) for seen in observations]

    def _side(self, *, carries: bool) -> Assembly:
        if carries not in self._sides:
            environ = self._environ if carries else {**self._environ, "MCP_AQL_AUTH": "none"}
            side = self._sides[carries] = assemble(self._folder, self._hooks, environ=environ)
            side.observers.add(self._counter)
        return self._sides[carries]


def safe_reads(table: Table) -> Iterator[Row]:
    """Yield the operations that are reads without doubt."""
    for name, family in table.names():
        row = table.find(name, family) if family == "read" else None
        if row is not None and is_certain_read(row):
            yield row
