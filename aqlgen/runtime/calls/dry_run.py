"""The dry run (R-SEL-5): the request of a call with its secrets masked. Nothing is sent, nobody is asked.

The owner's hooks see the request before it is shown, as they see those that are sent.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Container, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from ..exact_json import read_json
from ..redaction import MASK, is_credential_header, redact, redacted, without_userinfo
from ..text import listed
from ..wire import FORM, is_json, is_text, media_type

if TYPE_CHECKING:
    from ..client import ApiSide
    from ..table import Row, Table
    from ..wire import ApiRequest

_MAX_KIND = 20
"""The longest name of an authentication scheme that is shown."""


async def preview(
    api: ApiSide,
    table: Table,
    row: Row,
    params: Mapping[str, Any],
    hooked: Callable[[ApiRequest], Awaitable[ApiRequest]],
) -> dict[str, Any]:
    """Return method, url, headers and body as `hooked` leaves them, and what an update would read first."""
    from .update import guarded, patched
    from .update_plan import prepare, replaced_fields

    plan = prepare(row, table)
    request = api.of(row).build(row, row.api_params(params))
    if plan.patches and plan.reader is None:
        request = patched(request, plan)
    if params.get("if_match") is not None and "if_match" in row.adapter_parameters:
        request = guarded(request, params["if_match"])
    hooked_request = await hooked(request)
    known = api.secrets()
    shown = {"dry_run": True, **_shown(hooked_request, row, _secrets(hooked_request, row, params, known))}
    if plan.reader is not None and plan.needs_reading(read_json(request.content or b"null")):
        read = await hooked(api.of(row).build(plan.reader, plan.reading(params)))
        shown["reads_first"] = {"method": read.method, "url": _url(read.url, row, _secrets(read, row, params, known))}
        shown["note"] = "The body has the changes. The request merges them into the resource, or is a patch with them"
    elif lost := replaced_fields(plan, params):
        shown["note"] = f"The body replaces the whole resource: the API may reset omitted fields, {listed(lost)}"
    return shown


def _shown(request: ApiRequest, row: Row, secrets: frozenset[str]) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": _url(request.url, row, secrets),
        "headers": {name: _header(name, value, secrets) for name, value in request.headers},
        "body": _body(request.content, media_type(request.content_type), row, secrets),
    }


def _secrets(request: ApiRequest, row: Row, params: Mapping[str, Any], known: frozenset[str]) -> frozenset[str]:
    """Return the secrets of a request: credentials, also those of a hook, and values of sensitive parameters."""
    sent = {**params, **row.fixed_values}
    values = {
        str(sent[name])
        for name, parameter in row.sent_parameters.items()
        if parameter.sensitive and isinstance(sent.get(name), (str, int, float))
    }
    return known | request.secrets | values


def _header(name: str, value: str, secrets: frozenset[str]) -> str:
    """Return a header as it may be shown; of one that is a credential by nature, no more than its kind."""
    if not is_credential_header(name):
        return MASK if value in secrets else redact(value, secrets)
    if "cookie" in name.lower():
        return "; ".join(f"{redact(pair.partition('=')[0].strip(), secrets)}={MASK}" for pair in value.split(";"))
    kind, blank, _ = value.partition(" ")
    return f"{kind} {MASK}" if blank and kind.isalpha() and len(kind) <= _MAX_KIND else MASK


def _url(url: str, row: Row, secrets: frozenset[str]) -> str:
    declared = {parameter.wire for parameter in row.sent_parameters.values() if parameter.location == "query"}
    start, mark, query = without_userinfo(url).partition("?")
    pairs = (_pair(pair, declared, secrets) for pair in query.split("&"))
    return redact(start, secrets) + mark + "&".join(pairs)


def _pair(pair: str, declared: Container[str], secrets: frozenset[str]) -> str:
    """Return a pair of a query as it may be shown; one that is not a parameter may be a credential by its name."""
    name, sign, value = pair.partition("=")
    wire = unquote_plus(name)
    if unquote_plus(value) in secrets or (wire not in declared and is_credential_header(wire)):
        return f"{redact(name, secrets)}{sign}{MASK}"
    return redact(pair, secrets)


def _body(content: bytes | None, kind: str, row: Row, secrets: frozenset[str]) -> Any:
    if content is None:
        return None
    if is_json(kind):
        try:
            return _masked(read_json(content), row, secrets)
        except ValueError:  # what a hook wrote
            return redact(content.decode("utf-8", "replace"), secrets)
    if is_text(kind) or kind == FORM:
        return redact(content.decode("utf-8", "replace"), secrets)
    shown = {"content": base64.b64encode(content).decode("ascii"), "encoding": "base64", "mime_type": kind}
    return redacted(shown, secrets)


def _masked(value: Any, row: Row, secrets: frozenset[str]) -> Any:
    """Mask the secrets within a JSON body, and its sensitive fields as a whole."""
    fields = {
        parameter.wire
        for parameter in row.sent_parameters.values()
        if parameter.sensitive and parameter.location == "body"
    }
    if isinstance(value, dict):
        value = {key: MASK if key in fields else inner for key, inner in value.items()}
    return redacted(value, secrets)
