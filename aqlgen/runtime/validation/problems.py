"""Problems with a call: each a code and a sentence that an agent can act on (R-ENV-5, R-ERR-1).

The problems here are with the set of parameters: missing, unknown, given twice, not updateable. `value_problems` has
those with values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from ..errors import Code, Failure
from ..schema import referred
from ..schema.notation import named
from ..table import JsonSchema, Row
from ..text import folded, leaks, letters, line, listed, near_names, shown, words

_MOST = 20
_LONGEST_NAME = 64
_MOST_NEAR = 3
_SHORT = 3
_PAGING: Mapping[str, frozenset[str]] = {
    "first": frozenset(("limit", "size", "per", "max", "count", "top", "take", "number")),
    "after": frozenset(("page", "offset", "cursor", "skip", "start", "starting", "next", "marker", "token")),
}
"""Words in the names that APIs give what `first` and `after` are; a page size is no page."""
_NOTHING: Mapping[str, Collection[str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with the parameter or field `name` (a path such as `input.tags[0]`)."""

    code: Code
    name: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)


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
    def hidden_parameters(self) -> Collection[str]: ...


def failure(problems: Sequence[Problem]) -> Failure:
    """Build one answer of all problems: the first decides code and message, `details.problems` has the rest."""
    first, rest = problems[0], problems[1:]
    details = dict(first.details)
    message = _safe(first)
    if rest:
        details["problems"] = [
            {"code": problem.code.value, "param_name": problem.name, "message": _safe(problem)}
            for problem in rest[:_MOST]
        ]
        message = f"{message} (and {len(rest)} more, see details.problems)"
    return Failure(first.code, message, details)


def _safe(problem: Problem) -> str:
    """Return the message, or a plain one if a name or value makes it read like a stack trace."""
    return problem.message if not leaks(problem.message) else "A parameter is not valid, see details"


def missing_problem(row: _Operation, names: Sequence[str], lists: Sequence[str] = ()) -> Problem:
    """Return the problem of required parameters that were not given; `lists` are operations that need no such thing."""

    def described(name: str) -> str:
        expected = _expectation(row.parameters[name].schema)
        return f"'{name}' ({expected})" if expected else f"'{name}'"

    also = f". Also missing: {', '.join(map(described, names[1:]))}" if len(names) > 1 else ""
    also += f". For all of them: {' or '.join(lists)}" if lists else ""
    details = {"param_name": names[0], "operation": row.name, "missing_params": list(names)}
    return Problem(Code.MISSING_PARAM, names[0], f"Missing required parameter {described(names[0])}{also}", details)


def _expectation(schema: JsonSchema) -> str:
    """Describe in a word or two what a schema expects; "" if it does not say."""
    options = schema.get("enum")
    if isinstance(options, list) and options:
        text = "one of " + listed(options, 10)
        return "" if leaks(text) else text
    declared = schema.get("type")
    if isinstance(declared, list):
        return " or ".join(map(str, declared))
    type_name = referred(schema)
    if not declared and type_name is not None:
        text = f"type {type_name}"
        return "" if leaks(text) else text
    return str(declared) if declared else ""


def unknown_problem(
    row: _Operation,
    names: Sequence[str],
    within: Mapping[str, Collection[str]] = _NOTHING,
    takers: Sequence[str] = (),
) -> Problem:
    """Return the problem of parameters that the operation does not have, with what to give instead.

    `within` are the fields of the parameters that are objects, `takers` operations that have the parameters.
    """
    valid = [name for name in row.parameters if name not in row.hidden_parameters]
    names = [line(name, _LONGEST_NAME) for name in names[:_MOST]]
    advice = _wrapping(names, valid, within) or _nearest(names, valid, row.hidden_parameters)
    if takers:
        advice = f"Operation {' or '.join(map(shown, takers))} has {listed(names)}. {advice}"
    message = f"Unknown parameter(s) for operation '{row.name}': {', '.join(names)}. {advice}"
    details = {"operation": row.name, "unknown_params": list(names), "valid_params": valid}
    return Problem(Code.UNKNOWN_PARAM, names[0], message, details)


def twice_problem(name: str, alias: str) -> Problem:
    """Return the problem of one parameter that was given under two spellings."""
    message = f"Parameter '{name}' is given twice, as '{name}' and as '{alias}': give it once"
    return Problem(Code.INVALID_VALUE, name, message, {"param_name": name})


def unexplained_problem(row: _Operation) -> Problem:
    """Return the problem of parameters that break a rule which no other problem names."""
    message = f"The parameters of operation '{row.name}' do not fit its schema; describe it to see its types"
    return Problem(Code.INVALID_VALUE, "params", message, {"operation": row.name})


def field_problems(
    row: Row, stray: Sequence[str], fields: Collection[str] | None, hidden: Collection[str], place: str = "input"
) -> Iterator[Problem]:
    """Yield the problem of the fields at a place that are unknown, then that of the read-only ones (R-UPD-1)."""
    unknown = [line(key, _LONGEST_NAME) for key in stray if folded(key) not in hidden]
    if unknown:
        valid = sorted(fields or ())
        words_only = [key for key in unknown if named(key) == key][:_MOST]  # any text may be a key of an API's answer
        shown_keys = ", ".join(words_only) or "see details"
        yield Problem(
            Code.UNKNOWN_FIELD,
            f"{place}.{unknown[0]}",
            f"Unknown field(s) in {place} of operation '{row.name}': {shown_keys}. {_nearest(words_only, valid)}",
            {"operation": row.name, "unknown_fields": unknown[:_MOST], "valid_fields": valid},
        )
    read_only = [key for key in stray if folded(key) in hidden][:_MOST]
    if read_only:
        yield Problem(
            Code.READ_ONLY_FIELD,
            f"{place}.{read_only[0]}",
            f"Read-only field(s) in {place} of operation '{row.name}': {', '.join(read_only)}. Leave them out.",
            {"operation": row.name, "read_only_fields": read_only},
        )


def _wrapping(names: Sequence[str], valid: Sequence[str], within: Mapping[str, Collection[str]]) -> str:
    """Advise to wrap if the unknown parameters are fields of valid ones, else return ""."""
    wanted = {folded(name) for name in names}
    homes = [name for name in valid if wanted.issubset(map(folded, within.get(name, ())))]
    if len(homes) > 1:
        return f"They are fields of {listed(homes, 5)}: give them within the right one."
    return f"They are fields of '{homes[0]}': give them within it." if homes else ""


def _nearest(names: Sequence[str], valid: Sequence[str], hidden: Iterable[str] = ()) -> str:
    """Advise the nearest valid names for each unknown one, and all valid ones if some name has no near one.

    For a name near a hidden parameter it is what the adapter has in that one's place.
    """
    if not valid:
        return "It has no fields."
    near = {name: near_params(name, valid)[:_MOST_NEAR] for name in names}
    for name in filter(lambda name: not near[name], names):
        near[name] = [other for api_name in near_names(name, hidden) for other in near_params(api_name, valid)][:1]
    hints = [f"Did you mean {' or '.join(map(shown, close))} for '{name}'?" for name, close in near.items() if close]
    return " ".join(hints) if 0 < len(hints) == len(names) else " ".join([*hints, f"Valid ones: {listed(valid)}."])


def near_name(name: str, valid: Iterable[str]) -> str | None:
    """Return the only valid name that another one may mean."""
    near = near_params(name, valid)
    return near[0] if len(near) == 1 else None


def near_params(name: str, valid: Iterable[str]) -> list[str]:
    """Return the valid parameters that a name may mean.

    They have a near name, or else one is the short form of the other, or else it is the adapter's own parameter of
    pages for one of the other APIs.
    """
    valid, asked = list(valid), set(words(name))
    pages = [option for option, paging_words in _PAGING.items() if paging_words & asked]
    return next(
        filter(
            None,
            (
                near_names(name, valid),
                [other for other in valid if _shortened(name, other)],
                [other for other in valid if other in pages[:1]],
            ),
        ),
        [],
    )


def _shortened(name: str, other: str) -> bool:
    """Return True if one name begins with the other, which is no shorter than an abbreviation."""
    short, long = sorted((letters(name), letters(other)), key=len)
    return len(short) >= _SHORT and long.startswith(short)
