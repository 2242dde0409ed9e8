"""An API that fails in every way: each call ends in time with the right envelope, and gives no credential away."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from time import monotonic
from typing import Any

import faulty
import pytest
from faulty import FAULTS, FINE, INTERNAL, SECRET, VARIABLE

from aqlgen.runtime.assembly import assemble

TIMEOUT, SLACK = 2.0, 4.0
PATIENT = 20.0
"""The time-out where an answer is expected: it must not end what a busy machine is slow to do."""


WORDS = {"refused": "was refused", "truncated": "broke", "endless_redirect": "redirected"}


class Outcome:
    """The envelope of a call, and how long the call took."""

    def __init__(self, envelope: dict[str, Any], seconds: float) -> None:
        self.envelope = envelope
        self.seconds = seconds
        self.code = FINE if envelope["success"] else envelope["error"]["code"]


def timeout_of(name: str) -> float:
    waits = name == "endless_events" or (FAULTS[name].expected == INTERNAL and name not in WORDS)
    return TIMEOUT if waits else PATIENT


Run = tuple[dict[str, Outcome], dict[str, int]]


async def call_all(folder: Path) -> dict[str, Outcome]:
    """Call every operation, each through an adapter of its own: limits of one fault are not another's."""
    environ = {
        VARIABLE: SECRET,
        "MCP_AQL_STATE_URL": "memory:",
        "MCP_AQL_LOG_LEVEL": "debug",
        "MCP_AQL_MAX_RESPONSE_SIZE": str(1 << 20),
    }

    async def call(name: str) -> Outcome:
        parts = assemble(folder, environ={**environ, "MCP_AQL_TIMEOUT": str(timeout_of(name))})
        begin = monotonic()
        try:
            envelope = await parts.dispatcher.handle(None, {"operation": name, "params": {}})
        finally:
            seconds = monotonic() - begin
            await parts.transport.aclose()
        return Outcome(envelope, seconds)

    names = [name for name in FAULTS if name != "tls_invalid" or (folder.parent / "both.pem").exists()]
    gate = asyncio.Semaphore(12)

    async def limited(name: str) -> Outcome:
        async with gate:
            return await call(name)

    return dict(zip(names, await asyncio.gather(*map(limited, names)), strict=True))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("faulty")
    with faulty.serving(folder) as seen:
        outcomes = asyncio.run(call_all(folder / "faulty_adapter"))
    return outcomes, seen


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_ends_in_time_with_the_right_envelope(run: Run, name: str) -> None:
    """R-ERR-2, R-ENV-3."""
    outcomes, seen = run
    if name not in outcomes:
        pytest.skip("openssl makes the certificate, and is missing")
    outcome = outcomes[name]
    assert outcome.code == FAULTS[name].expected, outcome.envelope
    assert WORDS.get(name, "") in outcome.envelope.get("error", {}).get("message", "")
    assert outcome.seconds < timeout_of(name) + SLACK
    assert seen.get(name, 0) <= FAULTS[name].most
    if outcome.code == "RATE_LIMIT_EXCEEDED":
        assert outcome.envelope["error"]["details"]["retry_after_seconds"] > 0


def test_no_credential_is_given_away(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    """R-ENV-4."""
    outcomes, _ = run
    written = capfd.readouterr()
    output = json.dumps({name: outcome.envelope for name, outcome in outcomes.items()}) + written.out + written.err
    leaking = [name for name, outcome in outcomes.items() if SECRET in json.dumps(outcome.envelope)]
    assert leaking == []
    assert SECRET not in output
    assert "Authorization: ***" in str(outcomes["echo"].envelope)
    assert "authorization" not in str(outcomes["redirect_to_another_host"].envelope).lower()
    assert not any(trace in output for trace in ("Traceback", "httpx", "/runtime/"))


def test_a_stream_without_an_end_gives_what_came_and_says_so(run: Run) -> None:
    envelope = run[0]["endless_events"].envelope
    assert envelope["data"][0] == {"data": {}}
    assert "VALIDATION_TRUNCATED_WARNING" in [warning["code"] for warning in envelope["warnings"]]


@pytest.mark.parametrize("name", ["html", "html_as_json", "deep_json", "not_utf8"])
def test_a_success_that_is_not_as_promised_gives_its_text_and_says_so(run: Run, name: str) -> None:
    """R-ERR-2."""
    envelope = run[0][name].envelope
    assert isinstance(envelope["data"], str)
    assert "VALIDATION_UNEXPECTED_CONTENT_WARNING" in [warning["code"] for warning in envelope["warnings"]]


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.expected == INTERNAL])
def test_a_failure_without_an_answer_says_what_is_known_of_a_write_alone(run: Run, name: str) -> None:
    """R-ERR-2."""
    if name not in run[0]:
        pytest.skip("openssl makes the certificate, and is missing")
    error = run[0][name].envelope["error"]
    outcome = error.get("details", {}).get("outcome")
    assert (outcome is not None) == (FAULTS[name].method != "GET")
    assert ("may have been carried out" in error["message"]) == (outcome == "unknown")
    assert ("Nothing was sent" in error["message"]) == (outcome == "not_performed")
