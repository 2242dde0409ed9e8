"""Out-of-band verification: a person's code, which no agent sees, lifts a pause or a block (specification, 8.8)."""

from __future__ import annotations

import re
from typing import Any

import anyio
import pytest
from looping import ADA, AGENT, House, Human, connected

from aqlgen.runtime.hooks import Hooks, Refuse, Step, StepVerdict
from aqlgen.runtime.safety.loop.verification import Tries
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.tables import LoopSettings
from aqlgen.runtime.state.custody import Custody
from aqlgen.runtime.state.sqlite import SqliteState, SqliteStore
from tests.runtime.one_store import challenge_of

pytestmark = pytest.mark.anyio
BY_ERA = pytest.mark.parametrize("era", ["auto", "legacy"])
FORCE = "git push --force"
UNKNOWN = "0f8fad5b-d9cb-469f-a165-70867728950e"


@BY_ERA
async def test_the_tier_verify_pauses_until_a_person_gives_the_code(house: House, era: str) -> None:
    """R-LOOP-5; specification, 8.7.3, 8.8.1 to 8.8.3"""
    async with connected(house.adapter(), era) as agent:
        await agent.start()
        directive = await agent.step(FORCE)
        assert (directive["continue"], directive.get("stopped"), directive["nextStepRisk"]) == (False, None, "verify")
        (note,) = directive["notifications"]
        assert (note["type"], note["metadata"]["verificationId"]) == ("autonomy_pause", challenge_of(directive))
        assert (await agent.step("reading")).get("stopped") is None, "it waits, and is not blocked"
        waiting = await agent.step("reading")
        assert not waiting["continue"]
        assert challenge_of(directive) in waiting["reason"]
        refused = await agent.error("confirm_operation", element_name=AGENT)
        assert "verify_challenge" in refused["message"]
        code = await house.code(challenge_of(directive))
        verified = await agent.data("verify_challenge", challenge_id=challenge_of(directive), code=code)
        assert (verified["element_name"], verified["verified"]) == (AGENT, True)
        assert (await agent.step(FORCE))["factors"] == ["Verified by a person"]
        assert not (await agent.step(FORCE))["continue"], "once"
        assert await house.desk.challenges() != []


@BY_ERA
async def test_a_blocked_agent_is_verified_by_a_person_and_goes_on(house: House, era: str) -> None:
    """R-LOOP-4, R-LOOP-5: after a restart, and the code is nowhere that the agent can read."""
    async with connected(house.adapter(), era) as agent:
        await agent.start()
        directive = await agent.step("rm -rf /")
    async with connected(house.adapter(), era) as again:
        stopped = await again.step("reading")
        assert challenge_of(stopped) == challenge_of(directive)
        code = await house.code(challenge_of(stopped))
        await again.data("verify_challenge", challenge_id=challenge_of(stopped), code=code.lower().replace("-", " "))
        assert await house.board.blocks() == []
        await again.start()
        assert (await again.report("create_animal", **ADA))["granted"]
        assert (await again.call("create_animal", **ADA))["success"]
        seen = [*agent.seen, *[text for text in again.seen if code.lower().replace("-", " ") not in text]]
    assert len(seen) == len(agent.seen) + len(again.seen)
    written = b"".join(path.read_bytes() for path in house.audit.parent.rglob("*") if path.is_file())
    for spelled in (code, code.replace("-", ""), code.lower()):
        assert spelled not in "".join(seen)
        assert spelled.encode() not in written
    assert b"VERIFICATION_SUCCEEDED" in written


async def test_a_code_has_at_least_128_bits_and_is_another_each_time(house: House) -> None:
    """R-LOOP-5; specification, 8.8.2"""
    async with connected(house.adapter()) as agent:
        await agent.start()
        challenge = challenge_of(await agent.step(FORCE))
    codes = {await house.code(challenge) for _ in range(5)}
    assert len(codes) == 5
    assert all(len(re.sub(r"[^A-Z2-9]", "", code)) * 5 >= 128 for code in codes)


async def test_an_expired_challenge_ends_the_pause_and_the_action_is_judged_anew(
    house: House, monkeypatch: Any
) -> None:
    """R-LOOP-5; specification, 8.8.2, 8.8.3: five minutes; a block gets another challenge."""
    import time

    now = time.time()
    shift = 0.0
    monkeypatch.setattr("time.time", lambda: now + shift)
    dispatcher = house.adapter()
    async with connected(dispatcher) as agent, connected(dispatcher) as other:
        await agent.start()
        await other.start("other")
        first = challenge_of(await agent.step(FORCE))
        code = await house.code(first)
        block = challenge_of(await other.step("rm -rf /", by="other"))
        shift = 301.0
        assert (await agent.error("verify_challenge", challenge_id=first, code=code))["code"] == "PERMISSION_DENIED"
        assert (await agent.step("reading"))["continue"]
        second = challenge_of(await agent.step(FORCE))
        assert second != first
        renewed = await other.step("reading", by="other")
        assert renewed["stopped"]
        ids = {note["metadata"]["verificationId"] for note in renewed["notifications"]}
        assert block not in ids
        (standing,) = await house.board.blocks()
        await other.data(
            "verify_challenge", challenge_id=standing.verification, code=await house.code(standing.verification)
        )
        assert (await other.step("rm -rf /", by="other"))["factors"] == ["Verified by a person"]


@BY_ERA
async def test_a_person_types_the_code_into_a_form_that_the_agent_does_not_see(house: House, era: str) -> None:
    """R-LOOP-5"""
    human = Human()
    async with connected(house.adapter(), era, human) as agent:
        await agent.start()
        challenge = challenge_of(await agent.step(FORCE))
        human.types = await house.code(challenge)
        await agent.data("verify_challenge", challenge_id=challenge)
        assert challenge in human.asked[-1]
        assert human.types not in "".join(agent.seen)
        assert (await agent.step(FORCE))["continue"]
        again = challenge_of(await agent.step(FORCE))
        human.says = False
        assert (await agent.error("verify_challenge", challenge_id=again))["code"] == "PERMISSION_DENIED"


async def test_without_a_form_the_code_is_a_parameter(house: House) -> None:
    """R-LOOP-5"""
    async with connected(house.adapter()) as agent:
        await agent.start()
        challenge = challenge_of(await agent.step(FORCE))
        assert (await agent.error("verify_challenge", challenge_id=challenge))["code"] == "VALIDATION_MISSING_PARAM"


async def test_the_lockout_doubles_and_of_many_tries_at_once_ten_are_taken() -> None:
    """R-LOOP-5; specification, 8.8.5"""
    now = [1000.0]
    custody = Custody(SqliteStore(SqliteState(None)), "zoo")
    tries, locks = Tries(custody, lambda: now[0]), []
    taken: list[bool] = []

    async def attempt() -> None:
        taken.append(await tries.begin("agent") == 0)

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(attempt)
    assert taken.count(True) == 10
    for _ in range(4):
        locks.append(await tries.locked("agent"))
        now[0] += locks[-1]
        for _ in range(10):
            assert await tries.begin("agent") == 0
    assert locks == [60, 120, 240, 480]
    assert await tries.begin("another") == 0
    await tries.succeeded("agent")
    assert await tries.locked("agent") == 0


async def test_a_verification_is_good_once_also_where_several_sessions_have_inherited_the_pause(house: House) -> None:
    """R-LOOP-5"""
    dispatcher = house.adapter()
    sessions = [Session.new(), Session.new()]

    async def call(session: Session, operation: str, **params: Any) -> Any:
        return (await dispatcher.handle(None, {"operation": operation, "params": params}, session))["data"]

    action = {"element_name": AGENT, "nextActionHint": FORCE}
    await call(sessions[0], "execute_agent", element_name=AGENT)
    challenge = challenge_of(await call(sessions[0], "record_execution_step", **action))
    await call(sessions[1], "execute_agent", element_name=AGENT)
    assert challenge_of(await call(sessions[1], "record_execution_step", **action)) == challenge
    code = await house.code(challenge)
    await call(sessions[1], "verify_challenge", challenge_id=challenge, code=code)
    taken = [(await call(session, "record_execution_step", **action))["continue"] for session in sessions]
    assert taken == [True, False]


async def test_a_verified_action_is_let_through_as_it_was_reported(house: House) -> None:
    """R-LOOP-5: other parameters under the same words are another action."""
    loop = LoopSettings(deny=("delete_*",))
    async with connected(house.adapter(loop=loop)) as agent:
        await agent.start()
        challenge = challenge_of(await agent.report("delete_animal", "tidying up", animal_id=7))
        await agent.data("verify_challenge", challenge_id=challenge, code=await house.code(challenge))
        other = await agent.report("delete_animal", "tidying up", animal_id=8)
        assert other["stopped"]
        challenge = challenge_of(other)
        await agent.data("verify_challenge", challenge_id=challenge, code=await house.code(challenge))
        assert (await agent.report("delete_animal", "tidying up", animal_id=8))["granted"]
        assert (await agent.call("delete_animal", animal_id=8))["success"]
        assert len(house.api.sent) == 1


# The owner's hook


async def test_a_hook_sees_every_verdict_and_may_tighten_relax_and_refuse(house: House) -> None:
    """R-LOOP-6: with the risk and its factors."""
    seen: list[tuple[str, int, str | None]] = []

    async def on_step(verdict: StepVerdict, step: Step) -> StepVerdict | None:
        seen.append((verdict.outcome, verdict.risk, step.operation))
        if step.operation == "create_animal":
            return verdict._replace(outcome="verify", reason="the zoo is full")
        if step.action == "rm -rf build":
            return verdict._replace(outcome="continue", factors=(*verdict.factors, "the owner allows it"))
        if "never" in step.action:
            raise Refuse("never")
        return None

    async with connected(house.adapter(Hooks(on_step=on_step))) as agent:
        await agent.start()
        relaxed = await agent.step("rm -rf build")
        assert (relaxed["continue"], relaxed["factors"][-1]) == (True, "the owner allows it")
        assert (await agent.error("record_execution_step", element_name=AGENT, nextActionHint="never"))["code"]
        tightened = await agent.report("create_animal", **ADA)
        assert tightened["reason"].startswith("the zoo is full")
        assert challenge_of(tightened)
    assert seen == [("block", 90, None), ("continue", 20, None), ("continue", 20, "create_animal")]
    assert await house.board.blocks() == []


async def test_a_broken_hook_lets_nothing_through(house: House) -> None:
    """R-LOOP-6"""

    def on_step(verdict: StepVerdict, _: Step) -> Any:
        return verdict._replace(outcome="perhaps")  # type: ignore[arg-type]

    async with connected(house.adapter(Hooks(on_step=on_step))) as agent:
        await agent.start()
        envelope = await agent.call(
            "record_execution_step",
            element_name=AGENT,
            nextActionHint="x",
            nextOperation="create_animal",
            nextParams=ADA,
        )
        assert envelope["error"]["code"] == "INTERNAL_ERROR"
        assert not (await agent.call("create_animal", **ADA))["success"]
