# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What is sent for a call that is let through, or shown of it: its parameters, its request, its exchanges, its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack

import anyio
import anyio.to_thread

from ..calls.exchanges import ApiSide, Exchanges
from ..hooks import Call, Hooks
from ..table import Row, Table, chosen
from ..validation.validate import Unexplained
from ..warnings.collector import Warnings
from .arguments import Request

if TYPE_CHECKING:
    from ..calls.performer import Performer
    from ..envelope import Stamp
    from ..safety.approvals import Approval
    from ..safety.gatekeeper import Gatekeeper
    from ..session import Session
    from ..state.custody import State
    from ..validation.repair import Repaired
    from ..warnings.rules import WarningRules
    from ..wire import ApiRequest
    from .executions import Executions

__all__ = ["Sending"]

Result = TypeVar("Result")
Values = TypeVarTuple("Values")


class Sending:
    """Sends calls that were let through, each through the owner's hooks. `executions` follow what they begin."""

    def __init__(
        self,
        api: ApiSide,
        hooks: Hooks,
        table: Table,
        rules: WarningRules,
        gate: Gatekeeper,
        state: State,
        executions: Callable[[], Executions],
    ) -> None:
        self._api = api
        self._hooks = hooks
        self._table = table
        self._rules = rules
        self._gate = gate
        self._state = state
        self._executions = executions
        self._beside = anyio.Lock()

    async def checked(
        self, row: Row, params: Mapping[str, Any], understood: list[Repaired]
    ) -> tuple[Row, dict[str, Any]]:
        """Return what `validated` does; what is wrong is found out beside the other calls."""
        try:
            return self.validated(row, params, understood, explain=False)
        except Unexplained:
            return await self.beside(self.validated, row, params, understood)

    async def beside(self, work: Callable[[Unpack[Values]], Result], *values: *Values) -> Result:
        """Do what may take long in a thread, so that no call holds the others: one at a time, for all callers."""
        async with self._beside:
            return await anyio.to_thread.run_sync(work, *values)

    def validated(
        self, row: Row, params: Mapping[str, Any], understood: list[Repaired] | None = None, *, explain: bool = True
    ) -> tuple[Row, dict[str, Any]]:
        """Return the row with the kinds of content that a call chooses, and its parameters if they are valid."""
        validate = partial(self._api.validate, explain=explain)
        if not row.choices:
            return row, validate(row, params, understood)
        whole = row if not row.kinds else self._table.find(row.name, row.family) or row
        row = chosen(whole, params)
        valid = validate(row, params, understood)
        meant = chosen(whole, valid)
        return (row, valid) if meant is row else (meant, validate(meant, valid, understood))

    def built(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Build the request that parameters make. Raises Failure when a credential or the base URL is missing."""
        return self._api.build(row, {name: params[name] for name in params if name not in row.adapter_parameters})

    async def dry_run(
        self, row: Row, params: Mapping[str, Any], request: Request, stamp: Stamp, session: Session
    ) -> dict[str, Any]:
        """Return what a call would send, and how the gatekeeper would decide; the owner's hooks see it as a call."""
        from ..calls.dry_run import preview

        hooks = self._hooks
        call = Call(row.name, params, row.family, stamp.request_id, session.id, request.metadata(row), dry_run=True)
        decision = await self._gate.foresee(row, call, partial(self.built, row, params))
        changed = await hooks.on_call(call)
        if changed is not call:
            call = changed
            row, params = self.validated(row, changed.params)
        data = await preview(self._api, self._table, row, params, lambda request: hooks.on_send(request, call))
        if decision.outcome != "allow":
            data["decision"] = {"outcome": decision.outcome, "rule": decision.rule, "reasons": list(decision.reasons)}
        return data

    async def perform(
        self,
        row: Row,
        params: Mapping[str, Any],
        request: Request,
        stamp: Stamp,
        session: Session,
        approval: Approval | None = None,
    ) -> tuple[Any, Warnings | None]:
        """Send what an operation needs, if it is what was approved, and return its data with its warnings."""
        api, hooks, rules = self._api, self._hooks, self._rules
        call = None
        if hooks:
            call = Call(row.name, params, row.family, stamp.request_id, session.id, request.metadata(row))
            changed = await hooks.on_call(call)
            if changed is not call:
                call = changed
                row, params = self.validated(row, changed.params)
                if approval is not None:
                    approval.altered("before_call", parameters=True)
        warnings = rules.before(row, params)
        exchanges = Exchanges(api, hooks, call, approval, self._gate.admit_changed)
        if row.adapter_parameters or row.update is not None:
            answer = await self._performer.perform(exchanges, row, params, warnings, stamp, request.max_tokens)
        else:
            response = await exchanges.send(row, params)
            data = exchanges.decode(response, row, params)
            warnings = rules.after(row, response, exchanges.seconds, warnings, params)
            answer = rules.fit(data, row, response, warnings, most=request.max_tokens)
        stamp.last = exchanges.last
        if row.long_running is not None:
            answer = await self._executions().begun(row, params, exchanges, answer[0]), answer[1]
        if (row.has_header_metadata or row.family != "read") and exchanges.last is not None:
            headers = api.told_headers(exchanges.last, row, answer[0])
            if headers:
                stamp.notes = {**(stamp.notes or {}), "headers": headers}
        return answer

    @cached_property
    def _performer(self) -> Performer:
        """The performer of calls that are more than one exchange, or return less than the whole answer."""
        from ..calls.performer import Performer

        return Performer(self._table, self._rules, self._state)
