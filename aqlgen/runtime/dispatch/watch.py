# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The telling of each answered operation to those who watch the adapter."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from time import perf_counter
from typing import Any, ParamSpec, Protocol, cast

from ..envelope import Envelope, Stamp
from ..session import Session
from ..telemetry.observer import OK, CallEnd, Observers
from .arguments import Request

__all__ = ["watched"]

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
        if dispatcher.observers and dispatcher.observers.wants_call(outcome):
            name, family = dispatcher.named(request.operation)
            seconds = perf_counter() - began
            dispatcher.observers.call_ended(CallEnd(name, family, outcome, seconds, stamp.request_id, session.id))
        return envelope

    return watching
