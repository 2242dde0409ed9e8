# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Small JSON exchanges with an authorization server: bounded, without redirects, over TLS or on this machine only."""

from __future__ import annotations

import ipaddress
import json
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import anyio

if TYPE_CHECKING:
    import httpx2

__all__ = ["Fetch", "Fetched", "Unreachable", "is_safe"]

_LONGEST = 1024 * 1024


class Unreachable(Exception):
    """No usable answer came; the message says why, as the end of a sentence."""


class Fetched(NamedTuple):
    """An answer; `body` is empty when it was no JSON object."""

    status: int
    body: Mapping[str, Any]


def is_safe(url: str) -> bool:
    """Whether secrets may be sent to a URL: https, or http on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme == "https":
        return bool(host)
    return parts.scheme == "http" and (host == "localhost" or _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Fetch:
    """Asks authorization servers. `timeout` (seconds) bounds a whole exchange."""

    def __init__(
        self,
        timeout: float = 30.0,
        *,
        verify: ssl.SSLContext | bool = True,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._timeout = timeout
        self._verify = verify
        self._transport = transport

    async def get(self, url: str) -> Fetched:
        """Read a document. Raises Unreachable."""
        return await self._ask("GET", url, {}, None)

    async def post(self, url: str, form: Mapping[str, str], headers: Mapping[str, str]) -> Fetched:
        """Send a form. Raises Unreachable."""
        more = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return await self._ask("POST", url, more, urlencode(form).encode())

    async def _ask(self, method: str, url: str, headers: Mapping[str, str], content: bytes | None) -> Fetched:
        import httpx2

        if self._verify is True:
            self._verify = httpx2.create_ssl_context()  # once: it reads every authority's certificate
        try:
            with anyio.fail_after(self._timeout):
                async with httpx2.AsyncClient(
                    verify=self._verify, transport=self._transport, timeout=self._timeout, follow_redirects=False
                ) as client:
                    sent = client.build_request(
                        method, url, headers={"Accept": "application/json", **headers}, content=content
                    )
                    response = await client.send(sent, stream=True)
                    try:
                        body = await _read(response)
                    finally:
                        await response.aclose()
        except (TimeoutError, httpx2.TimeoutException):
            raise Unreachable(f"did not answer within {self._timeout:g} seconds") from None
        except (httpx2.TransportError, httpx2.StreamError, httpx2.DecodingError, OSError):
            raise Unreachable("could not be reached") from None
        except (httpx2.InvalidURL, ValueError):
            raise Unreachable("has an address that cannot be used") from None
        return Fetched(response.status_code, body)


async def _read(response: httpx2.Response) -> Mapping[str, Any]:
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > _LONGEST:
            raise Unreachable("answered with too much")
        chunks.append(chunk)
    try:
        body = json.loads(b"".join(chunks))
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}
