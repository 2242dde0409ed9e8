"""The alternatives of security schemes of an operation, with those that it demands or accepts beside its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, combinations, product
from typing import Final, TypeAlias

from aqlgen.decide.credentials.names import sends, stem
from aqlgen.ir import SecurityScheme

__all__ = ["Alternatives", "Requirements", "combined", "parted"]

Alternatives: TypeAlias = tuple[tuple[str, ...], ...]
Requirements: TypeAlias = list[tuple[str, ...]]

_MOST_SUBSETS: Final = 3


def parted(stated: Alternatives, schemes: Mapping[str, SecurityScheme]) -> Requirements:
    """Return the alternatives; one whose schemes would send the same header or parameter twice is several."""
    alternatives: Requirements = []
    for requirement in stated:
        places: dict[tuple[str, str], list[str]] = {}
        for name in requirement:
            scheme = schemes.get(name)  # None is a finding of its own
            places.setdefault(("", name) if scheme is None else sends(scheme), []).append(name)
        alternatives += [requirement] if len(places) == len(requirement) else list(product(*places.values()))
    return alternatives


def combined(
    stated: Requirements, demanded: list[str], accepted: list[str], schemes: Mapping[str, SecurityScheme]
) -> Requirements:
    """Return the alternatives, the fullest first: all with what is demanded, each with and without what is accepted."""
    bases = stated or [()]
    if not all(set(demanded) <= set(requirement) for requirement in bases):
        bases = [_with_demanded(requirement, demanded, schemes) for requirement in bases]
    if not accepted:
        return bases if stated or demanded else []
    subsets = _subsets(_bundles(accepted, schemes))
    alternatives: Requirements = []
    for base in bases:
        fuller = [tuple(dict.fromkeys((*base, *subset))) for subset in subsets]
        alternatives += [requirement for requirement in fuller if _agree(requirement, schemes)] + [base]
    if not demanded:
        alternatives += [subset for subset in subsets if _agree(subset, schemes)]
    return list(dict.fromkeys(alternatives))


def _with_demanded(
    requirement: tuple[str, ...], demanded: list[str], schemes: Mapping[str, SecurityScheme]
) -> tuple[str, ...]:
    """Return a requirement with what is demanded, but for schemes that send what another of it sends."""
    names = list(requirement)
    for name in demanded:
        if name not in names and _agree((*names, name), schemes):
            names.append(name)
    return tuple(sorted(names))


def _bundles(names: Iterable[str], schemes: Mapping[str, SecurityScheme]) -> Requirements:
    """Return the schemes, those that go together in one: `Api-Key` and `Api-Username`."""
    bundles: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys(names):
        scheme = schemes[name]
        key = (scheme.location, stem(scheme.parameter)) if scheme.kind == "apiKey" else ("", name)
        bundles.setdefault(key, []).append(name)
    return [tuple(bundle) for bundle in bundles.values()]


def _subsets(bundles: Requirements) -> Requirements:
    """Return the sets of schemes that may be sent together, the largest first."""
    sizes = range(len(bundles), 0, -1) if len(bundles) <= _MOST_SUBSETS else (len(bundles), 1)
    return [tuple(chain(*chosen)) for size in sizes for chosen in combinations(bundles, size)]


def _agree(names: tuple[str, ...], schemes: Mapping[str, SecurityScheme]) -> bool:
    """Return True if no two schemes send the same header, query parameter or cookie."""
    places = [sends(schemes[name]) for name in dict.fromkeys(names) if name in schemes]
    return len(places) == len(set(places))
