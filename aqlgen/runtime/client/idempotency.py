"""The key by which an API knows a write that arrives twice (draft-ietf-httpapi-idempotency-key-header; R-RATE-2).

A write that may have to be repeated carries a new key, in the header, query parameter or field that the API has for it.
A key that the call gives stays. Operations that move money need one beside a confirmation.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from ..errors import Code, Failure
from ..wire import FORM, SAFE_METHODS, is_json, media_type

if TYPE_CHECKING:
    from ..table import Idempotency, Row
    from ..wire import ApiRequest


def new_key(schema: Mapping[str, Any]) -> str | None:
    """Return a new key that a parameter with this schema takes; None if none can be made for it."""
    kind = schema.get("type", "string")
    kinds = kind if isinstance(kind, list) else [kind]
    if "string" not in kinds or "enum" in schema or "const" in schema or "pattern" in schema or "$ref" in schema:
        return None
    key = str(uuid.uuid4())
    most = schema.get("maxLength")
    if isinstance(most, int) and most < len(key):
        key = key.replace("-", "")
    fits = not isinstance(most, int) or most >= len(key)
    return key if fits and schema.get("minLength", 0) <= len(key) and schema.get("format", "uuid") == "uuid" else None


def with_idempotency_key(request: ApiRequest, row: Row) -> ApiRequest:
    """Return the request with a new key where the API takes one, and with that key told."""
    wanted = row.idempotency
    if wanted is None or request.method in SAFE_METHODS:
        return request
    if wanted.header:
        return _in_header(request, wanted.header)
    if wanted.parameter is None:
        return request
    key = new_key(next((each.schema for each in row.parameters.values() if each.wire == wanted.parameter), {}))
    return _in_query(request, wanted.parameter, key) if wanted.location == "query" else _in_body(request, wanted, key)


def _in_header(request: ApiRequest, header: str) -> ApiRequest:
    for name, value in request.headers:
        if name.lower() == header.lower():
            return replace(request, idempotency_key=value)
    key = str(uuid.uuid4())
    return replace(request, headers=(*request.headers, (header, key)), idempotency_key=key)


def _in_query(request: ApiRequest, name: str, key: str | None) -> ApiRequest:
    url, _, query = request.url.partition("?")
    stated = dict(parse_qsl(query, keep_blank_values=True)).get(name)
    if stated:
        return replace(request, idempotency_key=stated)
    if key is None:
        return request
    query = f"{query}&{quote(name)}={key}".removeprefix("&")
    return replace(request, url=f"{url}?{query}", idempotency_key=key)


def _in_body(request: ApiRequest, wanted: Idempotency, key: str | None) -> ApiRequest:
    """Put the key into an object or a form; the rest of the body stays as it is, to the letter."""
    name, content = wanted.parameter or "", request.content or b""
    kind = media_type(request.content_type)
    if kind == FORM:
        stated: Any = dict(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True)).get(name)
        field = f"{quote(name)}={key}".encode()
        changed = field + b"&" + content if content else field
    elif is_json(kind) and _OBJECT.match(content):
        stated = json.loads(content).get(name)
        field = f"{{{json.dumps(name)}:{json.dumps(key)}".encode()
        rest = content[content.index(b"{") + 1 :].lstrip()
        changed = field + (b"" if rest.startswith(b"}") else b",") + rest
    else:
        return request
    if isinstance(stated, str) and stated:
        return replace(request, idempotency_key=stated)
    return request if key is None or stated is not None else replace(request, content=changed, idempotency_key=key)


_OBJECT = re.compile(rb"\s{0,100}+\{")


def require_key(row: Row, build: Callable[[], ApiRequest]) -> None:
    """Raise Failure if the API knows such a key for an operation that moves money, and a call would have none.

    The adapter makes a key where the API takes any; where it takes only certain ones the call must give it.
    """
    if not row.moves_money or row.idempotency is None:
        return
    request = build()
    if request.method not in ("GET", "HEAD") and not with_idempotency_key(request, row).idempotency_key:
        wire = row.idempotency.header or row.idempotency.parameter or ""
        name = next((name for name, parameter in row.parameters.items() if parameter.wire == wire), wire)
        raise Failure(
            Code.MISSING_PARAM,
            f"Missing required parameter '{name}': operation '{row.name}' moves money, and the adapter cannot make "
            "its idempotency key. Give one, and the same one if you call again.",
            {"param_name": name, "operation": row.name},
        )
