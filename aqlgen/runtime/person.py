# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The person behind the client, asked directly: an agent cannot answer for them (R-SAFE-4; MCP, elicitation).

- Protocols up to 2025-11-25: a request to the client while the call waits. Over HTTP with JSON responses there is no
  way back to the client, and nobody can be asked.
- Protocol 2026-07-28: the call's result is the question, and the client calls again with the answer and a handle:
  random, kept here, good for one call with the same arguments.

A question is answered by accepting it or not; anything but a clear yes, and silence, is a no.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from .errors import Code, Failure

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp.types import CallToolRequestParams, InputRequiredResult

    from .session import Session

__all__ = ["ClientPerson", "Questions", "Unanswered"]

_KEY = "confirm"
_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}
_PATIENCE = 300.0
_MOST = 10_000
_FIRST_WITHOUT_REQUESTS = "2026"


class Unanswered(BaseException):
    """Ends a call whose result must be the question. No error: nothing on its way may catch it as one."""

    def __init__(self, question: str, handle: str) -> None:
        super().__init__(question)
        self.question = question
        self.handle = handle

    def result(self) -> InputRequiredResult:
        """Give the question as the call's result."""
        from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

        params = ElicitRequestFormParams(message=self.question, requested_schema=dict(_SCHEMA))
        return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=params)}, request_state=self.handle)


class Questions:
    """The handles of questions that wait for their answer, each bound to its call, good once."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[str, float]] = {}

    def put(self, call: str) -> str:
        """Make the handle of a question that is asked in a call."""
        now = monotonic()
        if len(self._waiting) >= _MOST:
            self._waiting = {key: one for key, one in self._waiting.items() if one[1] > now}
            while len(self._waiting) >= _MOST:
                del self._waiting[next(iter(self._waiting))]
        handle = f"ask_{secrets.token_urlsafe(32)}"
        self._waiting[handle] = (call, now + _PATIENCE)
        return handle

    def take(self, handle: str, call: str) -> bool:
        """Whether the handle is of a question asked in this call, and was not taken before."""
        found = self._waiting.pop(handle, None)
        return found is not None and found[0] == call and found[1] > monotonic()


class ClientPerson:
    """Whoever sits behind the client of one call. Costs nothing until asked for."""

    __slots__ = ("_context", "_params", "_questions", "_session", "batched")

    def __init__(
        self,
        context: ServerRequestContext[Any, Any],
        params: CallToolRequestParams,
        session: Session,
        questions: Questions,
    ) -> None:
        self._context = context
        self._params = params
        self._session = session
        self._questions = questions
        self.batched = False

    @property
    def _by_result(self) -> bool:
        return self._context.protocol_version >= _FIRST_WITHOUT_REQUESTS

    @property
    def reachable(self) -> bool:
        """Whether the client said that it puts forms to a person, and can be asked to."""
        declared = self._context.session.client_capabilities
        elicitation = None if declared is None else declared.elicitation
        if elicitation is None or (elicitation.form is None and elicitation.url is not None):
            return False
        return self._by_result or self._context.session.can_send_request

    async def ask(self, question: str) -> bool:
        """Put a question. Raises Unanswered when the call's result must be the question, Failure within a batch."""
        if not self._by_result:
            return await self._request(question)
        if self.batched:
            raise Failure(
                Code.CONFIRMATION_REQUIRED,
                "A person must be asked about this operation, and cannot be within a batch: call it alone",
                {"reason": "a person is asked one operation after the other"},
            )
        call, handle = self._bound(question), self._params.request_state
        if handle is None or not self._questions.take(handle, call):
            raise Unanswered(question, self._questions.put(call))
        answer = (self._params.input_responses or {}).get(_KEY)
        return _is_yes(answer)

    async def _request(self, question: str) -> bool:
        import anyio

        with anyio.move_on_after(_PATIENCE):
            try:
                answer = await self._context.session.elicit_form(
                    question, dict(_SCHEMA), related_request_id=self._context.request_id
                )
            except Exception:  # noqa: BLE001 - whatever the client answers instead is no yes
                return False
            return _is_yes(answer)
        return False

    def _bound(self, question: str) -> str:
        params = self._params
        said = json.dumps([self._session.id, params.name, params.arguments, question], sort_keys=True, default=str)
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _is_yes(answer: Any) -> bool:
    """Whether an answer accepts: a client may add fields of its own, and one that says no is a no."""
    if answer is None:
        return False
    said = answer if isinstance(answer, Mapping) else answer.model_dump()
    content = said.get("content") or {}
    return said.get("action") == "accept" and all(value is not False for value in content.values())
