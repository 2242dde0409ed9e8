# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Origins of URLs (RFC 6454), read so strictly that no other reader of the same URL arrives at another host.

A URL has no origin here if its authority holds a backslash, white space, a percent sign or two `@`: readers of URLs
disagree about those.
"""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple, Self

from .addresses import is_public_host

__all__ = ["Origin", "origins_of_entry", "yaml_entry"]

_URL = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE | re.ASCII)
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*", re.ASCII)
_PLACE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]*)(?::([0-9]*))?", re.ASCII)
_PLAIN = re.compile(r"(?=[a-z0-9.-]*[a-z]{2}$)[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+", re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_NAME = 253
_MAX_PORT = 65535


class Origin(NamedTuple):
    """Scheme, host and port. The host is lower-case ASCII without a dot at its end; an IPv6 address has no brackets."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Self | None:
        """Return the origin of an absolute http or https URL, None if it has none that is beyond doubt."""
        match = _URL.match(url)
        if match is None:
            return None
        scheme, authority = match[1].lower(), match[2]
        userinfo, at, place = authority.rpartition("@")
        if "@" in userinfo or any(character <= " " or character in "\\\x7f" for character in authority):
            return None
        return cls._at(scheme, place if at else authority)

    @classmethod
    def _at(cls, scheme: str, place: str) -> Self | None:
        match = _PLACE.fullmatch(place)
        if match is None:
            return None
        host, port = _host(match[1]), _DEFAULT_PORTS[scheme]
        if match[2]:
            port = int(match[2]) if len(match[2]) <= 5 else 0
        return cls(scheme, host, port) if host and 0 < port <= _MAX_PORT else None

    @property
    def place(self) -> str:
        """The host, with the port unless it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def entry(self) -> str:
        """The entry for this origin in the list of hosts of `overrides.yaml`."""
        return str(self) if self.scheme == "http" and is_public_host(self.host) else self.place

    def __str__(self) -> str:
        return f"{self.scheme}://{self.place}"


def origins_of_entry(entry: str) -> tuple[Origin, ...]:
    """Return the origins that an entry of the owner's list of hosts accepts. Raises ValueError with what is wrong.

    An entry is `host` or `host:port` and means https, for a host that is not public http, too. `http://host` says
    outright that credentials may go there unencrypted.
    """
    scheme, separator, rest = entry.partition("://")
    schemes: tuple[str, ...] = ("https", "http")
    if separator:
        if scheme.lower() not in _DEFAULT_PORTS:
            raise ValueError("is no address of http or https")
        schemes, rest = (scheme.lower(),), rest.removesuffix("/")
    else:
        rest = entry
    if "*" in rest:
        raise ValueError("must name one host: wildcards are not taken")
    if "@" in rest:
        raise ValueError("must not hold a user name or a password")
    if any(character in rest for character in "/?#\\"):
        raise ValueError("must be a host alone, without a path")
    origins = [origin for scheme in schemes if (origin := Origin._at(scheme, rest)) is not None]
    if not origins:
        raise ValueError("is neither a host nor host:port")
    if not separator and is_public_host(origins[0].host):
        return (origins[0],)
    return tuple(origins)


def yaml_entry(entry: str) -> str:
    """Return an entry of the list of hosts as YAML takes it for text within brackets."""
    return entry if _PLAIN.fullmatch(entry) else f'"{entry}"'


def _host(text: str) -> str:
    """Return a host in its one form, "" for what is none."""
    if text.startswith("["):
        try:
            return str(ipaddress.IPv6Address(text[1:-1]))
        except ValueError:
            return ""
    name = (text if text.isascii() else _punycode(text)).lower().removesuffix(".")
    return name if len(name) <= _MAX_NAME and _NAME.fullmatch(name) else ""


def _punycode(name: str) -> str:
    """Return an international name in ASCII (RFC 5891), as the HTTP client sends it; "" for what is no name."""
    import httpx2

    try:
        return httpx2.URL(f"https://{name}/").raw_host.decode("ascii")
    except (httpx2.InvalidURL, ValueError):
        return ""
