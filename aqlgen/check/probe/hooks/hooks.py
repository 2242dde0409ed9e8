"""The hooks of the probe: a call names in `_hook` what they do with it."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any


def _asked(call: Any) -> str:
    return str(call.metadata.get("_hook") or call.metadata.get("hook") or "")


async def before_call(call: Any) -> Any:
    """Change a parameter, refuse the call (also with the findings of the witness), or fail."""
    package = __name__.rpartition(".")[0]
    hooks = import_module(f"{package}.runtime.hooks")
    order = call.metadata.get("_witness") or call.metadata.get("witness")
    if order:
        work = partial(asyncio.run, import_module(f"{package}.witnessed").witnessed(order))
        shown = await asyncio.get_running_loop().run_in_executor(None, work)
        raise hooks.Refuse("the hook has done it", shown)
    if _asked(call) == "refuse":
        raise hooks.Refuse("the hook says no", {"by": "before_call"})
    if _asked(call) == "fail":
        raise LookupError("a text that no agent may read")
    return replace(call, params={**call.params, "book_id": "b-hook"}) if _asked(call) == "change" else None


def before_send(request: Any, call: Any) -> Any:
    """Add a header to the request, or end the adapter at once."""
    if _asked(call) == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(request, headers=(*request.headers, ("X-Hook", call.operation))) if _asked(call) == "send" else None


def after_response(response: Any, call: Any) -> Any:
    """Replace the response."""
    content = b'{"id": "of-the-hook", "title": "Replaced"}'
    return replace(response, status=200, content=content) if _asked(call) == "response" else None


def on_decision(decision: Any, call: Any) -> Any:
    """Tighten or relax the decision."""
    outcome = {"confirm": "confirm", "forbid": "refuse", "allow": "allow"}.get(_asked(call))
    return decision._replace(outcome=outcome, reasons=("the hook decides",)) if outcome else None


def on_step(verdict: Any, step: Any) -> Any:
    """Hold a step that speaks of hooks."""
    is_ours = "hook" in step.action
    return verdict._replace(outcome="confirm", reason="the hook holds it") if is_ours else None
