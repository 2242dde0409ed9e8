"""Security schemes in `adapter.json`: each with the environment variables that hold its credential."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from aqlgen.decide.overrides import Overrides, finding, nearest
from aqlgen.diagnostics import Diagnostic
from aqlgen.ir import OAuthFlow, Origin
from aqlgen.ir import SecurityScheme as DocumentScheme
from aqlgen.runtime.table import Flow, SecurityScheme
from aqlgen.table.identity import Identity
from aqlgen.words import RESERVED_VARIABLES, snake

_TOKENS: Final = frozenset({"oauth2", "openIdConnect"})
_PAIRS: Final = frozenset({"basic", "digest"})


def security_schemes(
    identity: Identity, schemes: Iterable[DocumentScheme], overrides: Overrides, others: Iterable[str] = ()
) -> tuple[dict[str, SecurityScheme], list[Diagnostic]]:
    """Return the schemes by their names, and findings about the owner's variables, and about those of `others`.

    `variables` must all be set; `optional_variables` has the further ones by their roles. No two have one in common,
    except those that differ only in the spelling of their names (`bearerAuth`, `BearerAuth`), which are the same.
    """
    schemes = tuple(schemes)
    owned, findings = _owned(identity, schemes, overrides)
    taken = {name for naming in owned.values() for name in naming.all}
    entries: dict[str, SecurityScheme] = {}
    known: dict[tuple[str, DocumentScheme], _Naming] = {}
    for scheme in schemes:
        stem = _variable_prefix(identity, scheme.name)
        key = stem, replace(scheme, name="", description="", origin=Origin(""))
        naming = owned.get(scheme.name) or known.get(key)
        if naming is None:
            naming = known[key] = _variables(scheme, stem)
            if taken & naming.all:
                mark = sha256(scheme.name.encode("utf-8", "surrogatepass")).hexdigest()[:4].upper()
                naming = known[key] = _variables(scheme, f"{stem}_{mark}")
            taken |= naming.all
            findings += _of_others(scheme.name, naming, overrides.file, others)
        entries[scheme.name] = _scheme_entry(scheme, naming)
    return entries, findings


def _of_others(scheme: str, naming: _Naming, file: str, others: Iterable[str]) -> list[Diagnostic]:
    """Return a finding if a scheme's variable begins as those of another API, which would get its credential."""
    shared = [name for name in sorted(naming.all) if name.startswith(tuple(f"{other}_" for other in others))]
    message = f"the variable `{shared[0]}` of `{scheme}` would be the credential of another API" if shared else ""
    way_out = (
        f"Give that API another name, or this scheme other variables: apis: {{NAME: {{variables: {{{scheme}: …}}}}}}"
    )
    return [finding(file, (0, 0), message, way_out)] if shared else []


@dataclass(frozen=True, slots=True)
class _Naming:
    """The variables of a scheme by their roles: those that must be set, and the further ones."""

    names: Mapping[str, str]
    optional: Mapping[str, str]

    @property
    def all(self) -> set[str]:
        """The names of all."""
        return {*self.names.values(), *self.optional.values()}


def _owned(
    identity: Identity, schemes: Iterable[DocumentScheme], overrides: Overrides
) -> tuple[dict[str, _Naming], list[Diagnostic]]:
    """Return the variables that the owner names, by scheme, and what is wrong with others."""
    headers = [header for header in overrides.adapter.headers if header.variable]
    owned = {header.scheme: _Naming({"key": header.variable}, {}) for header in headers}
    users = {header.variable: f"the header {header.name}" for header in headers}
    findings: list[Diagnostic] = []
    for scheme in schemes:
        wanted = overrides.adapter.variables.get(scheme.name)
        if wanted is None:
            continue
        naming = _renamed(scheme, wanted, _variable_prefix(identity, scheme.name))
        if isinstance(naming, _Naming):
            names = [*naming.names.values(), *naming.optional.values()]
            shared = next((name for name in names if name in users or names.count(name) > 1), None)
            if shared is None:
                users |= dict.fromkeys(names, f"the security scheme {scheme.name}")
                owned[scheme.name] = naming
                continue
            user = users.get(shared, "the same scheme")
            naming = f"the variable `{shared}` already belongs to {user}", "Give each its own variable."
        place = overrides.adapter.places[f"variables.{scheme.name}"]
        findings.append(finding(overrides.file, place, *naming))
    return owned, findings


def _renamed(scheme: DocumentScheme, wanted: str | Mapping[str, str], stem: str) -> _Naming | tuple[str, str]:
    """Return the variables as the owner names them, or what is wrong with that as a message and a help."""
    naming = _variables(scheme, stem)
    if isinstance(wanted, str):
        if len(naming.names) != 1:
            example = ", ".join(f"{role}: {name}" for role, name in naming.names.items())
            return f"`{scheme.name}` has {len(naming.names)} variables", f"Write {scheme.name}: {{{example}}}."
        of_stem = _variables(scheme, wanted)
        return replace(of_stem, names=dict.fromkeys(of_stem.names, wanted))
    roles = {**naming.names, **naming.optional}
    unknown = next((role for role in wanted if role not in roles), None)
    if unknown is not None:
        return f"`{scheme.name}` has no variable for `{unknown}`", nearest(unknown, roles, "role")
    return _Naming(
        {role: wanted.get(role, name) for role, name in naming.names.items()},
        {role: wanted.get(role, name) for role, name in naming.optional.items()},
    )


def _variable_prefix(identity: Identity, name: str) -> str:
    """Return the prefix of a scheme's variables. A name that ends in `_FILE` would be taken for the path of a file."""
    words = snake(name).upper() or "CREDENTIAL"
    stem = words if words.startswith(f"{identity.prefix}_") else f"{identity.prefix}_{words}"
    if stem.startswith(RESERVED_VARIABLES):
        stem = f"API_{stem}"
    return f"{stem}_KEY" if stem.endswith("_FILE") else stem


def _scheme_entry(scheme: DocumentScheme, naming: _Naming) -> SecurityScheme:
    entry: SecurityScheme = {"type": scheme.kind}
    if scheme.kind == "apiKey":
        entry |= {"in": scheme.location, "name": scheme.parameter}
        if scheme.format:
            entry["format"] = scheme.format
    if scheme.kind == "http":
        entry["scheme"] = scheme.http_scheme
    if scheme.kind in _TOKENS:
        if scheme.flows:
            entry["flows"] = {flow.grant: _flow(flow) for flow in scheme.flows}
        if scheme.discovery_url:
            entry["discovery_url"] = scheme.discovery_url
    entry["variables"] = list(naming.names.values())
    if naming.optional:
        entry["optional_variables"] = naming.optional
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
    entry["scopes"] = list(flow.scopes)
    return entry


def _variables(scheme: DocumentScheme, stem: str) -> _Naming:
    if scheme.kind == "http" and scheme.http_scheme.lower() in _PAIRS:
        return _Naming({"username": f"{stem}_USERNAME", "password": f"{stem}_PASSWORD"}, {})
    if scheme.kind in ("apiKey", "http"):
        return _Naming({"key" if scheme.kind == "apiKey" else "token": stem}, {})
    if scheme.kind == "mutualTLS":
        return _Naming({"cert": f"{stem}_CERT", "key": f"{stem}_KEY"}, {"key_password": f"{stem}_KEY_PASSWORD"})
    if scheme.kind not in _TOKENS:
        return _Naming({}, {})
    base = stem.removesuffix("_TOKEN")
    return _Naming({"token": f"{base}_TOKEN"}, {role: f"{base}_{role.upper()}" for role in _roles(scheme)})


def _roles(scheme: DocumentScheme) -> list[str]:
    """Return the roles of the variables that get a token, if the document says where tokens come from."""
    grants = {flow.grant for flow in scheme.flows if flow.token_url or flow.refresh_url}
    if not grants and not scheme.discovery_url:
        return []
    roles = ["client_id", "client_secret"]
    if scheme.discovery_url or grants - {"clientCredentials"}:
        roles.append("refresh_token")
    if "password" in grants:
        roles += ["username", "password"]
    roles += ["scopes", "audience"]
    return [*roles, *(["discovery_url"] if scheme.discovery_url else ["token_url"])]
