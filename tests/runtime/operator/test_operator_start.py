"""How the operator's page starts, and who gets to know its address (R-OPS-1)."""

from __future__ import annotations

import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aqlgen.runtime.cli import main
from aqlgen.runtime.operator.guard import Admission
from tests.runtime.operator_page import read_answer
from tests.runtime.tiny_zoo import write_package

ROOT = Path(__file__).parents[3]
START = """import pathlib, sys
from aqlgen.runtime.cli import main
sys.exit(main(pathlib.Path(sys.argv[1]), None, sys.argv[2:]))"""


def command(package: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-c", START, str(package), "operator", *arguments]


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(ROOT)}


@pytest.mark.usefixtures("forked")
def test_without_a_terminal_it_does_not_start(tmp_path: Path) -> None:
    """R-OPS-1: the log of an MCP client never gets the address."""
    package = write_package(tmp_path / "src" / "zoo_adapter")
    done = subprocess.run(command(package), env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "terminal" in done.stderr
    assert "http://" not in done.stdout + done.stderr


def test_with_state_in_memory_it_says_that_there_is_no_operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCP_AQL_STATE_URL", "memory:")
    package = write_package(tmp_path / "src" / "zoo_adapter")
    assert main(package, None, ["operator", "--address-file", str(tmp_path / "address")]) == 2
    assert "MCP_AQL_STATE_URL is memory:" in capsys.readouterr().err
    assert not (tmp_path / "address").exists()


@pytest.mark.usefixtures("forked")
def test_the_address_is_shown_on_the_terminal_anew_at_each_enter_and_opens_the_page(tmp_path: Path) -> None:
    """R-OPS-1"""
    package = write_package(tmp_path / "src" / "zoo_adapter")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command(package), env=environment(tmp_path), stdin=theirs, stdout=theirs, stderr=theirs)
    try:
        first = shown(ours, 1)[0]
        os.write(ours, b"\n")
        first, second = [first, *shown(ours, 1)]
        assert first != second
        assert entered(first) == 401
        assert entered(second) == 200
        assert entered(second) == 401
        process.send_signal(signal.SIGINT)
        process.wait(10)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)


@pytest.mark.usefixtures("forked")
def test_the_file_of_an_address_is_its_owners_alone_and_goes_with_the_page(tmp_path: Path) -> None:
    package = write_package(tmp_path / "src" / "zoo_adapter")
    file = tmp_path / "address"
    process = subprocess.Popen(
        command(package, "--address-file", str(file)),
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        deadline = time.monotonic() + 20
        while not (file.exists() and file.read_text().endswith("\n")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert entered(file.read_text().strip()) == 200
        process.terminate()
        output = process.communicate(timeout=10)[0]
        assert b"http" not in output
        assert not file.exists()
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_that_is_there_is_not_written(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    package = write_package(tmp_path / "src" / "zoo_adapter")
    precious = tmp_path / "precious"
    precious.write_text("mine")
    file = precious
    if kind == "link":
        file = tmp_path / "link"
        file.symlink_to(precious)
    assert main(package, None, ["operator", "--address-file", str(file)]) == 1
    assert precious.read_text() == "mine"
    message = capsys.readouterr().err
    assert f"{file} is there already" in message
    assert "http://" not in message


def shown(terminal: int, number: int) -> list[str]:
    """Return the next addresses on a terminal."""
    text, deadline = "", time.monotonic() + 20
    while time.monotonic() < deadline:
        text += os.read(terminal, 4096).decode()
        addresses = re.findall(r"http://127\.0\.0\.1:\d+/#[\w-]{43}(?=\s)", text)
        if len(addresses) >= number:
            return addresses
    raise TimeoutError(text)


def entered(address: str) -> int:
    """Return the status of the answer to the key of an address."""
    import json
    import socket

    host, _, key = address.removeprefix("http://").partition("/#")
    body = json.dumps({"key": key}).encode()
    head = (
        f"POST /api/enter HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port)), timeout=10) as connection:
        connection.sendall(head.encode() + body)
        return read_answer(connection.recv(65536)).status


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_key_is_good_once_and_for_fifteen_minutes() -> None:
    clock = Clock()
    admission = Admission(clock)
    key = admission.new_key()
    assert len(key) == 43  # 256 bits
    assert admission.enter(key + "x") is None
    assert admission.enter(key) is not None
    assert admission.enter(key) is None
    late = admission.new_key()
    clock.now += 900
    assert admission.enter(late) is None


def test_a_session_ends_twelve_hours_after_its_last_use_and_not_by_being_looked_at() -> None:
    clock = Clock()
    admission = Admission(clock)
    entry = admission.enter(admission.new_key())
    assert entry is not None
    clock.now += 11 * 3600
    assert admission.admits([entry.cookie], entry.token, use=True)
    clock.now += 11 * 3600
    assert admission.admits([entry.cookie], entry.token)
    clock.now += 2 * 3600
    assert not admission.admits([entry.cookie], entry.token)


def test_there_are_eight_sessions_at_most_and_the_one_that_was_not_used_longest_goes() -> None:
    clock = Clock()
    admission = Admission(clock)
    entries = []
    for _ in range(9):
        clock.now += 1
        entries.append(admission.enter(admission.new_key()))
    live = [entry is not None and admission.admits([entry.cookie], entry.token) for entry in entries]
    assert live == [False, *[True] * 8]
