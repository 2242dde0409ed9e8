# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The few fixed rules of families and dangers: what a method and the structure of the paths allow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .document import Operation
from .judge import Finding, Grade

__all__ = ["danger_problem", "family_problem", "listed_problems"]

_FAMILIES = {
    "GET": ("READ", "EXECUTE"),
    "HEAD": ("READ", "EXECUTE"),
    "QUERY": ("READ", "EXECUTE"),
    "PUT": ("UPDATE", "CREATE", "EXECUTE"),
    "PATCH": ("UPDATE", "EXECUTE"),
    "DELETE": ("DELETE", "EXECUTE"),
    "POST": ("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"),
}
_CLAIMS = {
    ("GET", "CREATE"): {"create", "add", "new", "register"},
    ("GET", "UPDATE"): {"update", "set", "edit", "change"},
    ("GET", "DELETE"): {"delete", "remove", "clear", "revoke", "destroy", "end"},
}
"""Words of a path or operationId by which a method can be what it is not made for."""
_DANGERS = ("safe", "reversible", "destructive", "dangerous", "forbidden")
_UNDOING = ("remove", "detach", "revoke")
_READING = frozenset((
    "search", "query", "find", "list", "get", "lookup", "count", "filter", "validate", "verify", "check", "preview",
    "calculate", "estimate", "compare", "export", "read", "fetch", "describe", "report", "test", "batchget", "graphql",
    "match", "suggest", "autocomplete", "explain", "parse", "convert", "render", "diff", "simulate", "info", "history",
))  # fmt: skip


def _words(operation: Operation) -> set[str]:
    text = f"{operation.path} {operation.raw.get('operationId') or ''}"
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", re.sub(r"\{[^{}]*\}", " ", text))}


def _first_word(operation: Operation) -> str:
    """Return the first word of the operation's text: it may lower the grade of a finding, and never settles one."""
    words = re.findall(r"\w+", str(operation.raw.get("summary") or operation.raw.get("description") or ""))
    return words[0].lower() if words else ""


def family_problem(operation: Operation, family: str) -> tuple[Grade, str] | None:
    """Return what is wrong with the family of an operation: the owner's word, then the method, settle it."""
    stated = str(operation.owner.get("category") or "").strip().upper()
    if stated:
        return None if stated == family else (Grade.BROKEN, f"is {family}, the owner has {stated}")
    if family not in _FAMILIES.get(operation.method, (family,)):
        claimed = bool(_words(operation) & _CLAIMS.get((operation.method, family), set()))
        undone = any(
            word.startswith(("un", "dis")) or word in _UNDOING for word in {*_words(operation), _first_word(operation)}
        )
        part = (operation.method, family) == ("DELETE", "UPDATE") and (undone or operation.path.rstrip("/")[-1:] != "}")
        grade = Grade.LOOK if claimed or part else Grade.BROKEN
        return grade, f"is {family}, {operation.method} {'seldom' if grade is Grade.LOOK else 'never'} is"
    if operation.method == "POST" and family == "READ" and not _words(operation) & _READING:
        is_claimed = _first_word(operation).rstrip("s") in _READING | {"return", "retrieve", "show"}
        grade = Grade.LOOK if is_claimed else Grade.BROKEN
        return grade, "is READ, and neither path nor operationId of the POST says that it reads"
    return None


def danger_problem(operation: Operation, family: str, danger: str) -> tuple[Grade, str] | None:
    """Return what is wrong with the danger of an operation: the owner's word, then method and family, settle it."""
    stated = str(operation.owner.get("danger") or "").strip().lower()
    if stated:
        return None if stated == danger else (Grade.BROKEN, f"is {danger}, the owner has {stated}")
    least = "destructive" if "DELETE" in (operation.method, family) else "safe" if family == "READ" else "reversible"
    if danger in _DANGERS[_DANGERS.index(least) :]:
        return None
    is_undone = operation.method == "DELETE" and any(
        each.path == operation.path and each.method in ("PUT", "POST") and not each.bodies
        for each in operation.document.operations
    )
    return (Grade.LOOK if is_undone else Grade.WRONG), f"its danger is {danger or 'unknown'}, the least is {least}"


def listed_problems(
    operations: Mapping[str, Operation], reached: Mapping[str, list[str]], *, is_whole: bool, is_sure: bool
) -> Iterator[Finding]:
    """Yield the operations of the documents that several operations of the adapter reach, or none.

    `is_whole`: every operation of the adapter was called; `is_sure`: each of them reached one of a document.
    """
    for key, operation in operations.items():
        if operation.is_shared:
            continue
        pointer, names = f"{operation.document.file}#{operation.pointer}", reached.get(key, [])
        if len(names) > 1:
            yield Finding(Grade.BROKEN, key, f"is reached by {' and '.join(names)}", pointer)
        elif (
            is_whole
            and not names
            and not operation.owner.get("hidden")
            and operation.method not in ("OPTIONS", "TRACE")
        ):
            yield Finding(Grade.WRONG if is_sure else Grade.LOOK, key, "no operation reaches it", pointer)
