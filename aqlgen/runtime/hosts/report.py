"""Every host that an adapter knows of: what goes there, and whether the owner accepted it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from ..encode.urls import operation_url, server_url
from ..text import counted
from . import Origin
from .gate import accepted_of, filled

if TYPE_CHECKING:
    from ..table import Adapter, Server

_MAX_NAMES = 4
_NO_SETTINGS: Mapping[str, tuple[str | None, Mapping[str, str]]] = {}
_ENDPOINTS = {
    "token_url": "tokens",
    "refresh_url": "renewed tokens",
    "authorization_url": "logins in the browser",
}


@dataclass(frozen=True, slots=True)
class OperationHost:
    """The servers of an operation, and its security schemes where it names them."""

    servers: Sequence[Server]
    security: Sequence[Sequence[str]] | None
    api: str = ""
    """The API that it belongs to, where the adapter has several."""


@dataclass(slots=True)
class HostUse:
    """An origin: how many operations are called there, with which credentials, and what else it is for.

    `accepted_by` is `generating`, `overrides`, `settings`, or empty for an origin to which nothing is sent.
    """

    origin: str
    place: str
    entry: str
    accepted_by: str = ""
    operations: int = 0
    credentials: dict[str, None] = field(default_factory=dict)
    purposes: dict[str, None] = field(default_factory=dict)
    api: str = ""
    """The API whose requests go there, where the adapter has several."""

    @property
    def is_used(self) -> bool:
        """True if something would go there; False for a server that is only named."""
        return bool(self.operations or self.purposes)

    @property
    def summary(self) -> str:
        """The operations, purposes and credentials, in a few words."""
        parts = [counted(self.operations, "operation")] if self.operations else []
        parts += self.purposes
        names = list(self.credentials)
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        noun = "credentials" if len(names) > 1 else "credential"
        credentials = f", with {noun} {', '.join(names[:_MAX_NAMES])}{more}" if names else ""
        whose = f"{self.api}: " if self.api else ""
        return f"{whose}{'; '.join(parts)}{credentials}" if parts else f"{whose}named by the document; gets no requests"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "origin": self.origin,
            "host": self.place,
            "accepted": bool(self.accepted_by),
            "accepted_by": self.accepted_by or None,
            "operations": self.operations,
            "credentials": list(self.credentials),
            "purposes": list(self.purposes),
            "overrides": self.entry,
            **({"api": self.api} if self.api else {}),
        }


def host_uses(
    adapter: Adapter,
    operations: Iterable[OperationHost],
    settings: Mapping[str, tuple[str | None, Mapping[str, str]]] = _NO_SETTINGS,
) -> list[HostUse]:
    """Return the hosts that the document names, and those that the owner accepts, the API's own first.

    Of several APIs, each has its own. `settings` are, by API, the owner's base URL and values of servers' variables.
    """
    operations = list(operations)
    return [
        use
        for name, part in adapter.of_each_api().items()
        for use in _uses_of(part, [item for item in operations if item.api == name], *settings.get(name, (None, {})))
    ]


def entry_of(uses: Iterable[HostUse]) -> dict[str, Any]:
    """Return the entry of `overrides.yaml` that would accept what is used and not accepted yet, {} if all is."""
    hosts: dict[str, dict[str, None]] = {}
    for use in uses:
        if use.is_used and not use.accepted_by:
            hosts.setdefault(use.api, {})[use.entry] = None
    entries: dict[str, Any] = {"adapter": {"hosts": list(hosts.pop(""))}} if "" in hosts else {}
    return entries | ({"apis": {api: {"hosts": list(listed)} for api, listed in hosts.items()}} if hosts else {})


def _uses_of(
    adapter: Adapter, operations: Iterable[OperationHost], base_url: str | None, chosen: Mapping[str, str]
) -> list[HostUse]:
    uses: dict[Origin, HostUse] = {}
    main = base_url or (server_url(adapter.servers[0], chosen) if adapter.servers else "")
    for operation in operations:
        use = _use(uses, adapter.api, operation_url(adapter.servers, operation.servers, base_url, chosen))
        if use is not None:
            use.operations += 1
            security = adapter.security if operation.security is None else operation.security
            use.credentials |= dict.fromkeys(name for schemes in security for name in schemes)
    for name, scheme in adapter.security_schemes.items():
        for address, words in _endpoints(scheme):
            use = _use(uses, adapter.api, _joined(main, address))
            if use is not None:
                use.purposes[words] = None
                use.credentials[name] = None
    for server in adapter.servers:
        _use(uses, adapter.api, server_url(server, chosen))
    for origin in accepted_of(adapter).get("hosts", ()):
        _use(uses, adapter.api, origin)
    _mark(uses, adapter, base_url, chosen)
    return list(uses.values())


def _endpoints(scheme: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the addresses of a scheme's authorization server, each with what it is for."""
    for flow in scheme.get("flows", {}).values():
        yield from ((str(flow[key]), words) for key, words in _ENDPOINTS.items() if flow.get(key))
    if scheme.get("discovery_url"):
        yield str(scheme["discovery_url"]), "discovery of the authorization server"


def _mark(uses: Mapping[Origin, HostUse], adapter: Adapter, base_url: str | None, chosen: Mapping[str, str]) -> None:
    """Set who accepted each origin; an origin by which tokens are had is accepted for that alone."""
    accepted = accepted_of(adapter)
    api = {filled(pattern, values) for pattern in accepted.get("api", ()) for values in ({}, chosen)}
    oauth, hosts = (set(map(Origin.of, urls)) for urls in (accepted.get("oauth", ()), accepted.get("hosts", ())))
    for origin, use in uses.items():
        if base_url and origin == Origin.of(base_url):
            use.accepted_by = "settings"
        elif origin in hosts:
            use.accepted_by = "overrides"
        elif origin in api or (origin in oauth and not use.operations):
            use.accepted_by = "generating"


def _use(uses: dict[Origin, HostUse], api: str, url: str) -> HostUse | None:
    origin = Origin.of(url.strip())
    if origin is None:
        return None
    if origin not in uses:
        uses[origin] = HostUse(str(origin), origin.place, origin.entry, api=api)
    return uses[origin]


def _joined(base: str, url: str) -> str:
    """Return a URL that may be relative to the API's address."""
    try:
        return urljoin(f"{base.rstrip('/')}/", url)
    except ValueError:  # no URL at all, such as http://[
        return ""
