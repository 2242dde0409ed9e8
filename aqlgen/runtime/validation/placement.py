# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Parameters that stand in another place than theirs: within a wrapper, beside the body, within the body."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ..table import Row
from ..text import letters
from .readings import Change, Outcome, Place, same, structured
from .understanding import WRAPPERS, renames, unwrapped

__all__ = ["placements"]

_HOMES = frozenset({"body", "input", "data", "payload", "request", "requestbody", "json"})
"""The wrappers that may stand for the one parameter that is an object of the body."""


class _Placement(Outcome):
    """The parameters in one arrangement; `fits` until a name has no place, or two values."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        super().__init__(dict(params))
        self.fits = True

    def put(self, home: str | None, name: str, value: Any, source: Place) -> None:
        """Place a value as a parameter, or in the object `home`."""
        target: Any = self.value
        place: Place = (name,)
        if home is not None:
            current = target.get(home, {})
            if not isinstance(current, dict):
                self.fits = False
                return
            target[home] = dict(current)
            target, place = target[home], (home, name)
        if name in target and (home is not None or not same(target[name], value)):
            self.fits = False
            return
        target[name] = value
        self.note(place, Change(value, value, ("moved",), source))

    def take(self, home: str, name: str) -> None:
        """Remove a field from the object `home`."""
        self.value[home] = {key: value for key, value in self.value[home].items() if key != name}


def placements(
    row: Row,
    known: Mapping[str, Any],
    unknown: Mapping[str, Any],
    homes: Mapping[str, Collection[str]],
    spelled: Callable[[str], str | None],
    named: Callable[[str], str | None],
) -> Iterator[Outcome]:
    """Yield the arrangements in which every value has a place.

    `known` are the parameters that stand in their places, `unknown` the others, `homes` the fields of the parameters
    that are objects of the body. `spelled` returns the parameter that a name is, in whatever spelling, `named` the
    one that an unknown name stands for.
    """
    for home in (None, *homes):
        for outward in (False, True):
            placement = _Placement(known)
            changed = _opened(placement, row, unknown, homes, named, home)
            changed = _tidied(placement, homes) or changed
            if outward:
                changed = _moved_out(placement, row, homes, spelled) or changed
            if placement.fits and changed:
                yield placement


def _opened(
    placement: _Placement,
    row: Row,
    unknown: Mapping[str, Any],
    homes: Mapping[str, Collection[str]],
    named: Callable[[str], str | None],
    home: str | None,
) -> bool:
    """Place what stands under unknown names; with `home`, what is a field of that object goes there.

    A wrapper of the body is then that object itself.
    """
    missing = {name for name in homes if row.parameters[name].required and name not in placement.value}
    loose: list[tuple[str, Any, Place]] = []
    for name, value in unknown.items():
        if letters(name) == "operation" and value == row.name:
            continue
        is_field = home is not None and name in homes[home]
        content = _content(value) if letters(name) in WRAPPERS and not is_field else None
        if not content:
            loose.append((name, value, (name,)))
        elif home is not None and len(homes) == 1 and letters(name) in _HOMES:
            placement.put(None, home, content, (name,))
        else:
            loose += [(key, inner, (name, key)) for key, inner in content.items()]
    for name, value, source in loose:
        parameter = named(name)
        if parameter in placement.value and len(source) == 1 and home is not None and name in homes[home]:
            parameter = None
        if parameter is not None:
            placement.put(None, parameter, value, source)
            continue
        fields = [
            (owner, field)
            for owner, names in homes.items()
            for field in names
            if letters(field) == letters(name) and (field == name or name not in names)
        ]
        if len(fields) > 1:  # only an object that is missing is surely meant
            fields = [(owner, field) for owner, field in fields if owner == home and owner in missing]
        fields = [(owner, field) for owner, field in fields if not _shared(row, placement.value, owner, homes[owner])]
        if len(fields) == 1 and home in (fields[0][0], None):
            placement.put(*fields[0], value, source)
        elif not (letters(name) == "operation" and value == row.name and len(source) > 1):
            placement.fits = False
    return bool(unknown)


def _shared(row: Row, params: Mapping[str, Any], owner: str, fields: Collection[str]) -> bool:
    """Return True if other fields of the body that are given could be fields of the object `owner` as well."""
    return any(name != owner and name in fields and row.parameters[name].location == "body" for name in params)


def _tidied(placement: _Placement, homes: Mapping[str, Collection[str]]) -> bool:
    """Rename the fields of the objects of the body as they are declared; return True if any had another."""
    changed = False
    for home, fields in homes.items():
        content = placement.value.get(home)
        if not isinstance(content, dict) or not fields:
            continue
        declared = dict.fromkeys(fields)
        inner = unwrapped(content, declared, home)
        if isinstance(inner, dict):
            placement.note((home,), Change(content, inner, ("unwrapped",)))
            content, changed = inner, True
        names = renames(content, declared)
        for key, name in names.items():
            placement.note((home, name), Change(content[key], content[key], ("renamed",), (home, key)))
        placement.value[home] = {names.get(key, key): value for key, value in content.items()}
        changed = changed or bool(names)
    return changed


def _content(value: Any) -> dict[str, Any] | None:
    parsed = structured(value) if isinstance(value, str) else value
    return parsed if isinstance(parsed, dict) else None


def _moved_out(
    placement: _Placement, row: Row, homes: Mapping[str, Collection[str]], spelled: Callable[[str], str | None]
) -> bool:
    """Move out of the objects of the body what they do not declare and what is a parameter that is not given."""
    changed = False
    for home, fields in homes.items():
        content = placement.value.get(home)
        declared = {letters(field) for field in fields}
        if not isinstance(content, dict) or not declared:
            continue
        for name, value in content.items():
            parameter = spelled(name)
            if letters(name) in declared or parameter is None or parameter == home:
                continue
            if parameter in row.adapter_parameters or parameter in placement.value:
                continue
            placement.take(home, name)
            placement.put(None, parameter, value, (home, name))
            changed = True
    return changed
