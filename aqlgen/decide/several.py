"""The operations of several APIs, each decided about and named as if it were alone, and then told apart.

Each API has the overrides that are for it; an entry that matches nothing in any of them is reported once.

A name that agents know stays as it is, with or without a prefix; of those that nobody knows yet, all that are the same
get the prefixes of their APIs, so that the order of the documents never matters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aqlgen.decide.decision import Decision, Override
from aqlgen.decide.naming.spelling import LIMIT, RESERVED, hashed, is_valid
from aqlgen.decide.naming.uniqueness import Settled, pins
from aqlgen.decide.overrides import UNMATCHED, AdapterOverride, Overrides, finding, name_collisions, nearest, unmatched
from aqlgen.decide.overrides.selectors import Kind, parse_selector
from aqlgen.decide.stage import Known, Named, decide_named, name_operations
from aqlgen.diagnostics import Diagnostic
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document, Operation


@dataclass(frozen=True, slots=True)
class ApiNames:
    """The operations of an API: the `names` that they have in it, by key, and the word that is put before them.

    `fixed` are the keys whose names the owner gave; `pinned` those whose names have to be kept within the API. `known`
    are the names that agents know, by the name within the API. `aliases` are further names of its operations, which no
    other API gives to one of its own: the owner's, and the operationIds.
    """

    prefix: str
    names: Mapping[str, str]
    fixed: Collection[str]
    pinned: Collection[str]
    known: Mapping[str, str]
    aliases: Collection[str] = ()


def base_names(kept: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the kept names of an API as they are within it: without the prefix, unless another one is that then."""
    plain = {name for name in kept.values() if not name.startswith(f"{prefix}_")}
    bases: dict[str, str] = {}
    for key, name in kept.items():
        base = name.removeprefix(f"{prefix}_")
        bases[key] = base if base not in plain and is_valid(base) and base not in RESERVED else name
    return bases


def prefix_names(apis: Mapping[str, ApiNames], reserved: Mapping[str, str]) -> Settled:
    """Return a name for each key that no other key has.

    `reserved` are names that stood for operations which are gone, each with its API.
    """
    standing = dict(_standing(apis))
    names = _settled(apis, standing, reserved)
    pinned = {key: names[key] for api in apis.values() for key in api.pinned}
    used = frozenset(names.values())
    reserved = {name: api for name, api in reserved.items() if name not in used}  # what is recorded as retired
    pinned = pins(names, lambda kept: _settled(apis, kept, reserved), pinned)
    fixed = {api.names[key] for api in apis.values() for key in api.fixed}
    lost = {key: name for key, name in standing.items() if name in fixed and names[key] != name}
    return Settled(names, {}, pinned, lost)


def _standing(apis: Mapping[str, ApiNames]) -> Iterator[tuple[str, str]]:
    """Yield the key and the name of each operation whose name agents know; of two with one name the first has it."""
    seen: set[str] = set()
    for api in apis.values():
        for key, name in api.names.items():
            known = api.known.get(name)
            if known is not None and known not in seen:
                seen.add(known)
                yield key, known


def _settled(apis: Mapping[str, ApiNames], standing: Mapping[str, str], reserved: Mapping[str, str]) -> dict[str, str]:
    fixed = {key: api.names[key] for api in apis.values() for key in api.fixed}
    owned = frozenset(fixed.values())
    names = {key: name for key, name in standing.items() if name not in owned} | fixed
    taken = _taken(apis, names.values())
    open_names = [
        (label, key, name) for label, api in apis.items() for key, name in api.names.items() if key not in names
    ]
    wanting: defaultdict[str, list[str]] = defaultdict(list)
    for label, _, name in open_names:
        wanting[name].append(label)
    free = {name for name, labels in wanting.items() if _is_free(name, labels, taken, reserved)}
    used = {*taken, *reserved, *free}
    for label, key, name in open_names:
        names[key] = name
        if name not in free:
            prefix = apis[label].prefix
            longer = f"{prefix}_{name}"
            is_usable = len(longer) <= LIMIT and longer not in used
            names[key] = longer if is_usable else hashed((prefix, *name.split("_")), key)
            used.add(names[key])
    return names


def _taken(apis: Mapping[str, ApiNames], names: Iterable[str]) -> dict[str, str]:
    """Return the names that are given and the aliases, each with the only API that has it, "" for the others."""
    taken = dict.fromkeys(names, "")
    for label, api in apis.items():
        taken |= {name: label if taken.get(name, label) == label else "" for name in api.aliases}
    return taken


def _is_free(name: str, labels: Sequence[str], taken: Mapping[str, str], reserved: Mapping[str, str]) -> bool:
    """Return True if one operation alone wants a name, and no other API has it or had it."""
    label = labels[0]
    return len(labels) == 1 and taken.get(name, label) == label and reserved.get(name, label) == label


def decide_each(
    apis: Mapping[str, tuple[Document, Overrides, Resolver]], known: Known
) -> tuple[dict[str, tuple[Decision, ...]], list[Diagnostic]]:
    """Return the decisions of each API by its name, and what is wrong with the overrides of all.

    The prefix of an API, the word before names that another API has too, is the owner's, else its name.
    The keys of what is known have the API's name before them, `NAME:METHOD /path`.
    """
    named: dict[str, Named] = {}
    names: dict[str, ApiNames] = {}
    reports: dict[str, list[Diagnostic]] = {api: [] for api in apis}
    for name, (document, overrides, resolver) in apis.items():
        kept, prefix = _of(name, known.names), overrides.adapter.prefix or name
        bases = base_names(kept, prefix)
        names_known = Known(bases, _of(name, known.ids), _retired(name, prefix, known.retired))
        result = name_operations(document, overrides, resolver, report=reports[name].append, known=names_known)
        named[name] = result
        names[name] = ApiNames(
            prefix,
            result.settled.names,
            result.fixed.keys(),
            result.settled.pinned.keys(),
            {bases[key]: full for key, full in kept.items()},
            {*result.aliases, *(operation.id_as_name for operation in document.operations)} - {""},
        )
    reserved = {old: key.partition(":")[0] for old, key in known.retired.items()}
    reserved |= {full: key.partition(":")[0] for key, full in known.names.items()}
    prefixed = prefix_names(names, reserved)
    findings = unmatched_by_all(reports, {name: overrides for name, (_, overrides, _) in apis.items()})
    chosen = {key: override for result in named.values() for key, override in result.chosen.items()}
    file = next(overrides.file for _, overrides, _ in apis.values())
    findings = list(dict.fromkeys([*findings, *name_collisions(chosen, file)]))
    return {name: decide_named(result, prefixed) for name, result in named.items()}, findings


def _retired(api: str, prefix: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the names that an API retired within itself; those with its prefix were retired among all."""
    of_api = (old for old, key in names.items() if key.startswith(f"{api}:"))
    return {old: names[old] for old in of_api if not old.startswith(f"{prefix}_")}


def _of(api: str, entries: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in entries.items() if key.startswith(f"{api}:")}


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
    """Return the errors in overrides of several APIs for an adapter of one document."""
    return [
        unmatched(overrides.file, api.place, f"there is no API called `{name}`", "Write it under `adapter:`.")
        for name, api in overrides.apis.items()
    ]


def _of_adapter(overrides: Overrides, apis: Iterable[str]) -> list[Diagnostic]:
    """Find hosts and credentials under `adapter`, which belong to one API, and sections of no API."""
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
    """Return the error in an entry without an API, unless exactly one API has the operation."""
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
