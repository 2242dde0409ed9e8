"""The few fixed rules of families and dangers: what a method and the structure of the paths allow."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .document import Operation, normal
from .judge import Grade

_FAMILIES = {
    **dict.fromkeys(("GET", "HEAD", "QUERY"), ("READ", "EXECUTE")),
    "PUT": ("UPDATE", "CREATE", "EXECUTE"), "PATCH": ("UPDATE", "EXECUTE"), "DELETE": ("DELETE", "EXECUTE"),
}  # fmt: skip
_CLAIMS = {
    "GET CREATE": "create|add|new|register",
    "GET UPDATE": "update|set|edit|change",
    "DELETE": "delete|remove|clear|empty|flush|purge|revoke|destroy|end",
    "DELETE UPDATE": "(un|dis|de(?!lete|stroy)).*|remove|revoke|archive",
    "POST READ": "return|retrieve|show|view|provide|search|query|find|list|get|lookup|count|filter|validate|verify|"
    "check|preview|calculate|estimate|compare|export|read|fetch|describe|discover|report|test|batchget|graphql|match|suggest|"
    "autocomplete|explain|parse|convert|render|(en|de)code|is|has|can|diff|simulate|info|history|status|analy[sz]e|"
    "aggregate|scan|introspect|classif(y|ie)|identif(y|ie)|extract|evaluate|detect|assess|download|browse|enumerate|"
    "inspect|ping|tail|summarize|peek|exists|compute|lint|reveal|ls|tokenize|scroll|geocode|recommend",
}
_CLAIMS["PUT READ"] = _CLAIMS["POST READ"]
"""Words of a path or operationId by which a method can be what it is not made for, or any a family."""
_DANGERS = ("safe", "reversible", "destructive", "dangerous", "forbidden")


def rule_problems(operation: Operation, name: str, family: str, danger: str) -> Iterator[tuple[Grade, str]]:
    """Yield the problems of name, family and danger: the owner's word settles them, else the document."""
    owner = operation.owner
    for word, shown in (("category", family), ("danger", danger.upper())):
        if owner.get(word) and str(owner[word]).strip().upper() != shown:
            yield Grade.BROKEN, f"is {shown}, the owner has {owner[word]}"
    named = [each for each in operation.document.operations if normal(each.raw.get("operationId")) == normal(name)]
    if named and operation not in named and not owner.get("name"):
        yield Grade.LOOK if operation.is_shared else Grade.WRONG, "has the operationId of another operation"
    if not owner.get("category"):
        yield from _family_problems(operation, name, family)
    if not owner.get("danger"):
        yield from _danger_problems(operation, family, danger)


def _danger_problems(operation: Operation, family: str, danger: str) -> Iterator[tuple[Grade, str]]:
    method = operation.method
    least = "destructive" if "DELETE" in (method, family) else "safe" if family == "READ" else "reversible"
    if danger not in _DANGERS[_DANGERS.index(least) :]:
        beside = [each for each in operation.document.operations if each.path == operation.path]
        is_undone = method == "DELETE" and any(
            each.method in ("PUT", "POST") and _fields(each) <= _fields(operation) for each in beside
        )
        is_undone |= method == "POST" and any(_adds_again(each, operation) for each in operation.document.operations)
        yield Grade.LOOK if is_undone else Grade.WRONG, f"its danger is {danger or 'unknown'}, the least is {least}"


def _adds_again(other: Operation, removal: Operation) -> bool:
    """Return True if a POST adds by its name what another removes, and sends the same: `/add-x`, `/remove-x`."""
    (folder, _, word), (place, _, opposite) = other.path.rpartition("/"), removal.path.rpartition("/")
    adds = re.match(r"(add|assign|attach|link|join|enable|invite)(?=[-_A-Z]|$)", word) if folder == place else None
    is_same = adds and re.sub(r"^[a-z]+", "", opposite) == word[adds.end() :]
    is_alike = other.bodies == removal.bodies or _fields(other) == _fields(removal)
    return bool(is_same) and other.method == "POST" and bool(other.bodies) and is_alike


def _fields(operation: Operation) -> set[str]:
    """Return the fields of the bodies of an operation: a body without any is one, which no other operation has."""
    schemas, document = [each.schema for each in operation.bodies.values()], operation.document
    return {normal(name) for each in schemas for name in document.properties(each) or (operation.key,)}


def _family_problems(operation: Operation, name: str, family: str) -> Iterator[tuple[Grade, str]]:
    method, raw, is_read = operation.method, operation.raw, (operation.method, family) == ("POST", "READ")
    is_named = normal(name) in map(normal, operation.path.split("/"))  # `get_totals` of `/gettotals`
    text = f"{re.sub(r'{[^{}]*}', ' ', operation.path)} {raw.get('operationId') or ''} {name * is_named}"
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    first = re.findall(r"\w+", str(raw.get("summary") or raw.get("description") or ""))[:2]
    for each in operation.parameters if method == "GET" else ():  # `?action=delete`
        first += map(str, operation.document.members(each.schema))
    claims = re.compile(f"({_CLAIMS.get(f'{method} {family}', _CLAIMS.get(family, '-'))})s?")  # and of a third person
    says, hints = (any(claims.fullmatch(word.lower()) for word in each) for each in (words, first))
    if family in _FAMILIES.get(method, (family,)) and (says or not is_read):
        return
    is_part = (method, family) == ("DELETE", "UPDATE") and operation.path.rstrip("/")[-1:] != "}"
    twins = (each for each in operation.document.operations if (each.method, each.path) == ("GET", operation.path))
    is_twin = is_read and any(each.success[2] == operation.success[2] for each in twins)
    grade = Grade.LOOK if says or hints or is_part or is_twin else Grade.BROKEN
    yield grade, f"is {family}, {method} is not, and neither path nor operationId says it"
