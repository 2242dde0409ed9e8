"""Decides about every operation its category, its name and its danger, each with its reason (R-NAME-4)."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.decisions import Category, Decision, Evidence, Reason
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document
from aqlgen.words import split

from .classify import classify
from .danger import danger
from .declared import hidden, stripe_names
from .facts import Facts
from .keeping import Settled, settle_keeping
from .naming import Names, name
from .neighbours import Neighbours
from .overrides import Override, Overrides, Report, check
from .overrides import load as load_overrides
from .relatives import relative
from .traits import with_traits
from .vocabulary import spelled

__all__ = ["Override", "Overrides", "decide", "load_overrides"]


def decide(
    document: Document,
    overrides: Overrides,
    resolver: Resolver | None = None,
    *,
    report: Report | None = None,
    kept: Mapping[str, str] | None = None,
    ids: Mapping[str, str] | None = None,
    retired: Mapping[str, str] | None = None,
) -> tuple[Decision, ...]:
    """Decide about the operations, in document order, without those that an override hides.

    With a resolver, rules look at the schemas of requests and responses too. `report` is told what is wrong with the
    overrides, which go on without it; with no `report` that raises OptionError. `kept` are the names of an earlier
    table, by `METHOD /path`: they stay, and no operation that is new takes one of them. `ids` are its operationIds, by
    which operations are known again that moved. `retired` are names that stood for operations before, by
    which no other is called either.
    """
    check(overrides, document.operations, report)
    elsewhere = stripe_names(resolver)
    every = [Facts(operation, resolver, elsewhere.get(operation.key)) for operation in document.operations]
    own = {facts.operation.key: overrides.of(facts.operation) for facts in every}
    served = [facts for facts in every if not _hidden(facts, own[facts.operation.key])]
    neighbours = Neighbours(document.operations)
    categories = {facts.operation.key: _category(facts, own[facts.operation.key], neighbours) for facts in every}
    fixed = {facts.operation.key: given for facts in served if (given := own[facts.operation.key].name)}
    vocabulary = spelled(document, resolver)
    named = {facts.operation.key: name(facts, categories[facts.operation.key][0], vocabulary) for facts in every}
    aliases = {alias.name: key for key, one in own.items() for alias in one.aliases}
    today = {one.key: one.operation_id for one in document.operations if one.operation_id}
    # hidden ones too, so that hiding one renames no other
    settled = settle_keeping(named, fixed, kept or {}, aliases, (ids or {}, today), retired or {})
    lists = {facts.operation.path: facts.many for facts in every if facts.method == "GET"}
    decisions = []
    for facts in served:
        key = facts.operation.key
        category, why = categories[key]
        override = own[key]
        verb, resource, reason = _naming(key, named[key], fixed, settled)
        level, raised = danger(facts, category, settled.names[key], lists)
        if override.danger is not None:
            level, raised = override.danger, Reason("override", Evidence.OVERRIDE, 1.0, "overrides.yaml")
        decisions.append(
            Decision(
                operation=facts.operation,
                name=settled.names[key],
                category=category,
                category_reason=why,
                verb=verb,
                resource=resource,
                name_reason=reason,
                danger=level,
                danger_reason=raised,
                description=override.description,
                confirmation=override.confirmation,
                override=override,
                relative=relative(verb, category, facts.many),
                pinned=key in settled.pinned,
            )
        )
    return with_traits(decisions, resolver)


def _naming(key: str, names: Names, fixed: Mapping[str, str], settled: Settled) -> tuple[str, str, Reason]:
    """Give the verb and the resource of the name that was settled on, and why it is this one."""
    verb, resource, reason = names.verb, names.resource, names.reason
    if key in fixed:
        return *_parts(fixed[key], resource), Reason("override", Evidence.OVERRIDE, 1.0, "overrides.yaml")
    fresh, own = settled.fresh[key], settled.names[key]
    if own != names.best and verb == "get" and own.startswith("list_"):
        verb = "list"
    if own != fresh:
        if not any(own in names.candidates(versioned=each) for each in (False, True)):
            verb, resource = _parts(own, resource)
        return verb, resource, Reason("kept", reason.evidence, reason.confidence, f"it would be {fresh} today")
    if own != names.best:
        note = f"{names.best} is taken by another operation"
        reason = Reason(reason.rule, reason.evidence, min(reason.confidence, 0.75), note)
    return verb, resource, reason


def _parts(name: str, resource: str) -> tuple[str, str]:
    """Take a name that is none of the candidates apart."""
    first, *rest = split(name)
    return first, "_".join(rest) or resource


def _hidden(facts: Facts, override: Override) -> bool:
    return hidden(facts.operation) if override.hidden is None else override.hidden


def _category(facts: Facts, override: Override, neighbours: Neighbours) -> tuple[Category, Reason]:
    if override.category is not None:
        return override.category, Reason("override", Evidence.OVERRIDE, 1.0, "overrides.yaml")
    return classify(facts, neighbours)
