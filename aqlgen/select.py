"""`--include` and `--exclude`: which operations the adapter offers, by tag, path or operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from aqlgen.decisions import Decision
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.errors import OptionError

Report = Callable[[Diagnostic], None]

KINDS = ("tag", "path", "operation")

UNMATCHED: Final = "unmatched-pattern"


def _words(decision: Decision, kind: str) -> tuple[str, ...]:
    operation = decision.operation
    if kind == "tag":
        return operation.tags
    if kind == "path":
        return (operation.path,)
    return tuple(one for one in (operation.operation_id, decision.name, operation.key) if one)


def _matches(decision: Decision, pattern: str) -> bool:
    kind, colon, glob = pattern.partition(":")
    if colon and kind in KINDS:
        return any(fnmatchcase(word, glob) for word in _words(decision, kind))
    return any(fnmatchcase(word, pattern) for one in KINDS for word in _words(decision, one))


def select(
    decisions: tuple[Decision, ...], include: Sequence[str], exclude: Sequence[str], report: Report | None = None
) -> tuple[Decision, ...]:
    """Give the operations that some `include` matches (all when there is none) and no `exclude` does.

    A pattern is a glob, bare or as `tag:…`, `path:…` or `operation:…`. One that matches nothing is a mistake: `report`
    is told of it, and with none it raises OptionError.
    """
    for option, patterns in (("--include", include), ("--exclude", exclude)):
        for pattern in patterns:
            if not any(_matches(decision, pattern) for decision in decisions):
                found = Diagnostic(
                    UNMATCHED,
                    Severity.ERROR,
                    f"{option} {pattern!r} matches no operation",
                    help="Give a tag, a path or an operation, such as 'tag:pets', 'path:/pets/*' or 'operation:get*'.",
                )
                if report is None:
                    raise OptionError(found)
                report(found)
    return tuple(
        decision
        for decision in decisions
        if (not include or any(_matches(decision, one) for one in include))
        and not any(_matches(decision, one) for one in exclude)
    )
