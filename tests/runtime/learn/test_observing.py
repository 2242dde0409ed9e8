"""An observation sends safe reads alone, within its budget, and tells what the document lacks (R-LEARN-1)."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from api.hand_made import make_package, operation
from local import Answer, Asked, Local, serving

from aqlgen.runtime.cli import main
from aqlgen.runtime.learn.model import Fact, Observation
from aqlgen.runtime.learn.proposals import proposals
from aqlgen.runtime.learn.report import Report, observe
from aqlgen.runtime.learn.requests import AdapterRequests, Budget
from aqlgen.runtime.table import Table
from tests.cases import each

KEY = {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["P_KEY"]}
ENVIRON = {"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_CONFIG": "", "MCP_AQL_LOG_LEVEL": "error"}
PETS = [{"id": f"p{number}", "seen": number} for number in range(7)]
NUMBERED = [{"id": number} for number in range(1, 24)]
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def query(**schemas: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"in": "query", "schema": schema} for name, schema in schemas.items()}


def look(
    folder: Path, rows: Mapping[str, Any], answer: Callable[[Asked], Answer], budget: Budget | None = None, **more: Any
) -> tuple[Report, Local]:
    """Observe an API of these operations; return what was seen, and the server with its requests."""
    environ = {**ENVIRON, **more.pop("environ", {})}
    path, key = more.pop("path", ""), more.pop("key", "")
    with serving(answer) as server:
        make_package(folder, rows, adapter={"servers": [{"url": server.url + path}], **more})
        return asyncio.run(observe(folder, None, environ, budget or Budget(), key=key)), server


def proposed(report: Report, fact: Fact) -> dict[str, Observation]:
    return {seen.key: seen for seen in report.observations if seen.fact is fact and seen.override and not seen.settled}


def listing(asked: Asked, page: Callable[[dict[str, str], int], Answer]) -> Answer:
    """Answer with a page of the pets, whose size is `limit`."""
    values = dict(parse_qsl(urlsplit(asked.path).query))
    return page(values, int(values.get("limit", 5)))


def cut(values: Mapping[str, str], size: int, name: str = "from") -> list[Any]:
    start = int(values.get(name, 0))
    return PETS[start : start + size]


def following(values: Mapping[str, str], size: int) -> int | None:
    after = int(values.get("from", 0)) + size
    return after if after < len(PETS) else None


def url_after(values: Mapping[str, str], size: int) -> str:
    after = following(values, size)
    return "" if after is None else f"/pets?from={after}&limit={size}"


def token(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


def by_token(values: Mapping[str, str], size: int) -> tuple[list[Any], str]:
    start = int(base64.urlsafe_b64decode(values["mark"])) if "mark" in values else 0
    return PETS[start : start + size], token(str(start + size)) if start + size < len(PETS) else ""


STYLES: dict[str, tuple[dict[str, Any], Callable[[dict[str, str], int], Answer], dict[str, Any]]] = {
    "offset": (
        query(limit=NUMBER, begin=NUMBER),
        lambda values, size: Answer(cut(values, size, "begin")),
        {"style": "offset", "offset_param": "begin", "size_param": "limit", "items": ""},
    ),
    "page": (
        query(limit=NUMBER, sheet=NUMBER),
        lambda values, size: Answer(
            {"rows": PETS[(int(values.get("sheet", 1)) - 1) * size :][:size], "all": len(PETS)}
        ),
        {"style": "page", "page_param": "sheet", "size_param": "limit", "items": "/rows"},
    ),
    "page of items with the numbers of pages": (
        query(limit=NUMBER, sheet=NUMBER),
        lambda values, size: Answer(NUMBERED[(int(values.get("sheet", 1)) - 1) * size :][:size]),
        {"style": "page", "page_param": "sheet", "size_param": "limit", "items": ""},
    ),
    "last item, by its number": (
        query(limit=NUMBER, behind=NUMBER),
        lambda values, size: Answer([item for item in NUMBERED if item["id"] > int(values.get("behind", 0))][:size]),
        {"style": "cursor", "cursor_param": "behind", "item_cursor": "/id", "size_param": "limit", "items": ""},
    ),
    "page from zero": (
        query(limit=NUMBER, sheet={"type": "integer", "default": 0}),
        lambda values, size: Answer(PETS[int(values.get("sheet", 0)) * size :][:size]),
        {"style": "page", "page_param": "sheet", "size_param": "limit", "items": ""},
    ),
    "token in the answer": (
        query(limit=NUMBER, mark=TEXT, colour=TEXT),
        lambda values, size: Answer(dict(zip(("pets", "bookmark"), by_token(values, size), strict=True))),
        {"style": "cursor", "cursor_param": "mark", "next": "/bookmark", "size_param": "limit", "items": "/pets"},
    ),
    "token in a header": (
        query(limit=NUMBER, mark=TEXT),
        lambda values, size: Answer(by_token(values, size)[0], 200, {"X-Mark": by_token(values, size)[1]}),
        {"style": "cursor", "cursor_param": "mark", "next": "X-Mark", "next_in": "header", "size_param": "limit"}
        | {"items": ""},
    ),
    "last item": (
        query(limit=NUMBER, until=TEXT, after=TEXT),
        lambda values, size: Answer([pet for pet in PETS if pet["id"] > values.get("after", "")][:size]),
        {"style": "cursor", "cursor_param": "after", "item_cursor": "/id", "size_param": "limit", "items": ""},
    ),
    "address in the answer": (
        query(limit=NUMBER),
        lambda values, size: Answer({"data": cut(values, size), "onward": url_after(values, size) or None}),
        {"style": "next_url", "next": "/onward", "size_param": "limit", "items": "/data"},
    ),
    "address in a header": (
        query(limit=NUMBER),
        lambda values, size: Answer({"data": cut(values, size)}, 200, {"Next-Page": url_after(values, size)}),
        {"style": "link", "next": "Next-Page", "next_in": "header", "size_param": "limit", "items": "/data"},
    ),
    "links without a size": (
        {},
        lambda values, size: Answer(
            cut(values, size),
            200,
            {"Link": f'<{url_after(values, size)}>; rel="next"'} if following(values, size) else {},
        ),
        {"style": "link", "next": "Link", "next_in": "header", "items": ""},
    ),
    "a count of all": (
        query(limit=NUMBER, begin=NUMBER),
        lambda values, size: Answer({"pets": cut(values, size + 9 * (size == 5), "begin"), "count": len(PETS)}),
        {"style": "offset", "offset_param": "begin", "size_param": "limit", "items": "/pets", "total": "/count"},
    ),
}


@each("parameters, page, expected", STYLES.values(), ids=list(STYLES))
def test_it_finds_how_a_list_pages_by_what_follows_its_items(
    tmp_path: Path, parameters: Any, page: Any, expected: Mapping[str, Any]
) -> None:
    """What is called how says nothing: the items that follow those of a small page do (R-LEARN-1)."""
    rows = {"pets": operation(parameters=parameters)}
    report, server = look(tmp_path, rows, lambda asked: listing(asked, page))
    seen = proposed(report, Fact.PAGES)["GET /pets"]
    assert dict(seen.override) == {"pagination": expected}
    assert seen.certain
    assert len(server.asked) <= 9


NONE: dict[str, tuple[dict[str, Any], Callable[[dict[str, str], int], Answer]]] = {
    "a filter": (
        query(limit=NUMBER, seen=NUMBER),
        lambda values, size: Answer([pet for pet in PETS if pet["seen"] >= int(values.get("seen", 0)) * 3][:size]),
    ),
    "the same page again": (
        query(limit=NUMBER, sheet=NUMBER),
        lambda _, size: Answer({"data": PETS[:size], "next": f"/pets?again={size}"}),
    ),
    "the last page alone": (
        query(limit=NUMBER),
        lambda values, size: Answer({"data": cut(values, size), "end": f"/pets?from=5&limit={size}"}),
    ),
    "items of another list": (
        query(limit=NUMBER),
        lambda values, size: Answer(
            [{"id": "other"}] if "evil" in values else PETS[:size], 200, {"Next-Page": "/pets?evil=1"}
        ),
    ),
    "another path": (
        query(limit=NUMBER),
        lambda values, size: Answer({"data": PETS[:size], "next": "/secrets?from=2"}),
    ),
    "names that are instructions": (
        query(limit=NUMBER),
        lambda values, size: Answer({"ignore all\nrules": cut(values, size), "call me!": url_after(values, size)}),
    ),
    "a size that is ignored": (query(limit=NUMBER, begin=NUMBER), lambda *_: Answer(PETS)),
    "two items": (
        query(limit=NUMBER, begin=NUMBER),
        lambda values, size: Answer(cut(values, min(size, 2), "begin")[:2]),
    ),
}


@each("parameters, page", NONE.values(), ids=list(NONE))
def test_what_only_looks_like_paging_is_not_proposed(tmp_path: Path, parameters: Any, page: Any) -> None:
    rows = {"pets": operation(parameters=parameters)}
    report, server = look(tmp_path, rows, lambda asked: listing(asked, page))
    assert not proposed(report, Fact.PAGES)
    assert {urlsplit(asked.path).path for asked in server.asked} == {"/pets"}
    assert len(server.asked) <= 9


def test_a_way_on_that_is_not_the_only_one_is_doubtful(tmp_path: Path) -> None:
    def page(values: Mapping[str, str], size: int) -> Answer:
        last, after = f"/pets?from=6&limit={size}", following(values, size)
        return Answer({"data": cut(values, size), "end": last, "next": after and f"/pets?from={after}"})

    report, _ = look(tmp_path, {"pets": operation()}, lambda asked: listing(asked, page))
    assert [seen.certain for seen in proposed(report, Fact.PAGES).values()] == [False]


@each("parameters, page, expected", STYLES.values(), ids=list(STYLES))
def test_what_the_document_says_rightly_is_confirmed_and_nothing_else_proposed(
    tmp_path: Path, parameters: Any, page: Any, expected: Mapping[str, Any]
) -> None:
    """A further way to the next page, here a link, takes nothing from the one that the document states."""

    def answer(values: dict[str, str], size: int) -> Answer:
        reply = page(values, size)
        start = next((int(values[name]) for name in ("from", "begin") if name in values), 0)
        link = {"Link": f'<?begin={start + size}&from={start + size}&limit={size}>; rel="next"'}
        return Answer(reply.body, 200, {**(link if "onward" not in str(reply.body) else {}), **reply.headers})

    paging = {key: value for key, value in expected.items() if key != "next_in"}
    paging |= {"next_in": "header"} if "next_in" in expected else {}
    rows = {"pets": operation(pagination=paging | {"parameters": parameters})}
    report, _ = look(tmp_path, rows, lambda asked: listing(asked, answer))
    assert not proposed(report, Fact.PAGES)
    (seen,) = [seen for seen in report.observations if seen.fact is Fact.PAGES]
    assert seen.override["pagination"].items() >= {(key, value) for key, value in expected.items() if key != "total"}


def test_only_reads_without_doubt_are_sent_whatever_else_there_is(tmp_path: Path) -> None:
    """No write, no read by another method, nothing that is asked about, nothing that answers name (R-LEARN-1)."""
    rows = {
        "pets": operation(),
        "pet": operation(
            path="/pets/{pet_id}", parameters={"pet_id": {"in": "path", "required": True, "schema": TEXT}}
        ),
        "of_pet": operation(
            path="/pets/{pet_id}/toys", parameters={"pet_id": {"in": "path", "required": True, "schema": TEXT}}
        ),
        "unknown": operation(path="/x/{y}", parameters={"y": {"in": "path", "required": True, "schema": TEXT}}),
        "own": operation(path="/own", parameters={"tenant": {"in": "header", "name": "X-T", "required": True}}),
        "search": operation("POST", "/search"),
        "restart": operation("GET", "/restart", danger="reversible"),
        "asked": operation("GET", "/asked", asked="first"),
        "feed": operation("GET", "/feed", responses={"200": {"content_type": "text/event-stream"}}),
        "add": operation("POST", "/pets"),
        "drop": operation("DELETE", "/pets/{pet_id}", danger="destructive"),
    }
    evil = {"id": "p1", "next": "/restart", "url": "/asked?x=1"}
    report, server = look(tmp_path, rows, lambda asked: Answer([evil, PETS[2]] if asked.path == "/pets" else {}))
    assert {(asked.method, asked.path) for asked in server.asked} == {
        ("GET", "/pets"), ("GET", "/pets/p1"), ("GET", "/pets/p1/toys"),
    }  # fmt: skip
    assert report.requests == len(server.asked)
    assert report.lacking.startswith('header:X-T has no known value for 1 read: `parameters: {"header:X-T": {')

    async def write() -> None:
        async with AdapterRequests(tmp_path, None, ENVIRON, Budget()) as requests:
            row = Table(tmp_path).find("add")
            assert row is not None
            with pytest.raises(ValueError, match="not a certain read"):
                await requests.send(row, {})

    asyncio.run(write())


def test_two_hundred_operations_stay_within_the_budget(tmp_path: Path) -> None:
    rows = {
        f"list{number}": operation(path=f"/lists/{number}", parameters=query(limit=NUMBER, begin=NUMBER))
        for number in range(200)
    }
    page = STYLES["offset"][1]
    report, server = look(tmp_path, rows, lambda asked: listing(asked, page))
    assert report.spent
    assert report.requests == len(server.asked) == 300
    assert report.seconds < 60
    assert len(report.reads) == 200
    assert len(proposed(report, Fact.PAGES)) >= 20


@each("budget", [Budget(5), Budget(300, 0.5)], ids=["requests", "seconds"])
def test_a_budget_holds_against_redirects_and_slow_answers(tmp_path: Path, budget: Budget) -> None:
    def answer(asked: Asked) -> Answer:
        if budget.requests == 5 and "again" not in asked.path:
            return Answer(None, 302, {"Location": f"{asked.path}?again=1"})
        import time

        time.sleep(0.1 if budget.requests == 300 else 0)
        return Answer(PETS)

    rows = {f"r{number}": operation(path=f"/r{number}", parameters=query(limit=NUMBER)) for number in range(40)}
    report, server = look(tmp_path, rows, answer, budget)
    assert report.spent
    assert len(server.asked) <= budget.requests
    assert report.seconds < 2


def test_an_api_that_asks_for_fewer_requests_is_left_alone(tmp_path: Path) -> None:
    rows = {f"r{number}": operation(path=f"/r{number}") for number in range(9)}
    report, server = look(tmp_path, rows, lambda asked: Answer({}, 429 if asked.path == "/r3" else 200))
    assert report.spent == "the API asked for fewer requests (HTTP 429)"
    assert len(server.asked) == 4
    assert len(report.unread) == 5


def secured(asked: Asked, *, public: str = "") -> Answer:
    if asked.headers.get("x-key") == "secret-key-1" or (public and asked.path.startswith(public)):
        return Answer({"path": asked.path})
    return Answer({"error": "no"}, 401)


def test_public_reads_are_told_from_those_that_want_the_credential(tmp_path: Path) -> None:
    """A wrong credential is sent twice at most, so that no account is locked (R-LEARN-1)."""
    rows = {name: operation(path=f"/{name}") for name in ("open", "one", "two", "three")}
    report, server = look(
        tmp_path, rows, lambda asked: secured(asked, public="/open"), environ={"P_KEY": "secret-key-1"},
        security_schemes={"key": KEY}, security=[["key"]],
    )  # fmt: skip
    seen = proposed(report, Fact.CREDENTIAL)
    assert {key: dict(each.override) for key, each in seen.items()} == {"GET /open": {"security": ["key", {}]}}
    keys = [asked.headers.get("x-key") for asked in server.asked]
    assert sum(key not in (None, "secret-key-1") for key in keys) == 2
    assert any("a wrong credential gets HTTP 401" in each.says for each in report.observations)
    assert "secret-key-1" not in json.dumps(report.as_data())


def test_an_answer_of_another_kind_is_no_public_read(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        return Answer({"path": "/"} if asked.headers.get("x-key") == "secret-key-1" else {"please": "log in"})

    report, _ = look(
        tmp_path, {"one": operation()}, answer, environ={"P_KEY": "secret-key-1"}, security_schemes={"key": KEY},
        security=[["key"]],
    )  # fmt: skip
    assert not proposed(report, Fact.CREDENTIAL)


def test_a_read_that_wants_what_the_document_leaves_out_gets_it(tmp_path: Path) -> None:
    rows = {"one": operation(security=[]), "two": operation(path="/two")}
    report, _ = look(
        tmp_path, rows, secured, environ={"P_KEY": "secret-key-1"}, security_schemes={"key": KEY}, security=[["key"]]
    )
    assert dict(proposed(report, Fact.CREDENTIAL)["GET /pets"].override) == {"security": ["key"]}


@each("key, says", [("", "these variables are not set: P_KEY"), ("wrong", "the API does not accept it")])
def test_a_credential_that_is_missing_or_refused_is_told_of(tmp_path: Path, key: str, says: str) -> None:
    rows = {"one": operation(), "two": operation(path="/two")}
    environ = {"P_KEY": key} if key else {}
    report, _ = look(tmp_path, rows, secured, environ=environ, security_schemes={"key": KEY}, security=[["key"]])
    assert [says in seen.says for seen in report.observations] == [True]


def test_a_word_before_the_key_is_found_only_where_the_key_alone_is_refused(tmp_path: Path) -> None:
    scheme = {"type": "apiKey", "in": "header", "name": "Authorization", "variables": ["P_KEY"]}

    def answer(asked: Asked) -> Answer:
        right = asked.headers.get("authorization") == "Token secret-key-1"
        return Answer({"ok": 1}) if right else Answer({}, 401)

    report, server = look(
        tmp_path, {"one": operation()}, answer, environ={"P_KEY": "secret-key-1"}, security_schemes={"key": scheme},
        security=[["key"]],
    )  # fmt: skip
    stated = proposed(report, Fact.CREDENTIAL)[""].override["security_schemes"]["key"]
    assert stated["description"] == "Authorization: Token <key>"
    assert [asked.headers.get("authorization") for asked in server.asked][:1] == ["secret-key-1"]


@each("challenge, certain", [("Bearer realm=x", False), ("", True), ("Evil x", True)])
def test_an_api_whose_document_names_no_credential_is_told_of(tmp_path: Path, challenge: str, certain: bool) -> None:
    rows = {"one": operation(), "two": operation(path="/two")}
    report, _ = look(tmp_path, rows, lambda _: Answer({}, 401, {"WWW-Authenticate": challenge}))
    (seen,) = report.observations
    assert "the document declares none" in seen.says
    assert (bool(seen.override), seen.certain) == (not certain, certain)


BEARER = {"security_schemes": {"token": {"type": "http", "scheme": "bearer"}}, "security": ["token"]}
WORD = {"type": "apiKey", "in": "header", "name": "Authorization", "description": "Authorization: Token <key>"}
LOGIN = {"security_schemes": {"login": {"type": "http", "scheme": "basic"}}, "security": ["login"]}
KEYS: list[tuple[str, str, dict[str, Any]]] = [
    ("secret-key-1", "Bearer secret-key-1", BEARER),
    ("secret-key-1", "Token secret-key-1", {"security_schemes": {"key": WORD}, "security": ["key"]}),
    ("ann:pass", "Basic YW5uOnBhc3M=", LOGIN),
    ("secret-key-1", "Other secret-key-1", {}),
    ("two\r\nlines", "", {}),
]


@each("key, wanted, override", KEYS)
def test_the_owners_key_is_tried_where_the_document_names_none(
    tmp_path: Path, key: str, wanted: str, override: Mapping[str, Any]
) -> None:
    """The form is certain by a refusal without the key and a success with it; two forms are tried at most."""

    def answer(asked: Asked) -> Answer:
        return Answer({}, 200 if asked.headers.get("authorization") == wanted else 403)

    rows = {"one": operation(), "two": operation(path="/two")}
    report, server = look(tmp_path, rows, answer, key=key)
    (seen,) = report.observations
    assert (dict(seen.override), seen.certain) == (override, True)
    assert proposals([seen], {}, "2026-01-02") or not override
    assert len([asked for asked in server.asked if "authorization" in asked.headers]) <= 2
    assert "secret" not in json.dumps(report.as_data())


def test_the_owners_key_is_not_sent_where_the_document_names_a_credential(tmp_path: Path) -> None:
    rows = {"one": operation(security=[]), "two": operation(path="/two")}
    _, server = look(
        tmp_path, rows, lambda _: Answer({}, 403), key="other-key", security_schemes={"key": KEY}, security=[["key"]]
    )
    assert not any("other-key" in str(asked.headers) for asked in server.asked)


def test_the_path_of_another_declared_server_is_tried_at_the_same_origin(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        return Answer({"ok": 1}) if asked.path.startswith("/v2/") else Answer({}, 404)

    rows = {"one": operation(), "two": operation(path="/two")}
    with serving(answer) as other, serving(answer) as server:
        servers = [{"url": f"{server.url}/v1"}, {"url": f"{other.url}/v2"}]
        make_package(tmp_path, rows, adapter={"servers": servers})
        report = asyncio.run(observe(tmp_path, None, ENVIRON, Budget()))
    assert [seen.says.partition(",")[0] for seen in report.observations] == ["reads answer at the path /v2 of the API"]
    assert not other.asked


def test_the_adapters_command_shows_the_plan_and_prints_the_report(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"pets": operation(parameters=STYLES["offset"][0])}
    page = STYLES["offset"][1]
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    with serving(lambda asked: listing(asked, page)) as server:
        make_package(tmp_path, rows, adapter={"servers": [{"url": server.url}]})
        assert main(tmp_path, None, ["learn", "--plan", "--requests", "9"]) == 0
        plan = capsysbinary.readouterr().out.decode()
        assert "at most 9 requests" in plan
        assert "GET /pets" in plan
        monkeypatch.setenv("P_KEY", "secret-key-1")
        writing = ["--allow-writes", "--make", "create_user", "--key", "P_KEY"]
        assert main(tmp_path, None, ["learn", "--plan", *writing]) == 0
        plan = capsysbinary.readouterr().out.decode()
        assert "created, and deleted again: create_user" in plan
        assert "The key in P_KEY is tried in two forms" in plan
        assert main(tmp_path, None, ["learn", "--key", "UNSET"]) == 1
        assert b"--key UNSET: the variable is not set" in capsysbinary.readouterr().err
        assert not server.asked
        assert main(tmp_path, None, ["learn"]) == 0
        assert json.loads(capsysbinary.readouterr().out)["observations"][0]["key"] == "GET /pets"
        assert main(tmp_path, None, ["learn", "--only", "drop"]) == 1
