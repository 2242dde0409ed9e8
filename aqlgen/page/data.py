"""What the page shows, as plain data: each operation with its decisions, and their reasons.

Control and invisible characters of the document's texts are made visible here, once, wherever the page shows them.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from aqlgen import __version__
from aqlgen.decide.decision import REVIEW_THRESHOLD, Category, Danger, Decision, Reason
from aqlgen.decide.review.rows import entry_of, review_rows, sections_of
from aqlgen.diagnostics import Diagnostic
from aqlgen.ir import Json, Operation
from aqlgen.page.worklist import quoted, worklist_data
from aqlgen.pipeline import Prepared
from aqlgen.runtime.schema import Types
from aqlgen.runtime.schema.notation import notation
from aqlgen.runtime.table import Parameter, encode
from aqlgen.runtime.text import visible
from aqlgen.schemas import shorten
from aqlgen.table.access import overrides_entry, table_hosts
from aqlgen.table.model import DecidedRow

MAX_DESCRIPTION = 400
MAX_VALUE = 60
PLAIN_KEY: Final = re.compile(r"[A-Z]+ /(?:[\w.~!$&'()*+,;=@%{}|<>?^/:-]*[\w.~!$&'()*+,;=@%{}|<>?^/-])?", re.ASCII)
"""A `METHOD /path` that YAML reads as it is; others are quoted."""


def page_data(prepared: Prepared) -> dict[str, Json]:
    """Return all that the page shows: deterministic JSON without invisible characters."""
    rows = {row.decision.operation.key: row for row in prepared.table.rows}
    types = prepared.table.types
    operations = [_operation(decision, rows[decision.operation.key], types) for decision in prepared.decisions]
    _add_groups(operations, [decision.operation for decision in prepared.decisions])
    adapter = prepared.table.adapter
    uses = table_hosts(prepared.table)
    data: dict[str, Json] = {
        "title": adapter.title,
        "version": adapter.api_version,
        "adapter": prepared.identity.name,
        "source": prepared.sources[0].name,
        "generator": f"aqlgen {__version__}",
        "threshold": REVIEW_THRESHOLD,
        "categories": [category.value for category in Category],
        "dangers": [danger.value for danger in Danger],
        "tags": sorted({tag for operation in operations for tag in operation.get("tags", ())}),
        "operations": operations,
        "hosts": [use.as_json() | {"summary": use.summary, "used": use.is_used} for use in uses],
        "hosts_entry": overrides_entry(uses),
        "reviews": worklist_data(review_rows(prepared.decisions, with_settled=True), prepared.decisions),
        "skipped": [operation.as_json() for operation in prepared.skipped],
        "diagnostics": [
            {
                "severity": diagnostic.severity.value,
                "code": diagnostic.code,
                "place": _position(diagnostic),
                "message": diagnostic.message,
                "help": diagnostic.help,
            }
            for diagnostic in sorted(prepared.diagnostics, key=lambda entry: entry.code != "instruction-in-text")
        ],
    }
    visible_data: dict[str, Json] = _made_visible(data)
    return visible_data


def _position(diagnostic: Diagnostic) -> str:
    """Return `file:line:column`, or the file alone."""
    numbers = [str(diagnostic.line), str(diagnostic.column)] if diagnostic.line else []
    return ":".join([diagnostic.file, *numbers])


def yaml_key(key: str) -> str:
    """Return `METHOD /path` as a key of YAML: quoted where necessary, with invisible characters as escapes."""
    if PLAIN_KEY.fullmatch(key):
        return key
    return quoted(key)


def _operation(decision: Decision, decided: DecidedRow, types: Types) -> dict[str, Json]:
    operation, row = decision.operation, decided.row
    entry: dict[str, Json] = {
        "name": decision.name,
        "method": operation.method.upper(),
        "path": operation.path,
        "key": yaml_key(entry_of(decision)),
        "operation_id": operation.operation_id,
        "summary": " ".join(row.summary.split()),
        "description": shorten(" ".join(row.description.split()), MAX_DESCRIPTION),
        "tags": list(operation.tags),
        "resource": decision.resource,
        "verb": decision.verb,
        "category": decision.category.value,
        "danger": decision.danger.value,
        "asked": decision.asked.value,
        "effects": [effect.value for effect in decision.effects],
        "evidence": [evidence._asdict() for evidence in decision.evidence],
        "confidence": round(decision.confidence, 2),
        "reasons": {
            "category": _reason(decision.category_reason),
            "name": _reason(decision.name_reason),
            "danger": _reason(decision.danger_reason),
        },
        "review": list(decision.review_reasons),
        "instructed": bool(decision.instructions),
        "traits": [
            {
                "kind": trait.kind,
                "value": {key: _value(value) for key, value in encode(trait.value).items()},
                **_reason(trait.reason),
            }
            for trait in decision.traits
        ],
        "parameters": [_parameter(parameter, types) for parameter in row.shown_parameters.values()],
        "overrides": [f"{key}: {', '.join(fields)}" for key, fields in decision.overridden_by.items()],
        "deprecated": operation.deprecated,
    }
    if entry["description"] == entry["summary"]:
        del entry["description"]
    if entry["key"] == f"{entry['method']} {entry['path']}":
        del entry["key"]
    return {key: value for key, value in entry.items() if value not in (None, "", [], False)}


def _reason(reason: Reason) -> dict[str, Json]:
    entry: dict[str, Json] = {"rule": reason.rule, "confidence": round(reason.confidence, 2)}
    return entry | ({"note": reason.note} if reason.note else {})


def _parameter(parameter: Parameter, types: Types) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "name": parameter.name,
        "in": parameter.location.split("_")[0],
        "type": notation(parameter.schema, types, MAX_VALUE),
    }
    optional = (
        ("wire", parameter.wire, parameter.name),
        ("required", parameter.required, False),
        ("sensitive", parameter.sensitive, False),
    )
    return entry | {key: value for key, value, default in optional if value not in (default, "")}


def _value(value: Json) -> str:
    """Return a JSON value for a reader; text as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "null"}[value]
    return json.dumps(value, ensure_ascii=False)


def _add_groups(entries: Sequence[dict[str, Json]], operations: Sequence[Operation]) -> None:
    """Set the group of each operation: the section, by tag or path, that most of its resource's are in."""
    section = sections_of(operations)
    sections: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for entry, operation in zip(entries, operations, strict=True):
        sections[entry["resource"]][section(operation)] += 1
    for entry in entries:
        entry["group"] = sections[entry["resource"]].most_common(1)[0][0]


def _made_visible(value: Json) -> Json:
    """Return a JSON value with every text made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): _made_visible(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_made_visible(member) for member in value]
    return value
