"""Servers and security schemes (Swagger 2.0, Swagger Object and Security Scheme Object)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.document.upgrade.context import Upgrade
from aqlgen.ir import Json

HTTP = ("https", "http")


def servers(context: Upgrade) -> list[Json]:
    """Return the document's servers, encrypted ones first; a relative one if it names no host."""
    return _servers(context.root, context.root.get("schemes"))


def operation_servers(context: Upgrade, operation: Mapping[str, Json]) -> list[Json] | None:
    """Return the servers of an operation whose schemes differ from the document's; else None."""
    schemes, document_schemes = _schemes(operation.get("schemes")), _schemes(context.root.get("schemes"))
    return _servers(context.root, schemes) if schemes and schemes != document_schemes and _host(context.root) else None


def _servers(root: Mapping[str, Json], schemes: Json) -> list[Json]:
    host, variables = _host(root), {}
    template = root.get("x-ms-parameterized-host")
    prefixed = True
    if isinstance(template, dict):
        prefixed = template.get("useSchemePrefix") is not False
        variables = _variables(template)
    path = root.get("basePath")
    path = f"/{path.strip('/')}" if isinstance(path, str) and path.strip("/ ") else ""
    if not host:
        return [{"url": path or "/"}]
    host = host.rstrip("/")
    if not prefixed or "://" in host:
        urls = [f"{host}{path}"]
    else:
        urls = [f"{scheme}://{host}{path}" for scheme in _schemes(schemes)] or [f"//{host}{path}"]
    return [{"url": url, "variables": variables} if variables else {"url": url} for url in urls]


def _host(root: Mapping[str, Json]) -> str:
    template = root.get("x-ms-parameterized-host")
    host = template.get("hostTemplate") if isinstance(template, dict) else root.get("host")
    return host.strip() if isinstance(host, str) else ""


def _schemes(raw: Json) -> list[str]:
    """Return the schemes that an adapter supports, encrypted ones first."""
    listed = [scheme.lower() for scheme in raw if isinstance(scheme, str)] if isinstance(raw, list) else []
    return [scheme for scheme in HTTP if scheme in listed]


def _variables(template: Mapping[str, Json]) -> dict[str, Json]:
    """Return the variables of a host template that have a value; the others have to be configured."""
    listed = template.get("parameters")
    variables: dict[str, Json] = {}
    for parameter in listed if isinstance(listed, list) else ():
        if not isinstance(parameter, dict) or not isinstance(parameter.get("name"), str):
            continue
        choices = parameter["enum"] if isinstance(parameter.get("enum"), list) else []
        default = parameter.get("default", choices[0] if choices else None)
        if default is not None:
            variables[parameter["name"]] = {
                "default": str(default),
                **({"enum": list(map(str, choices))} if choices else {}),
            }
    return variables


FLOWS: Final = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
FLOW_FIELDS: Final = ("authorizationUrl", "tokenUrl", "scopes")


def scheme(node: Json) -> Json:
    """Return a security scheme; an unknown type stays, since documents borrow from 3.0 (`type: http`)."""
    if not isinstance(node, dict):
        return node
    if node.get("type") == "basic":
        return {**node, "type": "http", "scheme": "basic"}
    if node.get("type") != "oauth2" or "flows" in node:
        return node
    flow = {key: node[key] for key in FLOW_FIELDS if key in node}
    flow.setdefault("scopes", {})
    name = FLOWS.get(str(node.get("flow")), "implicit" if "tokenUrl" not in node else "authorizationCode")
    rest = {key: value for key, value in node.items() if key not in (*FLOW_FIELDS, "flow")}
    return {**rest, "flows": {name: flow}}
