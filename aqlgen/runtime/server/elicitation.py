"""Elicitation: asks the person behind the client; an agent cannot answer for them (R-SAFE-4; MCP, elicitation).

- Protocols up to 2025-11-25: a request to the client while the call waits. Over HTTP with JSON responses there is no
  way back to the client, and nobody can be asked.
- Protocol 2026-07-28: the call's result is the question, and the client calls again with the answer and a handle: a
  sealed ticket, valid at any replica for one call with the same arguments.

A question is answered by accepting it or not; anything but a clear yes is a no, silence included. A protocol error is
no answer: for the rest of the session the client counts as one that cannot ask.

A caller has one open question at a time, and so many an hour that get no yes. What was declined is not asked again
(`safety.approvals`).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure
from ..protocol_operations import QUESTION_KEY, Person, Unanswered
from ..safety.approvals import Declined
from ..session import current_caller
from ..state import Counter
from ..state.tickets import owner_of

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp.types import CallToolRequestParams

    from ..logs.observers import Observers
    from ..session import Session
    from ..state.custody import State

_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}
_ANSWER_TIMEOUT = 300.0
_OPEN, _HOUR = "open questions", 3600
_PREFIX, _KIND, _CALL = "ask_", "question", 16
_FIRST_WITHOUT_REQUESTS = "2026"
_NO = frozenset({"cancel", "decline", "false", "n", "no", "off", "reject"})
_FORMLESS = "no form is shown"
_REJECTED, _CLOSED, _TIMED_OUT = -1, -32000, -32001
"""The codes of errors that say nothing of the form: the user rejected it, or nobody answered."""


class Questions:
    """The questions to the persons behind clients: the open ones, their handles, and the noes.

    A handle is bound to its call and valid once. `per_hour` bounds how many questions of a caller get no yes.
    """

    def __init__(self, state: State, observers: Observers | None = None, per_hour: int = 10) -> None:
        self._state = state
        self._observers = observers
        self._per_hour = per_hour
        self.declined = Declined(state)

    async def begin(self, session_id: str | None, call: str = "") -> None:
        """Count a question and note that it is open; `call` is a digest of the call whose result it will be.

        Raises Failure for a caller with another open question, or with too many that got no yes; and StoreAway.
        """
        store, owner = self._state.of(session_id).store, owner_of(session_id)
        if not await store.add(_OPEN, owner, call, _ANSWER_TIMEOUT) and (
            not call or await store.get(_OPEN, owner) != call
        ):
            raise Failure(
                Code.CONFIRMATION_REQUIRED,
                "A person is being asked about another call. Nothing was changed. Call again once the other question "
                "is answered.",
                {"reason": "another question is open"},
            )
        spent = await store.spend([Counter(f"questions:{owner}", _HOUR, 1, self._per_hour)])
        if not spent.admitted:
            await store.drop(_OPEN, owner)
            wait = max(1, min(_HOUR, round(spent.counts[0].ends - time.time())))
            raise Failure(
                Code.RATE_LIMIT_EXCEEDED,
                f"Too many questions without a yes, {self._per_hour} an hour is the maximum; the next one is "
                "possible in "
                f"{wait} seconds. Nothing was changed; tell your user about the call.",
                {"limit": self._per_hour, "retry_after_seconds": wait},
            )
        if self._observers is not None:
            self._observers.event("confirmation", outcome="asked", by="person")

    async def end(self, session_id: str | None) -> None:
        """Note that the open question of a caller is answered. Raises StoreAway."""
        await self._state.of(session_id).store.drop(_OPEN, owner_of(session_id))

    async def accept(self, session_id: str | None) -> None:
        """Count a question no longer, since it got a yes. Raises StoreAway."""
        counter = Counter(f"questions:{owner_of(session_id)}", _HOUR, -1)
        await self._state.of(session_id).store.spend([counter])

    async def put(self, call: str, session_id: str | None) -> str:
        """Return a new handle for a question that is asked in a call. Raises StoreAway."""
        custody = self._state.of(session_id)
        ticket = await custody.issue(_KIND, [(call, _CALL)], _ANSWER_TIMEOUT, time.time())
        return f"{_PREFIX}{ticket.text}"

    async def take(self, handle: str, call: str, session_id: str | None) -> bool:
        """Return True if the handle is of a question asked in this call, and was not taken before. Raises StoreAway."""
        custody = self._state.of(session_id)
        ticket = await custody.open(_KIND, handle.removeprefix(_PREFIX))
        if ticket is None or not await custody.use(ticket.id):
            return False
        return ticket.fits(call, 0, _CALL) and time.time() <= ticket.expires


class ClientPerson(Person):
    """The person behind the client of one call. It costs nothing until a question is asked."""

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
    def _asks_by_result(self) -> bool:
        return self._context.protocol_version >= _FIRST_WITHOUT_REQUESTS

    @property
    def reachable(self) -> bool:
        """Return True if the client declares that it shows forms to a person, did not fail to, and takes requests."""
        declared = self._context.session.client_capabilities
        elicitation = None if declared is None else declared.elicitation
        if elicitation is None or (elicitation.form is None and elicitation.url is not None):
            return False
        if _FORMLESS in self._session.state:
            return False
        return self._asks_by_result or self._context.session.can_send_request

    async def ask(self, question: str) -> bool:
        """Ask a question.

        Raises Unanswered if the call's result must be the question, and Failure if a part of the call is done already,
        or if the client cannot show the question.
        """
        is_yes = _is_yes(await self._answer(question, _SCHEMA))
        await self._keep(question, is_yes=is_yes)
        return is_yes

    async def ask_text(self, question: str, name: str) -> str | None:
        """Ask for a text and return it; None if none is given. Raises as `ask` does."""
        schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
        content = _content(await self._answer(question, schema))
        text = None if content is None else content.get(name)
        text = text if isinstance(text, str) and text.strip() else None
        await self._keep(question, is_yes=text is not None)
        return text

    async def _keep(self, question: str, *, is_yes: bool) -> None:
        if is_yes:
            await self._questions.accept(self._session.id)
        else:
            await self._questions.declined.keep(self._session.id, [question])

    async def _answer(self, question: str, schema: Mapping[str, Any]) -> Any:
        """Return the client's answer to a form, None for none; a declined question is not asked."""
        if await self._questions.declined.holds(self._session.id, [question]):
            return None
        if not self._asks_by_result:
            return await self._requested(question, schema)
        if self.batched:
            raise Failure(
                Code.CONFIRMATION_REQUIRED,
                "A person must confirm this, but this request can no longer ask them, because a part of it is done: "
                "send the rest again",
                {"reason": "a person is asked before anything is done"},
            )
        session_id, params, handle = self._session.id, self._params, self._params.request_state
        bound = [session_id, current_caller(), params.name, params.arguments, question]
        text = json.dumps(bound, sort_keys=True, default=str)
        call = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if handle is None or not await self._questions.take(handle, call, session_id):
            await self._questions.begin(session_id, call)
            raise Unanswered(question, await self._questions.put(call, session_id), schema)
        await self._questions.end(session_id)
        return (self._params.input_responses or {}).get(QUESTION_KEY)

    async def _requested(self, question: str, schema: Mapping[str, Any]) -> Any:
        import anyio

        await self._questions.begin(self._session.id)
        try:
            return await self._request(question, schema)
        finally:
            with anyio.CancelScope(shield=True):
                await self._questions.end(self._session.id)

    async def _request(self, question: str, schema: Mapping[str, Any]) -> Any:
        import anyio
        from mcp.shared.exceptions import MCPError

        with anyio.move_on_after(_ANSWER_TIMEOUT):
            try:
                return await self._context.session.elicit_form(
                    question, dict(schema), related_request_id=self._context.request_id
                )
            except MCPError as error:
                if error.code in (_REJECTED, _CLOSED, _TIMED_OUT):
                    return None
                self._session.state[_FORMLESS] = True
                raise Failure(
                    Code.CONFIRMATION_REQUIRED,
                    "The client failed to show the question, so nobody was asked, and nothing was changed. Call again: "
                    "the client now counts as unable to ask.",
                    {"reason": "the client answered the question with an error"},
                ) from None
            except Exception:  # noqa: BLE001 - anything else that the client answers is not a yes
                return None
        return {"action": "cancel"}


def _is_yes(answer: Any) -> bool:
    """Return True if an answer accepts: a client may add fields of its own, and one that says no is a no."""
    content = _content(answer)
    return content is not None and all(str(value).strip().lower() not in _NO for value in content.values())


def _content(answer: Any) -> Mapping[str, Any] | None:
    """Return the content of an answer that accepts; None for any other."""
    if answer is None:
        return None
    response = answer if isinstance(answer, Mapping) else answer.model_dump()
    content = response.get("content") or {}
    return content if response.get("action") == "accept" and isinstance(content, Mapping) else None
