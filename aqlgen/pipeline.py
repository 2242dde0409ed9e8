"""The stages in their order: assemble → build → decide → table. What every command starts from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from aqlgen.build import Skipped, build
from aqlgen.decide import decide, load_overrides, select
from aqlgen.decide.decision import Decision
from aqlgen.decide.naming.kept_names import unused
from aqlgen.decide.overrides import EXPIRED, UNMATCHED, check_aliases
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError, OptionError
from aqlgen.document.assemble import Assembled, assemble
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document
from aqlgen.table import tabulate
from aqlgen.table.identity import Identity, identify
from aqlgen.table.model import Table

__all__ = ["Options", "Prepared", "prepare"]

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for, as far as it decides what is in the table."""

    request: Request
    name: str | None = None
    overrides: Path | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    field_case: str | None = None
    """snake or preserve; None leaves it to the overrides, and then it is snake."""
    strict: bool = False
    stale: Literal["error", "report"] = "error"
    """What becomes of overrides that the document has nothing for: they refuse the run, or are warned of."""
    base: str | None = None
    """The URL from which relative servers go on when the document is not read from one."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names to keep, by `METHOD /path`: those of the table that there was, or what its record has pinned."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """The operationIds of the table that there was, by `METHOD /path`: they tell operations that moved."""
    retired: Mapping[str, str] = field(default_factory=dict)
    """Names that no other operation is to get, each with the `METHOD /path` that it stood for before."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything known about a document before a project is rendered; diagnostics are located and sorted."""

    assembled: Assembled
    identity: Identity
    decisions: tuple[Decision, ...]
    table: Table
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]
    base: str | None
    """The URL that relative servers went on from; None when there are none."""
    retired: Mapping[str, str]
    """Names that stand for nothing any more, each with the `METHOD /path` that it stood for."""

    @property
    def pinned(self) -> dict[str, str]:
        """The kept names, by `METHOD /path`, without which another table would come of the same document."""
        return {one.operation.key: one.name for one in self.decisions if one.pinned}


def prepare(options: Options, progress: Progress) -> Prepared:
    """Run the stages. Raises AqlgenError; with `strict`, warnings refuse the document."""
    progress("reading")
    assembled = assemble(options.request)
    progress("building")
    resolver = Resolver(assembled.root)
    built = build(resolver, assembled.openapi)
    progress("deciding")
    overrides = load_overrides(options.overrides)
    wrong: list[Diagnostic] = []
    every = decide(
        built.document,
        overrides,
        resolver,
        report=wrong.append,
        kept=options.names,
        ids=options.ids,
        retired=options.retired,
    )
    decisions = select.select(
        every, options.include, options.exclude, wrong.append if options.stale == "report" else None
    )
    if every and not decisions and not wrong:
        given = [name for name, one in (("--include", options.include), ("--exclude", options.exclude)) if one]
        message = f"{' and '.join(given)} leave{'s' if len(given) == 1 else ''} no operation of {len(every)}"
        raise OptionError.of("bad-option", message, help="`aqlgen explain` without them shows what there is.")
    wrong += check_aliases(decisions, overrides.file, datetime.now(UTC).date())
    identity = identify(built.document, options.name, _stem(options.request.spec))
    progress("tabulating")
    main = assembled.sources[0]
    base = _base(built.document, main.base if isinstance(main.base, str) else options.base)
    field_case = options.field_case or overrides.field_case or "snake"
    tabulated = tabulate(
        built.document, decisions, resolver, identity, field_case=field_case, base=base, overrides=overrides.file
    )
    stale = _refuse([*wrong, *tabulated.overrides], options.stale)
    skipped = (*built.skipped, *tabulated.skipped)
    found = [*built.diagnostics, *tabulated.diagnostics, *(one.diagnostic for one in skipped)]
    diagnostics = (*stale, *assembled.locate([*assembled.diagnostics, *found]))
    warnings = tuple(one for one in diagnostics if one.severity is not Severity.NOTE)
    refused = () if tabulated.table.rows else _nothing_served(assembled, diagnostics)
    if refused or (options.strict and warnings):
        refusal = DocumentError(*(refused or warnings))
        refusal.sources = assembled.sources
        raise refusal
    served = {row.decision.operation.key for row in tabulated.table.rows}
    return Prepared(
        assembled=assembled,
        identity=identity,
        decisions=tuple(one for one in decisions if one.operation.key in served),
        table=tabulated.table,
        skipped=skipped,
        diagnostics=diagnostics,
        base=base,
        retired=unused(options.names, options.retired, (one.name for one in every)),
    )


def _refuse(found: list[Diagnostic], stale: str) -> tuple[Diagnostic, ...]:
    """Raise OptionError for what is wrong with the overrides; give what may be, as warnings."""
    found.sort(key=lambda one: (one.line, one.column))
    excused = (EXPIRED, UNMATCHED, select.UNMATCHED) if stale == "report" else (EXPIRED,)
    fatal = [one for one in found if one.code not in excused]
    if fatal:
        raise OptionError(*fatal)
    return tuple(replace(one, severity=Severity.WARNING) for one in found)


def _base(document: Document, base: str | None) -> str | None:
    """Give the URL that relative servers go on from, as it may be recorded: a query may hold a credential."""
    servers = [*document.servers, *(server for one in document.operations for server in one.servers)]
    if base is None or all("://" in one.url for one in servers):
        return None
    return base.partition("#")[0].partition("?")[0]


def _nothing_served(assembled: Assembled, diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    error = Diagnostic(
        "no-operations",
        Severity.ERROR,
        "the document has no operation that can be served",
        pointer="/paths",
        help="Give a document whose paths hold at least one operation." if not diagnostics else "See what follows.",
    )
    return (*assembled.locate([error]), *diagnostics)


def _stem(spec: str) -> str:
    """Give a word for the document by its file or URL, for an adapter whose title says nothing."""
    if spec == "-":
        return ""
    path = urlsplit(spec).path if "://" in spec else Path(spec).as_posix()
    stem = PurePosixPath(path).name.split(".")[0]
    return "" if stem.lower() in ("openapi", "swagger", "index", "api", "spec") else stem
