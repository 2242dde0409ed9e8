"""The list of the page that is worked off: the rows of the review with what settles each, as data and as markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from aqlgen.decide.decision import Decision, Doubt
from aqlgen.decide.review.rows import ReviewRow, entry_of
from aqlgen.diagnostics.plain import counted
from aqlgen.ir import Json
from aqlgen.runtime.text import visible

Entry = Mapping[str, Json]
_MOST_SHOWN: Final = {False: 3, True: 12}
"""The most operations that a row shows unfolded: one of the review, and one about when a person is asked."""

_WHEN: Final = {
    "always": "confirmed each time",
    "first": "confirmed at the first call",
    "never": "runs without a confirmation",
}


def quoted(text: str) -> str:
    """Return a text as YAML in double quotes, with invisible characters as escapes."""
    escaped = visible(text.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{escaped}"'


def worklist_data(rows: Iterable[ReviewRow], decisions: Sequence[Decision]) -> list[dict[str, Json]]:
    """Return the rows: each concern with its operation, its subject, and the rule that may be accepted for it or ""."""
    indexes = {decision.operation.key: index for index, decision in enumerate(decisions)}
    return [
        {
            "heading": row.heading if row.asked is None else "Confirmations",
            "section": row.section,
            "asked": row.asked or "",
            "confidence": round(row.confidence, 2),
            "reasons": _reasons(row),
            "rules": list(row.rules),
            "by_rule": bool(row.entries) and row.entries[0].startswith("rule:"),
            "concerns": [
                [indexes[decision.operation.key], concern.subject, concern.rule if concern.doubt is Doubt.WEAK else ""]
                for decision, concerns in row.members
                for concern in concerns
            ],
            "operations": [indexes[decision.operation.key] for decision in row.decisions],
            "notes": list(_notes(row)),
            "entries": [quoted(entry_of(decision)) for decision in row.decisions],
        }
        for row in rows
    ]


def _reasons(row: ReviewRow) -> list[str]:
    """Return why the row is there: of a question what all of its operations have, a doubt or a proof."""
    if row.asked is None:
        return list(row.reasons)
    texts = [_evidence(decision) for decision in row.decisions]
    return [text for text in texts[0] if all(text in others for others in texts)]


def _notes(row: ReviewRow) -> Iterable[str]:
    """Yield the note on each operation beyond the reasons of the row."""
    shared = _reasons(row)
    for decision, concerns in row.members:
        texts = tuple(concern.text for concern in concerns) if row.asked is None else _evidence(decision)
        yield "; ".join(text for text in texts if text not in shared)


def _evidence(decision: Decision) -> tuple[str, ...]:
    """Return the evidence of an operation, or the danger's own note without any."""
    return tuple(evidence.says for evidence in decision.evidence) or (decision.danger_reason.note,)


def worklist_markup(
    rows: Iterable[Entry], operations: Sequence[Entry], escape: Callable[[str], str], head: Callable[[Entry], str]
) -> str:
    """Return the rows as lists under their headings; `head` is the markup of an operation."""
    parts: list[str] = []
    heading = None
    for row in rows:
        if row["heading"] != heading:
            heading = row["heading"]
            parts.append("</ol>\n" if parts else "")
            parts.append(f"<h3>{escape(heading)}</h3>\n" if heading else "")
            parts.append('<ol class="review">')
        parts.append(_row(row, operations, escape, head))
    return "".join([*parts, "</ol>\n"]) if parts else ""


def _row(row: Entry, operations: Sequence[Entry], escape: Callable[[str], str], head: Callable[[Entry], str]) -> str:
    members = [operations[index] for index in row["operations"]]
    kinds = "; ".join(dict.fromkeys(map(_kind, members)))
    whys = "".join(f'<span class="why">{escape(reason)}</span>' for reason in row["reasons"])
    whys = f'<div class="whys">{whys}<span class="state"></span></div>'
    is_asked = bool(row["asked"])
    items = [
        f"<div>{head(member)}</div><small>{escape(member.get('summary', ''))}</small><small>{escape(note)}</small>"
        if is_asked
        else head(member) + (f"<small>{escape(note)}</small>" if note else "")
        for member, note in zip(members, row["notes"], strict=True)
    ]
    what = items[0]
    if is_asked or len(items) > 1:
        what = f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"
    if len(items) > _MOST_SHOWN[is_asked]:
        what = f"<details><summary>{counted(len(items), 'operation')}</summary>{what}</details>"
    if is_asked:
        part = f'<div class="part">{escape(row["section"])}<small>{_WHEN[row["asked"]]}</small></div>'
        heading = f'{part}<div class="as">{kinds}</div>{whys}'
        return f'<li class="row-to-review asked">{heading}<div class="what">{what}</div></li>\n'
    return (
        f'<li class="row-to-review"><div class="what">{what}</div><div class="as">{kinds}</div>'
        f'<div class="sure"><span class="said">confidence </span>{row["confidence"]:.2f}</div>{whys}</li>\n'
    )


def _kind(member: Entry) -> str:
    effects = ", ".join(effect for effect in member.get("effects", ()) if effect not in ("data", "unknown"))
    return f"{member['category']}, {member['danger']}" + (f", {effects}" if effects else "")
