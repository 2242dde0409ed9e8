"""Attacks on the codes by which people verify agents: guessing, reusing, reading and asking around (R-LOOP-5)."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from looped_shop import AGENT, PAY, Floor, opened

from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.tables import LoopSettings
from tests.cases import without_ids
from tests.runtime.one_store import challenge_of

pytestmark = pytest.mark.anyio
UNKNOWN = "0f8fad5b-d9cb-469f-a165-70867728950e"
PURGE: dict[str, Any] = {"operation": "purge", "params": {}}


async def challenged(floor: Floor, call: dict[str, Any] = PURGE, agent: str = AGENT, **where: Any) -> str:
    """Return the challenge of an agent that reports a grave call."""
    await floor.start(agent, **where)
    return challenge_of(await floor.report(call, agent=agent, **where))


async def code_of(floor: Floor, challenge: str) -> str:
    """Return the code that the operator is shown."""
    code = await floor.desk.reveal(challenge)
    assert code is not None
    return code


WRONG: dict[str, Callable[[str, str], Any]] = {
    "nothing": lambda code, _: "",
    "a blank": lambda code, _: " ",
    "a hyphen": lambda code, _: "-",
    "any": lambda code, _: "*",
    "like": lambda code, _: "%",
    "a query": lambda code, _: "' OR 1=1 --",
    "a null": lambda code, _: None,
    "true": lambda code, _: True,
    "zero": lambda code, _: 0,
    "a list of it": lambda code, _: [code],
    "an object of it": lambda code, _: {"code": code},
    "a reference": lambda code, _: {"$ref": "code"},
    "its first half": lambda code, _: code[: len(code) // 2],
    "without its first letter": lambda code, _: code[1:],
    "without its last letter": lambda code, _: code[:-1],
    "a letter more": lambda code, _: code + "A",
    "twice": lambda code, _: code + code,
    "backwards": lambda code, _: code[::-1],
    "the last letter changed": lambda code, _: code[:-1] + ("A" if code[-1] != "A" else "B"),
    "the first letter changed": lambda code, _: ("A" if code[0] != "A" else "B") + code[1:],
    "fullwidth": lambda code, _: "".join(chr(ord(c) + 0xFEE0) if c != "-" else c for c in code),
    "an invisible letter": lambda code, _: code + "\u200b",
    "a byte order mark": lambda code, _: "\ufeff" + code,
    "a null character": lambda code, _: code + "\x00",
    "other dashes": lambda code, _: code.replace("-", "\u2010"),
    "dots": lambda code, _: code.replace("-", "."),
    "its digest": lambda code, _: hashlib.sha256(code.encode()).hexdigest(),
    "the challenge": lambda _, challenge: challenge,
    "the challenge's letters": lambda _, challenge: challenge.replace("-", "").upper()[:32],
    "much": lambda code, _: "A" * 100_000,
    "blanks": lambda code, _: " " * 199,
}


@pytest.mark.parametrize("attempt", WRONG)
@pytest.mark.parametrize("call", [PURGE, PAY], ids=["block", "pause"])
async def test_nothing_but_the_code_is_the_code(floor: Floor, attempt: str, call: dict[str, Any]) -> None:
    """R-LOOP-5; specification, 8.8.2"""
    floor.open(free=False)
    challenge = await challenged(floor, call)
    code = await code_of(floor, challenge)
    answer = await floor.do("verify_challenge", challenge_id=challenge, code=WRONG[attempt](code, challenge))
    assert not answer["success"]
    assert code not in json.dumps(answer)
    assert not (await floor.report(call))["continue"]
    assert not (await floor.send(call))["success"]
    assert floor.written == []


IDS: dict[str, Callable[[str], Any]] = {
    "unknown": lambda _: UNKNOWN,
    "capitals": lambda known: known.upper(),
    "a blank behind": lambda known: known + " ",
    "a blank before": lambda known: " " + known,
    "braces": lambda known: f"{{{known}}}",
    "no hyphens": lambda known: known.replace("-", ""),
    "a urn": lambda known: f"urn:uuid:{known}"[:64],
    "nothing": lambda _: "",
    "a list": lambda known: [known],
    "null": lambda _: None,
    "a path": lambda known: f"../{known}",
    "an invisible letter": lambda known: known + "\u200b",
    "all": lambda _: "*",
    "its digest": lambda known: hashlib.sha256(known.encode()).hexdigest()[:32],
}


@pytest.mark.parametrize("attempt", IDS)
async def test_a_code_is_of_its_challenge(floor: Floor, attempt: str) -> None:
    """R-LOOP-5: and is not used up by the name of another."""
    floor.open(free=False)
    challenge = await challenged(floor)
    code = await code_of(floor, challenge)
    assert not (await floor.do("verify_challenge", challenge_id=IDS[attempt](challenge), code=code))["success"]
    assert (await floor.do("verify_challenge", challenge_id=challenge, code=code))["success"]
    assert not (await floor.do("verify_challenge", challenge_id=challenge, code=code))["success"]


@pytest.mark.parametrize("second", ["revealed again", "tried before", "of another agent", "after the unblock"])
async def test_a_code_is_good_for_one_try_at_its_own_challenge(floor: Floor, second: str) -> None:
    """R-LOOP-5"""
    floor.open(free=False)
    challenge = await challenged(floor)
    code = await code_of(floor, challenge)
    if second == "revealed again":
        await code_of(floor, challenge)
    elif second == "tried before":
        await floor.do("verify_challenge", challenge_id=challenge, code="x")
    elif second == "of another agent":
        other = await floor.desk.challenges()
        floor.session, floor.caller = Session(), "bert"
        code = await code_of(floor, await challenged(floor, agent="helper"))
        floor.session, floor.caller = Session.new(), None
        assert len(other) == 1
    else:
        (block,) = await floor.board.blocks()
        assert await floor.board.unblock(block.id)
    assert not (await floor.do("verify_challenge", challenge_id=challenge, code=code))["success"]
    assert not (await floor.send(PURGE))["success"]


async def test_of_a_hundred_who_send_the_code_at_two_processes_one_is_verified(floor: Floor) -> None:
    """R-LOOP-5: and of ten failures a minute none is more than ten."""
    shops = [floor.open(free=False), floor.open(free=False)]
    challenge = await challenged(floor)
    code = await code_of(floor, challenge)
    answers: list[bool] = []

    async def attempt(number: int) -> None:
        verify = {"operation": "verify_challenge", "params": {"challenge_id": challenge, "code": code}}
        answers.append((await floor.send(verify, form="alone", shop=shops[number % 2]))["success"])

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(attempt, number)
    assert answers.count(True) == 1


@pytest.mark.parametrize("change", ["deleted", "garbage", "of another", "replayed", "an older code"])
async def test_a_challenge_that_was_tampered_with_is_not_met(tmp_path: Path, change: str) -> None:
    """R-LOOP-5, R-OPS-3: in the store, by somebody without the key; a block put back holds again."""
    async with opened(tmp_path, keys=("k" * 40,)) as floor:
        floor.session, floor.caller = Session(), "anna"
        floor.open(free=False)
        challenge = await challenged(floor)
        old_code = await code_of(floor, challenge)
        store = floor.state().shared.store
        (name, old), (block_name, block) = [(await store.items(kind))[0] for kind in ("challenge", "loop.block")]
        code = await code_of(floor, challenge)
        if change == "deleted":
            await store.take("challenge", name)
        elif change == "garbage":
            await store.put("challenge", name, "A" * 200, 300)
        elif change == "of another":
            floor.caller = "bert"
            code = await code_of(floor, await challenged(floor, agent="helper"))
            floor.caller = "anna"
            (other,) = [text for key, text in await store.items("challenge") if key != name]
            await store.put("challenge", name, other, 300)
        elif change == "replayed":
            assert (await floor.do("verify_challenge", challenge_id=challenge, code=code))["success"]
            await store.put("loop.block", block_name, block, 300)
        else:
            code = old_code
        assert old != code
        assert not (await floor.do("verify_challenge", challenge_id=challenge, code=code))["success"]
        assert (await floor.report(PURGE))["stopped"]
        assert not (await floor.send(PURGE))["success"]
        assert floor.written == []


EVASIONS = ["the same", "another session", "another process", "batches", "at once", "no session", "after a new block"]


@pytest.mark.parametrize("way", EVASIONS)
async def test_ten_guesses_a_minute_are_looked_at_however_they_come(floor: Floor, way: str) -> None:
    """R-LOOP-5; specification, 8.8.5: the eleventh is refused though it is right."""
    floor.open(free=False)
    challenge = await challenged(floor)
    guess = {"operation": "verify_challenge", "params": {"challenge_id": challenge, "code": "x"}}

    async def attempt(number: int = 0) -> None:
        if way == "another session":
            floor.session = Session.new()
        elif way == "another process" and number % 5 == 0:
            floor.open(free=False)
        elif way == "no session":
            floor.session = Session()
        elif way == "after a new block" and number == 5:
            await floor.step("rm -rf /")
        await floor.send(guess, form="alone")

    if way == "batches":
        await floor.send({"operations": [guess] * 30})
    elif way == "at once":
        async with anyio.create_task_group() as group:
            for number in range(60):
                group.start_soon(attempt, number)
    else:
        for number in range(14):
            await attempt(number)
    code = await code_of(floor, challenge)
    answer = await floor.do("verify_challenge", challenge_id=challenge, code=code)
    assert answer["error"]["code"] == "RATE_LIMIT_EXCEEDED"
    events = [event["event"] for event in floor.shop.events()]
    assert events.count("VERIFICATION_FAILED") == 10
    assert "VERIFICATION_LOCKED" in events
    (block,) = await floor.board.blocks()
    assert await floor.board.unblock(block.id), "an operator still can"


async def test_every_refusal_is_the_same(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-LOOP-5: unknown, another caller's, not shown, wrong, used, shown again, expired; and so is the lockout."""
    floor.open(free=False)
    floor.session, floor.caller = Session(), "bert"
    theirs = await challenged(floor)
    their_code = await code_of(floor, theirs)
    floor.caller = "anna"
    challenge = await challenged(floor)

    async def answer(known: str, code: str) -> str:
        return json.dumps(without_ids(await floor.do("verify_challenge", challenge_id=known, code=code)))

    answers = [await answer(UNKNOWN, "x"), await answer(theirs, their_code), await answer(challenge, "x")]
    code = await code_of(floor, challenge)
    answers += [await answer(challenge, "x"), await answer(challenge, code)]
    await code_of(floor, challenge)
    answers.append(await answer(challenge, code))
    shown, now = await code_of(floor, challenge), time.time()
    monkeypatch.setattr(time, "time", lambda: now + 301)
    answers += [await answer(challenge, shown), await answer("x", "y" * 200)]
    assert len(set(answers)) == 1
    assert challenge not in answers[0]
    assert theirs not in answers[0]
    for _ in range(12):
        locked = [await answer(known, "x") for known in (UNKNOWN, challenge, theirs)]
    assert len(set(locked)) == 1
    assert "RATE_LIMIT_EXCEEDED" in locked[0]


@pytest.mark.parametrize("way", ["code", "operator", "renewed"])
@pytest.mark.parametrize("keys", [(), ("k" * 40,)], ids=["no keys", "keys"])
async def test_no_code_is_in_anything_that_is_kept_answered_or_written(
    tmp_path: Path, way: str, keys: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    """R-LOOP-5; specification, 8.8.4: envelopes, audit log, state file and its journal, output, introspection."""
    async with opened(tmp_path, keys=keys) as floor:
        floor.open(free=False, log_level="debug", loop=LoopSettings(challenge_ttl=300))
        challenge, seen = await challenged(floor), []
        codes = [await code_of(floor, challenge) for _ in range(3)]
        digests = [item.digest for item in await floor.desk.challenges()]
        files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        for query in ("operations", "types"):
            seen.append(await floor.do("introspect", query=query))
        seen += [await floor.report(PURGE), await floor.send(PURGE), await floor.start("another")]
        if way == "code":
            seen.append(await floor.do("verify_challenge", challenge_id=challenge, code=codes[0]))
            codes.append(await code_of(floor, challenge))
            seen.append(await floor.do("verify_challenge", challenge_id=challenge, code=codes[-1]))
            assert seen[-1]["success"]
        elif way == "operator":
            (block,) = await floor.board.blocks()
            assert await floor.board.unblock(block.id)
        seen += [await floor.report(PURGE), await floor.step("reading")]
        await floor.close()
        files += b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        output = capfd.readouterr()
        everything = files + json.dumps(seen).encode() + output.out.encode() + output.err.encode()
        for code in codes:
            plain = code.replace("-", "")
            for text in (code, plain, code.lower(), plain.lower(), hashlib.sha256(plain.encode()).hexdigest()):
                assert text.encode() not in everything
        for digest in digests:
            assert digest
            assert digest.encode() not in everything


@pytest.mark.parametrize("name", [AGENT, "helper", "\u0433esearcher", "", "researcher\u200b"])
async def test_no_name_and_no_token_stands_for_a_code(floor: Floor, name: str) -> None:
    """R-LOOP-5: confirm_operation lifts no block and no verification, whoever sends it."""
    floor.open(free=False)
    challenge = await challenged(floor)
    code = await code_of(floor, challenge)
    assert not (await floor.do("confirm_operation", element_name=name))["success"]
    for token in (challenge, code, f"conf_{code}"):
        assert not (await floor.do("confirm_operation", confirmation_token=token))["success"]
        assert not (await floor.do("confirm_operation", element_name=name, confirmation_token=token))["success"]
        assert not (await floor.do("confirm_operation", element_name=name, code=code))["success"]
    assert not (await floor.report(PURGE))["continue"]
    assert len(await floor.board.blocks()) == 1
