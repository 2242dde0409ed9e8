"""From decisions to the operation table: parameters, bodies, responses, types and examples of every operation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from aqlgen.build import Skipped
from aqlgen.decide.credentials.parameters import without_fields
from aqlgen.decide.decision import Category, Decision
from aqlgen.decide.overrides import Overrides
from aqlgen.decide.schemas import Schemas
from aqlgen.decide.traits.keys import listed_keys
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import nodes, pointer_to
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import MISSING, Document, Json
from aqlgen.runtime.table import Accepted, Body, Parameter
from aqlgen.schemas import Types
from aqlgen.table import responses
from aqlgen.table.access import address_notes
from aqlgen.table.adapter import build_adapter
from aqlgen.table.bodies import UnservedBodyError, fields_of_update, shape
from aqlgen.table.corrections import corrected
from aqlgen.table.example_calls import ExampleMaker, with_unfit_fields
from aqlgen.table.fields import ShapedBody
from aqlgen.table.form_fields import is_form
from aqlgen.table.identity import Identity
from aqlgen.table.kinds import choices_of
from aqlgen.table.model import Table
from aqlgen.table.named_parts import open_by_examples, with_names_as_read
from aqlgen.table.overrides import OverrideApplier
from aqlgen.table.parameters import Shared, added_parameters, plain_parameters, with_unique_names
from aqlgen.table.rows import Boilerplate, Draft, build_row, reads_with_etag, with_reader_schemas
from aqlgen.table.selecting import Readable, answer_of
from aqlgen.table.variables import security_schemes

NO_OVERRIDES = Overrides()


@dataclass(frozen=True, slots=True)
class Tabulated:
    """The table, the operations that cannot be served, and the diagnostics; those of the overrides are kept apart."""

    table: Table
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]
    overrides: tuple[Diagnostic, ...] = ()


def tabulate(
    document: Document,
    decisions: Iterable[Decision],
    resolver: Resolver,
    identity: Identity,
    *,
    field_case: str,
    base: str | None = None,
    overrides: Overrides = NO_OVERRIDES,
    accepted: Accepted | None = None,
    api: str = "",
    taken: Collection[str] = (),
    variables: Identity | None = None,
    others: Collection[str] = (),
) -> Tabulated:
    """Build the table. `base` is the URL of the document, for its relative servers.

    `accepted` has the origins that the owner accepted by generating, None for the first time. `api` is the name of the
    API where the adapter has several, and `taken` are the names of their types so far. The variables of credentials are
    named after `variables`, by default the adapter, and begin with none of `others`.
    """
    broken: dict[str, UnresolvedError] = {}
    decisions = tuple(decisions)
    types = Types(
        resolver,
        preserve=field_case == "preserve",
        unresolved=lambda error: _note(broken, error),
        openapi=document.openapi,
        xml=responses.need_xml(document),
        taken=taken,
        owner=api.capitalize(),
        keys=listed_keys(decisions, Schemas(resolver)),
    )
    applier = OverrideApplier(overrides.file)
    shared: Shared = {}
    drafts: list[Draft] = []
    skipped: list[Skipped] = []
    for decision in decisions:
        try:
            drafts.append(_draft(decision, types, applier, resolver, shared))
        except UnservedBodyError as error:
            skipped.append(_unserved(decision, error))
    operations = {draft.decision.name: (draft.decision.operation.path, draft.parameters) for draft in drafts}
    drafts = [with_reader_schemas(draft, operations) for draft in drafts]
    finished = types.finish()
    drafts = with_names_as_read(drafts, finished)
    open_by_examples(drafts, finished, types.target)
    maker = ExampleMaker(finished)
    names = frozenset(draft.decision.name for draft in drafts)
    etags = reads_with_etag(draft.decision for draft in drafts)
    answers = [answer_of(draft.responses, draft.decision.resource, finished) for draft in drafts]
    decided = zip((draft.decision for draft in drafts), answers, strict=True)
    reads = [(decision, answer) for decision, answer in decided if decision.category is Category.READ]
    readable = Readable.of(reads, types.keys)
    boilerplate = Boilerplate(draft.decision.operation.description for draft in drafts)
    decided_rows = (
        build_row(draft, answer, maker, finished, names, etags, readable, applier, boilerplate, types.own)
        for draft, answer in zip(drafts, answers, strict=True)
    )
    rows = tuple(sorted(with_unfit_fields(decided_rows, finished, maker), key=lambda row: row.name))
    schemes, findings = security_schemes(variables or identity, document.schemes, overrides, others)
    adapter = build_adapter(document, identity, rows, field_case, base, schemes, overrides.adapter, accepted)
    diagnostics = (
        *_unresolved_warnings(resolver.root, broken),
        *types.diagnostics(),
        *address_notes(adapter, rows),
    )
    table = Table(rows, dict(sorted(finished.items())), adapter)
    return Tabulated(table, tuple(skipped), diagnostics, (*applier.diagnostics, *findings))


def _note(broken: dict[str, UnresolvedError], error: UnresolvedError) -> None:
    broken.setdefault(error.reference, error)


def _draft(decision: Decision, types: Types, applier: OverrideApplier, resolver: Resolver, shared: Shared) -> Draft:
    shaped: ShapedBody | None
    decision, corrected_fields = corrected(decision, resolver)
    parameters = plain_parameters(decision, types, shared)
    constants: tuple[Parameter, ...] = ()
    changed: frozenset[str] = frozenset()
    sent = decision
    content_type = applier.content_type(decision, types)
    try:
        preset = applier.preset_fields(decision, parameters)
        fields = fields_of_update(decision, types, content_type, frozenset(preset))
        constants = tuple(field for field in fields if preset[field.wire])
        changed = frozenset(field.wire for field in fields if not preset[field.wire])
        sent = _without(decision, constants, resolver)
        shaped = shape(sent, types, content_type)
    except UnservedBodyError:
        if decision.operation.body is None or decision.operation.body.required is not False:
            raise
        shaped = None
    table_responses, returns = responses.build(decision, types)
    body_parameters = (*shaped.parameters, *constants) if shaped else ()
    adapter_parameters = added_parameters(decision, parameters, body_parameters, returns)
    named_parameters = with_unique_names((*adapter_parameters, *parameters, *body_parameters))
    added, of_api = named_parameters[: len(adapter_parameters)], named_parameters[len(adapter_parameters) :]
    shown, fixed = applier.parameters(decision, of_api, added, changed, corrected_fields)
    choices = choices_of(sent, types, shaped, shown, (*added, *fixed), by_owner=content_type is not None)
    return Draft(
        decision=decision,
        adapter_parameters=added,
        parameters=shown,
        fixed=fixed,
        body=_body(shaped, named_parameters[: len(named_parameters) - len(constants)]) if shaped else None,
        body_example=shaped.example if shaped else MISSING,
        responses=table_responses,
        returns=returns,
        choices=choices,
    )


def _without(decision: Decision, constants: tuple[Parameter, ...], resolver: Resolver) -> Decision:
    """Return a decision whose body has none of the fields that the owner fixes."""
    names = frozenset(parameter.wire for parameter in constants)
    return replace(decision, operation=without_fields(decision.operation, names, resolver)) if names else decision


def _body(shaped: ShapedBody, named_parameters: tuple[Parameter, ...]) -> Body:
    """Return the body; the parameter that is all of it, the last one, may have given way to another of its name."""
    if shaped.body.parameter is None:
        return shaped.body
    return replace(shaped.body, parameter=named_parameters[-1].name)


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


def _unresolved_warnings(root: Json, broken: Mapping[str, UnresolvedError]) -> list[Diagnostic]:
    """Return a warning for each reference; the document is walked once, and only if there are any."""
    places = _places(root, set(broken)) if broken else {}
    return [
        Diagnostic(
            "external-reference" if error.external else "unresolved-reference",
            Severity.WARNING,
            f"{error}; any value is allowed",
            pointer=places.get(reference, ""),
        )
        for reference, error in broken.items()
    ]


def _places(root: Json, wanted: set[str]) -> dict[str, str]:
    """Return the pointer of the first occurrence of each reference."""
    places: dict[str, str] = {}
    for node, at in nodes(root):
        reference = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(reference, str) and reference in wanted:
            places.setdefault(reference, f"{pointer_to(at)}/$ref")
            if len(places) == len(wanted):
                break
    return places
