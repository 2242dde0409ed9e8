"""The alternatives of security schemes of an operation, with those that it demands or accepts beside its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, combinations, product
from typing import Final, TypeAlias

from aqlgen.decide.credentials.names import stem
from aqlgen.decide.credentials.placement import sends
from aqlgen.ir import SecurityScheme

__all__ = ["Alternatives", "Requirements", "combined", "parted", "with_added", "with_fallback"]

Alternatives: TypeAlias = tuple[tuple[str, ...], ...]
Requirements: TypeAlias = list[tuple[str, ...]]

_MOST_SUBSETS: Final = 3


def with_fallback(needs: Requirements, fallback: list[str], schemes: Mapping[str, SecurityScheme]) -> Requirements:
    """Return the alternatives with the schemes that are required nowhere: beside all others, or in their place."""
    bundles = _bundles(fallback, schemes)
    if len(bundles) == 1 and all(_agree((*names, *bundles[0]), schemes) for names in needs):
        needs = [*(names + bundles[0] for names in needs if names), *needs]
    return [*needs, *(bundle for bundle in bundles if bundle not in needs)]


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
    if demanded and not all(set(demanded) <= set(requirement) for requirement in bases):
        bases = [_with_demanded(requirement, demanded, schemes) for requirement in bases]
    if not accepted:
        return bases if stated or demanded else []
    subsets = _subsets(_bundles(accepted, schemes))
    alternatives: Requirements = []
    for base in bases:
        fuller = [tuple(dict.fromkeys((*base, *subset))) for subset in subsets]
        alternatives += [requirement for requirement in fuller if _agree(requirement, schemes)] + [base]
    if demanded:
        alternatives += [_instead(base, bundle, schemes) for base in bases for bundle in _bundles(accepted, schemes)]
    else:
        alternatives += [subset for subset in subsets if _agree(subset, schemes)]
    return list(dict.fromkeys(alternatives))


def with_added(needs: Requirements, added: list[str], schemes: Mapping[str, SecurityScheme]) -> Requirements:
    """Return the alternatives, each with all, some and none of the schemes that are added to it."""
    subsets = [*_subsets(_bundles(added, schemes)), ()]
    return [(*base, *subset) for base in needs or [()] for subset in subsets]


def _instead(base: tuple[str, ...], bundle: tuple[str, ...], schemes: Mapping[str, SecurityScheme]) -> tuple[str, ...]:
    """Return a requirement with some schemes in place of those that send the same."""
    places = {sends(schemes[name]) for name in bundle}
    kept = tuple(name for name in base if name in schemes and sends(schemes[name]) not in places)
    return base if len(kept) == len(base) else (*kept, *bundle)


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
