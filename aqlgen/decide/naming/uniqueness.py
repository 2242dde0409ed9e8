"""One name for each operation, whatever their order; the better claim wins, and names that agents know stay (R-NAME-3).

None of the names of an earlier table comes to mean another operation, and none is the operationId of another: who knows
the API calls operations by these.
Names are kept by `METHOD /path`. An operation that moved is recognised if only parameter names, version or spelling of
its path changed, or if it is the only one with its operationId; so is one that has another method under the same path
and operationId.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from aqlgen.decide.decision import Category, Decision
from aqlgen.decide.naming.candidates import Names
from aqlgen.decide.naming.spelling import RESERVED, is_valid
from aqlgen.decide.overrides.model import finding
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Operation
from aqlgen.runtime.encode.urls import without_names
from aqlgen.runtime.text import folded
from aqlgen.words import singular, split

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def settle(
    wanted: Mapping[str, Names], fixed: Mapping[str, str], reserved: Mapping[str, str] = _NONE
) -> dict[str, str]:
    """Choose a name for each key; `fixed` names are chosen already, each `reserved` name is for its key alone.

    So is each operationId for the operations that have it.

    Where several want one name, the one with the single best claim keeps it (it is nearest to its first candidate,
    leaves out least of its path, has the usual method), and all others take their next candidate; with no single best,
    all do. A round looks at all operations at once, so that their order never matters. Operations with a fixed name
    keep their claim to the one that they would have, so that fixing a name renames no other but one that has it.
    """
    owners = _operations_by_id(wanted)
    owners |= {name: (key,) for name, key in (*reserved.items(), *((name, key) for key, name in fixed.items()))}
    level = dict.fromkeys(wanted, 0)
    chosen = {key: names.best for key, names in wanted.items()}
    versioned = _versioned(wanted)
    while moving := _moving(wanted, chosen, level, owners):
        stuck = True
        for key in moving:
            candidates = wanted[key].candidates(versioned=key in versioned)
            if level[key] + 1 < len(candidates):
                level[key], stuck = level[key] + 1, False
                chosen[key] = candidates[level[key]]
        if stuck:
            break
    return chosen | dict(fixed)


def _operations_by_id(wanted: Mapping[str, Names]) -> dict[str, Collection[str]]:
    """Return the keys of the operations that have an operationId, by that as a name, and folded."""
    keys: defaultdict[str, Collection[str]] = defaultdict(tuple)
    for key, names in wanted.items():
        id_as_name = names.facts.operation.id_as_name
        for spelling in {id_as_name, folded(id_as_name)}:
            keys[spelling] = (*keys[spelling], key)
    keys.pop("", None)
    return dict(keys)


def _versioned(wanted: Mapping[str, Names]) -> frozenset[str]:
    """Return the operations that another version of the API has too."""
    twins: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for key, names in wanted.items():
        if names.version:
            twins[names.twin].append(key)
    return frozenset(key for keys in twins.values() if len(keys) > 1 for key in keys)


def _moving(
    wanted: Mapping[str, Names],
    chosen: Mapping[str, str],
    level: Mapping[str, int],
    owners: Mapping[str, Collection[str]],
) -> list[str]:
    """Return the operations that must take their next candidate."""
    groups: dict[str, list[str]] = defaultdict(list)
    for key, name in chosen.items():
        groups[name].append(key)
    moving: list[str] = []
    for name, keys in groups.items():
        claimants = [key for key in keys if key in owners.get(name, owners.get(folded(name), keys))]
        moving += [key for key in keys if key not in claimants]
        if len(claimants) > 1:
            claims = sorted(((-level[key], wanted[key].rank, key) for key in claimants), reverse=True)
            owned = claims[0][:2] != claims[1][:2]
            moving += [key for _, _, key in claims[1 if owned else 0 :]]
    return moving


Fingerprint: TypeAlias = Callable[[str], str]


_RESIDUE: Final = re.compile(r"(v?\d+([._-]\d+)*((alpha|beta|rc|preview)\d*)?|apis?|rest)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settled:
    """The name of each operation, by key."""

    names: Mapping[str, str]
    fresh: Mapping[str, str]
    """The names that there would be with nothing kept."""
    pinned: Mapping[str, str]
    """The names that must be kept for the same names to come out again."""
    lost: Mapping[str, str]
    """The names that operations had, or would have, if the user did not give them to others."""


def settle_keeping(
    wanted: Mapping[str, Names],
    fixed: Mapping[str, str],
    kept: Mapping[str, str],
    aliases: Mapping[str, str],
    ids: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    retired: Mapping[str, str] = _NONE,
) -> Settled:
    """Choose a name for each key: the user's (`fixed`), else the kept one, else one that nobody knows yet.

    An operation loses a kept name that the user gives to another. No operation takes the name of one that is gone or
    that the user has renamed, nor one of the `aliases`, each with the key of its operation. `ids` are the operationIds
    by key, then and today. `retired` are names without an operation, each with the key of the operation it had.
    """
    fresh = settle(wanted, fixed, aliases)
    kept = _usable(kept)
    taken = frozenset(fixed.values())
    known = followed(kept, wanted, *ids)
    had = known if kept or not fixed else settle(wanted, {}, aliases)
    lost = {key: name for key, name in had.items() if key not in fixed and name in taken}
    if not kept and not retired:
        return Settled(fresh, fresh, {}, lost)
    standing = {key: name for key, name in known.items() if key not in fixed and name not in taken} | dict(fixed)
    if standing.keys() == wanted.keys():
        names = standing
    else:
        names = settle(wanted, standing, {**retired, **dict.fromkeys(kept.values(), ""), **aliases})
    reserved = {**unused(kept, retired, names.values()), **aliases}
    return Settled(names, fresh, pins(names, lambda kept: settle(wanted, {**kept, **fixed}, reserved), {}), lost)


def unused(kept: Mapping[str, str], retired: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the names that agents may know and that no operation has any more, each with the key that it stood for."""
    known, used = {**retired, **{name: key for key, name in kept.items()}}, frozenset(names)
    return {name: known[name] for name in sorted(known) if name not in used}


def _usable(kept: Mapping[str, str]) -> dict[str, str]:
    """Leave out what is no valid name (any more), as in a record edited by hand, and what two operations have."""
    count = Counter(kept.values())
    return {key: name for key, name in kept.items() if count[name] == 1 and is_valid(name) and name not in RESERVED}


def pins(
    names: Mapping[str, str], settle: Callable[[Mapping[str, str]], Mapping[str, str]], pinned: dict[str, str]
) -> dict[str, str]:
    """Return the fewest names that, if kept beside those `pinned`, give all of them again, as `settle` chooses them."""
    again = settle(pinned)
    while differing := {key: name for key, name in names.items() if again[key] != name}:
        pinned |= differing
        again = settle(pinned)
    return pinned


def followed(
    kept: Mapping[str, str], keys: Iterable[str], before: Mapping[str, str], today: Mapping[str, str]
) -> dict[str, str]:
    """Return the kept names by the keys of today; `before` and `today` are the operationIds of then and now."""
    new = {key for key in keys if key not in kept}
    present = {key: kept[key] for key in keys if key in kept}
    gone = {key for key in kept if key not in present}
    fingerprints = (
        (without_names, without_names),
        (_by_operation_id(before), _by_operation_id(today)),
        (_without_method(before), _without_method(today)),
        (_without_spelling, _without_spelling),
    )
    for fingerprint in fingerprints:
        for old, key in _pairs((gone, new), fingerprint) if gone and new else ():
            present[key] = kept[old]
            gone.remove(old)
            new.remove(key)
    return present


def _pairs(sides: tuple[set[str], set[str]], fingerprints: tuple[Fingerprint, Fingerprint]) -> list[tuple[str, str]]:
    """Pair the keys that alone have the same fingerprint on both sides; "" is no fingerprint."""
    groups: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, keys in enumerate(sides):
        for key in keys:
            groups[fingerprints[side](key)][side].append(key)
    groups.pop("", None)
    return [(old[0], new[0]) for old, new in groups.values() if len(old) == len(new) == 1]


def _by_operation_id(ids: Mapping[str, str]) -> Fingerprint:
    """Identify operations by method and operationId, if no other operation has that operationId."""
    count = Counter(ids.values())
    return lambda key: f"{key.partition(' ')[0]} {ids[key]}" if count[ids.get(key, "")] == 1 else ""


def _without_method(ids: Mapping[str, str]) -> Fingerprint:
    """Identify operations by path and operationId, whatever their method."""
    return lambda key: f"{key.partition(' ')[2]} {ids[key]}" if ids.get(key) else ""


def _without_spelling(key: str) -> str:
    """Leave out versions, case and separators, and the number of all words but the last: `/users` is not `/user`."""
    method, _, path = without_names(key).partition(" ")
    parts = [part for part in path.split("/") if part and not _RESIDUE.fullmatch(part)]
    words = [(part,) if part == "{}" else split(part) for part in parts]
    return "/".join((method, *(" ".join(map(singular, part)) for part in words[:-1]), *map(" ".join, words[-1:])))


_MISNAMED: Final = "operation-id-of-another"


def takeovers(decisions: Iterable[Decision], file: str) -> list[Diagnostic]:
    """Find the overrides that give an operation the name of another that is served."""
    decisions = list(decisions)
    owners = {decision.name: decision.override for decision in decisions}
    findings = []
    for decision in decisions:
        if decision.lost_name in owners:
            override = owners[decision.lost_name]
            message = f"the name `{decision.lost_name}` is that of {decision.operation.key}"
            way_out = "Choose another, or give that operation another `name`, too."
            findings.append(finding(file, override.places.get("name", override.place), message, way_out))
    return findings


def misnamed(decisions: Iterable[Decision], operations: Iterable[Operation]) -> list[Diagnostic]:
    """Find the names and aliases that are the operationId of another operation; a READ that is called does no harm."""
    by_id: defaultdict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        by_id[operation.id_as_name].append(operation)
    findings = []
    for decision in decisions:
        key = decision.operation.key
        for name in (decision.name, *(alias.name for alias in decision.override.aliases)):
            others = by_id.get(name, ())
            if others and name != decision.operation.id_as_name:
                severity = Severity.NOTE if decision.category is Category.READ else Severity.WARNING
                message = f"{name!r} is the operationId of {others[0].key}, and calls {key}"
                pointer = f"{others[0].origin.pointer}/operationId"
                findings.append(Diagnostic(_MISNAMED, severity, message, pointer=pointer, help=f"Rename {key}."))
    return findings
