"""What the page shows, as plain data: each operation with its decisions, their reasons and its cost.

Every text of the document is made visible here, once: nothing of it acts on a reader, wherever the page shows it.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from aqlgen import __version__
from aqlgen.decide.decision import REVIEW_THRESHOLD, Category, Danger, Decision, Reason
from aqlgen.diagnostics.report import visible
from aqlgen.ir import Json
from aqlgen.page.tokens import Costs, offered
from aqlgen.pipeline import Prepared
from aqlgen.runtime.table import Parameter, encode
from aqlgen.schemas import shorten
from aqlgen.table.model import DecidedRow, Schema

__all__ = ["page_data"]

MAX_DESCRIPTION = 400
MAX_VALUE = 60
PLAIN_KEY: Final = re.compile(r"[A-Z]+ /(?:[\w.~!$&'()*+,;=@%{}|<>?^/:-]*[\w.~!$&'()*+,;=@%{}|<>?^/-])?", re.ASCII)
"""A `METHOD /path` that YAML takes as it is; others are quoted."""


def page_data(prepared: Prepared) -> dict[str, Json]:
    """Give all that the page knows; deterministic, JSON, no character that acts instead of being seen."""
    rows = {row.decision.operation.key: row for row in prepared.table.rows}
    costs = Costs(prepared.table)
    operations = [_operation(one, rows[one.operation.key], costs) for one in prepared.decisions]
    _group(operations)
    adapter = prepared.table.adapter
    semantic, single = offered(adapter)
    data: dict[str, Json] = {
        "title": adapter.title,
        "version": adapter.api_version,
        "adapter": prepared.identity.name,
        "source": prepared.assembled.sources[0].name,
        "generator": f"aqlgen {__version__}",
        "threshold": REVIEW_THRESHOLD,
        "categories": [one.value for one in Category],
        "dangers": [one.value for one in Danger],
        "tags": sorted({tag for one in operations for tag in one.get("tags", ())}),
        "tokens": {
            "discrete": sum(one["tokens"] for one in operations),
            "semantic": semantic,
            "single": single,
        },
        "operations": operations,
        "skipped": [one.as_json() for one in prepared.skipped],
        "diagnostics": [
            {
                "severity": one.severity.value,
                "code": one.code,
                "place": ":".join([one.file, *([str(one.line), str(one.column)] if one.line else [])]),
                "message": one.message,
                "help": one.help,
            }
            for one in prepared.diagnostics
        ],
    }
    shown: dict[str, Json] = _shown(data)
    return shown


def yaml_key(key: str) -> str:
    """Write `METHOD /path` as a key of YAML, quoted where it must be, with nothing in it that cannot be seen."""
    if PLAIN_KEY.fullmatch(key):
        return key
    escaped = visible(key.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{escaped}"'


def _operation(decision: Decision, decided: DecidedRow, costs: Costs) -> dict[str, Json]:
    operation, row = decision.operation, decided.row
    entry: dict[str, Json] = {
        "name": decision.name,
        "method": operation.method.upper(),
        "path": operation.path,
        "key": yaml_key(operation.key),
        "operation_id": operation.operation_id,
        "summary": " ".join(row.summary.split()),
        "description": shorten(" ".join(row.description.split()), MAX_DESCRIPTION),
        "tags": list(operation.tags),
        "resource": decision.resource,
        "verb": decision.verb,
        "category": decision.category.value,
        "danger": decision.danger.value,
        "confidence": round(decision.confidence, 2),
        "reasons": {
            "category": _reason(decision.category_reason),
            "name": _reason(decision.name_reason),
            "danger": _reason(decision.danger_reason),
        },
        "review": list(decision.review_reasons),
        "traits": [
            {
                "kind": trait.kind,
                "value": {key: _value(value) for key, value in encode(trait.value).items()},
                **_reason(trait.reason),
            }
            for trait in decision.traits
        ],
        "parameters": [_parameter(one) for one in row.shown_parameters.values()],
        "tokens": costs.of(decided),
        "deprecated": operation.deprecated,
    }
    if entry["description"] == entry["summary"]:
        del entry["description"]
    if entry["key"] == f"{entry['method']} {entry['path']}":
        del entry["key"]
    return {key: value for key, value in entry.items() if value not in (None, "", [], False)}


def _reason(reason: Reason) -> dict[str, Json]:
    given = {"rule": reason.rule, "evidence": reason.evidence.value, "confidence": round(reason.confidence, 2)}
    return given | ({"note": reason.note} if reason.note else {})


def _parameter(one: Parameter) -> dict[str, Json]:
    entry: dict[str, Json] = {"name": one.name, "in": one.location.split("_")[0], "type": kind(one.schema)}
    optional = (("wire", one.wire, one.name), ("required", one.required, False), ("sensitive", one.sensitive, False))
    return entry | {key: value for key, value, usual in optional if value != usual and value != ""}


def kind(schema: Schema) -> str:
    """Say in a few words what a value is."""
    if isinstance(reference := schema.get("$ref"), str):
        return reference.rsplit("/", 1)[-1]
    if isinstance(values := schema.get("enum"), list):
        return shorten(" | ".join(map(_value, values)), MAX_VALUE)
    if "const" in schema:
        return shorten(_value(schema["const"]), MAX_VALUE)
    if isinstance(union := schema.get("anyOf"), list):
        return shorten(
            " | ".join(dict.fromkeys(kind(one) if isinstance(one, Mapping) else "any" for one in union)), MAX_VALUE
        )
    types = schema.get("type")
    names = types if isinstance(types, list) else [types] if isinstance(types, str) else []
    items = schema.get("items")
    words = [f"array of {kind(items)}" if one == "array" and isinstance(items, Mapping) else str(one) for one in names]
    return shorten(" | ".join(words), MAX_VALUE) or "any"


def _value(value: Json) -> str:
    """Write a value of JSON for a reader; text as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "null"}[value]
    return json.dumps(value, ensure_ascii=False)


def _group(operations: Iterable[dict[str, Json]]) -> None:
    """Put every resource under one heading: the tag that most of its operations carry, else the path's first word."""
    tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in operations:
        words = [part for part in one["path"].split("/") if part and "{" not in part]
        tags[one["resource"]][next(iter(one.get("tags", ())), words[0] if words else "/")] += 1
    for one in operations:
        one["group"] = tags[one["resource"]].most_common(1)[0][0]


def _shown(value: Json) -> Json:
    """Make every text visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): _shown(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_shown(one) for one in value]
    return value
