"""JSONPath queries (RFC 9535) within a budget: time, number of changes, and size of the result."""

from __future__ import annotations

import time
from typing import Any, Final, TypeAlias

import iregexp_check
import jsonpath_rfc9535 as jsonpath
import regex
from jsonpath_rfc9535.function_extensions import ExpressionType, FilterFunction

from aqlgen.document.read import Limits
from aqlgen.ir import Json

MOST_CHANGES: Final = 1_000_000


class SpentError(Exception):
    """An overlay exceeds its budget."""


class Budget:
    """The remaining time and number of changes for the actions of one overlay."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._end = time.monotonic() + limits.seconds
        self._changes = MOST_CHANGES

    def seconds(self) -> float:
        """Return the remaining time. Raises SpentError if there is none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise SpentError(f"the JSONPaths of the overlay take longer than {self.limits.seconds:g} seconds")
        return left

    def change(self) -> None:
        """Count one change. Raises SpentError."""
        self._changes -= 1
        if self._changes < 0:
            raise SpentError(f"the overlay changes more than {MOST_CHANGES:,} places")

    def hold(self, root: Json) -> None:
        """Raise SpentError if a changed document exceeds the limits of one that is read."""
        nodes, depth = _measure(root, {})
        if nodes > self.limits.nodes:
            raise SpentError(f"with this change the document holds more than {self.limits.nodes:,} values")
        if depth > self.limits.depth:
            raise SpentError(f"with this change the document nests deeper than {self.limits.depth} levels")


def _measure(value: Json, seen: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Return the number of values and of levels; a shared part counts at each of its places."""
    known = seen.get(id(value))
    if known is None:
        nodes, depth = 1, 0
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, (dict, list)):
                below, levels = _measure(inner, seen)
                nodes, depth = nodes + below, max(depth, levels)
            else:
                nodes += 1
        known = seen[id(value)] = nodes, depth + 1
    return known


Path: TypeAlias = tuple[str | int, ...]

LONGEST: Final = 10_000
MOST: Final = 1_000_000
_DOT: Final = regex.compile(r"\\.|\[(?:\\.|[^\]\\])*+\]|(\.)", regex.DOTALL)
_HELP: Final = "A name with characters other than letters, digits and _ is written in brackets: $.info['x-name']."


class QueryError(Exception):
    """A JSONPath is not valid, or exceeds its limits."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


class Query:
    """A runner of JSONPaths that share one budget."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._environment = _Environment(budget)

    def select(self, path: str, root: Json) -> dict[Path, Json]:
        """Return the selected values by path, in document order. Raises QueryError or SpentError."""
        if len(path) > LONGEST:
            raise QueryError(f"the JSONPath is longer than {LONGEST:,} characters")
        selected: dict[Path, Json] = {}
        try:
            for node in self._environment.compile(path).finditer(root):
                selected[node.location] = node.value
                self.budget.seconds()
                if len(selected) > MOST:
                    raise QueryError(f"the JSONPath is at more than {MOST:,} places")
        except jsonpath.JSONPathError as error:
            raise QueryError(*_explained(error)) from None
        except (RecursionError, OverflowError):
            raise QueryError("the JSONPath nests too deeply, or has a number that is too large") from None
        return selected


class _Environment(jsonpath.JSONPathEnvironment):
    """The library's environment, with a check of the time for each container that a query enters."""

    max_recursion_depth = 300

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        super().__init__()

    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        self.function_extensions["match"] = _Matches(self._budget, whole=True)
        self.function_extensions["search"] = _Matches(self._budget, whole=False)

    @property
    def nondeterministic(self) -> bool:  # type: ignore[override]
        """Return False; wildcards, filters and descents read this at each container, so every query checks the time."""
        self._budget.seconds()
        return False


class _Matches(FilterFunction):
    """`match` and `search` (RFC 9535, 2.4.6): the library does not limit the time of a regular expression."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 - as the library has it
    return_type = ExpressionType.LOGICAL

    def __init__(self, budget: Budget, *, whole: bool) -> None:
        self._budget, self._whole = budget, whole
        self._compiled: dict[str, Any] = {}

    def __call__(self, text: object, pattern: object) -> bool:
        if not isinstance(text, str) or not isinstance(pattern, str):
            return False
        if pattern not in self._compiled:
            self._compiled[pattern] = _compiled(pattern)
        compiled = self._compiled[pattern]
        if compiled is None:
            return False
        find = compiled.fullmatch if self._whole else compiled.search
        try:
            return find(text, timeout=self._budget.seconds()) is not None
        except TimeoutError:
            raise SpentError("a regular expression of the overlay takes too long") from None


def _compiled(pattern: str) -> Any:
    """Compile an I-Regexp (RFC 9485, 5.4); return None if it is not one, so that nothing matches."""
    if not iregexp_check.check(pattern):
        return None
    try:
        return regex.compile(_DOT.sub(lambda match: r"[^\n\r]" if match[1] else match[0], pattern))
    except regex.error:
        return None


def _explained(error: jsonpath.JSONPathError) -> tuple[str, str]:
    reason = str(error.args[0]) if error.args else "it cannot be read"
    column = f", at character {error.token.index + 1}" if error.token else ""
    return f"not a valid JSONPath: {reason[:200]}{column}", _HELP
