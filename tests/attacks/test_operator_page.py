"""Attacks on the operator's page from a browser's other pages, from the network and from an agent's programs.

Each attempt is one request, or a few, to a real server with a question on the desk. None of them may decide it, show a
code, or learn what is shown (R-OPS-1).
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.operator.guard import MOST_BODY
from aqlgen.runtime.operator.serve import _ASSETS as ASSETS
from tests.cases import each
from tests.runtime.operator_page import Served, challenge, desk_at, matter, page_at, read_answer, run

SECRET = "Delete animal 7?"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("states")
    served = page_at(folder).start()
    served.folder = folder  # type: ignore[attr-defined]
    run(desk_at(folder).ask(matter(expires=time.time() + 3000)))
    run(desk_at(folder).keep(challenge(expires=time.time() + 3000)))
    served.enter()
    yield served
    served.stop()
    assert served.errors == []


@pytest.fixture(scope="module")
def items(page: Served) -> dict[str, Any]:
    known = page.state(until=lambda known: known.get("matters") and known.get("challenges"))
    return {"matter": known["matters"][0], "challenge": known["challenges"][0]}


@pytest.fixture(autouse=True)
def nothing_happens(page: Served) -> Iterator[None]:
    yield
    desk = desk_at(page.folder)  # type: ignore[attr-defined]
    assert run(desk.question("m1")).verdict == ""
    assert run(desk.challenges())[0].digest == ""


def deciding(items: dict[str, Any], do: str = "approve") -> dict[str, Any]:
    item = items["challenge" if do == "reveal" else "matter"]
    return {"do": do, "id": item["id"], "digest": item["digest"]}


# Rebinding: other names for this machine

HOSTS = [
    "", "evil.example", "evil.example:{port}", "localhost", "localhost:{port}", "127.0.0.1", "127.0.0.1:80",
    "127.0.0.1:{port}.evil.example", "127.0.0.1:{port}@evil.example", "evil.example@127.0.0.1:{port}",
    "127.0.0.2:{port}",
    "127.1:{port}", "2130706433:{port}", "0x7f.1:{port}", "0177.0.0.1:{port}", "0.0.0.0:{port}", "[::1]:{port}",
    "[::ffff:127.0.0.1]:{port}", "127.0.0.1.:{port}", "127.0.0.1.nip.io:{port}", "127.0.0.1:0{port}",
    "127.0.0.1:{port}/",
    "127.0.0.1:{port}, evil.example", "127.0.0.1 :{port}", "user@127.0.0.1:{port}",
]  # fmt: skip


@each("host", HOSTS)
@each("path", ["/", "/api/act"])
def test_no_other_name_of_this_machine_leads_to_the_page(
    page: Served, items: dict[str, Any], host: str, path: str
) -> None:
    """R-OPS-1"""
    name = host.format(port=page.port)
    if path == "/":
        answer = page.send("GET", "/", host=name)
    else:
        answer = page.send("POST", path, deciding(items), host=name, origin=f"http://{name}")
    assert answer.status in (400, 421)


@pytest.mark.parametrize("second", ["evil.example", "127.0.0.1:1"])
def test_two_hosts_are_none(page: Served, items: dict[str, Any], second: str) -> None:
    answer = page.send("POST", "/api/act", deciding(items), add=[("host", second)])
    assert answer.status in (400, 421)


# Requests that other pages send (CSRF)


@each("do", ["approve", "deny", "reveal"])
@each(
    "origin",
    [
        "", "null", "http://evil.example", "http://localhost:{port}", "http://127.0.0.1", "http://127.0.0.1:3000",
        "https://127.0.0.1:{port}", "http://127.0.0.1:{port}.evil.example", "http://[::1]:{port}", "file://",
        "chrome-extension://abcdefghijklmnop", "http://127.0.0.1:{port}/", "HTTP://127.0.0.1:{port}",
        "http://127.0.0.1:{port} http://evil.example",
    ],
)  # fmt: skip
def test_no_other_origin_decides(page: Served, items: dict[str, Any], origin: str, do: str) -> None:
    """R-OPS-1"""
    answer = page.send("POST", "/api/act", deciding(items, do), origin=origin.format(port=page.port))
    assert (answer.status, answer.json["error"]) == (403, "origin_not_allowed")
    assert "access-control-allow-origin" not in answer.headers


@each("site", ["cross-site", "same-site", "none", "SAME-ORIGIN", "same-origin, cross-site"])
@each("path", ["/api/act", "/api/enter", "/api/leave"])
def test_what_the_browser_calls_another_site_decides_nothing(
    page: Served, items: dict[str, Any], site: str, path: str
) -> None:
    body = {"key": page.admission.new_key()} if path == "/api/enter" else deciding(items)
    assert page.send("POST", path, body, sec_fetch_site=site).status == 403


@each("kind", ["document", "iframe", "image", "script", "frame", "object", "worker", "report"])
@each("path", ["/api/events", "/api/act"])
def test_nothing_but_the_pages_own_fetch_reads_or_decides(
    page: Served, items: dict[str, Any], kind: str, path: str
) -> None:
    body = deciding(items) if path == "/api/act" else None
    assert page.send("POST" if body else "GET", path, body, sec_fetch_dest=kind).status == 403


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
        "application/json; charset=utf-8", "text/plain; application/json", "APPLICATION/JSON5",
        "application/csp-report",
    ],
)  # fmt: skip
def test_a_form_of_another_page_is_no_request(page: Served, items: dict[str, Any], kind: str) -> None:
    """A form sends these without asking first (Fetch, 2.2.2)."""
    assert page.send("POST", "/api/act", deciding(items), content_type=kind).status == 415


@pytest.mark.parametrize("lack", ["x-operator-token", "cookie", "both"])
@pytest.mark.parametrize("path", ["/api/events", "/api/act", "/api/leave"])
def test_neither_secret_is_enough_alone(page: Served, items: dict[str, Any], lack: str, path: str) -> None:
    """A server of an agent's on another port gets the cookie, and never the token (R-OPS-1)."""
    drop = ("cookie", "x-operator-token") if lack == "both" else (lack,)
    method, body = ("GET", None) if path == "/api/events" else ("POST", deciding(items))
    answer = page.send(method, path, body, drop=drop)
    assert (answer.status, answer.json["error"]) == (401, "no_session")


@pytest.mark.parametrize(
    "token", ["x", "null", "undefined", "{cookie}", "{token}x", "{token},{token}", "x" * 5000, "{token}\t.", "\xff"]
)
def test_no_other_token_is_taken(page: Served, items: dict[str, Any], token: str) -> None:
    text = token.format(token=page.token, cookie=page.cookie.partition("=")[2])
    assert page.send("POST", "/api/act", deciding(items), x_operator_token=text).status == 401


def test_two_tokens_are_none(page: Served, items: dict[str, Any]) -> None:
    answer = page.send("POST", "/api/act", deciding(items), add=[("x-operator-token", "other")])
    assert answer.status == 401


def test_the_secrets_of_two_sessions_do_not_go_together(page: Served, items: dict[str, Any]) -> None:
    answer = page.send("POST", "/api/enter", {"key": page.admission.new_key()})
    other = answer.header("set-cookie").partition(";")[0]
    assert page.send("POST", "/api/act", deciding(items), cookie=other).status == 401
    assert page.send("POST", "/api/act", deciding(items), x_operator_token=answer.json["token"]).status == 401


def test_a_cookie_that_another_port_has_planted_does_not_lock_the_operator_out(page: Served) -> None:
    name = page.cookie.partition("=")[0]
    answer = page.send("POST", "/api/act", {}, cookie=f"{name}=planted; {page.cookie}; {name}=x")
    assert answer.status == 400  # the session was taken, the request is none


def test_the_cookie_is_for_this_page_and_no_script(page: Served) -> None:
    answer = page.send("POST", "/api/enter", {"key": page.admission.new_key()})
    cookie = answer.header("set-cookie")
    name, *attributes = [part.strip().lower() for part in cookie.split(";")]
    assert name.startswith(f"operator_{page.port}=")
    assert {"httponly", "samesite=strict", "path=/"} == set(attributes)
    assert answer.json["token"] not in cookie


# Reading from another origin (CORS)


@pytest.mark.parametrize("path", ["/", "/api/events", "/api/act", "/api/enter", "/operator.js"])
def test_no_preflight_is_answered_with_leave(page: Served, path: str) -> None:
    asked = [("access-control-request-method", "POST"), ("access-control-request-headers", "x-operator-token")]
    answer = page.send("OPTIONS", path, origin="http://evil.example", sec_fetch_site="cross-site", add=asked)
    assert answer.status in (403, 405)
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:3000"])
def test_no_other_page_follows_the_stream(page: Served, origin: str) -> None:
    answer = page.send("GET", "/api/events", origin=origin, sec_fetch_site="cross-site")
    assert answer.status == 403
    assert SECRET.encode() not in answer.body


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/", "/operator.js", "/operator.css", "/icon.svg"])
def test_no_other_page_opens_or_loads_the_page(page: Served, path: str, site: str) -> None:
    assert page.send("GET", path, sec_fetch_site=site).status == 403


@pytest.mark.parametrize("kind", ["iframe", "frame", "embed", "object"])
def test_no_page_frames_it(page: Served, kind: str) -> None:
    assert page.send("GET", "/", sec_fetch_dest=kind, sec_fetch_site="cross-site").status == 403
    headers = page.send("GET", "/").headers
    assert headers["x-frame-options"] == ["DENY"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"][0]


# What every answer says

ASKED = [
    ("GET", "/"),
    ("GET", "/operator.js"),
    ("GET", "/nothing"),
    ("POST", "/api/act"),
    ("GET", "/api/act"),
    ("PUT", "/"),
]


@pytest.mark.parametrize(("method", "path"), ASKED)
def test_every_answer_is_for_the_page_alone_and_kept_by_nobody(page: Served, method: str, path: str) -> None:
    answer = page.send(method, path, {} if method == "POST" else None)
    policy = answer.header("content-security-policy")
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "*" not in policy
    expected = {
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
    }
    assert {name: answer.header(name) for name in expected} == expected
    assert "server" not in answer.headers
    assert "etag" not in answer.headers


# Proxies


@each(
    ("name", "value"),
    [
        ("x-forwarded-for", "203.0.113.9"), ("x-forwarded-host", "ops.example"), ("x-forwarded-proto", "https"),
        ("X-Forwarded-Prefix", "/"), ("forwarded", "for=203.0.113.9"), ("via", "1.1 proxy"), ("x-real-ip",
        "203.0.113.9"),
        ("x-original-url", "/api/act"), ("x-rewrite-url", "/api/act"), ("cf-connecting-ip", "203.0.113.9"),
        ("true-client-ip", "203.0.113.9"), ("x-envoy-external-address", "203.0.113.9"), ("x-forwarded", ""),
    ],
)  # fmt: skip
@each("path", ["/", "/api/act"])
def test_nothing_comes_through_a_proxy(page: Served, items: dict[str, Any], name: str, value: str, path: str) -> None:
    """R-OPS-1"""
    body = deciding(items) if path == "/api/act" else None
    answer = page.send("POST" if body else "GET", path, body, add=[(name, value)])
    assert (answer.status, answer.json["error"]) == (403, "proxy_not_allowed")


# Methods and paths


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "post", "QUERY"])
def test_only_a_post_decides(page: Served, items: dict[str, Any], method: str) -> None:
    answer = page.send(method, "/api/act", deciding(items), content_type="application/json", content_length="0")
    assert answer.status in (400, 405)


@pytest.mark.parametrize("path", ["/", "/operator.js"])
def test_a_head_gets_the_headers_and_nothing_more(page: Served, path: str) -> None:
    answer = page.send("HEAD", path)
    assert (answer.status, answer.body, answer.header("x-frame-options")) == (200, b"", "DENY")


@pytest.mark.parametrize(
    ("name", "value"), [("x-http-method-override", "POST"), ("x-http-method", "POST"), ("x-method-override", "POST")]
)
def test_no_header_makes_a_post_of_a_get(page: Served, name: str, value: str) -> None:
    assert page.send("GET", "/api/act", add=[(name, value)]).status == 405


@each(
    "path",
    [
        "/api/act/", "//api/act", "/api//act", "/./api/act", "/api/../api/act", "/%61pi/act", "/api%2fact",
        "/api/act%00",
        "/API/act", "/api/act;x", "/api/act?do=approve", "/operator.html", "/assets/operator.html", "/..",
        "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%5c..%5cetc", "/operator.js/..", "/index.html",
        "/admission.py",
        "/favicon.ico", "/.well-known/security.txt", "/mcp", "/healthz", "/metrics", "*",
        "http://127.0.0.1/api/act", "http://evil.example/api/act", "\\api\\act",
    ],
)  # fmt: skip
def test_no_other_spelling_of_a_path_leads_anywhere(page: Served, items: dict[str, Any], path: str) -> None:
    answer = page.raw(
        page.request("POST", "/api/act", deciding(items)).replace(b"POST /api/act ", f"POST {path} ".encode())
    )
    assert answer.status in (400, 404)
    assert b"root:" not in answer.body


# Bodies


@each(
    "body",
    [
        b"", b"[]", b"null", b"1", b'"approve"', b"{", b"{}", b"\xff\xfe", b"[" * 4000, b'{"do":"approve"}',
        b'{"do":["approve"],"id":"m1","digest":"x"}',
        b'{"do":"approve","id":"m1","digest":{}}',
        b'{"do":"__class__","id":"m1","digest":"x"}',
        b'{"do":"approve","id":{},"digest":"x"}',
    ],
)  # fmt: skip
def test_what_is_no_request_of_the_page_is_refused_in_a_sentence(page: Served, body: bytes) -> None:
    answer = page.send("POST", "/api/act", body)
    assert (answer.status, answer.json["error"]) == (400, "invalid_request")
    assert b"Traceback" not in answer.body


@each(
    "change",
    [
        {"digest": "0" * 64}, {"digest": ""}, {"digest": "\udcff"}, {"digest": "{digest} "}, {"digest": "{DIGEST}"},
        {"id": "m2"}, {"id": "../m1"}, {"id": "M1"}, {"id": "m1\0"}, {"id": "c1"}, {"id": "m" * 7000},
        {"adapter": "other"}, {"adapter": None}, {"adapter": ""}, {"more": 1}, {"do": "unblock"}, {"do": "revoke"},
        {"do": "reveal"}, {"do": "approve_session"}, {"do": "approved"}, {"do": ""}, {"verdict": "approved"},
        {"reason": ["x"]},
    ],
)  # fmt: skip
def test_nothing_else_than_what_was_shown_is_decided(
    page: Served, items: dict[str, Any], change: dict[str, Any]
) -> None:
    digest = items["matter"]["digest"]
    values = {
        name: value.replace("{digest}", digest).replace("{DIGEST}", digest.upper()) if isinstance(value, str) else value
        for name, value in change.items()
    }
    answer = page.send("POST", "/api/act", deciding(items) | values)
    assert answer.status in (400, 404, 409)


@pytest.mark.parametrize("size", [MOST_BODY + 1, 1_000_000])
def test_a_body_that_is_too_large_is_not_read(page: Served, size: int) -> None:
    assert page.send("POST", "/api/act", b"x" * size).status == 413


@pytest.mark.parametrize("length", ["99999999999999999999", "-1", "+5", "5, 6", "0x10", "٣"])
def test_a_length_that_is_none_is_refused(page: Served, items: dict[str, Any], length: str) -> None:
    request = page.request("POST", "/api/act", deciding(items), drop=["content-length"])
    request = request.replace(b"\r\n\r\n", f"\r\ncontent-length: {length}\r\n\r\n".encode(), 1)
    assert page.raw(request).status in (400, 413)


def test_a_body_in_chunks_is_bounded_too(page: Served) -> None:
    request = page.request("POST", "/api/act", b"", drop=["content-length"])
    request = request.replace(b"\r\n\r\n", b"\r\ntransfer-encoding: chunked\r\n\r\n", 1)
    chunks = b"".join(b"1000\r\n" + b"x" * 4096 + b"\r\n" for _ in range(4))
    assert page.raw(request + chunks).status == 413


def test_a_body_with_two_lengths_decides_nothing(page: Served, items: dict[str, Any]) -> None:
    """Request smuggling (RFC 9112, 6.3)."""
    request = page.request("POST", "/api/act", deciding(items), add=[("transfer-encoding", "chunked")])
    assert page.raw(request).status == 400


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity"])
def test_a_body_that_is_encoded_is_not_unpacked(page: Served, items: dict[str, Any], encoding: str) -> None:
    assert page.send("POST", "/api/act", deciding(items), content_encoding=encoding).status == 415


def test_http_1_0_names_no_host(page: Served) -> None:
    assert page.raw(b"GET / HTTP/1.0\r\n\r\n").status in (0, 400, 403, 421)


def test_no_websocket_is_opened(page: Served) -> None:
    upgrade = [
        ("upgrade", "websocket"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-version", "13"),
    ]
    answer = page.send("GET", "/api/events", drop=["connection", "cookie"], add=[("connection", "upgrade"), *upgrade])
    assert answer.status in (400, 401)


@pytest.mark.parametrize("scheme", ["Basic YTpi", "Bearer x"])
def test_no_other_way_to_log_in_is_known(page: Served, items: dict[str, Any], scheme: str) -> None:
    assert page.send("POST", "/api/act", deciding(items), authorization=scheme).status == 400


# The address


@pytest.mark.parametrize("key", ["", "x" * 43, "x" * 5000, None, 1, ["key"], {"key": "x"}, True, "\ud800"])
def test_no_other_key_opens_the_page(page: Served, key: Any) -> None:
    page.admission.new_key()
    answer = page.send("POST", "/api/enter", {"key": key})
    assert answer.status == 401
    assert "set-cookie" not in answer.headers


def test_an_address_opens_the_page_once_and_a_newer_one_voids_it(page: Served) -> None:
    """R-OPS-1"""
    void, key = page.admission.new_key(), page.admission.new_key()
    assert page.send("POST", "/api/enter", {"key": void}).status == 401
    assert page.send("POST", "/api/enter", {"key": key}).status == 200
    assert page.send("POST", "/api/enter", {"key": key}).status == 401


def test_of_those_who_race_with_one_address_one_gets_in(page: Served) -> None:
    from concurrent.futures import ThreadPoolExecutor

    key = page.admission.new_key()
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: page.send("POST", "/api/enter", {"key": key}).status, range(10)))
    assert sorted(answers) == [200, *[401] * 9]


def test_a_key_in_the_query_is_not_taken(page: Served) -> None:
    """A query is in histories, logs and referrers; a fragment is in none of them but the first."""
    assert page.send("GET", f"/?key={page.admission.new_key()}").status == 400


def test_the_files_hold_nothing_that_is_shown(page: Served) -> None:
    kinds = {"/": "document", "/operator.js": "script", "/operator.css": "style", "/icon.svg": "image"}
    bodies = b"".join(page.send("GET", path, sec_fetch_dest=kind, drop=["cookie"]).body for path, kind in kinds.items())
    for text in (SECRET, page.token, page.cookie.partition("=")[2], "zoo", "m1"):
        assert text.encode() not in bodies


# Slow and many clients


def test_a_request_that_never_ends_ends_its_connection(page: Served) -> None:
    begun = (b"", b"GET / HT", b"POST /api/act HTTP/1.1\r\nhost: 127.0.0.1\r\n")
    with ExitStack() as stack:
        connections = [stack.enter_context(page.connection()) for _ in begun]
        for connection, request in zip(connections, begun, strict=True):
            connection.sendall(request)
        for connection, request in zip(connections, begun, strict=True):
            connection.settimeout(5)
            assert read_answer(connection.recv(65536)).status in (0, 408), request


def test_more_streams_than_there_may_be_are_refused_and_the_page_goes_on(page: Served) -> None:
    connections: list[socket.socket] = []
    try:
        for _ in range(16):
            connections.append(page.connection())
            connections[-1].sendall(page.request("GET", "/api/events"))
            assert connections[-1].recv(100)
        deadline = time.monotonic() + 5
        while page.feed.followers < 16 and time.monotonic() < deadline:
            time.sleep(0.02)
        answer = page.send("GET", "/api/events")
        assert (answer.status, answer.json["error"]) == (503, "too_many_pages")
        assert page.send("GET", "/").status == 200
    finally:
        for connection in connections:
            connection.close()
    deadline = time.monotonic() + 5
    while page.feed.followers and time.monotonic() < deadline:
        time.sleep(0.02)
    assert page.feed.followers == 0


def test_a_stream_ends_with_its_session(tmp_path: Path) -> None:
    served = page_at(tmp_path).start()
    try:
        served.enter()
        with served.connection() as connection:
            connection.sendall(served.request("GET", "/api/events"))
            data = b""
            while b'"adapter"' not in data:
                data += connection.recv(65536)
            assert served.send("POST", "/api/leave", {}).status == 200
            run(desk_at(tmp_path).ask(matter()))
            connection.settimeout(10)
            while more := connection.recv(65536):
                data += more
                assert SECRET.encode() not in data
        assert b"event: end" in data
        assert served.send("GET", "/api/events").status == 401
    finally:
        served.stop()


def test_the_secrets_of_an_earlier_process_are_void(page: Served, items: dict[str, Any], tmp_path: Path) -> None:
    other = page_at(tmp_path).start()
    try:
        value = page.cookie.partition("=")[2]
        other.cookie, other.token = f"operator_{other.port}={value}", page.token
        assert other.send("POST", "/api/act", deciding(items)).status == 401
        other.cookie = page.cookie
        assert other.send("GET", "/api/events").status == 401
    finally:
        other.stop()


def test_the_audit_log_names_no_secret_of_the_page(page: Served) -> None:
    log = page.folder / "zoo-adapter" / "audit.jsonl"  # type: ignore[attr-defined]
    assert not log.exists() or page.token not in json.dumps(log.read_text())


def test_a_word_of_the_server_finds_only_what_a_table_of_the_script_has() -> None:
    """R-OPS-1: with `constructor` as a danger the page would stop to show anything."""
    script = (ASSETS / "operator.js").read_text(encoding="utf-8")
    tables = set(re.findall(r"\b([A-Z]+)\[", script))
    assert len(tables) >= 6
    assert [name for name in sorted(tables) if f"const {name} = {{ __proto__: null," not in script] == []
