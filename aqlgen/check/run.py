"""The list of tests, and what a test has at hand: the adapter, the API behind it, its operations, and its result."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from aqlgen.check.client import MODERN
from aqlgen.check.connection import Adapter, Answer, Launch, connect, served_over_http
from aqlgen.check.envelope import problems_of
from aqlgen.check.operations import Operation, schema_of, unserved
from aqlgen.check.results import Category, Cause, Known, Result
from aqlgen.check.stand_in import Arrived, StandIn
from aqlgen.runtime.table import Adapter as AdapterTable
from aqlgen.runtime.witness import Grade, Witness
from aqlgen.runtime.witness import Operation as Documented
from aqlgen.runtime.witness.samples import ABSENT, apart, sample

_NO_SETTINGS: Mapping[str, str] = {}
_REFUSALS = ("VALIDATION_", "TOKEN_", "CONFIRMATION_", "PERMISSION_")
"""The beginnings of the codes of refusals. A refusal by the adapter itself sends no write."""


@dataclass
class Run:
    """One test at work. The settings of an adapter that it starts are named without their MCP_AQL_."""

    launch: Launch
    api: StandIn
    table: AdapterTable
    operations: list[Operation]
    """Those that are called."""
    whole: list[Operation]
    secrets: Mapping[str, str]
    """The credentials that the adapter is given, by their variables."""
    result: Result
    answers: Result
    """The result for all answers of all tests."""
    declared: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The statuses that the document has for each operation, also of failures; only with the live API."""
    known: Sequence[Known] = ()
    """The findings that the owner knows of."""
    evidence: dict[str, Any] = field(default_factory=dict)
    witness: Witness | None = None
    """The documents of the project, read a second time; None if they cannot be read."""
    succeeded: set[str] = field(default_factory=set)
    """The operations that a call has succeeded of."""
    era: str = MODERN
    single: bool = False
    adapter: Adapter = None  # type: ignore[assignment]
    last: Answer = field(default_factory=Answer)

    @property
    def callable(self) -> list[Operation]:
        """The operations of which a valid call is known, and a credential can be given."""
        rows = ((operation, operation.row) for operation in self.operations)
        return [item for item, row in rows if row.example is not None and not unserved(self.table, row)]

    def reads(self, count: int = 1) -> list[Operation]:
        """Return some safe reads."""
        return [operation for operation in self.callable if operation.is_safe_read][:count]

    def grave(self, *levels: str) -> list[Operation]:
        """Return some operations that are always of these levels of danger; without any, those that are confirmed."""
        chosen = levels or ("destructive", "dangerous")
        return [item for item in self.callable if item.always_is(chosen) and not item.row.servers][:3]

    def expect(
        self, right: object, subject: Operation | str, text: str, answer: Any = None, cause: Cause = Cause.ADAPTER
    ) -> bool:
        """Count a case, and note its problem with the last answer if it is not right. Returns whether it is."""
        name = subject.name if isinstance(subject, Operation) else subject
        return self.result.expect(bool(right), name, text, None if right else answer or dict(self.last) or None, cause)

    def keep(self, part: str, /, **entry: Any) -> None:
        """Add an entry to a list of the evidence."""
        self.evidence.setdefault(part, []).append(entry)

    @property
    def arrived(self) -> list[Arrived]:
        """The requests that arrived at the API since the last call began."""
        return self.api.arrived

    def request_problems(self) -> str:
        """Return the grave problems of the requests that arrived, by the document; "" without any."""
        judged = (self.witness.judge(request.as_seen) for request in self.arrived) if self.witness else ()
        grave = (Grade.BROKEN, Grade.WRONG)
        return "; ".join(text for judgement in judged for grade, text in judgement.problems if grade in grave)

    def documented(self, operation: Operation) -> Documented | None:
        """Return an operation as its document has it, by the witness; None if it cannot say."""
        row, documents = operation.row, self.witness.documents if self.witness else ()
        key = row.api, row.method, row.path
        known = (each for document in documents for each in document.operations)
        return next((each for each in known if (each.document.api, each.method, each.path) == key), None)

    def sampled(self, operation: Operation, turn: int) -> dict[str, Any]:
        """Return values of the document for the parameters of an operation, others in each turn."""
        stated, row, values = self.documented(operation), operation.row, dict[str, Any]()
        if stated is None or row.choices:
            return {}
        for name in row.shown_parameters:
            schema = schema_of(stated, row, name)
            value = ABSENT if schema is None else sample(stated.document, schema, turn, name=name)
            values |= {} if value is ABSENT else {name: apart(value, row.shown_parameters[name].style)}
        return values

    def writes(self, operation: Operation) -> list[Arrived]:
        """Return those requests that have an operation's method."""
        return [request for request in self.arrived if request.method == operation.row.method]

    async def send(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool, and return the answer."""
        self.api.arrived.clear()
        self.last = answer = await self.adapter.send(tool, arguments)
        is_refused = answer.code.startswith(_REFUSALS) and not answer.details.keys() & {"http_status", "plan"}
        sent = [request.method for request in self.arrived if is_refused and request.method != "GET"]
        self.answers.expect(not sent, str(arguments.get("operation")), f"is refused, and sent: {sent}", answer)
        return answer

    async def call(self, operation: Operation, params: Any = None, **beside: Any) -> Answer:
        """Call an operation, with the parameters of its example if no others are given."""
        arguments = {"operation": operation.name, "params": operation.params if params is None else params, **beside}
        answer = await self.send(self.adapter.tool(operation.family), arguments)
        if answer.ok:
            self.succeeded.add(operation.name)
        return answer

    async def own(self, family: str, operation: str, /, **params: Any) -> Answer:
        """Call an operation of the protocol's own."""
        return await self.send(self.adapter.tool(family), {"operation": operation, "params": params})

    async def introspect(self, **params: Any) -> Answer:
        """Introspect."""
        return await self.own("read", "introspect", **params)

    async def refused(
        self, operation: Operation, params: Any, what: str, code: str, *names: str, **beside: Any
    ) -> Answer:
        """Expect that a call is refused before it is sent, by a code of this beginning and a text that names these."""
        answer = await self.call(operation, params, **beside)
        right = answer.code.startswith(code) and all(name in str(answer.error) for name in names)
        self.expect(right and not self.arrived, operation, f"takes {what}")
        return answer

    @asynccontextmanager
    async def connected(
        self,
        era: str = MODERN,
        url: str | None = None,
        person: Callable[[str], str] | None = None,
        settings: Mapping[str, str] = _NO_SETTINGS,
        headers: Mapping[str, str] = _NO_SETTINGS,
    ) -> AsyncIterator[Run]:
        """Start an adapter with settings, or connect to a URL, and give a run of the same test with it."""
        ids: set[str] = set()

        def judge(subject: str, result: Mapping[str, Any]) -> None:
            problems, envelope = list(problems_of(result, self.secrets.values())), result.get("structuredContent") or {}
            request = (envelope.get("_meta") or {}).get("request_id")
            problems += ["has the request_id of another answer"] if request in ids else []
            ids.update(filter(None, (request,)))
            self.answers.expect(not problems, subject, "; ".join(problems), envelope)

        async with connect(self.with_settings(settings).launch, era, judge, url, person, headers) as adapter:
            yield replace(self, era=era, adapter=adapter)

    @asynccontextmanager
    async def served(self, settings: Mapping[str, str] = _NO_SETTINGS) -> AsyncIterator[tuple[str, Callable[[], str]]]:
        """Start an adapter with settings over HTTP; yields its URL, and what gives its log."""
        async with served_over_http(self.with_settings(settings).launch) as served:
            yield served

    def with_settings(self, settings: Mapping[str, str]) -> Run:
        """Return the run with more settings of the adapters that it starts."""
        variables = {f"MCP_AQL_{name}": value for name, value in settings.items()}
        return replace(self, launch=self.launch.with_variables(**variables)) if settings else self


Body = Callable[[Run], Awaitable[None]]


@dataclass(frozen=True)
class Test:
    """A test. `where` says in which settings it runs: every connection, the whole one, that of an agent who confirms
    for itself, alone, or with the live API.
    """

    id: str
    title: str
    category: Category
    requirement: str
    where: str
    body: Body

    def result(self, setting: str = "", known: Sequence[Known] = ()) -> Result:
        """Return an empty result."""
        excused = frozenset(item.operation for item in known if item.rule == self.id)
        return Result(self.id, self.title, self.category, self.requirement, setting, known=excused)


TESTS: list[Test] = []


def check(id: str, title: str, category: Category, requirement: str, *, where: str = "whole") -> Callable[[Body], Body]:
    """Add a test to the list. `where` is whole (one full connection), every (each), agent, alone, or live."""

    def add(body: Body) -> Body:
        TESTS.append(Test(id, title, category, requirement, where, body))
        return body

    return add
