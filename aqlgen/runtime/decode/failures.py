# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""From an API's response that is no success to a failure with its code (structured error codes, section 6; R-ERR-2)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import Code, Failure
from ..redaction import redact
from ..table import Row
from ..text import folded, leaks, line
from ..wire import Account, ApiResponse
from .errors import ApiError, read_error
from .headers import quotas, retry_after, seconds_until_reset
from .upstream import upstream

__all__ = ["failure_of_response"]

_CODES = {
    401: Code.PERMISSION_DENIED,
    403: Code.PERMISSION_DENIED,
    404: Code.NOT_FOUND_RESOURCE,
    408: Code.INTERNAL_ERROR,
    409: Code.ALREADY_EXISTS,
    410: Code.NOT_FOUND_RESOURCE,
    412: Code.VERSION_MISMATCH,
    429: Code.RATE_LIMIT_EXCEEDED,
}
_SCOPE = re.compile(r'\bscope="?([^",]+)"?', re.IGNORECASE)
_DEFAULT_WAIT = 60  # seconds, when the API limits calls and does not say for how long


def failure_of_response(
    response: ApiResponse,
    row: Row,
    params: Mapping[str, Any],
    secrets: frozenset[str] = frozenset(),
    account: Account | None = None,
) -> Failure:
    """Build the Failure of a response that is no success. What the API says of it is data, in `details.upstream`.

    `account` says which credential the request had.
    """
    status = response.status
    response = replace(response, headers={name: redact(value, secrets) for name, value in response.headers.items()})
    error = read_error(response, secrets)  # masked before anything is cut: a part of a secret is not found any more
    code = _CODES.get(status, Code.INVALID_TYPE if 400 <= status < 500 else Code.INTERNAL_ERROR)
    details: dict[str, Any] = {"http_status": status}
    if code is Code.INVALID_TYPE:
        code, message = _invalid(row, error, status, details)
    elif code is Code.PERMISSION_DENIED:
        message = _denied(response, status, details, account)
    elif code is Code.NOT_FOUND_RESOURCE:
        message = _not_found(row, params, details)
    elif code is Code.RATE_LIMIT_EXCEEDED:
        message = _limited(response, details)
    elif code is Code.ALREADY_EXISTS:
        message = f"Conflict: the API refused '{row.name}', since it clashes with the present state of '{row.resource}'"
    elif code is Code.VERSION_MISMATCH:
        message = f"Conflict: '{row.resource}' was changed by someone else. Read it again, then make the change anew."
    else:
        message = _internal(response, status, details)
    content_type = response.headers.get("content-type", "") if response.content else ""
    details["upstream"] = upstream(status, content_type, error.api_code, error.message)
    if error.message:
        message = f"{message.rstrip('.')}. The API's own words are in details.upstream."
    if leaks(message):
        message = "The API refused the request, see details"
    return Failure(code, message, details)


def _invalid(row: Row, error: ApiError, status: int, details: dict[str, Any]) -> tuple[Code, str]:
    names = [line(name, 100) for name in (_agent_name(row, parameter) for parameter in error.parameters) if name]
    code = error.code if status in (400, 422) else Code.INVALID_TYPE
    if code is Code.MISSING_PARAM and names:
        details |= {"param_name": names[0], "operation": row.name}
        return code, f"Missing required parameter '{_own_part(row, names[0])}', says the API"
    if code is Code.UNKNOWN_PARAM and error.parameters:
        unknown = [line(parameter, 100) for parameter in error.parameters[:20]]
        details |= {"operation": row.name, "unknown_params": unknown, "valid_params": list(row.parameters)}
        return code, f"Unknown parameter(s) for operation '{row.name}', says the API"
    if names:
        details["param_name"] = names[0]
        return Code.INVALID_TYPE, f"Parameter '{_own_part(row, names[0])}' was refused by the API (HTTP {status})"
    if status in (400, 422):
        return code, f"The API refused the parameters of '{row.name}' (HTTP {status})"
    return Code.INVALID_TYPE, f"The API refused the request of '{row.name}' (HTTP {status})"


def _agent_name(row: Row, name: str) -> str | None:
    """Return the agent's name of what the API calls `name`: a parameter, or a field of one."""
    first, _, rest = name.partition(".")
    first = first.partition("[")[0]
    wanted = folded(first)
    for parameter in row.parameters.values():
        if first in (parameter.wire, parameter.name) or wanted in (folded(parameter.wire), folded(parameter.name)):
            return f"{parameter.name}.{rest}" if rest else parameter.name
    body = row.body
    if body is not None and body.shape == "whole" and body.parameter is not None:
        for field in _fields(row, body.parameter):
            if folded(field) == wanted:
                return f"{body.parameter}.{field}.{rest}" if rest else f"{body.parameter}.{field}"
    return None


def _own_part(row: Row, name: str) -> str:
    """Return the part of a path that the adapter declares itself: the rest is in the words of the API."""
    parameter, _, rest = name.partition(".")
    field = rest.partition(".")[0]
    return f"{parameter}.{field}" if field in _fields(row, parameter) else parameter


def _fields(row: Row, parameter: str) -> list[str]:
    schema = row.parameters[parameter].schema if parameter in row.parameters else {}
    return list(schema.get("properties", {}))


def _denied(response: ApiResponse, status: int, details: dict[str, Any], account: Account | None) -> str:
    scope = _SCOPE.search(response.headers.get("www-authenticate", ""))
    needed = scope[1].strip() if scope else response.headers.get("x-accepted-oauth-scopes", "").strip()
    if needed:
        details["required_scope"] = line(needed, 200)
    wait = _wait_seconds(response)
    if wait is not None:
        details["retry_after_seconds"] = wait
    reason = "the API did not accept the credential" if status == 401 else "the credential does not allow this"
    if account is not None and not account.is_sent:
        reason = "the API asks for a credential"
    if account is not None:
        details["credential_sent"] = account.is_sent
    details["reason"] = reason
    scope_text = ", it needs the scope in details.required_scope" if needed else ""
    return f"Permission denied: {reason}{scope_text}" + (f". {account.text}" if account is not None else "")


def _not_found(row: Row, params: Mapping[str, Any], details: dict[str, Any]) -> str:
    details["resource_type"] = row.resource
    identifiers = [field for field in row.parameters.values() if field.location == "path" and field.name in params]
    if not identifiers or identifiers[-1].sensitive:
        return f"Resource '{row.resource}' not found"
    details["resource_id"] = str(params[identifiers[-1].name])[:200]
    return f"Resource '{row.resource}' not found: '{details['resource_id']}'"


def _limited(response: ApiResponse, details: dict[str, Any]) -> str:
    wait = _wait_seconds(response)
    details["retry_after_seconds"] = _DEFAULT_WAIT if wait is None else wait
    for key in ("limit", "remaining"):
        value = _limit_header(response, key)
        if value is not None:
            details[key] = value
    return f"API rate limit exceeded: try again in {details['retry_after_seconds']} seconds"


def _internal(response: ApiResponse, status: int, details: dict[str, Any]) -> str:
    wait = _wait_seconds(response) if status >= 500 else None
    if wait is not None:
        details["retry_after_seconds"] = wait
    if 300 <= status < 400:
        if "location" in response.headers:
            details["redirected_to"] = line(_host_of(response.headers["location"]), 200)
            return f"Internal error: the API redirected the request elsewhere, which is not followed (HTTP {status})"
        return f"Internal error: the API answered with a status of no meaning here (HTTP {status})"
    return f"Internal error: the API failed (HTTP {status})"


def _host_of(location: str) -> str:
    """Return the host of a redirect: the rest of an address may hold what is not for an agent."""
    scheme, mark, rest = location.strip().partition("//")
    return f"{scheme}//{rest.partition('/')[0].partition('?')[0].rpartition('@')[2]}"[:200] if mark else "the same host"


def _wait_seconds(response: ApiResponse) -> int | None:
    header = response.headers.get("retry-after")
    wait = None if header is None else retry_after(header, time.time())
    if wait is None:
        spent = (quota for quota in quotas(response.headers) if quota.remaining <= 0 and quota.reset)
        resets = (seconds_until_reset(quota.reset) for quota in spent)
        wait = max((seconds for seconds in resets if seconds is not None), default=None)
    return wait


def _limit_header(response: ApiResponse, key: str) -> int | None:
    """Return a rate limit header's number, under any of the names in use."""
    for prefix in ("x-ratelimit-", "ratelimit-", "x-rate-limit-"):
        value = response.headers.get(prefix + key, "").strip()
        if value.isascii() and value.isdigit() and len(value) < 16:
            return int(value)
    return None
