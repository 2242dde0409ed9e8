"""The owner's functions around every call (R-LOOP-6), and the types that they work with.

The project's `hooks.py` may define, plain or async:

    before_call(call)                 once the parameters are valid; may return a changed Call
    before_send(request, call)        may return a changed ApiRequest
    after_response(response, call)    may return a changed ApiResponse
    on_decision(decision, call)       for every call, before the others; may return a changed GateDecision
    on_step(verdict, step)            for every step that the safety loop evaluates; may return a changed StepVerdict

Another function of that file whose name begins as a hook's does, or is close to one, stops the start: it would never
be called. Helpers begin with an underscore, or are called otherwise.

None returned means unchanged. To refuse, raise `Refuse("reason")` or a `Failure`. Anything else that is raised, or
returned, is an error of the hook: the call ends with INTERNAL_ERROR and, before sending, nothing is sent.

Standard output carries the protocol, or a command's answer: what hooks print goes to standard error.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from .errors import Code, Failure
from .session import current_caller
from .text import alike
from .wire import ApiRequest, ApiResponse

__all__ = [
    "ApiRequest", "ApiResponse", "Call", "Code", "Failure", "GateDecision", "HookError", "Hooks", "Refuse", "Step",
    "StepVerdict",
]  # fmt: skip

T = TypeVar("T")
Hook: TypeAlias = Callable[..., Any]
OUTCOMES = ("allow", "confirm", "refuse")
STEP_OUTCOMES = ("continue", "confirm", "verify", "block")
PARAMETERS = {
    "before_call": ("call",),
    "before_send": ("request", "call"),
    "after_response": ("response", "call"),
    "on_decision": ("decision", "call"),
    "on_step": ("verdict", "step"),
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation. `params` are under the agent's names; `metadata` are the keys that began with `_`.

    `session_id` is None where there is no session (HTTP with protocol 2026-07-28). `dry_run` says that the request is
    only shown: the hooks before sending still see it. `caller` is the authenticated HTTP caller, as in the audit log.
    """

    operation: str
    params: Mapping[str, Any]
    family: str
    request_id: str
    session_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool = False
    caller: str | None = field(default_factory=current_caller)


class GateDecision(NamedTuple):
    """The gatekeeper's decision about a call, before anybody is asked.

    `outcome` is allow (the call runs), confirm (it runs once it is confirmed) or refuse. A hook is the owner's word,
    and may tighten or relax it: `decision._replace(outcome="confirm", reasons=("why",))`. `danger` is the
    operation's level; `reasons` are shown to an agent or a person. `rule` is the id of the owner's rule that decided,
    or `danger-level`, `trust-matrix`, `under-review`, `money` or `policy-open`; `trust` is the adapter's level.
    `rules` are the ids of all rules of the owner that the call meets.
    """

    outcome: Literal["allow", "confirm", "refuse"]
    danger: str
    policy: str
    reasons: tuple[str, ...] = ()
    rule: str = ""
    trust: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A step that an agent reports to the safety loop, before it is taken.

    `action` is the hint in the agent's words. `operation` is the operation of this adapter that it reports, if any, and
    `params` its parameters; `operations` are the names and dangers of all that would run, several in a plan.
    """

    agent: str
    action: str
    outcome: str | None = None
    description: str = ""
    operation: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    operations: tuple[tuple[str, str], ...] = ()
    execution_id: str = ""
    session_id: str | None = None


class StepVerdict(NamedTuple):
    """The safety loop's decision about a step, before the agent learns it.

    `outcome` is continue, confirm (the agent is paused until a person confirms), verify (until a person gives a code)
    or block (the same, and the agent is stopped). A hook is the owner's word, and may tighten or relax it:
    `verdict._replace(outcome="confirm", reason="why")`. `risk` is from 0 to 100, `factors` are shown to the agent.
    """

    outcome: Literal["continue", "confirm", "verify", "block"]
    risk: int
    tier: str
    factors: tuple[str, ...]
    reason: str | None = None


class Refuse(Failure):
    """The refusal of a call: PERMISSION_DENIED with the reason, which the agent reads."""

    def __init__(self, reason: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(Code.PERMISSION_DENIED, f"Permission denied: {reason}", details)


class HookError(Exception):
    """A hook that is not a function, or that raised or returned something invalid; its text has no value of a call."""

    free_of_values = True


class Hooks(NamedTuple):
    """The hooks of a project; one that is None costs nothing."""

    before_call: Hook | None = None
    before_send: Hook | None = None
    after_response: Hook | None = None
    on_decision: Hook | None = None
    on_step: Hook | None = None

    @classmethod
    def load(cls, module: object | None) -> Hooks:
        """Find the hooks of a module or any other object. Raises HookError for one that could never be called."""
        _refuse_unknown(module)
        hooks: dict[str, Hook | None] = {}
        for name, parameters in PARAMETERS.items():
            hook = hooks[name] = getattr(module, name, None)
            try:
                if hook is not None:
                    inspect.signature(hook).bind(*parameters)
            except TypeError:
                raise HookError(f"{name} in hooks.py is not a function of ({', '.join(parameters)})") from None
            except ValueError:  # a function of C may have no signature
                continue
        return cls(**hooks)

    def __bool__(self) -> bool:
        """Return True if a hook concerns calls, requests or responses."""
        return bool(self.before_call or self.before_send or self.after_response)

    async def on_call(self, call: Call) -> Call:
        """Return the call as before_call leaves it."""
        if self.before_call is None:
            return call
        shown = _copied(call)
        changed = await _run(self.before_call, Call, shown)
        return call if changed is shown and shown.params == call.params else changed

    async def on_send(self, request: ApiRequest, call: Call) -> ApiRequest:
        """Return the request as before_send leaves it."""
        return request if self.before_send is None else await _run(self.before_send, ApiRequest, request, call)

    async def on_response(self, response: ApiResponse, call: Call) -> ApiResponse:
        """Return the response as after_response leaves it."""
        return response if self.after_response is None else await _run(self.after_response, ApiResponse, response, call)

    async def on_gate(self, decision: GateDecision, call: Call) -> GateDecision:
        """Return the decision as on_decision leaves it."""
        if self.on_decision is None:
            return decision
        changed = await _run(self.on_decision, GateDecision, decision, _copied(call))
        if changed.outcome not in OUTCOMES:
            raise HookError(f"on_decision returned an outcome that is none of {', '.join(OUTCOMES)}")
        if changed.outcome != decision.outcome and changed.rule == decision.rule:
            return changed._replace(rule="on_decision")
        return changed

    async def on_evaluation(self, verdict: StepVerdict, step: Step) -> StepVerdict:
        """Return the verdict about a step as on_step leaves it."""
        if self.on_step is None:
            return verdict
        changed = await _run(self.on_step, StepVerdict, verdict, step)
        if changed.outcome not in STEP_OUTCOMES:
            raise HookError(f"on_step returned an outcome that is none of {', '.join(STEP_OUTCOMES)}")
        return changed


def import_hooks(name: str) -> ModuleType | None:
    """Import the owner's module of hooks, None if there is none. Raises HookError with the line of an error in it."""
    spec = find_spec(name)
    if spec is None:
        return None
    try:
        with redirect_stdout(sys.stderr):
            return import_module(name)
    except Exception as error:
        from traceback import extract_tb, format_exception_only

        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == spec.origin]
        number = lines[-1] if lines else getattr(error, "lineno", None)
        raise HookError(f"hooks.py:{number}: {format_exception_only(error)[-1].strip()}") from error


def _copied(call: Call) -> Call:
    """Return a call whose parameters a hook may change in place: they are others then, and not those of the call."""
    return replace(call, params=deepcopy(dict(call.params)))


def _refuse_unknown(module: object | None) -> None:
    """Raise HookError for a public function that looks like a hook and is none; what is imported is not meant."""
    for name, value in getattr(module, "__dict__", {}).items():
        if name in PARAMETERS or name.startswith("_") or not callable(value):
            continue
        if hasattr(value, "__qualname__") and value.__module__ != getattr(module, "__name__", value.__module__):
            continue  # imported
        nearest = [hook for hook in PARAMETERS if alike(name, hook)]
        if nearest or name.startswith(tuple({hook.partition("_")[0] + "_" for hook in PARAMETERS})):
            meant = f"Did you mean '{nearest[0]}'?" if nearest else f"Hooks are {', '.join(PARAMETERS)}."
            raise HookError(f"{name} in hooks.py is not a hook and is never called. {meant} A helper would be _{name}")


async def _run(hook: Hook, kind: type[T], value: T, *rest: Call | Step) -> T:
    try:
        answer = hook(value, *rest)
        if inspect.isawaitable(answer):
            answer = await answer
    except Failure:
        raise
    except Exception as error:
        raise HookError(f"{getattr(hook, '__name__', 'a hook')} raised {type(error).__name__}") from error
    if answer is None:
        return value
    if not isinstance(answer, kind):
        raise HookError(f"{getattr(hook, '__name__', 'a hook')} returned neither {kind.__name__} nor None")
    return answer
