# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The dry run (R-SEL-5): the request of a call with its secrets masked. Nothing is sent, nobody is asked.

The owner's hooks see the request before it is shown, as they see those that are sent.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..media import FORM, is_json, is_text, media_type
from ..redaction import redact

if TYPE_CHECKING:
    from ..table import Row, Table
    from ..wire import ApiRequest
    from .exchanges import ApiSide

__all__ = ["preview"]

_MASK = "***"


async def preview(
    api: ApiSide,
    table: Table,
    row: Row,
    params: Mapping[str, Any],
    hooked: Callable[[ApiRequest], Awaitable[ApiRequest]],
) -> dict[str, Any]:
    """Return method, url, headers and body as `hooked` leaves them, and what an update would read first."""
    from .update import guarded, patched, prepare

    plan = prepare(row, table)
    request = api.build(row, {name: value for name, value in params.items() if name not in row.adapter_parameters})
    if plan.patches and plan.reader is None:
        request = patched(request, plan)
    if params.get("if_match") is not None and "if_match" in row.adapter_parameters:
        request = guarded(request, params["if_match"])
    shown = {"dry_run": True, **_shown(await hooked(request), row, params)}
    if plan.reader is not None:
        read = await hooked(api.build(plan.reader, plan.reading(params)))
        shown["reads_first"] = {"method": read.method, "url": redact(read.url, _secrets(read, row, params))}
        shown["note"] = "The body is what changes: it is merged into what is read, and sent as a whole"
        if plan.patches:
            shown["note"] = "The body is what changes: it is sent as the operations that turn what is read into it"
    return shown


def _shown(request: ApiRequest, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
    secrets = _secrets(request, row, params)
    headers = {name: redact(value, secrets) for name, value in request.headers}
    content_type = next((value for name, value in request.headers if name.lower() == "content-type"), "")
    return {
        "method": request.method,
        "url": redact(request.url, secrets),
        "headers": headers,
        "body": _body(request.content, media_type(content_type), row, secrets),
    }


def _secrets(request: ApiRequest, row: Row, params: Mapping[str, Any]) -> frozenset[str]:
    """Return what is masked: the credentials, and the values of sensitive parameters, also as encoded in a URL."""
    values = {
        str(params[name])
        for name, parameter in row.parameters.items()
        if parameter.sensitive and isinstance(params.get(name), (str, int, float))
    }
    return request.secrets | values | {quote(value, safe="") for value in values}


def _body(content: bytes | None, kind: str, row: Row, secrets: frozenset[str]) -> Any:
    if content is None:
        return None
    if is_json(kind):
        try:
            return _masked(json.loads(content), row, secrets)
        except ValueError:  # what a hook wrote
            return redact(content.decode("utf-8", "replace"), secrets)
    if is_text(kind) or kind == FORM:
        return redact(content.decode("utf-8", "replace"), secrets)
    text = content.decode("latin-1")
    masked = redact(text, {secret.encode().decode("latin-1") for secret in secrets}).encode("latin-1")
    return {"content": base64.b64encode(masked).decode("ascii"), "encoding": "base64", "mime_type": kind}


def _masked(value: Any, row: Row, secrets: frozenset[str]) -> Any:
    """Mask the secrets within a JSON body, and its sensitive fields as a whole."""
    fields = {
        parameter.wire for parameter in row.parameters.values() if parameter.sensitive and parameter.location == "body"
    }
    if isinstance(value, dict):
        return {key: _MASK if key in fields else _redacted(inner, secrets) for key, inner in value.items()}
    return _redacted(value, secrets)


def _redacted(value: Any, secrets: frozenset[str]) -> Any:
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, list):
        return [_redacted(item, secrets) for item in value]
    if isinstance(value, dict):
        return {key: _redacted(inner, secrets) for key, inner in value.items()}
    return value
