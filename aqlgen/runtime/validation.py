# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Whether a call's parameters are what the operation declares (R-REQ-2 to 4, R-ENV-5, R-UPD-1).

The order of the checks decides the code of the answer: required ones present, unknown ones refused, types and
constraints. All that is wrong is told in one answer.

Values are never turned into other types, and defaults are not sent: in OpenAPI a default says what the server does when
a parameter is left out, so leaving it out is the same, and survives a change of the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import Code, Failure
from .names import Names, Plan, Way
from .partial import PARTIAL, lacking
from .schemas import Schemas
from .shapes import folded, shape_of, union_of
from .table import Row, Table

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

__all__ = ["Validation"]


@dataclass(frozen=True, slots=True)
class _Checks:
    """What is checked for one operation, made at its first call."""

    is_valid: Callable[[Any], bool]
    validator: Draft202012Validator
    renamed: tuple[tuple[str, Plan], ...]
    fields: frozenset[str] | None
    outside: frozenset[str]
    hidden: frozenset[str]
    whole: Draft202012Validator | None
    sensitive: frozenset[str]
    partial: bool


class Validation:
    """Checks parameters against the operation table. `assemble` gives a body under its schema's own agent names."""

    def __init__(
        self, table: Table, schemas: Schemas, names: Names, assemble: Callable[[Row, Mapping[str, Any]], Any]
    ) -> None:
        self._table = table
        self._schemas = schemas
        self._names = names
        self._assemble = assemble
        self._checks: dict[str, _Checks] = {}

    def validate(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        """Give the parameters under the agent's names. Raises Failure that tells every problem."""
        checks = self._checks.get(row.name)
        if checks is None:
            checks = self._checks[row.name] = self._prepare(row)
        given = dict(params)
        for name, plan in checks.renamed:
            if name in given:
                given[name] = plan.convert(given[name], Way.TO_AGENT_FROM_EITHER)
        try:
            return given if self._passes(row, checks, given) else self._second_look(row, checks, given)
        except UnicodeEncodeError:
            raise Failure(Code.INVALID_ENCODING, "Invalid character encoding in request") from None

    def _passes(self, row: Row, checks: _Checks, given: Mapping[str, Any]) -> bool:
        if not checks.is_valid(given):
            return False
        if (checks.fields is not None or checks.outside or checks.hidden) and next(
            _stray_fields(checks, given), None
        ) is not None:
            return False
        if checks.whole is None:
            return True
        body = self._assemble(row, given)
        return body is None or checks.whole.is_valid(body)

    def _prepare(self, row: Row) -> _Checks:
        validator = self._schemas.parameters(row)
        plans = ((name, self._names.plan(parameter.schema)) for name, parameter in row.parameters.items())
        fields: frozenset[str] | None = None
        hidden: frozenset[str] = frozenset()
        outside: frozenset[str] = frozenset()
        if row.family == "update" and "input" in row.parameters:
            shape = shape_of(self._table, row.parameters["input"].schema)
            hidden = frozenset(folded(name) for name in shape.hidden)
            if shape.properties and not shape.extra and not shape.alternatives:
                fields = frozenset(shape.properties)
            elif shape.properties or shape.alternatives:
                beside = (name for name, one in row.parameters.items() if not one.location.startswith("body"))
                outside = frozenset(beside).difference(union_of(self._table, row.parameters["input"].schema).properties)
        body = row.body
        partial = row.update is not None and row.update.get("strategy") in PARTIAL
        return _Checks(
            is_valid=validator.is_valid,
            validator=validator,
            renamed=tuple((name, plan) for name, plan in plans if plan is not None),
            fields=fields,
            outside=outside,
            hidden=hidden,
            whole=self._schemas.schema(body.schema) if body is not None and body.validate and not partial else None,
            sensitive=frozenset(name for name, parameter in row.parameters.items() if parameter.sensitive),
            partial=partial,
        )

    def _second_look(self, row: Row, checks: _Checks, params: dict[str, Any]) -> dict[str, Any]:
        """Normalise names, then give the parameters if they are valid now, or raise all that is wrong."""
        from .params import field_problems, missing_problem, twice_problem, unknown_problem
        from .problems import Problem, failure, problems_of

        given, unknown, twice = self._normalised(row, checks, params)
        if not unknown and not twice and self._passes(row, checks, given):
            return given
        problems: list[Problem] = []
        missing = [name for name, parameter in row.parameters.items() if parameter.required and name not in given]
        if missing:
            problems.append(missing_problem(row, missing))
        if unknown:
            problems.append(unknown_problem(row, unknown, params, self._fields_within(row)))
        problems += [twice_problem(name, alias) for name, alias in twice]
        problems += field_problems(row, list(_stray_fields(checks, given)), checks.fields, checks.hidden)
        errors = _told_once(checks.validator.iter_errors(given), checks.fields)
        if checks.partial:
            errors = (error for error in errors if not lacking(error))
        problems += problems_of(errors, checks.sensitive)
        if not problems and checks.whole is not None:
            problems = problems_of(checks.whole.iter_errors(self._assemble(row, given)), checks.sensitive)
        if problems:
            raise failure(problems)
        return given  # what could not be checked (a pattern too costly to try) is left to the target API

    def _normalised(
        self, row: Row, checks: _Checks, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[str], list[tuple[str, str]]]:
        """Give the parameters under their names, those that are unknown, and those given under two names."""
        given: dict[str, Any] = {}
        unknown: list[str] = []
        twice: list[tuple[str, str]] = []
        plans = dict(checks.renamed)
        for key, value in params.items():
            name = key if key in row.parameters else self._alias(row, key)
            if name is None:
                if not key.startswith("_"):
                    unknown.append(key)
            elif name != key and name in params:
                twice.append((name, key))
            else:
                plan = plans.get(name) if name != key else None
                given[name] = value if plan is None else plan.convert(value, Way.TO_AGENT_FROM_EITHER)
        return given, unknown, twice

    def _fields_within(self, row: Row) -> dict[str, frozenset[str]]:
        """Give the fields of the parameters that are objects of the body."""
        inner = {name: one.schema for name, one in row.parameters.items() if one.location == "body"}
        return {name: frozenset(union_of(self._table, schema).properties) for name, schema in inner.items()}

    def _alias(self, row: Row, key: str) -> str | None:
        """Give the name of the parameter that the API spells `key`, or that spells it with other case or hyphens."""
        name = row.aliases.get(key)
        if name is None and not key.startswith("_"):
            wanted = folded(key)
            names = [one for one in row.parameters if folded(one) == wanted]
            name = names[0] if len(names) == 1 else None
        return name


def _stray_fields(checks: _Checks, given: Mapping[str, Any]) -> Iterator[str]:
    """Give the fields of an update's `input` that are not declared, or that only the server sets (R-UPD-1)."""
    value = given.get("input")
    if isinstance(value, dict):
        for key in value:
            unknown = key in checks.outside if checks.fields is None else key not in checks.fields
            if unknown or folded(key) in checks.hidden:
                yield key


def _told_once(errors: Iterable[ValidationError], fields: frozenset[str] | None) -> Iterator[ValidationError]:
    """Leave out what is told already: top-level parameters missing, unknown fields of `input`."""
    for error in errors:
        path, keyword = error.instance_path, error.kind.name
        if not path and keyword == "required":
            continue
        if fields is not None and path == ["input"] and keyword == "additionalProperties":
            continue
        yield error
