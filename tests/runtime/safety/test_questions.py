"""Questions: what processes share, and decide once (R-OPS-1, R-LOOP-5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from aqlgen.runtime.safety.questions import Question, QuestionStore
from aqlgen.runtime.state.custody import State, open_store

pytestmark = pytest.mark.anyio
DIGEST = "ab" * 32


class Clock:
    def __init__(self) -> None:
        self.now = 1_900_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def desks(tmp_path: Path, clock: Clock) -> AsyncIterator[tuple[QuestionStore, QuestionStore]]:
    """Open the adapter's side and the operator's, as two processes do."""
    states = [State(open_store(f"sqlite:///{tmp_path}/s.sqlite3", "zoo", {}), "zoo") for _ in range(2)]
    yield QuestionStore(states[0].shared, clock), QuestionStore(states[1].shared, clock)
    for state in states:
        await state.close()


async def matter(desk: QuestionStore, clock: Clock, **more: object) -> Question:
    about = Question(
        await desk.id_of(DIGEST), "call", "Delete it?", "Delete it?\nAll of it", ("delete",), "destructive",
        clock.now, clock.now + 300, digest=DIGEST,
    )  # fmt: skip
    return replace(about, **more)  # type: ignore[arg-type]


async def test_the_same_call_is_the_same_matter_at_every_process(
    desks: tuple[QuestionStore, QuestionStore], tmp_path: Path
) -> None:
    """R-OPS-1: and of another adapter's key another one."""
    ids = {await desk.id_of(DIGEST) for desk in desks}
    assert len(ids) == 1
    other = State(open_store(f"sqlite:///{tmp_path}/other.sqlite3", "zoo", {}), "zoo")
    assert await QuestionStore(other.shared).id_of(DIGEST) not in ids
    await other.close()


async def test_a_matter_asked_again_keeps_its_time_and_its_verdict(
    desks: tuple[QuestionStore, QuestionStore], clock: Clock
) -> None:
    """R-OPS-1"""
    adapter, operator = desks
    first = await matter(adapter, clock)
    await adapter.ask(first)
    clock.now += 200
    await adapter.ask(await matter(adapter, clock))
    (kept,) = await operator.questions()
    assert (kept.asked, kept.expires) == (first.asked, clock.now + 300)
    assert await operator.decide(kept.id, "denied", "operator:ada")
    await adapter.ask(await matter(adapter, clock))
    decided = await adapter.question(kept.id)
    assert decided is not None
    assert (decided.verdict, decided.by) == ("denied", "operator:ada")
    clock.now = decided.expires
    assert await adapter.question(kept.id) is None
    assert not await operator.decide(kept.id, "approved", "operator:ada")


@pytest.mark.parametrize(("danger", "holds"), [("destructive", 300), ("forbidden", 120)])
async def test_a_decision_holds_long_enough_to_come_back_for_it(
    desks: tuple[QuestionStore, QuestionStore], clock: Clock, danger: str, holds: int
) -> None:
    """R-OPS-1"""
    adapter, operator = desks
    about = await matter(adapter, clock, danger=danger, expires=clock.now + 60)
    await adapter.ask(about)
    clock.now += 59
    assert await operator.decide(about.id, "approved", "operator:ada")
    clock.now += holds - 1
    assert await adapter.use(about.id, DIGEST) is not None


async def test_of_operators_who_race_one_decides(desks: tuple[QuestionStore, QuestionStore], clock: Clock) -> None:
    """R-OPS-1"""
    adapter, _ = desks
    about = await matter(adapter, clock)
    await adapter.ask(about)
    decided: list[bool] = []

    async def decide(number: int) -> None:
        verdict = "approved" if number % 2 else "denied"
        decided.append(await desks[number % 2].decide(about.id, verdict, f"operator:{number}"))  # type: ignore[arg-type]

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(decide, number)
    assert decided.count(True) == 1


async def test_a_token_that_confirms_permits_once_until_its_end_and_an_operator_may_still_deny(
    desks: tuple[QuestionStore, QuestionStore], clock: Clock
) -> None:
    """R-SAFE-3: one row for all who say yes; a no comes before all of them."""
    adapter, operator = desks
    about = await matter(adapter, clock)
    await adapter.ask(about)
    for seconds, permits in ((60, True), (0, False)):
        assert await adapter.confirm(about.id, "ticket", clock.now + 60, "conf_…")
        clock.now += 61 - seconds
        assert bool(await adapter.use(about.id, DIGEST)) is permits
        assert await adapter.use(about.id, DIGEST) is None
        await adapter.ask(await matter(adapter, clock))
    assert await operator.decide(about.id, "denied", "operator:ada")
    assert not await adapter.confirm(about.id, "ticket", clock.now + 60, "conf_…")
    assert await adapter.use(about.id, DIGEST) is None


async def test_an_approval_for_a_session_ends(desks: tuple[QuestionStore, QuestionStore], clock: Clock) -> None:
    """R-SAFE-4"""
    adapter, operator = desks
    approval = await matter(adapter, clock, id="a1", kind="session", verdict="approved", expires=clock.now + 60)
    await adapter.keep(approval)
    assert await operator.approvals() == [approval]
    clock.now += 60
    assert await adapter.use("a1", DIGEST) is None
    assert await operator.approvals() == []
    assert not await operator.revoke("a1")
