"""Decides about every operation its category, its name and its danger, each with its reason (R-NAME-4)."""

from __future__ import annotations

from aqlgen.decisions import Category, Decision, Evidence, Reason
from aqlgen.ir import Document
from aqlgen.resolve import Resolver
from aqlgen.words import split

from .classify import classify
from .danger import danger
from .declared import hidden, stripe_names
from .facts import Facts
from .naming import name
from .overrides import Override, Overrides, Report, check
from .overrides import load as load_overrides
from .traits import with_traits
from .unique import settle
from .vocabulary import spelled

__all__ = ["Override", "Overrides", "decide", "load_overrides"]


def decide(
    document: Document,
    overrides: Overrides,
    resolver: Resolver | None = None,
    *,
    report: Report | None = None,
) -> tuple[Decision, ...]:
    """Decide about the operations, in document order, without those that an override hides.

    With a resolver, rules look at the schemas of requests and responses too. `report` is told what is wrong with the
    overrides, which go on without it; with no `report` that raises OptionError.
    """
    check(overrides, document.operations, report)
    elsewhere = stripe_names(resolver)
    every = [Facts(operation, resolver, elsewhere.get(operation.key)) for operation in document.operations]
    own = {facts.operation.key: overrides.of(facts.operation) for facts in every}
    served = [facts for facts in every if not _hidden(facts, own[facts.operation.key])]
    categories = {facts.operation.key: _category(facts, own[facts.operation.key]) for facts in every}
    fixed = {facts.operation.key: given for facts in served if (given := own[facts.operation.key].name)}
    vocabulary = spelled(document, resolver)
    named = {facts.operation.key: name(facts, categories[facts.operation.key][0], vocabulary) for facts in every}
    chosen = settle(named, fixed)  # hidden ones too, so that hiding one renames no other
    lists = {facts.operation.path: facts.many for facts in every if facts.method == "GET"}
    decisions = []
    for facts in served:
        key = facts.operation.key
        category, why = categories[key]
        names, override = named[key], own[key]
        verb, resource, reason = names.verb, names.resource, names.reason
        if key in fixed:
            first, *rest = split(fixed[key])
            verb, resource = first, "_".join(rest) or resource
            reason = Reason("override", Evidence.OVERRIDE, 1.0, "overrides.yaml")
        elif chosen[key] != names.best:
            note = f"{names.best} is taken by another operation"
            reason = Reason(reason.rule, reason.evidence, min(reason.confidence, 0.75), note)
        level, raised = danger(facts, category, chosen[key], lists)
        if override.danger is not None:
            level, raised = override.danger, Reason("override", Evidence.OVERRIDE, 1.0, "overrides.yaml")
        decisions.append(
            Decision(
                operation=facts.operation,
                name=chosen[key],
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
            )
        )
    return with_traits(decisions, resolver)


def _hidden(facts: Facts, override: Override) -> bool:
    return hidden(facts.operation) if override.hidden is None else override.hidden


def _category(facts: Facts, override: Override) -> tuple[Category, Reason]:
    if override.category is not None:
        return override.category, Reason("override", Evidence.OVERRIDE, 1.0, "overrides.yaml")
    return classify(facts)
