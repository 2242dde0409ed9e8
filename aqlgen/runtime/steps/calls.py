# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a run of a plan needs of the part that performs its calls (R-STEP-2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..envelope import Envelope
    from ..warnings.collector import CallWarning
    from .plan import Step

__all__ = ["StepCalls"]


class StepCalls(Protocol):
    """Calls of operations, each on the path that it takes alone."""

    budget: int
    """The characters that the parameters of one call may have."""
    asks_person: bool
    """True if a person is asked while the call waits."""
    shown_warnings: list[dict[str, Any]]
    """The warnings of the calls so far."""

    async def perform(self, operation: str, params: Mapping[str, Any]) -> Envelope:
        """Perform a call."""
        ...

    async def foresee(self, operation: str, params: Mapping[str, Any]) -> object | None:
        """Return what would have to be confirmed about a call, if anything."""
        ...

    async def confirm(self, calls: Sequence[Any]) -> int:
        """Have calls confirmed together, and return how many of them were. Raises Failure if they are not."""
        ...

    async def preview(self, operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request of a call. Raises Failure if there is none."""
        ...

    def is_safe_read(self, name: str) -> bool:
        """Return True for an operation that changes nothing and tells nothing grave."""
        ...

    def is_idempotent(self, step: Step) -> bool:
        """Return True for a step whose calls do the same when they are made twice."""
        ...

    def shown(self, step: Step, data: Any) -> Any:
        """Return what of a call's data the answer shows."""
        ...

    async def keep(self, progress: Mapping[str, Any]) -> str | None:
        """Keep a halted plan and return its token; None if it cannot be kept."""
        ...

    def warn(self, warning: CallWarning, step: int) -> None:
        """Add a warning of the plan itself."""
        ...

    def add_warnings(self, warnings: Sequence[Mapping[str, Any]], step: int) -> None:
        """Add the warnings of a call."""
        ...
