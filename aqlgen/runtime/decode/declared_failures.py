"""Failures that a success declares in its content: `ok: false`, `errors` of GraphQL, a Fault of SOAP, and their like.

An answer is one by the document where its schema admits none but good values, or by a known envelope: a flag of failure
together with an error. A thing that has failed (a job, with its `id` and its `status`) is no failed
call. What the API says stands in `details.upstream`, as with any other failure (R-ERR-2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import Failure
from ..schema import Types, fixed_values, union_of
from ..table import JsonSchema, Row, Table
from ..text import folded
from ..wire import ApiResponse, is_xml
from .api_error import by_folded_key
from .failures import failure_of_response

_FLAGS = ("ok", "success", "succeeded", "successful", "issuccess")
_STATES = ("status", "stat")
_FAILED = frozenset({"error", "fail", "failed", "failure", "err"})
_GOOD = frozenset({"ok", "success", "succeeded", "successful", "true"})
_ERRORS = ("error", "errors", "errormessage", "errorcode", "errordescription", "fault", "reason")
_WORDS = ("message", "msg", "description", "detail", "details", "code")
_IDENTITY = frozenset({"id", "uuid", "guid", "sid", "key", "name", "createdat", "updatedat", "self", "href"})
"""Keys of a thing, which may have failed itself."""
_OF_ENVELOPE = frozenset({*_STATES, *_ERRORS, *_WORDS, "data", "result", "requestid", "timestamp", "path"})
_FAULT = re.compile(r"<(?:[\w.-]{1,40}:)?Fault[\s/>]")
_MAX_TEXT = 65_536
_STATUS_KEYS = ("status", "statuscode", "httpstatus", "code", "errorcode")
_STATUS = re.compile(r"-?[0-9]{3,6}")
_RPC_SERVER_ERROR = -32603


def declared_failure(
    response: ApiResponse,
    data: Any,
    row: Row,
    params: Mapping[str, Any],
    table: Table,
    schema: JsonSchema,
    secrets: frozenset[str] = frozenset(),
) -> Failure | None:
    """Return the failure that a success is by its data, None for none; `schema` is the document's for them."""
    if not 200 <= response.status < 300:
        return None
    reason = _reason(response, data, schema, table.types)
    if not reason:
        return None
    status = _status(data)
    failure = failure_of_response(replace(response, status=status), row, params, secrets, None, table)
    details = {**failure.details, "http_status": response.status, "declared_by": reason}
    details["upstream"] = {**details["upstream"], "status": response.status}
    return Failure(failure.code, failure.message.replace(f" (HTTP {status})", "", 1), details)


def as_success(data: Mapping[str, Any], schema: JsonSchema, types: Types) -> dict[str, Any]:
    """Return data whose flags and states say that the call has succeeded, in words that the schema takes."""
    declared = {folded(name): inner for name, (_, inner) in union_of(types, schema).properties.items()}

    def value_of(key: str, value: Any) -> Any:
        flag = folded(key)
        if not _tells_failure(flag, value):
            return value
        if flag in _FLAGS:
            return {str: "true", bool: True}.get(type(value), 1)
        values = fixed_values(declared.get(flag, {}), types) or ["ok"]
        return next((word for word in values if str(word).lower() not in _FAILED), value)

    return {key: value_of(key, value) for key, value in data.items()}


def _tells_failure(key: str, value: Any) -> bool:
    """Return True if a flag is not set, or a state is that of a failure."""
    if key in _FLAGS:
        return value in (False, "false", 0)
    return key in _STATES and isinstance(value, str) and value.lower() in _FAILED


def _reason(response: ApiResponse, data: Any, schema: JsonSchema, types: Types) -> str:
    """Return the sign that declares the failure; "" without one."""
    if isinstance(data, str) or is_xml(response.headers.get("content-type", "")):
        text = response.content[:_MAX_TEXT].decode("utf-8", "replace")  # SOAP 1.1, 4.4; 1.2, 5.4
        return "a Fault of SOAP" if "Envelope" in text[:4096] and _FAULT.search(text) else ""
    if not isinstance(data, Mapping):
        return ""
    fields = by_folded_key(data)
    if _is_rpc_error(fields):
        return "an error of JSON-RPC"
    if _is_graphql_error(fields, schema, types):
        return "errors without data"
    for key in (*_FLAGS, *_STATES):
        value = fields.get(key)
        if _tells_failure(key, value) and (_is_envelope(key, fields) or _document_says(schema, types, key)):
            return f"{key}: {'false' if key in _FLAGS else str(value).lower()}"
    return ""


def _is_envelope(key: str, fields: Mapping[str, Any]) -> bool:
    """Return True if a flag or a state stands beside an error, and not among the fields of a thing."""
    if key in _FLAGS:
        is_known = all(fields[name] is None for name in _IDENTITY.intersection(fields))
    else:
        is_known = _OF_ENVELOPE.issuperset(fields)
    words = _ERRORS if key in _FLAGS else (*_ERRORS, *_WORDS)
    return is_known and any(fields.get(name) not in (None, "", False, 0, [], {}) for name in words)


def _is_rpc_error(fields: Mapping[str, Any]) -> bool:
    """Return True for an error of JSON-RPC 2.0 (section 5.1)."""
    error = fields.get("error")
    is_error = isinstance(error, Mapping) and "code" in error and "message" in error
    return "jsonrpc" in fields and is_error and fields.get("result") is None


def _is_graphql_error(fields: Mapping[str, Any], schema: JsonSchema, types: Types) -> bool:
    """Return True for errors without data (GraphQL, 7.1), unless they are what the document says is answered."""
    errors = fields.get("errors")
    if not isinstance(errors, list) or not errors or fields.get("data") is not None:
        return False
    if not all(isinstance(error, Mapping) and isinstance(error.get("message"), str) for error in errors):
        return False
    if not fields.keys() <= {"errors", "data", "extensions"}:
        return False
    return "data" in fields or "errors" not in union_of(types, schema).properties


def _document_says(schema: JsonSchema, types: Types, flag: str) -> bool:
    """Return True if the document admits none but good values of a flag or a state."""
    declared = {folded(name): inner for name, (_, inner) in union_of(types, schema).properties.items()}
    values = fixed_values(declared.get(flag, {}), types)
    return bool(values) and all(word is True or str(word).lower() in _GOOD for word in values or ())


def _status(data: Any) -> int:
    """Return the status that the answer would have had by the number that it states, else 400."""
    fields = by_folded_key(data) if isinstance(data, Mapping) else {}
    error = fields.get("error")
    holders = (by_folded_key(error) if isinstance(error, Mapping) else {}, fields)
    for value in (str(holder.get(key)) for holder in holders for key in _STATUS_KEYS):
        number = int(value) if _STATUS.fullmatch(value) else 0
        if 400 <= number < 600 and number != 407:
            return number
        if number == _RPC_SERVER_ERROR:
            return 500
    return 400
