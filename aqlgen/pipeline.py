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
from aqlgen.decide.credentials import with_effective_security
from aqlgen.decide.decision import Decision
from aqlgen.decide.instructions import with_instructions
from aqlgen.decide.naming.likeness import with_likenesses
from aqlgen.decide.naming.uniqueness import unused
from aqlgen.decide.overrides import EXPIRED, UNMATCHED, check_aliases
from aqlgen.decide.overrides.stated import with_stated
from aqlgen.decide.owned import with_adapter_overrides
from aqlgen.decide.review.acceptance import UNMATCHED_ACCEPT, accept, check_accepted
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError, OptionError
from aqlgen.document.assemble import Assembled, assemble
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document
from aqlgen.runtime.table import Accepted
from aqlgen.table import tabulate
from aqlgen.table.identity import Identity, identify, stated_name
from aqlgen.table.model import Table
from aqlgen.workflows import Translated, translate

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
    accepted: Accepted | None = None
    """The origins that were accepted when the project was generated; None accepts those of this document."""
    base: str | None = None
    """The URL from which relative servers go on when the document is not read from one."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names to keep, by `METHOD /path`: those of the table that there was, or what its record has pinned."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """The operationIds of the table that there was, by `METHOD /path`: they tell operations that moved."""
    retired: Mapping[str, str] = field(default_factory=dict)
    """Names that no other operation is to get, each with the `METHOD /path` that it stood for before."""
    runtime: Literal["copied", "package"] | None = None
    """Whether the project holds a copy of the runtime or depends on it as a package; None is a copy."""
    overrides_text: bytes | None = None
    """The content of the overrides, under the name of that file, before it is written there."""


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
        return {decision.operation.key: decision.name for decision in self.decisions if decision.pinned}


def prepare(options: Options, progress: Progress) -> Prepared:
    """Run the stages. Raises AqlgenError; with `strict`, warnings refuse the document."""
    progress("reading")
    assembled = assemble(options.request)
    progress("building")
    resolver = Resolver(assembled.root)
    overrides = with_stated(load_overrides(options.overrides, options.overrides_text), assembled.stated)
    built = build(resolver, assembled.openapi, overrides.adapter.security_schemes)
    progress("deciding")
    document, findings = with_adapter_overrides(built.document, overrides)
    document, departures = with_effective_security(document, resolver)
    all_decisions = decide(
        document,
        overrides,
        resolver,
        report=findings.append,
        kept=options.names,
        ids=options.ids,
        retired=options.retired,
    )
    all_decisions = with_instructions(all_decisions, assembled.instructions, resolver)
    decisions = select.select(
        all_decisions, options.include, options.exclude, findings.append if options.stale == "report" else None
    )
    if all_decisions and not decisions and not findings:
        filters = [
            name for name, patterns in (("--include", options.include), ("--exclude", options.exclude)) if patterns
        ]
        message = (
            f"{' and '.join(filters)} leave{'s' if len(filters) == 1 else ''} no operation of {len(all_decisions)}"
        )
        raise OptionError.of("bad-option", message, help="`aqlgen explain` without them shows what there is.")
    entries = overrides.adapter.accept
    decisions = accept(with_likenesses(decisions), entries)
    findings += check_accepted(entries, (*decisions, *all_decisions), document.operations, overrides.file)
    findings += check_aliases(decisions, overrides.file, datetime.now(UTC).date())
    name = options.name or (stated_name(assembled.stated) if assembled.stated is not None else None)
    identity = identify(document, name, _stem(options.request.spec))
    progress("tabulating")
    main = assembled.sources[0]
    base = _base(document, main.base if isinstance(main.base, str) else options.base)
    field_case = options.field_case or overrides.adapter.field_case or "snake"
    tabulated = tabulate(
        document,
        decisions,
        resolver,
        identity,
        field_case=field_case,
        base=base,
        overrides=overrides,
        accepted=options.accepted,
    )
    stale = _refuse([*findings, *tabulated.overrides], options.stale)
    translated = _workflows(assembled, tabulated.table)
    table = replace(tabulated.table, workflows=translated.workflows)
    skipped = (*built.skipped, *tabulated.skipped)
    located = [
        *built.diagnostics,
        *departures,
        *tabulated.diagnostics,
        *translated.diagnostics,
        *(operation.diagnostic for operation in skipped),
    ]
    diagnostics = (*stale, *assembled.locate([*assembled.diagnostics, *located]))
    warnings = tuple(diagnostic for diagnostic in diagnostics if diagnostic.severity is not Severity.NOTE)
    refused = () if tabulated.table.rows else _nothing_served(assembled, diagnostics)
    if refused or (options.strict and warnings):
        refusal = DocumentError(*(refused or warnings))
        refusal.sources = assembled.sources
        raise refusal
    served = {row.decision.operation.key for row in tabulated.table.rows}
    return Prepared(
        assembled=assembled,
        identity=identity,
        decisions=tuple(decision for decision in decisions if decision.operation.key in served),
        table=table,
        skipped=skipped,
        diagnostics=diagnostics,
        base=base,
        retired=unused(options.names, options.retired, (decision.name for decision in all_decisions)),
    )


def _workflows(assembled: Assembled, table: Table) -> Translated:
    """Return the workflows of the Arazzo documents. Raises DocumentError with located diagnostics."""
    try:
        return translate(assembled.workflows, table)
    except DocumentError as error:
        refusal = DocumentError(*assembled.locate(error.diagnostics))
        refusal.sources = assembled.sources
        raise refusal from None


def _refuse(findings: list[Diagnostic], stale: str) -> tuple[Diagnostic, ...]:
    """Raise OptionError for errors of the overrides; return the excused findings as warnings."""
    findings.sort(key=lambda finding: (finding.line, finding.column))
    excused = {EXPIRED, UNMATCHED_ACCEPT} | ({UNMATCHED, select.UNMATCHED} if stale == "report" else set())
    fatal = [finding for finding in findings if finding.code not in excused]
    if fatal:
        raise OptionError(*fatal)
    return tuple(replace(finding, severity=Severity.WARNING) for finding in findings)


def _base(document: Document, base: str | None) -> str | None:
    """Return the base URL of relative servers, without its query: that may hold a credential."""
    servers = [*document.servers, *(server for operation in document.operations for server in operation.servers)]
    if base is None or all("://" in server.url for server in servers):
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
    """Return a word for the document from its file or URL, for an adapter whose title is of no use."""
    if spec == "-":
        return ""
    path = urlsplit(spec).path if "://" in spec else Path(spec).as_posix()
    stem = PurePosixPath(path).name.split(".")[0]
    return "" if stem.lower() in ("openapi", "swagger", "index", "api", "spec") else stem
