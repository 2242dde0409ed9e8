# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The way of a call: a list of stages, each of which passes the call on to the next, or answers it or refuses it.

A stage that only looks at the call returns what the next one does. One that waits, or has work left after the answer,
is a coroutine. Warnings stand on the call; a refusal is a Failure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..envelope import Stamp
from ..hooks import Call
from ..session import Session
from ..table import Row
from ..warnings.collector import CallWarning, Warnings
from .arguments import Request

if TYPE_CHECKING:
    from ..calls.exchanges import Exchanges
    from ..protocol_operations import Handler, Person
    from ..safety.approvals import Approval
    from ..safety.loop.guard import Use
    from ..safety.loop.loop import SafetyLoop

__all__ = ["Extension", "Next", "Stage", "ToolCall", "composed"]


@dataclass(slots=True)
class ToolCall:
    """A call of one operation; `family` is that of the tool, None for the tool of every operation.

    `row` and `params` are those of an operation of the API, once the stages have found and checked them.
    """

    family: str | None
    request: Request
    stamp: Stamp
    session: Session
    person: Person | None
    row: Row = field(init=False)
    params: dict[str, Any] = field(init=False)
    warnings: Warnings = field(default_factory=list)
    shown: list[dict[str, Any]] = field(default_factory=list)
    """Warnings that were chosen to be shown before."""
    approval: Approval | None = None
    """The request that was approved: no other one is sent."""
    report: Use | None = None
    """The report to the safety loop that lets the call run."""
    alone: bool = True
    """False for an operation of a batch, and a step of a plan."""
    hooked: Call | None = None
    """The call as the owner's hooks know it; None without hooks."""

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.row.name if hasattr(self, "row") else self.request.operation

    def warn(self, warning: CallWarning) -> None:
        """Add a warning."""
        self.warnings.append(warning)

    def seen(self, *, dry_run: bool = False) -> Call:
        """Return the call as hooks and the gatekeeper see it."""
        row, ids = self.row, (self.stamp.request_id, self.session.id)
        return Call(row.name, self.params, row.family, *ids, self.request.metadata(row), dry_run=dry_run)


Next: TypeAlias = Callable[[ToolCall], Awaitable[Any]]


class Stage(Protocol):
    """Answers a call with its data, mostly with those of the next stage."""

    def __call__(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Answer a call. Raises Failure."""
        ...


class Extension:
    """What the owner, or the API's document, has switched on; each part is empty or None without one."""

    handlers: Mapping[str, Handler] = {}
    """Answers to the operations of the protocol that it offers."""
    loop: SafetyLoop | None = None
    first: Stage | None = None
    """Around the whole call, operations of the protocol included."""
    before: Stage | None = None
    """Before the gate, with valid parameters."""
    around: Stage | None = None
    """Around the requests of a call that the gate let through."""
    after: Callable[[ToolCall, Exchanges, Any], Awaitable[Any]] | None = None
    """After an answer, whose data it may add to."""


def composed(stages: Sequence[Stage], last: Next) -> Next:
    """Return a call's way through the stages."""
    for stage in reversed(stages):
        last = partial(stage, next=last)
    return last
