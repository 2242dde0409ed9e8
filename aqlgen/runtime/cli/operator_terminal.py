# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The command `operator`: what waits for a person is listed, shown, approved and denied (R-OPS-1, R-LOOP-5).

It is another process on the adapter's store, outside of everything that MCP clients reach. What lets something run, and
every code, needs a terminal in which somebody types: a pipe gets none. Who can run commands as the same user in a
terminal of their own can do all of it; docs/confirmations.md says what that means. The page does the same in a browser.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CommandError
from ..operator.actions import Actions, Refused
from ..operator.sources import Source, Sources, home_source, operator_name
from ..safety.questions import Challenge, Question
from ..state import StoreAway
from ..text import line, terminal_text

if TYPE_CHECKING:
    import argparse

__all__ = ["run_operator", "run_page"]

_LEAST_PREFIX = 4
_MOST_LISTED = 100
_NEEDS_TERMINAL = (
    "this needs a terminal for standard input and output: approvals and codes go to no pipe and no file. Open a "
    "terminal on this machine and give the same command there"
)


@dataclass(frozen=True, slots=True)
class _Terminal:
    """What one operator does at a terminal about one adapter."""

    source: Source
    actions: Actions

    async def approve(self, id: str) -> str:
        """Show a question, and approve it if the operator types yes."""
        question = await self._question(id)
        if not _is_yes(f"{_details(question)}\nApprove it? [yes/N] "):
            return "Nothing was decided."
        await self._do("approve", question)
        return f"{question.id} is approved once: {line(question.title, 400)}"

    async def deny(self, id: str) -> str:
        """Deny a question."""
        question = await self._question(id)
        await self._do("deny", question)
        return f"{question.id} is denied: {line(question.title, 400)}"

    async def show(self, id: str) -> str:
        """Return all of a question."""
        return _details(await self._question(id))

    async def code(self, id: str) -> str:
        """Return the code of a challenge, for the terminal alone."""
        challenge = self._chosen(await self.source.questions.challenges(), id, "challenge", "OPERATOR_CODE_SHOWN")
        code = (await self._do("reveal", challenge))["code"]
        about = (
            f"Agent {line(challenge.agent, 60)}: {line(challenge.action, 400)}\n{line(challenge.reason, 400)}".rstrip()
        )
        return f"{about}\n\n  {code}\n\nOne try, within {_left(challenge.expires)}. Give it only if you agree."

    async def revoke(self, id: str) -> str:
        """End an approval for a session."""
        approval = self._chosen(await self.source.questions.approvals(), id, "approval", "OPERATOR_REVOKE")
        await self._do("revoke", approval)
        return f"Revoked {approval.id}: {line(approval.title, 400)}. The next call is asked about again."

    async def listed(self) -> str:
        """Return what waits and what holds."""
        questions, approvals = await self.source.questions.questions(), await self.source.questions.approvals()
        waiting = [question for question in questions if not question.verdict]
        sections = {
            "Waiting for a decision": [_summary(question) for question in waiting],
            "Codes asked for": [_of_challenge(challenge) for challenge in await self.source.questions.challenges()],
            "Decided, and not used yet": [_summary(question) for question in questions if question.verdict],
            "Used in a session, and not asked about again": [_of_approval(approval) for approval in approvals],
        }
        lines = [text for name, items in sections.items() if items for text in (name, *items[:_MOST_LISTED], "")]
        return "\n".join(lines).rstrip() or "Nothing waits."

    async def _question(self, id: str) -> Question:
        undecided = [question for question in await self.source.questions.questions() if not question.verdict]
        question: Question = self._chosen(undecided, id, "question that waits", "OPERATOR_DECISION")
        return question

    async def _do(self, name: str, item: Any) -> dict[str, Any]:
        """Do an action. Raises CommandError."""
        try:
            return await self.actions.do(name, self.source, item)
        except Refused as problem:
            text = str(problem).rstrip(".")
            raise CommandError(text[:1].lower() + text[1:]) from None

    def _chosen(self, items: Sequence[Any], id: str, noun: str, event: str) -> Any:
        """Return the one item with an id, of which the first letters are enough. Raises CommandError."""
        matching = [item for item in items if item.id == id] or [
            item for item in items if len(id) >= _LEAST_PREFIX and item.id.startswith(id.lower())
        ]
        if len(matching) == 1:
            return matching[0]
        reason = f"{len(matching)} have this id"
        try:
            self.source.audit.write(f"{event}_VOID", operator=self.actions.by, item=line(id, 64), reason=reason)
        except OSError as error:
            raise CommandError(f"the audit log cannot be written, so nothing was done: {error.strerror}") from None
        if matching:
            raise CommandError(f"several begin with {line(id, 64)}; give more of the ID")
        raise CommandError(f"there is no {noun} as {line(id, 64)}; `operator list` shows all")


def _is_yes(question: str) -> bool:
    """Ask the operator, and return True if they type yes."""
    sys.stdout.write(terminal_text(question))
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def run_operator(folder: Path, environ: Mapping[str, str], options: argparse.Namespace) -> int:
    """Do what an operator asks for. Returns the exit code; raises ConfigError and CommandError."""
    action, item_id = options.action, options.id
    if action in ("approve", "code") and not _is_terminal():
        raise CommandError(_NEEDS_TERMINAL)
    if action != "list" and not item_id:
        raise CommandError(f"{action} needs an ID; `operator list` shows all")
    source = home_source(folder, environ)
    terminal = _Terminal(source, Actions(Sources(source), operator_name(options.by)))
    steps: Mapping[str, Callable[[], Awaitable[str]]] = {
        "list": terminal.listed,
        "show": lambda: terminal.show(item_id),
        "approve": lambda: terminal.approve(item_id),
        "deny": lambda: terminal.deny(item_id),
        "code": lambda: terminal.code(item_id),
        "revoke": lambda: terminal.revoke(item_id),
    }

    async def run() -> str:
        try:
            return await steps[action]()
        finally:
            await source.custody.store.close()

    try:
        text = asyncio.run(run())
    except StoreAway as away:
        raise CommandError(f"the adapter's store cannot be reached: {line(str(away.args[0]), 200)}") from None
    sys.stdout.write(f"{terminal_text(text)}\n")
    sys.stdout.flush()
    return 0


def _summary(question: Question) -> str:
    who = ", ".join(text for text in (question.agent, question.caller, question.session) if text) or "somebody unknown"
    end = f"{question.verdict} by {question.by}" if question.verdict else f"{_left(question.expires)} left"
    return f"  {question.id}  {line(question.title, 400)}\n              {question.danger}, for {line(who, 200)}, {end}"


def _of_challenge(challenge: Challenge) -> str:
    what = f"agent {line(challenge.agent, 60)}: {line(challenge.action, 200)}"
    return f"  {challenge.id}  {what}, {_left(challenge.expires)} left"


def _of_approval(approval: Question) -> str:
    return f"  {approval.id}  {line(approval.title, 400)}, {_left(approval.expires)} left"


def _details(question: Question) -> str:
    return f"{_summary(question)}\n\n{question.question}\n"


def _left(expires: float) -> str:
    seconds = max(0, int(expires - time.time()))
    return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def run_page(folder: Path, environ: Mapping[str, str], options: argparse.Namespace) -> int:
    """Serve the operator's page until a signal arrives. Returns the exit code; raises ConfigError."""
    from ..operator.serve import NoTerminal, serve_page
    from ..server.http import BindError

    try:
        return serve_page(folder, environ, port=options.port, address_file=options.address_file, name=options.by)
    except NoTerminal as problem:
        sys.stderr.write(f"Error: {terminal_text(str(problem))}\n")
        return 2
    except (BindError, OSError) as problem:
        sys.stderr.write(f"Error: {terminal_text(str(problem))}\n")
        return 1
