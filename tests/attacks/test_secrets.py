"""Credentials that an API, a hook or a fault would bring to light: no encoding of them reaches anybody (R-TRUST-5)."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

import pytest
from forms import FORMS, unwrapped, wrapped

from aqlgen.runtime import assembly
from aqlgen.runtime.cli.doctor import doctor, render_doctor
from aqlgen.runtime.logs import JsonFormatter, Logger
from aqlgen.runtime.redaction import Secrets, redact, redacted
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.attacks.bounds import cpu_seconds
from tests.cases import each
from tests.runtime.api.hand_made import STRING, Recorder, make_package, operation

KEY = 'sk+live/Ab"9=&7q z'
USER, PASSWORD = "alice-the-owner", "p@ss:w0rd+/tail"
ENVIRON = {"P_KEY": KEY, "P_USERNAME": USER, "P_PASSWORD": PASSWORD, "MCP_AQL_HTTP_TOKEN": "http-token-0123456789"}
SCHEMES = {
    "k": {"type": "apiKey", "in": "header", "name": "X-Mine", "variables": ["P_KEY"]},
    "b": {"type": "http", "scheme": "basic", "variables": ["P_USERNAME", "P_PASSWORD"]},
}


def each_letter(template: str, text: str = KEY) -> str:
    return "".join(template.format(ord(letter)) for letter in text)


def in_base64(text: str, before: str = "") -> str:
    return base64.b64encode(f"{before}{text} and more".encode()).decode()


ENCODINGS: dict[str, str] = {
    "plain": KEY,
    "JSON": json.dumps(KEY)[1:-1],
    "JSON with escaped slashes": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "percent": quote(KEY, safe=""),
    "percent, lower case": re.sub("%..", lambda match: match[0].lower(), quote(KEY, safe="")),
    "percent, some": KEY.replace("+", "%2B"),
    "percent, every letter": each_letter("%{:02X}"),
    "percent twice": quote(quote(KEY, safe=""), safe=""),
    "percent three times": quote(quote(quote(KEY, safe=""), safe=""), safe=""),
    "a form": quote_plus(KEY),
    "base64": in_base64(KEY),
    "base64, shifted by one": in_base64(KEY, "x"),
    "base64, shifted by two": in_base64(KEY, "xy"),
    "base64 alone": base64.b64encode(KEY.encode()).decode().rstrip("="),
    "base64url": in_base64(KEY, "x").replace("+", "-").replace("/", "_"),
    "base64 in lines": base64.encodebytes(f"{'-' * 50}{KEY} and more".encode()).decode(),
    "base64 in percent": quote(in_base64(KEY, "xy"), safe=""),
    "hexadecimal": KEY.encode().hex(),
    "hexadecimal, upper case": KEY.encode().hex().upper(),
}
_JSON = re.compile(r"\\u\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\([\"\\/])")


def reveals(text: str, secret: str = KEY) -> bool:
    """Return True if anybody who decodes a text, in any order, reads the secret: an oracle of its own."""
    pending, seen = [text], {text}
    while pending and len(seen) < 400:
        text = pending.pop()
        if secret in text or secret.encode().hex() in text.lower():
            return True
        runs = re.findall(r"[A-Za-z0-9+/]{12,}", "".join(text.split()).replace("-", "+").replace("_", "/"))
        chunks = [run[skip : skip + (len(run) - skip) // 4 * 4] for run in runs for skip in range(4)]
        if any(secret.encode() in base64.b64decode(chunk) for chunk in chunks):
            return True
        decoded = (
            unquote(text),
            unquote_plus(text),
            _JSON.sub(lambda m: m[4] or chr(int(m[1] or m[2] or m[3], 16)), text),
        )
        fresh = [new for new in decoded if new not in seen]
        seen.update(fresh)
        pending += fresh
    return False


class Adapter:
    """An assembled adapter with credentials whose API gives one answer; its log and its audit log are kept."""

    form = "alone"

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, hooks: object | None = None, **more: Any) -> None:
        parameters = {
            "q": {"in": "query", "schema": STRING},
            "h": {"in": "header", "name": "X-H", "schema": STRING},
            "c": {"in": "body", "schema": STRING},
            "dry_run": {"in": "adapter", "schema": {"type": "boolean"}},
        }
        body = {"content_type": "application/json", "shape": "fields", "schema": {}}
        row = operation("POST", "/pets", parameters=parameters, body=body, verb="create", **more)
        self.folder = folder / "src" / "petstore_adapter"
        self.transport = Recorder()
        about = {"security": [["k", "b"]], "security_schemes": SCHEMES, "counts": {"create": 1}}
        make_package(self.folder, {"op": row}, family="create", adapter=about)
        monkeypatch.setattr(assembly, "_transport", lambda *_, **__: self.transport)
        self.environ = {
            **ENVIRON,
            "MCP_AQL_AUDIT_PATH": str(folder / "audit.jsonl"),
            "MCP_AQL_STATE_URL": "memory:",
            "MCP_AQL_LOG_LEVEL": "emergency",
        }
        self.parts = assembly.assemble(self.folder, hooks, environ=self.environ)
        self.records: list[Any] = []
        self.parts.dispatcher.log.listen(self.records.append, "debug")

    def call(self, answer: ApiResponse | None = None, person: Any = None, **params: Any) -> str:
        """Return all that a call brings to light: its envelope, as data and as JSON, and its log."""
        if answer is not None:
            self.transport.answer = answer
        arguments = wrapped(self.form, {"operation": "op", "params": params})
        envelope: Any = asyncio.run(self.parts.dispatcher.handle(None, arguments, None, person))
        self.envelope: Any = unwrapped(envelope)
        logged = [record.as_json(whole=True) for record in self.records]
        texts = [*_texts(envelope), *_texts(logged), json.dumps(envelope), json.dumps(logged)]
        return "\n".join(texts)


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.items() for text in _texts(list(item))]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else [str(value)]


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Adapter]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield Adapter(tmp_path_factory.mktemp("adapter"), monkeypatch)


@pytest.fixture
def adapter(assembled: Adapter) -> Adapter:
    assembled.records.clear()
    return assembled


@pytest.fixture(params=FORMS)
def formed(adapter: Adapter, request: pytest.FixtureRequest) -> Iterator[Adapter]:
    """Make every call in one form."""
    adapter.form = request.param
    yield adapter
    adapter.form = "alone"


def response(content: bytes, kind: str, status: int = 200, **headers: str) -> ApiResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ApiResponse(status, {"content-type": kind, **named}, content)


@each("name", ENCODINGS)
def test_the_oracle_reads_what_is_not_masked(name: str) -> None:
    assert reveals(f"before {ENCODINGS[name]} after")


@each("name", ENCODINGS)
def test_no_encoding_of_a_secret_is_shown(name: str) -> None:
    text = f"before {ENCODINGS[name]} after"
    masked = redact(text, {KEY})
    assert not reveals(masked)
    assert masked.startswith("before ")
    assert masked.endswith(" after")


@each("name", ENCODINGS)
def test_no_encoding_of_a_secret_is_in_an_answer_as_value_or_key(formed: Adapter, name: str) -> None:
    data = {"deep": [{"text": f"x {ENCODINGS[name]} y"}], f"a {ENCODINGS[name]}": 1}
    shown = formed.call(response(json.dumps(data).encode(), "application/json"))
    assert formed.envelope["success"]
    assert not reveals(shown)


@each("name", ENCODINGS)
def test_no_encoding_of_a_secret_is_in_an_error(formed: Adapter, name: str) -> None:
    error = {"message": f"bad key {ENCODINGS[name]}", "code": ENCODINGS[name]}
    assert not reveals(formed.call(response(json.dumps(error).encode(), "application/json", 400)))


RAW = json.dumps({"key": KEY}).replace("+", "\\u002B")
BODIES: dict[str, ApiResponse] = {
    "JSON with an escape": response(RAW.encode(), "application/json"),
    "JSON in UTF-16": response(RAW.encode("utf-16"), "application/json; charset=utf-16"),
    "JSON in UTF-32": response(RAW.encode("utf-32"), "application/json; charset=utf-32"),
    "JSON as a stream of events": response(
        f"data: {RAW}\n\nevent: {KEY}\ndata: {KEY}\n\n".encode(), "text/event-stream"
    ),
    "JSON in lines": response(f"{RAW}\n{RAW}\n".encode(), "application/x-ndjson"),
    "text": response(f"the key is {KEY}".encode(), "text/plain"),
    "text in UTF-16": response(f"the key is {KEY}".encode("utf-16"), "text/plain; charset=utf-16"),
    "HTML": response(f"<p>{KEY}</p>".encode(), "text/html"),
    "XML": response(f"<a b='{html.escape(KEY)}'>{each_letter('&#x{:x};')}</a>".encode(), "application/xml"),
    "bytes": response(b"\x00\xff" + KEY.encode() + b"\x01", "application/octet-stream"),
    "bytes, shifted": response(b"\x00" + KEY.encode(), "image/png"),
    "bytes of JSON": response(b"\xff" + json.dumps(KEY).encode(), "application/octet-stream"),
    "bytes with percent": response(b"\xff" + quote(KEY, safe="").encode(), "application/pdf"),
    "the name of a file": response(
        b"\xff\xfe", "image/png", content_disposition=f"attachment; filename*=UTF-8''{quote(KEY, safe='')}.png"
    ),
    "a form": response(f"a=1&b={quote_plus(KEY)}".encode(), "application/x-www-form-urlencoded"),
    "multipart": response(
        f"--x\r\nContent-Type: application/octet-stream\r\n\r\n\x01{KEY}\r\n--x--\r\n".encode(),
        "multipart/mixed; boundary=x",
    ),
    "a location": response(b"{}", "application/json", 201, location=f"https://x.example/{quote(KEY, safe='')}"),
    "an entity tag": response(b"{}", "application/json", etag=f'"{quote(KEY, safe="")}"'),
    "a challenge": response(b"", "text/plain", 401, www_authenticate=f'Bearer error_description="{quote(KEY)}"'),
    "a scope": response(b"", "text/plain", 403, www_authenticate=f'Bearer scope="{quote(KEY, safe="")}"'),
    "a redirect": response(b"", "text/plain", 302, location=f"https://{quote(KEY, safe='')}.example/x"),
    "a broken answer of JSON": response(f'{{"message": {json.dumps(KEY)}'.encode(), "application/json", 500),
    "a promise of JSON with another text": response(f"oops {KEY}".encode(), "application/json"),
    "the type of the content": response(b"<", f"application/json; x={quote(KEY, safe='')}"),
}


@each("name", BODIES)
def test_no_kind_of_answer_shows_a_secret(formed: Adapter, name: str) -> None:
    assert not reveals(formed.call(BODIES[name]))


def test_bytes_without_a_secret_stay_bytes(adapter: Adapter) -> None:
    adapter.call(response(b"\xff" + KEY.encode() + b"\x00tail", "application/octet-stream"))
    assert base64.b64decode(adapter.envelope["data"]["content"]) == b"\xff***\x00tail"


@each(
    "secret",
    [
        PASSWORD,
        f"{USER}:{PASSWORD}",
        base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(),
        "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(),
        base64.b64encode(f"x{USER}:{PASSWORD}".encode()).decode(),
        ENVIRON["MCP_AQL_HTTP_TOKEN"],
        "Bearer " + ENVIRON["MCP_AQL_HTTP_TOKEN"],
    ],
)
def test_every_credential_that_the_adapter_holds_is_masked(formed: Adapter, secret: str) -> None:
    shown = formed.call(response(json.dumps({"a": f"{secret} it is"}).encode(), "application/json"))
    assert not any(reveals(shown, held) for held in (PASSWORD, ENVIRON["MCP_AQL_HTTP_TOKEN"]))


def test_a_user_name_stays_in_answers(adapter: Adapter) -> None:
    adapter.call(response(json.dumps({"name": USER}).encode(), "application/json"))
    assert adapter.envelope["data"] == {"name": USER}


def test_a_secret_that_is_a_number_is_masked_as_one() -> None:
    secrets = Secrets()
    secrets.own(["8675309012"])
    assert secrets.masked({"a": 8675309012, "b": 7, "c": True}) == {"a": "***", "b": 7, "c": True}


@pytest.mark.parametrize("secret", ["a", "id", "key"])
def test_a_short_secret_does_not_turn_texts_into_asterisks(secret: str) -> None:
    text = f"the {secret} of a key is its identity"
    assert redact(text, {secret}) == text


@pytest.mark.parametrize("secret", ["data", "name", "pets123"])
def test_a_secret_that_is_a_common_word_stays_in_data(secret: str) -> None:
    secrets = Secrets()
    secrets.own([secret])
    assert secrets.masked({secret: f"the {secret}"}) == {secret: f"the {secret}"}


@pytest.mark.parametrize("text", ["100% of a&b", "C:\\temp\\new", "a=1&amp;b=2", "%zz %4", "\\u12", "&#;", "x\0y"])
def test_texts_without_a_secret_are_the_same_objects(text: str) -> None:
    data = {"a": [text]}
    assert redacted(data, {KEY}) is data


def test_a_secret_that_looks_encoded_is_found_as_it_is_and_encoded() -> None:
    secret = "q&amp;s3cret%41\\u0041x"
    for text in (secret, quote(secret, safe=""), json.dumps(secret), quote(quote(secret, safe=""), safe="")):
        assert "***" in redact(text, {secret})
        assert not reveals(redact(text, {secret}), secret)


@pytest.mark.parametrize(
    "secret", ["\\" * 40 + "x", "%25" * 40 + "x", "%" * 40 + "x", '"' * 40 + "x", "n\\" * 40 + "x"]
)
def test_no_secret_and_no_text_make_the_search_long(secret: str) -> None:
    """R-TRUST-4: a caller brings the credential, and the API answers with what almost looks like it."""
    for text in (secret[:-1], quote(secret[:-1]), json.dumps(secret[:-1])[1:-1]):
        with cpu_seconds(5.0):
            assert "***" in redact(f"{text * 2000} {json.dumps(secret)} {quote(secret)}", {secret})


def test_a_secret_as_long_as_a_header_is_masked_at_once() -> None:
    secret = "k1%Z" * 15_000
    with cpu_seconds(1.0):
        assert redact(f"key {secret} is wrong", {secret}) == "key *** is wrong"
        assert redact(f"key {quote(secret)} is wrong", {secret}) == "***"


def test_what_is_around_a_secret_in_a_url_stays() -> None:
    url = f"https://x.example/a?k={quote(KEY, safe='')}&page=2"
    assert redact(url, {KEY}) == "https://x.example/a?k=***&page=2"


def hooked(change: Callable[[ApiRequest], ApiRequest]) -> object:
    return SimpleNamespace(before_send=lambda request, call: change(request))


def with_header(name: str, value: str) -> object:
    return hooked(lambda request: replace(request, headers=(*request.headers, (name, value))))


DRY_RUNS: dict[str, object] = {
    "a header with a key": with_header("X-Trace", KEY),
    "a header that holds a key": with_header("X-Trace", f"for {KEY} now"),
    "a header that holds a key in percent": with_header("X-Trace", quote(KEY, safe="")),
    "a header that holds a password in base64": with_header("X-Trace", in_base64(PASSWORD, "x")),
    "a token of the adapter itself": with_header("X-Trace", ENVIRON["MCP_AQL_HTTP_TOKEN"]),
    "Authorization": with_header("Authorization", "Bearer nobody-knows-this"),
    "authorization in lower case": with_header("authorization", "nobody-knows-this"),
    "Proxy-Authorization": with_header("Proxy-Authorization", "Basic nobody-knows-this"),
    "Cookie": with_header("Cookie", "session=nobody-knows-this; b=nobody-knows-this"),
    "a key of another API": with_header("X-Api-Key", "nobody-knows-this"),
    "a key with underscores": with_header("X_API_KEY", "nobody-knows-this"),
    "an Azure key": with_header("Ocp-Apim-Subscription-Key", "nobody-knows-this"),
    "an AWS token": with_header("X-Amz-Security-Token", "nobody-knows-this"),
    "a signature": with_header("X-Signature", "nobody-knows-this"),
    "a secret": with_header("X-Client-Secret", "nobody-knows-this"),
    "the query": hooked(lambda request: replace(request, url=f"{request.url}&trace={quote(KEY, safe='')}")),
    "the query in lower case": hooked(
        lambda request: replace(request, url=f"{request.url}&t={quote(KEY, safe='').replace('%2B', '%2b')}")
    ),
    "a key in the query by its name": hooked(
        lambda request: replace(request, url=f"{request.url}&api_key=nobody-knows-this")
    ),
    "a token in the query by its name": hooked(
        lambda request: replace(request, url=f"{request.url}&access%5Ftoken=nobody-knows-this")
    ),
    "the path": hooked(lambda request: replace(request, url=f"{request.url}/{quote(KEY, safe='')}")),
    "the user of the address": hooked(
        lambda request: replace(request, url=request.url.replace("://", "://me:nobody-knows-this@"))
    ),
    "a field of the body": hooked(lambda request: replace(request, content=json.dumps({"a": [KEY]}).encode())),
    "a key of the body": hooked(lambda request: replace(request, content=json.dumps({KEY: 1}).encode())),
    "an escape in the body": hooked(lambda request: replace(request, content=RAW.encode())),
    "a body that is not JSON": hooked(lambda request: replace(request, content=b"{" + json.dumps(KEY).encode())),
    "a body of bytes": hooked(
        lambda request: replace(
            request, content=b"\xff" + KEY.encode(), headers=(("Content-Type", "application/octet-stream"),)
        )
    ),
    "nothing": SimpleNamespace(),
}


@each("form", FORMS)
@each("name", DRY_RUNS)
def test_a_dry_run_shows_no_credential_whoever_added_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, form: str
) -> None:
    adapter = Adapter(tmp_path, monkeypatch, DRY_RUNS[name])
    adapter.form = form
    shown = adapter.call(dry_run=True, q="fine", c="fine")
    assert adapter.envelope["data"]["dry_run"] is True
    secrets = (KEY, PASSWORD, ENVIRON["MCP_AQL_HTTP_TOKEN"], "nobody-knows-this")
    assert not any(reveals(shown, secret) for secret in secrets)
    assert "fine" in shown or name == "a body of bytes"


def test_a_dry_run_shows_what_is_no_secret(formed: Adapter) -> None:
    formed.call(dry_run=True, q="page one", h="trace")
    assert formed.envelope["data"]["url"] == "https://api.example.com/v1/pets?q=page%20one"
    headers = formed.envelope["data"]["headers"]
    assert (headers["X-H"], headers["X-Mine"], headers["Authorization"]) == ("trace", "***", "Basic ***")


def test_a_request_knows_the_values_of_all_credential_variables(tmp_path: Path) -> None:
    about = {"security": [["k"]], "security_schemes": SCHEMES}
    row = operation(security=[])
    package = make_package(tmp_path, {"op": row, "keyed": operation()}, adapter=about, environ=ENVIRON)
    for name in ("op", "keyed"):
        assert {KEY, PASSWORD} <= package.build({}, name).secrets


@each("name", ENCODINGS)
def test_no_encoding_of_a_secret_is_logged(name: str) -> None:
    records: list[Any] = []
    logger = Logger("emergency", "attack", secrets=lambda: frozenset({KEY}))
    logger.listen(records.append, "debug")
    text = ENCODINGS[name]
    logger.write("warning", f"m {text}", trace={f"t {text}": [text]}, data_item={"x": {text: text}})
    logger.exception("failed", ValueError(text))
    library = logging.LogRecord(
        f"httpx {text}", logging.INFO, "", 0, "GET %s", (text,), (ValueError, ValueError(text), None)
    )
    lines = [json.dumps(record.as_json(whole=True)) for record in records]
    lines.append(JsonFormatter(lambda: frozenset({KEY})).format(library))
    assert len(lines) == 3
    assert not any(reveals(line) for line in lines)


@each("form", FORMS)
@each("name", ["plain", "JSON", "percent", "percent, every letter", "base64, shifted by one"])
def test_no_secret_is_in_the_audit_log_or_in_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, form: str
) -> None:
    adapter = Adapter(tmp_path, monkeypatch, danger="destructive")
    questions: list[str] = []

    async def ask(question: str, _: str = "") -> bool:
        questions.append(question)
        return True

    person = SimpleNamespace(batched=False, reachable=True, ask=ask)
    adapter.form = form
    shown = adapter.call(response(b"{}", "application/json"), person, c=f"set {ENCODINGS[name]}", q="fine")
    audit = (tmp_path / "audit.jsonl").read_text()
    assert questions
    assert [json.loads(line)["event"] for line in audit.splitlines()]
    assert not any(reveals(text) for text in (audit, *questions, shown))


BASE_URLS = (
    "https://me:nobody-knows-this@api.example.com/v1",
    "https://nobody-knows-this@api.example.com/v1",
    "https://me:nobody%2Dknows%2Dthis@api.example.com/v1",
    "https://:nobody-knows-this@api.example.com:8443/v1",
)


@pytest.mark.parametrize("url", BASE_URLS)
def test_doctor_shows_no_password_of_an_address(adapter: Adapter, url: str) -> None:
    report = doctor(adapter.folder, {**adapter.environ, "MCP_AQL_BASE_URL": url})
    page = render_doctor(report, all_settings=True) + json.dumps(report)
    assert "api.example.com" in page
    assert not any(reveals(page, secret) for secret in ("nobody-knows-this", KEY, PASSWORD))


@pytest.mark.parametrize("url", BASE_URLS[:3])
def test_a_password_of_the_address_is_a_secret_like_any(adapter: Adapter, url: str) -> None:
    parts = assembly.assemble(adapter.folder, environ={**adapter.environ, "MCP_AQL_BASE_URL": url})
    masked = parts.dispatcher.masked
    assert masked is not None
    secret = "nobody-knows-this"
    for text in (secret, quote(secret), in_base64(f"me:{secret}"), each_letter("%{:02x}", secret)):
        assert not reveals(str(masked({"a": text})), secret)


@pytest.mark.parametrize("suffix", ["", "_FILE"])
@pytest.mark.parametrize("name", ["MCP_AQL_HTTP_TOKEN", "P_KEY"])
def test_variables_and_their_files_are_secrets(tmp_path: Path, adapter: Adapter, name: str, suffix: str) -> None:
    tokens = ["first-token-of-file", "second-token-of-file"] if name == "MCP_AQL_HTTP_TOKEN" else ["only-token-of-file"]
    file = tmp_path / "secret"
    file.write_text("\n".join(tokens) + "\n")
    environ = {key: value for key, value in adapter.environ.items() if key != name}
    environ[name + suffix] = str(file) if suffix else "\n".join(tokens)
    known = assembly.adapter_secrets(adapter.parts.adapter, environ)
    assert set(tokens) <= known


@pytest.mark.parametrize("where", ["variable", "file"])
def test_the_key_of_a_client_certificate_is_a_secret(tmp_path: Path, where: str) -> None:
    line = base64.b64encode(b"k" * 48).decode()
    pem = f"-----BEGIN PRIVATE KEY-----\n{line}\n{line[::-1]}\n-----END PRIVATE KEY-----\n"
    (tmp_path / "key.pem").write_text(pem)
    scheme = {"type": "mutualTLS", "variables": ["P_CERT", "P_CERT_KEY"]}
    package = make_package(tmp_path / "p", {"op": operation()}, adapter={"security_schemes": {"m": scheme}})
    environ = {"P_CERT": "c", "P_CERT_KEY": pem if where == "variable" else str(tmp_path / "key.pem")}
    known = assembly.adapter_secrets(package.adapter, environ)
    assert not reveals(redact(f"key {pem}", known), line)


def test_a_token_of_a_caller_is_masked_in_logs_and_in_the_answers_of_its_call() -> None:
    secrets = Secrets()
    secrets.add(["token-of-a-caller-1"])
    assert "token-of-a-caller-1" not in redact("used token-of-a-caller-1", secrets.all)
    assert secrets.masked("used token-of-a-caller-1") == "used ***"
