"""Security definitions: basic, apiKey and the four flows of OAuth 2 (Swagger 2.0, Security Scheme Object)."""

from __future__ import annotations

from typing import Final

from aqlgen.ir import Json

FLOWS: Final = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
FLOW_FIELDS: Final = ("authorizationUrl", "tokenUrl", "scopes")


def scheme(node: Json) -> Json:
    """Give a security scheme; what is unknown stays as it is, since documents borrow from 3.0 (`type: http`)."""
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
