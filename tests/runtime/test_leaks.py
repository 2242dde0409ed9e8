"""Ways in which an API, or a fault, could bring a credential to light: none of them does (R-ENV-4, issue 6)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from local import Answer, Asked, Running, adapter, serving

from aqlgen.runtime.cli import main

KEY, QUERY = "sk-l!ve/Ab+9=\"Zß'~key", "q&ry s3cret/%41+token"
USER, PASSWORD = "alice-the-owner", "p@ss:w0rd/ütf&x"
ENVIRON = {"P_KEY": KEY, "P_Q": QUERY, "P_USERNAME": USER, "P_PASSWORD": PASSWORD}
SCHEMES = {
    "k": {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["P_KEY"]},
    "q": {"type": "apiKey", "in": "query", "name": "api_key", "variables": ["P_Q"]},
    "b": {"type": "http", "scheme": "basic", "variables": ["P_USERNAME", "P_PASSWORD"]},
}
PAIR = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


def whole(request: Asked) -> str:
    return json.dumps({"path": request.path, "headers": dict(request.headers)})


def cut(secret: str) -> Callable[[Asked], Answer]:
    """Return an API that puts a secret across the place where a message is cut."""
    return lambda _: Answer({"message": "x" * (500 - len(secret) // 2) + secret}, 400)


WAYS: dict[str, Callable[[Asked], Answer]] = {
    "an error repeats the request": lambda request: Answer({"message": f"bad request {whole(request)}"}, 400),
    "an error in plain text": lambda request: Answer(
        f"no: {KEY} {QUERY}".encode(), 401, {"Content-Type": "text/plain"}
    ),
    "an error in HTML": lambda request: Answer(f"<html>{KEY}</html>".encode(), 500, {"Content-Type": "text/html"}),
    "an error in XML": lambda request: Answer(
        f"<Error><Message>{KEY.replace('&', '&amp;')} {QUERY}</Message></Error>".encode(),
        403,
        {"Content-Type": "application/xml"},
    ),
    "the name of a parameter": lambda request: Answer({"errors": [{"field": QUERY, "message": "unknown field"}]}, 422),
    "the code of an error": lambda request: Answer({"error": {"code": PASSWORD, "message": "no"}}, 409),
    "a key that is cut in two": cut(KEY),
    "a key in a query that is cut in two": cut(QUERY),
    "a password that is cut in two": cut(PASSWORD),
    "the pair in base64 that is cut in two": cut(PAIR),
    "a code that is cut in two": lambda request: Answer({"code": "x" * 90 + KEY, "message": "m"}, 409),
    "the name of a parameter that is cut in two": lambda request: Answer(
        {"param": "x" * 92 + KEY, "message": "m"}, 400
    ),
    "a scope that is cut in two": lambda request: Answer(
        {}, 403, {"WWW-Authenticate": f'Bearer scope="{"x" * 192}{quote(QUERY)}"'}
    ),
    "damaged JSON": lambda request: Answer(b'{"message": "' + json.dumps(KEY)[1:-1].encode() + b'", "x', 400),
    "a success repeats the request": lambda request: Answer({"seen": dict(request.headers), "url": request.path}),
    "a success decodes it": lambda request: Answer(
        {"user": USER, "password": PASSWORD, "list": [KEY, {"deep": QUERY}]}
    ),
    "a success in text": lambda request: Answer(f"{KEY}\n{QUERY}".encode(), 200, {"Content-Type": "text/plain"}),
    "a success in lines": lambda request: Answer(
        json.dumps({"k": KEY}).encode() + b"\n", 200, {"Content-Type": "application/x-ndjson"}
    ),
    "events": lambda request: Answer(
        f"data: {json.dumps({'k': KEY})}\n\n".encode(), 200, {"Content-Type": "text/event-stream"}
    ),
    "a place where something was made": lambda request: Answer(
        b"", 201, {"Location": f"/things/1?api_key={quote(QUERY, safe='')}", "Content-Type": "text/plain"}
    ),
    "a long place that is cut in two": lambda request: Answer(
        b"", 201, {"Location": "/" + "x" * 1985 + quote(QUERY, safe=""), "Content-Type": "text/plain"}
    ),
    "a redirect elsewhere": lambda request: Answer(
        {}, 307, {"Location": f"https://{quote_plus(KEY)}@evil.invalid/{KEY}"}
    ),
    "a challenge": lambda request: Answer(
        b"", 401, {"WWW-Authenticate": f'Bearer error_description="key {quote(KEY)}"'}
    ),
    "no JSON where JSON was promised": lambda request: Answer(KEY.encode(), 200),
    "a type that holds it": lambda request: Answer(b"{", 200, {"Content-Type": f"application/json; x={quote(KEY)}"}),
}


def pieces(secret: str) -> set[str]:
    """Return what is as good as the secret: each form of it, and each half."""
    raw = secret.encode()
    forms = {secret, quote(secret, safe=""), quote(secret), quote_plus(secret), base64.b64encode(raw).decode()}
    forms |= {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    halves = {form[: len(form) // 2] for form in forms} | {form[len(form) // 2 + 1 :] for form in forms}
    return {form for form in forms | halves if len(form) > 7}


def clean(*shown: object, secrets: Iterable[str] = (KEY, QUERY, PASSWORD, PAIR)) -> None:
    texts = [item if isinstance(item, str) else json.dumps(item, default=str, ensure_ascii=False) for item in shown]
    for text in texts:
        plain = text.replace("\\\\", "\\").replace('\\"', '"')
        for secret in secrets:
            for piece in pieces(secret):
                assert piece not in text, piece
                assert piece not in plain, piece


def answers_of(tmp_path: Path, answer: Callable[[Asked], Answer], **environ: str) -> list[dict[str, Any]]:
    """Call an operation that reads and one that writes, and return the envelopes."""
    with serving(answer) as local:
        folder = adapter(tmp_path / "p", local.url, SCHEMES, ["k", "q", "b"])
        running = Running(folder, ENVIRON | {"MCP_AQL_AUDIT_PATH": str(tmp_path / "audit.jsonl")} | environ)

        async def job() -> list[dict[str, Any]]:
            return [await running.call(), await running.call("change", note="n")]

        return running.run(job())


@pytest.mark.parametrize("way", WAYS)
def test_no_answer_brings_a_credential_to_light(tmp_path: Path, way: str, capfd: pytest.CaptureFixture[str]) -> None:
    """R-TRUST-5"""
    answers = answers_of(tmp_path, WAYS[way])
    logged = capfd.readouterr()
    audit = tmp_path / "audit.jsonl"
    clean(answers, logged.out, logged.err, audit.read_text(encoding="utf-8") if audit.exists() else "")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[bad", "http://nowhere.invalid"])
def test_no_fault_of_the_connection_brings_one_to_light(
    tmp_path: Path, url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = adapter(tmp_path, url, SCHEMES, ["k", "q", "b"])
    answers = Running(folder, ENVIRON).calls("op", "change")
    logged = capfd.readouterr()
    assert not any(answer["success"] for answer in answers)
    clean(answers, logged.out, logged.err)


def test_an_exception_that_nobody_expects_brings_none_to_light(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """R-TRUST-5"""
    folder = adapter(tmp_path, "http://127.0.0.1:1", SCHEMES, ["k", "q", "b"])
    running = Running(folder, ENVIRON)

    async def broken(request: Any, row: Any) -> Any:
        raise RuntimeError("x" * 3970 + f"{KEY} {request.url} {request.headers}")

    running.parts.transport.send = broken  # type: ignore[method-assign]
    answers = running.calls()
    logged = capfd.readouterr()
    assert not answers[0]["success"]
    clean(answers, logged.out, logged.err)


def test_a_dry_run_and_doctor_show_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-TRUST-5"""
    note = {"in": "body", "schema": {"type": "string"}}
    row = {
        "method": "POST",
        "parameters": {"note": note, "dry_run": {"in": "adapter", "schema": {"type": "boolean"}}},
        "body": {"content_type": "application/json", "shape": "fields"},
    }
    folder = adapter(tmp_path, "http://127.0.0.1:1", SCHEMES, ["k", "q", "b"], row=row)
    running = Running(folder, ENVIRON)
    answers = running.run(running.call(note=f"again {KEY}", dry_run=True))
    assert answers["data"]["headers"]["X-Key"] == "***"
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    main(folder, None, ["doctor"])
    shown = capfd.readouterr()
    clean(answers, shown.out, shown.err)
