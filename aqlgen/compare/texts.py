"""Texts that agents read, old and new: of the adapter, its operations, their parameters and their types.

A hostile edit of a description changes no schema and breaks no call, so each changed text is a change of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from aqlgen.compare.grouping import Findings
from aqlgen.compare.surface import Operation, Pairing, Surface
from aqlgen.ir import Json
from aqlgen.runtime.table import ADAPTER, encode
from aqlgen.table.model import Schema

_TEXTS: Final = ("title", "description", "examples")
"""Keywords of schemas that are only read. Defaults and listed values have rules of their own."""
_MAPS: Final = frozenset({"properties", "patternProperties", "$defs"})
_STATES: Final = {"text-added": "new", "text-removed": "gone"}
_STEPS: Final = {"items": "[]", "additionalProperties": "{}"}

Texts = Mapping[str, str]
"""Texts by what they are: `description`, `summary`, `examples`."""
Parts = dict[tuple[str, ...], dict[str, str]]
"""The texts of a schema by the path to the part that they are of; also of parts without any."""


def compare_texts(pairing: Pairing, old: Surface, new: Surface, findings: Findings) -> None:
    """Note the texts that differ between what is on both sides."""
    _compare(_of_adapter(old), _of_adapter(new), "of the adapter", (), "", findings)
    for name in old.adapter.security_schemes.keys() & new.adapter.security_schemes.keys():
        schemes = old.adapter.security_schemes[name], new.adapter.security_schemes[name]
        before, after = ({"description": str(scheme.get("description", ""))} for scheme in schemes)
        _compare(before, after, "of the credential {}", (name,), "", findings)
    for previous, operation in pairing.kept:
        texts = _of_operation(previous, operation), _of_operation(operation, previous)
        _compare(*texts, "of the operation", (), operation.name, findings)
        _compare_parameters(previous, operation, findings)
    for name in old.types.keys() & new.types.keys():
        _compare_parts(old.types[name], new.types[name], "the type", name, "", findings)


def _of_adapter(surface: Surface) -> Texts:
    texts: dict[str, str] = {}
    for name, part in surface.adapter.of_each_api().items():
        whose = f" of {name}" if name else ""
        texts |= {f"title{whose}": part.title, f"description{whose}": part.description}
        for number, server in enumerate(part.servers, 1):
            texts[f"description of server {number}{whose}"] = str(server.get("description", ""))
    return texts


def _of_operation(operation: Operation, other: Operation) -> Texts:
    """Return the texts of an operation, a repeated one once; `other` is the operation on the other side."""
    texts = {
        "summary": operation.summary,
        "description": operation.description,
    }
    if operation.summary == operation.description and other.summary == other.description:
        del texts["summary"]
    is_named = operation.description == f"{operation.name.replace('_', ' ').capitalize()}."
    if is_named and operation.description != other.description:  # the document has no words
        texts["description"] = ""
    deprecation = {} if operation.deprecation is None else encode(operation.deprecation)
    return texts | {f"{key} (deprecation)": str(value) for key, value in deprecation.items() if key != "removal_date"}


def _compare_parameters(old: Operation, new: Operation, findings: Findings) -> None:
    before, after = old.shown_parameters, new.shown_parameters
    for name, parameter in after.items():
        previous = before.get(name)
        if previous is None or parameter.location == ADAPTER:
            continue
        texts = {"description": parameter.description}
        _compare({"description": previous.description}, texts, "of the parameter {}", (name,), new.name, findings)
        _compare_parts(previous.schema, parameter.schema, "the parameter", name, new.name, findings)


def _compare_parts(old: Schema, new: Schema, what: str, name: str, operation: str, findings: Findings) -> None:
    if old == new:
        return
    before, after = dict(_parts(old)), dict(_parts(new))
    for path, texts in after.items():
        if path in before:
            where = f"of {{}} in {what} {{}}" if path else f"of {what} {{}}"
            names = (".".join(path), name) if path else (name,)
            _compare(before[path], texts, where, names, operation, findings)


def _parts(schema: Json) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """Yield every schema within a schema with its texts."""
    stack: list[tuple[Json, tuple[str, ...]]] = [(schema, ())]
    while stack:
        node, path = stack.pop()
        if not isinstance(node, Mapping):
            continue
        yield path, {key: _text(node[key]) for key in _TEXTS if key in node}
        for key, member in node.items():
            if key in _MAPS and isinstance(member, Mapping):
                stack += ((inner, (*path, name)) for name, inner in member.items())
            elif isinstance(member, Mapping) and key not in ("default", "const", "examples"):
                stack.append((member, (*path, _STEPS.get(key) or str(key))))
            elif isinstance(member, (list, tuple)) and key in ("anyOf", "oneOf", "allOf", "prefixItems"):
                stack += ((inner, (*path, f"{key} {number}")) for number, inner in enumerate(member, 1))


def _compare(
    before: Texts, after: Texts, where: str, names: tuple[str, ...], operation: str, findings: Findings
) -> None:
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key, ""), after.get(key, "")
        if old != new:
            rule = "text-added" if not old else "text-removed" if not new else "text-changed"
            verb = "are" if key == "examples" else "is"
            state = "changed" if rule == "text-changed" else f"{verb} {_STATES[rule]}"
            findings.note(rule, operation, *names, old, new, wording=f"the {key} {where} {state}")


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
