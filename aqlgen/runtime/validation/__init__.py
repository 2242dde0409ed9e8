"""Validation of a call's parameters against what the operation declares (R-REQ-2 to 4, R-ENV-5, R-UPD-1).

The order of the checks decides the code of the answer: required parameters present, unknown ones refused, types and
constraints. One answer tells all problems.

What is valid never changes. A call that is not, and can mean one thing only, is repaired (`repair`), if the caller
wants to be told of it. Defaults are not sent: in OpenAPI a default says what the server does when a
parameter is left out, so leaving it out is the same, and survives a change of the default.

The fields of `input` are parameters of the query where an update has no body. Calls are checked with the fields in
`input`, and go on with each as a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from posixpath import commonprefix
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure, invalid
from ..exact_json import with_floats
from ..schema import shape_of, union_of
from ..schema.field_names import Names, Renaming, Way
from ..schema.validators import PROTOCOL_SCHEMAS, Schemas
from ..table import ADAPTER, Row, Table
from ..text import folded, letters
from .undeclared import Declared, Strange, Undeclared

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

    from ..schema import Types
    from .leaves import Leaves
    from .problems import Problem
    from .repair import Repaired
    from .walk import Reading

_MOST_STRANGE = 20
_MOST_CHECKS = 100  # operations whose validators are kept: of deep types each takes a megabyte
_MOST_TAKERS, _MOST_SIBLINGS = 3, 50


class Unexplained(Exception):
    """A call is not valid as it is; what is wrong with it, and whether it can mean one thing only, was not asked."""


@dataclass(frozen=True, slots=True)
class _Checks:
    """The checks of one operation, prepared at its first call.

    `fields` are the only keys that `input` may have, `outside` the ones it may not have, `hidden` those that only the
    server sets (folded). `nested` are the parameters that may hold objects, with what these declare. `body`
    validates the body that the parameters make together.
    """

    is_valid: Callable[[Any], bool]
    renamed: tuple[tuple[str, Renaming], ...]
    fields: frozenset[str] | None
    outside: frozenset[str]
    hidden: frozenset[str]
    nested: tuple[tuple[str, Declared], ...]
    body: Draft202012Validator | None
    sensitive: frozenset[str]
    partial: bool


class Validation:
    """Checks parameters against the operation table. `assemble` builds a body under its schema's own agent names."""

    def __init__(
        self, table: Table, schemas: Schemas, names: Names, assemble: Callable[[Row, Mapping[str, Any]], Any]
    ) -> None:
        self._table = table
        self._schemas = schemas
        self._names = names
        self._assemble = assemble
        self._checks: dict[str, _Checks] = {}
        self._folded: dict[tuple[str, Callable[[str], str]], dict[str, list[str]]] = {}

    @cached_property
    def _undeclared(self) -> Undeclared:
        return Undeclared(self._table.types)  # which are read at the first call

    @cached_property
    def _types(self) -> Types:
        """The types that parameters refer to, the protocol's included."""
        return {**PROTOCOL_SCHEMAS, **self._table.types}

    def validate(
        self, row: Row, params: Mapping[str, Any], repaired: list[Repaired] | None = None, *, explain: bool = True
    ) -> dict[str, Any]:
        """Return the parameters under the agent's names. Raises Failure that tells every problem.

        With `repaired`, to which every change is added, a call that can mean one thing only is read as that. Without
        `explain` raises Unexplained instead of either, at once.
        """
        checks = self._checks.get(row.cache_key)
        if checks is None:
            if len(self._checks) >= _MOST_CHECKS:
                self._checks.pop(next(iter(self._checks)))
            checks = self._checks[row.cache_key] = self._prepare(row)
        if row.body is None and row.update is not None:
            return spread(self._checked(row, checks, gathered(row, params), repaired, explain=explain))
        return self._checked(row, checks, params, repaired, explain=explain)

    def _checked(
        self, row: Row, checks: _Checks, params: Mapping[str, Any], repaired: list[Repaired] | None, *, explain: bool
    ) -> dict[str, Any]:
        renamed = dict(params)
        for name, renaming in checks.renamed:
            if name in renamed:
                renamed[name] = renaming.convert(renamed[name], Way.TO_AGENT_FROM_EITHER)
        try:
            if self._passes(row, checks, renamed):
                return renamed
            if not explain:
                raise Unexplained
            return self._explain(row, checks, renamed, repaired)
        except UnicodeEncodeError:
            raise Failure(Code.INVALID_ENCODING, "Invalid character encoding in request") from None

    def _passes(self, row: Row, checks: _Checks, params: Mapping[str, Any]) -> bool:
        if not checks.is_valid(with_floats(params)):
            return False
        if (checks.fields is not None or checks.outside or checks.hidden) and next(
            _stray_fields(checks, params), None
        ) is not None:
            return False
        if checks.nested and next(self._strange(checks, params), None) is not None:
            return False
        if checks.body is None:
            return True
        body = self._assemble(row, params)
        return body is None or checks.body.is_valid(with_floats(body))

    def _prepare(self, row: Row) -> _Checks:
        validator = self._schemas.parameters(row)
        renamings = ((name, self._names.renaming(parameter.schema)) for name, parameter in row.parameters.items())
        fields, outside, hidden = self._input_fields(row)
        declared = (
            (name, self._undeclared.declared(parameter.schema))
            for name, parameter in row.parameters.items()
            if parameter.location != ADAPTER
        )
        body = row.body
        partial = row.update is not None and row.update.is_partial
        return _Checks(
            is_valid=validator.is_valid,
            renamed=tuple((name, renaming) for name, renaming in renamings if renaming is not None),
            fields=fields,
            outside=outside,
            hidden=hidden,
            nested=tuple((name, item) for name, item in declared if item.fields or item.inner),
            body=self._schemas.schema(body.schema) if body is not None and body.validate and not partial else None,
            sensitive=frozenset(name for name, parameter in row.parameters.items() if parameter.sensitive),
            partial=partial,
        )

    def _input_fields(self, row: Row) -> tuple[frozenset[str] | None, frozenset[str], frozenset[str]]:
        """Return the only keys that an update's `input` may have, those that it may not have, and the hidden ones."""
        nothing: frozenset[str] = frozenset()
        if row.family != "update" or _INPUT not in row.parameters:
            return None, nothing, nothing
        schema = row.parameters[_INPUT].schema
        shape = shape_of(self._table.types, schema)
        hidden = frozenset(map(folded, shape.hidden))
        takes_others = shape.alternatives or self._undeclared.declared(schema).takes_others
        if (shape.properties and not takes_others) or row.body is None:
            return frozenset(shape.properties), nothing, hidden
        if not shape.properties and not shape.alternatives:
            return None, nothing, hidden
        others = (name for name, other in row.parameters.items() if not other.location.startswith("body"))
        return None, frozenset(others).difference(union_of(self._table.types, schema).properties), hidden

    def _strange(self, checks: _Checks, params: Mapping[str, Any]) -> Iterator[Strange]:
        """Yield the undeclared fields of objects within the parameters; those of `input` itself are told apart."""
        for name, declared in checks.nested:
            value = params.get(name)
            if isinstance(value, (dict, list)):
                first = name != _INPUT or checks.fields is None
                yield from self._undeclared.strange(value, declared, name, first=first)

    def _explain(
        self, row: Row, checks: _Checks, params: dict[str, Any], repaired: list[Repaired] | None
    ) -> dict[str, Any]:
        """Normalise names, then return the parameters if they are valid or repaired. Raises Failure with the rest."""
        from ..decode.encoded_fields import with_texts_encoded
        from .problems import failure, unexplained_problem
        from .repair import Repair
        from .walk import Allowed, Reading, TooMuch

        known, unknown, twice = self._normalised(row, checks, params)
        known = with_texts_encoded(row, self._table.types, known)
        if not unknown and not twice and self._passes(row, checks, known):
            return known
        repair = Repair(
            self._types,
            row,
            self._leaves,
            self._nested_fields(row),
            self._spellings(row, letters),
            passes=lambda reading: not self._problems(row, checks, reading, {}, ()),
            renamed=lambda value: self._renamed(checks, value),
            respell=lambda reading: self._undeclared.respell(reading, checks.nested),
            partial=checks.partial,
            sensitive=checks.sensitive,
        )
        allowed = Allowed.NOTHING if repaired is None else Allowed.SURE
        try:
            start, strange = (Reading(known), unknown) if repaired is None else repair.unwrapped(known, unknown)
            reading = repair.read(start, allowed)
            problems = self._problems(row, checks, reading, strange, twice)
        except TooMuch:
            message = f"The parameters of operation '{row.name}' break their schemas in more places than can be listed"
            raise Failure(Code.INVALID_VALUE, message) from None
        if not problems and not (reading.changes and repair.is_ambiguous(known)):
            if repaired is not None:
                repaired += repair.described(reading)
            return dict(reading.value)
        refusal = failure(problems or [unexplained_problem(row)])
        if repaired is not None:
            outside = {**unknown, **{spelling: params[spelling] for _, spelling in twice}}
            refusal.details.update(repair.proposed(known, outside))
        raise refusal

    @cached_property
    def _leaves(self) -> Leaves:
        from .leaves import Leaves

        return Leaves(self._schemas.schema)

    def _problems(
        self,
        row: Row,
        checks: _Checks,
        reading: Reading,
        unknown: Mapping[str, Any],
        twice: Sequence[tuple[str, str]],
    ) -> list[Problem]:
        """Return every problem, in the order of the checks. Raises TooMuch."""
        from .problems import missing_problem, twice_problem, unexplained_problem, unknown_problem

        known = reading.value
        missing = [name for name, parameter in row.parameters.items() if parameter.required and name not in known]
        problems = [missing_problem(row, missing, self._lists(row, missing))] if missing else []
        if unknown:
            problems.append(unknown_problem(row, list(unknown), self._nested_fields(row), self._takers(row, unknown)))
        problems += [twice_problem(name, alias) for name, alias in twice]
        problems += self._value_problems(row, checks, reading)
        if problems or checks.partial or reading.unchecked or self._passes(row, checks, known):
            return problems
        return self._body_problems(row, checks, known) or [unexplained_problem(row)]

    def _value_problems(self, row: Row, checks: _Checks, reading: Reading) -> Iterator[Problem]:
        """Yield the problems of unknown fields, then those of values that they do not explain. Raises TooMuch."""
        from .problems import field_problems
        from .value_problems import CLOSED, Explanation, place_of

        yield from field_problems(row, list(_stray_fields(checks, reading.value)), checks.fields, checks.hidden)
        strange = list(islice(self._strange(checks, reading.value), _MOST_STRANGE))
        for place, keys, declared in strange:
            yield from field_problems(row, keys, declared, (), place)
        explained = {place for place, *_ in strange} | ({_INPUT} if checks.fields is not None else set())
        faults = (each for each in reading.faults if each.keyword not in CLOSED or place_of(each.path) not in explained)
        yield from Explanation(self._types, checks.sensitive).problems(faults)

    def _body_problems(self, row: Row, checks: _Checks, known: Mapping[str, Any]) -> list[Problem]:
        """Return the problems of the body that parameters make together. Raises TooMuch."""
        from ..schema.wording import parameters_by_field
        from .value_problems import Explanation
        from .walk import Allowed, Walk

        types = self._table.types
        body = self._assemble(row, known) if checks.body is not None else None
        if body is None or row.body is None:
            return []
        whole = Walk(types, self._leaves, Allowed.NOTHING).read(body, row.body.schema)
        return Explanation(types, checks.sensitive, parameters_by_field(row, types)).problems(whole.faults)

    def _renamed(self, checks: _Checks, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters under the agent's names, where they came in the API's."""
        renamings = dict(checks.renamed)
        return {
            name: renamings[name].convert(value, Way.TO_AGENT_FROM_EITHER) if name in renamings else value
            for name, value in params.items()
        }

    def _normalised(
        self, row: Row, checks: _Checks, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]:
        """Return the parameters under their names, those that are unknown, and those given under two names."""
        known: dict[str, Any] = {}
        unknown: dict[str, Any] = {}
        twice: list[tuple[str, str]] = []
        renamings = dict(checks.renamed)
        for key, value in params.items():
            name = key if key in row.parameters else self._alias(row, key)
            if name is None:
                if not key.startswith("_"):
                    unknown[key] = value
            elif name != key and name in params:
                twice.append((name, key))
            else:
                renaming = renamings.get(name) if name != key else None
                known[name] = value if renaming is None else renaming.convert(value, Way.TO_AGENT_FROM_EITHER)
        return known, unknown, twice

    def _nested_fields(self, row: Row) -> dict[str, frozenset[str]]:
        """Return the fields of the parameters that are objects of the body."""
        schemas = {name: parameter.schema for name, parameter in row.parameters.items() if parameter.location == "body"}
        return {name: frozenset(union_of(self._table.types, schema).properties) for name, schema in schemas.items()}

    def _lists(self, row: Row, missing: Sequence[str]) -> list[str]:
        """Return the read of all the things of which a row reads one, if it is not said which one."""
        path, _, last = row.path.rpartition("/")
        is_open = row.family == "read" and last in {f"{{{row.parameters[name].wire}}}" for name in missing}
        rows = self._table.values("path") if is_open else ()
        return [name for name, family, (known,) in rows if family == row.family and known == path]

    def _takers(self, row: Row, unknown: Collection[str]) -> list[str]:
        """Return the other reads of the same things that have these parameters; a write leads to no other one."""
        if row.family != "read" or len(unknown) > _MOST_TAKERS:
            return []
        verb, thing = row.name.partition("_")[0], row.path.rpartition("/")[2]
        near = sorted(
            (-len(commonprefix([path.split("/"), row.path.split("/")])), name)
            for name, family, (path,) in self._table.values("path")
            if family == row.family and name != row.name and path.endswith(f"/{thing}") and name.startswith(f"{verb}_")
        )
        rows = (self._table.find(name, row.family) for _, name in near[:_MOST_SIBLINGS])
        takers = (sibling.name for sibling in rows if sibling and all(self._alias(sibling, key) for key in unknown))
        return list(islice(takers, _MOST_TAKERS))

    def _alias(self, row: Row, key: str) -> str | None:
        """Return the name of the parameter that the API spells `key`, in any case and with any signs between."""
        name = row.wire_names.get(key)
        if name is None and not key.startswith("_"):
            for fold in (folded, letters):
                names = self._spellings(row, fold).get(fold(key))
                if names:
                    return names[0] if len(names) == 1 else None
        return name

    def _spellings(self, row: Row, fold: Callable[[str], str]) -> Mapping[str, Sequence[str]]:
        """Return the names of an operation's parameters by what different spellings of them share."""
        spellings = self._folded.get((row.cache_key, fold))
        if spellings is None:
            spellings = self._folded[row.cache_key, fold] = {}
            for name in row.parameters:
                spellings.setdefault(fold(name), []).append(name)
        return spellings


def _stray_fields(checks: _Checks, params: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of an update's `input` that are not declared, or that only the server sets (R-UPD-1)."""
    value = params.get("input")
    if isinstance(value, dict):
        for key in value:
            unknown = key in checks.outside if checks.fields is None else key not in checks.fields
            if unknown or folded(key) in checks.hidden:
                yield key


_INPUT = "input"


def gathered(row: Row, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters with the fields that stand beside `input` in it. Raises Failure for one given twice."""
    held = row.update.parameters if row.update is not None else None
    inside = params.get(_INPUT, {})
    if not held or not isinstance(inside, Mapping):
        return params
    known = {**row.wire_names, **{name: name for name in held}}
    moved = {name: value for key, value in params.items() if (name := known.get(key, "")) in held}
    if not moved:
        return params
    twice = next((name for name in moved if name in inside), None)
    if twice is not None:
        message = f"Parameter '{twice}' is given twice, as 'input.{twice}' and as '{twice}': give it once"
        raise invalid(twice, message)
    rest = {key: value for key, value in params.items() if known.get(key, "") not in held}
    return {**rest, _INPUT: {**inside, **moved}}


def spread(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with each field of `input` as one of them."""
    inside = params.get(_INPUT)
    if not isinstance(inside, Mapping):
        return params
    return {**{name: value for name, value in params.items() if name != _INPUT}, **inside}
