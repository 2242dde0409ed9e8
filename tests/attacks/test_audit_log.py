"""Attacks on the audit log: calls without an entry, entries that show another, changes of its file (R-SAFE-5)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.cli.audit import audit_tail, audit_verdict
from aqlgen.runtime.errors import CommandError
from aqlgen.runtime.hooks import Call
from aqlgen.runtime.safety.audit import Audit, Chain
from aqlgen.runtime.wire import ApiRequest
from tests.attacks.guarded_shop import OPERATIONS, Human, open_shop, operation, write_shop
from tests.cases import each

ITEM: dict[str, Any] = {"item_id": "7"}
SENT: dict[str, dict[str, Any]] = {
    "create_item": {},
    "create_freely": {},
    "read_items": {},
    "touch_item": ITEM,
    "replace_item": {**ITEM, "name": "new"},
    "rename_item": ITEM,
    "delete_item": ITEM,
    "erase_item": ITEM,
    "deleteItem": ITEM,
    "discard_draft": ITEM,
    "send_note": {},
    "run_safely": {},
    "pay": {"amount": 1, "recipient": "Eve"},
}
MILD = {
    "create": {"create_freely": operation("POST", "/drafts", "safe")},
    "read": {"touch_item": operation("GET", "/items/{itemId}/touch", "reversible")},
    "update": {"rename_item": operation("PATCH", "/items/{itemId}", "reversible")},
    "delete": {"discard_draft": operation("DELETE", "/drafts/{itemId}", "safe")},
    "execute": {
        "send_note": operation("POST", "/notes", "reversible"),
        "run_safely": operation("POST", "/runs", "safe"),
    },
}
WAYS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "alone": lambda call: call,
    "in a batch": lambda call: {"operations": [call]},
    "in a batch that goes on": lambda call: {"operations": [call, {"operation": "no_such"}, call]},
    "as a step": lambda call: {"operation": "run_steps", "params": {"steps": [{"id": "a", **call}]}},
}


@each(
    "way, name, policy",
    [(way, name, policy) for way in WAYS for name in SENT for policy in ("standard", "open")],
    ids=[f"{way}: {name}, {policy}" for way in WAYS for name in SENT for policy in ("standard", "open")],
)
@pytest.mark.anyio
async def test_nothing_but_plain_reads_is_sent_without_an_entry_before_and_after(
    tmp_path: Path, way: str, name: str, policy: str
) -> None:
    operations = {family: {**rows, **MILD[family]} for family, rows in OPERATIONS.items()}
    for row in (operations[family][row] for family in MILD for row in MILD[family]):
        if "{itemId}" in row["path"]:
            row["parameters"] = OPERATIONS["read"]["get_item"]["parameters"]
    place = open_shop(write_shop(tmp_path / "shop", operations), tmp_path / "audit.jsonl", policy=policy)
    call = WAYS[way]({"operation": name, "params": SENT[name]})
    await place.dispatcher.handle(None, call, person=Human())
    changes = [request for request in place.wire.sent if request.method != "GET" or "touch" in request.url]
    events = [entry["event"] for entry in place.events()]
    assert changes
    assert events.count("OPERATION_PERFORMED") == len(changes)
    assert len([event for event in events if event in ("OPERATION_ALLOWED", "CONFIRMATION_GRANTED")]) == len(changes)
    assert all(entry["operation"] and "params" in entry for entry in place.events() if "rule" in entry)


@each("hook", ["before_call", "before_send"])
@pytest.mark.anyio
async def test_a_hook_that_changes_a_call_without_a_question_is_named(tmp_path: Path, hook: str) -> None:
    """R-SAFE-5: also where nobody was asked about the call."""

    def before_call(call: Call) -> Call:
        return replace(call, params={**call.params, "amount": 2})

    def before_send(request: ApiRequest, _: Call) -> ApiRequest:
        return replace(request, content=b"{}")

    hooks = SimpleNamespace(**{hook: locals()[hook]})
    place = open_shop(write_shop(tmp_path / "shop"), tmp_path / "audit.jsonl", hooks, policy="open")
    await place.dispatcher.handle(None, {"operation": "pay", "params": SENT["pay"]})
    assert [entry.get("altered_by") for entry in place.events()] == [None, hook]


@pytest.mark.anyio
async def test_a_read_that_a_hook_makes_a_write_has_an_entry_first(tmp_path: Path) -> None:
    """R-SAFE-5: and is not sent where that cannot be written."""
    hooks = SimpleNamespace(before_send=lambda request, _: replace(request, method="DELETE"))
    audit = tmp_path / "log" / "audit.jsonl"
    place = open_shop(write_shop(tmp_path / "shop"), audit, hooks, policy="open")
    read = {"operation": "get_item", "params": ITEM}
    await place.dispatcher.handle(None, read)
    assert [request.method for request in place.wire.sent] == ["DELETE"]
    assert [(entry["by"], entry["reason"]) for entry in place.events()] == [
        ("before_send", "the request is sent by DELETE")
    ]
    audit.unlink()
    audit.mkdir()
    assert not (await place.dispatcher.handle(None, read))["success"]
    assert len(place.wire.sent) == 1


@each("name", [*SENT])
@pytest.mark.anyio
async def test_what_cannot_be_recorded_is_not_sent(tmp_path: Path, name: str) -> None:
    operations = {family: {**rows, **MILD[family]} for family, rows in OPERATIONS.items()}
    (tmp_path / "file").touch()
    place = open_shop(write_shop(tmp_path / "shop", operations), tmp_path / "file" / "audit.jsonl", policy="open")
    envelope = await place.dispatcher.handle(None, {"operation": name, "params": SENT[name]}, person=Human())
    assert envelope["success"] is False
    assert place.wire.sent == []


def chain(path: Path) -> list[bytes]:
    audit = Audit(path)
    for number in range(5):
        audit.write("OPERATION_PERFORMED", operation="pay", number=number)
    return path.read_bytes().splitlines(keepends=True)


FORGED = b'{"event":"OPERATION_PERFORMED","operation":"nothing"}'
CONTINUED = b'{"event":"AUDIT_CONTINUED","after":"x"}'
BREAKS = {
    "line feed": b"\n",
    "return": b"\r",
    "both": b"\r\n",
    "U+2028": "\u2028".encode(),
    "U+2029": "\u2029".encode(),
    "next line": "\x85".encode(),
    "form feed": b"\f",
    "file separator": b"\x1c",
    "blank": b" ",
    "nothing": b"",
    "zero": b"\0",
}
CHANGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    **{f"behind the last, {name}": lambda lines, by=by: [*lines[:-1], lines[-1][:-1] + by + FORGED + b"\n"]  # type: ignore[misc]
       for name, by in BREAKS.items()},
    **{f"behind the second, {name}": lambda lines, by=by: [lines[0], lines[1][:-1] + by + b"{}\n", *lines[2:]]  # type: ignore[misc]
       for name, by in BREAKS.items()},
    **{f"before the first, {name}": lambda lines, by=by: [FORGED + by, *lines]  # type: ignore[misc]
       for name, by in BREAKS.items()},
    "an empty line at the start": lambda lines: [b"\n", *lines],
    "an empty line between": lambda lines: [*lines[:2], b"\n", *lines[2:]],
    "an empty line at the end": lambda lines: [*lines, b"\n"],
    "half of the last line": lambda lines: [*lines[:-1], lines[-1][:40]],
    "the last line without its end": lambda lines: [*lines[:-1], lines[-1][:-1]],
    "the head cut off": lambda lines: lines[1:],
    "the head replaced by one that goes on": lambda lines: [CONTINUED + b"\n", *lines[2:]],
    "an entry twice": lambda lines: [*lines, lines[-1]],
    "another chain behind": lambda lines: [*lines, *lines],
    "the order changed": lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
    "an entry edited": lambda lines: [lines[0], lines[1].replace(b"pay", b"buy"), *lines[2:]],
    "an entry taken out": lambda lines: [*lines[:2], *lines[3:]],
}  # fmt: skip


@each("change", CHANGES.values(), ids=[*CHANGES])
def test_a_change_of_the_file_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    path = tmp_path / "audit.jsonl"
    monkeypatch.setenv("MCP_AQL_AUDIT_PATH", str(path))
    folder = write_shop(tmp_path / "shop")
    lines = chain(path)
    assert "is whole" in audit_verdict(folder, os.environ)
    path.write_bytes(b"".join(change(lines)))
    with pytest.raises(CommandError, match="is not whole"):
        audit_verdict(folder, os.environ)


@each("cut", [1, 40, 66, 100, 150, 5000])
@each("before", [0, 1, 4])
def test_one_torn_line_is_named_and_everything_behind_it_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], cut: int, before: int
) -> None:
    """R-SAFE-5: at the next start, or before the next entry of a process that shares the log."""
    path = tmp_path / "audit.jsonl"
    monkeypatch.setenv("MCP_AQL_AUDIT_PATH", str(path))
    folder = write_shop(tmp_path / "shop")
    lines = chain(path)[:before]
    audit = Audit(path)
    path.write_bytes(b"".join(lines))
    audit.write("OPERATION_PERFORMED", operation="pay", number=before, text="é" * 4000)
    path.write_bytes(path.read_bytes()[:-cut])
    left = path.read_bytes()
    with pytest.raises(CommandError, match=rf"line {before + 1}: the entry does not end with its hash"):
        audit_verdict(folder, os.environ)
    assemble(folder, environ={**os.environ, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_CONFIG": ""})
    whole = cut == 1  # nothing but the end of the line was missing
    assert capfd.readouterr().err.count("was torn while it was written") == (not whole)
    for number in range(3):
        audit.write("OPERATION_PERFORMED", operation="pay", number=number)
    shown = audit_verdict(folder, os.environ)
    assert f"is whole: {before + 4} entries in 1 file" in shown
    assert (f"its entry is lost: audit.jsonl, line {before + 1}." in shown) is not whole
    assert path.read_bytes().startswith(left + b"\n")
    again = path.read_bytes()
    for change in (again.replace(left, left[:-2] + b"xx"), again.replace(left + b"\n", b"")):
        path.write_bytes(change)
        if change != again:
            with pytest.raises(CommandError, match="is not whole"):
                audit_verdict(folder, os.environ)


def test_what_could_not_be_written_whole_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-SAFE-5: a full disk takes a part of an entry."""
    path = tmp_path / "audit.jsonl"
    lines, write = chain(path), os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:50]))
    with pytest.raises(OSError, match="only a part"):
        Audit(path).write("OPERATION_PERFORMED", operation="pay")
    monkeypatch.undo()
    assert path.read_bytes() == b"".join(lines)


def test_an_agent_cannot_write_the_entry_at_which_a_cut_head_goes_unseen(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    lines = chain(path)
    Chain(path).append(b'{"event":"OPERATION_ALLOWED","params":{"event":"AUDIT_CONTINUED","after":"x"}}')
    path.write_bytes(path.read_bytes()[len(b"".join(lines)) :])
    from aqlgen.runtime.safety.audit import verify

    assert "an entry before it is missing" in verify(path).problem


@each("sign", ["\n", "\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\u202e", "\u200b", "\x1b[2J", "\x9b2J"])
def test_an_entry_is_shown_as_one_line_and_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sign: str
) -> None:
    path = tmp_path / "audit.jsonl"
    monkeypatch.setenv("MCP_AQL_AUDIT_PATH", str(path))
    folder = write_shop(tmp_path / "shop")
    Audit(path).write("OPERATION_DENIED", params={"name": f"x{sign}{FORGED.decode()}"})
    (entry,) = audit_tail(folder, os.environ, 5)
    assert entry.isprintable()
    assert json.loads(entry)["params"]["name"] == f"x{sign}{FORGED.decode()}"
    assert "is whole: 1 entry" in audit_verdict(folder, os.environ)
