# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The owner's quotas as an extension: what the requests of a call spend, whichever operation sends them (R-RATE-1)."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from ..quota.counting import Quotas
from ..quota.spending import CallSpending
from ..wire import current_spending, with_spending
from . import Extension, Next, ToolCall
from .arguments import QUOTA_TOKEN

if TYPE_CHECKING:
    from . import Calls


class Metering(Extension):
    """Counts the requests of each call, and adds the warnings of the quotas that near their end."""

    def __init__(self, calls: Calls) -> None:
        name, custody = calls.adapter.name, calls.state.shared
        self.quotas = Quotas(calls.config, name, custody, calls.observers)

    def first(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Pass a call on; the requests of one that an operation of the protocol makes are that one's."""
        return self._metered(call, next) if current_spending() is None else next(call)

    async def _metered(self, call: ToolCall, next: Next) -> Any:
        spending = self._spending_of(call)
        with with_spending(spending):
            data = await next(call)
        call.warnings.extend(spending.take_warnings())
        return data

    def _spending_of(self, call: ToolCall) -> CallSpending:
        """Return what a call spends, with the other calls of its batch or plan, and with the token that it brings."""
        request, approvals = call.request, call.request.approvals
        spending = None if approvals is None else approvals.spending
        if not isinstance(spending, CallSpending):
            spending = CallSpending(self.quotas, call.session, call.person)
            if approvals is not None:
                approvals.spending = spending
                spending.offer(approvals.quota_token)
        spending.offer(request.inside.get(QUOTA_TOKEN, request.outside.get(QUOTA_TOKEN)))
        return spending
