"""The questions about first uses as lines of JSON, and the answers to them (R-EFF-2).

Whoever wrote the answers, they are untrusted: an agent can claim to be a person. By themselves they only raise what is
asked; what asks less is written once a person has said yes at a terminal. Entries of `adapter: {accept: […]}` are the
owner's own, and settle concerns.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from aqlgen.decide.decision import Acceptance, Asked, Category, Decision
from aqlgen.decide.overrides import AcceptEntry, nearest
from aqlgen.decide.overrides.selectors import Kind
from aqlgen.decide.review.consequence import consequences
from aqlgen.decide.review.rows import entry_of, sections_of
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Json, Operation
from aqlgen.runtime.text import line, visible

_RANKS: Final = {Asked.NEVER: 0, Asked.FIRST: 1, Asked.ALWAYS: 2}
_CHOICES: Final = [asked.value for asked in _RANKS]
_LONGEST: Final = {"by": 80, "why": 300}
_BY: Final = "answered by"
_KEYS: Final = ("operation", "answer", *_LONGEST)
_OPENING: Final = 20
"""The number of writes that the questions begin with, whatever is asked about them."""
_HELP: Final = 'Write {"operation": "POST /pets", "answer": "always", "by": "…", "why": "…"}, one a line.'


def questions(decisions: Iterable[Decision]) -> list[dict[str, Json]]:
    """Return the open questions: the writes of most consequence, then all that is asked about at first use."""
    decisions = tuple(decisions)
    section = sections_of(decision.operation for decision in decisions)
    weights = consequences(decisions)
    ranked = sorted(filter(_is_open, decisions), key=lambda each: -weights[each.operation.key])
    writes = [each for each in ranked if each.category is not Category.READ or each.asked is not Asked.NEVER]
    opening, others = writes[:_OPENING], writes[_OPENING:]
    doubted = [each for each in others if each.asked is Asked.FIRST]
    return [_question(each, section(each.operation)) for each in (*opening, *doubted)]


def _is_open(decision: Decision) -> bool:
    """Return True unless the owner has answered when a person is asked."""
    is_accepted = bool(decision.accepted) and decision.asked is Asked.NEVER
    return not (is_accepted or decision.override.asked or decision.override.danger)


def _question(decision: Decision, section: str) -> dict[str, Json]:
    reason = decision.danger_reason
    return {
        "operation": decision.operation.key,
        "name": decision.name,
        "section": section,
        "summary": line(decision.operation.summary or "", _LONGEST["why"]),
        "question": "When does a call need a confirmation: always, at the first call in a session, or never?",
        "asked": decision.asked.value,
        "rule": reason.rule,
        "reason": reason.note,
        "effects": [effect.value for effect in decision.effects],
        "evidence": [evidence._asdict() for evidence in decision.evidence],
        "answers": _CHOICES,
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to the question when a person is asked about an operation."""

    decision: Decision
    asked: Asked
    by: str
    why: str = ""

    @property
    def raises(self) -> bool:
        """True if it asks more than what is decided."""
        return _RANKS[self.asked] > _RANKS[self.decision.asked]

    @property
    def settles(self) -> bool:
        """True if a person changes or settles something by it: known harm takes another level of danger."""
        decision, override = self.decision, self.decision.override
        if decision.asked is Asked.ALWAYS:
            is_raised = override.asked is Asked.ALWAYS and override.danger is None
            return is_raised and self.asked is not Asked.ALWAYS
        is_settled = override.asked is Asked.FIRST or decision.asked is Asked.NEVER
        return self.asked is not decision.asked or not is_settled

    def entry(self, person: str = "") -> tuple[str, dict[str, Json]]:
        """Return the key of the override that it becomes and its fields, by an agent unless a person confirmed it."""
        who = f"{_BY} a person ({person}), proposed by {self.by}" if person else f"{_BY} an agent ({self.by})"
        key, override = entry_of(self.decision), self.decision.override
        is_kept = override.why and override.sources["why"] == key and not override.why.startswith(_BY)
        parts = (f"{override.why}; {who}" if is_kept else who, self.why)
        return key, {"asked": self.asked.value, "why": ": ".join(filter(None, parts))}


def read_answers(text: str, file: str, decisions: Iterable[Decision]) -> list[Answer]:
    """Read answers, one in a line of JSON. Raises OptionError with everything that is wrong.

    `operation` is the key or the name of an operation, or its method and path if no other API has the same.
    """
    keyed = {decision.operation.key: decision for decision in decisions}
    plain = [(key.removeprefix(f"{each.operation.api}:"), each) for key, each in keyed.items()]
    counts = Counter(key for key, _ in plain)
    known = (
        {each.name: each for each in keyed.values()} | {key: each for key, each in plain if counts[key] == 1} | keyed
    )
    answers: dict[str, Answer] = {}
    findings: list[Diagnostic] = []
    for number, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue
        try:
            answer = _answer(content, known)
            key = answer.decision.operation.key
            if answers.setdefault(key, answer) is not answer:
                _refuse(f"`{visible(key)}` is answered twice", "Keep one of the answers.")
        except _RefusedError as error:
            message, hint, column = error.message, error.help, error.column
            findings.append(
                Diagnostic("bad-answer", Severity.ERROR, message, help=hint, file=file, line=number, column=column)
            )
    if findings:
        raise OptionError(*findings)
    return list(answers.values())


@dataclass
class _RefusedError(Exception):
    """A line is not an answer."""

    message: str
    help: str
    column: int = 1


def _refuse(message: str, help: str, column: int = 1) -> NoReturn:
    raise _RefusedError(message, help, column)


def _answer(content: str, known: Mapping[str, Decision]) -> Answer:
    """Read a line. Raises _RefusedError."""
    data = _data(content)
    for key in ("operation", "answer", "by"):
        if not isinstance(data.get(key), str) or not data[key].strip():
            _refuse(f"an answer needs `{key}`, as text", _HELP)
    decision = known.get(data["operation"])
    if decision is None:
        _refuse(f"there is no operation `{visible(data['operation'])}`", nearest(data["operation"], known, "operation"))
    if data["answer"] not in _CHOICES:
        _refuse(f"`{visible(data['answer'])}` is not an answer", f"Each answer is one of {', '.join(_CHOICES)}.")
    unknown = next((key for key in data if key not in _KEYS and key not in _question(decision, "")), None)
    if unknown is not None:
        _refuse(f"an answer has no `{visible(unknown)}`", nearest(unknown, _KEYS, "field"))
    by, why = (line(str(data.get(key) or ""), longest) for key, longest in _LONGEST.items())
    return Answer(decision, Asked(data["answer"]), by, why)


def _data(content: str) -> dict[str, Any]:
    try:
        data = json.loads(content)
    except json.JSONDecodeError as error:
        _refuse(f"not valid JSON: {error.msg}", _HELP, error.colno)
    except (RecursionError, ValueError):
        _refuse("not valid JSON: nested too deeply, or a number is too long", _HELP)
    if not isinstance(data, dict):
        _refuse("an answer must be an object", _HELP)
    return data


def accept(decisions: Iterable[Decision], entries: Sequence[AcceptEntry]) -> tuple[Decision, ...]:
    """Return the decisions with what the entries settle of them. They are decided as before."""
    return tuple(_accepted(decision, entries) for decision in decisions)


def _accepted(decision: Decision, entries: Sequence[AcceptEntry]) -> Decision:
    """Return the decision with its concerns settled, each by the first entry that does."""
    acceptances = []
    for concern in decision.concerns:
        entry = next((entry for entry in entries if entry.settles(decision, concern)), None)
        if entry is not None:
            acceptances.append(Acceptance(concern, entry.text))
    return replace(decision, accepted=tuple(acceptances)) if acceptances else decision


def check_accepted(
    entries: Sequence[AcceptEntry], decisions: Sequence[Decision], operations: Sequence[Operation], file: str
) -> list[Diagnostic]:
    """Find the entries that are about nothing: no operation, or a rule that decided nothing.

    `operations` are all of the document, hidden ones included. An entry for what needs no review is no mistake.
    """
    return [_unmatched(entry, decisions, file) for entry in entries if not _matches(entry, decisions, operations)]


def _matches(entry: AcceptEntry, decisions: Sequence[Decision], operations: Sequence[Operation]) -> bool:
    selector = entry.selector
    if selector is None:
        return any(entry.rule in _rules(decision) for decision in decisions)
    return any(selector.matches(decision.operation, (decision.name,)) for decision in decisions) or any(
        selector.matches(operation) for operation in operations
    )


def _rules(decision: Decision) -> Iterator[str]:
    yield from (decision.category_reason.rule, decision.name_reason.rule, decision.danger_reason.rule)


def _unmatched(entry: AcceptEntry, decisions: Sequence[Decision], file: str) -> Diagnostic:
    """Return a warning: what an entry without effect leaves is under review, and nothing is any less safe."""
    message, what, text = f"`{entry.text}` accepts nothing in this document", "operation", entry.text
    known: Iterable[str] = (decision.operation.key for decision in decisions)
    if entry.selector is None:
        message, what, text = f"nothing is decided by the rule `{entry.rule}`", "rule", entry.rule
        known = (rule for decision in decisions for rule in _rules(decision))
    elif entry.selector.kind is Kind.OPERATION:
        text, known = entry.selector.text, (decision.name for decision in decisions)
    elif entry.selector.kind is Kind.TAG:
        what, text = "tag", entry.selector.text
        known = (tag for decision in decisions for tag in decision.operation.tags)
    line, column = entry.place
    hint = nearest(text, known, what)
    return Diagnostic("unmatched-accept", Severity.WARNING, message, file=file, line=line, column=column, help=hint)
