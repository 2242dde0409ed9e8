# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""An operation that an agent reports, as it would run, and what a call needs of such a report (R-LOOP-2, R-LOOP-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

__all__ = ["FILES", "PlanReport", "Report", "Reports"]

FILES = "\0files"
"""The key of the digest of files, beside the parameters; no parameter has this name."""


class Report(NamedTuple):
    """An operation that is reported. `digest` is of it with its valid parameters, however they were spelled.

    `operations` are the names and dangers of all that would run. `changes` is False for what needs no report. `shown`
    are the parameters as they may be recorded.
    """

    operation: str
    digest: str
    operations: tuple[tuple[str, str], ...]
    changes: bool
    shown: Mapping[str, Any] = {}


class PlanReport:
    """The report under which the steps of one plan run: it is used up by the first, and good for the others.

    `execution` is the id of the execution that reported it, once it is used.
    """

    __slots__ = ("digest", "execution", "operation", "params")

    def __init__(self, operation: str, digest: str, params: Mapping[str, Any], execution: str | None = None) -> None:
        self.operation = operation
        self.digest = digest
        self.params = params
        self.execution = execution

    def as_kept(self) -> list[Any]:
        """Return it as it is kept with a plan that halted."""
        return [self.operation, self.digest, dict(self.params), self.execution]


class Reports(Protocol):
    """The dispatcher's knowledge of operations."""

    def report(self, operation: str, params: Mapping[str, Any]) -> Report:
        """Return what an operation with these parameters would run. Raises Failure if it could not be called."""
        ...

    def named_in(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Return the names and dangers of the operations that words name."""
        ...
