"""From decisions to the operation table: parameters, bodies, responses, types and examples of every operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from aqlgen import __version__
from aqlgen.build import Skipped
from aqlgen.decisions import Category, Decision
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import MISSING, Document, Json
from aqlgen.schemas import Types, shorten
from aqlgen.table import responses
from aqlgen.table.added import added, page_of, paged, paging_parameters, tagged
from aqlgen.table.bodies import UnservedBodyError, shape
from aqlgen.table.encoding import is_form
from aqlgen.table.examples import ExampleMaker
from aqlgen.table.fields import ShapedBody
from aqlgen.table.identity import Identity
from aqlgen.table.model import FAMILIES, Row, Table, TableBody, TableParameter
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
MAX_SUMMARY = 120
MAX_DESCRIPTION = 1000


@dataclass(frozen=True, slots=True)
class Tabulated:
    """The table, the operations that cannot be served, and what was found on the way, of the overrides apart."""

    table: Table
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]
    overrides: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row before the types are finished."""

    decision: Decision
    own: tuple[TableParameter, ...]
    parameters: tuple[TableParameter, ...]
    body: TableBody | None
    body_example: Json
    responses: Mapping[str, Mapping[str, Json]]
    returns: Mapping[str, str]


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
    operations = {one.decision.name: (one.decision.operation.path, one.parameters) for one in drafts}
    drafts = [replace(one, parameters=narrowed(one.decision, one.parameters, operations)) for one in drafts]
    finished = types.finish()
    maker = ExampleMaker(finished)
    names = frozenset(draft.decision.name for draft in drafts)
    etags = tagged(draft.decision for draft in drafts)
    made = (_row(draft, maker, finished, names, etags, overruled) for draft in drafts)
    rows = tuple(sorted(made, key=lambda row: row.name))
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
    own = added(decision, parameters, returns)
    every = unique((*own, *parameters, *(shaped.parameters if shaped else ())))
    return _Draft(
        decision=decision,
        own=every[: len(own)],
        parameters=overruled.parameters(decision, every[len(own) :]),
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
) -> Row:
    decision = replace(draft.decision, traits=served(draft.decision.traits, names))
    operation, deprecation = decision.operation, decision.trait("deprecation")
    call, given = overruled.examples(decision, draft.parameters, maker)
    if call is None:
        call = maker.example(operation, draft.parameters, draft.body, draft.body_example, given)
    returns = responses.settle(draft.returns, types)
    shown, hidden = draft.parameters, None
    pages = paged(decision)
    if pages is not None:
        returns = page_of(returns)
        shown, hidden = paging_parameters(pages, draft.parameters)
        call = call and {name: one for name, one in call.items() if all(name != own.name for own in hidden)}
    update = decision.trait("update")
    has_etag = decision.name in etags or bool(update is not None and update.value.get("etag"))
    said = decision.description or operation.description or decision.override.summary or operation.summary
    told = decision.override.summary or decision.description
    own = "" if _repeats(operation.summary, operation.operation_id) else operation.summary
    summary = told or own or operation.description or operation.summary or _fallback(decision)
    return Row(
        decision=decision,
        summary=shorten(summary, MAX_SUMMARY),
        description=shorten(said, MAX_DESCRIPTION),
        parameters=(*shown, *draft.own),
        body=draft.body,
        responses=responses.with_etag_in_data(draft.responses) if has_etag else draft.responses,
        returns=returns,
        example=call,
        mock=responses.mock_of(operation.responses),
        deprecation={} if deprecation is None else deprecation.value,
        paging=hidden,
        etag=decision.name in etags,
    )


def _repeats(summary: str, operation_id: str | None) -> bool:
    """Whether a summary is no sentence but the operation's own id, in whatever spelling."""
    return len(summary.split()) == 1 and _letters(summary) == _letters(operation_id or "")


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _fallback(decision: Decision) -> str:
    return f"{decision.name.replace('_', ' ').capitalize()}."


def _adapter(
    document: Document, identity: Identity, rows: tuple[Row, ...], field_case: str, base: str | None
) -> dict[str, Json]:
    families = {family: [row.name for row in rows if row.family == family] for family in FAMILIES}
    entry: dict[str, Json] = {
        "format": 1,
        "name": identity.name,
        "package": identity.package,
        "title": shorten(document.title, 200) or identity.name,
        "description": shorten(document.description, MAX_DESCRIPTION),
        "version": PROJECT_VERSION,
        "api_version": document.version,
        "spec_version": SPEC_VERSION,
        "generator": f"aqlgen {__version__}",
        "field_case": field_case,
        "servers": [server_entry(server, base) for server in document.servers],
        "security": [list(one) for one in document.security],
        "scopes": document.scopes,
        "security_schemes": security_schemes(identity, document.schemes),
        "counts": {family: len(names) for family, names in families.items()},
        "quick_start": {family: _quick_start(rows, family) for family, names in families.items() if names},
    }
    if not document.scopes:
        del entry["scopes"]
    return entry


def _quick_start(rows: tuple[Row, ...], family: str) -> str:
    """Choose the operation that shows a family best: the canonical verb, few required parameters, a short name."""
    verb = {Category.READ.family: "list"}.get(family, family)

    def order(row: Row) -> tuple[bool, bool, int, int, str]:
        required = sum(parameter.required for parameter in row.parameters)
        return (row.example is None, row.decision.verb != verb, required, len(row.name), row.name)

    return min((row for row in rows if row.family == family), key=order).name
