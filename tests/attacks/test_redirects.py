"""Attacks by redirects and by names: from one origin to another, into private networks, and by rebinding."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import replace

import httpx2
import pytest

from aqlgen.diagnostics.errors import FileError
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.web import Web
from aqlgen.runtime import hosts
from aqlgen.runtime.client.retries import redirected
from aqlgen.runtime.client.transport import HttpTransport
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.hosts import CheckedConnections, is_link_local_host, is_public_address
from aqlgen.runtime.hosts.gate import Hosts
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter
from aqlgen.runtime.wire import ApiRequest, ApiResponse, PrivateAddress
from tests.attacks.test_hosts import ADAPTER
from tests.cases import each

SECRET = "s3cret-key"
API = "https://api.example.com"
PUBLIC = "93.184.215.14"
Answer = Callable[[httpx2.Request], httpx2.Response]


class Names:
    """A resolver whose answers follow one another; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def request(url: str = f"{API}/a", method: str = "GET", content: bytes | None = None) -> ApiRequest:
    headers = (("Authorization", f"Bearer {SECRET}"), ("Cookie", f"s={SECRET}"), ("X-Api-Key", SECRET), ("X-Id", "7"))
    headers += (("Accept", "application/json"), *(() if content is None else (("Content-Type", "text/plain"),)))
    return ApiRequest(method, url, headers, content, frozenset({SECRET}))


def follow(
    first: ApiRequest,
    status: int,
    *locations: str,
    names: Names | None = None,
    hosts: Hosts | None = None,
    then: Answer = lambda _: httpx2.Response(200, content=b"there"),
) -> tuple[ApiResponse, list[httpx2.Request]]:
    """Send a request that is redirected to each location in turn; return the response and all that was sent."""
    seen: list[httpx2.Request] = []

    def handle(sent: httpx2.Request) -> httpx2.Response:
        seen.append(sent)
        if len(seen) <= len(locations):
            return httpx2.Response(status, headers={"Location": locations[len(seen) - 1]})
        return then(sent)

    async def run() -> ApiResponse:
        stand_in = httpx2.MockTransport(handle)
        names_ = names or Names([PUBLIC])
        transport = HttpTransport(
            Config(timeout=5, max_response_size=10_000, retries=0),
            transport=stand_in,
            hosts=hosts and (lambda: hosts),
            resolver=names_,
            verify=False,
        )
        try:
            return await transport.send(first, None)
        finally:
            await transport.aclose()

    return asyncio.run(run()), seen


def listing(*origins: str) -> Hosts:
    return Hosts(Adapter.of({**ADAPTER, "accepted": {"api": [API], "hosts": list(origins)}}))


@each("status", [301, 302, 303, 307, 308])
@each(
    "location",
    [
        "https://evil.example.net/b",
        "//evil.example.net/b",
        "https://api.example.com.evil.example.net/b",
        f"{API}:8443/b",
        "https://user@evil.example.net/b",
        "https://api.example.com@evil.example.net/b",
        "\\\\evil.example.net\\b",
        "https:\\\\evil.example.net/b",
        "http://api.example.com/b",
    ],
)
def test_no_credential_goes_with_a_redirect_to_another_origin(status: int, location: str) -> None:
    """R-TRUST-2"""
    _, seen = follow(request(), status, location)
    for sent in seen[1:]:
        text = f"{sent.url} {sent.headers.raw} {sent.content!r}"
        assert SECRET not in text or str(sent.url).startswith(f"{API}/")
        assert sent.url.scheme == "https"


def test_no_credential_comes_back_after_a_way_through_another_origin() -> None:
    _, seen = follow(request(), 302, "https://evil.example.net/b", f"{API}/c")
    assert len(seen) == 3
    assert not any(SECRET in str(sent.headers.raw) for sent in seen[1:])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_body_goes_to_another_origin(status: int) -> None:
    _, seen = follow(request(method="POST", content=b"the body"), status, "https://evil.example.net/b")
    assert [sent.url.host for sent in seen] == ["api.example.com"]


@pytest.mark.parametrize(
    ("status", "methods"), [(307, ["POST", "POST"]), (308, ["POST", "POST"]), (303, ["POST", "GET"])]
)
def test_the_method_on_the_way_is_that_of_the_standard(status: int, methods: list[str]) -> None:
    """RFC 9110, 15.4"""
    _, seen = follow(request(method="POST", content=b"the body"), status, "/b")
    assert [sent.method for sent in seen] == methods
    assert seen[1].content == (b"the body" if methods[1] == "POST" else b"")


@each("source", [f"{API}/a", "https://files.example.net/a"])
@each("scheme", ["http", "HTTP", "ftp", "file", "gopher", "javascript", "data", "ws"])
def test_encryption_is_never_lost_on_the_way(source: str, scheme: str) -> None:
    host = source.removeprefix("https://").partition("/")[0]
    assert redirected(request(source), ApiResponse(302, {"location": f"{scheme}://{host}/b"}, b"")) is None


PRIVATE = [
    "127.0.0.1", "127.1", "0.0.0.0", "0", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001",
    "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "169.254.169.254.", "2852039166",
    "0xa9fea9fe", "0251.0376.0251.0376", "192.0.0.192", "198.18.0.1", "224.0.0.1", "239.255.255.250", "255.255.255.255",
    "240.0.0.1", "[::]", "[::1]", "[fe80::1]", "[fec0::1]", "[fd00:ec2::254]", "[fc00::1]", "[ff02::1]",
    "[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]",
    "[64:ff9b::169.254.169.254]", "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::]",
    "[2001:db8::1]", "localhost", "LOCALHOST", "localhost.", "app.localhost", "metadata.google.internal",
    "printer.local", "router.home.arpa", "intranet", "a..example.com", f"{'a' * 300}.com",
]  # fmt: skip


@each("host", PRIVATE)
def test_no_redirect_leads_into_a_private_network(host: str) -> None:
    for source in (f"{API}/a", "https://10.1.2.3/a"):
        answer, seen = follow(request(source), 302, f"https://{host}/latest/meta-data")
        assert (answer.status, len(seen)) == (302, 1)


ADDRESSES = [name.strip("[]") for name in PRIVATE if ":" in name or (name.count(".") == 3 and name[0].isdigit())]


@each("address", [address for address in ADDRESSES if not address.startswith(("0177", "0251"))])
def test_no_name_leads_into_a_private_network(address: str) -> None:
    names = Names([PUBLIC, address.rstrip(".")])
    answer, seen = follow(request(), 302, "https://rebind.example.net/b", names=names)
    assert (answer.status, len(seen)) == (302, 1)
    assert names.asked == ["rebind.example.net"]


def test_a_name_is_resolved_once_and_what_was_checked_is_connected_to() -> None:
    """A second answer, which would lead into the private network, is never asked for (DNS rebinding)."""
    names = Names([PUBLIC], ["127.0.0.1"])
    answer, seen = follow(request(), 302, "https://rebind.example.net:8443/b?c", names=names)
    assert answer.content == b"there"
    assert names.asked == ["rebind.example.net"]
    assert seen[1].url.host == PUBLIC
    assert seen[1].url.port == 8443
    assert seen[1].headers["host"] == "rebind.example.net:8443"
    assert seen[1].extensions["sni_hostname"] == "rebind.example.net"


def test_each_redirect_on_the_way_is_checked_anew() -> None:
    names = Names([PUBLIC], ["10.0.0.1"])
    answer, seen = follow(request(), 302, "https://one.example.net/b", "https://two.example.net/c", names=names)
    assert answer.status == 302
    assert len(seen) == 2
    names = Names([PUBLIC], ["10.0.0.1"])
    _, seen = follow(request(), 302, "https://one.example.net/b", "/again", names=names)
    assert len(seen) == 2


def test_the_way_back_to_the_api_is_no_way_into_its_network() -> None:
    names = Names([PUBLIC], ["10.0.0.1"])
    _, seen = follow(request(), 302, "https://evil.example.net/b", f"{API}/admin", names=names)
    assert len(seen) == 2


def test_cookies_of_a_host_that_a_redirect_names_are_not_kept() -> None:
    async def run() -> int:
        answer = httpx2.Response(200, headers={"Set-Cookie": "a=b"})
        transport = httpx2.MockTransport(lambda _: answer)
        connections = CheckedConnections(transport=transport, resolver=Names([PUBLIC]))
        await connections.send(httpx2.Request("GET", "https://files.example.com/"))
        kept = len(connections._client(proxied=False).cookies.jar)
        await connections.aclose()
        return kept

    assert asyncio.run(run()) == 0


def test_connections_of_two_names_are_not_shared() -> None:
    async def run() -> None:
        connections = CheckedConnections(resolver=Names([PUBLIC]))
        client = connections._client(proxied=False)
        assert client._transport._pool._max_keepalive_connections == 0  # type: ignore[attr-defined]
        await connections.aclose()

    asyncio.run(run())


@pytest.mark.parametrize("target", ["https://10.9.9.9/b", "https://intranet/b", "https://10.0.0.1:9000/b"])
def test_a_private_host_that_the_owner_lists_is_followed_without_credentials(target: str) -> None:
    origin = target.removesuffix("/b")
    for source in (f"{API}/a", "https://10.0.0.1/a"):
        _, seen = follow(request(source), 302, target, hosts=listing(origin))
        assert str(seen[1].url) == target
        assert SECRET not in str(seen[1].headers.raw)


@pytest.mark.parametrize("listed", ["https://10.9.9.8", "https://10.9.9.9:8443", "http://10.9.9.9", "https://intranet"])
def test_another_host_than_the_listed_one_stays_closed(listed: str) -> None:
    answer, seen = follow(request(), 302, "https://10.9.9.9/b", hosts=listing(listed))
    assert (answer.status, len(seen)) == (302, 1)


@each("end", ["/?k=s3cret-key", "/s3cret%2Dkey", ":99999/"])
def test_a_location_that_repeats_a_credential_or_has_no_port_is_not_followed(end: str) -> None:
    _, seen = follow(request(), 302, f"https://evil.example.net{end}")
    assert len(seen) == 1


def test_a_host_that_only_a_redirect_named_is_blamed_for_itself() -> None:
    def dead(sent: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("no such host", request=sent)

    with pytest.raises(Failure, match=r"could be made to 'evil.example.net'"):
        follow(request(), 302, "https://evil.example.net/b", then=dead)


@pytest.mark.parametrize("count", [6, 50])
def test_redirects_end(count: int) -> None:
    locations = [f"https://h{number}.example.net/" for number in range(count)]
    with pytest.raises(Exception, match="redirected"):
        follow(request(), 302, *locations)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::"]
)
def test_the_open_network_stays_open(address: str) -> None:
    assert is_public_address(ipaddress.ip_address(address))


def test_a_redirect_that_the_gate_holds_back_is_not_followed() -> None:
    held_back = replace(request(), follows=lambda _: False)
    response, sent = follow(held_back, 302, f"{API}/b")
    assert (response.status, len(sent)) == (302, 1)


@pytest.mark.parametrize("host", ["169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "[fe80::1]"])
def test_a_link_local_address_is_known_in_every_notation(host: str) -> None:
    assert is_link_local_host(host.strip("[]"))


# Documents by URL


def read(monkeypatch: pytest.MonkeyPatch, spec: str, answer: Answer, names: Names, *named: str) -> list[httpx2.Request]:
    """Fetch a document; return all that was sent."""
    seen: list[httpx2.Request] = []

    def handle(sent: httpx2.Request) -> httpx2.Response:
        seen.append(sent)
        return answer(sent)

    web = Web(spec, [("Authorization", SECRET)], Limits(), named)
    transport = httpx2.MockTransport(handle)
    web._client = httpx2.AsyncClient(transport=transport)
    web._checked = CheckedConnections(transport=transport, resolver=names)
    try:
        web.get(spec)
    except FileError:
        seen.append(httpx2.Request("GET", "https://refused.invalid/"))
    finally:
        web.close()
    return seen


def once(location: str) -> Answer:
    def answer(sent: httpx2.Request) -> httpx2.Response:
        if sent.url.path == "/openapi.json":
            return httpx2.Response(302, headers={"Location": location})
        return httpx2.Response(200, content=b"{}")

    return answer


@pytest.mark.parametrize(
    ("spec", "location"),
    [
        *(
            (f"{API}/openapi.json", f"https://{host}/x")
            for host in ("169.254.169.254", "[::1]", "10.0.0.1", "localhost")
        ),
        ("http://10.0.0.1/openapi.json", "http://10.0.0.2/x"),
        ("http://localhost:8000/openapi.json", "http://127.0.0.1:8000/x"),
        (f"{API}/openapi.json", "http://api.example.com/x"),
        (f"{API}/openapi.json", "file:///etc/passwd"),
    ],
)
def test_a_document_is_not_fetched_from_a_private_network_that_a_redirect_names(
    monkeypatch: pytest.MonkeyPatch, spec: str, location: str
) -> None:
    seen = read(monkeypatch, spec, once(location), Names([PUBLIC]))
    assert [sent.url.host for sent in seen[1:]] == ["refused.invalid"]


def test_a_document_is_fetched_from_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names([PUBLIC], ["127.0.0.1"])
    seen = read(monkeypatch, f"{API}/openapi.json", once("https://cdn.example.net/x"), names)
    assert [sent.url.host for sent in seen] == ["api.example.com", PUBLIC]
    assert names.asked == ["cdn.example.net"]
    assert SECRET not in str(seen[1].headers.raw)


def test_a_document_of_a_private_host_that_the_user_named_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(["10.0.0.9"])
    redirect = once("http://10.0.0.9/x")
    assert len(read(monkeypatch, "http://10.0.0.1/openapi.json", redirect, names, "http://10.0.0.9/")) == 2


def test_a_proxy_of_the_environment_still_hides_no_private_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "proxy_for", lambda url: ("proxy", "HTTPS_PROXY"))

    async def run(url: str) -> None:
        connections = CheckedConnections()
        try:
            await connections.send(httpx2.Request("GET", url))
        finally:
            await connections.aclose()

    for url in ("https://169.254.169.254/", "https://metadata.google.internal/", "https://0x7f.1/"):
        with pytest.raises(PrivateAddress):
            asyncio.run(run(url))
