"""The audit log is a chain: no entry is changed, taken out or put in unseen (R-SAFE-5)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aqlgen.runtime.cli import main
from aqlgen.runtime.cli.audit import audit_verdict
from aqlgen.runtime.errors import CommandError
from aqlgen.runtime.safety.audit import Audit, Chain, chained_files, verify

ROOT = Path(__file__).parents[3]


def filled(path: Path, entries: int = 6) -> list[str]:
    audit = Audit(path)
    for number in range(entries):
        audit.write("OPERATION_PERFORMED", number=number, text='"}, "hash":"')
    return path.read_text().splitlines()


def test_a_log_that_was_left_alone_is_whole(tmp_path: Path) -> None:
    """R-SAFE-5"""
    path = tmp_path / "new" / "audit.jsonl"
    lines = filled(path)
    verdict = verify(path)
    assert (verdict.entries, verdict.problem, verdict.last) == (6, "", json.loads(lines[-1])["hash"])
    assert verify(path, json.loads(lines[2])["hash"]).problem == ""
    assert verify(tmp_path / "none").entries == 0


def test_the_chain_goes_on_over_files_and_only_the_latest_stay(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    chain = Chain(path, max_size=700)
    for number in range(12):
        chain.append(json.dumps({"number": number}).encode())
    files = chained_files(path)
    assert len(files) > 3
    assert all(file.stat().st_size < 1200 for file in files)
    numbers = [json.loads(line).get("number") for file in files for line in file.read_text().splitlines()]
    assert [number for number in numbers if number is not None] == list(range(12))
    assert verify(path).problem == ""
    latest = path.read_bytes()
    path.unlink()
    assert "missing" in verify(path).problem
    path.write_bytes(latest)
    files[1].unlink()
    assert "missing" in verify(path).problem
    files[0].unlink()
    verdict = verify(path)
    assert (verdict.problem, verdict.goes_on) == ("", True)


def test_threads_and_processes_write_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path\nfrom aqlgen.runtime.safety.audit import Chain\n"
        f"chain = Chain(Path({str(path)!r}), max_size=4000)\n"
        'for number in range(50): chain.append(b\'{"of":"another"}\')\n'
    )
    other = subprocess.Popen([sys.executable, "-c", program])
    chain = Chain(path, max_size=4000)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: chain.append(b'{"number":%d}' % number), range(100)))
    assert other.wait(60) == 0
    verdict = verify(path)
    assert verdict.problem == ""
    assert verdict.entries == 150 + len(chained_files(path)) - 1


def test_what_no_chain_can_show_is_said(tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-SAFE-5: entries that were cut off at the end, and files that were removed at the start."""
    path = tmp_path / "audit.jsonl"
    monkeypatch.setenv("MCP_AQL_AUDIT_PATH", str(path))
    chain = Chain(path, max_size=300)
    for number in range(4):
        chain.append(json.dumps({"number": number}).encode())
    assert "continues an earlier file" not in audit_verdict(package, os.environ)
    chained_files(path)[0].unlink()
    shown = audit_verdict(package, os.environ)
    assert "It continues an earlier file that was deleted" in shown
    assert "That no entries are missing at the end is not shown" in shown
    assert "is not shown" not in audit_verdict(package, os.environ, shown.rpartition(" ")[2])


@pytest.mark.parametrize("content", [None, ""])
def test_a_log_that_was_removed_is_not_whole(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    """R-SAFE-5: it looks as one that nothing was written to yet."""
    path = tmp_path / "audit.jsonl"
    monkeypatch.setenv("MCP_AQL_AUDIT_PATH", str(path))
    if content is not None:
        path.write_text(content)
    with pytest.raises(CommandError, match="has no entries"):
        audit_verdict(package, os.environ)


def test_a_person_verifies_it_and_reads_its_end(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "audit.jsonl"
    monkeypatch.setenv("MCP_AQL_AUDIT_PATH", str(path))
    lines = filled(path)
    last = json.loads(lines[-1])["hash"]
    assert main(package, arguments=["audit", "verify"]) == 0
    shown = capsys.readouterr().out
    assert "is whole: 6 entries in 1 file" in shown
    assert last in shown
    assert main(package, arguments=["audit", "verify", "--last", last]) == 0
    assert main(package, arguments=["audit", "tail", "--lines", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == lines[-2:]
    path.write_text("".join(f"{line}\n" for line in lines[:-1]))
    assert main(package, arguments=["audit", "verify"]) == 0, "nobody kept the last hash"
    assert main(package, arguments=["audit", "verify", "--last", last]) == 1
    assert "entries were removed" in capsys.readouterr().err
    path.write_text("".join(f"{line}\n" for line in [*lines[:2], lines[3]]))
    assert main(package, arguments=["audit", "verify"]) == 1
    assert "audit.jsonl, line 3" in capsys.readouterr().err
