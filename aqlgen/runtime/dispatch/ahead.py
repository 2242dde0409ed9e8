# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The confirmations that the calls of a batch or plan will need, before their turn; nothing is sent."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from ..errors import Failure
from ..hooks import HookError

if TYPE_CHECKING:
    from ..safety.approvals import HeldCall
    from ..table import Row
    from . import Calls, ToolCall


async def foresee(calls: Calls, call: ToolCall) -> HeldCall | None:
    """Return what would have to be confirmed about a call; None where nothing would, or where it would fail."""
    await asyncio.sleep(0)  # calls of others have their turn between two that are looked at
    family, request, gate, checking = call.family, call.request, calls.gatekeeper, calls.checking
    row = calls.introspection.find(request.operation, family)
    if row is None or not gate.watches(row) or family not in (None, row.family):
        return None
    try:
        call.row, call.params = row, params = await checking.checked(row, checking.given(request, row))
        if "dry_run" in row.adapter_parameters and params.pop("dry_run", False):
            return None
        if calls.loop is not None:
            plan = None if request.approvals is None else request.approvals.plan
            await calls.loop.needs(call.session, row, params, plan)
        return await gate.foresee_confirmation(row, call.seen(), partial(checking.built, row, params))
    except (Failure, HookError):
        return None  # the call itself will say it


async def foresee_first_use(calls: Calls, call: ToolCall) -> HeldCall | None:
    """Return what would have to be confirmed about any calls of an operation, if its first use is asked about."""
    row = calls.introspection.find(call.request.operation, call.family)
    if row is None or not calls.gatekeeper.watches(row):
        return None
    call.row, call.params = row, {}
    return await calls.gatekeeper.foresee_first_use(row, call.seen())


def api_row(calls: Calls, name: str, family: str | None) -> Row | None:
    """Return the row of an operation of the API; None for any other."""
    if name == "introspect" or calls.registry.find(name) is not None:
        return None
    return calls.introspection.find(name, family)


def is_safe_read(calls: Calls, name: str, family: str | None) -> bool:
    """Return True for an operation that changes nothing and tells nothing grave."""
    row = api_row(calls, name, family)
    return name == "introspect" or (row is not None and row.family == "read" and row.danger == "safe")
