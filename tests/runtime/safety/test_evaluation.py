from __future__ import annotations

import pytest

from aqlgen.runtime.safety.evaluation import STEP_LIMIT, Verdict, evaluate
from aqlgen.runtime.safety.executions import Profile

PROFILE = Profile(
    max_autonomous_steps=3,
    requires_approval=("delete_*", "*force*", "deploy_*", "git push*"),
    auto_approve=("read_*", "list_*", "delete_draft*"),
)


def judge(action: str, outcome: str | None = None, taken: int = 0) -> Verdict:
    return evaluate(action, outcome, taken, PROFILE)


def test_the_first_stage_that_pauses_ends_the_evaluation() -> None:
    """R-LOOP-3"""
    assert judge("delete_user 7", "failure", 3).reason == STEP_LIMIT
    assert judge("delete_user 7", "failure", 2).reason == "The previous step failed"
    assert judge("delete_user 7", "success", 2).reason == "Action requires approval"
    assert judge("write_file a", "success", 2) == Verdict(
        True, ("Step limit: step 3 of 3", "Previous outcome: success", "Pattern match: none")
    )


@pytest.mark.parametrize("outcome", ["success", "skipped", None])
def test_only_a_failure_pauses_by_its_outcome(outcome: str | None) -> None:
    """R-LOOP-3"""
    verdict = judge("write_file a", outcome)
    assert verdict.go
    assert any("outcome" in factor for factor in verdict.factors) is (outcome is not None)


def test_approval_that_is_required_wins_over_approval_in_advance() -> None:
    """R-LOOP-3"""
    assert not judge("delete_draft 7").go
    assert judge("read_file a").factors[-1] == "Pattern match: 'read_*' is approved"
    assert judge("calling delete_user").go, "a pattern is matched against the whole hint"


@pytest.mark.parametrize("action", ["DELETE_user", "  delete_user", "delete_\nuser", "\uff44elete_user", "Git  Push x"])
def test_spelling_does_not_evade_a_pattern(action: str) -> None:
    """R-LOOP-3"""
    assert not judge(action).go


def test_a_long_hint_against_a_pattern_of_many_stars_takes_no_time() -> None:
    """R-LOOP-3, R-TRUST-4"""
    profile = Profile(requires_approval=("*a" * 50 + "*b",))
    assert evaluate("a" * 4000, None, 0, profile).go
