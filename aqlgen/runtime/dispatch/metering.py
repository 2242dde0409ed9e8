# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What calls spend of the owner's quotas, as the dispatcher sees it (R-RATE-1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..quota.spending import CallSpending
from ..warnings.collector import Warnings
from ..wire import with_spending
from .arguments import QUOTA_TOKEN, Request

if TYPE_CHECKING:
    from ..envelope import Stamp
    from ..protocol_operations import Person
    from ..quota.counting import Quotas
    from ..session import Session
    from ..table import Row
    from .concurrency import Concurrency

__all__ = ["Metering"]

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
        if self.quotas is not None:
            call = partial(_metered, self.quotas, call)
        if self.concurrency is not None:
            perform = partial(self.concurrency.run, perform)
        return call, perform


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
    grant = request.grant
    spending = None if grant is None else grant.spending
    if not isinstance(spending, CallSpending):
        spending = CallSpending(quotas, session, person)
        if grant is not None:
            grant.spending = spending
            spending.offer(grant.quota_token)
    spending.offer(request.inside.get(QUOTA_TOKEN, request.outside.get(QUOTA_TOKEN)))
    with with_spending(spending):
        data, warnings = await perform(row, request, stamp, session, person)
    added = spending.take_warnings()
    if added:
        warnings = warnings or Warnings()
        warnings.extend(added)
    return data, warnings
