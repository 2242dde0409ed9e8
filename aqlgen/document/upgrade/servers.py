"""Servers and security schemes (Swagger 2.0, Swagger Object and Security Scheme Object)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.document.upgrade.context import UpgradeContext
from aqlgen.ir import Json

HTTP = ("https", "http")


def servers(up: UpgradeContext) -> list[Json]:
    """Return the document's servers, encrypted ones first; a relative one if it names no host."""
    found = _servers(up.root, up.root.get("schemes"))
    if not _host(up.root):
        way = "Set MCP_AQL_BASE_URL, or base_url in adapter.toml, to the API's whole address."
        up.warn("no-server", "the document names no host: the API's base URL has to be configured", "", way)
    return found


def operation_servers(up: UpgradeContext, operation: Mapping[str, Json]) -> list[Json] | None:
    """Return the servers of an operation whose schemes differ from the document's; else None."""
    own, common = _schemes(operation.get("schemes")), _schemes(up.root.get("schemes"))
    return _servers(up.root, own) if own and own != common and _host(up.root) else None


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
    listed = [one.lower() for one in raw if isinstance(one, str)] if isinstance(raw, list) else []
    return [one for one in HTTP if one in listed]


def _variables(template: Mapping[str, Json]) -> dict[str, Json]:
    """Return the variables of a host template that have a value; the others have to be configured."""
    listed = template.get("parameters")
    found: dict[str, Json] = {}
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            continue
        choices = one["enum"] if isinstance(one.get("enum"), list) else []
        default = one.get("default", choices[0] if choices else None)
        if default is not None:
            found[one["name"]] = {"default": str(default), **({"enum": list(map(str, choices))} if choices else {})}
    return found


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
