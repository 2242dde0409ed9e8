"""From an API's error response to a failure, with its code (structured error codes, 6) and its fields (R-ERR-2)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..errors import UNKNOWN_OUTCOME, Code, Failure
from ..redaction import redact
from ..schema import MISSING, Types, at, union_of
from ..table import ADAPTER, Row, Table
from ..text import bounded, folded, leaks, line
from ..wire import Account, ApiResponse, changes_something
from .api_error import PLACES, WRAPPERS, ApiError, Fault, kind_of_fault, read_error
from .headers import quotas, retry_after, seconds_until_reset
from .upstream import upstream

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
_OF_CONTENT = frozenset({400, 409, 412, 422, 428})
"""Statuses by which an API refuses the content of a request, not its sender, and not by its own failure."""
_MAX_PROBLEMS = 20
_MAX_WORDS = 200
_DEFAULT_WAIT = 60  # seconds, when the API limits calls and does not say for how long
_SHORT_WAIT = 5  # seconds, when the API is not ready for a call yet


_Answer: TypeAlias = tuple[Code, str, dict[str, Any]]
"""A code, the adapter's own sentence, and details."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A response that is not a success, with what is known of the call; `problems` are the fields that it is about."""

    status: int
    headers: Mapping[str, str]
    row: Row
    params: Mapping[str, Any]
    error: ApiError
    problems: list[dict[str, Any]]
    account: Account | None


def failure_of_response(
    response: ApiResponse,
    row: Row,
    params: Mapping[str, Any],
    secrets: frozenset[str] = frozenset(),
    account: Account | None = None,
    table: Table | None = None,
) -> Failure:
    """Build the Failure of a response that is not a success. What the API says of it is data, in `details.upstream`.

    `account` says which credential the request had. With the table, fields are named. What may have been carried out
    has an unknown `details.outcome`.
    """
    status = response.status
    headers = {name: redact(value, secrets) for name, value in response.headers.items()}
    # masked before anything is cut: a part of a secret is not found any more
    error = read_error(replace(response, headers=headers), secrets)
    problems = _field_errors(row, {} if table is None else table.types, params, error, status)
    rule = _RULES.get(status, _invalid if 400 <= status < 500 else _internal)
    code, message, added = rule(_Refusal(status, headers, row, params, error, problems, account))
    details = {"http_status": status, **added}
    wait = _wait_seconds(headers) if status in _PUT_OFF or status >= 500 else None
    if wait is not None:
        details["retry_after_seconds"] = wait
    told_problems = _told_problems(problems)
    if told_problems:
        details["problems"] = told_problems
    content_type = headers.get("content-type", "") if response.content else ""
    shown = _told_headers(headers, status)
    details["upstream"] = upstream(status, content_type, error.api_code, error.message, error.body, shown)
    if error.message or error.body:
        message = f"{message.rstrip('.')}. The API's own words are in details.upstream."
    if (status in _UNSURE or response.uncertain) and changes_something(row, row.method):
        details["outcome"] = UNKNOWN_OUTCOME
    return Failure(code, "The API refused the request, see details" if leaks(message) else message, details)


def _told_problems(problems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the problems of which the API says more than a name, if any of them is about a name."""
    worded = [problem for problem in problems if problem["upstream"].keys() - {"name"}]
    return worded if any("param_name" in problem or "name" in problem["upstream"] for problem in worded) else []


def _told_headers(headers: Mapping[str, str], status: int) -> Mapping[str, str]:
    """Return the headers to show; of where a redirect leads, only the host is for an agent (`redirected_to`)."""
    hidden = ("location", "link") if 300 <= status < 400 else ()
    return {name: value for name, value in headers.items() if name not in hidden}


def _wait_seconds(headers: Mapping[str, str]) -> int | None:
    wait = retry_after(headers.get("retry-after", ""), time.time())
    if wait is None:
        spent = [quota for quota in quotas(headers) if quota.remaining <= 0 and quota.reset]
        wait = max((seconds_until_reset(quota.reset) or 0 for quota in spent), default=None)
    return wait


# The parameters and fields that an error is about, by names that the table declares


def _field_errors(
    row: Row, types: Types, params: Mapping[str, Any], error: ApiError, status: int
) -> list[dict[str, Any]]:
    """Return the single faults: `param_name` is the agent's own name, `upstream` what the API says of it.

    A name that a text only quotes is that of a parameter where the API refuses the request for its content. What a call
    has given is not missing, unless a code says so.
    """
    faults = (fault for fault in error.faults if fault.listed or status in _OF_CONTENT)
    problems: list[dict[str, Any]] = []
    for fault in faults:
        problem = _problem(row, types, params, error, fault)
        if problem and problem not in problems:
            problems.append(problem)
    return problems[:_MAX_PROBLEMS]


def _problem(row: Row, types: Types, params: Mapping[str, Any], error: ApiError, fault: Fault) -> dict[str, Any]:
    """Return a fault as a problem of the call; empty if it is about nothing."""
    evidence = f"{fault.message} {fault.code}" if fault.listed else error.evidence
    kind = kind_of_fault(evidence, (fault.code,))
    name = _agent_name(row, types, fault)
    if not name and not (fault.listed and (fault.message + fault.name)):
        return {}
    by_words = kind is Code.MISSING_PARAM and kind_of_fault(fault.code, ()) is not kind
    if by_words and name and at(params, name.split(".")) not in (MISSING, None, ""):
        kind = Code.INVALID_VALUE
    words = {"name": fault.name, "code": fault.code, "message": fault.message}
    quoted = {key: bounded(text, _MAX_WORDS) for key, text in words.items() if text}
    return {"code": kind.value, **({"param_name": name} if name else {}), "upstream": quoted}


def _agent_name(row: Row, types: Types, fault: Fault) -> str:
    """Return the agent's name of the parameter, or of the field of `input`, that a fault is in; "" if there is none."""
    place = fault.place
    for number, step in enumerate(fault.steps):
        steps = (step,) if step in WRAPPERS else (".".join(fault.steps[number:]), step)  # `file.csv` may be one name
        name = next(filter(None, (_named_in(row, types, place, each) for each in steps)), "")
        if name or step not in WRAPPERS:
            return name
        place = step if step in PLACES else place or "body"
    return ""


def _named_in(row: Row, types: Types, place: str, step: str) -> str:
    """Return the parameter or the field that has a name in any spelling, first one of that place.

    APIs do not always tell the path and the query of an address apart. Of an operation with a body, a parameter of the
    path is meant only where the API says so.
    """
    of_path = place in ("path", "query") or (not place and row.body is None)
    alike = [
        (location, name)
        for name, parameter in row.parameters.items()
        for location in [parameter.location]
        if location != ADAPTER and folded(step) in (folded(parameter.wire), folded(name))
    ]
    alike = [(location, name) for location, name in alike if location != "path" or of_path]
    alike += [("body", name) for name in _fields(row, types, step)]
    return min(alike, key=lambda entry: entry[0] != place, default=("", ""))[1]


def _fields(row: Row, types: Types, step: str) -> Iterator[str]:
    """Yield the fields of that name in a parameter that is the whole body, or that holds further fields of it."""
    whole = row.body.parameter if row.body is not None and row.body.shape == "whole" else None
    for name, parameter in row.parameters.items():
        if name == whole or parameter.location == "body_rest":
            fields = union_of(types, parameter.schema).properties.items()
            yield from (f"{name}.{key}" for key, (wire, _) in fields if folded(step) in (folded(wire), folded(key)))


# One rule for each kind of status


def _conflict(refusal: _Refusal) -> _Answer:
    """Return the kind of conflict: something is there already, or something changed in between.

    A create that was sent without the version of anything clashes with what is there, unless a code says otherwise.
    """
    row, error = refusal.row, refusal.error
    values = {folded(item.wire): refusal.params.get(name) for name, item in row.parameters.items()}
    says_so = _EXISTS.search(error.evidence) or error.api_code.lower().endswith("exists")
    if values.get("ifnonematch") == "*" if refusal.status == 412 else says_so and row.family != "delete":
        return _exists(row)
    if refusal.status == 412 or any(map(values.get, _VERSIONS)):
        message = f"Conflict: '{row.resource}' was changed by someone else. Read it again, then make the change again."
        return Code.VERSION_MISMATCH, message, {}
    message = f"Conflict: the API refused '{row.name}', since it clashes with the present state of '{row.resource}'. "
    if "create" in (row.family, row.verb) and all("conflict" in code.lower() or code.isdigit() for code in error.codes):
        return Code.ALREADY_EXISTS, f"{message}It may exist already: look for it, then decide.", {}
    return Code.VERSION_MISMATCH, f"{message}Read it again, then decide.", {}


def _exists(row: Row) -> _Answer:
    message = f"Conflict: the API refused '{row.name}', since such a '{row.resource}' exists already"
    return Code.ALREADY_EXISTS, message, {}


def _unacceptable(refusal: _Refusal) -> _Answer:
    """Return the parameter that an API does not accept, and whether it is missing, unknown or of another type."""
    row, error = refusal.row, refusal.error
    if {"create", "update"} & {row.family, row.verb} and any(map(_EXISTS.search, error.codes)):
        return _exists(row)
    code = kind_of_fault(error.evidence, error.codes)
    exact = (problem for problem in refusal.problems if problem["code"] == code.value)
    missing = [problem["param_name"] for problem in exact if "param_name" in problem]
    if code is Code.MISSING_PARAM and missing:
        details = {"param_name": missing[0], "operation": row.name}
        return code, f"Missing required parameter '{missing[0]}', says the API", details
    if code is Code.UNKNOWN_PARAM and error.faults:
        unknown = [line(fault.name, 100) for fault in error.faults[:20] if fault.steps]
        details = {"operation": row.name, "unknown_params": unknown, "valid_params": list(row.parameters)}
        return code, f"Unknown parameter(s) for operation '{row.name}', says the API", details
    return _invalid(refusal, code if code is Code.INVALID_TYPE else Code.INVALID_VALUE)


def _invalid(refusal: _Refusal, code: Code = Code.INVALID_VALUE) -> _Answer:
    named = [problem for problem in refusal.problems if "param_name" in problem]
    named.sort(key=lambda problem: problem["code"] != code.value)
    if named:
        name = named[0]["param_name"]
        return code, f"Parameter '{name}' was refused by the API (HTTP {refusal.status})", {"param_name": name}
    refused = "parameters" if refusal.status in (400, 422) else "request"
    return code, f"The API refused the {refused} of '{refusal.row.name}' (HTTP {refusal.status})", {}


def _unconditional(refusal: _Refusal) -> _Answer:
    """Return the parameter of the version where the API takes a call only with one (RFC 6585, 3)."""
    row = refusal.row
    name = next((name for name, item in row.parameters.items() if folded(item.wire) == "ifmatch"), "")
    if not name:
        return _invalid(refusal)
    message = f"Missing required parameter '{name}': read '{row.resource}' first and give its ETag"
    return Code.MISSING_PARAM, message, {"param_name": name, "operation": row.name}


def _denied(refusal: _Refusal) -> _Answer:
    account, details = refusal.account, dict[str, Any]()
    scope = _SCOPE.search(refusal.headers.get("www-authenticate", ""))
    needed = scope[1].strip() if scope else refusal.headers.get("x-accepted-oauth-scopes", "").strip()
    if needed:
        details["required_scope"] = line(needed, 200)
    reason = "the API did not accept the credential" if refusal.status == 401 else "the credential does not allow this"
    if account is not None:
        details["credential_sent"] = account.is_sent
        reason = reason if account.is_sent else "the API asks for a credential"
    scope_text = ", it needs the scope in details.required_scope" if needed else ""
    message = f"Permission denied: {reason}{scope_text}" + (f". {account.text}" if account is not None else "")
    return Code.PERMISSION_DENIED, message, details | {"reason": reason}


def _withheld(refusal: _Refusal) -> _Answer:
    reason = _REASONS[refusal.status]
    message = f"Permission denied: {reason} (HTTP {refusal.status})"
    return Code.PERMISSION_DENIED, message, {"reason": reason}


def _not_found(refusal: _Refusal) -> _Answer:
    row, params = refusal.row, refusal.params
    details = {"resource_type": row.resource}
    identifiers = [field for field in row.parameters.values() if field.location == "path" and field.name in params]
    identifiers.sort(key=lambda field: row.path.find(f"{{{field.wire}}}"))
    if not identifiers or identifiers[-1].sensitive:
        return Code.NOT_FOUND_RESOURCE, f"Resource '{row.resource}' not found", details
    identifier = str(params[identifiers[-1].name])[:200]
    message = f"Resource '{row.resource}' not found: '{identifier}'"
    return Code.NOT_FOUND_RESOURCE, message, details | {"resource_id": identifier}


def _too_large(refusal: _Refusal) -> _Answer:
    message = f"Payload exceeds request_size limit of the API (HTTP {refusal.status}): send less in one call"
    return Code.PAYLOAD_TOO_LARGE, message, {"limit_type": "request_size"}


def _limited(refusal: _Refusal) -> _Answer:
    wait = _wait_seconds(refusal.headers)
    if refusal.status == 425:  # not ready for the call yet
        wait = _SHORT_WAIT if wait is None else wait
    details = {"retry_after_seconds": _DEFAULT_WAIT if wait is None else wait}
    quota = min(quotas(refusal.headers), key=lambda quota: quota.remaining, default=None)
    if quota is not None:
        details |= {"remaining": quota.remaining} | ({"limit": quota.limit} if quota.limit else {})
    message = f"API rate limit exceeded: try again in {details['retry_after_seconds']} seconds"
    return Code.RATE_LIMIT_EXCEEDED, message, details


def _redirected(refusal: _Refusal) -> _Answer:
    """Return the host of a redirect: the rest of an address may hold what is not for an agent."""
    scheme, mark, rest = refusal.headers["location"].strip().partition("//")
    host = f"{scheme}//{rest.partition('/')[0].partition('?')[0].rpartition('@')[2]}" if mark else "the same host"
    text = "the API redirected the request elsewhere, which is not followed"
    return Code.INTERNAL_ERROR, f"Internal error: {text} (HTTP {refusal.status})", {"redirected_to": line(host, 200)}


def _internal(refusal: _Refusal) -> _Answer:
    status = refusal.status
    if 300 <= status < 400 and "location" in refusal.headers:
        return _redirected(refusal)
    text = "the API failed"
    if 300 <= status < 400:
        text = "the API answered with a status of no meaning here"
    elif 400 <= status < 500 and status != 408:
        text = "the API or a proxy does not take requests of this form"
    return Code.INTERNAL_ERROR, f"Internal error: {text} (HTTP {status})", {}


_RULES: Mapping[int, Callable[[_Refusal], _Answer]] = {
    400: _unacceptable,
    401: _denied,
    402: _withheld,
    403: _denied,
    404: _not_found,
    407: _internal,
    408: _internal,
    409: _conflict,
    410: _not_found,
    412: _conflict,
    413: _too_large,
    421: _internal,
    422: _unacceptable,
    423: _withheld,
    425: _limited,
    426: _internal,
    428: _unconditional,
    429: _limited,
    451: _withheld,
}
"""The rule of each status that has one; any other is that of a refused request below 500, else a failure of the API."""
