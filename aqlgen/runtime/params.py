# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Problems with the set of parameters rather than with a value: missing, unknown, given twice, not updateable."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from .errors import Code
from .problems import Problem, expectation
from .search import words
from .shapes import folded
from .speech import listed
from .table import JsonSchema, Row

__all__ = ["field_problems", "missing_problem", "twice_problem", "unknown_problem"]


_NOTHING: Mapping[str, Collection[str]] = MappingProxyType({})


class _Declared(Protocol):
    @property
    def schema(self) -> JsonSchema: ...


class _Operation(Protocol):
    """An operation of the API or of the protocol."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, _Declared]: ...

    @property
    def hidden(self) -> Collection[str]: ...


def missing_problem(row: _Operation, names: Sequence[str]) -> Problem:
    """Tell the required parameters that were not given, each with what it wants."""

    def told(name: str) -> str:
        wanted = expectation(row.parameters[name].schema)
        return f"'{name}' ({wanted})" if wanted else f"'{name}'"

    also = f". Also missing: {', '.join(map(told, names[1:]))}" if len(names) > 1 else ""
    details = {"param_name": names[0], "operation": row.name, "missing_params": list(names)}
    return Problem(Code.MISSING_PARAM, names[0], f"Missing required parameter {told(names[0])}{also}", details)


def unknown_problem(
    row: _Operation, names: Sequence[str], given: Mapping[str, Any], within: Mapping[str, Collection[str]] = _NOTHING
) -> Problem:
    """Tell the parameters that the operation does not have, and what to give instead.

    `given` are all that were given, `within` the fields of the parameters that are objects.
    """
    valid = [name for name in row.parameters if name not in row.hidden]
    way = _wrapper(names, given, valid) or _inner(names, valid, within) or _way_out(names, valid)
    message = f"Unknown parameter(s) for operation '{row.name}': {', '.join(names)}. {way}"
    details = {"operation": row.name, "unknown_params": list(names), "valid_params": valid}
    return Problem(Code.UNKNOWN_PARAM, names[0], message, details)


def twice_problem(name: str, alias: str) -> Problem:
    """Tell that one parameter was given under two spellings."""
    message = f"Parameter '{name}' is given twice, as '{name}' and as '{alias}': give it once"
    return Problem(Code.INVALID_VALUE, name, message, {"param_name": name})


def field_problems(
    row: Row, stray: Sequence[str], fields: Collection[str] | None, hidden: Collection[str]
) -> Iterator[Problem]:
    """Tell the fields of `input` that are unknown, then those that are read-only (R-UPD-1)."""
    unknown = [key for key in stray if folded(key) not in hidden]
    if unknown:
        valid = sorted(fields or ())
        yield Problem(
            Code.UNKNOWN_FIELD,
            f"input.{unknown[0]}",
            f"Unknown field(s) in input of operation '{row.name}': {', '.join(unknown)}. {_way_out(unknown, valid)}",
            {"operation": row.name, "unknown_fields": unknown, "valid_fields": valid},
        )
    read_only = [key for key in stray if folded(key) in hidden]
    if read_only:
        yield Problem(
            Code.READ_ONLY_FIELD,
            f"input.{read_only[0]}",
            f"Read-only field(s) in input of operation '{row.name}': {', '.join(read_only)}. Leave them out.",
            {"operation": row.name, "read_only_fields": read_only},
        )


def _wrapper(names: Sequence[str], given: Mapping[str, Any], valid: Sequence[str]) -> str:
    """Say so when one unknown parameter holds what should stand in its place."""
    value = given.get(names[0])
    known = {folded(name) for name in valid}
    if len(names) > 1 or not isinstance(value, Mapping) or not value or not known.issuperset(map(folded, value)):
        return ""
    return f"Give its fields directly, as parameters: {listed(value)}."


def _inner(names: Sequence[str], valid: Sequence[str], within: Mapping[str, Collection[str]]) -> str:
    """Say so when the unknown ones are fields of one of the parameters."""
    wanted = {folded(name) for name in names}
    homes = [name for name in valid if wanted.issubset(map(folded, within.get(name, ())))]
    return f"They are fields of '{homes[0]}': give them within it." if len(homes) == 1 else ""


def _way_out(names: Sequence[str], valid: Sequence[str]) -> str:
    if not valid:
        return "There are none to give."
    import difflib

    def near(name: str) -> list[str]:
        """Give the valid name that is spelled alike, or else the only one that has the name as a word, or is one."""
        said = set(words(name))
        alike = difflib.get_close_matches(name.lower(), valid, n=1, cutoff=0.6)
        sharing = [one for one in valid if said and (said <= set(words(one)) or said >= set(words(one)))]
        return alike or (sharing if len(sharing) == 1 else [])

    hints = [f"Did you mean '{close[0]}' for '{name}'?" for name in names if (close := near(name))]
    return " ".join(hints) if len(hints) == len(names) else " ".join([*hints, f"Valid ones: {listed(valid)}."])
