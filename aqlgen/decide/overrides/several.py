"""The overrides of several APIs: what each of them takes of the file, and what the file says of none or of too many.

An entry of one operation names its API (`crm:GET /users`), unless only one API has such an operation. Other entries
hold for every API that they match, and for the one that they name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from aqlgen.decide.decision import Override
from aqlgen.diagnostics import Diagnostic
from aqlgen.ir import Operation

from .model import UNMATCHED, AdapterOverride, Overrides, finding, nearest, unmatched
from .selectors import Kind, parse_selector

__all__ = ["overrides_of_each", "refuse_for_one", "unmatched_by_all"]

_OF_EACH: Final = ("hosts", "security_schemes", "security", "headers", "variables")
"""Fields of `adapter` that are said of each API."""


def overrides_of_each(
    overrides: Overrides, operations: Mapping[str, Iterable[Operation]]
) -> tuple[dict[str, Overrides], list[Diagnostic]]:
    """Return the overrides of each API by its name, and what is wrong with the file as a whole.

    `operations` are those of each API.
    """
    users: dict[str, list[str]] = {}
    for api, served in operations.items():
        for operation in served:
            users.setdefault(operation.key.removeprefix(f"{api}:"), []).append(api)
    entries: dict[str, dict[str, Override]] = {api: {} for api in operations}
    findings = [*overrides.diagnostics, *_of_adapter(overrides, operations)]
    patterns: dict[str, dict[str, Override]] = {api: {} for api in operations}
    for key, override in (*overrides.entries.items(), *overrides.patterns.items()):
        named = _named(key)
        if named and named not in operations:
            message = f"there is no API called `{named}`"
            findings.append(unmatched(overrides.file, override.place, message, nearest(named, operations, "API")))
        elif key in overrides.patterns:
            for api in (named,) if named else operations:
                patterns[api][key] = override
        elif named:
            entries[named][key] = override
        elif finding := _of_no_single(key, override, users, overrides):
            findings.append(finding)
        else:
            entries[users[key][0]][f"{users[key][0]}:{key}"] = override
    each = {
        api: Overrides(
            entries[api],
            patterns[api],
            overrides.apis.get(api, AdapterOverride()),
            file=overrides.file,
        )
        for api in operations
    }
    return each, findings


def unmatched_by_all(
    findings: Mapping[str, Iterable[Diagnostic]], overrides: Mapping[str, Overrides]
) -> list[Diagnostic]:
    """Return the findings of all APIs; of an entry for several, only one that matches in none of them."""
    shared = {
        override.place: sum(key in other.patterns for other in overrides.values())
        for each in overrides.values()
        for key, override in each.patterns.items()
    }
    kept: dict[Diagnostic, None] = {}
    missing: dict[tuple[int, int], list[Diagnostic]] = {}
    for diagnostic in (diagnostic for of_api in findings.values() for diagnostic in of_api):
        place = (diagnostic.line, diagnostic.column)
        if diagnostic.code == UNMATCHED and place in shared:
            missing.setdefault(place, []).append(diagnostic)
        else:
            kept[diagnostic] = None
    return [*kept, *(alike[0] for place, alike in missing.items() if len(alike) == shared[place])]


def refuse_for_one(overrides: Overrides) -> list[Diagnostic]:
    """Return what is wrong with overrides of several APIs, where an adapter is of one document."""
    return [
        unmatched(overrides.file, api.place, f"there is no API called `{name}`", "Write it under `adapter:`.")
        for name, api in overrides.apis.items()
    ]


def _of_adapter(overrides: Overrides, apis: Iterable[str]) -> list[Diagnostic]:
    """Find what `adapter` says of hosts and credentials, which each API has its own of, and sections of no API."""
    findings = []
    names = list(apis)
    for name in _OF_EACH:
        if name in overrides.adapter.places:
            way = f"Write it under the API that it is for: apis: {{{names[0]}: {{{name}: …}}}}."
            message = f"`adapter` has `{name}`, and each of the {len(names)} APIs has its own"
            findings.append(finding(overrides.file, overrides.adapter.places[name], message, way))
    for name, api in overrides.apis.items():
        if name not in names:
            message = f"there is no API called `{name}`"
            findings.append(unmatched(overrides.file, api.place, message, nearest(name, names, "API")))
    return findings


def _named(key: str) -> str:
    """Return the name of the API that an entry is for, "" if it names none."""
    selector = parse_selector(key)
    if selector is None:
        return ""
    return selector.text if selector.kind is Kind.API and not selector.is_pattern else selector.api


def _of_no_single(
    key: str, override: Override, users: Mapping[str, list[str]], overrides: Overrides
) -> Diagnostic | None:
    """Return what is wrong with the entry of an operation without an API, unless exactly one API has it."""
    having = users.get(key, [])
    if not having:
        message = f"there is no operation `{key}` in any of the documents"
        return unmatched(overrides.file, override.place, message, nearest(key, users, "operation"))
    if len(having) > 1:
        ways = " or ".join(f"`{api}:{key}`" for api in having[:6])
        message = f"`{key}` is an operation of {len(having)} APIs"
        return finding(overrides.file, override.place, message, f"Write {ways}.")
    if f"{having[0]}:{key}" in overrides.entries:
        message = f"`{key}` and `{having[0]}:{key}` are the same operation"
        return finding(overrides.file, override.place, message, "Keep one of them.")
    return None
