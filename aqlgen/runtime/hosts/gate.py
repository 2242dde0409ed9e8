"""The origins that the owner accepted, and the one place that decides that requests go to those and nowhere else.

The owner accepts by generating: the origin of the API's first server, and those that give tokens.
The origin of a server with variables is recorded with them and their defaults, `https://{region=eu}.example.com`. So
the owner's own choice of a value is followed, and another default that the document gives later is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

from ..encode.urls import replaced_placeholders
from ..errors import Code, Failure
from ..table import Accepted, Adapter
from . import Origin, is_link_local_host, yaml_entry

_RECORDED = re.compile(r"\{([^{}=]*)(?:=([^{}]*))?\}")
_AUTHORITY = re.compile(r"[^/?#]*//[^/?#]*|[^/?#]+")
_ENDPOINTS = ("token_url", "authorization_url")


def by_generating(servers: Sequence[Mapping[str, Any]], schemes: Mapping[str, Mapping[str, Any]]) -> Accepted:
    """Return the origins that are accepted when an adapter is generated for the first time."""
    api = [pattern for server in servers[:1] if (pattern := pattern_of(server))]
    oauth = dict.fromkeys(str(origin) for url in _token_urls(schemes) if (origin := Origin.of(url)) is not None)
    return {"api": [pattern for pattern in api if _is_harmless(pattern)], "oauth": list(filter(_is_harmless, oauth))}


def accepted_of(adapter: Adapter) -> Accepted:
    """Return the origins that the table records; for a table without a record, those that generating it accepts."""
    if adapter.accepted is not None:
        return adapter.accepted
    return by_generating(adapter.servers, adapter.security_schemes)


def is_listed(adapter: Adapter, url: str) -> bool:
    """Return True if the owner listed the origin of a URL in `overrides.yaml`, with its scheme."""
    return str(Origin.of(url)) in accepted_of(adapter).get("hosts", ())


def pattern_of(server: Mapping[str, Any]) -> str:
    """Return the origin of a server with its variables as they are recorded, "" for a server without one."""
    declared = server.get("variables", {})

    def variable(name: str) -> str:
        default = declared.get(name, {}).get("default")
        return f"{{{quote(name)}" + ("}" if default is None else f"={quote(str(default), safe='')}}}")

    authority = _AUTHORITY.match(replaced_placeholders(server["url"].strip(), variable))
    if authority is None:
        return ""
    if "{" in authority[0]:
        return authority[0]
    origin = Origin.of(authority[0])
    return "" if origin is None else str(origin)


def filled(pattern: str, chosen: Mapping[str, str]) -> Origin | None:
    """Return the origin of a recorded pattern: with the owner's values, else with the defaults that it records."""

    def value(match: re.Match[str]) -> str:
        name = unquote(match[1])
        return chosen.get(name, match[0] if match[2] is None else unquote(match[2]))

    return Origin.of(_RECORDED.sub(value, pattern).strip())


def _token_urls(schemes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the addresses by which tokens are had. Those that a token only is renewed at are not accepted unseen."""
    for scheme in schemes.values():
        for flow in scheme.get("flows", {}).values():
            yield from (str(flow[key]) for key in _ENDPOINTS if flow.get(key))
        if scheme.get("discovery_url"):
            yield str(scheme["discovery_url"])


def _is_harmless(pattern: str) -> bool:
    """Return False for a link-local address: what answers there is no API, but may be a cloud's metadata."""
    origin = filled(pattern, {})
    return origin is None or not is_link_local_host(origin.host)


class Hosts:
    """The accepted origins of an adapter.

    `base_url` and `chosen`, values of servers' variables, are the owner's settings; `settings` returns the addresses of
    authorization servers that the owner has set.
    """

    def __init__(
        self,
        adapter: Adapter,
        base_url: str | None = None,
        chosen: Mapping[str, str] | None = None,
        settings: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._adapter = adapter
        self._base_url = base_url
        self._chosen = chosen or {}
        self._settings = settings
        self._name = adapter.api

    def admit(self, url: str) -> None:
        """Let a request to the API pass. Raises Failure (PERMISSION_DENIED) for an origin that is not accepted."""
        if url.startswith(self._prefixes):
            return
        origin = Origin.of(url)
        if origin is None or origin not in self._api:
            raise refused(origin, self._name)

    def admit_authorization(self, url: str) -> None:
        """Let a request to an authorization server pass. Raises Failure (PERMISSION_DENIED)."""
        origin = Origin.of(url)
        if origin is not None and (origin in self._api or origin in self._oauth):
            return
        if origin is None or origin not in _origins(self._settings()):
            raise refused(origin, self._name)

    def is_owners(self, url: str) -> bool:
        """Return True if the owner named the origin of a URL, in `overrides.yaml` or in the settings."""
        origin = Origin.of(url)
        return origin is not None and origin in self._owners

    @cached_property
    def _owners(self) -> frozenset[Origin]:
        named = accepted_of(self._adapter).get("hosts", ())
        return _origins([*named, *([self._base_url.strip()] if self._base_url else ())])

    @cached_property
    def _api(self) -> frozenset[Origin]:
        patterns = accepted_of(self._adapter).get("api", ())
        generated = (filled(pattern, values) for pattern in patterns for values in ({}, self._chosen))
        return self._owners | {origin for origin in generated if origin is not None}

    @cached_property
    def _oauth(self) -> frozenset[Origin]:
        return _origins(accepted_of(self._adapter).get("oauth", ()))

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        """The beginnings of URLs whose origin is accepted: with the slash, nothing behind them changes it."""
        return tuple(f"{origin}/" for origin in self._api)


def refused(origin: Origin | None, api: str = "") -> Failure:
    """Build the refusal of an origin; it names the host and the entry that accepts it, for one of several APIs."""
    if origin is None:
        reason = "its address in the API's document is of a form to which no request is sent"
        return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}. Nothing was sent.", {"reason": reason})
    whose = f" for the API '{api}'" if api else ""
    reason = f"the adapter's owner has not accepted the host '{origin.place}'{whose}"
    entry = f"{{hosts: [{yaml_entry(origin.entry)}]}}"
    entry = f"apis: {{{api}: {entry}}}" if api else f"adapter: {entry}"
    return Failure(
        Code.PERMISSION_DENIED,
        f"Permission denied: {reason}. Nothing was sent. If requests and credentials may go there, the owner adds "
        f"'{entry}' to overrides.yaml and runs `aqlgen update`.",
        {"reason": reason, "host": origin.place, "origin": str(origin), "overrides": entry},
    )


def _origins(urls: Iterable[str]) -> frozenset[Origin]:
    return frozenset(origin for url in urls if (origin := Origin.of(url)) is not None)
