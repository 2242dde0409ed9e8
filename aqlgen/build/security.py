"""Servers, security schemes and requirements (OpenAPI 3.1.1, 4.8.5, 4.8.27 to 4.8.30)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from aqlgen.build.context import Context, entries, text
from aqlgen.build.models import SECURITY_SCHEME, InvalidObjectError
from aqlgen.build.operations import HEADER_NAME, TOKEN
from aqlgen.document.positions import escape
from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import SIGNATURE, Json, OAuthFlow, Origin, SecurityScheme, Server
from aqlgen.runtime.auth import KEY
from aqlgen.runtime.encode import is_framing, overrides_method
from aqlgen.runtime.schema import unescape

MAX_SCOPES = 1000
HEADER = re.compile(rf"(?P<name>{HEADER_NAME.pattern})(?:\s*:\s*(?P<word>{TOKEN.pattern})?)?")
"""The name of a header, which documents also write with the word before its key, as `Authorization: Bearer`."""
SIGNATURE_EXTENSION = "x-amazon-apigateway-authtype"
SIGNATURE_WORDS = re.compile(r"(?i)\b(aws|amazon)\b.{0,40}\b(signature|sigv?4)|\bsignature version 4\b|\bsigv4\b")


def build_servers(raw: Json, around: Json = None) -> tuple[Server, ...]:
    """Return the servers that have a URL; one of https stands before the same one of http.

    One without variables has those of the same URL among the servers `around`.
    """
    known = {server.url: server.variables for server in build_servers(around)} if raw and around else {}
    servers = tuple(
        Server(
            url=server["url"].strip(),
            description=text(server.get("description")) or text(server.get("name")),
            variables={
                name: {
                    "default": str(variable.get("default", "")),
                    **(
                        {"enum": [str(value) for value in variable["enum"]]}
                        if isinstance(variable.get("enum"), list)
                        else {}
                    ),
                }
                for name, variable in entries(server.get("variables") or known.get(server["url"].strip()))
                if isinstance(variable, dict)
            },
        )
        for server in (raw if isinstance(raw, list) else ())
        if isinstance(server, dict) and text(server.get("url"))
    )
    return _https_first(servers)


def _https_first(servers: tuple[Server, ...]) -> tuple[Server, ...]:
    """Return the servers with each of https before its twin of http, at that one's place."""
    secure: dict[str, Server] = {}
    for server in servers:
        if server.url.lower().startswith("https://"):
            secure.setdefault(_host_and_path(server.url), server)
    ordered: dict[str, Server] = {}
    for server in servers:
        twin = secure.get(_host_and_path(server.url)) if server.url.lower().startswith("http://") else None
        for other in (twin or server, server):
            ordered.setdefault(repr(other), other)
    return tuple(ordered.values())


def _host_and_path(url: str) -> str:
    return url.partition("://")[2].rstrip("/")


def build_schemes(context: Context, raw: Json) -> tuple[SecurityScheme, ...]:
    """Return the readable security schemes; warn of the others."""
    schemes = []
    for name, value in entries(raw):
        pointer = f"/components/securitySchemes/{escape(name)}"
        try:
            node, origin = context.resolver.follow(value, pointer)
            members = context.validate(SECURITY_SCHEME, node, origin)
        except (UnresolvedError, InvalidObjectError) as error:
            context.warn("invalid-component", f"the security scheme {name!r} is left out: {error}", pointer)
            continue
        kind, location, sent_name = members["type"], members.get("in") or "", members.get("name") or ""
        written = ""
        if kind == "apiKey" and location == "header":
            header = HEADER.fullmatch(sent_name.strip())
            if header is None:
                message = f"the security scheme {name!r} is left out: HTTP allows no header named {sent_name!r}"
                context.warn("invalid-component", message, origin)
                continue
            sent_name, written = header["name"], f"{header['word']} {KEY}" if header["word"] else ""
        if kind == "apiKey" and (is_framing(sent_name) if location == "header" else overrides_method(sent_name)):
            message = f"the security scheme {name!r} is left out: {sent_name!r} frames or routes requests"
            context.warn("framing-parameter", message, origin)
            continue
        schemes.append(
            SecurityScheme(
                name=name,
                kind=_kind(kind, sent_name, node),
                description=text(members.get("description")),
                location=location,
                parameter=sent_name,
                http_scheme=text(members.get("scheme")),
                origin=Origin(origin),
                flows=_flows(node.get("flows")),
                discovery_url=text(node.get("openIdConnectUrl")) or text(node.get("oauth2MetadataUrl")),
                format=written,
            )
        )
    return tuple(schemes)


def _kind(kind: str, name: str, node: Json) -> str:
    """Return the kind of a scheme; what documents before 3.1 call the HTTP scheme `mutual` is a TLS certificate."""
    if kind == "http" and text(node.get("scheme")).lower() == "mutual":
        return "mutualTLS"
    return SIGNATURE if _is_signature(kind, name, node) else kind


def _is_signature(kind: str, name: str, node: Json) -> bool:
    """Return True if what a scheme calls an API key is Signature Version 4, which is computed for each request."""
    if kind != "apiKey" or name.lower() != "authorization":
        return False
    return text(node.get(SIGNATURE_EXTENSION)).lower() == "awssigv4" or bool(
        SIGNATURE_WORDS.search(text(node.get("description")))
    )


def _flows(raw: Json) -> tuple[OAuthFlow, ...]:
    return tuple(
        OAuthFlow(
            grant=grant,
            authorization_url=text(flow.get("authorizationUrl")),
            token_url=text(flow.get("tokenUrl")),
            refresh_url=text(flow.get("refreshUrl")),
            scopes=tuple(name for name, _ in entries(flow.get("scopes")))[:MAX_SCOPES],
        )
        for grant, flow in entries(raw)
        if isinstance(flow, dict)
    )


def build_scopes(raw: Json, known: frozenset[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the scopes that the requirements need of each scheme, by the first alternative that names it."""
    scopes_of: dict[str, tuple[str, ...]] = {}
    for alternative in raw if isinstance(raw, list) else ():
        names = entries(alternative)
        if all(name in known for name, _ in names):
            for name, scopes in names:
                listed = scopes if isinstance(scopes, list) else ()
                scopes_of.setdefault(name, tuple(scope for scope in listed if isinstance(scope, str) and scope.strip()))
    return {name: scopes for name, scopes in scopes_of.items() if scopes}


def _name(written: str, known: frozenset[str]) -> str:
    """Return the name of a scheme, which may be written as a reference (OpenAPI 3.2.0, 4.30)."""
    _, marker, name = written.partition("#/components/securitySchemes/")
    return unescape(name) if marker and written not in known else written


def build_requirements(
    context: Context, raw: Json, known: frozenset[str], pointer: str
) -> tuple[tuple[str, ...], ...] | None:
    """Return the alternatives, each with the schemes that it combines; None if nothing is declared.

    A scheme has its name in components/securitySchemes or, since 3.2, a reference to it. An alternative with an
    undeclared scheme is left out with a warning.
    """
    if isinstance(raw, dict) and raw:
        message = "the requirements must be a list; they are read as one, of all that are named"
        context.warn("invalid-component", message, pointer)
        raw = [raw]
    if not isinstance(raw, list):
        return None
    alternatives = []
    for index, alternative in enumerate(raw):
        names = tuple(_name(name, known) for name in (alternative if isinstance(alternative, dict) else ()))
        unknown = [name for name in names if name not in known]
        if unknown:
            message = f"the security scheme {unknown[0]!r} is not declared; this alternative is left out"
            context.warn("unknown-security-scheme", message, f"{pointer}/{index}")
        else:
            alternatives.append(names)
    return tuple(alternatives)
