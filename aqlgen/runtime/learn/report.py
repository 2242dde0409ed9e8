"""One observation from beginning to end: the plan that is shown first, the requests, and what was seen as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ..settings.load import load
from ..state.custody import state_file
from ..table import Adapter, Row, Table
from ..text import counted
from .access import observe_address, observe_public, observe_unsent
from .answers import observe_answers, observe_readers
from .ledger import Ledger
from .model import Fact, Observation, Spent
from .pages import observe_pages
from .reads import Read, read_all
from .requests import AdapterRequests, Budget, safe_reads
from .things import Named
from .writes import observe_writes

_PROBES: Final = (observe_address, observe_public, observe_unsent, observe_pages, observe_readers)
"""What is asked of the API after the first reads, in this order; each yields observations."""
_OF_READS: Final = 2 / 3
"""The share of the requests that first reads take."""
_TO_TAKE_BACK: Final = Budget(100, 60.0)
"""The further requests and seconds by which everything that was made is taken away again."""


@dataclass(slots=True)
class Report:
    """The observations and their cost; `reads` are statuses of first reads by key, `spent` says why they ended early.

    `lacking` is the advice about the parameter that most of the other reads lack.
    """

    observations: list[Observation] = field(default_factory=list)
    reads: dict[str, int] = field(default_factory=dict)
    operations: int = 0
    requests: int = 0
    seconds: float = 0.0
    unread: list[str] = field(default_factory=list)
    lacking: str = ""
    spent: str = ""

    def add(self, other: Report) -> None:
        """Add what a further observation saw and cost."""
        self.observations += other.observations
        self.requests, self.seconds = self.requests + other.requests, self.seconds + other.seconds

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        data = asdict(self)
        return {**data, "seconds": round(self.seconds, 1)}


def observations_of(data: Any, table: Table) -> list[Observation]:
    """Read the observations of a report about the operations of a table. Raises ValueError for anything else.

    A report is not believed: it says nothing of another key, and is not certain of anything that ends a question.
    """
    rows = (table.find(name, family) for name, family in table.names())
    asked = {"": "never", **{row.key: row.asked for row in rows if row is not None}}
    try:
        return [
            Observation(key, entry["fact"], str(entry["says"]), override, entry["certain"] is True
                        and ("can_undo" not in override or asked[key] == "never"), entry["settled"] is True)
            for entry in data["observations"]
            if (key := str(entry["key"])) in asked and isinstance(override := dict(entry["override"]), dict)
        ]  # fmt: skip
    except (KeyError, TypeError, ValueError):
        raise ValueError("not a file of observations") from None


def chosen_rows(table: Table, only: Collection[str]) -> list[Row]:
    """Return the reads without doubt, of `only` by name or by key. Raises ValueError for one that is none."""
    rows = list(safe_reads(table))
    unknown = sorted(set(only) - {name for row in rows for name in (row.name, row.key)})
    if unknown:
        raise ValueError(f"{unknown[0]} is not a certain read: a safe GET without a question")
    return [row for row in rows if not only or row.name in only or row.key in only]


def plan_lines(rows: Sequence[Row], budget: Budget, named: Sequence[Named] | None = None) -> Iterator[str]:
    """Yield the lines about the requests that are planned."""
    asked = f"{counted(budget.requests, 'request')} in {budget.seconds:.0f} seconds"
    if named is not None:
        yield f"Writes: things are made and taken away again, with at most {asked}, and"
        yield f"{counted(_TO_TAKE_BACK.requests, 'request')} to take them away. Changed and restored are:"
        yield from (f"  {resource.path} with {', '.join(resource.values)}" for resource in named)
    yield f"{'Only reads' if named is None else 'Reads'}: at most {asked}."
    yield f"{counted(len(rows), 'operation')}: each once where its parameters are known, lists in small pages,"
    yield "some without the credential, at most two with a wrong one."
    yield from (f"  {row.key}" for row in rows)


async def observe_with_writes(
    folder: Path,
    hooks: object | None,
    environ: Mapping[str, str],
    budget: Budget,
    named: Sequence[Named],
    creates: Collection[str] = (),
    *,
    named_alone: bool = False,
) -> Report:
    """Observe what writes do, at things that are made and at resources that the owner names; all is taken back.

    With `named_alone`, things are made by `creates` alone.
    Raises ValueError where the adapter has no state that outlives a crash, or another process observes.
    """
    report, file = Report(), ledger_file(folder, environ)
    if load(folder, environ).read_only:
        raise ValueError("MCP_AQL_READ_ONLY is set: nothing is written")
    if file is None:
        raise ValueError("the ledger must survive a crash: MCP_AQL_STATE_URL must name a file")
    ledger = Ledger(file)
    most = Budget(budget.requests + _TO_TAKE_BACK.requests, budget.seconds + _TO_TAKE_BACK.seconds)
    try:
        async with AdapterRequests(folder, hooks, environ, most, writes=True) as requests:
            report.observations += await observe_writes(
                requests,
                named,
                ledger,
                most=budget.requests,
                seconds=budget.seconds,
                creates=creates,
                named_alone=named_alone,
            )
            report.observations = requests.masked(report.observations)
            report.requests, report.seconds = requests.count, requests.seconds
    finally:
        ledger.close()
    return report


def ledger_file(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the file of what is made at the API, beside the adapter's state; None without a lasting one."""
    state = state_file(load(folder, environ).state_url, Adapter.load(folder).name, environ)
    return None if state is None else state.with_name("learn.jsonl")


async def observe(
    folder: Path,
    hooks: object | None,
    environ: Mapping[str, str],
    budget: Budget,
    only: Collection[str] = (),
    named: Sequence[Named] = (),
    key: str = "",
) -> Report:
    """Observe the API. Raises ConfigError and HookError as an adapter's start does, ValueError for a wrong `only`."""
    report, reads = Report(), list[Read]()
    file = ledger_file(folder, environ)
    if file is not None and file.is_file() and file.stat().st_size:
        says = "something that an earlier observation made may be left: --allow-writes takes it away"
        report.observations.append(Observation("", Fact.REVERSAL, says))
    async with AdapterRequests(folder, hooks, environ, budget, key=key) as requests:
        rows = chosen_rows(requests.table, only)
        report.operations = len(rows)
        try:
            report.lacking = await read_all(requests, rows, reads, max(1, int(budget.requests * _OF_READS)), named)
            for probe in _PROBES:
                async for seen in probe(requests, reads):
                    report.observations.append(seen)
        except Spent as reason:
            report.spent = str(reason)
        report.observations = requests.masked([*report.observations, *observe_answers(requests.table, reads)])
        report.reads = {read.row.key: read.status for read in reads}
        report.unread = [row.key for row in rows if row.key not in report.reads]
        report.requests, report.seconds = requests.count, requests.seconds
    return report
