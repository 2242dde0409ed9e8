"""What an observation of the API decides, and what it leaves to structure and to the owner (R-LEARN-1)."""

from __future__ import annotations

from operations import answer, decided, operation
from test_effects import reading, sending

from aqlgen.decide.decision import Asked, Danger, Decision, Effect, EffectEvidence
from aqlgen.decide.overrides import parse
from aqlgen.ir import Operation
from tests.cases import each

SEEN = "why: 'observed 2026-11-24: the delete took it away'"


def of(write: Operation, *fields: str, others: tuple[Operation, ...] = ()) -> Decision:
    text = f"{write.key}:\n" + "".join(f"  {field}\n" for field in fields)
    return decided(write, *others, overrides=parse(text))[0]


def test_what_was_taken_back_is_no_longer_doubted_and_says_when_it_was_seen() -> None:
    """R-LEARN-1"""
    write = operation("POST /boards")
    assert decided(write)[0].asked is Asked.FIRST
    seen = of(write, "reversible: true", SEEN)
    assert (seen.asked, seen.danger) == (Asked.NEVER, Danger.REVERSIBLE)
    assert seen.evidence == (EffectEvidence("observed", "2026-11-24: the delete took it away"),)


@each(
    "write",
    [
        operation("POST /payouts", **sending("amount", "currency")),
        operation("POST /api-keys"),
        operation("POST /things", **sending("role")),
        operation("POST /outbox", **sending("to", "subject")),
        operation("POST /boards", description="It ends all sessions, which cannot be undone."),
        operation("POST /boards", extensions={"x-mcpaql-danger": "destructive"}),
        operation("POST /boards/{id}/rebuild"),
        operation("POST /boards/{id}/convert", responses=(answer("202"),)),
        operation("DELETE /boards/{id}"),
        operation("PUT /boards/{id}/permissions", **sending("title", "size")),
    ],
)
def test_no_observation_lowers_a_danger_or_settles_another_doubt(write: Operation) -> None:
    """R-LEARN-1"""
    plain = decided(write)[0]
    assert plain.asked is not Asked.NEVER
    seen = of(write, "reversible: true", "send: named", "security: []", SEEN)
    assert (seen.danger, seen.asked) == (plain.danger, plain.asked)
    assert set(plain.effects) - {Effect.UNKNOWN} <= set(seen.effects)


def test_an_observed_partial_put_is_sent_so_and_only_the_owner_ends_the_question() -> None:
    """R-LEARN-1: a server that pretends to keep fields ends no question about them."""
    write = operation("PUT /boards/{id}", **sending("title", "size"))
    other = reading("GET /boards/{name}", "title")
    plain = decided(write, other)[0]
    assert plain.danger_reason.rule == "replaces-whole"
    seen = of(write, "send: named", "why: 'observed 2026-11-24: it kept 1 field'", others=(other,))
    assert (seen.asked, seen.danger) == (plain.asked, plain.danger) == (Asked.FIRST, Danger.REVERSIBLE)
    (update,) = [trait for trait in seen.traits if trait.kind == "update"]
    assert (update.value.strategy, update.reason.rule) == ("patch", "observed")
    assert "observed 2026-11-24" in update.reason.note
    owned = of(write, "send: named", "why: we tried it", others=(other,))
    assert (owned.asked, owned.danger) == (Asked.NEVER, Danger.REVERSIBLE)


def test_what_no_observation_decides_stays_the_word_of_the_owner_in_an_observed_entry() -> None:
    """R-LEARN-1"""
    owned = of(operation("POST /api-keys"), "danger: safe", "reversible: true", SEEN)
    assert (owned.danger, owned.danger_reason.rule) == (Danger.SAFE, "override")
    assert [each.kind for each in owned.evidence] == ["structure", "structure", "observed", "owner"]
    stated = of(operation("POST /boards"), "reversible: true", "why: answered by a person")
    assert (stated.asked, stated.evidence) == (Asked.NEVER, ())
