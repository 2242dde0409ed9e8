# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What is said when no token can be had, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import Code, Failure
from .oauth import Refused
from .per_user import CLIENT
from .speech import bounded, leaks, redact

if TYPE_CHECKING:
    from .secrecy import Secrets
    from .ways import Way, Ways

__all__ = ["denied", "unreachable"]


def denied(name: str, ways: Ways, seen: Secrets, way: Way, refused: Refused) -> Failure:
    """PERMISSION_DENIED of a refusal by the token endpoint, with the variables to look after."""
    code = bounded(redact(refused.error, seen.all), 60)
    reason = f"the authorization server gave no token ({code or f'HTTP {refused.status}'})"
    details: dict[str, Any] = {"reason": reason, "grant": way.grant, "missing": []}
    if refused.error:
        details["oauth_error"] = code
    told = bounded(redact(refused.told, seen.all), 300)
    message = f"Permission denied: {reason}. {_advice(name, ways, way, refused.error)}"
    if told:
        details["upstream_error"] = told
        if not leaks(told):
            message = f"{message} The server says: {told}"
    if leaks(message):
        message = "Permission denied: the authorization server gave no token, see details"
    return Failure(Code.PERMISSION_DENIED, message, details)


def unreachable(problem: str) -> Failure:
    """INTERNAL_ERROR of an authorization server that gave no usable answer; `problem` is the end of a sentence."""
    reason = f"the authorization server {problem}"
    return Failure(Code.INTERNAL_ERROR, f"Internal error: {reason}", {"reason": reason})


def _advice(name: str, ways: Ways, way: Way, error: str) -> str:
    if way.grant == "exchange":
        if error in ("invalid_client", "unauthorized_client"):
            return f"Check {CLIENT[0]} and {CLIENT[1]}."
        return "Let your client get a new token of its own, and check the exchange's audience and scope."
    roles = ways.schemes[way.scheme].get("optional_variables", {})
    if error in ("invalid_client", "unauthorized_client"):
        return f"Check {roles.get('client_id')} and {roles.get('client_secret')}."
    if error == "invalid_scope":
        return f"Set {roles.get('scopes')} to scopes which the client may have."
    if error == "invalid_grant" and way.grant == "refresh_token":
        return f"The refresh token is no longer good: set a new {roles.get('refresh_token')}."
    if error == "invalid_grant" and way.grant == "password":
        return f"Check {roles.get('username')} and {roles.get('password')}."
    if way.grant == "login":
        return f"The login is no longer good: run '{name}-adapter login' again."
    return f"Check the variables of '{way.scheme}': '{name}-adapter doctor' shows them."
