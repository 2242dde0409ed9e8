from __future__ import annotations

from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

from aqlgen.runtime.session import Session, Sessions


def context(version: str, handle: str | None, stack: Any = None, *, http: bool = True) -> Any:
    headers = {} if handle is None else {"mcp-session-id": handle}
    return SimpleNamespace(
        request=SimpleNamespace(headers=headers) if http else None,
        protocol_version=version,
        session=SimpleNamespace(_connection=SimpleNamespace(exit_stack=stack or ExitStack())),
    )


def test_over_http_of_2025_the_transports_session_is_the_session() -> None:
    """R-OPS-2"""
    sessions, stack = Sessions(), ExitStack()
    session = sessions.of(context("2025-11-25", "abc", stack))
    assert session is sessions.of(context("2025-11-25", "abc"))
    assert session is not sessions.of(context("2025-11-25", "def"))
    closed: list[str] = []
    session.on_close(lambda: closed.append("a"))
    session.on_close(lambda: closed.append("b"))
    session.state["token"] = 1
    stack.close()
    assert closed == ["b", "a"]
    assert session.state == {}
    assert session is not sessions.of(context("2025-11-25", "abc"))


def test_over_http_of_2026_there_is_no_session_whatever_the_client_claims() -> None:
    """R-OPS-2"""
    sessions = Sessions()
    session = sessions.of(context("2026-07-28", "abc"))
    assert session.id is None
    assert session is not sessions.of(context("2026-07-28", "abc"))


def test_over_stdio_the_connection_is_the_session_in_both_eras() -> None:
    """R-OPS-2"""
    sessions = Sessions()
    session = sessions.of(context("2026-07-28", None, http=False))
    assert session is sessions.of(context("2025-06-18", None, http=False))
    assert session.id


def test_a_session_ends_once_and_a_failing_callback_stops_no_other() -> None:
    """R-OPS-2"""
    session, closed = Session.new(), []
    session.on_close(lambda: closed.append(1))
    session.on_close(lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    session.close()
    session.close()
    assert closed == [1]
