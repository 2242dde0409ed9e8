"""Authentication of an adapter element as a security scheme of OpenAPI (element type, 6; adapter schema, AuthConfig).

A credential never stands in an element: it names the environment variable that holds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.element.grammar import finding
from aqlgen.ir import Json
from aqlgen.words import RESERVED_VARIABLES

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_NAMED: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,30} [a-z_]{1,20}=\"?")
"""What stands before a key that is a field of the header: `Token token=`."""
_ROLES: Final = {
    "api_key": ("key",),
    "bearer": ("token",),
    "basic": ("username", "password"),
    "oauth2": ("token",),
}
"""The roles of the variables of each kind, which the element names as `key_env` and so on."""


def read_scheme(auth: Mapping[str, Any]) -> dict[str, Json] | Diagnostic | None:
    """Return the scheme that `auth` describes, the error if it cannot be sent, None for no authentication."""
    match auth["type"]:
        case "none":
            return None
        case "basic":
            return {"type": "http", "scheme": "basic"}
        case "oauth2":
            if "discovery_url" in auth:
                return {"type": "openIdConnect", "openIdConnectUrl": auth["discovery_url"]}
            flow = {"tokenUrl": auth.get("token_url", ""), "scopes": dict.fromkeys(auth.get("scopes", ()), "")}
            flows: dict[str, Json] = {"clientCredentials": flow} if "token_url" in auth else {}
            if "authorization_url" in auth:
                flows = {"authorizationCode": {"authorizationUrl": auth["authorization_url"], **flow}}
            return {"type": "oauth2", "flows": flows}
        case kind:
            return _key(auth, is_bearer=kind == "bearer")


def _key(auth: Mapping[str, Any], *, is_bearer: bool) -> dict[str, Json] | Diagnostic:
    """Return the scheme of a key or a bearer token."""
    place = auth.get("in", "header")
    key = next((key for key in ("header", "header_name", "name") if key in auth), "")
    name = str(auth[key] if key else "Authorization" if is_bearer else "")
    if not name:
        message = "the required field auth.header_name is missing"
        hint = "Write the header of the key: `header_name: X-API-Key`."
        return finding("schema-missing-field", ("auth", "header_name"), message, "string", "nothing", hint)
    if place == "header" and not _TOKEN.fullmatch(name):
        message = f"auth.{key} must be the name of a header"
        return finding(
            "schema-invalid-name", ("auth", key), message, "the name of a header", name[:80], "Write X-API-Key."
        )
    is_standard = name.lower() == "authorization" and place == "header"
    prefix = str(auth.get("prefix", "Bearer" if is_bearer and is_standard else "")).strip()
    return _prefixed({"type": "apiKey", "in": place, "name": name}, prefix, is_standard=is_standard)


def _prefixed(scheme: dict[str, Json], prefix: str, *, is_standard: bool) -> dict[str, Json] | Diagnostic:
    """Return the scheme of a key with a word before it, which only the header Authorization takes."""
    if not prefix:
        return scheme
    if is_standard and _TOKEN.fullmatch(prefix):
        return {"type": "http", "scheme": "bearer" if prefix.lower() == "bearer" else prefix}
    if is_standard and _NAMED.fullmatch(prefix):
        end = '"' if prefix.endswith('"') else ""
        return {**scheme, "description": f"Authorization: {prefix}<key>{end}"}  # by which the key's format is read
    expected = "left out, or one word before the key in the header Authorization"
    hint = "Put it into the variable, in front of the key, or set the header in hooks.py."
    return finding(
        "schema-invalid-value", ("auth", "prefix"), f"auth.prefix must be {expected}", expected, prefix[:80], hint
    )


def read_variables(auth: Mapping[str, Any], adapter: str) -> str | dict[str, str]:
    """Return the variables of the adapter that hold the credential: one, or those of several by their roles.

    An element may come from others: it must not send what the environment holds for something else to its own API.
    """
    prefix = _prefix(adapter)
    stated = {role: str(auth.get(f"{role}_env", "")) for role in _ROLES.get(auth["type"], ())}
    named = {role: variable for role, variable in stated.items() if variable.startswith(prefix)}
    return next(iter(named.values()), "") if auth["type"] in ("api_key", "bearer") else named


def foreign_variables(auth: Mapping[str, Any], adapter: str) -> Iterator[Diagnostic]:
    """Yield a warning for each variable that is not of the adapter."""
    prefix = _prefix(adapter)
    for key, variable in auth.items():
        if key.endswith("_env") and not variable.startswith(prefix):
            message = f"auth.{key} names {variable}, which is not of this adapter ({prefix}…), and is not carried over"
            hint = "Name it in overrides.yaml, if the credential in it is for this API: adapter: {variables: …}."
            yield finding("schema-not-used", ("auth", key), message, help=hint, severity=Severity.WARNING)


def _prefix(adapter: str) -> str:
    prefix = f"{adapter.removesuffix('-adapter').replace('-', '_').upper()}_"
    return f"API_{prefix}" if prefix.startswith(RESERVED_VARIABLES) else prefix
