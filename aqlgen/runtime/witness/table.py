"""The operation table as plain data, compared with the document: also members that no call and no introspection shows.

Each member has a name, the value of the table, and the value of the document: None if the document leaves it open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .document import Body, Document, Operation, covers, first_address, is_filled, normal
from .types import Types, entry_of, of_value

_ENDS = "deprecat|sunset|remov|eol|end.?of.?life"  # words by which an operation may be told to end
_SECRETS = "password|passphrase|passcode|secret|privatekey|accesskey|apikey|otp|cvv|cvc|ssn"
_JSON = "application/json"
_LEAST_SHARE = 0.8  # of the words of a summary that are its operation's
_Row = Mapping[str, Any]
_Members = Iterator[tuple[str, Any, Any]]


class Table:
    """A project's table: `adapter.json`, and the rows by name and family."""

    def __init__(self, folder: Path) -> None:
        files = [*folder.glob("src/**/adapter.json"), *folder.glob("src/**/operations/*.json")]
        data = {path.stem: json.loads(path.read_bytes()) for path in files}
        self.adapter: _Row = data.pop("adapter", {})
        self.rows = {(name, family): {"name": name, **row} for family in data for name, row in data[family].items()}

    def differences(self, documents: Iterable[Document]) -> Iterator[str]:
        """Yield where `adapter.json` is otherwise than its rows and the documents."""
        yield from _compared(self._of_rows()) if self.adapter else ()
        for document in documents if self.adapter else ():
            section, info = self.adapter.get("apis", {}).get(document.api, self.adapter), document.root.get("info", {})
            address, stated = document.address([]), str(info.get("version", section["api_version"]))
            members = [("api_version", section["api_version"], stated)]
            members += [("servers", first_address(section["servers"]), address)] if address[:4] == "http" else []
            for name, scheme in document.schemes.items():
                known = self.adapter["security_schemes"].get(f"{document.api}:{name}".removeprefix(":"), {})
                words = scheme.keys() & {"in", "name", "scheme"} if known.get("type") == scheme.get("type") else ()
                members += [(f"{word} of {name}", normal(known.get(word)), normal(scheme[word])) for word in words]
            yield from _compared(iter(members))

    def _of_rows(self) -> _Members:
        adapter = self.adapter
        rows = {name: [row for (_, family), row in self.rows.items() if family == name] for name in adapter["counts"]}
        methods = {family: {row["method"] for row in rows[family]} for family in rows if family != "read"}
        lasting = {family for family, each in methods.items() if set() < each <= {"PUT", "DELETE"}}
        first = [family for family, name in adapter["quick_start"].items() if (name, family) in self.rows]
        yield "counts", adapter["counts"], {family: len(rows[family]) for family in rows}
        yield "idempotent", {*adapter.get("idempotent", ())}, lasting
        yield "executions", "executions" in adapter, any("long_running" in row for row in self.rows.values())
        yield "quick_start", first, list(filter(rows.get, rows))

    async def row_differences(self, row: _Row, operation: Operation, media: str, types: Types) -> list[str]:
        """Return where a row is otherwise than its operation, whose request has a media type."""
        body = operation.body(media) or Body({})
        fields = operation.document.properties(body.schema, "readOnly")
        texts = [text for part in _PARTS for text in _compared(part(row, operation))]
        hidden = [(row.get(member) or {}).get("parameters") or {} for member in ("pagination", "update")]
        for parameters in (row["parameters"], *hidden, row.get("fixed", {})):
            for name, item in parameters.items():
                is_shown = parameters is row["parameters"]
                texts += _of_parameter(operation, fields, {"name": name, "in": "body", **item}, is_shown=is_shown)
        schemas = {status: schema for status, kind, schema, _ in reversed(operation.successes) if "json" in kind}
        for status in schemas.keys() & row["responses"].keys():
            entry, place = entry_of(row["responses"][status].get("schema", {})), f"the answer {status}"
            texts += await types.differences(operation.document, entry, schemas[status], place, "writeOnly")
        return texts


def _compared(members: _Members) -> Iterator[str]:
    pairs = (each for each in members if each[2] is not None and each[1] != each[2])
    return (f"{name} is {recorded!r}, the document has {stated!r}" for name, recorded, stated in pairs)


def _members(row: _Row, operation: Operation) -> _Members:
    raw, document, paging = operation.raw, operation.document, row.get("pagination") or {}
    yield "operation_id", row.get("operation_id"), raw.get("operationId") or None
    is_open, of_path = re.search(_ENDS, json.dumps(raw).lower()), document.at(document.root, "paths", operation.path)
    yield "deprecated", row.get("deprecated", False), raw.get("deprecated") is True or (None if is_open else False)
    sizes = (each.schema for each in operation.parameters if each.name == paging.get("size_param"))
    yield "pagination.size_max", paging.get("size_max"), document.at(next(sizes, {})).get("maximum")
    texts = [str(node.get(key)) for node in (raw, of_path) for key in ("summary", "description")]
    terms, words = _words(" ".join((row["name"], operation.path, *texts))), _words(row["summary"])
    yield "summary", len(words & terms) >= _LEAST_SHARE * len(words) or row["summary"], True


def _sent(row: _Row, operation: Operation) -> _Members:
    scopes = {name.removeprefix(f"{operation.document.api}:"): each for name, each in row.get("scopes", {}).items()}
    stated = operation.security or ()
    is_own = all(each in [option.get(name) for option in stated] for name, each in scopes.items())
    yield "scopes", is_own or scopes, True
    if (body := row.get("body")) is not None:
        kind, is_json = body["content_type"].partition(";")[0], _JSON in operation.bodies
        is_patch = kind in operation.bodies and kind.endswith("patch+json")  # says what JSON alone leaves open
        yield "body.content_type", kind, None if is_patch or "content_type" in operation.owner or not is_json else _JSON
        is_sure = operation.body_required or body["shape"] == "whole"
        yield "body.required", body.get("required", False), operation.body_required if is_sure else None


def _answers(row: _Row, operation: Operation) -> _Members:
    """Yield the types of the answers by status; of several types that which the row has."""
    kinds = {status: str(each.get("content_type", "")).lower() for status, each in row["responses"].items()}
    stated = {status: kind for status, kind in kinds.items() if status[:1] == "3"}  # of which an address is the answer
    for status, kind, *_ in operation.successes:
        status = status.upper() if status[:1].isdigit() else status
        is_own = covers(kind, kinds.get(status, "-").partition(";")[0].strip()) or kind == kinds.get(status)
        stated[status] = kinds[status] if is_own else stated.get(status, kind)
    yield "responses", kinds, stated
    entry: Any = entry_of(row["responses"].get(operation.success[0], {}).get("schema", {}))
    entry = entry.get("items", entry)
    is_same = not isinstance(entry["type"], str) or entry["type"] in str(row["returns"])
    yield "returns", row["returns"]["name"], None if is_same else entry["type"]


def _pages(row: _Row, operation: Operation) -> _Members:
    """Yield the places of an answer by which a list is paged, which are others if the document does not have them."""
    document, paging = operation.document, row.get("pagination") or {}
    names = [] if "next_in" in paging or "pagination" in operation.owner else ["items", "total", "has_more", "next"]
    for name, pointer in [(name, paging[name]) for name in names if paging.get(name)]:
        yield f"pagination.{name}", pointer, pointer if _is_there(document, operation.success[2], pointer, name) else ""


def _is_there(document: Document, node: Any, pointer: str, name: str) -> bool:
    steps = pointer.split("/")[1:]
    while steps and steps[0] in document.properties(node):
        node = document.properties(node)[steps.pop(0)]
    kinds = document.kinds(node) if name == "items" else ()
    return not document.properties(node) if steps else not kinds or "array" in kinds


_PARTS = _members, _sent, _answers, _pages


def _of_parameter(operation: Operation, fields: _Row, item: _Row, *, is_shown: bool) -> Iterator[str]:
    """Yield the differences of a parameter from the document; of a shown one introspection tells the rest."""
    document, place, name, word = operation.document, item["in"], item["name"], normal(item["name"])
    known = {each.key: each.schema for each in operation.parameters}
    schema = known.get((place, name), fields.get(name) if place == "body" else None)
    if schema is None or operation.owned(place, name) or is_filled(name):
        return
    if not is_shown:
        differences = of_value(document, {"type": "any", **item["schema"]}, schema)
        yield from (f"{place} {name} has {text}" for text in differences)
    is_text = document.kinds(schema) == {"string"} and "enum" not in document.at(schema)
    is_named = is_text and re.search(f"({_SECRETS})$", word)
    if not item.get("sensitive") and (is_named or document.at(schema).get("format") == "password"):
        yield f"{place} {name} is a secret, and is not masked"


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]{2,}", re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text).lower()))
