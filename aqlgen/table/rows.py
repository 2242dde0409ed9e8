"""Rows of the table: an operation's decision, parameters, body and responses brought together.

A row may refer to other operations: an update that reads first (R-UPD-2), an operation that monitors a long one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.decide.decision import AnyTrait, Asked, Category, Decision, Effect, Trait
from aqlgen.decide.effects import with_loss
from aqlgen.decide.sentences import final_words
from aqlgen.ir import Json, Location, Operation
from aqlgen.runtime.encode.urls import paired_placeholders
from aqlgen.runtime.table import (
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
    scheme_of,
)
from aqlgen.runtime.text import letters, line
from aqlgen.schemas import shorten
from aqlgen.schemas.descriptions import prose, sentences
from aqlgen.table import responses
from aqlgen.table.adapter import with_api
from aqlgen.table.example_calls import ExampleMaker
from aqlgen.table.kinds import Choices
from aqlgen.table.model import DecidedRow
from aqlgen.table.overrides import OverrideApplier
from aqlgen.table.parameters import (
    input_of_query,
    page_of,
    paged,
    paging_parameters,
    partial_by,
    with_key_filled_in,
    within_input,
)
from aqlgen.table.selecting import Answer, Readable, fields_sent, selecting_parameters

MAX_SUMMARY = 120
MAX_DESCRIPTION = 1000
_MOST_TAGS, _LONGEST_TAG = 10, 100
_MOST_EVIDENCE, _LONGEST_EVIDENCE = 3, 200

ANNOTATIONS: Final = frozenset({"type", "examples", "default"})


@dataclass(frozen=True, slots=True)
class Draft:
    """A row before the types are finished."""

    decision: Decision
    adapter_parameters: tuple[Parameter, ...]
    parameters: tuple[Parameter, ...]
    fixed: tuple[Parameter, ...]
    body: Body | None
    body_example: Json
    responses: Mapping[str, Response]
    returns: ReturnType
    choices: Choices


def build_row(
    draft: Draft,
    answer: Answer,
    maker: ExampleMaker,
    types: Mapping[str, Mapping[str, Json]],
    names: frozenset[str],
    etags: frozenset[str],
    readable: Readable,
    applier: OverrideApplier,
    boilerplate: Boilerplate,
    own_type: Callable[[str, Mapping[str, Json]], str],
) -> DecidedRow:
    """Return the row of an operation; `names` are all operations, `etags` those that read what an ETag guards.

    `answer` is what the operation answers with, `readable` what the operations that read give.
    """
    decision = _without_unserved_reader(draft.decision, names)
    operation, deprecation = decision.operation, _deprecation(decision)
    draft = replace(draft, parameters=with_key_filled_in(draft.parameters, decision.trait(Idempotency), draft.body))
    applier.check_values(decision, (*draft.parameters, *draft.fixed), maker)
    example, stated_values = applier.examples(decision, draft.parameters, maker)
    if example is None:
        example = maker.example(operation, draft.parameters, draft.body, draft.body_example, stated_values)
    returns = responses.with_final_kind(draft.returns, types)
    sent = fields_sent(draft.body, draft.parameters, types)
    selecting = selecting_parameters(
        decision.category,
        decision.resource,
        returns["name"],
        answer,
        sent,
        readable,
        _by_name((*draft.parameters, *draft.fixed)),
        paged=paged(decision) is not None,
    )
    partial, only_here = _partly(decision, draft, selecting, answer, readable)
    shown, update = draft.parameters, decision.trait(Update)
    if decision.category is Category.UPDATE and draft.body is None:
        input_parameter, others, behind = input_of_query(decision.name, shown, own_type)
        shown, update = (*others, input_parameter), Update(strategy="query", parameters=behind or None)
        example = example and within_input(example, behind)
    summary, description = _texts(decision, boilerplate)
    row = Row(
        name=decision.name,
        family=decision.category.family,
        summary=summary,
        description=description,
        method=operation.method.upper(),
        path=operation.path,
        operation_id=operation.operation_id,
        api=operation.api,
        aliases=_aliases(decision),
        resource=decision.resource,
        keys=readable.keys_of(decision.resource, answer, (*_by_name(draft.parameters), *sent)),
        tags=_tags(operation),
        verb=decision.verb,
        relative=decision.relative,
        rule=decision.category_reason.rule,
        confidence=round(decision.confidence, 2),
        danger=decision.danger.value,
        danger_reason=f"{decision.danger_reason.rule}: {decision.danger_reason.note}",
        effects=tuple(each.value for each in decision.effects if each not in (Effect.DATA, Effect.NONE)),
        asked=decision.asked.value,
        evidence=_evidence(decision),
        review=decision.review_reasons,
        accepted={acceptance.concern.text: acceptance.entry for acceptance in decision.accepted},
        deprecated=operation.deprecated or deprecation is not None or operation.extensions.get("x-deprecated") is True,
        deprecation=deprecation,
        pagination=decision.trait(Pagination),
        partial_by=partial,
        only_here=only_here,
        update=update,
        carries=decision.carries,
        idempotency=decision.trait(Idempotency),
        long_running=decision.trait(LongRunning),
        etag=decision.name in etags,
        confirmation=decision.confirmation or "",
        security=with_api(operation.security, operation.api),
        scopes={scheme_of(operation.api, name): listed for name, listed in operation.scopes.items()},
        servers=tuple(Server(url=server.url, variables=server.variables) for server in operation.servers),
        headers=_fixed(operation, Location.HEADER),
        query=_fixed(operation, Location.QUERY),
        shown_parameters=_by_name(draft.choices.shown((*shown, *draft.adapter_parameters, *selecting))),
        fixed=_by_name(draft.fixed),
        body=draft.body,
        responses=draft.responses,
        returns=returns,
        choices=draft.choices.by_parameter,
        example=example,
    )
    row = _with_pages(row, decision, draft.parameters)
    mock = responses.mock_of(operation.responses) or responses.sampled(row, maker.answer)
    return DecidedRow(row, decision, responses.as_last_page(mock, row))


def _aliases(decision: Decision) -> tuple[FormerName, ...]:
    return tuple(FormerName(name=alias.name, until=alias.until) for alias in decision.override.aliases)


def _tags(operation: Operation) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (line(str(tag), _LONGEST_TAG) for tag in operation.tags[:_MOST_TAGS]))))


def _by_name(parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in parameters}


def _deprecation(decision: Decision) -> Deprecation | None:
    """Return the details of an operation's deprecation; None where the document gives none."""
    deprecation = decision.trait(Deprecation)
    return None if deprecation == Deprecation() else deprecation


def _partly(
    decision: Decision, draft: Draft, selecting: Iterable[Parameter], answer: Answer, readable: Readable
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parameters of an unpaged list that may make it partial, and the fields that only it gives."""
    lists = any(parameter.wire == "where" for parameter in selecting)
    cuts = any(parameter.schema.get("default") == "minimal" for parameter in selecting)
    partial = partial_by(draft.parameters) if lists and paged(decision) is None else ()
    return partial, readable.lacks(decision.resource, answer) if cuts else ()


def _with_pages(row: Row, decision: Decision, parameters: Iterable[Parameter]) -> Row:
    """Return the row; where the adapter pages, `first` and `after` replace the API's own parameters."""
    if row.pagination is None or paged(decision) is None:
        return row
    hidden = _by_name(paging_parameters(row.pagination, parameters)[1])
    demanded = tuple(name for name, parameter in hidden.items() if parameter.required)
    behind = {name: replace(parameter, required=False) for name, parameter in hidden.items()}
    return replace(
        row,
        pagination=replace(row.pagination, demanded=demanded, parameters=behind),
        shown_parameters={name: item for name, item in row.shown_parameters.items() if name not in hidden},
        returns=page_of(row.returns),
        example=row.example and {name: value for name, value in row.example.items() if name not in hidden},
    )


def _fixed(operation: Operation, location: Location) -> dict[str, str]:
    """Return the parameters that have one value only; headers in the usual capitals."""
    return {
        parameter.name.title() if location is Location.HEADER else parameter.name: parameter.fixed
        for parameter in operation.parameters
        if parameter.location is location and parameter.fixed is not None
    }


def _texts(decision: Decision, boilerplate: Boilerplate) -> tuple[str, str]:
    """Return summary and description: the owner's words, else the document's, else the name's."""
    operation, override = decision.operation, decision.override
    stated_summary = (
        ""
        if len(operation.summary.split()) == 1 and letters(operation.summary) == letters(operation.operation_id or "")
        else operation.summary
    )
    documented = boilerplate.without(operation.description)
    summary = override.summary or stated_summary or decision.description or documented
    description = decision.description or documented or override.summary or stated_summary
    summary = shorten(summary or f"{decision.name.replace('_', ' ').capitalize()}.", MAX_SUMMARY)
    return summary, shorten(description, MAX_DESCRIPTION) or summary


def _evidence(decision: Decision) -> tuple[str, ...]:
    """Return the quotes beyond the danger's own reason, of an operation that a person is asked about."""
    if decision.asked is Asked.NEVER:
        return ()
    texts = (evidence.says for evidence in decision.evidence if evidence.says not in decision.danger_reason.note)
    return tuple(line(text, _LONGEST_EVIDENCE) for text in dict.fromkeys(texts))[:_MOST_EVIDENCE]


def reads_with_etag(decisions: Iterable[Decision]) -> frozenset[str]:
    """Return the operations that read what an update guards by its ETag."""
    updates = (decision.trait(Update) for decision in decisions)
    return frozenset(update.read for update in updates if update is not None and update.etag and update.read)


def with_reader_schemas(draft: Draft, operations: Mapping[str, tuple[str, Iterable[Parameter]]]) -> Draft:
    """Return a draft in which a path parameter of an update that accepts any text has the schema of its reader.

    `operations` are path and parameters of all by name. A document that calls an identifier a string where it is
    written and an integer where it is read means the same resource, and no other value can be read.
    """
    update = draft.decision.trait(Update)
    name = update.read if update is not None and update.reads_first else None
    if name is None or name not in operations:
        return draft
    path, reading = operations[name]
    read: dict[str, Mapping[str, Json]] = {
        parameter.wire: parameter.schema for parameter in reading if parameter.location == "path"
    }
    placed = paired_placeholders(draft.decision.operation.path, path)
    parameters = tuple(
        replace(parameter, schema=_as_read(parameter.schema, read[placed[parameter.wire]]))
        if parameter.location == "path"
        and placed.get(parameter.wire) in read
        and parameter.schema.get("type") == "string"
        and parameter.schema.keys() <= ANNOTATIONS  # any text
        else parameter
        for parameter in draft.parameters
    )
    return replace(draft, parameters=parameters)


def _as_read(schema: Mapping[str, Json], read: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the schema of an identifier as it is read, without its default; its own where a read takes several."""
    if read.get("type") in ("array", "object"):
        return schema
    plain = {key: value for key, value in read.items() if key != "default"}
    return {**plain, **schema} if read.get("type") == "string" else plain


def _without_unserved_reader(decision: Decision, names: Container[str]) -> Decision:
    """Return a decision without the operations that are not served; what can be read no more may be lost."""
    traits = tuple(_without_unserved(trait, names) for trait in decision.traits)  # an update needs its reader to merge
    if traits == decision.traits:
        return decision
    before, after = (
        decision.trait(Update),
        next((trait.value for trait in traits if isinstance(trait.value, Update)), None),
    )
    if before is not None and before.strategy == "put-merge" and after is not None and after.strategy == "put":
        note = f"it replaces the whole resource, and {before.read} is not served; omitted fields may be lost"
        reason = with_loss(decision.danger, decision.danger_reason, note)
        return replace(decision, traits=traits, danger_reason=reason)
    return replace(decision, traits=traits)


def _without_unserved(trait: AnyTrait, names: Container[str]) -> AnyTrait:
    value = trait.value
    if isinstance(value, Update) and value.read is not None and value.read not in names:
        strategy = "put" if value.strategy == "put-merge" else value.strategy
        return Trait(Update(strategy=strategy, write_at=value.write_at), trait.reason)
    if isinstance(value, LongRunning) and value.monitor is not None and value.monitor not in names:
        return Trait(LongRunning(status=value.status, state=value.state), trait.reason)
    if isinstance(value, LongRunning) and value.cancel is not None and value.cancel not in names:
        return Trait(replace(value, cancel=None), trait.reason)
    return trait


LEAST_OPERATIONS = 10
LEAST_SHARE = 0.02
"""A sentence is boilerplate that so many operations say, and at least this share of all."""
KEPT = re.compile(r"\binstead\b", re.IGNORECASE)
"""Words of sentences that lead on to another operation, which stay."""


class Boilerplate:
    """The repeated sentences of a document; `descriptions` are those of all its operations."""

    def __init__(self, descriptions: Iterable[str]) -> None:
        texts = list(descriptions)
        counts = Counter(sentence for text in texts for sentence in dict.fromkeys(sentences(text)))
        least = max(LEAST_OPERATIONS, LEAST_SHARE * len(texts))
        self._repeated = frozenset(
            sentence
            for sentence, count in counts.items()
            if count >= least and not KEPT.search(sentence) and final_words(sentence) is None
        )

    def without(self, text: str) -> str:
        """Return a description without boilerplate; its first sentence, which says what it does, stays."""
        parts = sentences(text)
        kept = [part for index, part in enumerate(parts) if not index or part not in self._repeated]
        return " ".join(kept) or prose(text)
