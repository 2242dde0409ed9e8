"""The forms in which one call can be made: alone, in a batch, as a step, as a step whose every value is a reference."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqlgen.runtime.dispatch.dispatcher import Dispatcher

FORMS = ("alone", "batch", "step", "references")
_OWN = frozenset(
    {"introspect", "run_steps", "confirm_operation", "execute_agent", "record_execution_step", "complete_execution"}
)


def wrapped(form: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same call in another form; what is no call of the API stays as it is."""
    if form == "alone" or "operations" in arguments or arguments["operation"] in _OWN:
        return dict(arguments)
    if form == "batch":
        return {"operations": [dict(arguments)]}
    params = arguments.get("params") or {}
    beside = {key: value for key, value in arguments.items() if key not in ("operation", "params")}
    step: dict[str, Any] = {"operation": arguments["operation"], "params": params}
    if isinstance(params, Mapping):
        params = {**beside, **params}
        step["params"] = params
        if form == "references":
            step["foreach"] = [list(params.values())]
            step["params"] = {name: {"$ref": f"item[{index}]"} for index, name in enumerate(params)}
    return {"operation": "run_steps", "params": {"steps": [step]}}


def altered(call: Mapping[str, Any], **params: Any) -> dict[str, Any]:
    """Return a call with other parameters; one of `...` is left out."""
    values = {**call["params"], **params}
    return {**call, "params": {name: value for name, value in values.items() if value is not ...}}


def unwrapped(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return the envelope that the call has in the answer of its form."""
    if "results" in envelope:
        if len(envelope["results"]) + ("halted_at" in envelope) != 1:
            return envelope
        result: dict[str, Any] = (envelope.get("halted_at") or envelope["results"][0])["result"]
        details = {} if result["success"] else result["error"].get("details", {})
        if "confirmation_token" in details:
            names = {"token": "confirmation_token", "message": "confirmation_message", "expires_at": "expires_at"}
            result = {**result, "confirmation": {name: details[key] for name, key in names.items()}}
        return result
    if envelope["success"]:
        steps = envelope["data"].get("steps") if isinstance(envelope["data"], dict) else None
        if steps is None:
            return envelope
        data = steps[0]["data"]
        return {**envelope, "data": data[0] if "calls" in steps[0] else data}
    error = dict(envelope["error"])
    details = {key: value for key, value in error.get("details", {}).items() if key not in ("plan", "step")}
    if "confirmation" in envelope:
        details.setdefault("confirmation_message", envelope["confirmation"]["message"])
    error["message"] = re.sub(r"^Step 1(, item 0)?: ", "", error["message"])
    return {**envelope, "error": {**error, "details": details}}


@dataclass
class Formed:
    """A dispatcher to which every call is made in one form, and that answers as if it had been made alone."""

    dispatcher: Dispatcher
    form: str

    async def handle(self, family: str | None, arguments: Mapping[str, Any], *rest: Any) -> dict[str, Any]:
        """Answer a call."""
        return unwrapped(await self.dispatcher.handle(family, wrapped(self.form, arguments), *rest))
