"""From decisions to the operation table: parameters, bodies, responses, types and examples of every operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from aqlgen import __version__
from aqlgen.build import Skipped
from aqlgen.decide.decision import Category, Decision
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import MISSING, Document, Json
from aqlgen.runtime.table import (
    FORMAT,
    Adapter,
    Body,
    Deprecation,
    FormerName,
    Idempotency,
    LongRunning,
    Pagination,
    Parameter,
    Response,
    ReturnType,
    Row,
    Server,
    Update,
)
from aqlgen.schemas import Types, shorten
from aqlgen.table import responses
from aqlgen.table.added import added, page_of, paged, paging_parameters, tagged
from aqlgen.table.bodies import UnservedBodyError, shape
from aqlgen.table.encoding import is_form
from aqlgen.table.examples import ExampleMaker
from aqlgen.table.fields import ShapedBody
from aqlgen.table.identity import Identity
from aqlgen.table.model import FAMILIES, DecidedRow, Table
from aqlgen.table.overruled import Overruled
from aqlgen.table.parameters import plain_parameters, secured, unique
from aqlgen.table.reading import narrowed
from aqlgen.table.security import security_schemes
from aqlgen.table.served import served
from aqlgen.table.servers import server_entry
from aqlgen.table.unresolved import unresolved

__all__ = ["Tabulated", "tabulate"]

SPEC_VERSION = "1.0.0-draft"
PROJECT_VERSION = "0.1.0"
SCHEMA_FILE = "../../schema/adapter.schema.json"
"""Where the JSON Schema of `adapter.json` lies, seen from there."""

MAX_SUMMARY = 120
MAX_DESCRIPTION = 1000


@dataclass(frozen=True, slots=True)
class Tabulated:
    """The table, the operations that cannot be served, and the diagnostics; those of the overrides are kept apart."""

    table: Table
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]
    overrides: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row before the types are finished."""

    decision: Decision
    adapter_parameters: tuple[Parameter, ...]
    parameters: tuple[Parameter, ...]
    body: Body | None
    body_example: Json
    responses: Mapping[str, Response]
    returns: ReturnType


def tabulate(
    document: Document,
    decisions: tuple[Decision, ...],
    resolver: Resolver,
    identity: Identity,
    *,
    field_case: str,
    base: str | None = None,
    overrides: str = "",
) -> Tabulated:
    """Build the table. `base` is the URL of the document, for its relative servers, `overrides` the overrides file."""
    broken: dict[str, UnresolvedError] = {}
    types = Types(
        resolver,
        preserve=field_case == "preserve",
        unresolved=lambda error: _note(broken, error),
        openapi=document.openapi,
        xml=responses.need_xml(document),
    )
    overruled = Overruled(overrides)
    drafts: list[_Draft] = []
    skipped: list[Skipped] = []
    for decision in decisions:
        try:
            drafts.append(_draft(decision, types, document, overruled))
        except UnservedBodyError as error:
            skipped.append(_unserved(decision, error))
    operations = {draft.decision.name: (draft.decision.operation.path, draft.parameters) for draft in drafts}
    drafts = [replace(draft, parameters=narrowed(draft.decision, draft.parameters, operations)) for draft in drafts]
    finished = types.finish()
    maker = ExampleMaker(finished)
    names = frozenset(draft.decision.name for draft in drafts)
    etags = tagged(draft.decision for draft in drafts)
    decided_rows = (_row(draft, maker, finished, names, etags, overruled) for draft in drafts)
    rows = tuple(sorted(decided_rows, key=lambda row: row.name))
    table = Table(rows, finished, _adapter(document, identity, rows, field_case, base))
    return Tabulated(table, tuple(skipped), (*unresolved(resolver.root, broken), *types.diagnostics()), overruled.found)


def _note(broken: dict[str, UnresolvedError], error: UnresolvedError) -> None:
    broken.setdefault(error.reference, error)


def _draft(decision: Decision, types: Types, document: Document, overruled: Overruled) -> _Draft:
    decision = secured(decision, document)
    shaped: ShapedBody | None
    try:
        shaped = shape(decision, types, overruled.content_type(decision, types))
    except UnservedBodyError:
        if decision.operation.body is None or decision.operation.body.required is not False:
            raise
        shaped = None
    parameters = plain_parameters(decision, types, document.schemes)
    table_responses, returns = responses.build(decision, types)
    adapter_parameters = added(decision, parameters, returns)
    named_parameters = unique((*adapter_parameters, *parameters, *(shaped.parameters if shaped else ())))
    return _Draft(
        decision=decision,
        adapter_parameters=named_parameters[: len(adapter_parameters)],
        parameters=overruled.parameters(decision, named_parameters[len(adapter_parameters) :]),
        body=shaped.body if shaped else None,
        body_example=shaped.example if shaped else MISSING,
        responses=table_responses,
        returns=returns,
    )


def _unserved(decision: Decision, error: UnservedBodyError) -> Skipped:
    operation = decision.operation
    message = f"{operation.key} is skipped: its body is only offered as {', '.join(error.offered)}"
    if all(map(is_form, error.offered)):
        message += ", and no field of the form has a name"
    pointer = f"{operation.origin.pointer}/requestBody"
    return Skipped(
        operation.method,
        operation.path,
        Diagnostic("unsupported-media-type", Severity.WARNING, message, pointer=pointer),
    )


def _row(
    draft: _Draft,
    maker: ExampleMaker,
    types: Mapping[str, Mapping[str, Json]],
    names: frozenset[str],
    etags: frozenset[str],
    overruled: Overruled,
) -> DecidedRow:
    decision = replace(draft.decision, traits=served(draft.decision.traits, names))
    operation, deprecation = decision.operation, decision.trait(Deprecation)
    example, stated_values = overruled.examples(decision, draft.parameters, maker)
    if example is None:
        example = maker.example(operation, draft.parameters, draft.body, draft.body_example, stated_values)
    returns = responses.with_final_kind(draft.returns, types)
    shown, pagination = draft.parameters, decision.trait(Pagination)
    if paged(decision) is not None and pagination is not None:
        returns = page_of(returns)
        shown, hidden = paging_parameters(pagination, draft.parameters)
        behind = {parameter.name: replace(parameter, required=False) for parameter in hidden}
        demanded = tuple(parameter.name for parameter in hidden if parameter.required)
        pagination = replace(pagination, demanded=demanded, parameters=behind)
        example = example and {name: value for name, value in example.items() if name not in behind}
    update = decision.trait(Update)
    has_etag = decision.name in etags or (update is not None and update.etag)
    summary, description = _texts(decision)
    if deprecation == Deprecation():
        deprecation = None
    row = Row(
        name=decision.name,
        family=decision.category.family,
        summary=summary,
        description=description or summary,
        method=operation.method.upper(),
        path=operation.path,
        operation_id=operation.operation_id,
        aliases=tuple(FormerName(name=alias.name, until=alias.until) for alias in decision.override.aliases),
        resource=decision.resource,
        verb=decision.verb,
        relative=decision.relative,
        rule=decision.category_reason.rule,
        confidence=round(decision.confidence, 2),
        danger=decision.danger.value,
        danger_reason=f"{decision.danger_reason.rule}: {decision.danger_reason.note}",
        review=decision.review_reasons,
        deprecated=operation.deprecated or deprecation is not None or operation.extensions.get("x-deprecated") is True,
        deprecation=deprecation,
        pagination=pagination,
        update=update,
        idempotency=decision.trait(Idempotency),
        long_running=decision.trait(LongRunning),
        etag=decision.name in etags,
        confirmation=decision.confirmation or "",
        security=operation.security,
        scopes=operation.scopes,
        servers=tuple(Server(url=server.url, variables=server.variables) for server in operation.servers),
        headers={
            parameter.name.title(): parameter.fixed for parameter in operation.parameters if parameter.fixed is not None
        },
        shown_parameters={parameter.name: parameter for parameter in (*shown, *draft.adapter_parameters)},
        body=draft.body,
        responses=responses.with_etag_in_data(draft.responses) if has_etag else draft.responses,
        returns=returns,
        example=example,
    )
    return DecidedRow(row, decision, responses.mock_of(operation.responses))


def _texts(decision: Decision) -> tuple[str, str]:
    """Return summary and description: the owner's words, else the document's, else the name's."""
    operation, override = decision.operation, decision.override
    stated_summary = "" if _repeats(operation.summary, operation.operation_id) else operation.summary
    summary = override.summary or decision.description or stated_summary or operation.description or operation.summary
    description = decision.description or operation.description or override.summary or operation.summary
    return shorten(summary or _fallback(decision), MAX_SUMMARY), shorten(description, MAX_DESCRIPTION)


def _repeats(summary: str, operation_id: str | None) -> bool:
    """Return True if a summary only repeats the operation's id, in any spelling."""
    return len(summary.split()) == 1 and _letters(summary) == _letters(operation_id or "")


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _fallback(decision: Decision) -> str:
    return f"{decision.name.replace('_', ' ').capitalize()}."


def _adapter(
    document: Document, identity: Identity, rows: tuple[DecidedRow, ...], field_case: str, base: str | None
) -> Adapter:
    families = {family: [row for row in rows if row.family == family] for family in FAMILIES}
    return Adapter(
        schema_file=SCHEMA_FILE,
        format=FORMAT,
        name=identity.name,
        package=identity.package,
        title=shorten(document.title, 200) or identity.name,
        description=shorten(document.description, MAX_DESCRIPTION),
        version=PROJECT_VERSION,
        api_version=document.version,
        spec_version=SPEC_VERSION,
        generator=f"aqlgen {__version__}",
        field_case=field_case,
        servers=tuple(server_entry(server, base) for server in document.servers),
        security=document.security,
        scopes=document.scopes,
        security_schemes=security_schemes(identity, document.schemes),
        counts={family: len(members) for family, members in families.items()},
        quick_start={family: _quick_start(members, family) for family, members in families.items() if members},
    )


def _quick_start(rows: Iterable[DecidedRow], family: str) -> str:
    """Return the operation that shows a family best: the canonical verb, few required parameters, a short name."""
    verb = {Category.READ.family: "list"}.get(family, family)

    def order(decided_row: DecidedRow) -> tuple[bool, bool, int, int, str]:
        row = decided_row.row
        required = sum(parameter.required for parameter in row.shown_parameters.values())
        return (row.example is None, row.verb != verb, required, len(row.name), row.name)

    return min(rows, key=order).name
