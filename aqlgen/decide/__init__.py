"""Decides about every operation its category, its name and its danger, each with its reason (R-NAME-4)."""

from __future__ import annotations

from aqlgen.decisions import Category, Decision, Evidence, Reason
from aqlgen.ir import Document
from aqlgen.words import split

from .classify import classify
from .danger import danger
from .facts import Facts
from .naming import name
from .overrides import Override, Overrides
from .overrides import load as load_overrides
from .scope import depth, scope
from .unique import settle

__all__ = ["Override", "Overrides", "decide", "load_overrides"]

_NONE = Override()


def decide(document: Document, overrides: Overrides) -> tuple[Decision, ...]:
    """Decide about the operations, in document order, without those that an override hides.

    Raises OptionError when an override names an operation that the document does not have.
    """
    overrides.check(operation.key for operation in document.operations)
    every = [Facts(operation) for operation in document.operations]
    shared = scope(every)
    served = [facts for facts in every if not _override(facts, overrides).hidden]
    categories = {facts.operation.key: _category(facts, _override(facts, overrides)) for facts in served}
    fixed = {facts.operation.key: given for facts in served if (given := _override(facts, overrides).name)}
    named = {
        facts.operation.key: name(facts, categories[facts.operation.key][0], depth(facts, shared)) for facts in served
    }
    chosen = settle({key: names for key, names in named.items() if key not in fixed}, tuple(fixed.values())) | fixed
    decisions = []
    for facts in served:
        key = facts.operation.key
        category, why = categories[key]
        names, override = named[key], _override(facts, overrides)
        verb, resource, reason = names.verb, names.resource, names.reason
        if key in fixed:
            first, *rest = split(fixed[key])
            verb, resource = first, "_".join(rest) or resource
            reason = Reason("override", Evidence.OVERRIDE, 1.0, "overrides.yaml")
        elif chosen[key] != names.best:
            note = f"{names.best} is taken by another operation"
            reason = Reason(reason.rule, reason.evidence, min(reason.confidence, 0.75), note)
        level, raised = danger(facts, category, chosen[key])
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
            )
        )
    return tuple(decisions)


def _override(facts: Facts, overrides: Overrides) -> Override:
    return overrides.entries.get(facts.operation.key, _NONE)


def _category(facts: Facts, override: Override) -> tuple[Category, Reason]:
    if override.category is not None:
        return override.category, Reason("override", Evidence.OVERRIDE, 1.0, "overrides.yaml")
    return classify(facts)
