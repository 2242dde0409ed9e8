"""The decision about a call: by the policy, by what it does beyond data, and by the owner's rules (R-SAFE-1, R-SAFE-2).

Each policy says what it does at each level of danger, and `strict` at each level of trust (danger levels, 4.1).

The most restrictive wins: refuse, then confirm, then allow. A rule that allows takes away what the policy decides, and
never what another rule does: a confirmation where it names the operation by a pattern, a refusal too where it names it
exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..hooks import GateDecision
from ..settings.trust import TRUST_FILE, TRUST_LEVELS
from ..settings.types import DANGER_LEVELS as LEVELS
from ..table import READING_METHODS, is_plain_read

if TYPE_CHECKING:
    from ..settings.config import Config
    from ..table import Row, Table
    from ..wire import ApiRequest
    from .rules.rules import MetRule, Rules

__all__ = [
    "FIRST_USE",
    "GRAVE",
    "LEVELS",
    "SEVERITY",
    "Outcome",
    "Policy",
    "Subject",
    "Verdict",
    "by_level",
    "danger_reasons",
    "is_recorded",
    "minimum_trust",
]

GRAVE = frozenset(LEVELS[2:])
"""The levels that policy `standard` does not let run without confirmation."""

Outcome: TypeAlias = Literal["allow", "confirm", "refuse"]
SEVERITY: Mapping[Outcome, int] = {"allow": 0, "confirm": 1, "refuse": 2}

_STANDARD: Mapping[str, Outcome] = {
    "safe": "allow",
    "reversible": "allow",
    "destructive": "confirm",
    "dangerous": "confirm",
    "forbidden": "refuse",
}
_CONFIRMED_FROM = {"destructive": "validated", "dangerous": "community_reviewed", "forbidden": "certified"}
_ALLOWED_FROM = {
    "safe": "generated",
    "reversible": "validated",
    "destructive": "community_reviewed",
    "dangerous": "certified",
}
"""The least trust at which operations of a level of danger are confirmed, and run without it."""
_UNKNOWN = "destructive"
"""As what a level counts that the protocol does not have; it never runs without confirmation."""


_BY_DANGER = {
    "destructive": ("May not be undone",),
    "dangerous": ("May not be undone",),
    "forbidden": ("Cannot be undone",),
}
_BY_FAMILY = {"delete": "Removes data", "update": "Overwrites data", "execute": "Has side effects"}


class Subject(NamedTuple):
    """An operation, as far as the policy needs to know it."""

    name: str
    family: str
    danger: str
    review: Sequence[str] = ()
    effects: Sequence[str] = ()
    asked: str = "never"

    @classmethod
    def of(cls, row: Row) -> Subject:
        """Return an operation's part."""
        return cls(row.name, row.family, row.danger, row.review, row.effects, row.asked)


class Verdict(NamedTuple):
    """A decision, and the id of the rule that made it."""

    outcome: Outcome
    rule: str
    reasons: tuple[str, ...] = ()


def by_level(policy: str, danger: str, trust: str) -> Verdict:
    """Return the verdict of a policy by the level of danger, and by trust if it is `strict`."""
    if policy == "open":
        return Verdict("allow", "policy-open")
    if policy != "strict":
        return Verdict(_STANDARD.get(danger, "confirm"), "danger-level")
    reached = TRUST_LEVELS.index(trust)
    known = danger if danger in LEVELS else _UNKNOWN
    allowed, confirmed = _ALLOWED_FROM.get(known), _CONFIRMED_FROM.get(known)
    if allowed is not None and reached >= TRUST_LEVELS.index(allowed):
        return Verdict("allow" if known == danger else "confirm", "trust-matrix")
    if confirmed is not None and reached >= TRUST_LEVELS.index(confirmed):
        return Verdict("confirm", "trust-matrix")
    return Verdict("refuse", "trust-matrix")


def minimum_trust(danger: str) -> str:
    """Return the least trust at which policy `strict` does not refuse a level of danger."""
    known = danger if danger in LEVELS else _UNKNOWN
    return _CONFIRMED_FROM.get(known) or _ALLOWED_FROM[known]


def danger_reasons(subject: Row | Subject) -> tuple[str, ...]:
    """Return why an operation of its level of danger is held back."""
    by_danger = _BY_DANGER.get(subject.danger, ())
    return (_BY_FAMILY.get(subject.family, "Adds data"), *by_danger) if by_danger else ()


def is_recorded(row: Row) -> bool:
    """Return True if every call of an operation goes into the audit log: all but plain reads."""
    return not _EFFECTS.keys().isdisjoint(row.effects) or not is_plain_read(
        row.family, row.method, row.danger, row.rule
    )


_ACTIONS: Mapping[str, Outcome] = {"allow": "allow", "confirm": "confirm", "deny": "refuse"}
_EFFECTS = {"money": "Moves money", "access": "Gives or takes access", "people": "Reaches people outside"}
"""The effects that settings are about, each with its reason; it is the id of the decision, too."""
FIRST_USE = "first-use"
"""The id of the decision about an operation that nothing proves harmless: one yes for a session."""
_UNPROVEN = "No harm is known, but a doubt remains: one yes holds for the session; overrides.yaml can accept it"
_UNTOLD = "May carry operations that a rule holds back"


class Policy:
    """Decides about calls by the settings; without rules nothing of the table is read."""

    def __init__(self, config: Config, table: Table) -> None:
        self.name = config.policy
        self._config = config
        self._by_effect = {"money": config.policy_money, "access": config.policy_access, "people": config.policy_people}
        self._rules: Rules | None = None
        self._table = table
        if config.policy_rules:
            from .rules.rules import Rules

            self._rules = Rules(config, table)
        self._ruled = frozenset[str]() if self._rules is None else self._rules.names

    @property
    def trust(self) -> str:
        """The level of trust now: a certificate may have expired since the start."""
        is_stated = self._config.sources.get("trust_level") == TRUST_FILE
        return self._config.trust.in_force if is_stated else self._config.trust_level

    def watches(self, row: Row) -> bool:
        """Return True if calls of an operation have to be decided about."""
        return self.name == "strict" or row.name in self._ruled or row.carries is not None or is_recorded(row)

    def asks(self, row: Row) -> bool:
        """Return True if a call of an operation may have to be confirmed."""
        if self.name == "open" and self._rules is None:
            return False
        decision, sometimes = self.usual(Subject.of(row), lambda _: row)
        asking = any(rule.action == "confirm" for rule in sometimes)
        return asking or decision.outcome == "confirm" or row.carries is not None

    def _alone(self, row: Row, params: Mapping[str, Any], build: Callable[[], ApiRequest]) -> GateDecision:
        """Return the decision about a call by itself, whatever it carries."""
        rules = () if self._rules is None else self._rules.met(row, params, build)
        return self._decided(row, self._by_policy(row), rules)

    def decide(self, row: Row, params: Mapping[str, Any], build: Callable[[], ApiRequest]) -> GateDecision:
        """Return the decision about a call, which may carry others: as about each of them, and about itself.

        `build` makes its request. What cannot be told counts as the worst that the operation can do, and is asked about
        where the owner's rules hold anything back, which it might get round.
        """
        if row.carries is None:
            return self._alone(row, params, build)
        from .carried import matching, read_carried

        request = build()
        carried, is_known = read_carried(row.carries, request)
        decisions = []
        for inner in carried:
            rows, is_sure = matching(inner, row, self._table, request)
            is_known &= is_sure or inner.method in READING_METHODS
            decisions += [self.carried(each) for each in rows]
        decisions.append(self._alone(replace(row, danger=row.carries.danger) if is_known else row, params, build))
        if not is_known and self._rules is not None:
            decisions[-1] = self._at_least_confirmed(decisions[-1])
        return max(decisions, key=lambda decision: SEVERITY[decision.outcome])

    def carried(self, row: Row) -> GateDecision:
        """Return the decision about an operation within another, whose parameters are not looked at."""
        decision, sometimes = self.usual(Subject.of(row), lambda _: row)
        if any(rule.action != "allow" for rule in sometimes):
            decision = self._at_least_confirmed(decision)
        reasons = (f"Carries {row.name}", *decision.reasons)
        return decision._replace(reasons=reasons)

    @staticmethod
    def _at_least_confirmed(decision: GateDecision) -> GateDecision:
        if decision.outcome != "allow":
            return decision
        return decision._replace(outcome="confirm", rule="carries", reasons=(*decision.reasons, _UNTOLD))

    def usual(self, subject: Subject, find: Callable[[str], Row | None]) -> tuple[GateDecision, list[MetRule]]:
        """Return the decision about calls that meet no condition of a rule, and the rules whose conditions one may."""
        always: list[MetRule] = []
        sometimes: list[MetRule] = []
        if self._rules is not None and subject.name in self._ruled:
            row = find(subject.name)
            always, sometimes = ([], []) if row is None else self._rules.usual(row)
        return self._decided(subject, self._by_policy(subject), always), sometimes

    def refuses(self, row: Row) -> GateDecision | None:
        """Return the decision about an operation that is refused whatever its parameters are, None for another."""
        decision, sometimes = self.usual(Subject.of(row), lambda _: row)
        if decision.outcome != "refuse" or any(rule.action == "allow" for rule in sometimes):
            return None
        return decision

    def _by_policy(self, row: Row | Subject) -> list[Verdict]:
        """Return the verdicts of the policy; the decision names the first of equals."""
        verdicts = [by_level(self.name, row.danger, self.trust)]
        if self.name == "strict" and row.review:
            verdicts.append(Verdict("confirm", "under-review", (f"Under review: {'; '.join(row.review)}",)))
        for effect, reason in _EFFECTS.items() if row.effects else ():
            if effect in row.effects and self._by_effect[effect] == "automation":
                verdicts.append(Verdict("refuse", effect, (f"{reason}, and no rule allows it",)))
            elif effect in row.effects and self._by_effect[effect] == "default" and self.name != "open":
                verdicts.append(Verdict("confirm", effect, (reason,)))
        if row.asked == "first" and self.name != "open":
            verdicts.append(Verdict("confirm", FIRST_USE, (_UNPROVEN,)))
        return verdicts

    def _decided(self, row: Row | Subject, verdicts: Sequence[Verdict], rules: Sequence[MetRule]) -> GateDecision:
        """Return the decision by what the policy and the rules say; the owner's reasons come first."""
        allowing = [rule for rule in rules if rule.action == "allow"]
        exact = any(rule.exact for rule in allowing)
        left = [verdict for verdict in verdicts if not allowing or not _is_lifted(verdict, exact=exact)]
        stated = [_verdict(rule) for rule in rules if rule.action != "allow"]
        if len(left) < len(verdicts):
            stated += [_verdict(rule) for rule in allowing]
        worst = max((*stated, *left), key=lambda verdict: SEVERITY[verdict.outcome])
        reasons = (*_reasons(stated, worst.outcome), *danger_reasons(row), *_reasons(left, worst.outcome))
        met = tuple(rule.id for rule in rules)
        unique = tuple(dict.fromkeys(reasons))
        return GateDecision(worst.outcome, row.danger, self.name, unique, worst.rule, self.trust, met)


def _reasons(verdicts: Sequence[Verdict], outcome: str) -> list[str]:
    return [reason for verdict in verdicts if verdict.outcome == outcome for reason in verdict.reasons]


def _is_lifted(verdict: Verdict, *, exact: bool) -> bool:
    return verdict.outcome == "confirm" or (verdict.outcome == "refuse" and (exact or verdict.rule in _EFFECTS))


def _verdict(rule: MetRule) -> Verdict:
    reason = f"{rule.reason.rstrip('.')} (rule {rule.id})" if rule.reason else f"Rule {rule.id} of the adapter's owner"
    return Verdict(_ACTIONS[rule.action], rule.id, (reason,))
