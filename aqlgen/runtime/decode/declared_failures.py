# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Failures that a success declares in its content: `ok: false`, `errors` of GraphQL, a Fault of SOAP, and their like.

An answer is one by the document where its schema says what a flag means, by the owner's marks, or by a known envelope:
a flag of failure together with an error. A thing that has failed (a job, with its `id` and its `status`) is no failed
call. What the API says stands in `details.upstream`, as with any other failure (R-ERR-2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import Failure
from ..schema import MISSING, Types, at, fixed_values, parts, union_of
from ..table import JsonSchema, Row, Table
from ..text import folded
from ..wire import ApiResponse, is_xml
from .api_error import by_folded_key, read_error
from .failures import failure_of_response

__all__ = ["OFF", "as_success", "declared_failure"]

OFF = "off"
"""The owner's mark that no success is a failure."""
_FLAGS = ("ok", "success", "succeeded", "successful", "issuccess")
_STATES = ("status", "stat")
_FAILED = frozenset({"error", "fail", "failed", "failure", "err"})
_GOOD = frozenset({"ok", "success", "succeeded", "successful"})
_OUTCOMES = _GOOD | _FAILED | {"warning"}
"""The words of a state that is about the call and nothing else."""
_ERRORS = ("error", "errors", "errormessage", "errorcode", "errordescription", "fault", "reason")
_WORDS = ("message", "msg", "description", "detail", "details", "code")
_IDENTITY = frozenset({"id", "uuid", "guid", "sid", "key", "name", "createdat", "updatedat", "self", "href"})
"""Keys of a thing, which may have failed itself."""
_OF_ENVELOPE = frozenset(
    {
        *(*_STATES, *_FLAGS, *_ERRORS, *_WORDS),
        *("data", "result", "results", "meta", "title", "type", "statuscode", "httpstatus", "httpcode", "requestid"),
        *("traceid", "correlationid", "timestamp", "path", "warnings", "messages", "errorid"),
        *("documentationurl", "help"),
    }
)
_CALL = re.compile(r"\b(?:api|call|operation|query|request|response|method|command)s?\b", re.IGNORECASE)
_OUTCOME = re.compile(r"\b(?:succe|fail|error|ok\b)", re.IGNORECASE)
"""Words of a description that is about the outcome of a call."""
_FAULT = re.compile(r"<(?:[\w.-]{1,40}:)?Fault[\s/>]")
_MAX_TEXT = 65_536
_KINDS = (
    (429, re.compile(r"rate[ _-]?limit|too[ _-]?many[ _-]?(?:request|call)|throttl|quota", re.IGNORECASE)),
    (
        401,
        re.compile(
            r"(?:not|un)[ _-]?auth(?:ed\b|enticated|orized)|invalid[ _-]?(?:auth\b|api[ _-]?key|(?:access[ _-]?)?token)"
            r"|token[ _-]?(?:expired|revoked|invalid)|(?:account|token)[ _-]?inactive|login[ _-]?required",
            re.IGNORECASE,
        ),
    ),
    (
        403,
        re.compile(
            r"forbidden|permission|missing[ _-]?scope|access[ _-]?denied|not[ _-]?(?:allowed|permitted)|restricted",
            re.IGNORECASE,
        ),
    ),
    (409, re.compile(r"already[ _-]?(?:exist|taken|in[ _-])|duplicate|taken\b|conflict", re.IGNORECASE)),
    (404, re.compile(r"not[ _-]?found|no[ _-]such|does[ _-]?n[o']t[ _-]exist|does[ _-]not[ _-]exist", re.IGNORECASE)),
    (
        500,
        re.compile(
            r"\b(?:internal|fatal|server)[ _-]?(?:server[ _-]?)?error|unavailable|timed?[ _-]?out", re.IGNORECASE
        ),
    ),
)
"""The status that an answer of these words would have had, the first that applies; else 400."""
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
    marks: Sequence[str] = (),
) -> Failure | None:
    """Return the failure that a success is by its data; None if it is a success.

    `schema` is the document's for the data, `marks` are the owner's: `key.key=value`.
    """
    if not 200 <= response.status < 300 or OFF in marks:
        return None
    reason = _marked(data, marks) or _reason(response, data, schema, table.types)
    if not reason:
        return None
    status = _status(response, data, secrets)
    failure = failure_of_response(replace(response, status=status), row, params, secrets, None, table)
    details = {**failure.details, "http_status": response.status, "declared_by": reason}
    details["upstream"] = {**details["upstream"], "status": response.status}
    message = failure.message.replace(f" (HTTP {status})", "", 1)
    return Failure(failure.code, message, details)


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


def _marked(data: Any, marks: Sequence[str]) -> str:
    """Return the owner's mark that data bear; "" if they bear none."""
    for mark in marks:
        path, _, wanted = mark.partition("=")
        value = at(data, path.split("."))
        if value is not MISSING and wanted == (value if isinstance(value, str) else json.dumps(value, default=str)):
            return mark
    return ""


def _reason(response: ApiResponse, data: Any, schema: JsonSchema, types: Types) -> str:
    """Return what declares the failure; "" if nothing does."""
    if isinstance(data, str) or is_xml(response.headers.get("content-type", "")):
        return "a Fault of SOAP" if _is_fault(response) else ""
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


def _is_fault(response: ApiResponse) -> bool:
    """Return True if a content is an envelope of SOAP around a Fault (SOAP 1.1, 4.4; 1.2, 5.4)."""
    text = response.content[:_MAX_TEXT].decode("utf-8", "replace")
    return "Envelope" in text[:4096] and _FAULT.search(text) is not None


def _document_says(schema: JsonSchema, types: Types, flag: str) -> bool:
    """Return True if the schema of the success says that a flag not set, or a state of failure, is about the call.

    The flag can have one value in a success, or its words are those of an outcome, or its description is about the
    call; the state of a thing is none.
    """
    shape = union_of(types, schema)
    declared = {folded(name): inner for name, (_, inner) in shape.properties.items()}
    inner = declared.get(flag)
    if inner is None:
        return False
    values = fixed_values(inner, types)
    if flag in _FLAGS and values and all(word in (True, "true") for word in values):
        return True
    if _IDENTITY.intersection(declared):
        return False
    if flag in _FLAGS:
        described = " ".join(str(part.get("description", "")) for part in parts(inner, types))[:1000]
        return bool(_CALL.search(described) and _OUTCOME.search(described))
    return values is not None and _are_outcomes({str(word).lower() for word in values if word is not None})


def _are_outcomes(words: set[str]) -> bool:
    """Return True if the words of a state are about a call: good ones alone, or several outcomes."""
    return words <= _GOOD or (len(words) > 1 and words <= _OUTCOMES)


def _status(response: ApiResponse, data: Any, secrets: frozenset[str]) -> int:
    """Return the status that the answer would have had: the number that it states, else by its words."""
    fields = by_folded_key(data) if isinstance(data, Mapping) else {}
    error = fields.get("error")
    holders = (by_folded_key(error) if isinstance(error, Mapping) else {}, fields)
    for value in (str(holder.get(key)) for holder in holders for key in _STATUS_KEYS):
        number = int(value) if _STATUS.fullmatch(value) else 0
        if 400 <= number < 600 and number != 407:
            return number
        if number == _RPC_SERVER_ERROR:
            return 500
    evidence = read_error(response, secrets).evidence[:4000]
    return next((status for status, pattern in _KINDS if pattern.search(evidence)), 400)
