"""The list of the page that is worked off: the rows of the review with what settles each, as data and as markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from aqlgen.decide.decision import Decision, Doubt
from aqlgen.decide.review.rows import ReviewRow, entry_of
from aqlgen.diagnostics.plain import counted
from aqlgen.ir import Json
from aqlgen.runtime.text import visible

__all__ = ["quoted", "worklist_data", "worklist_markup"]

Entry = Mapping[str, Json]


def quoted(text: str) -> str:
    """Return a text as YAML in double quotes, with invisible characters as escapes."""
    escaped = visible(text.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{escaped}"'


def worklist_data(rows: Iterable[ReviewRow], decisions: Sequence[Decision]) -> list[dict[str, Json]]:
    """Return the rows: each concern with its operation, its subject, and the rule that may be accepted for it or ""."""
    indexes = {decision.operation.key: index for index, decision in enumerate(decisions)}
    return [
        {
            "section": row.section,
            "confidence": round(row.confidence, 2),
            "reasons": list(row.reasons),
            "rules": list(row.rules),
            "by_rule": bool(row.entries) and row.entries[0].startswith("rule:"),
            "concerns": [
                [indexes[decision.operation.key], concern.subject, concern.rule if concern.doubt is Doubt.WEAK else ""]
                for decision, concerns in row.members
                for concern in concerns
            ],
            "operations": [indexes[decision.operation.key] for decision in row.decisions],
            "notes": ["" if row.reasons == texts else "; ".join(texts) for texts in _texts(row)],
            "entries": [quoted(entry_of(decision)) for decision in row.decisions],
        }
        for row in rows
    ]


def _texts(row: ReviewRow) -> Iterable[tuple[str, ...]]:
    return (tuple(concern.text for concern in concerns) for _, concerns in row.members)


def worklist_markup(
    rows: Iterable[Entry], operations: Sequence[Entry], escape: Callable[[str], str], head: Callable[[Entry], str]
) -> str:
    """Return the rows as lists under the headings of their sections; `head` is the markup of an operation."""
    parts: list[str] = []
    section = None
    for row in rows:
        if row["section"] != section:
            section = row["section"]
            if parts:
                parts.append("</ol>\n")
            parts.append(f"<h3>{escape(section)}</h3>\n" if section else "")
            parts.append('<ol class="review">')
        elif not parts:
            parts.append('<ol class="review">')
        parts.append(_row(row, operations, escape, head))
    return "".join([*parts, "</ol>\n"]) if parts else ""


def _row(row: Entry, operations: Sequence[Entry], escape: Callable[[str], str], head: Callable[[Entry], str]) -> str:
    members = [operations[index] for index in row["operations"]]
    notes = (f"<small>{escape(note)}</small>" if note else "" for note in row["notes"])
    items = "".join(f"<li>{head(member)}{note}</li>" for member, note in zip(members, notes, strict=True))
    what = head(members[0])
    if len(members) > 1:
        more = f"<details><summary>{counted(len(members), 'operation')}</summary><ul>{items}</ul></details>"
        what = more if len(members) > 3 else f"<ul>{items}</ul>"
    kinds = dict.fromkeys(f"{member['category']}, {member['danger']}" for member in members)
    whys = "".join(f'<span class="why">{escape(reason)}</span>' for reason in row["reasons"])
    return (
        f'<li class="row-to-review"><div class="what">{what}</div><div class="as">{"; ".join(kinds)}</div>'
        f'<div class="sure"><span class="said">confidence </span>{row["confidence"]:.2f}</div>'
        f'<div class="whys">{whys}<span class="state"></span></div></li>\n'
    )
