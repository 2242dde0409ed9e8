"""The document of a server that is all the owner named: where it is looked for, and what cannot lead elsewhere."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aqlgen.diagnostics import Severity
from aqlgen.diagnostics.errors import AqlgenError, FileError
from aqlgen.document.read import Limits, open_document
from tests import web
from tests.cases import each
from tests.generator.commands import run
from tests.runtime import faulty
from tests.web import Answer, Asked

GET = {"operationId": "readItems", "responses": {"200": {"description": "ok"}}}
DOCUMENT = json.dumps(
    {"openapi": "3.1.0", "info": {"title": "Items", "version": "1"}, "paths": {"/items": {"get": GET}}}
)
SWAGGER = json.dumps({"swagger": "2.0", "info": {"title": "Items", "version": "1"}, "paths": {"/items": {"get": GET}}})
LOGIN = "redirect:/login"
LOGIN_PAGE = '<form><input name="password" type="password"></form>'
Pages = Mapping[str, str | int]


@contextmanager
def serving(
    pages: Pages, otherwise: str | int = 404, context: ssl.SSLContext | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Serve texts by path, a number as that status, an address as a redirect; yield the origin and the requests."""
    asked: list[str] = []

    def answer(request: Asked) -> Answer:
        credential = request.headers.get("authorization")
        asked.append(f"{request.path} {credential}" if credential else request.path)
        page = pages.get(request.path, otherwise)
        if isinstance(page, int):
            return Answer(b"", page)
        if page.startswith(("http", "redirect:")):
            return Answer(b"", 302, {"Location": page.removeprefix("redirect:")})
        return Answer(page.encode(), headers={"Content-Type": "text/plain"})

    with web.serving(answer, context) as local:
        yield local.url.replace("https:", "http:"), asked


def place_of(origin: str, **more: Any) -> str:
    with open_document(origin, **more) as (source, _):
        assert source.base == source.name
        (note,) = [each for each in source.diagnostics if each.code == "document-found"]
        assert note.message == f"the document of {origin} is taken from {source.name}"
        return source.name.removeprefix(origin.rstrip("/"))


@contextmanager
def open_refused(spec: str) -> Iterator[AqlgenError]:
    with pytest.raises(AqlgenError) as caught, open_document(spec):
        pass
    yield caught.value


def refused(origin: str, limits: Limits | None = None) -> AqlgenError:
    with pytest.raises(FileError) as caught, open_document(origin, limits=limits):
        pass
    return caught.value


@each(
    ("pages", "place"),
    [
        ({"/": DOCUMENT}, "/"),
        ({"/openapi.json": DOCUMENT, "/docs": "<html>"}, "/openapi.json"),
        ({"/v2/api-docs": SWAGGER, "/v3/api-docs": DOCUMENT}, "/v3/api-docs"),
        ({"/api/schema/": "openapi: 3.0.3\npaths: {}\n"}, "/api/schema/"),
        ({"/.well-known/openapi.json": DOCUMENT}, "/.well-known/openapi.json"),
        (
            {"/docs": "<script>SwaggerUIBundle({ url: '/hidden/spec.json' })", "/hidden/spec.json": DOCUMENT},
            "/hidden/spec.json",
        ),
        ({"/": '<redoc spec-url="x/openapi.yaml">', "/x/openapi.yaml": "swagger: '2.0'"}, "/x/openapi.yaml"),
        ({"/api/docs/": r'{"url": "\/files\u002Fspec.json"}', "/files/spec.json": DOCUMENT}, "/files/spec.json"),
        ({"/.well-known/api-catalog": '{"href": "/openapi/7"}', "/openapi/7": DOCUMENT}, "/openapi/7"),
        ({"/openapi.json": '{"openapi": 404}', "/swagger.json": SWAGGER}, "/openapi.json"),
        ({"/openapi.json": '{"error": "openapi"}', "/swagger.json": SWAGGER}, "/swagger.json"),
    ],
)
def test_the_document_of_a_server_is_at_a_usual_place_or_where_a_page_links_it(pages: Pages, place: str) -> None:
    with serving(pages) as (origin, _):
        assert place_of(origin) == place


def test_a_server_that_answers_everything_with_a_page_is_searched_to_the_end() -> None:
    with serving({"/v2/api-docs": SWAGGER}, otherwise="<html><div id=root>") as (origin, _):
        assert place_of(f"{origin}/") == "/v2/api-docs"


def test_a_failure_lists_what_was_tried_and_what_came_of_it() -> None:
    with serving({"/openapi.json": 401, "/docs": "<html>"}) as (origin, asked):
        error = refused(origin)
    first, *listed = error.diagnostics
    assert (first.code, first.severity) == ("no-document-found", Severity.ERROR)
    assert "--header" in first.help
    tried = " ".join(note.message for note in listed)
    assert "401: /openapi.json" in tried
    assert "no document: /docs" in tried
    assert all(path in tried for path in asked)
    assert {"/", "/openapi.json", "/v3/api-docs", "/swagger/v1/swagger.json", "/swagger/doc.json"} <= set(asked)
    assert {"/api-json", "/q/openapi", "/api/schema/", "/.well-known/api-catalog", "/docs"} <= set(asked)


def test_a_server_that_is_down_is_said_to_be() -> None:
    with serving({}) as (origin, _):
        pass
    assert refused(origin, Limits(seconds=2)).diagnostics[0].code == "url-unreadable"


def test_neither_a_link_nor_a_redirect_leads_to_another_host_and_headers_stay_with_the_server() -> None:
    with serving({"/openapi.json": DOCUMENT}) as (other, asked_there):
        elsewhere = other.replace("127.0.0.1", "localhost")
        links = "".join(f'<a href="{url}/openapi.json">' for url in (other, elsewhere))
        with (
            serving({"/": links, "/swagger.json": f"{elsewhere}/openapi.json"}) as (origin, asked),
            pytest.raises(FileError),
        ):
            place_of(origin, headers=(("Authorization", "Bearer secret"),))
        assert asked_there == []
        assert all(line.endswith(" Bearer secret") for line in asked)


def test_the_search_is_bounded() -> None:
    links = "".join(f'<a href="/{number}/openapi.json">' for number in range(5000))
    with serving({}, otherwise=links + "x" * 1000) as (origin, asked):
        refused(origin)
        assert len(asked) <= 60
        asked.clear()
        refused(origin, Limits(all_size=len(links)))
        assert len(asked) == 1


def test_an_address_of_a_file_is_read_as_it_is() -> None:
    with serving({"/openapi.json": DOCUMENT}) as (origin, asked):
        for spec in (f"{origin}/api.yaml", f"{origin}/?format=openapi"):
            with pytest.raises(FileError), open_document(spec):
                pass
        assert asked == ["/api.yaml", "/?format=openapi"]


@each(
    ("pages", "typed", "place"),
    [
        (
            {"/docs": "<html>url: '/internal/spec.json'", "/internal/spec.json": DOCUMENT},
            "/docs",
            "/internal/spec.json",
        ),
        ({"/shop/v1/openapi.json": DOCUMENT, "/openapi.json": SWAGGER}, "/shop/v1", "/shop/v1/openapi.json"),
        ({"/api/": 401, "/api/schema/": DOCUMENT}, "/api/", "/api/schema/"),
        ({"/api/books/": 401, "/api/schema/": DOCUMENT}, "/api/books/", "/api/schema/"),
        ({"/api": '{"books": "/books"}', "/openapi.json": DOCUMENT}, "/api", "/openapi.json"),
    ],
)
def test_an_address_on_a_server_leads_to_its_document(pages: Pages, typed: str, place: str) -> None:
    with serving(pages) as (origin, _), open_document(f"{origin}{typed}") as (source, _):
        assert source.name == f"{origin}{place}"
        (note,) = source.diagnostics
        assert note.message == f"the document of {origin}{typed} is taken from {origin}{place}"


def test_a_document_at_the_address_itself_is_no_find() -> None:
    with serving({"/api/schema": DOCUMENT}) as (origin, asked), open_document(f"{origin}/api/schema") as (source, _):
        assert (source.name, asked) == (f"{origin}/api/schema", ["/api/schema"])
        assert not source.diagnostics


def test_a_thing_of_another_kind_at_the_address_is_told_if_there_is_no_document() -> None:
    with serving({"/things": "[1]"}) as (origin, _), open_refused(f"{origin}/things") as error:
        assert error.diagnostics[0].code == "not-an-object"


@each(
    ("pages", "otherwise", "code", "message"),
    [
        ({}, 503, "no-document-found", "the server fails with 503 wherever a document is usual"),
        ({"/openapi.json": 401}, 404, "no-document-found", "/openapi.json wants a credential (401)"),
        ({"/openapi.json": '{"openapi": "3.0.0", "info": {'}, 404, "json-syntax", "not valid JSON"),
        ({}, LOGIN, "no-document-found", "wants a credential (401)"),
    ],
)
def test_the_cause_of_a_failure_is_named(pages: Pages, otherwise: str | int, code: str, message: str) -> None:
    with serving({"/login": LOGIN_PAGE, **pages}, otherwise) as (origin, _), open_refused(origin) as error:
        assert error.diagnostics[0].code == code
        assert message in error.diagnostics[0].message


def test_a_redirect_to_a_login_page_is_told_of_the_document_itself() -> None:
    with serving({"/login": LOGIN_PAGE}, LOGIN) as (origin, _), open_refused(f"{origin}/api/spec.yaml") as error:
        assert error.diagnostics[0].message == f"the server redirects to a login page, {origin}/login"
        assert "--header" in error.diagnostics[0].help


def test_a_redirect_of_the_address_itself_is_followed_as_far_as_that_of_a_file() -> None:
    with serving({"/openapi.json": DOCUMENT}) as (other, asked_there):
        elsewhere = other.replace("127.0.0.1", "localhost")
        with serving({"/latest": f"{elsewhere}/openapi.json", "/openapi.json": DOCUMENT}) as (origin, asked):
            with open_refused(f"{origin}/latest") as error:
                assert "which is another host and has no public address" in error.diagnostics[0].message
            assert (asked, asked_there) == (["/latest"], [])


def test_a_proxy_that_is_down_is_named_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    (finding,) = refused("https://api.example.com/openapi.json").diagnostics
    assert finding.message.endswith("no connection could be made to the proxy '127.0.0.1:1', which HTTPS_PROXY names")
    assert "NO_PROXY" in finding.help


def test_a_server_that_never_answers_is_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        origin = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for spec, seconds in ((origin, "0.1"), (f"{origin}/openapi.json", "0.3")):
            (finding,) = refused(spec, Limits(silence=0.3)).diagnostics
            assert finding.message == f"cannot be fetched: no answer within {seconds} seconds"
            assert "Is the API running" in finding.help


@each("place", ["localhost:8102", "127.0.0.1:8102/docs", "127.0.0.1", "api.example.com:8080"])
def test_an_address_without_its_scheme_is_recognised(place: str) -> None:
    with open_refused(place) as error:
        assert error.diagnostics[0].help == f"Did you mean http://{place}?"


def test_the_wrong_scheme_and_an_unknown_certificate_are_named(tmp_path: Path) -> None:
    with serving({}) as (plain, _), open_refused(plain.replace("http:", "https:")) as error:
        assert error.diagnostics[0].help == f"Try {plain}/"
    certificate = faulty.self_signed(tmp_path)
    if certificate is None:
        pytest.skip("openssl makes the certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving({}, context=context) as (encrypted, _):
        with open_refused(encrypted.replace("http:", "https:")) as error:
            assert "SSL_CERT_FILE" in error.diagnostics[0].help
        with open_refused(encrypted) as error:
            assert error.diagnostics[0].help == f"If it wants encryption: {encrypted.replace('http:', 'https:')}/"


@each("servers", [None, [], [{"url": "/"}], [{"url": ""}]])
def test_a_document_from_a_url_without_a_server_is_served_there(servers: Any, tmp_path: Path) -> None:
    document = {**json.loads(DOCUMENT), **({} if servers is None else {"servers": servers})}
    with serving({"/docs/openapi.json": json.dumps(document)}) as (origin, _):
        result = run("from-openapi", origin, "-o", tmp_path / "shop")
    assert (result.code, "The API's address is local" in result.out) == (0, True)
    assert f"the document of {origin} is taken from {origin}/docs/openapi.json" in result.err
    assert f"The document names no host: calls go to {origin}/, its origin." in result.out
    adapter = json.loads((tmp_path / "shop/src/items_adapter/adapter.json").read_text())
    assert (adapter["servers"], adapter["accepted"]["api"]) == ([{"url": f"{origin}/"}], [origin])
    record = json.loads((tmp_path / "shop/MCPAQL-PROVENANCE.json").read_text())
    assert record["options"]["spec_url"] == f"{origin}/docs/openapi.json"


def test_operations_that_name_their_servers_need_no_other(tmp_path: Path) -> None:
    document = json.loads(DOCUMENT)
    document["paths"]["/items"]["get"]["servers"] = [{"url": "https://items.example.com"}]
    with serving({"/openapi.json": json.dumps(document)}) as (origin, _):
        assert run("from-openapi", origin, "-o", tmp_path / "shop", "-q").code == 0
    adapter = json.loads((tmp_path / "shop/src/items_adapter/adapter.json").read_text())
    assert (adapter["servers"], adapter["accepted"]["api"]) == ([], ["https://items.example.com"])


@each(
    ("servers", "first"),
    [
        (["https://api.prod.dev/v1", "OWN/v1"], "OWN/v1"),
        (["/v1", "https://api.prod.dev/v1"], "OWN/v1"),
        (["https://api.prod.dev/v1"], "https://api.prod.dev/v1"),
    ],
)
def test_the_server_of_the_document_itself_is_the_apis_if_the_document_names_it(
    servers: list[str], first: str, tmp_path: Path
) -> None:
    pages: dict[str, str | int] = {}
    with serving(pages) as (origin, _):
        named = [{"url": server.replace("OWN", origin)} for server in servers]
        pages["/openapi.json"] = json.dumps({**json.loads(DOCUMENT), "servers": named})
        result = run("from-openapi", origin, "-o", tmp_path / "shop")
    address = first.replace("OWN", origin)
    elsewhere = f"Calls go to {first}, which the document names, not to {origin}: set MCP_AQL_BASE_URL={origin}"
    assert (elsewhere in result.out) is (address == "https://api.prod.dev/v1")
    place = tmp_path / "shop/src/items_adapter/adapter.json"
    adapter = json.loads(place.read_text())
    assert adapter["servers"][0]["url"] == address
    assert adapter["accepted"]["api"] == [address.removesuffix("/v1")]
    assert "Up to date" in run("status", tmp_path / "shop").out  # nothing turns when it is made again, without the API
