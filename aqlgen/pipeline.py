"""The stages in their order: assemble → build → decide → table. What every command starts from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeVar

from aqlgen.build import Built, Skipped, build
from aqlgen.decide import Known, Overrides, decide, load_overrides, select
from aqlgen.decide.credentials import with_effective_security
from aqlgen.decide.decision import Decision
from aqlgen.decide.instructions import with_instructions
from aqlgen.decide.naming.clashes import misnamed, takeovers
from aqlgen.decide.naming.likeness import with_likenesses
from aqlgen.decide.naming.uniqueness import unused
from aqlgen.decide.overrides import EXPIRED, UNMATCHED, AdapterOverride, check_aliases
from aqlgen.decide.overrides.auth import with_auth
from aqlgen.decide.overrides.several import overrides_of_each, refuse_for_one
from aqlgen.decide.overrides.stated import with_stated
from aqlgen.decide.owned import with_adapter_overrides
from aqlgen.decide.review.acceptance import UNMATCHED_ACCEPT, accept, check_accepted
from aqlgen.decide.several import Api, decide_each
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError, OptionError
from aqlgen.document.assemble import Assembled, Inputs, assemble
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document, Json
from aqlgen.runtime.table import Accepted
from aqlgen.table import Tabulated, tabulate
from aqlgen.table.adapter import base_of, joined
from aqlgen.table.apis import ApiInput, api_names, stem
from aqlgen.table.identity import Identity, identify, stated_name
from aqlgen.table.model import Table

__all__ = ["ApiInput", "BuiltApi", "Options", "Prepared", "prepare"]

Progress = Callable[[str], None]
"""Shows the stage at work, in a long run with a count: `tabulating`, `tabulating: 3,000 of 11,422 operations`."""
_COUNTED: Final = 500
"""How many operations go by between two counts."""
T = TypeVar("T")


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
    runtime: str | None = None
    """sealed or source: the runtime as one archive in the project, or as its source; None is sealed."""
    parts: tuple[str, ...] = ()
    """What the project has beside the adapter itself, such as ci."""
    overrides_text: bytes | None = None
    """The content of the overrides, under the name of that file, before it is written there."""
    auth: str | None = None
    """The credential of operations for which the document states none: basic, bearer, header:NAME or query:NAME."""
    apis: tuple[ApiInput, ...] = ()
    """The documents of an adapter of several APIs; else there is that of `request`, with `accepted` and `base`."""

    @property
    def inputs(self) -> tuple[ApiInput, ...]:
        """The documents: those of several APIs, or the one."""
        return self.apis or (ApiInput("", self.request, self.accepted, self.base),)


@dataclass(frozen=True, slots=True)
class BuiltApi:
    """A document as it was assembled and built, before anything is decided; later stages change nothing of it."""

    name: str
    request: Request
    schemes: Mapping[str, Json]
    """The owner's security schemes that it was built with."""
    assembled: Assembled
    resolver: Resolver
    built: Built


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything known about a document before a project is rendered; diagnostics are located and sorted."""

    assembled: Inputs
    identity: Identity
    decisions: tuple[Decision, ...]
    table: Table
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]
    base: str | None
    """The URL that relative servers went on from; None when there are none."""
    retired: Mapping[str, str]
    """Names that stand for nothing any more, each with the `METHOD /path` that it stood for."""
    apis: tuple[ApiInput, ...] = ()
    """The documents of an adapter of several APIs, with their names and what was accepted of each."""
    options: Options | None = field(default=None, compare=False, repr=False)
    """The options that it was prepared by."""
    built: tuple[BuiltApi, ...] = field(default=(), compare=False, repr=False)
    """The built documents, from which `prepare` can go on with other options."""

    @property
    def pinned(self) -> dict[str, str]:
        """The kept names, by `METHOD /path`, without which another table would come of the same document."""
        return {decision.operation.key: decision.name for decision in self.decisions if decision.pinned}


def prepare(options: Options, progress: Progress, earlier: Prepared | None = None) -> Prepared:
    """Run the stages. Raises AqlgenError; with `strict`, warnings refuse the document.

    `earlier` is a result of the same command: its documents are not read again, and it is returned for its own options.
    """
    if earlier is not None and earlier.options == options:
        return earlier
    progress("reading")
    start = () if earlier is None else earlier.built
    known = {api.request: api.assembled for api in start}
    all_assembled = [known.get(api.request) or assemble(api.request) for api in options.inputs]
    progress("building")
    overrides = load_overrides(options.overrides, options.overrides_text)
    if not options.apis:
        overrides = with_stated(overrides, all_assembled[0].stated)
        overrides = with_auth(overrides, options.auth, _declared_schemes(all_assembled[0].root))
    parts, findings = _built(options, all_assembled, overrides, start)
    progress("deciding")
    all_decisions = _decided(options, parts, findings)
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
    operations = [operation for part in parts for operation in part.document.operations]
    decisions = accept(_with_likenesses(decisions, parts), entries)
    findings += check_accepted(entries, (*decisions, *all_decisions), operations, overrides.file)
    findings += check_aliases(decisions, overrides.file, datetime.now(UTC).date())
    if options.names or options.stale == "error":  # a project as it is recorded has its names already
        findings += takeovers(decisions, overrides.file)
    identity = _identity(options, parts)
    progress("tabulating")
    field_case = options.field_case or overrides.adapter.field_case or "snake"
    types: set[str] = set()
    for part in parts:
        part.departures = (*part.departures, *misnamed(decisions, part.document.operations))
        others = [other.api for other in parts if other is not part]
        of_part = [decision for decision in decisions if decision.operation.api == part.api]
        _tabulate(part, others, _counted("tabulating", of_part, progress), identity, field_case, types)
        types |= part.tabulated.table.types.keys()
    stale = _refuse([*findings, *(each for part in parts for each in part.tabulated.overrides)], options.stale)
    taken = {row.name for part in parts for row in part.tabulated.table.rows}
    taken |= {operation.id_as_name for operation in operations}
    tables = {}
    for part in parts:
        tables[part.api] = _with_workflows(part, taken)
    prefixes = {part.api: part.overrides.adapter.prefix for part in parts}
    table = joined(tables, prefixes) if options.apis else tables[""]
    diagnostics = (*stale, *(each for part in parts for each in part.located()))
    warnings = tuple(diagnostic for diagnostic in diagnostics if diagnostic.severity is not Severity.NOTE)
    refused = () if table.rows else _nothing_served(parts, diagnostics)
    inputs = _inputs(options, parts)
    if refused or (options.strict and warnings):
        refusal = DocumentError(*(refused or warnings))
        refusal.sources = inputs.sources
        raise refusal
    served = {row.decision.operation.key for row in table.rows}
    return Prepared(
        assembled=inputs,
        identity=identity,
        decisions=tuple(decision for decision in decisions if decision.operation.key in served),
        table=table,
        skipped=tuple(skipped for part in parts for skipped in part.skipped),
        diagnostics=diagnostics,
        base=parts[0].base,
        retired=unused(options.names, options.retired, (decision.name for decision in all_decisions)),
        apis=tuple(
            replace(
                part.input,
                name=part.api,
                base=part.base,
                accepted=tables[part.api].adapter.accepted,
                request=part.input.request.at(part.start.assembled.sources[0].name),
            )
            for part in parts
            if options.apis
        ),
        options=options,
        built=tuple(part.start for part in parts),
    )


def _declared_schemes(root: Mapping[str, Json]) -> Collection[str]:
    """Return the names of a document's security schemes."""
    components = root.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, dict) else None
    return schemes.keys() if isinstance(schemes, dict) else ()


@dataclass(slots=True, eq=False)
class _Part:
    """A document on its way through the stages; `api` is "" for an adapter of one document."""

    api: str
    input: ApiInput
    start: BuiltApi
    overrides: Overrides
    document: Document
    base: str | None
    departures: Sequence[Diagnostic]
    tabulated: Tabulated = field(init=False)
    workflow_findings: tuple[Diagnostic, ...] = ()

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The operations that are not served."""
        return (*self.start.built.skipped, *self.tabulated.skipped)

    def located(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of the document with their positions in its files."""
        diagnostics = [
            *self.start.assembled.diagnostics,
            *self.start.built.diagnostics,
            *self.departures,
            *self.tabulated.diagnostics,
            *self.workflow_findings,
            *(operation.diagnostic for operation in self.skipped),
        ]
        return self.start.assembled.locate(diagnostics)


def _built(
    options: Options, all_assembled: Sequence[Assembled], overrides: Overrides, start: Sequence[BuiltApi]
) -> tuple[list[_Part], list[Diagnostic]]:
    """Build the documents, each with what the owner says of it; also return what is wrong with that."""
    inputs = options.inputs
    names = api_names(inputs, [assembled.root for assembled in all_assembled]) if options.apis else [""]
    findings: list[Diagnostic] = []
    if not options.apis:
        findings += refuse_for_one(overrides)
    parts = []
    for name, api, assembled in zip(names, inputs, all_assembled, strict=True):
        of_api = (
            overrides if not options.apis else replace(overrides, adapter=overrides.apis.get(name, AdapterOverride()))
        )
        built_api = _built_api(name, api.request, assembled, of_api.adapter.security_schemes, start)
        document, problems = with_adapter_overrides(built_api.built.document, of_api)
        document, departures = with_effective_security(document, built_api.resolver)
        findings += problems
        base = base_of(document, main if isinstance(main := assembled.sources[0].base, str) else api.base)
        parts.append(_Part(name, api, built_api, of_api, document, base, departures))
    if options.apis:
        each, problems = overrides_of_each(overrides, {part.api: part.document.operations for part in parts})
        findings += problems
        for part in parts:
            part.overrides = each[part.api]
    return parts, findings


def _built_api(
    name: str, request: Request, assembled: Assembled, schemes: Mapping[str, Json], start: Sequence[BuiltApi]
) -> BuiltApi:
    """Build a document, unless it is in `start` as it would be built."""
    for built_api in start:
        if built_api.assembled is assembled and (built_api.name, built_api.schemes) == (name, schemes):
            return built_api
    resolver = Resolver(assembled.root)
    built = build(resolver, assembled.openapi, schemes, api=name)
    return BuiltApi(name, request, schemes, assembled, resolver, built)


def _decided(options: Options, parts: Sequence[_Part], findings: list[Diagnostic]) -> tuple[Decision, ...]:
    """Decide about all operations, in the order of the documents; `findings` takes what is wrong with the overrides."""
    known = Known(options.names, options.ids, options.retired)
    if options.apis:
        apis = {
            part.api: Api(part.document, part.overrides, part.start.resolver, part.overrides.adapter.prefix or part.api)
            for part in parts
        }
        decisions, problems = decide_each(apis, known)
        findings += problems
    else:
        (part,) = parts
        decisions = {
            "": decide(part.document, part.overrides, part.start.resolver, report=findings.append, known=known)
        }
    return tuple(
        decision
        for part in parts
        for decision in with_instructions(decisions[part.api], part.start.assembled.instructions, part.start.resolver)
    )


def _with_likenesses(decisions: Iterable[Decision], parts: Sequence[_Part]) -> tuple[Decision, ...]:
    """Return the decisions with what their names have in common within each API."""
    of_apis: dict[str, list[Decision]] = {part.api: [] for part in parts}
    for decision in decisions:
        of_apis[decision.operation.api].append(decision)
    return tuple(decision for of_api in of_apis.values() for decision in with_likenesses(of_api))


def _identity(options: Options, parts: Sequence[_Part]) -> Identity:
    """Return the identity of the adapter. Raises OptionError for several documents without a name for all."""
    if len(parts) > 1 and options.name is None:
        message = f"an adapter of {len(parts)} documents needs a name"
        raise OptionError.of("bad-option", message, help="Give one, such as --name company.")
    stated = parts[0].start.assembled.stated
    name = options.name or (stated_name(stated) if stated is not None else None)
    return identify(parts[0].document, name, stem(options.request.spec))


def _counted(stage: str, operations: Sequence[T], progress: Progress) -> Iterator[T]:
    """Yield the operations, and show now and then how many of them are done."""
    for done, operation in enumerate(operations):
        if done and not done % _COUNTED:
            progress(f"{stage}: {done:,} of {len(operations):,} operations")
        yield operation


def _tabulate(
    part: _Part,
    others: Sequence[str],
    decisions: Iterable[Decision],
    identity: Identity,
    field_case: str,
    types: Collection[str],
) -> None:
    """Build the table of a document beside `others`, with none of the names in `types` for its own."""
    part.tabulated = tabulate(
        part.document,
        decisions,
        part.start.resolver,
        identity,
        field_case=field_case,
        base=part.base,
        overrides=part.overrides,
        accepted=part.input.accepted,
        api=part.api,
        taken=types,
        variables=identity if part.input.was_alone else identity.of_api(part.api),
        others=[identity.of_api(api).prefix for api in others],
    )


def _inputs(options: Options, parts: Sequence[_Part]) -> Inputs:
    """Return what the project was made from: that of one document, or of all, each in a folder of its API."""
    if not options.apis:
        return parts[0].start.assembled.inputs
    return Inputs(
        sources=tuple(source for part in parts for source in part.start.assembled.sources),
        kept={f"{part.api}/{path}": content for part in parts for path, content in part.start.assembled.kept.items()},
        raw={part.api: part.start.assembled.raw for part in parts},
        instructions=tuple(text for part in parts for text in part.start.assembled.instructions),
    )


def _with_workflows(part: _Part, taken: set[str]) -> Table:
    """Return the table with the workflows of the Arazzo documents, whose names are none of those `taken`.

    Raises DocumentError with located diagnostics.
    """
    assembled, table = part.start.assembled, part.tabulated.table
    if not assembled.workflows:
        return table
    from aqlgen.workflows import translate

    try:
        translated = translate(assembled.workflows, table, taken)
    except DocumentError as error:
        refusal = DocumentError(*assembled.locate(error.diagnostics))
        refusal.sources = assembled.sources
        raise refusal from None
    part.workflow_findings = translated.diagnostics
    taken |= {workflow.name for workflow in translated.workflows}
    return replace(table, workflows=translated.workflows)


def _refuse(findings: list[Diagnostic], stale: str) -> tuple[Diagnostic, ...]:
    """Raise OptionError for errors of the overrides; return the excused findings as warnings."""
    findings.sort(key=lambda finding: (finding.line, finding.column))
    excused = {EXPIRED, UNMATCHED_ACCEPT} | ({UNMATCHED, select.UNMATCHED} if stale == "report" else set())
    fatal = [finding for finding in findings if finding.code not in excused]
    if fatal:
        raise OptionError(*fatal)
    return tuple(replace(finding, severity=Severity.WARNING) for finding in findings)


def _nothing_served(parts: Sequence[_Part], diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    error = Diagnostic(
        "no-operations",
        Severity.ERROR,
        "the document has no operation that can be served",
        pointer="/paths",
        help="Give a document whose paths hold at least one operation." if not diagnostics else "See what follows.",
    )
    return (*(each for part in parts for each in part.start.assembled.locate([error])), *diagnostics)
