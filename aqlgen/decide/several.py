"""The operations of several APIs, each named as if it were alone, and then told apart (`naming.prefixes`)."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.decide.decision import Decision
from aqlgen.decide.naming.prefixes import ApiNames, base_names, prefix_names
from aqlgen.decide.overrides import Overrides, name_collisions
from aqlgen.decide.overrides.several import unmatched_by_all
from aqlgen.decide.stage import Known, Named, decide_named, name_operations
from aqlgen.diagnostics import Diagnostic
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document

__all__ = ["decide_each"]


def decide_each(
    apis: Mapping[str, tuple[Document, Overrides, Resolver]], known: Known
) -> tuple[dict[str, tuple[Decision, ...]], list[Diagnostic]]:
    """Return the decisions of each API by its name, and what is wrong with the overrides of all.

    The prefix of an API, the word before names that another API has too, is the owner's, else its name.
    The keys of what is known have the API's name before them, `NAME:METHOD /path`.
    """
    named: dict[str, Named] = {}
    names: dict[str, ApiNames] = {}
    reports: dict[str, list[Diagnostic]] = {api: [] for api in apis}
    for name, (document, overrides, resolver) in apis.items():
        kept, prefix = _of(name, known.names), overrides.adapter.prefix or name
        bases = base_names(kept, prefix)
        names_known = Known(bases, _of(name, known.ids), _retired(name, prefix, known.retired))
        result = name_operations(document, overrides, resolver, report=reports[name].append, known=names_known)
        named[name] = result
        names[name] = ApiNames(
            prefix,
            result.settled.names,
            result.fixed.keys(),
            result.settled.pinned.keys(),
            {bases[key]: full for key, full in kept.items()},
            {*result.aliases, *(operation.id_as_name for operation in document.operations)} - {""},
        )
    reserved = {old: key.partition(":")[0] for old, key in known.retired.items()}
    reserved |= {full: key.partition(":")[0] for key, full in known.names.items()}
    prefixed = prefix_names(names, reserved)
    findings = unmatched_by_all(reports, {name: overrides for name, (_, overrides, _) in apis.items()})
    chosen = {key: override for result in named.values() for key, override in result.chosen.items()}
    file = next(overrides.file for _, overrides, _ in apis.values())
    findings = list(dict.fromkeys([*findings, *name_collisions(chosen, file)]))
    return {name: decide_named(result, prefixed) for name, result in named.items()}, findings


def _retired(api: str, prefix: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the names that an API retired within itself; those with its prefix were retired among all."""
    of_api = (old for old, key in names.items() if key.startswith(f"{api}:"))
    return {old: names[old] for old in of_api if not old.startswith(f"{prefix}_")}


def _of(api: str, entries: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in entries.items() if key.startswith(f"{api}:")}
