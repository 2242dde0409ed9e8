"""URLs as the document writes them, with `{names}` in braces: paths and the servers in front of them.

(OpenAPI 3.1, Paths Object and Server Object; a name has at least one character, as OpenAPI 3.2, 4.8.2 says.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from ..errors import Code, Failure
from ..table import ADAPTER, Adapter, Row
from .styles import wire_text

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MAX_DECODINGS = 4


def placeholders(template: str) -> list[str]:
    """Return the names in braces, in their order."""
    return _PLACEHOLDER.findall(template)


def split_at_placeholders(template: str) -> tuple[list[str], list[str]]:
    """Return the literal texts and the names between them; there is one more literal than names."""
    pieces = _PLACEHOLDER.split(template)
    return pieces[::2], pieces[1::2]


def without_names(template: str) -> str:
    """Return the template with `{}` for each placeholder, so that templates can be compared."""
    return _PLACEHOLDER.sub("{}", template)


def replaced_placeholders(template: str, value: Callable[[str], str]) -> str:
    """Return the template with a value, by its name, for each placeholder."""
    return _PLACEHOLDER.sub(lambda match: value(match[1]), template)


def resource_of(row: Row, params: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    """Return the resource of a call: its API, its path without names down to the last parameter, the values as sent."""
    names = {parameter.wire: name for name, parameter in row.parameters.items() if parameter.location == "path"}
    head, brace, last = row.path.rstrip("/").rpartition("}")
    template = f"{head}{brace}{last.partition('/')[0]}" if brace else last
    values = tuple(wire_text(params.get(names.get(wire, ""), "")) for wire in placeholders(template))
    return row.api, without_names(template), values


def paired_placeholders(template: str, other: str) -> dict[str, str]:
    """Return the names of a template with those at the same place of another."""
    return dict(zip(placeholders(template), placeholders(other), strict=False))


def counterparts(row: Row, other: Row) -> dict[str, str]:
    """Map the parameters of a row to those of another that carry the same value.

    Parameters of the path correspond by position, others by name and location.
    """
    placed = paired_placeholders(row.path, other.path)
    names = {(parameter.location, parameter.wire): name for name, parameter in other.parameters.items()}
    pairs: dict[str, str] = {}
    for name, parameter in row.parameters.items():
        location, wire = parameter.location, parameter.wire
        same = names.get((location, placed.get(wire, wire) if location == "path" else wire))
        if same is not None and location != ADAPTER:
            pairs[name] = same
    return pairs


def server_url(server: Mapping[str, Any], chosen: Mapping[str, str] | None = None) -> str:
    """Return a server's URL, its variables replaced by the chosen values or else by their defaults."""
    declared = server.get("variables", {})

    def value(name: str) -> str:
        if chosen and name in chosen:
            return chosen[name]
        return str(declared.get(name, {}).get("default", f"{{{name}}}"))

    return replaced_placeholders(server["url"], value)


def variable_problem(servers: Iterable[Mapping[str, Any]], chosen: Mapping[str, str]) -> str | None:
    """Return the end of a sentence on a chosen value that fits no server, None when all fit.

    Such a value has a name that no URL has, or is not among those allowed.
    """
    declared: dict[str, list[Any]] = {}
    for server in servers:
        for name in placeholders(server["url"]):
            declared.setdefault(name, []).append(server.get("variables", {}).get(name, {}).get("enum") or ())
    for name, value in chosen.items():
        if name not in declared:
            known = f"they have {', '.join(sorted(declared))}" if declared else "they have none"
            return f"names '{name}', which is not a variable of the API's servers: {known}"
        options = [option for allowed in declared[name] for option in allowed]
        if all(declared[name]) and value not in map(str, options):
            return f"gives '{name}' the value '{value}', which is none of {', '.join(map(str, options))}"
    return None


def has_base_url(adapter: Adapter, setting: str | None, chosen: Mapping[str, str]) -> bool:
    """Return True if the setting or the document's first server is a complete address of the API."""
    return _is_absolute(setting or (server_url(adapter.servers[0], chosen) if adapter.servers else ""))


def operation_url(
    main: Sequence[Mapping[str, Any]],
    servers: Sequence[Mapping[str, Any]],
    setting: str | None,
    chosen: Mapping[str, str] | None = None,
) -> str:
    """Return the URL that an operation is served at, "" or a relative one if nothing says it whole.

    The setting wins over the operation's own server, and that over the first of the document, which completes it.
    """
    first = server_url(main[0], chosen) if main else ""
    if setting or not servers:
        return setting or first
    url = server_url(servers[0], chosen)
    try:
        return url if _is_absolute(url) else urljoin(first, url)
    except ValueError:  # no URL at all, such as http://[
        return url


def resolve_base_url(adapter: Adapter, row: Row, setting: str | None, chosen: Mapping[str, str] | None = None) -> str:
    """Return the absolute base URL of an operation, without a trailing slash. Raises Failure when there is none."""
    url = operation_url(adapter.servers, row.servers, setting, chosen)
    if not _is_absolute(url):
        raise Failure(
            Code.INTERNAL_ERROR,
            "Internal error: the address of the API is not known, because its document names no complete one. "
            "Set MCP_AQL_BASE_URL, such as 'https://api.example.com/v1'.",
            {"setting": "MCP_AQL_BASE_URL", **({"server": url} if url else {})},
        )
    return url.strip().partition("#")[0].partition("?")[0].rstrip("/")


def is_safe(url: str) -> bool:
    """Return True if secrets may be sent to a URL: https, or http on this machine."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme.lower() == "https":
        return bool(host)
    return parts.scheme.lower() == "http" and (host == "localhost" or host.endswith(".localhost") or _is_loopback(host))


def _is_loopback(host: str) -> bool:
    import ipaddress  # only where a URL is one of http

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def not_encrypted() -> Failure:
    """Return the refusal of a credential that would be sent where others can read it."""
    reason = "the credential would be sent over plain http, for everybody on the way to read"
    message = (
        f"Permission denied: {reason}. Set MCP_AQL_BASE_URL to an address of https; or MCP_AQL_AUTH_ALLOW_HTTP=true, "
        "if the network can be trusted."
    )
    details = {"reason": reason, "missing": [], "setting": "MCP_AQL_AUTH_ALLOW_HTTP"}
    return Failure(Code.PERMISSION_DENIED, message, details)


def _is_absolute(url: str) -> bool:
    try:
        parts = urlsplit(url.strip())
        return parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and not placeholders(url)
    except ValueError:
        return False


def leads_up(path: str) -> bool:
    """Return True if a path, or a part of one, holds a step such as `..`, as some server may read it.

    Servers may decode more than once, read a backslash as a slash and similar characters as dots, and drop blanks,
    control characters and what follows a semicolon.
    """
    for _ in range(_MAX_DECODINGS):
        decoded = unquote(path)
        if "\0" in decoded or any(step in (".", "..") for step in steps_read(decoded)):
            return True
        if decoded == path:
            return False
        path = decoded
    return True


def steps_read(text: str) -> list[str]:
    """Return the steps that a lenient server sees between the slashes of a decoded text."""
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKC", text)
    return [_CONTROL.sub("", step.partition(";")[0]).strip() for step in text.replace("\\", "/").split("/")]
