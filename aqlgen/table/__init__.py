"""From decisions to the operation table: parameters, bodies, responses, types and examples of every operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urljoin

from aqlgen import __version__
from aqlgen.build import Skipped
from aqlgen.decisions import Category, Decision
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import MISSING, Document, Json, Server
from aqlgen.resolve import Resolver, UnresolvedError
from aqlgen.schemas.dialect import shorten
from aqlgen.schemas.types import Types
from aqlgen.table import responses
from aqlgen.table.bodies import ShapedBody, UnservedBodyError, shape
from aqlgen.table.deprecation import deprecation_of
from aqlgen.table.examples import ExampleMaker
from aqlgen.table.identity import Identity, scheme_entry
from aqlgen.table.model import FAMILIES, Row, Table, TableBody, TableParameter
from aqlgen.table.parameters import plain_parameters, unique
from aqlgen.table.unresolved import unresolved

__all__ = ["Tabulated", "tabulate"]

SPEC_VERSION = "1.0.0-draft"
PROJECT_VERSION = "0.1.0"
MAX_SUMMARY = 120
MAX_DESCRIPTION = 1000


@dataclass(frozen=True, slots=True)
class Tabulated:
    """The table, the operations that cannot be served, and what was found on the way."""

    table: Table
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row before the types are finished."""

    decision: Decision
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
) -> Tabulated:
    """Build the table. `base` is the URL that the document came from, for its relative servers."""
    broken: dict[str, UnresolvedError] = {}
    types = Types(
        resolver,
        preserve=field_case == "preserve",
        unresolved=lambda error: _note(broken, error),
        openapi=document.openapi,
    )
    drafts: list[_Draft] = []
    skipped: list[Skipped] = []
    for decision in decisions:
        try:
            drafts.append(_draft(decision, types, document))
        except UnservedBodyError as error:
            skipped.append(_unserved(decision, error))
    finished = types.finish()
    maker = ExampleMaker(finished)
    names = _names(drafts)
    rows = tuple(sorted((_row(draft, maker, finished, names) for draft in drafts), key=lambda row: row.name))
    table = Table(rows, finished, _adapter(document, identity, rows, field_case, base))
    return Tabulated(table, tuple(skipped), (*unresolved(resolver.root, broken), *types.diagnostics()))


def _note(broken: dict[str, UnresolvedError], error: UnresolvedError) -> None:
    broken.setdefault(error.reference, error)


def _draft(decision: Decision, types: Types, document: Document) -> _Draft:
    shaped: ShapedBody | None
    try:
        shaped = shape(decision, types)
    except UnservedBodyError:
        if decision.operation.body is None or decision.operation.body.required is not False:
            raise
        shaped = None
    parameters = plain_parameters(decision, types, document.schemes)
    table_responses, returns = responses.build(decision, types)
    return _Draft(
        decision=decision,
        parameters=unique((*parameters, *(shaped.parameters if shaped else ()))),
        body=shaped.body if shaped else None,
        body_example=shaped.example if shaped else MISSING,
        responses=table_responses,
        returns=returns,
    )


def _unserved(decision: Decision, error: UnservedBodyError) -> Skipped:
    operation = decision.operation
    message = f"{operation.key} is skipped: its body is only offered as {', '.join(error.offered)}"
    pointer = f"{operation.origin.pointer}/requestBody"
    return Skipped(
        operation.method,
        operation.path,
        Diagnostic("unsupported-media-type", Severity.WARNING, message, pointer=pointer),
    )


def _names(drafts: list[_Draft]) -> dict[str, str]:
    """Map what a document may call an operation to the agent's name of it."""
    names = {one.decision.operation.key: one.decision.name for one in drafts}
    return names | {one.decision.operation.operation_id or "": one.decision.name for one in drafts}


def _row(draft: _Draft, maker: ExampleMaker, types: Mapping[str, Mapping[str, Json]], names: Mapping[str, str]) -> Row:
    decision, operation = draft.decision, draft.decision.operation
    said = decision.description or operation.description or operation.summary
    summary = decision.description or operation.summary or operation.description or _fallback(decision)
    return Row(
        decision=decision,
        summary=shorten(summary, MAX_SUMMARY),
        description=shorten(said, MAX_DESCRIPTION),
        parameters=draft.parameters,
        body=draft.body,
        responses=draft.responses,
        returns=responses.settle(draft.returns, types),
        example=maker.example(operation, draft.parameters, draft.body, draft.body_example),
        mock=responses.mock_of(operation.responses),
        deprecation=deprecation_of(operation, names),
    )


def _fallback(decision: Decision) -> str:
    return f"{decision.name.replace('_', ' ').capitalize()}."


def _adapter(
    document: Document, identity: Identity, rows: tuple[Row, ...], field_case: str, base: str | None
) -> dict[str, Json]:
    families = {family: [row.name for row in rows if row.family == family] for family in FAMILIES}
    return {
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
        "servers": [_server(server, base) for server in document.servers],
        "security": [list(one) for one in document.security],
        "security_schemes": {scheme.name: scheme_entry(identity, scheme) for scheme in document.schemes},
        "counts": {family: len(names) for family, names in families.items()},
        "quick_start": {family: _quick_start(rows, family) for family, names in families.items() if names},
    }


def _server(server: Server, base: str | None) -> dict[str, Json]:
    try:
        url = urljoin(base, server.url) if base and "{" not in server.url else server.url
    except ValueError:  # no URL at all, such as http://[
        url = server.url
    url = f"https:{url}" if url.startswith("//") else url  # the scheme of a file's own address says nothing
    entry: dict[str, Json] = {"url": url}
    if server.description:
        entry["description"] = shorten(server.description, 200)
    if server.variables:
        entry["variables"] = server.variables
    return entry


def _quick_start(rows: tuple[Row, ...], family: str) -> str:
    """Choose the operation that shows a family best: the canonical verb, few required parameters, a short name."""
    verb = {Category.READ.family: "list"}.get(family, family)

    def order(row: Row) -> tuple[bool, bool, int, int, str]:
        required = sum(parameter.required for parameter in row.parameters)
        return (row.example is None, row.decision.verb != verb, required, len(row.name), row.name)

    return min((row for row in rows if row.family == family), key=order).name
