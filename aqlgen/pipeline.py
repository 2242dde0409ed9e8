"""The stages in their order: assemble → build → decide → table. What every command starts from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TypeAlias

from aqlgen.build import Built, Skipped, build
from aqlgen.decide import select
from aqlgen.decide.credentials import with_effective_security
from aqlgen.decide.decision import Decision
from aqlgen.decide.instructions import with_instructions
from aqlgen.decide.naming.uniqueness import misnamed, takeovers, unused
from aqlgen.decide.overrides import UNMATCHED, AdapterOverride, Overrides, check_aliases, check_asked
from aqlgen.decide.overrides import load as load_overrides
from aqlgen.decide.overrides.owner import with_auth, with_stated
from aqlgen.decide.owned import with_adapter_overrides
from aqlgen.decide.review.answers import accept, check_accepted
from aqlgen.decide.several import decide_each, overrides_of_each, refuse_for_one
from aqlgen.decide.stage import Known, decide
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError, OptionError
from aqlgen.diagnostics.progress import SHOWN, counted
from aqlgen.document.assemble import Assembled, assemble
from aqlgen.document.read import Source
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from aqlgen.document.texts import InstructionText
from aqlgen.ir import Document, Json
from aqlgen.options import Options
from aqlgen.table import Tabulated, tabulate
from aqlgen.table.adapter import base_of, joined, own_first
from aqlgen.table.identity import Identity, api_names, identify, stated_name, stem
from aqlgen.table.model import Table

__all__ = ["Options", "Prepared", "Progress", "prepare"]

Progress: TypeAlias = Callable[[str], None]
"""Shows the stage at work."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything known about the documents before a project is rendered; diagnostics are located and sorted."""

    identity: Identity
    decisions: tuple[Decision, ...]
    table: Table
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]
    base: str | None
    """The URL that relative servers went on from; None when there are none."""
    retired: Mapping[str, str]
    """Names that stand for nothing any more, each with the `METHOD /path` that it stood for."""
    requests: tuple[Request, ...] = ()
    """The requests for the documents, with the names of several APIs and what was accepted of each."""
    options: Options | None = field(default=None, compare=False, repr=False)
    """The options that it was prepared by."""
    documents: tuple[Assembled, ...] = field(default=(), compare=False, repr=False)
    built: tuple[Built, ...] = field(default=(), compare=False, repr=False)
    """The documents as they were assembled and built, from which `prepare` can go on with other options."""

    @property
    def pinned(self) -> dict[str, str]:
        """The kept names, by `METHOD /path`, without which another table would come of the same document."""
        return {decision.operation.key: decision.name for decision in self.decisions if decision.pinned}

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files that were read."""
        return tuple(source for document in self.documents for source in document.sources)

    @property
    def kept(self) -> dict[str, bytes]:
        """The files that a project keeps below `openapi/`, of several APIs each in a folder of its name."""
        homes = [f"{built.api}/" if built.api else "" for built in self.built]
        pairs = zip(homes, self.documents, strict=True)
        return {f"{home}{path}": text for home, document in pairs for path, text in document.kept.items()}

    @property
    def raw(self) -> Json:
        """All that was read as data, for the hash of the input."""
        raw = {built.api: document.raw for built, document in zip(self.built, self.documents, strict=True)}
        return raw.get("", raw)

    @property
    def instructions(self) -> tuple[InstructionText, ...]:
        """The texts that read as instructions to a model."""
        return tuple(text for document in self.documents for text in document.instructions)

    @property
    def is_element(self) -> bool:
        """True for an adapter element, whose owner says what is sent."""
        return any(document.stated is not None for document in self.documents)


@dataclass(slots=True, eq=False)
class _Part:
    """A document on its way through the stages; `api` is "" for an adapter of one document."""

    api: str
    request: Request
    assembled: Assembled
    built: Built
    overrides: Overrides
    document: Document
    base: str | None
    departures: Sequence[Diagnostic]
    tabulated: Tabulated = field(init=False)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The operations that are not served."""
        return (*self.built.skipped, *self.tabulated.skipped)

    def located(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of the document with their positions in its files."""
        diagnostics = [
            *self.assembled.diagnostics,
            *self.built.diagnostics,
            *self.departures,
            *self.tabulated.diagnostics,
            *(operation.diagnostic for operation in self.skipped),
        ]
        return self.assembled.locate(diagnostics)

    def recorded(self) -> Request:
        """Return the request with what is recorded of the document."""
        request = self.request.at(self.assembled.sources[0].name)
        return replace(request, name=self.api, base=self.base, accepted=self.tabulated.table.adapter.accepted)


def prepare(
    options: Options, progress: Progress, earlier: Prepared | None = None, documents: Sequence[Assembled] = ()
) -> Prepared:
    """Run the stages. Raises AqlgenError; with `strict`, warnings refuse the document.

    `earlier` is a result of the same command: its documents are not read again, and it is returned for its own options.
    Nor are `documents`, where the caller has read them.
    """
    if earlier is not None and earlier.options == options:
        return earlier
    findings: list[Diagnostic] = []  # of the overrides
    SHOWN.set(progress)
    progress("reading")
    known: dict[tuple[object, ...], Assembled] = {}
    if earlier is not None and earlier.options is not None:
        known = {request.files: each for request, each in zip(earlier.options.requests, earlier.documents, strict=True)}
    documents = documents or [known.get(request.files) or assemble(request) for request in options.requests]
    progress("building")
    overrides = _overrides(options, documents[0])
    parts = _built(options, documents, overrides, () if earlier is None else earlier.built, findings)
    progress("deciding")
    all_decisions = _decided(options, parts, findings)
    decisions = _selected(options, all_decisions, parts, overrides, findings)
    identity = _identity(options, parts)
    progress("tabulating")
    _tabulate(options, parts, decisions, identity, overrides.adapter.field_case)
    stale = _refuse([*findings, *chain.from_iterable(part.tabulated.overrides for part in parts)], options.stale)
    _add_workflows(parts)
    prepared = _prepared(options, parts, all_decisions, decisions, identity, stale)
    _refuse_document(prepared, strict=options.strict)
    return prepared


def _overrides(options: Options, first: Assembled) -> Overrides:
    """Read the overrides; the owner's word in an element and of `--auth` is for an adapter of one document."""
    overrides = load_overrides(options.overrides, options.overrides_text)
    if options.of_several:
        return overrides
    components = first.root.get("components")
    declared = components.get("securitySchemes") if isinstance(components, dict) else None
    names = declared.keys() if isinstance(declared, dict) else ()
    return with_auth(with_stated(overrides, first.stated), options.auth, names)


def _built(
    options: Options,
    documents: Sequence[Assembled],
    overrides: Overrides,
    start: Sequence[Built],
    findings: list[Diagnostic],
) -> list[_Part]:
    """Build the documents, each with what the owner says of it."""
    several, requests = options.of_several, options.requests
    names = api_names(requests, [assembled.root for assembled in documents]) if several else [""]
    findings += () if several else refuse_for_one(overrides)
    parts = []
    for name, request, assembled in zip(names, requests, documents, strict=True):
        section = overrides.apis.get(name, AdapterOverride()) if several else overrides.adapter
        of_api = replace(overrides, adapter=section)
        built = _built_as(name, assembled, section.security_schemes, start)
        document, problems = with_adapter_overrides(built.document, of_api)
        document, departures = with_effective_security(document, built.resolver)
        findings += problems
        url = main if isinstance(main := assembled.sources[0].base, str) else request.base
        document = own_first(document, url)
        base = base_of(document, url)
        parts.append(_Part(name, request, assembled, built, of_api, document, base, departures))
    if several:
        each, problems = overrides_of_each(overrides, {part.api: part.document.operations for part in parts})
        findings += problems
        for part in parts:
            part.overrides = each[part.api]
    return parts


def _built_as(name: str, assembled: Assembled, schemes: Mapping[str, Json], start: Sequence[Built]) -> Built:
    """Build a document, unless it is in `start` as it would be built."""
    for built in start:
        if built.resolver.root is assembled.root and (built.api, built.schemes) == (name, schemes):
            return built
    return build(Resolver(assembled.root), assembled.openapi, schemes, api=name)


def _decided(options: Options, parts: Sequence[_Part], findings: list[Diagnostic]) -> tuple[Decision, ...]:
    """Decide about all operations, in the order of the documents."""
    known = Known(options.names, options.ids, options.retired)
    if options.of_several:
        apis = {part.api: (part.document, part.overrides, part.built.resolver) for part in parts}
        decisions, problems = decide_each(apis, known)
        findings += problems
    else:
        (part,) = parts
        resolver = part.built.resolver
        decisions = {"": decide(part.document, part.overrides, resolver, report=findings.append, known=known)}
    return tuple(
        decision
        for part in parts
        for decision in with_instructions(decisions[part.api], part.assembled.instructions, part.built.resolver)
    )


def _selected(
    options: Options,
    all_decisions: tuple[Decision, ...],
    parts: Sequence[_Part],
    overrides: Overrides,
    findings: list[Diagnostic],
) -> tuple[Decision, ...]:
    """Return the decisions that are asked for, with what the owner accepts of them. Raises OptionError for none."""
    report = findings.append if options.stale == "report" else None
    decisions = select.select(all_decisions, options.include, options.exclude, report)
    if all_decisions and not decisions and not findings:
        filters = " and ".join(["--include"] * bool(options.include) + ["--exclude"] * bool(options.exclude))
        message = f"no operation of {len(all_decisions)} is left by {filters}"
        raise OptionError.of("bad-option", message, help="`aqlgen explain` without them lists all operations.")
    operations = [operation for part in parts for operation in part.document.operations]
    entries = overrides.adapter.accept
    accepted = accept(decisions, entries)
    findings += check_accepted(entries, (*accepted, *all_decisions), operations, overrides.file)
    findings += check_aliases(accepted, overrides.file, datetime.now(UTC).date())
    findings += check_asked(accepted, overrides.file)
    if options.names or options.stale == "error":  # a project as it is recorded has its names already
        findings += takeovers(accepted, overrides.file)
    return accepted


def _identity(options: Options, parts: Sequence[_Part]) -> Identity:
    """Return the identity of the adapter. Raises OptionError for several documents without a name for all."""
    if len(parts) > 1 and options.name is None:
        message = f"an adapter of {len(parts)} documents needs a name"
        raise OptionError.of("bad-option", message, help="Give one, such as --name company.")
    stated = parts[0].assembled.stated
    name = options.name or (stated_name(stated) if stated is not None else None)
    return identify(parts[0].document, name, stem(options.requests[0].spec))


def _tabulate(
    options: Options,
    parts: Sequence[_Part],
    decisions: Sequence[Decision],
    identity: Identity,
    field_case: str | None,
) -> None:
    """Build the table of each document, with no type of a name that one before has."""
    types: set[str] = set()
    prefixes = {part.api: identity.of_api(part.api).prefix for part in parts if part.api}
    for part in parts:
        part.departures = (*part.departures, *misnamed(decisions, part.document.operations))
        of_part = [decision for decision in decisions if decision.operation.api == part.api]
        part.tabulated = tabulate(
            part.document,
            counted("tabulating", of_part),
            part.built.resolver,
            identity,
            field_case=options.field_case or field_case or "snake",
            base=part.base,
            overrides=part.overrides,
            accepted=part.request.accepted,
            api=part.api,
            taken=types,
            variables=identity if part.request.was_alone else identity.of_api(part.api),
            others=[prefix for api, prefix in prefixes.items() if api != part.api],
        )
        types |= part.tabulated.table.types.keys()


def _add_workflows(parts: Sequence[_Part]) -> None:
    """Add the workflows of the Arazzo documents. Raises DocumentError with located diagnostics."""
    taken = {row.name for part in parts for row in part.tabulated.table.rows}
    taken |= {operation.id_as_name for part in parts for operation in part.document.operations}
    for part in parts:
        assembled, table = part.assembled, part.tabulated.table
        if not assembled.workflows:
            continue
        from aqlgen.workflows import translate

        try:
            translated = translate(assembled.workflows, table, taken)
        except DocumentError as error:
            refusal = DocumentError(*assembled.locate(error.diagnostics))
            refusal.sources = assembled.sources
            raise refusal from None
        taken |= {workflow.name for workflow in translated.workflows}
        part.tabulated = replace(
            part.tabulated,
            table=replace(table, workflows=translated.workflows),
            diagnostics=(*part.tabulated.diagnostics, *translated.diagnostics),
        )


def _refuse(findings: list[Diagnostic], stale: str) -> tuple[Diagnostic, ...]:
    """Raise OptionError for errors of the overrides; return the excused findings as warnings."""
    findings.sort(key=lambda finding: (finding.line, finding.column))
    excused = {UNMATCHED, select.UNMATCHED} if stale == "report" else set()
    fatal = [finding for finding in findings if finding.severity is Severity.ERROR and finding.code not in excused]
    if fatal:
        raise OptionError(*fatal)
    return tuple(replace(finding, severity=Severity.WARNING) for finding in findings)


def _prepared(
    options: Options,
    parts: Sequence[_Part],
    all_decisions: Sequence[Decision],
    decisions: Sequence[Decision],
    identity: Identity,
    stale: Sequence[Diagnostic],
) -> Prepared:
    """Put the documents together as one adapter."""
    tables = {part.api: part.tabulated.table for part in parts}
    prefixes = {part.api: part.overrides.adapter.prefix for part in parts}
    table = joined(tables, prefixes) if options.of_several else tables[""]
    return Prepared(
        identity=identity,
        decisions=_served(decisions, table),
        table=table,
        skipped=tuple(skipped for part in parts for skipped in part.skipped),
        diagnostics=(*stale, *(finding for part in parts for finding in part.located())),
        base=parts[0].base,
        retired=unused(options.names, options.retired, (decision.name for decision in all_decisions)),
        requests=tuple(part.recorded() for part in parts),
        options=options,
        documents=tuple(part.assembled for part in parts),
        built=tuple(part.built for part in parts),
    )


def _served(decisions: Sequence[Decision], table: Table) -> tuple[Decision, ...]:
    keys = {row.decision.operation.key for row in table.rows}
    return tuple(decision for decision in decisions if decision.operation.key in keys)


def _refuse_document(prepared: Prepared, *, strict: bool) -> None:
    """Raise DocumentError if no operation can be served, or `strict` refuses warnings."""
    diagnostics = prepared.diagnostics
    refused = [finding for finding in diagnostics if strict and finding.severity is not Severity.NOTE]
    if not prepared.table.rows:
        advice = (
            "Give a document with at least one operation under `paths`."
            if not diagnostics
            else "See the findings below."
        )
        message = "the document has no operation that can be served"
        error = Diagnostic("no-operations", Severity.ERROR, message, pointer="/paths", help=advice)
        refused = [*(each for document in prepared.documents for each in document.locate([error])), *diagnostics]
    if refused:
        refusal = DocumentError(*refused)
        refusal.sources = prepared.sources
        raise refusal
