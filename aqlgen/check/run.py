"""The running of tests: what they have at hand, and the list of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aqlgen.check.connection import Adapter, Answer, Launch
from aqlgen.check.operations import Operation
from aqlgen.check.results import Category, Result
from aqlgen.check.stand_in import StandIn
from aqlgen.runtime.table import Adapter as AdapterTable

__all__ = ["TESTS", "Connected", "Setup", "Test", "check", "of_where"]


@dataclass
class Setup:
    """The adapter under test before it is started: how it starts, the API behind it, its table and its operations."""

    launch: Launch
    api: StandIn
    adapter: AdapterTable
    operations: list[Operation]
    whole: list[Operation]
    secrets: Mapping[str, str]
    """The credentials that the adapter is given, by their variables."""
    declared: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The statuses that the document has for each operation, also of failures; only with the live API."""
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def callable(self) -> list[Operation]:
        """The operations of which a valid call is known."""
        return [operation for operation in self.operations if operation.params is not None]

    def reads(self, count: int = 1) -> list[Operation]:
        """Return some safe reads that are no pages and take no file."""
        reads = [operation for operation in self.callable if operation.is_safe_read]
        return reads[:count]


@dataclass
class Connected:
    """A session with the adapter, in a setting that has a name."""

    setup: Setup
    adapter: Adapter
    era: str
    transport: str
    single: bool

    async def call(self, operation: Operation, params: Mapping[str, Any], **beside: Any) -> Answer:
        """Call an operation and return the envelope."""
        return await self.adapter.call(operation.family, operation.name, params, **beside)

    async def sent(self, operation: Operation, params: Mapping[str, Any], **beside: Any) -> tuple[Answer, list[Any]]:
        """Call an operation; returns the envelope and the requests that arrived at the API."""
        self.setup.api.arrived = []
        envelope = await self.call(operation, params, **beside)
        return envelope, list(self.setup.api.arrived)

    async def with_fields(self, operation: Operation, fields: Any) -> Answer:
        """Call an operation for a selection of fields."""
        return await self.call(operation, {**(operation.params or {}), "fields": fields})

    async def refused(
        self, result: Result, operation: Operation, params: Mapping[str, Any], what: str, code: str, *names: str
    ) -> Answer:
        """Expect that a call is refused before it is sent, by a code of this beginning that names these."""
        envelope, arrived = await self.sent(operation, params)
        right = envelope.code.startswith(code) and all(name in str(envelope.error) for name in names)
        result.expect(right, operation.name, f"takes {what}", envelope)
        result.expect(not arrived, operation.name, f"sends a request with {what}", envelope)
        return envelope


Body = Callable[[Any, Result], Awaitable[None]]


@dataclass(frozen=True)
class Test:
    """A test. `where` says in which settings it runs: every connection, the whole one, alone, or with the live API."""

    id: str
    title: str
    category: Category
    requirement: str
    must: bool
    where: str
    body: Body

    def result(self, setting: str) -> Result:
        """Return an empty result."""
        return Result(self.id, self.title, self.category, self.requirement, self.must, setting)


TESTS: list[Test] = []


def check(
    id: str, title: str, category: Category, requirement: str, *, must: bool = True, where: str = "whole"
) -> Callable[[Body], Body]:
    """Add a test to the list. `where` is whole (one full connection), every (each connection), alone, or live."""

    def add(body: Body) -> Body:
        TESTS.append(Test(id, title, category, requirement, must, where, body))
        return body

    return add


def of_where(where: str) -> Iterable[Test]:
    """Return the tests that run there, in the order of their definition."""
    return [item for item in TESTS if item.where == where]
