"""The effects of one operation with their evidence, and the danger that follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from aqlgen.decide.decision import Category, Danger, Doubt, Effect, EffectEvidence, Evidence, Reason
from aqlgen.decide.effects.reading import Reading
from aqlgen.decide.effects.rules import CARRIES, REPLACES, RULES, Finding, Rule

_CLAIMED: Final = 0.6
"""The most confidence in a level where the document claims a lower one."""
_UNSURE: Final = 0.65
_UNPROVEN: Final = Reason("unproven", Evidence.HEURISTIC, _UNSURE, "the document does not show how to undo it")


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of an operation, what says so, and the level of danger with its reason.

    `mildest` is the level of a call that carries no other operation.
    """

    effects: tuple[Effect, ...]
    evidence: tuple[EffectEvidence, ...]
    level: Danger
    reason: Reason
    mildest: Danger


def effects_of(reading: Reading, proof: str, *, can_undo: bool = False) -> Effects:
    """Return the effects of an operation, which `proof` takes back. Words raise no READ: they are about changes.

    `can_undo` says that a call was taken back: it stands for a missing proof, and refutes no rule.
    """
    is_read = reading.category is Category.READ
    findings = list(_findings(reading, proof))
    known = [(rule, finding) for rule, finding in findings if finding.effect not in (Effect.DATA, Effect.NONE)]
    evidence = [EffectEvidence(finding.kind, finding.says) for _, finding in known]
    evidence += [EffectEvidence("structure", proof)] * bool(proof)
    rule, finding = _gravest(known or findings)
    is_unproven = not (known or proof or can_undo or is_read)
    reason = _UNPROVEN if is_unproven else _reason(rule, finding, is_known=bool(known))
    level, reason = _declared(reading, finding.level, reason)
    mildest = _gravest([pair for pair in findings if pair[0].name != CARRIES])[1].level
    strong = tuple(dict.fromkeys(finding.effect for _, finding in known if finding.level is not Danger.REVERSIBLE))
    effects = strong or (_weak_effect(is_read=is_read, is_known=bool(known) or is_unproven),)
    return Effects(effects, tuple(dict.fromkeys(evidence)), level, reason, mildest)


def _reason(rule: Rule, finding: Finding, *, is_known: bool) -> Reason:
    is_doubt = is_known and finding.level is Danger.REVERSIBLE
    return Reason(rule.name, Evidence.RULE, min(rule.confidence, _UNSURE if is_doubt else 1), finding.says)


def _gravest(findings: Sequence[tuple[Rule, Finding]]) -> tuple[Rule, Finding]:
    """Return the gravest finding; among equals the first, which doubts that the operation is harmless."""
    return max(findings, key=lambda pair: pair[1].level.rank)


def _weak_effect(*, is_read: bool, is_known: bool) -> Effect:
    if is_known:
        return Effect.UNKNOWN
    return Effect.NONE if is_read else Effect.DATA


def _findings(reading: Reading, proof: str) -> Iterator[tuple[Rule, Finding]]:
    """Yield each rule with its finding; where structure proves the contrary, words that say so are only a doubt."""
    for rule in RULES:
        finding = rule.apply(reading) if rule.of_reads or reading.category is not Category.READ else None
        if finding is None:
            continue
        if not (proof and rule.unless_proven):
            yield rule, finding
        elif finding.kind == "sentence":
            yield rule, finding._replace(level=Danger.REVERSIBLE)


def _declared(reading: Reading, level: Danger, reason: Reason) -> tuple[Danger, Reason]:
    """Return level and reason after the document's own word, which may raise it."""
    claimed = reading.facts.operation.extensions.get("x-mcpaql-danger")
    word = claimed.strip().lower() if isinstance(claimed, str) else ""
    declared = Danger(word) if word in list(Danger) else level
    if declared is level:
        return level, reason
    if declared.rank > level.rank:
        return declared, Reason("declared", Evidence.METADATA, 1.0, "x-mcpaql-danger")
    note = f"{reason.note}; x-mcpaql-danger claims {declared}, and a document cannot lower it"
    return level, Reason(reason.rule, reason.evidence, min(reason.confidence, _CLAIMED), note, Doubt.CLAIMED)


def with_loss(level: Danger, reason: Reason, note: str) -> Reason:
    """Return the reason of an operation of which it turns out that it replaces what cannot be read."""
    if reason.evidence is Evidence.OVERRIDE or level.rank >= Danger.DESTRUCTIVE.rank:
        return reason
    return Reason(REPLACES, Evidence.RULE, _UNSURE, note)
