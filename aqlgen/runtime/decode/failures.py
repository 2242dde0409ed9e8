# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""From an API's response that is no success to a failure with its code (structured error codes, section 6; R-ERR-2)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import UNKNOWN_OUTCOME, Code, Failure
from ..redaction import redact
from ..table import Row, Table
from ..text import folded, leaks, line
from ..wire import Account, ApiResponse
from .api_error import ApiError, kind_of_fault, read_error
from .field_errors import field_errors
from .headers import quotas, retry_after, seconds_until_reset
from .outcome import changes_something
from .upstream import upstream

__all__ = ["failure_of_response"]

_CODES = {
    401: Code.PERMISSION_DENIED,
    402: Code.PERMISSION_DENIED,
    403: Code.PERMISSION_DENIED,
    404: Code.NOT_FOUND_RESOURCE,
    407: Code.INTERNAL_ERROR,
    408: Code.INTERNAL_ERROR,
    409: Code.VERSION_MISMATCH,
    410: Code.NOT_FOUND_RESOURCE,
    412: Code.VERSION_MISMATCH,
    413: Code.PAYLOAD_TOO_LARGE,
    421: Code.INTERNAL_ERROR,
    423: Code.PERMISSION_DENIED,
    425: Code.RATE_LIMIT_EXCEEDED,
    426: Code.INTERNAL_ERROR,
    429: Code.RATE_LIMIT_EXCEEDED,
    451: Code.PERMISSION_DENIED,
}
_REASONS = {
    402: "the API asks for a payment, or one was declined",
    423: "the resource is locked",
    451: "the API withholds it for legal reasons",
}
_EXISTS = re.compile(r"already[_ -]?exist|duplicat|uniq|taken", re.IGNORECASE)
"""Words of a conflict with something that is there already."""
_UNSURE = frozenset({*range(300, 400), 408, *range(500, 600)} - {304, 501, 505, 511})
"""Statuses after which a call may have been carried out: a server or gateway failed on its way, or leads elsewhere."""
_PUT_OFF = frozenset({401, 403, 413, 425, 429})
"""Statuses below 500 after which the same call may succeed later (RFC 9110, 10.2.3)."""
_VERSIONS = frozenset({"ifmatch", "ifunmodifiedsince"})
"""Parameters by which a call is meant for one version, without signs."""
_SCOPE = re.compile(r'\bscope="?([^",]+)"?', re.IGNORECASE)
_DEFAULT_WAIT = 60  # seconds, when the API limits calls and does not say for how long
_SHORT_WAIT = 5  # seconds, when the API is not ready for a call yet


def failure_of_response(
    response: ApiResponse,
    row: Row,
    params: Mapping[str, Any],
    secrets: frozenset[str] = frozenset(),
    account: Account | None = None,
    table: Table | None = None,
) -> Failure:
    """Build the Failure of a response that is no success. What the API says of it is data, in `details.upstream`.

    `account` says which credential the request had. With the table, fields are named. What may have been carried out
    has an unknown `details.outcome`.
    """
    status = response.status
    response = replace(response, headers={name: redact(value, secrets) for name, value in response.headers.items()})
    error = read_error(response, secrets)  # masked before anything is cut: a part of a secret is not found any more
    code = _CODES.get(status, Code.INVALID_VALUE if 400 <= status < 500 else Code.INTERNAL_ERROR)
    details: dict[str, Any] = {"http_status": status}
    wait = _wait_seconds(response.headers) if status in _PUT_OFF or status >= 500 else None
    if wait is not None:
        details["retry_after_seconds"] = wait
    problems = field_errors(row, {} if table is None else table.types, params, error, status)
    if code is Code.INVALID_VALUE:
        code, message = _invalid(row, error, problems, status, details)
    elif status in _REASONS:
        details["reason"] = _REASONS[status]
        message = f"Permission denied: {_REASONS[status]} (HTTP {status})"
    elif code is Code.PERMISSION_DENIED:
        message = _denied(response, status, details, account)
    elif code is Code.NOT_FOUND_RESOURCE:
        message = _not_found(row, params, details)
    elif code is Code.RATE_LIMIT_EXCEEDED:
        message = _limited(response, status, details)
    elif code is Code.PAYLOAD_TOO_LARGE:
        details["limit_type"] = "request_size"
        message = f"Payload exceeds request_size limit of the API (HTTP {status}): send less in one call"
    elif code is Code.VERSION_MISMATCH:
        code, message = _conflict(row, params, error, status)
    else:
        message = _internal(response, status, details)
    problems = [problem for problem in problems if problem["upstream"].keys() - {"name"}]
    if any("param_name" in problem or "name" in problem["upstream"] for problem in problems):
        details["problems"] = problems
    content_type = response.headers.get("content-type", "") if response.content else ""
    headers = response.headers
    if 300 <= status < 400:  # of where a redirect leads, only the host is for an agent
        headers = {name: value for name, value in headers.items() if name not in ("location", "link")}
    details["upstream"] = upstream(status, content_type, error.api_code, error.message, error.body, headers)
    if error.message or error.body:
        message = f"{message.rstrip('.')}. The API's own words are in details.upstream."
    if leaks(message):
        message = "The API refused the request, see details"
    if (status in _UNSURE or response.uncertain) and changes_something(row, row.method):
        details["outcome"] = UNKNOWN_OUTCOME
    return Failure(code, message, details)


def _conflict(row: Row, params: Mapping[str, Any], error: ApiError, status: int) -> tuple[Code, str]:
    """Return what kind of conflict it is: something is there already, or something changed in between.

    A create that was sent without the version of anything clashes with what is there, unless a code says otherwise.
    """
    conditions = {folded(item.wire) for name, item in row.parameters.items() if name in params}
    says_so = _EXISTS.search(error.evidence) or error.api_code.lower().endswith("exists")
    if "ifnonematch" in conditions if status == 412 else says_so and row.family != "delete":
        return _exists(row)
    if status == 412 or not conditions.isdisjoint(_VERSIONS):
        message = f"Conflict: '{row.resource}' was changed by someone else. Read it again, then make the change anew."
        return Code.VERSION_MISMATCH, message
    message = f"Conflict: the API refused '{row.name}', since it clashes with the present state of '{row.resource}'. "
    if row.family == "create" and all("conflict" in code.lower() or code.isdigit() for code in error.codes):
        return Code.ALREADY_EXISTS, f"{message}It may exist already: look for it, then decide anew."
    return Code.VERSION_MISMATCH, f"{message}Read it again, then decide anew."


def _exists(row: Row) -> tuple[Code, str]:
    message = f"Conflict: the API refused '{row.name}', since such a '{row.resource}' exists already"
    return Code.ALREADY_EXISTS, message


def _invalid(
    row: Row, error: ApiError, problems: list[dict[str, Any]], status: int, details: dict[str, Any]
) -> tuple[Code, str]:
    named = [problem for problem in problems if "param_name" in problem]
    if status == 428:
        return _unconditional(row, details)
    if status in (400, 422) and row.family in ("create", "update") and any(map(_EXISTS.search, error.codes)):
        return _exists(row)
    code = kind_of_fault(error.evidence, error.codes) if status in (400, 422) else Code.INVALID_VALUE
    exact = [problem for problem in named if problem["code"] == code.value]
    name = next((problem["param_name"] for problem in (*exact, *named)), "")
    if code is Code.MISSING_PARAM and exact:
        details |= {"param_name": name, "operation": row.name}
        return code, f"Missing required parameter '{name}', says the API"
    if code is Code.UNKNOWN_PARAM and error.faults:
        unknown = [line(fault.name, 100) for fault in error.faults[:20] if fault.steps]
        details |= {"operation": row.name, "unknown_params": unknown, "valid_params": list(row.parameters)}
        return code, f"Unknown parameter(s) for operation '{row.name}', says the API"
    code = Code.INVALID_TYPE if code is Code.INVALID_TYPE else Code.INVALID_VALUE
    if name:
        details["param_name"] = name
        return code, f"Parameter '{name}' was refused by the API (HTTP {status})"
    if status in (400, 422):
        return code, f"The API refused the parameters of '{row.name}' (HTTP {status})"
    return code, f"The API refused the request of '{row.name}' (HTTP {status})"


def _unconditional(row: Row, details: dict[str, Any]) -> tuple[Code, str]:
    """Return what to give where the API takes a call only with the version that it is meant for (RFC 6585, 3)."""
    name = next((name for name, item in row.parameters.items() if folded(item.wire) == "ifmatch"), "")
    if not name:
        return Code.INVALID_VALUE, f"The API takes '{row.name}' only with a condition (HTTP 428)"
    details |= {"param_name": name, "operation": row.name}
    return Code.MISSING_PARAM, f"Missing required parameter '{name}': read '{row.resource}' first and give its ETag"


def _denied(response: ApiResponse, status: int, details: dict[str, Any], account: Account | None) -> str:
    scope = _SCOPE.search(response.headers.get("www-authenticate", ""))
    needed = scope[1].strip() if scope else response.headers.get("x-accepted-oauth-scopes", "").strip()
    if needed:
        details["required_scope"] = line(needed, 200)
    reason = "the API did not accept the credential" if status == 401 else "the credential does not allow this"
    if account is not None:
        details["credential_sent"] = account.is_sent
        reason = reason if account.is_sent else "the API asks for a credential"
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


def _limited(response: ApiResponse, status: int, details: dict[str, Any]) -> str:
    wait = details.setdefault("retry_after_seconds", _SHORT_WAIT if status == 425 else _DEFAULT_WAIT)
    if status == 425:
        return f"The API is not ready for this call yet: try again in {wait} seconds"
    quota = min(quotas(response.headers), key=lambda quota: quota.remaining, default=None)
    if quota is not None:
        details |= {"remaining": quota.remaining} | ({"limit": quota.limit} if quota.limit else {})
    return f"API rate limit exceeded: try again in {wait} seconds"


def _internal(response: ApiResponse, status: int, details: dict[str, Any]) -> str:
    if 300 <= status < 400:
        if "location" in response.headers:
            details["redirected_to"] = line(_host_of(response.headers["location"]), 200)
            return f"Internal error: the API redirected the request elsewhere, which is not followed (HTTP {status})"
        return f"Internal error: the API answered with a status of no meaning here (HTTP {status})"
    if 400 <= status < 500 and status != 408:
        return f"Internal error: the API or a proxy does not take requests of this form (HTTP {status})"
    return f"Internal error: the API failed (HTTP {status})"


def _host_of(location: str) -> str:
    """Return the host of a redirect: the rest of an address may hold what is not for an agent."""
    scheme, mark, rest = location.strip().partition("//")
    return f"{scheme}//{rest.partition('/')[0].partition('?')[0].rpartition('@')[2]}"[:200] if mark else "the same host"


def _wait_seconds(headers: Mapping[str, str]) -> int | None:
    wait = retry_after(headers.get("retry-after", ""), time.time())
    if wait is None:
        spent = [quota for quota in quotas(headers) if quota.remaining <= 0 and quota.reset]
        wait = max((seconds_until_reset(quota.reset) or 0 for quota in spent), default=None)
    return wait
