"""Authentication of an adapter element as security schemes of OpenAPI (element type, 6; adapter schema, AuthConfig).

A credential never stands in an element: it names the environment variable that holds one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from aqlgen.document.element.model import Auth
from aqlgen.document.element.reader import Field, Node, Reader
from aqlgen.ir import Json
from aqlgen.words import RESERVED_VARIABLES

__all__ = ["read_auth"]

KINDS: Final = ("none", "api_key", "bearer", "basic", "oauth2")
_FIELDS: Final[Mapping[str, Field]] = {
    "type": Field(required=True, values=KINDS),
    "header": Field(),
    "header_name": Field(),
    "prefix": Field(),
    "in": Field(values=("header", "query", "cookie", "body", "path")),
    "name": Field(),
    "token_env": Field(),
    "key_env": Field(),
    "username_env": Field(),
    "password_env": Field(),
    "token_url": Field(),
    "authorization_url": Field(),
    "discovery_url": Field(),
    "scopes": Field("array"),
    "config": Field("object"),
}
_OF_KIND: Final[Mapping[str, frozenset[str]]] = {
    "none": frozenset(),
    "api_key": frozenset({"header", "header_name", "prefix", "in", "name", "key_env"}),
    "bearer": frozenset({"header", "header_name", "prefix", "token_env"}),
    "basic": frozenset({"username_env", "password_env"}),
    "oauth2": frozenset({"token_url", "authorization_url", "discovery_url", "scopes", "token_env"}),
}
_SECRETS: Final = frozenset("token key api_key apikey password secret client_secret credential value bearer".split())
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_NAMED: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,30} [a-z_]{1,20}=\"?")
"""What stands before a key that is a field of the header: `Token token=`."""

_BEARER: Final = "bearer"
_USUAL: Final = "auth"
"""The name of the scheme of an element."""


def read_auth(reader: Reader, node: Node | None, adapter: str) -> Auth:
    """Return the scheme of `auth`, and its variables as far as they are of the `adapter`."""
    if node is None or not reader.is_of(node, "object"):
        return Auth()
    node = _without_secrets(reader, node)
    members = reader.fields(node, _FIELDS)
    read = _scheme(reader, node, members, adapter)
    if read is None:
        return Auth()
    scheme, variables = read
    return Auth({_USUAL: scheme}, {_USUAL: variables} if variables else {})


def _without_secrets(reader: Reader, node: Node) -> Node:
    """Return an object without keys under which a credential itself may stand; report them without the value."""
    secrets = [key for key in node.value if key.lower() in _SECRETS]
    for key in secrets:
        reader.report(
            "schema-invalid-value",
            node.member(key),
            f"{node.path} must not hold a credential, and {key} looks like one",
            expected="the name of an environment variable",
            actual="a value that is not shown",
            suggestion=f"Write `{'key_env' if 'key' in key.lower() else 'token_env'}: MY_API_TOKEN`, and set that.",
        )
    kept = {key: value for key, value in node.value.items() if key not in secrets}
    return Node(kept, node.pointer, node.path) if secrets else node


def _scheme(
    reader: Reader, node: Node, members: Mapping[str, Node], adapter: str
) -> tuple[dict[str, Json], str | Mapping[str, str]] | None:
    """Return the scheme that the members describe, and the variables that it names; None if there is none."""
    config = members.get("config")
    if config is not None:
        members = {**reader.fields(_without_secrets(reader, config), {**_FIELDS, "type": Field()}), **members}
    if "type" not in members:
        return None
    kind = members["type"].value
    texts = {key: member.value for key, member in members.items() if isinstance(member.value, str)}
    if not _is_sent(reader, kind, members, texts):
        return None
    if kind == "oauth2":
        scheme: dict[str, Json] | None = _oauth(reader, members)
    else:
        scheme = {"type": "http", "scheme": kind} if kind == "basic" else _key(reader, node, kind, members, texts)
    roles = {"username": "username_env", "password": "password_env", "token": "token_env", "key": "key_env"}
    stated = {role: key for role, key in roles.items() if key in texts and scheme is not None}
    named = {role: texts[key] for role, key in stated.items() if _is_variable(reader, members[key], adapter)}
    if scheme is None:
        return None
    return scheme, next(iter(named.values()), "") if kind in ("api_key", "bearer") else named


def _is_sent(reader: Reader, kind: str, members: Mapping[str, Node], texts: Mapping[str, str]) -> bool:
    """Return True for a credential that the adapter can send; report what it does not do."""
    for key in members.keys() - _OF_KIND[kind] - {"type", "config"}:
        reader.unused(members[key], f"{members[key].path} means nothing with type: {kind}", "Leave it out.")
    if kind != "none" and texts.get("in") in ("body", "path"):
        hint = "Send it by hooks.py, or in a header or the query."
        reader.unused(members["in"], f"a credential in the {texts['in']} is not carried over", hint)
        return False
    return kind != "none"


def _key(
    reader: Reader, node: Node, kind: str, members: Mapping[str, Node], texts: Mapping[str, str]
) -> dict[str, Json] | None:
    """Return the Security Scheme Object of a key or a bearer token, None after a report of what cannot be sent."""
    place = texts.get("in", "header")
    key = next((key for key in ("header", "header_name", "name") if key in texts), "")
    usual = ("Authorization", "Bearer") if kind == _BEARER else ("", "")
    header, prefix = texts.get(key, usual[0]), texts.get("prefix", usual[1]).strip()
    scheme = {"type": "apiKey", "in": place, "name": header}
    is_standard = header.lower() == "authorization" and place == "header"
    if not header:
        reader.missing(node, "header_name", Field(suggestion="Write the header of the key: `header_name: X-API-Key`."))
    elif place == "header" and not _TOKEN.fullmatch(header):
        reader.bad_name(members[key], header, "the name of a header", "Write it as in: X-API-Key.")
    elif is_standard and _TOKEN.fullmatch(prefix):
        return {"type": "http", "scheme": re.sub(f"(?i)^{_BEARER}$", _BEARER, prefix)}
    elif is_standard and _NAMED.fullmatch(prefix):
        end = '"' if prefix.endswith('"') else ""
        return {**scheme, "description": f"Authorization: {prefix}<key>{end}"}  # by which the key's format is read
    elif "prefix" in texts and prefix:
        expected = "left out, or one word before the key in the header Authorization"
        hint = "Put it into the variable, in front of the key, or set the header in hooks.py."
        reader.bad_value(members["prefix"], expected, hint)
    else:
        return scheme
    return None


def _oauth(reader: Reader, members: Mapping[str, Node]) -> dict[str, Json]:
    """Return the scheme of OAuth: by authorization code or client credentials, else with a token that there is."""
    urls = {key: members[key].value for key in ("token_url", "authorization_url", "discovery_url") if key in members}
    for key, url in urls.items():
        scheme = _scheme_of(url)
        if scheme not in ("http", "https"):
            reader.bad_value(members[key], "an address that begins with https://", "Write the whole address.")
        elif scheme == "http":
            reader.unused(members[key], f"{members[key].path} is not encrypted", "Write https://, if the API has it.")
    node = members.get("scopes")
    names = [] if node is None else [item.value for item in node.items() if reader.is_of(item, "string")]
    scopes = dict.fromkeys(names, "")
    if "discovery_url" in urls:
        return {"type": "openIdConnect", "openIdConnectUrl": urls["discovery_url"]}
    flow = {"tokenUrl": urls.get("token_url", ""), "scopes": scopes}
    if "authorization_url" in urls:
        flows = {"authorizationCode": {"authorizationUrl": urls["authorization_url"], **flow}}
    else:
        flows = {"clientCredentials": flow} if "token_url" in urls else {}
    return {"type": "oauth2", "flows": flows}


def _scheme_of(url: str) -> str:
    """Return the scheme of a whole address, "" for anything else."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.scheme if parts.hostname else ""


def _is_variable(reader: Reader, node: Node, adapter: str) -> bool:
    """Return True for a name of an environment variable that is the adapter's own; report any other.

    An element may come from others: it must not send what the environment holds for something else to its own API.
    """
    if _VARIABLE.fullmatch(node.value) and not node.value.endswith("_FILE"):
        prefix = f"{adapter.removesuffix('-adapter').replace('-', '_').upper()}_"
        prefix = f"API_{prefix}" if prefix.startswith(RESERVED_VARIABLES) else prefix
        if node.value.startswith(prefix):
            return True
        message = f"{node.path} names {node.value}, which is not of this adapter ({prefix}…), and is not carried over"
        hint = "Name it in overrides.yaml, if the credential in it is for this API: adapter: {variables: …}."
        reader.unused(node, message, hint)
        return False
    expected = "an environment variable: capitals, digits and _, not with _FILE at the end"
    reader.bad_name(node, node.value, expected, "Write it as in: PETSTORE_API_KEY.")
    return False
