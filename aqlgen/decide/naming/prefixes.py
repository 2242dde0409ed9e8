"""Names of operations of several APIs: the API's prefix before a name only where another API has the same.

Each API is named as if it were alone. A name that agents know stays as it is, with or without a prefix; of those that
nobody knows yet, all that are the same get the prefixes of their APIs, so that the order of the documents never
matters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aqlgen.decide.naming.spelling import LIMIT, RESERVED, hashed, is_valid
from aqlgen.decide.naming.uniqueness import Settled

__all__ = ["ApiNames", "base_names", "prefix_names"]


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
    again = _settled(apis, pinned, reserved)
    while differing := {key: name for key, name in names.items() if again[key] != name}:
        pinned |= differing
        again = _settled(apis, pinned, reserved)
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
