"""The decide stage: category, name, danger and traits of every operation, each with its reason (R-NAME-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from aqlgen.decide.category import Siblings, by_effect, classify
from aqlgen.decide.decision import (
    REVIEW_THRESHOLD,
    Asked,
    Category,
    Danger,
    Decision,
    Effect,
    EffectEvidence,
    Reason,
    observed,
    overridden,
)
from aqlgen.decide.effects import Effects, Reading, Reversal, effects_of
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.candidates import Names, names_for
from aqlgen.decide.naming.uniqueness import Settled, settle_keeping
from aqlgen.decide.naming.verbs import canonical_relative
from aqlgen.decide.naming.vocabulary import Vocabulary, vocabulary_of
from aqlgen.decide.overrides import Override, Overrides, Report, check, check_requirements, name_collisions
from aqlgen.decide.owned import with_requirements
from aqlgen.decide.schemas import Schemas
from aqlgen.decide.traits import Around, Subject, replaced, with_references, with_traits
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.progress import counted
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document
from aqlgen.runtime.table import Carried
from aqlgen.words import split

_TAKEN: Final = 0.75
"""The most confidence in a name whose first candidate another operation has."""
_LEAST: Final = {Asked.ALWAYS: Danger.DESTRUCTIVE, Asked.FIRST: Danger.REVERSIBLE, Asked.NEVER: Danger.SAFE}
"""The least level of danger of what the owner wants to be asked about."""


@dataclass(frozen=True, slots=True)
class Known:
    """The names and the operationIds of an earlier table, by the key of the operation, and names that it retired.

    The names stay, and no new operation takes one of them. By the operationIds those that moved are recognised. Retired
    names are by themselves, each with the key that it stood for before; no other operation gets one of them.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    retired: Mapping[str, str] = field(default_factory=dict)


NOTHING_KNOWN: Final = Known()


def decide(
    document: Document,
    overrides: Overrides,
    resolver: Resolver | None = None,
    *,
    report: Report | None = None,
    known: Known = NOTHING_KNOWN,
) -> tuple[Decision, ...]:
    """Decide about the operations, in document order, without those that an override hides.

    With a resolver, rules look at the schemas of requests and responses too. `report` is called with each mistake in
    the overrides, which go on without it; with no `report` a mistake raises OptionError.
    """
    return decide_named(name_operations(document, overrides, resolver, report=report, known=known))


@dataclass(frozen=True, slots=True)
class Named:
    """The operations of an API with their categories and names, before the rest is decided about them."""

    document: Document
    overrides: Overrides
    schemas: Schemas
    facts: Mapping[str, Facts]
    chosen: Mapping[str, Override]
    categories: Mapping[str, tuple[Category, Reason]]
    candidates: Mapping[str, Names]
    served: Sequence[str]
    fixed: Mapping[str, str]
    aliases: Mapping[str, str]
    settled: Settled
    by_kept_name: Set[str]


def name_operations(
    document: Document,
    overrides: Overrides,
    resolver: Resolver | None = None,
    *,
    report: Report | None = None,
    known: Known = NOTHING_KNOWN,
) -> Named:
    """Decide the categories and the names; the parameters are those of `decide`."""
    schemas = Schemas(resolver)
    operations = {operation.key: Facts(operation, schemas) for operation in document.operations}
    siblings = Siblings(document.operations)
    vocabulary = vocabulary_of(document, resolver)
    chosen = {key: overrides.of(facts.operation, None) for key, facts in operations.items()}
    selecting: dict[str, tuple[str, ...]] = {}
    by_kept_name: set[str] = set()
    if overrides.needs_names:
        selecting = _selecting_names(operations, chosen, siblings, vocabulary)
        chosen = {key: overrides.of(facts.operation, selecting[key]) for key, facts in operations.items()}
        for key in known.names.keys() & operations.keys():
            both = (*selecting[key], known.names[key])
            if (override := overrides.of(operations[key].operation, both)) != chosen[key]:
                by_kept_name.add(key)
                selecting[key], chosen[key] = both, override
    check(overrides, document.operations, report, selecting, _findings(document, overrides, chosen))
    categories = {key: _category(facts, chosen[key], siblings) for key, facts in operations.items()}
    # hidden ones get names too, so that hiding one renames no other
    names = {key: names_for(facts, categories[key][0], vocabulary) for key, facts in operations.items()}
    categories |= {
        key: by_effect(facts, siblings, *categories[key])
        for key, facts in operations.items()
        if not chosen[key].category
    }
    served = [key for key, facts in operations.items() if not _is_hidden(facts, chosen[key])]
    fixed = {key: name for key in served if (name := chosen[key].name)}
    aliases = _aliases(chosen)
    settled = settle_keeping(names, fixed, known.names, aliases, (known.ids, _operation_ids(document)), known.retired)
    return Named(
        document,
        overrides,
        schemas,
        operations,
        chosen,
        categories,
        names,
        served,
        fixed,
        aliases,
        settled,
        by_kept_name,
    )


def decide_named(named: Named, prefixed: Settled | None = None) -> tuple[Decision, ...]:
    """Decide the rest; `prefixed` are the names among several APIs, where there are any."""
    operations, chosen, categories = named.facts, named.chosen, named.categories
    lists = {facts.operation.path: facts.answers_list for facts in operations.values() if facts.method == "GET"}
    namings = {
        key: _naming(
            named.candidates[key], key, named.fixed, named.settled, chosen[key], pinned=key in named.by_kept_name
        )
        for key in named.served
    }
    last = {key: naming if prefixed is None else _prefixed(naming, key, prefixed) for key, naming in namings.items()}
    subjects = [
        Subject(
            operations[key].operation,
            naming.name,
            categories[key][0],
            naming.verb,
            naming.resource,
            chosen[key].content_type,
            chosen[key].send,
        )
        for key, naming in namings.items()
    ]
    around = Around(subjects, named.schemas, named.document.description)
    losses = {
        subject.operation.key: note
        for subject in subjects
        if (note := replaced(_unobserved(subject, chosen), around)) is not None
    }
    readings: dict[str, Reading] = {}
    for subject in subjects:
        key = subject.operation.key
        is_doubted = categories[key][1].confidence < REVIEW_THRESHOLD
        readings[key] = Reading(
            operations[key],
            subject.category,
            subject.name,
            subject.name if key in named.overrides.stated else named.candidates[key].best,
            subject,
            around,
            lists,
            is_doubted,
            losses.get(key, ""),
            readings,
        )
    reversal = Reversal(readings.values())
    decisions = [
        _decision(
            operations[key],
            chosen[key],
            categories[key],
            naming,
            last[key],
            effects_of(readings[key], reversal.proof(readings[key]), can_undo=chosen[key].can_undo is True),
            named.overrides,
        )
        for key, naming in counted("deciding", namings.items())
    ]
    readings.clear()  # each of them knows all, and nothing collects circles
    renamed = {naming.name: last[key].name for key, naming in namings.items() if naming.name != last[key].name}
    return with_references(with_traits(decisions, subjects, around), renamed)


def _unobserved(subject: Subject, chosen: Mapping[str, Override]) -> Subject:
    """Return an operation as it is without an observation of what it keeps, which ends no question about it."""
    is_seen = subject.send is not None and observed(chosen[subject.operation.key], "send")
    return replace(subject, send=None) if is_seen else subject


def _prefixed(naming: _Naming, key: str, prefixed: Settled) -> _Naming:
    """Return a naming with the name that the operation has among several APIs."""
    name, pinned = prefixed.names[key], naming.pinned or key in prefixed.pinned
    lost = naming.lost or prefixed.lost.get(key, "")
    if name == naming.name:
        return naming._replace(pinned=pinned, lost=lost)
    note = f"{naming.name} is also a name of another API"
    return naming._replace(name=name, pinned=pinned, lost=lost, reason=replace(naming.reason, note=note))


def _selecting_names(
    operations: Mapping[str, Facts], chosen: Mapping[str, Override], siblings: Siblings, vocabulary: Vocabulary
) -> dict[str, tuple[str, ...]]:
    """Return the names by which entries select operations: those that there are without such entries."""
    names = {
        key: names_for(facts, _category(facts, chosen[key], siblings)[0], vocabulary)
        for key, facts in operations.items()
    }
    fixed = {key: name for key in operations if (name := chosen[key].name)}
    fresh = settle_keeping(names, fixed, {}, _aliases(chosen)).fresh
    return {key: (fresh[key],) for key in operations}


def _findings(document: Document, overrides: Overrides, chosen: Mapping[str, Override]) -> list[Diagnostic]:
    """Return the errors in the overrides of all operations, and in the schemes that they name."""
    known = [scheme.name for scheme in document.schemes]
    findings = {
        finding.message + override.key: finding
        for override in (*overrides.entries.values(), *overrides.patterns.values())
        if override.security is not None
        for finding in check_requirements(override.security, known, overrides.file, override.places["security"])
    }
    return [*findings.values(), *name_collisions(chosen, overrides.file)]


def _aliases(chosen: Mapping[str, Override]) -> dict[str, str]:
    return {alias.name: key for key, override in chosen.items() for alias in override.aliases}


def _operation_ids(document: Document) -> dict[str, str]:
    return {operation.key: operation.operation_id for operation in document.operations if operation.operation_id}


class _Naming(NamedTuple):
    """The name that was settled on: its verb and its resource, why it is this one, and the rules behind it."""

    name: str
    verb: str
    resource: str
    reason: Reason
    verb_rule: str
    noun_rule: str
    pinned: bool = False
    lost: str = ""


def _decision(
    facts: Facts,
    override: Override,
    classified: tuple[Category, Reason],
    naming: _Naming,
    last: _Naming,
    effects: Effects,
    overrides: Overrides,
) -> Decision:
    category, category_reason = classified  # the words of `naming` are the operation's, a prefix is not
    level, reason, evidence, mildest = effects.level, effects.reason, effects.evidence, effects.mildest
    if category is Category.CREATE and Effect.MONEY in effects.effects and override.category is None:
        category = Category.EXECUTE
        note = f"{category_reason.note}, but it moves money, and the tool of CREATE is annotated as not destructive"
        category_reason = replace(category_reason, note=note)
    carrying = facts.carrying
    seen = dict.fromkeys(filter(None, (observed(override, field) for field in override.sources)))
    evidence = (*evidence, *(EffectEvidence("observed", says) for says in seen))
    if override.danger is not None:
        level, reason = override.danger, overridden(override, "danger")
        mildest, evidence = level, (*evidence, EffectEvidence("owner", reason.note))
    if override.asked is not None:
        least = _LEAST[override.asked]
        if level.rank < Danger.DESTRUCTIVE.rank or least is Danger.DESTRUCTIVE:
            level, mildest = (max(each, least, key=lambda danger: danger.rank) for each in (level, mildest))
            reason = overridden(override, "asked")
            evidence = (*evidence, EffectEvidence("owner", reason.note))
    return Decision(
        operation=with_requirements(facts.operation, override, overrides),
        name=last.name,
        category=category,
        category_reason=category_reason,
        verb=naming.verb,
        resource=naming.resource,
        name_reason=last.reason,
        danger=level,
        danger_reason=reason,
        carries=None if carrying is None else Carried(danger=mildest.value, places=carrying.places),
        effects=effects.effects,
        evidence=evidence,
        description=override.description,
        confirmation=override.confirmation,
        override=override,
        relative=canonical_relative(naming.verb, category, facts.answers_list),
        pinned=last.pinned,
        lost_name=last.lost,
        verb_rule=naming.verb_rule,
        noun_rule=naming.noun_rule,
    )


def _naming(
    names: Names, key: str, fixed: Mapping[str, str], settled: Settled, override: Override, *, pinned: bool
) -> _Naming:
    """Return the naming that was settled on, where `fixed` are the names that the user gave."""
    pinned = pinned or key in settled.pinned
    if key in fixed:
        reason = overridden(override, "name")
        parts = _parts(fixed[key], names.resource)
        return _Naming(fixed[key], *parts, reason, reason.rule, reason.rule, pinned)
    fresh, settled_name = settled.fresh[key], settled.names[key]
    lost = settled.lost.get(key, "")
    naming = _Naming(
        settled_name, names.verb, names.resource, names.reason, names.verb_rule, names.reason.rule, pinned, lost
    )
    if settled_name != names.best and names.verb == "get" and settled_name.startswith("list_"):
        naming = naming._replace(verb="list")
    evidence, confidence = names.reason.evidence, names.reason.confidence
    if settled_name != fresh:
        reason = Reason("kept", evidence, confidence, f"it would be {fresh} today")
        naming = naming._replace(reason=reason)
        if any(settled_name in names.candidates(versioned=versioned) for versioned in (False, True)):
            return naming
        verb, resource = _parts(settled_name, names.resource)
        return naming._replace(verb=verb, resource=resource, verb_rule=reason.rule, noun_rule=reason.rule)
    if settled_name != names.best:
        note = f"{names.best} is taken by another operation"
        naming = naming._replace(reason=Reason(names.reason.rule, evidence, min(confidence, _TAKEN), note))
    return naming


def _parts(name: str, resource: str) -> tuple[str, str]:
    """Return the verb and the resource of a name that is none of the candidates."""
    first, *rest = split(name)
    return first, "_".join(rest) or resource


def _is_hidden(facts: Facts, override: Override) -> bool:
    is_hidden = facts.operation.extensions.get("x-mcpaql-hidden") is True
    return is_hidden if override.hidden is None else override.hidden


def _category(facts: Facts, override: Override, siblings: Siblings) -> tuple[Category, Reason]:
    if override.category is not None:
        return override.category, overridden(override, "category")
    return classify(facts, siblings)
