"""The effects of one operation with their evidence, and the danger that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aqlgen.decide.decision import Category, Danger, Doubt, Effect, EffectEvidence, Evidence, Reason
from aqlgen.decide.effects.reading import Reading
from aqlgen.decide.effects.rules import CARRIES, REPLACES, RULES, Finding, Rule

__all__ = ["Effects", "effects_of", "with_loss"]

_CLAIMED: Final = 0.6
"""The most confidence in a level where the document claims a lower one."""
_UNSURE: Final = 0.65


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


def effects_of(reading: Reading, proof: str, *, is_reversible: bool = False) -> Effects:
    """Return the effects of an operation, which `proof` takes back. Words raise no READ: they are about changes.

    `is_reversible` says that a call was taken back: it stands for a missing proof, and refutes no rule.
    """
    is_read = reading.category is Category.READ
    findings = [
        (rule, finding)
        for rule in RULES
        if (rule.of_reads or not is_read) and (finding := _found(rule, reading, proof)) is not None
    ]
    known = [(rule, finding) for rule, finding in findings if finding.effect not in (Effect.DATA, Effect.NONE)]
    evidence = [EffectEvidence(finding.kind, finding.says) for _, finding in known]
    if proof:
        evidence.append(EffectEvidence("structure", proof))
    # the gravest, among equals what doubts that it is harmless
    rule, finding = max(known or findings, key=lambda pair: pair[1].level.rank)
    is_doubt = bool(known) and finding.level is Danger.REVERSIBLE
    reason = Reason(rule.name, Evidence.RULE, min(rule.confidence, _UNSURE if is_doubt else 1), finding.says)
    level = finding.level
    strong = dict.fromkeys(finding.effect for _, finding in known if finding.level is not Danger.REVERSIBLE)
    kinds = tuple(strong) or ((Effect.UNKNOWN,) if known else ())
    if not (known or proof or is_reversible or is_read):
        reason = Reason("unproven", Evidence.HEURISTIC, _UNSURE, "nothing proves that it can be taken back")
        kinds = (Effect.UNKNOWN,)
    level, reason = _declared(reading, level, reason)
    mildest = max((finding.level for rule, finding in findings if rule.name != CARRIES), key=lambda level: level.rank)
    kinds = kinds or (Effect.NONE if is_read else Effect.DATA,)
    return Effects(kinds, tuple(dict.fromkeys(evidence)), level, reason, mildest)


def _found(rule: Rule, reading: Reading, proof: str) -> Finding | None:
    """Return what a rule finds; where structure proves the contrary, words that say so are no more than a doubt."""
    finding = rule.apply(reading)
    if finding is None or not (proof and rule.unless_proven):
        return finding
    return finding._replace(level=Danger.REVERSIBLE) if finding.kind == "sentence" else None


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
