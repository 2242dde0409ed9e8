"""The errors that an agent sees (structured error codes, sections 4 and 5).

Raise `Failure`; the dispatcher turns it into the failure envelope. Messages say what is wrong, with which parameter,
what was expected and what to do next, and never show file paths, class names or secrets (R-ENV-4).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from .text import escaped_data

UNKNOWN_OUTCOME = "unknown"
"""`details.outcome` of a call that may have been carried out though it failed."""
NOT_PERFORMED = "not_performed"
"""`details.outcome` of a call of which nothing was sent."""
IF_AGREED = "If your user agrees, call it again with "
"""The beginning of the advice with which a message ends; a batch and a plan go on otherwise, and leave it out."""


class CommandError(Exception):
    """What a person asked the adapter's command for cannot be done; the message is one line that says why."""


class Code(StrEnum):
    """The closed set of error codes (R-ERR-1)."""

    MISSING_PARAM = "VALIDATION_MISSING_PARAM"
    INVALID_TYPE = "VALIDATION_INVALID_TYPE"
    INVALID_VALUE = "VALIDATION_INVALID_VALUE"
    UNKNOWN_PARAM = "VALIDATION_UNKNOWN_PARAM"
    UNKNOWN_FIELD = "VALIDATION_UNKNOWN_FIELD"
    READ_ONLY_FIELD = "VALIDATION_READ_ONLY_FIELD"
    INVALID_ENCODING = "VALIDATION_INVALID_ENCODING"
    PAYLOAD_TOO_LARGE = "VALIDATION_PAYLOAD_TOO_LARGE"
    ENDPOINT_MISMATCH = "VALIDATION_ENDPOINT_MISMATCH"
    NOT_FOUND_OPERATION = "NOT_FOUND_OPERATION"
    NOT_FOUND_RESOURCE = "NOT_FOUND_RESOURCE"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    TRUST_LEVEL_INSUFFICIENT = "PERMISSION_TRUST_LEVEL_INSUFFICIENT"
    DANGER_LEVEL_DENIED = "PERMISSION_DANGER_LEVEL_DENIED"
    CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
    TOKEN_INVALID = "TOKEN_INVALID"  # noqa: S105
    TOKEN_EXPIRED = "TOKEN_EXPIRED"  # noqa: S105
    TOKEN_ALREADY_USED = "TOKEN_ALREADY_USED"  # noqa: S105
    TOKEN_SCOPE_MISMATCH = "TOKEN_SCOPE_MISMATCH"  # noqa: S105
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
    QUOTA_PAUSE = "RATE_LIMIT_QUOTA_PAUSE"
    QUOTA_EXHAUSTED = "RATE_LIMIT_QUOTA_EXHAUSTED"
    ALREADY_EXISTS = "CONFLICT_ALREADY_EXISTS"
    VERSION_MISMATCH = "CONFLICT_VERSION_MISMATCH"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class Failure(Exception):
    """An answer of `success: false`. `details` must be JSON and free of secrets.

    `confirmation` stands beside the error of a CONFIRMATION_REQUIRED: token, expires_at, message, reasons.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        details: Mapping[str, Any] | None = None,
        confirmation: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = dict(details or {})
        self.confirmation = confirmation

    @classmethod
    def of(cls, envelope: Mapping[str, Any]) -> Failure:
        """Return the failure of an envelope."""
        error = envelope["error"]
        return cls(Code(error["code"]), error["message"], error.get("details"), envelope.get("confirmation"))

    def envelope(self) -> dict[str, Any]:
        """Return the failure envelope (specification, 5.1); `details` is absent when there are none.

        Unseen characters of values stand there as escapes; what the API answered stays what it is.
        """
        error: dict[str, Any] = {"code": self.code.value, "message": self.message}
        if self.details:
            error["details"] = {
                name: value if name == "upstream" else escaped_data(value) for name, value in self.details.items()
            }
        if self.confirmation is None:
            return {"success": False, "error": error}
        return {"success": False, "error": error, "confirmation": dict(self.confirmation)}


def invalid(name: str, message: str, **details: Any) -> Failure:
    """Build INVALID_VALUE for a parameter."""
    return Failure(Code.INVALID_VALUE, message, {"param_name": name, **details})


def permission_denied(text: str, /, **details: Any) -> Failure:
    """Build PERMISSION_DENIED."""
    return Failure(Code.PERMISSION_DENIED, f"Permission denied: {text}", details)


def too_large(message: str, limit_type: str, limit: float, unit: str, actual: int | None = None) -> Failure:
    """Build PAYLOAD_TOO_LARGE."""
    known = {} if actual is None else {"actual_value": actual}
    details = {"limit_type": limit_type, "limit_value": limit, **known, "unit": unit}
    return Failure(Code.PAYLOAD_TOO_LARGE, message, details)


def response_too_large(limit: int, size: int, kind: str = "response_size", unit: str = "bytes") -> Failure:
    """Build PAYLOAD_TOO_LARGE for a response that cannot be shown."""
    message = f"Payload exceeds {kind} limit of {limit} {unit}: ask for less, such as a smaller page"
    return too_large(message, kind, limit, unit, size)


def unknown_operation(operation: str, candidates: Mapping[str, str], sure: str | None = None) -> Failure:
    """Build NOT_FOUND_OPERATION; `candidates` describe the nearest by name, the best first.

    `sure` is the one that was meant beyond reasonable doubt; without it none is proposed.
    """
    hint = " List the operations with introspect, query 'operations'."
    if sure is not None:
        hint = f" Did you mean '{sure}'?"
    elif candidates:
        hint = " details.candidates has the nearest."
    details: dict[str, Any] = {"operation": operation}
    if candidates:
        details["available"] = list(candidates)
        details["candidates"] = dict(candidates)
    return Failure(Code.NOT_FOUND_OPERATION, f"Unknown operation: '{operation}'.{hint}", details)


def internal_failure(request_id: str) -> Failure:
    """Return the failure of a call that met something unexpected, of which the log says more."""
    return Failure(
        Code.INTERNAL_ERROR,
        "Internal error: the adapter could not finish this call. If it stays, tell the adapter's owner the request_id.",
        {"request_id": request_id},
    )
