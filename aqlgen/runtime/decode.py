# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""From the API's response to data under the agent's names (OpenAPI 3.1, Responses Object; R-SEL-1, R-ERR-2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .bodies import is_json, is_lines, media_type
from .errors import Failure
from .names import Names, Plan, Way
from .reading import read, text_of
from .speech import redact, redacted
from .table import Row
from .wire import ApiResponse

__all__ = ["declared", "decode"]

_EMPTY = frozenset({204, 205, 304})
_TOLD = frozenset({"location", "operation-location", "azure-asyncoperation"})


def decode(
    response: ApiResponse, row: Row, params: Mapping[str, Any], names: Names, secrets: frozenset[str] = frozenset()
) -> Any:
    """Give the data of an answer. Raises Failure when its status tells one, or its body is not what it says it is.

    An answer that misses its declared schema is passed on as it is.
    """
    try:
        return _decoded(response, row, params, names, secrets)
    except Failure as failure:  # whatever the API said, in its content or its headers
        details = redacted(failure.details, secrets)
        raise Failure(failure.code, redact(failure.message, secrets), details) from None


def _decoded(response: ApiResponse, row: Row, params: Mapping[str, Any], names: Names, secrets: frozenset[str]) -> Any:
    status = response.status
    if not 200 <= status < 300:
        return _otherwise(response, row, params, secrets)
    if response.file is not None:
        file = response.file
        return {"path": file.path, "size": file.size, "mime_type": file.mime_type, "sha256": file.sha256}
    if row.method in ("HEAD", "OPTIONS") and not response.content:
        from .heads import allowed, head

        return head(response, secrets) if row.method == "HEAD" else allowed(response)
    data = None if status in _EMPTY or not response.content else _data(response, declared(row, status), names)
    if _TOLD.isdisjoint(response.headers):
        return data
    from .heads import accepted

    return accepted(response, row, data, secrets)


def declared(row: Row, status: int) -> Mapping[str, Any]:
    """Give what the document says of a status: by itself, by its range, or by default; empty when nothing.

    A success that it does not tell of is read as the first that it does.
    """
    responses = row.responses
    found = responses.get(str(status))
    if found is None:
        found = responses.get(f"{status // 100}XX") or responses.get("default")
    if found is None and 200 <= status < 300:
        found = next((responses[one] for one in sorted(responses) if one.startswith("2")), None)
    return found or {}


def _otherwise(response: ApiResponse, row: Row, params: Mapping[str, Any], secrets: frozenset[str]) -> Any:
    """Give the data of a redirect that is an answer in itself, and of what has not changed; else raise Failure."""
    status, location = response.status, response.headers.get("location")
    if status == 304:
        from .heads import unchanged

        data = unchanged(response, row, params)
        if data is not None:
            return data
    done = status == 303 and row.method not in ("GET", "HEAD")  # the call was carried out, and its result is elsewhere
    if location is not None and 300 <= status < 400 and (done or _has(row, status)):
        return {"location": redact(location, secrets)}
    from .statuses import failure_of

    raise failure_of(response, row, params, secrets)


def _has(row: Row, status: int) -> bool:
    return str(status) in row.responses or f"{status // 100}XX" in row.responses


def _data(response: ApiResponse, answer: Mapping[str, Any], names: Names) -> Any:
    told, promised = response.headers.get("content-type", ""), str(answer.get("content_type") or "")
    schema = answer.get("schema")
    plan = names.plan(schema) if isinstance(schema, Mapping) else None
    kind = media_type(told)
    if kind != "application/json":
        from .streams import form_of

        form = form_of(kind)
        if form is not None:
            return _stream(response, form, plan)
        if kind.startswith("multipart/"):
            from .parts import parts_of

            parts = parts_of(response.content, told)
            if parts is not None:
                return parts
        if kind.endswith("xml") and isinstance(schema, Mapping) and _is_data(media_type(promised)):
            from .elements import Unreadable, data_of

            try:
                return data_of(text_of(response.content, told, kind), schema, names.table)
            except Unreadable:
                return text_of(response.content, told, kind)
    data = read(response.content, told, promised)
    if plan is not None and plan.items is None and isinstance(data, list) and is_lines(media_type(promised)):
        return [plan.convert(one, Way.TO_AGENT) for one in data]
    if "content-disposition" in response.headers and not is_json(kind):
        return _named(data, response.headers["content-disposition"])
    return data if plan is None else plan.convert(data, Way.TO_AGENT)


def _named(data: Any, disposition: str) -> Any:
    """Give bytes with the name that the API has for them."""
    from .files import disposition_name

    name = disposition_name(disposition)
    return {**data, "filename": name} if name and isinstance(data, Mapping) and "mime_type" in data else data


def _is_data(promised: str) -> bool:
    return promised.endswith("xml") or is_json(promised)


def _stream(response: ApiResponse, form: str, plan: Plan | None) -> list[Any]:
    """Give the values of a stream. The schema is that of one of them, or of the list of all."""
    from .streams import values

    found = values(text_of(response.content, response.headers["content-type"]), form, whole=not response.cut)
    if plan is None:
        return found
    if plan.items is not None:
        plan = plan.items
    if form == "events" and "data" not in plan.fields[Way.TO_AGENT]:
        return [{**event, "data": plan.convert(event["data"], Way.TO_AGENT)} for event in found]
    return [plan.convert(one, Way.TO_AGENT) for one in found]
