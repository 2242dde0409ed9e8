"""`--include` and `--exclude`: which operations the adapter offers, by tag, path or operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

from aqlgen.decide.decision import Decision
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import OptionError

Report = Callable[[Diagnostic], None]

KINDS = ("tag", "path", "operation")
API: Final = "api"
"""The kind of pattern that selects by the name of one of several APIs; it is never bare."""

UNMATCHED: Final = "unmatched-pattern"
_FORMS: Final = "Give a tag, a path or an operation, such as 'tag:pets', 'path:/pets/*' or 'operation:get*'."


def _words(decision: Decision, kind: str) -> tuple[str, ...]:
    operation = decision.operation
    if kind == "tag":
        return operation.tags
    if kind == "path":
        return (operation.path,)
    return tuple(name for name in (operation.operation_id, decision.name, operation.key) if name)


def _matches(decision: Decision, pattern: str) -> bool:
    kind, colon, glob = pattern.partition(":")
    if colon and kind == API:
        return bool(decision.operation.api) and fnmatchcase(decision.operation.api, glob)
    if colon and kind in KINDS:
        return any(fnmatchcase(word, glob) for word in _words(decision, kind))
    return any(fnmatchcase(word, pattern) for kind in KINDS for word in _words(decision, kind))


def _hint(pattern: str, decisions: tuple[Decision, ...]) -> str:
    """Return the pattern that was probably meant, or the forms that a pattern has."""
    known = {f"{kind}:{word}" for decision in decisions for kind in KINDS for word in _words(decision, kind)}
    by_fold = {each.casefold(): each for each in known}
    bare = pattern.partition(":")[0] not in KINDS
    for form in [f"{kind}:{pattern}" for kind in KINDS] if bare else [pattern]:
        if close := get_close_matches(form.casefold(), by_fold, n=1, cutoff=0.8):
            return f"Did you mean '{by_fold[close[0]]}'?"
    return _FORMS


def select(
    decisions: tuple[Decision, ...], include: Sequence[str], exclude: Sequence[str], report: Report | None = None
) -> tuple[Decision, ...]:
    """Return the operations that an `include` pattern matches (all if there is none) and no `exclude` pattern does.

    A pattern is a glob, bare or as `tag:…`, `path:…`, `operation:…` or `api:…`. One that matches nothing is a mistake:
    `report` is called with it, and without `report` it raises OptionError.
    """
    for option, patterns in (("--include", include), ("--exclude", exclude)):
        for pattern in patterns:
            if not any(_matches(decision, pattern) for decision in decisions):
                message = f"{option} {pattern!r} matches no operation"
                mistake = Diagnostic(UNMATCHED, Severity.ERROR, message, help=_hint(pattern, decisions))
                if report is None:
                    raise OptionError(mistake)
                report(mistake)
    return tuple(
        decision
        for decision in decisions
        if (not include or any(_matches(decision, pattern) for pattern in include))
        and not any(_matches(decision, pattern) for pattern in exclude)
    )
