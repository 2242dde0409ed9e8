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
_DANGERS = ("safe", "reversible", "destructive", "dangerous", "forbidden")
_READING = frozenset((
    "search", "query", "find", "list", "get", "lookup", "count", "filter", "validate", "verify", "check", "preview",
    "calculate", "estimate", "compare", "export", "read", "fetch", "describe", "report", "test", "batchget", "graphql",
    "match", "suggest", "autocomplete", "explain", "parse", "convert", "render", "diff", "simulate", "info", "history",
))  # fmt: skip


def _words(operation: Operation) -> set[str]:
    text = f"{operation.path} {operation.raw.get('operationId') or ''}"
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", re.sub(r"\{[^{}]*\}", " ", text))}


def family_problem(operation: Operation, family: str) -> tuple[Grade, str] | None:
    """Return what is wrong with the family of an operation: the owner's word, then the method, settle it."""
    stated = str(operation.owner.get("category") or "").strip().upper()
    if stated:
        return None if stated == family else (Grade.BROKEN, f"is {family}, the owner has {stated}")
    if family not in _FAMILIES.get(operation.method, (family,)):
        return Grade.BROKEN, f"is {family}, {operation.method} never is"
    if operation.method == "POST" and family == "READ" and not _words(operation) & _READING:
        return Grade.BROKEN, "is READ, and neither path nor operationId of the POST says that it reads"
    if operation.method in ("GET", "HEAD", "QUERY") and family == "EXECUTE":
        return Grade.LOOK, f"is EXECUTE by {operation.method}"
    return None


def danger_problem(operation: Operation, family: str, danger: str) -> tuple[Grade, str] | None:
    """Return what is wrong with the danger of an operation: the owner's word, then method and family, settle it."""
    stated = str(operation.owner.get("danger") or "").strip().lower()
    if stated:
        return None if stated == danger else (Grade.BROKEN, f"is {danger}, the owner has {stated}")
    least = "destructive" if "DELETE" in (operation.method, family) else "safe" if family == "READ" else "reversible"
    if danger not in _DANGERS or _DANGERS.index(danger) < _DANGERS.index(least):
        return Grade.BROKEN, f"its danger is {danger or 'unknown'}, the least is {least}"
    return None


def listed_problems(
    operations: Mapping[str, Operation], reached: Mapping[str, list[str]], *, is_sure: bool
) -> Iterator[Finding]:
    """Yield the operations of the documents that several operations of the adapter reach, or none.

    `is_sure`: every operation of the adapter reached one, so that nothing else can reach what is missing.
    """
    for key, operation in operations.items():
        pointer, names = f"{operation.document.file}#{operation.pointer}", reached.get(key, [])
        if len(names) > 1:
            yield Finding(Grade.BROKEN, key, f"is reached by {' and '.join(names)}", pointer)
        elif not names and not operation.owner.get("hidden") and operation.method not in ("OPTIONS", "TRACE"):
            yield Finding(Grade.WRONG if is_sure else Grade.LOOK, key, "no operation reaches it", pointer)
