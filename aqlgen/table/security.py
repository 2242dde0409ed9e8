"""Security schemes."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from aqlgen.ir import OAuthFlow
from aqlgen.ir import SecurityScheme as DocumentScheme
from aqlgen.runtime.table import Flow, SecurityScheme
from aqlgen.table.identity import Identity
from aqlgen.words import snake

TOKENS = frozenset({"oauth2", "openIdConnect"})
PAIRS = frozenset({"basic", "digest"})


def security_schemes(identity: Identity, schemes: Iterable[DocumentScheme]) -> dict[str, SecurityScheme]:
    """Return the schemes by their names; no two have a variable in common.

    `variables` must all be set; `optional_variables` has the further ones by their roles.
    """
    entries: dict[str, SecurityScheme] = {}
    taken: set[str] = set()
    for scheme in schemes:
        entry = _scheme_entry(scheme, _variable_prefix(identity, scheme.name))
        if taken & _variable_names(entry):
            mark = sha256(scheme.name.encode("utf-8", "surrogatepass")).hexdigest()[:4].upper()
            entry = _scheme_entry(scheme, f"{_variable_prefix(identity, scheme.name)}_{mark}")
        taken |= _variable_names(entry)
        entries[scheme.name] = entry
    return entries


def _variable_prefix(identity: Identity, name: str) -> str:
    """Return the prefix of a scheme's variables. A name that ends in `_FILE` would be taken for the path of a file."""
    words = snake(name).upper() or "CREDENTIAL"
    stem = words if words.startswith(f"{identity.prefix}_") else f"{identity.prefix}_{words}"
    return f"{stem}_KEY" if stem.endswith("_FILE") else stem


def _variable_names(entry: SecurityScheme) -> set[str]:
    return {*entry["variables"], *entry.get("optional_variables", {}).values()}


def _scheme_entry(scheme: DocumentScheme, stem: str) -> SecurityScheme:
    entry: SecurityScheme = {"type": scheme.kind}
    if scheme.kind == "apiKey":
        entry |= {"in": scheme.location, "name": scheme.parameter}
    if scheme.kind == "http":
        entry["scheme"] = scheme.http_scheme
    if scheme.kind in TOKENS:
        if scheme.flows:
            entry["flows"] = {flow.grant: _flow(flow) for flow in scheme.flows}
        if scheme.discovery_url:
            entry["discovery_url"] = scheme.discovery_url
    variables, optional = _variables(scheme, stem)
    entry["variables"] = variables
    if optional:
        entry["optional_variables"] = optional
    entry["description"] = scheme.description[:300]
    return entry


def _flow(flow: OAuthFlow) -> Flow:
    entry: Flow = {}
    if flow.authorization_url:
        entry["authorization_url"] = flow.authorization_url
    if flow.token_url:
        entry["token_url"] = flow.token_url
    if flow.refresh_url:
        entry["refresh_url"] = flow.refresh_url
    if flow.device_url:
        entry["device_url"] = flow.device_url
    entry["scopes"] = list(flow.scopes)
    return entry


def _variables(scheme: DocumentScheme, stem: str) -> tuple[list[str], dict[str, str]]:
    if scheme.kind == "http" and scheme.http_scheme.lower() in PAIRS:
        return [f"{stem}_USERNAME", f"{stem}_PASSWORD"], {}
    if scheme.kind in ("apiKey", "http"):
        return [stem], {}
    if scheme.kind == "mutualTLS":
        return [f"{stem}_CERT", f"{stem}_KEY"], {"key_password": f"{stem}_KEY_PASSWORD"}
    if scheme.kind not in TOKENS:
        return [], {}
    base = stem.removesuffix("_TOKEN")
    return [f"{base}_TOKEN"], {role: f"{base}_{role.upper()}" for role in _roles(scheme)}


def _roles(scheme: DocumentScheme) -> list[str]:
    """Return the roles of the variables that get a token, if the document says where tokens come from."""
    grants = {flow.grant for flow in scheme.flows if flow.token_url or flow.refresh_url or flow.device_url}
    if not grants and not scheme.discovery_url:
        return []
    roles = ["client_id", "client_secret"]
    if scheme.discovery_url or grants - {"clientCredentials"}:
        roles.append("refresh_token")
    if "password" in grants:
        roles += ["username", "password"]
    roles += ["scopes", "audience"]
    return [*roles, *(["discovery_url"] if scheme.discovery_url else ["token_url"])]
