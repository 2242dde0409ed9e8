"""The answer to `run_steps`: each step takes the path of a call alone, and nothing else (R-STEP-1 to 3).

What a step hands to the next one is what an agent would have seen of it: without the adapter's credentials. Limits,
validation, policy, confirmation, loop, hooks and audit log are those of the call itself.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

from ..errors import invalid
from ..introspection.info import DRY_RUN
from ..protocol_operations import RUN_STEPS
from ..safety.approvals import Approvals
from ..steps.plan import check_plan, read_plan
from ..steps.references import written_plan
from ..warnings.ceiling import Cut, cut_warnings, fit
from . import ToolCall
from .arguments import TOKEN, sent_tokens
from .run import Progress, Run
from .step_calls import StepCalls

if TYPE_CHECKING:
    from ..envelope import CallWarning
    from . import Calls


async def answer_plan(calls: Calls, call: ToolCall) -> Any:
    """Answer a plan, a new one, one that goes on, or a workflow's. Raises Failure."""
    request, session = call.request, call.session
    operation = next(operation for operation in calls.registry.active() if operation.name == request.operation)
    calls.check_family(call.family, operation.name, operation.family)
    params = request.params
    workflow = calls.table.workflows.get(operation.name)
    inputs: Container[str] = () if workflow is None else workflow.inputs
    if workflow is not None and TOKEN in params and TOKEN not in inputs:
        way = f"call {RUN_STEPS} with '{TOKEN}' and the 'continue' in details.plan of the answer with the token"
        raise invalid(TOKEN, f"A halted workflow does not begin again. To continue: {way}")
    calls.registry.check(operation.name, params)
    if workflow is None:
        token, steps, returns = params.get("continue"), params.get("steps"), params.get("return")
    else:
        token, (steps, returns) = None, written_plan(workflow, params)
    progress, report = Progress(), None
    if token is not None:
        if steps is not None:
            raise invalid("continue", "Parameter 'continue' excludes 'steps': go on with a plan, or begin another")
        kept = await calls.kept_plans.get(token, session)
        steps, returns, report = kept["steps"], kept["return"], kept.get("report")
        progress = Progress(**kept["progress"])
    plan = read_plan(steps, returns)
    approvals = Approvals(*sent_tokens({**request.outside, **request.inside}))
    asked = {"steps": steps, "return": returns}
    step_calls = StepCalls(calls, call, plan, asked, approvals, reads=operation.family == "read")
    step_calls.rows = await calls.gatekeeper.beside(
        check_plan, plan, step_calls.find, step_calls.problem, calls.table.types
    )
    run = Run(plan, progress, step_calls)
    if params.get(DRY_RUN) and DRY_RUN not in inputs:
        return await run.preview()
    await step_calls.check_report(operation.name, asked if workflow is None else params, report, inputs)
    run.decide(params.get("unknown"))
    step_calls.token = token
    data = await run.run()
    await step_calls.claim()
    data, cuts = _fitted(data, calls.config.max_answer_tokens, entries=plan.returns is None)
    shown_cuts = [warning.as_json() for warning in calls.rules.remember(operation.name, cuts, session)]
    call.shown = calls.rules.select(step_calls.warnings, session) + step_calls.shown_warnings + shown_cuts
    call.notes["summary"] = run.summary()
    return data


def _fitted(data: Any, most: int, *, entries: bool) -> tuple[Any, list[CallWarning]]:
    """Return the answer of a plan cut to `most` tokens, with the warnings of what was cut.

    `entries` says that the data are those of every step, which share the room; a step's are named by its id or number.
    """
    shared = {str(entry.get("id", entry["step"])): entry["data"] for entry in data["steps"]} if entries else data
    fitted, cuts = fit(shared, most)
    if not cuts:
        return data, []
    for cut in cuts:
        _end_page(fitted, cut)
    warnings = list(cut_warnings(cuts, most, selector=""))
    if entries:
        fitted = {
            "steps": [{**entry, "data": fitted.get(str(entry.get("id", entry["step"])))} for entry in data["steps"]]
        }
    return fitted, warnings


def _end_page(data: Any, cut: Cut) -> None:
    """Take the cursor of a page whose items were cut: it leads on behind items that are not shown."""
    *path, last = cut.path or ("",)
    if last != "items":
        return
    for name in (*path, None):
        while isinstance(data, list) and data:
            data = data[0]  # of a list that was cut within an item, that item is left
        if name is not None and isinstance(data, dict):
            data = data.get(name)
    info = data.get("pageInfo") if isinstance(data, dict) else None
    if isinstance(info, dict):
        data["pageInfo"] = {**{key: value for key, value in info.items() if key != "endCursor"}, "hasNextPage": True}
