"""Results of an operation: the successful responses, the return type, and the document's own example."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from json import dumps

from aqlgen.decide.decision import Decision
from aqlgen.ir import MISSING, Document, Json, MediaType
from aqlgen.ir import Response as DocumentResponse
from aqlgen.runtime.decode import declared_response
from aqlgen.runtime.paging import signs_of_more
from aqlgen.runtime.schema import at, kind_of, steps_of
from aqlgen.runtime.table import Response, ReturnType, Row
from aqlgen.runtime.wire import JSON, ApiResponse, admits_json, is_json, is_xml, stream_form
from aqlgen.schemas import Place, Types
from aqlgen.words import pascal, split

NOTHING: ReturnType = {"name": "none", "kind": "scalar", "description": "No content."}
MAX_MOCK_BYTES = 20_000
REDIRECTS = frozenset({"301", "302", "303", "307", "308", "3XX"})
IGNORED_HEADERS = re.compile(
    r"rate-?limit|request-?id|correlation-?id|interaction-?id|server-id|^x-trace|^(?:content|cache|access-control)-"
    r"|^(?:link|date|server|vary|pragma|expires|age|via|retry-after|deprecation|sunset|connection|transfer-encoding"
    r"|strict-transport-security)$|token|secret|auth|cookie|password|session"
)
"""Names of headers that are useless to an agent, that the adapter itself acts on, or that may hold a credential."""


def successes(responses: tuple[DocumentResponse, ...]) -> tuple[DocumentResponse, ...]:
    """Return the 2xx responses in the order of their status, else the default one."""
    good = sorted(
        (response for response in responses if response.status.startswith("2")), key=lambda response: response.status
    )
    return tuple(good) or tuple(response for response in responses if response.status == "default")


def main_media(response: DocumentResponse) -> MediaType | None:
    """Return the representation that the adapter asks for: JSON if there is one, else the first."""
    ranked = sorted(response.media, key=lambda media: not admits_json(media.content_type))
    return ranked[0] if ranked else None


def is_read(content_type: str) -> bool:
    """Return True if a response of this type becomes data by its schema: JSON, XML and streams of values."""
    return admits_json(content_type) or is_xml(content_type) or stream_form(content_type) is not None


def need_xml(document: Document) -> bool:
    """Return True if an operation of the document can be read in XML, or only be called in it."""
    for operation in document.operations:
        media = [representation for response in successes(operation.responses) for representation in response.media]
        offered = operation.body.media if operation.body else ()
        if any(is_xml(representation.content_type) for representation in media) or (
            offered and all(is_xml(representation.content_type) for representation in offered)
        ):
            return True
    return False


def build(decision: Decision, types: Types) -> tuple[dict[str, Response], ReturnType]:
    """Return the responses as the table has them, and the return type (introspection, TypeInfo)."""
    table: dict[str, Response] = {}
    returns: ReturnType | None = None
    for response in successes(decision.operation.responses):
        media = main_media(response)
        entry: Response = {}
        if media is not None:
            entry = entry_of(decision, media, types)
            if returns is None:
                returns = _returns(entry)
        table[response.status] = entry | told_headers(response)
    for response in decision.operation.responses:
        if response.status in REDIRECTS:  # where the address is the answer
            table.setdefault(response.status, {})
    return table, returns or NOTHING


def entry_of(decision: Decision, media: MediaType, types: Types) -> Response:
    """Return the table's entry for one representation."""
    entry: Response = {"content_type": media.content_type}
    if media.schema is not None and is_read(media.content_type):
        hint = pascal(split(decision.name)) + "Response"
        schema = types.schema(media.schema, Place(request=False, hint=hint))
        entry["schema"] = {key: value for key, value in schema.items() if key != "description"}
    return entry


def told_headers(response: DocumentResponse) -> Response:
    """Return the headers of a response that agents are told, as the table has them."""
    headers = [name for name in response.headers if not IGNORED_HEADERS.search(name.lower())]
    return {"headers": headers} if headers else {}


def _returns(entry: Response) -> ReturnType:
    kind = entry["content_type"]
    schema: Mapping[str, Json] = entry.get("schema", {} if admits_json(kind) else {"type": "string"})
    if is_read(kind) and not admits_json(kind) and not is_xml(kind) and schema.get("type") != "array":
        schema = {"type": "array", "items": schema if "schema" in entry else {}}
    branches = [branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"]
    if len(branches) == 1:
        schema = branches[0]
    if schema.get("type", "array" if "items" in schema else "") == "array":
        item = _type(schema.get("items", {}) if isinstance(schema.get("items"), dict) else {})
        return {**item, "description": f"An array of {item['name']}."}
    return _type(schema)


def _type(schema: Mapping[str, Json]) -> ReturnType:
    """Name a type; `with_final_kind` sets the kind of a named one when the types are finished."""
    if "$ref" in schema:
        return {"name": schema["$ref"].rsplit("/", 1)[-1], "kind": "object"}
    kind = schema.get("type")
    name = next((name for name in kind if name != "null"), "any") if isinstance(kind, list) else kind or "any"
    return {"name": name, "kind": "object" if name == "object" else "scalar"}


def with_final_kind(returns: ReturnType, types: Mapping[str, Mapping[str, Json]]) -> ReturnType:
    """Return a return type with its final kind."""
    known = types.get(returns["name"])
    return returns if known is None else {**returns, "kind": kind_of(known, types)}


def mock_of(responses: tuple[DocumentResponse, ...]) -> Mapping[str, Json] | None:
    """Return the document's own example of the first success, up to 20 kB; None if it has none, or no list for one."""
    for response in successes(responses)[:1]:
        media = main_media(response)
        if media is None or isinstance(media.example, str) or not admits_json(media.content_type):
            return None
        is_list = isinstance(media.schema, dict) and media.schema.get("type") == "array"
        if media.example is MISSING or (is_list and not isinstance(media.example, list)):
            return None
        if len(dumps(media.example)) > MAX_MOCK_BYTES:
            return None
        status = int(response.status) if response.status.isdigit() else 200
        return {"status": status, "content_type": media.content_type, "body": media.example}
    return None


def sampled(row: Row, answer: Callable[[Mapping[str, Json], int], Json]) -> Mapping[str, Json]:
    """Return a response whose body `answer` makes of its schema, up to 20 kB."""
    status = next((int(key) for key in row.responses if key.isdigit() and key.startswith("2")), 200)
    declared = declared_response(row, status)
    kind = str(declared.get("content_type") or "")
    if not kind:
        return {"status": status}
    if not (is_json(kind) or "*" in kind):
        return {"status": status, "content_type": kind, "body": "example"}
    return {"status": status, "content_type": JSON, "body": answer(declared.get("schema", {}), MAX_MOCK_BYTES)}


def as_last_page(mock: Mapping[str, Json], row: Row) -> Mapping[str, Json]:
    """Return the response of a list that pages as its last page, since the mock gives the same at each call."""
    steps = steps_of(paging.items) if (paging := row.paging) is not None and paging.items is not None else None
    listed = at(mock.get("body"), steps) if steps is not None else None
    if steps is None or not isinstance(listed, list):
        return mock
    mock = deepcopy(dict(mock))
    for count in (len(listed), 0):  # a total is that of the items, any other number tells nothing
        for name in signs_of_more(mock["body"], steps, len(listed), ApiResponse(200, {}, b""), None):
            *outer, last = name.split(".")
            holder = at(mock["body"], outer)
            if isinstance(holder, dict) and last in holder:
                value = holder[last]
                holder[last] = False if isinstance(value, bool) else "" if isinstance(value, str) else count
    return mock
