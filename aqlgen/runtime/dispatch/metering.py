# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The counts kept of each call: its use of the owner's quotas (R-RATE-1), and its end, told to the observers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial, wraps
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol, TypeAlias, cast

from ..envelope import Envelope, Stamp
from ..session import Session
from ..telemetry.observer import OK, CallEnd, Observers
from ..warnings.collector import Warnings
from ..wire import current_spending, with_spending
from .arguments import QUOTA_TOKEN, Request

if TYPE_CHECKING:
    from ..protocol_operations import Handler, Person
    from ..quota.counting import Quotas
    from ..quota.spending import CallSpending
    from ..table import Row
    from .concurrency import Concurrency

__all__ = ["Metering", "note_end", "watched"]

Performed: TypeAlias = Awaitable[tuple[Any, Warnings | None]]


class Metering(NamedTuple):
    """The bounds that the owner sets to calls: quotas, how they stand, and which calls run at the same time."""

    quotas: Quotas | None = None
    status: Callable[[], Awaitable[dict[str, Any]]] | None = None
    concurrency: Concurrency | None = None

    def around(
        self, call: Callable[..., Performed], perform: Callable[..., Performed]
    ) -> tuple[Callable[..., Performed], Callable[..., Performed]]:
        """Return what answers calls, and what sends them, within these bounds."""
        if self.concurrency is not None:
            perform = partial(self.concurrency.run, perform)
        if self.quotas is not None:
            call = partial(_metered, self.quotas, call)
            if self.concurrency is not None:
                perform = partial(_settled, self.concurrency, perform)
        return call, perform

    async def handled(
        self, handler: Handler, request: Request, session: Session, person: Person | None
    ) -> tuple[Any, Warnings | None]:
        """Perform an operation of the protocol; the requests that it sends count as those of one call."""
        if self.quotas is None:
            return await handler(request.params, session, person), None
        spending = _spending_of(self.quotas, request, session, person)
        with with_spending(spending):
            data = await handler(request.params, session, person)
        return data, _with_those_of(spending, None)


async def _metered(
    quotas: Quotas,
    perform: Callable[[Row, Request, Stamp, Session, Person | None], Awaitable[tuple[Any, Warnings | None]]],
    row: Row,
    request: Request,
    stamp: Stamp,
    session: Session,
    person: Person | None,
) -> tuple[Any, Warnings | None]:
    """Perform a call whose requests count, and add the warnings of the quotas that near their end."""
    if current_spending() is not None:  # an operation of the protocol makes this call
        return await perform(row, request, stamp, session, person)
    spending = _spending_of(quotas, request, session, person)
    with with_spending(spending):
        data, warnings = await perform(row, request, stamp, session, person)
    return data, _with_those_of(spending, warnings)


async def _settled(concurrency: Concurrency, perform: Callable[..., Performed], row: Row, *call: Any) -> Any:
    """Perform a call, whose pause is settled before others have to wait for it."""
    from ..quota.spending import CallSpending, SettledSpending  # only where there are quotas

    spending = current_spending()
    if not isinstance(spending, CallSpending) or not concurrency.excludes(row):
        return await perform(row, *call)
    await spending.settle(row)
    with with_spending(SettledSpending(spending)):
        return await perform(row, *call)


def _spending_of(quotas: Quotas, request: Request, session: Session, person: Person | None) -> CallSpending:
    """Return what a call spends, with the other calls of its batch or plan, and with the token that it brings."""
    from ..quota.spending import CallSpending

    grant = request.grant
    spending = None if grant is None else grant.spending
    if not isinstance(spending, CallSpending):
        spending = CallSpending(quotas, session, person)
        if grant is not None:
            grant.spending = spending
            spending.offer(grant.quota_token)
    spending.offer(request.inside.get(QUOTA_TOKEN, request.outside.get(QUOTA_TOKEN)))
    return spending


def _with_those_of(spending: CallSpending, warnings: Warnings | None) -> Warnings | None:
    """Return the warnings with those of quotas."""
    added = spending.take_warnings()
    if added:
        warnings = warnings or Warnings()
        warnings.extend(added)
    return warnings


P = ParamSpec("P")


class _Watched(Protocol):
    observers: Observers | None

    def named(self, operation: str) -> tuple[str, str]: ...


def watched(answer: Callable[P, Coroutine[Any, Any, Envelope]]) -> Callable[P, Coroutine[Any, Any, Envelope]]:
    """Return a dispatcher's method that answers an operation, which also tells its observers of the answer.

    The method's first arguments are family, request, stamp and session, by position.
    """

    @wraps(answer)
    async def watching(*args: P.args, **kwargs: P.kwargs) -> Envelope:
        began = perf_counter()
        envelope = await answer(*args, **kwargs)
        dispatcher, _, request, stamp, session = cast("tuple[_Watched, Any, Request, Stamp, Session]", args[:5])
        outcome = OK if envelope["success"] else envelope["error"]["code"]
        if dispatcher.observers:
            named = dispatcher.named(request.operation)
            note_end(dispatcher.observers, named, outcome, stamp, session, perf_counter() - began)
        return envelope

    return watching


def note_end(
    observers: Observers | None,
    named: tuple[str, str],
    outcome: str,
    stamp: Stamp,
    session: Session,
    seconds: float | None = None,
) -> None:
    """Inform the observers of the end of a call; `named` are its operation and family."""
    if observers and observers.wants_call(outcome):
        seconds = stamp.seconds if seconds is None else seconds
        observers.call_ended(CallEnd(*named, outcome, seconds, stamp.request_id, session.id))
