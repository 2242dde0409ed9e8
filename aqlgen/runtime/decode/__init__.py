"""From the API's response to data under the agent's names (OpenAPI 3.1, Responses Object; R-SEL-1, R-ERR-2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import Failure
from ..redaction import redact, redacted
from ..schema.field_names import Names, Renaming, Way
from ..table import Row, Table, first_success
from ..wire import (
    JSON,
    Account,
    ApiResponse,
    StreamForm,
    admits_nothing,
    changes_something,
    is_json,
    is_json_lines,
    is_multipart,
    is_xml,
    media_type,
    stream_form,
)
from .body import decode_text, read_body
from .headers import head_data, not_modified_data, with_location

if TYPE_CHECKING:
    from .encoded_fields import EncodedFields

_ABOUT_FAILURE = frozenset(
    {
        *("ok", "success", "Success", "succeeded", "successful", "is_success", "isSuccess"),
        *("status", "Status", "stat", "errors", "jsonrpc", "Body", "body"),
    }
)
"""Keys by which a success may tell that it is a failure (`decode/declared_failures`)."""
_FAILED_STATES = frozenset({"error", "fail", "failed", "failure", "err", "false", "2.0"})
"""Values of a flag or a state that tell of a failure, and the version of JSON-RPC, which tells it otherwise."""
_BEGINNINGS = frozenset({b"{", b"["})
_UNDECLARED: Mapping[str, Any] = {}


def decode_response(
    response: ApiResponse,
    row: Row,
    params: Mapping[str, Any],
    names: Names,
    secrets: frozenset[str] = frozenset(),
    *,
    account: Account | None = None,
    encoded: EncodedFields | None = None,
) -> Any:
    """Return the data of a response. Raises Failure when it is one by status or by itself, or has too many values.

    `account` says which credential the request had, if the API did not accept it. With `encoded`, fields in base64 that
    are text are shown as such.
    A response that misses its declared schema is passed on as it is.
    """
    try:
        if not 200 <= response.status < 300:
            return _decode_other_status(response, row, params, secrets, account, names.table)
        data = _success(response, row, names, secrets, encoded)
        if _may_be_failure(data):
            from .declared_failures import declared_failure

            schema = declared_response(row, response.status).get("schema") or {}
            failure = declared_failure(response, data, row, params, names.table, schema, secrets)
            if failure is not None:
                raise failure
    except Failure as failure:  # the API may repeat a secret, in its content or its headers
        details = redacted(failure.details, secrets)
        raise Failure(failure.code, redact(failure.message, secrets), details) from None
    return data


def _success(
    response: ApiResponse, row: Row, names: Names, secrets: frozenset[str], encoded: EncodedFields | None
) -> Any:
    if response.file is not None:
        file = response.file
        return {"path": file.path, "size": file.size, "mime_type": file.mime_type, "sha256": file.sha256}
    if row.method in ("HEAD", "OPTIONS") and not response.content:
        return head_data(response, secrets)
    data = None
    declared = declared_response(row, response.status)
    is_content = response.content or admits_nothing(str(declared.get("content_type") or ""))
    if response.status != 204 and is_content:
        is_write = changes_something(row, row.method)
        try:
            data = _data(response, declared, names, encoded, strict=not is_write)
        except Failure:
            if not is_write:
                raise  # else the call was carried out, whatever its answer is
    return with_location(response, row, data, secrets)


def _may_be_failure(data: Any) -> bool:
    """Return True if data have anything by which a success may tell that it is none; every answer is asked."""
    if data.__class__ is not dict:
        return data.__class__ is str and "Fault" in data
    values = [data[key] for key in data.keys() & _ABOUT_FAILURE]
    return any(
        value.lower() in _FAILED_STATES if isinstance(value, str) else value == 0 or isinstance(value, dict | list)
        for value in values
    )


def declared_response(row: Row, status: int) -> Mapping[str, Any]:
    """Return the document's response for a status: its own, that of its range, or the default; else empty.

    A success without one is read as the first that the document declares.
    """
    responses = row.responses
    response = responses.get(str(status))
    if response is None:
        response = responses.get(f"{status // 100}XX") or responses.get("default")
    if response is None and 200 <= status < 300:
        response = first_success(responses)
    return response or {}


def _decode_other_status(
    response: ApiResponse,
    row: Row,
    params: Mapping[str, Any],
    secrets: frozenset[str],
    account: Account | None,
    table: Table,
) -> Any:
    """Return the data of a redirect that is a result in itself, and of what was not modified; else raise Failure."""
    status, location = response.status, response.headers.get("location")
    data = not_modified_data(response, row, params) if status == 304 else None
    if data is not None:
        return data
    is_declared = str(status) in row.responses or f"{status // 100}XX" in row.responses
    is_done = status == 303 and row.method not in ("GET", "HEAD")  # the result of the call is elsewhere
    if location is not None and 300 <= status < 400 and (is_done or is_declared):
        return {"location": redact(location, secrets)}
    from .failures import failure_of_response

    raise failure_of_response(response, row, params, secrets, account, table)


def _data(
    response: ApiResponse, declared: Mapping[str, Any], names: Names, encoded: EncodedFields | None, *, strict: bool
) -> Any:
    content_type = response.headers.get("content-type", "")
    promised, schema = str(declared.get("content_type") or ""), declared.get("schema")
    renaming = names.renaming(schema) if isinstance(schema, Mapping) else None
    form = None if media_type(content_type) == JSON else stream_form(content_type)
    if form is not None:
        return _decode_stream(response, form, renaming)
    if is_multipart(content_type):
        from .sequential import read_multipart

        parts = read_multipart(response.content, content_type)
        if parts is not None:
            return parts
    if is_xml(content_type) and isinstance(schema, Mapping) and (is_xml(promised) or is_json(promised)):
        from .xml import UnreadableXmlError, read_xml

        text = decode_text(response.content, content_type)
        try:
            return read_xml(text, schema, names.table)
        except UnreadableXmlError:
            return text
    return _body_data(response, declared, renaming, encoded, strict=strict)


def _body_data(
    response: ApiResponse,
    declared: Mapping[str, Any],
    renaming: Renaming | None,
    encoded: EncodedFields | None,
    *,
    strict: bool,
) -> Any:
    """Return the data of a content that is one value, under the agent's names, its fields in base64 as text."""
    content_type, promised = response.headers.get("content-type", ""), str(declared.get("content_type") or "")
    data = read_body(response.content, content_type, promised, strict=strict)
    if renaming is not None and renaming.items is None and isinstance(data, list) and is_json_lines(promised):
        return [renaming.convert(item, Way.TO_AGENT) for item in data]
    if "content-disposition" in response.headers and not is_json(content_type):
        return _with_file_name(data, response.headers["content-disposition"])
    if renaming is not None:
        data = renaming.convert(data, Way.TO_AGENT)
    if encoded is None or not (response.content[:1] in _BEGINNINGS or is_json(content_type)):
        return data
    schema = declared.get("schema")
    return encoded.readable(data, schema if isinstance(schema, Mapping) else _UNDECLARED, response.content)


def _with_file_name(data: Any, disposition: str) -> Any:
    """Return bytes with the name that the API has for them."""
    from .files import disposition_name

    name = disposition_name(disposition)
    return {**data, "filename": name} if name and isinstance(data, Mapping) and "mime_type" in data else data


def _decode_stream(response: ApiResponse, form: StreamForm, renaming: Renaming | None) -> list[Any]:
    """Return the values of a stream. The schema is that of a single value, or of the list of all."""
    from .sequential import stream_values

    text = decode_text(response.content, response.headers["content-type"])
    values = stream_values(text, form, complete=not response.cut)
    if renaming is None:
        return values
    if renaming.items is not None:
        renaming = renaming.items
    if form == "events" and "data" not in renaming.fields[Way.TO_AGENT]:
        return [{**event, "data": renaming.convert(event["data"], Way.TO_AGENT)} for event in values]
    return [renaming.convert(value, Way.TO_AGENT) for value in values]
