"""Origins of URLs (RFC 6454), and requests to hosts that only an answer named.

Origins are read so strictly that no other reader of the same URL arrives at another host. A name is resolved once, and
what was checked is connected to: it cannot mean a public address when it is checked and a private one when it is
connected to (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

from ..wire import PrivateAddress

if TYPE_CHECKING:
    from http.cookiejar import CookieJar

    import httpx2

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]

_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::ffff:0:0:0/96"))
"""Prefixes whose last 32 bits are an IPv4 address (RFC 6052, RFC 2765)."""
_SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "64:ff9b:1::/48", "2001::/23", "3fff::/20", "5f00::/16")))
"""Networks of the registries of special purposes (RFC 6890) that not every release of Python calls private."""
_MAX_ADDRESSES = 4
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".localdomain", ".home.arpa")


def is_public_address(address: Address) -> bool:
    """Return True if an address is of the open network, and so is the IPv4 address that it may carry."""
    if isinstance(address, ipaddress.IPv6Address):
        carried = _carried(address)
        if carried is not None:
            return is_public_address(carried)
        if address.is_site_local:
            return False
    return address.is_global and not (
        address.is_multicast
        or address.is_reserved
        or address.is_link_local
        or address.is_loopback
        or address.is_unspecified
        or any(address in network for network in _SPECIAL)
    )


def is_public_host(host: str) -> bool:
    """Return True if a host may be in the open network; a name that says nothing else may."""
    bare = host.strip("[]").rstrip(".").lower()
    try:
        return is_public_address(ipaddress.ip_address(bare.partition("%")[0]))
    except ValueError:
        pass
    if "." not in bare or bare.endswith(_LOCAL_SUFFIXES):
        return False
    return not all(part.isdigit() or part.startswith("0x") for part in bare.split("."))  # odd forms of an address


def is_same_private_host(host: str, other: str) -> bool:
    """Return True for the same host that says itself that it is private: its other ports are no further network."""
    return host == other and not is_public_host(host)


def is_link_local_host(host: str) -> bool:
    """Return True if a host is a literal link-local address in any notation: that of a cloud's metadata is."""
    try:
        address: Address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        try:
            address = ipaddress.IPv4Address(socket.inet_aton(host))  # decimal, octal, hexadecimal and short forms
        except (OSError, UnicodeError):
            return False
    carried = _carried(address) if isinstance(address, ipaddress.IPv6Address) else None
    return (carried or address).is_link_local


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for: mapped, NAT64 or 6to4."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if any(address in network for network in _NAT64):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host. Raises OSError."""
    import anyio

    answers = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


class CheckedConnections:
    """Sends requests to public addresses alone, without a client's certificate.

    Connections are used once: nothing is shared between two hosts. Where the environment names a proxy for a URL, the
    proxy resolves the name, and only the name itself is checked.
    """

    def __init__(self, *, transport: httpx2.AsyncBaseTransport | None = None, resolver: Resolve = resolve) -> None:
        self._transport = transport
        self._resolver = resolver
        self._clients: dict[bool, httpx2.AsyncClient] = {}

    async def send(self, request: httpx2.Request, *, anywhere: bool = False) -> httpx2.Response:
        """Send a request, with `anywhere` to any address; the body of the response is not read yet.

        Raises PrivateAddress, OSError and httpx2's.
        """
        import httpx2

        host = request.url.host
        if not anywhere and not is_public_host(host):
            raise PrivateAddress(host)
        if anywhere or (self._transport is None and proxy_for(request.url)):
            return await self._client(proxied=True).send(request, stream=True)
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        addresses = [str(address).partition("%")[0] for address in await self._resolver(host, port)]
        if not addresses or not all(is_public_address(ipaddress.ip_address(address)) for address in addresses):
            raise PrivateAddress(host)
        client = self._client(proxied=False)
        last = min(len(addresses), _MAX_ADDRESSES) - 1
        for address in addresses[:last]:
            try:
                return await client.send(_pinned(request, address), stream=True)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await client.send(_pinned(request, addresses[last]), stream=True)

    async def aclose(self) -> None:
        """Close what is open."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    def _client(self, *, proxied: bool) -> httpx2.AsyncClient:
        client = self._clients.get(proxied)
        if client is None:
            import httpx2

            client = self._clients[proxied] = httpx2.AsyncClient(
                verify=self._transport is None and httpx2.create_ssl_context(),
                transport=self._transport,
                follow_redirects=False,
                trust_env=proxied,
                limits=httpx2.Limits(max_keepalive_connections=0),
                cookies=no_cookies(),
            )
        return client


def no_cookies() -> CookieJar:
    """Return a jar that takes no cookie: one caller's are not another's."""
    from http.cookiejar import CookieJar, DefaultCookiePolicy  # not above: generating opens no connection

    return CookieJar(DefaultCookiePolicy(allowed_domains=[]))


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """Return the request to an address; the name stays in the Host header, and in TLS for the certificate."""
    import httpx2

    headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"host"]
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=[(b"Host", request.url.netloc), *headers],
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.raw_host.decode("ascii").rstrip(".")},
    )


def proxy_for(url: httpx2.URL) -> tuple[str, str] | None:
    """Return the proxy of a URL, without its credentials, and the variable that names it; None without one."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    name = url.scheme if url.scheme in proxies else "all"
    if not proxies.get(name) or proxy_bypass(url.host):
        return None
    return proxies[name].rpartition("@")[2].rpartition("//")[2].rstrip("/"), f"{name.upper()}_PROXY"


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
            raise ValueError("is not an http or https URL")
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
    """Return an international name in ASCII (RFC 5891), as the HTTP client sends it; "" for what is not a name."""
    import httpx2

    try:
        return httpx2.URL(f"https://{name}/").raw_host.decode("ascii")
    except (httpx2.InvalidURL, ValueError):
        return ""
