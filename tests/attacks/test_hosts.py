"""Attacks that want a request or a credential to go where the owner has not accepted it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from forms import FORMS, Formed

from aqlgen.compare import compare, surface_of_table
from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.read import open_document
from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.auth.discovery import Fetch
from aqlgen.runtime.auth.login import LoginIO, find_server
from aqlgen.runtime.auth.sources import Sources
from aqlgen.runtime.client.transport import HttpTransport
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.hosts import Origin
from aqlgen.runtime.hosts.gate import Hosts
from aqlgen.runtime.settings.load import Variables
from aqlgen.runtime.table import Adapter
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.cases import each
from tests.documents import replies
from tests.generator.commands import api, run, tabulate

API = "https://api.example.com"
EVIL = "https://evil.example.net"
KEY = "k3y-of-the-owner"
Json = dict[str, Any]


def document(servers: object = None, operation: Json | None = None, path: Json | None = None, **schemes: Json) -> Json:
    """Return an API of one operation, with servers in three places, and security schemes beside its key."""
    read = {"operationId": "listThings", "responses": replies(), **(operation or {})}
    key = {"type": "apiKey", "in": "header", "name": "X-Key"}
    return api(
        {"/things": {"get": read, **(path or {})}},
        info={"title": "Things", "version": "1"},
        servers=[{"url": f"{API}/v1"}] if servers is None else servers,
        components={"securitySchemes": {"key": key, **schemes}},
        security=[{name: []} for name in (schemes or ["key"])],
    )


def at(url: str, **variables: str) -> list[Json]:
    declared = {"variables": {name: {"default": value} for name, value in variables.items()}} if variables else {}
    return [{"url": url, **declared}]


def oauth(**urls: str) -> Json:
    return {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": f"{API}/token", "scopes": {}, **urls}}}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the URLs that are sent to; a name that is looked up is a failure."""
    urls: list[str] = []

    async def send(self: HttpTransport, request: ApiRequest, row: object) -> ApiResponse:
        urls.append(request.url)
        return ApiResponse(200, {"content-type": "application/json"}, b"{}")

    async def ask(self: Fetch, method: str, url: str, *rest: object) -> object:
        self.admit(url)
        urls.append(url)
        raise AssertionError(url)

    def look_up(*arguments: object, **more: object) -> object:
        raise AssertionError(f"looked up {arguments}")

    monkeypatch.setattr(HttpTransport, "send", send)
    monkeypatch.setattr(Fetch, "_ask", ask)
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(anyio, "getaddrinfo", look_up)
    return urls


def call(
    tmp_path: Path,
    api: Json,
    overrides: str | None = None,
    environ: Mapping[str, str] | None = None,
    params: Json | None = None,
    form: str = "alone",
    **options: Any,
) -> Json:
    """Generate the table, call its operation, and return the envelope."""
    table = tabulate(tmp_path, api, overrides=overrides, **options)
    package = table.write(tmp_path / "package")
    prefix = next(iter(table.adapter["security_schemes"].values()))["variables"][0]
    parts = assemble(package, environ={prefix: KEY, "MCP_AQL_STATE_URL": "memory:", **(environ or {})})
    name = next(iter(table.rows))
    envelope: Json = asyncio.run(
        Formed(parts.dispatcher, form).handle(None, {"operation": name, "params": params or {}})
    )
    return envelope


def refusal(envelope: Json) -> Json:
    assert not envelope["success"], envelope
    assert envelope["error"]["code"] == "PERMISSION_DENIED", envelope
    details: Json = envelope["error"]["details"]
    return details


DISGUISES = [
    "https://api.example.com@evil.example.net/",
    "https://api.example.com:443@evil.example.net/",
    "https://api.example.com%40evil.example.net/",
    "https://api.example.com%2F@evil.example.net/",
    "https://api.example.com\\@evil.example.net/",
    "https://evil.example.net\\@api.example.com/",
    "https://evil.example.net\\.api.example.com/",
    "https://evil.example.net#@api.example.com/",
    "https://evil.example.net?@api.example.com/",
    "https://user@evil.example.net@api.example.com/",
    "https://api.example.com.evil.example.net/",
    "https://evil-api.example.com/",
    "https://xapi.example.com/",
    "https://example.com/",
    "https://sub.api.example.com/",
    "https://api.example.com../",
    "https://.api.example.com/",
    "https://api..example.com/",
    "https://api.example.com:8443/",
    "https://api.example.com:80/",
    "https://api.example.com:0443/x",
    "https://api.example.com:-443/",
    "https://api.example.com:443:443/",
    "https://api.example.com:99999/",
    "https://api.example.com:٤٤٣/",
    "http://api.example.com/",
    "http://api.example.com:443/",
    "HTTP://API.EXAMPLE.COM/",
    "//api.example.com/",
    "https:/api.example.com/",
    "https:///api.example.com/",
    "https:api.example.com/",
    "ftp://api.example.com/",
    "file://api.example.com/etc/passwd",
    "wss://api.example.com/",
    "https://api.example.com\t.evil.example.net/",
    "https://api.exam\nple.com/",
    "https://api.example.com\x00.evil.example.net/",
    " https://evil.example.net/",
    "https://аpi.example.com/",
    "https://api%2eexample.com/",
    "https://api.example.com%00/",
    "https://[api.example.com]/",
    "https://[::ffff:1.2.3.4]/",
    "https://[fe80::1%25eth0]/",
    "https://1.2.3.4/",
    "https://16909060/",
    "https://0x01020304/",
    "",
]


@each("url", DISGUISES)
def test_no_disguise_of_another_origin_passes_for_the_accepted_one(url: str) -> None:
    """R-TRUST-2"""
    adapter = Adapter.of({**ADAPTER, "accepted": {"api": [API]}})
    if url == "https://api.example.com:0443/x":  # a port is a number
        Hosts(adapter).admit(url)
        return
    with pytest.raises(Failure) as refused:
        Hosts(adapter).admit(url)
    assert refused.value.code is Code.PERMISSION_DENIED
    with pytest.raises(Failure):
        Hosts(adapter).admit_authorization(url)


ADAPTER: Json = {
    "name": "things",
    "package": "things_adapter",
    "title": "",
    "description": "",
    "version": "1",
    "api_version": "1",
    "spec_version": "1",
    "field_case": "snake",
    "servers": [],
    "security": [],
    "security_schemes": {},
    "counts": {},
    "quick_start": {},
}


@pytest.mark.parametrize(
    ("accepted", "url"),
    [
        (API, "https://API.Example.COM/x"),
        (API, "https://api.example.com:443/x"),
        (API, "https://api.example.com./x"),
        (API, "https://user:word@api.example.com/x"),
        (API, "https://api.example.com?x=https://evil.example.net/"),
        ("https://münchen.example", "https://xn--mnchen-3ya.example/"),
        ("https://xn--mnchen-3ya.example", "https://MÜNCHEN.example/"),
        ("https://[2001:DB8:0:0::1]:8443", "https://[2001:db8::1]:8443/"),
        ("http://localhost:8080", "http://LOCALHOST:8080/"),
    ],
)
def test_one_origin_is_itself_however_it_is_spelled(accepted: str, url: str) -> None:
    adapter = Adapter.of({**ADAPTER, "accepted": {"api": [accepted]}})
    Hosts(adapter).admit(url)
    assert Origin.of(url) == Origin.of(accepted)


PLACES: dict[str, Json] = {
    "the operation": document(operation={"servers": at(EVIL)}),
    "the path": document(path={"servers": at(EVIL)}),
    "the operation, by scheme-relative URL": document(operation={"servers": at("//evil.example.net/x")}),
    "the operation, in the clear": document(operation={"servers": at("http://api.example.com")}),
    "the operation, at another port": document(operation={"servers": at(f"{API}:8443")}),
    "the operation, by userinfo": document(operation={"servers": at("https://api.example.com@evil.example.net")}),
    "a variable of the operation": document(operation={"servers": at("https://{host}/v1", host="evil.example.net")}),
    "a variable for the whole": document(operation={"servers": at("{base}/v1", base=EVIL)}),
    "a variable for the port": document(operation={"servers": at(API + ":{port}", port="8443")}),
    "a variable for the scheme": document(operation={"servers": at("{scheme}://api.example.com", scheme="http")}),
    "a variable that ends the host": document(
        operation={"servers": at("https://{host}.example.com", host="evil.example.net/")}
    ),
    "a host with a backslash": document(operation={"servers": at("https://evil.example.net\\.example.com")}),
    "a token endpoint": document(
        operation={"servers": at(EVIL)}, oauth=oauth(tokenUrl=f"{EVIL}/token", refreshUrl=f"{EVIL}/token")
    ),
    "a metadata address": document(servers=at("http://169.254.169.254/latest")),
    "a metadata address as a number": document(servers=at("http://2852039166/latest")),
    "a metadata address in octal": document(servers=at("http://0251.0376.0251.0376/latest")),
    "a metadata address mapped into IPv6": document(servers=at("http://[::ffff:169.254.169.254]/latest")),
    "a metadata address behind NAT64": document(servers=at("http://[64:ff9b::a9fe:a9fe]/latest")),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_sent_to_a_host_that_only_the_document_names(
    tmp_path: Path, sent: list[str], place: str, form: str
) -> None:
    """R-TRUST-2: the refusal names the host and the entry, and not even the name is looked up."""
    envelope = call(tmp_path, PLACES[place], form=form)
    details = refusal(envelope)
    assert sent == []
    assert KEY not in json.dumps(envelope)
    if "host" in details:
        assert details["host"] in envelope["error"]["message"]
        assert details["overrides"] in envelope["error"]["message"]


def test_the_entry_that_a_refusal_names_is_the_one_that_accepts(tmp_path: Path, sent: list[str]) -> None:
    for index, url in enumerate((EVIL, f"{EVIL}:8443", "http://files.example.net:8080", "http://127.0.0.1:8099")):
        api, folder = document(operation={"servers": at(url)}), tmp_path / str(index)
        folder.mkdir()
        entry = refusal(call(folder, api))["overrides"]
        assert call(folder, api, entry)["success"]
        assert sent.pop() == f"{url}/things"


@pytest.mark.parametrize("form", FORMS)
def test_an_operation_is_refused_before_anybody_is_asked_to_confirm_it(
    tmp_path: Path, sent: list[str], form: str
) -> None:
    api = document(operation={"servers": at(EVIL)})
    api["paths"]["/things/{id}"] = {
        "delete": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            "servers": at(EVIL),
            "responses": {"204": {"description": "gone"}},
        }
    }
    del api["paths"]["/things"]
    assert refusal(call(tmp_path, api, params={"id": "1"}, form=form))["host"] == "evil.example.net"
    assert sent == []


def test_the_owners_settings_are_the_owners_word(tmp_path: Path, sent: list[str]) -> None:
    assert call(tmp_path, PLACES["the operation"], environ={"MCP_AQL_BASE_URL": "https://own.example.org"})["success"]
    assert sent == ["https://own.example.org/things"]


def test_a_chosen_variable_is_followed_in_an_accepted_server_alone(tmp_path: Path, sent: list[str]) -> None:
    chosen = {"MCP_AQL_SERVER_VARIABLES": "region=us"}
    api = document(servers=at("https://{region}.example.com", region="eu"))
    assert call(tmp_path, api, environ=chosen)["success"]
    assert sent == ["https://us.example.com/things"]
    api = document(operation={"servers": at("https://{region}.evil.example.net", region="eu")})
    assert refusal(call(tmp_path, api, environ=chosen))["host"] == "us.evil.example.net"


# Authorization servers


def test_a_refresh_token_does_not_go_to_another_host_than_tokens_come_from(tmp_path: Path, sent: list[str]) -> None:
    api = document(oauth={"type": "oauth2", "flows": {"authorizationCode": {
        "authorizationUrl": f"{API}/a", "tokenUrl": f"{API}/t", "refreshUrl": f"{EVIL}/r", "scopes": {}}}})  # fmt: skip
    environ = {"THINGS_OAUTH_TOKEN": "", "THINGS_OAUTH_CLIENT_ID": "c", "THINGS_OAUTH_REFRESH_TOKEN": "r3fresh"}
    assert refusal(call(tmp_path, api, environ=environ))["host"] == "evil.example.net"
    assert sent == []


def test_a_scheme_relative_token_address_is_no_address_of_the_api(tmp_path: Path, sent: list[str]) -> None:
    api = document(oauth=oauth(tokenUrl="//evil.example.net/token"))
    environ = {"THINGS_OAUTH_TOKEN": "", "THINGS_OAUTH_CLIENT_ID": "c", "THINGS_OAUTH_CLIENT_SECRET": "s3cret"}
    assert refusal(call(tmp_path, api, environ=environ))["host"] == "evil.example.net"
    assert sent == []


def asked(answer: Json, scheme: Json, **hosts: Any) -> list[str]:
    """Look for the endpoints of a scheme with a server that answers so; return the hosts that were asked."""
    seen: list[str] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.host)
        return httpx2.Response(200, json=answer)

    roles = {"client_id": "C", "client_secret": "S", "discovery_url": "D"}
    entry = {"type": "openIdConnect", "variables": ["T"], "optional_variables": roles, **scheme}
    adapter = Adapter.of({**ADAPTER, "security_schemes": {"oidc": entry}, **hosts})
    fetch = Fetch(5, transport=httpx2.MockTransport(handle), hosts=Hosts(adapter), verify=False)
    with pytest.raises(Failure, match=r"evil\.example\.net"):
        asyncio.run(find_server(Sources(adapter, Variables({"C": "c"})), "oidc", API, LoginIO(fetch)))
    return seen


@pytest.mark.parametrize("endpoint", ["token_endpoint", "authorization_endpoint"])
def test_an_endpoint_that_is_discovered_at_another_host_is_not_used(endpoint: str) -> None:
    endpoints = {"token_endpoint": f"{API}/t", "authorization_endpoint": f"{API}/a", endpoint: f"{EVIL}/x"}
    answer = {"issuer": API, **endpoints}
    assert asked(answer, {"discovery_url": f"{API}/oidc"}) == ["api.example.com"]


def test_metadata_is_not_read_from_a_host_that_a_later_document_names() -> None:
    accepted = {"api": [API], "oauth": [API]}
    assert asked({}, {"discovery_url": f"{EVIL}/oidc"}, accepted=accepted) == []


def test_nobody_is_sent_to_log_in_where_a_later_document_says() -> None:
    flow = {"token_url": f"{API}/t", "authorization_url": f"{EVIL}/x"}
    assert asked({}, {"flows": {"authorizationCode": flow}}, accepted={"api": [API], "oauth": [API]}) == []


# Later documents

LATER: dict[str, tuple[Json, Json]] = {
    "another server": (document(), document(servers=at(EVIL))),
    "another server before it": (document(), document(servers=[*at(EVIL), *at(API)])),
    "the server without encryption": (document(), document(servers=at("http://api.example.com/v1"))),
    "another port": (document(), document(servers=at(f"{API}:8443"))),
    "another default of a variable": (
        document(servers=at("https://{host}/v1", host="api.example.com")),
        document(servers=at("https://{host}/v1", host="evil.example.net")),
    ),
    "another template around a variable": (
        document(servers=at("https://{region}.example.com", region="eu")),
        document(servers=at("https://{region}.example.net", region="eu")),
    ),
    "a variable for what was a host": (document(), document(servers=at("https://{host}/v1", host="evil.example.net"))),
    "a server where there was none": (document(servers=[]), document(servers=at(EVIL))),
}


@pytest.mark.parametrize("change", LATER)
def test_credentials_do_not_follow_a_later_document_to_another_server(
    tmp_path: Path, sent: list[str], change: str
) -> None:
    """R-TRUST-2: what was accepted by generating stays as it was; the record is not widened by any update."""
    before, after = LATER[change]
    accepted = tabulate(tmp_path, before).adapter["accepted"]
    refusal(call(tmp_path, after, accepted=accepted, environ={"MCP_AQL_SERVER_VARIABLES": ""}))
    assert sent == []
    old, new = (surface_of_table(tabulate(tmp_path, api).prepared.table) for api in (before, after))
    first = compare(old, new).changes[0]
    assert (first.level.value, first.rule) == ("breaking", "server-changed")


def test_a_later_document_moves_neither_token_nor_authorization_address(tmp_path: Path) -> None:
    flow = {"authorizationUrl": f"{API}/a", "tokenUrl": f"{API}/t", "scopes": {}}
    before = document(oauth={"type": "oauth2", "flows": {"authorizationCode": flow}})
    accepted = tabulate(tmp_path, before).adapter["accepted"]
    for key, rule in (("tokenUrl", "token-url-changed"), ("authorizationUrl", "authorization-url-changed")):
        after = document(oauth={"type": "oauth2", "flows": {"authorizationCode": {**flow, key: f"{EVIL}/x"}}})
        assert tabulate(tmp_path, after, accepted=accepted).adapter["accepted"] == accepted
        changes = compare(*(surface_of_table(tabulate(tmp_path, api).prepared.table) for api in (before, after)))
        assert [(change.level.value, change.rule) for change in changes.changes] == [("breaking", rule)]
        text = changes.as_text()
        assert text.splitlines()[2] == "Credentials and hosts"
        assert f"credentials would go to `{EVIL}/x`" in text
        assert changes.as_markdown().startswith("### Credentials and hosts")


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        (document(), document(operation={"servers": at(EVIL)}), "server-changed"),
        (document(), document(servers=[*at(f"{API}/v1"), *at(EVIL)]), "host-added"),
        (document(), document(oauth=oauth(tokenUrl=f"{EVIL}/t")), "token-url-changed"),
        (document(), document(servers=at(f"{API}/v2")), "server-changed"),
    ],
)
def test_a_new_or_changed_host_is_breaking(tmp_path: Path, before: Json, after: Json, rule: str) -> None:
    """R-TRUST-2"""
    changes = compare(*(surface_of_table(tabulate(tmp_path, api).prepared.table) for api in (before, after)))
    assert (rule, "breaking") in {(change.rule, change.level.value) for change in changes.changes}
    assert "\nCredentials and hosts\n" in changes.as_text()


# The owner's list

WRONG = [
    "*.example.com",
    "*",
    "https://uploads.example.com/path",
    "uploads.example.com/path",
    "user:word@uploads.example.com",
    "uploads.example.com@evil.example.net",
    "ftp://uploads.example.com",
    "uploads.example.com:0",
    "uploads.example.com:99999",
    "uploads.example.com:https",
    "uploads example.com",
    "uploads..example.com",
    "uploads.example.com\\\\@evil.example.net",
    "uploads.example.com?x",
    "uploads.example.com#x",
    "::1",
    "",
]


@each("entry", WRONG)
def test_an_entry_that_is_no_host_is_an_error_with_its_place(tmp_path: Path, entry: str) -> None:
    with pytest.raises(OptionError) as refused:
        tabulate(tmp_path, document(), overrides=f'adapter:\n  hosts:\n    - good.example.com\n    - "{entry}"\n')
    diagnostic = refused.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("bad-override", 4, 7)


@pytest.mark.parametrize("hosts", ["uploads.example.com", "[1, 2]", "{a: b}", "[[a.example]]", "[null]"])
def test_a_list_of_hosts_that_is_no_list_of_texts_is_an_error(tmp_path: Path, hosts: str) -> None:
    with pytest.raises(OptionError):
        tabulate(tmp_path, document(), overrides=f"adapter: {{hosts: {hosts}}}")


@pytest.mark.parametrize(
    "url", ["http://uploads.example.com", "https://uploads.example.com:8443", "https://a.uploads.example.com"]
)
def test_an_entry_accepts_that_host_by_https_and_no_more(tmp_path: Path, sent: list[str], url: str) -> None:
    api = document(operation={"servers": at(url)})
    refusal(call(tmp_path, api, "adapter: {hosts: [uploads.example.com]}"))
    assert sent == []


def test_accept_hosts_shows_what_it_accepts_and_writes_it(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(document(operation={"servers": at(EVIL)})))
    plain = run("from-openapi", spec, "-o", tmp_path / "plain")
    assert "hosts: [evil.example.net]" in plain.out
    assert not (tmp_path / "plain/overrides.yaml").exists()
    accepting = run("from-openapi", spec, "-o", tmp_path / "accepting", "--accept-hosts")
    assert f"{EVIL}  accepted by overrides.yaml: 1 operation, with credential key" in accepting.out
    assert "evil.example.net" in (tmp_path / "accepting/overrides.yaml").read_text()
    assert EVIL in (tmp_path / "accepting/src/things_adapter/adapter.json").read_text()


def test_accept_hosts_reads_the_document_once_since_a_server_may_give_another_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(document(operation={"servers": at(EVIL)})))
    readings = []

    def reading(source: str, **options: Any) -> Any:
        readings.append(source)
        return open_document(source, **options)

    monkeypatch.setattr("aqlgen.document.assemble.open_document", reading)
    assert run("from-openapi", spec, "-o", tmp_path / "accepting", "--accept-hosts").code == 0
    assert readings == [str(spec)]
