"""Credentials of every kind as the API sees them, from variables and from files, and what is never shown of them."""

from __future__ import annotations

import base64
import datetime
import inspect
import ipaddress
import json
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from local import Answer, Asked, Running, adapter, hidden, serving

from aqlgen.runtime import hosts
from aqlgen.runtime.auth import sent_as
from aqlgen.runtime.cli import main
from aqlgen.runtime.encode.body import with_credentials

RUNTIME = Path(__file__).parents[2]
KEY = {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["P_KEY"]}
BASIC = {"type": "http", "scheme": "basic", "variables": ["P_USERNAME", "P_PASSWORD"]}


def fine(_: Asked) -> Answer:
    return Answer({"n": 1})


def test_an_authentication_scheme_of_another_name_is_sent_by_its_name(tmp_path: Path) -> None:
    schemes = {"t": {"type": "http", "scheme": "Token", "variables": ["P_T"]}}
    with serving(fine) as local:
        for number, value in enumerate(("abc", "token abc", "Token abc")):
            folder = adapter(tmp_path / str(number), local.url, schemes, ["t"])
            assert Running(folder, {"P_T": value}).calls()[0]["success"]
    assert [request.headers["authorization"] for request in local.asked] == ["Token abc"] * 3


def test_a_key_is_put_into_its_format_unless_it_has_a_scheme_before_it(tmp_path: Path) -> None:
    key = {"type": "apiKey", "in": "header", "name": "Authorization", "format": 'Token token="{key}"'}
    with serving(fine) as local:
        for number, value in enumerate(("abc", 'Token token="abc"', "Bearer x", "a b=c,d e")):
            folder = adapter(tmp_path / str(number), local.url, {"t": {**key, "variables": ["P_T"]}}, ["t"])
            assert Running(folder, {"P_T": value}).calls()[0]["success"]
    sent = [request.headers["authorization"] for request in local.asked]
    assert sent == ['Token token="abc"', 'Token token="abc"', "Bearer x", "a b=c,d e"]


def test_a_cookie_is_sent_as_it_is_but_for_what_would_end_it(tmp_path: Path) -> None:
    schemes = {"c": {"type": "apiKey", "in": "cookie", "name": "sid", "variables": ["P_C"]}}
    with serving(fine) as local:
        folder = adapter(tmp_path, local.url, schemes, ["c"])
        assert Running(folder, {"P_C": "s%3Aa+b/c==; x=1"}).calls()[0]["success"]
    assert local.asked[0].headers["cookie"] == "sid=s%3Aa+b/c==%3B%20x=1"


def test_several_schemes_of_one_alternative_are_sent_together(tmp_path: Path) -> None:
    query = {"type": "apiKey", "in": "query", "name": "app id", "variables": ["P_APP"]}
    with serving(fine) as local:
        folder = adapter(tmp_path, local.url, {"k": KEY, "q": query, "b": BASIC}, ["b", "q"], ["k", "q"])
        environ = {"P_KEY": "k1", "P_APP": "a&b", "P_USERNAME": ""}
        assert Running(folder, environ).calls()[0]["success"]
    (asked,) = local.asked
    assert (asked.headers["x-key"], asked.path) == ("k1", "/pets?app%20id=a%26b")
    assert "authorization" not in asked.headers


def test_a_secret_that_was_rotated_in_its_file_is_used_at_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("the-old-secret\n")
    new.write_text("the-new-secret\r\n")
    link = tmp_path / "current"
    link.symlink_to(old)
    with serving(fine) as local:
        folder = adapter(tmp_path / "p", local.url, {"k": KEY}, ["k"])
        running = Running(folder, {"P_KEY": "", "P_KEY_FILE": str(link)})

        async def job() -> list[Any]:
            answers = [await running.call()]
            (tmp_path / "next").symlink_to(new)
            (tmp_path / "next").replace(link)  # as orchestrators do it
            answers.append(await running.call())
            new.write_text("the-third-secret")
            answers.append(await running.call())
            link.unlink()
            answers.append(await running.call())
            return answers

        answers = running.run(job())
    assert [request.headers["x-key"] for request in local.asked] == [
        "the-old-secret",
        "the-new-secret",
        "the-third-secret",
    ]
    assert "P_KEY" in answers[3]["error"]["message"]
    hidden(["the-old-secret", "the-new-secret", "the-third-secret"], *answers, *capfd.readouterr())


SECRET = 'p"ss/wörd+ of=ann'


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 409, 422, 429, 500])
@pytest.mark.parametrize("kind", ["json", "text", "list"])
def test_an_api_that_tells_a_credential_is_not_repeated(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], status: int, kind: str
) -> None:
    """R-ENV-4: whatever an answer holds of our own credentials, in any form, is masked; the rest stays."""

    def answer(asked: Asked) -> Answer:
        pair = asked.headers["authorization"].removeprefix("Basic ")
        password = base64.b64decode(pair).decode().partition(":")[2]
        content = {"message": f"bad {password} of {pair}", "user": "ann", "key": asked.headers["x-key"], "note": "kept"}
        if kind == "text":
            return Answer(json.dumps(content, ensure_ascii=False).encode(), status, {"Content-Type": "text/plain"})
        return Answer([content] if kind == "list" else content, status)

    environ = {"P_KEY": "the-key-itself", "P_USERNAME": "ann", "P_PASSWORD": SECRET}
    with serving(answer) as local:
        running = Running(
            adapter(tmp_path, local.url, {"k": KEY, "b": BASIC}, ["k", "b"]), environ | {"MCP_AQL_RETRIES": "0"}
        )
        (envelope,) = running.calls()
    assert envelope["success"] is (status == 200)
    pair = base64.b64encode(f"ann:{SECRET}".encode()).decode()
    hidden([SECRET, pair, "the-key-itself", json.dumps(SECRET)[1:-1]], envelope, *capfd.readouterr())
    if status == 200 and kind != "text":
        data = envelope["data"][0] if kind == "list" else envelope["data"]
        assert data == {"message": "bad *** of ***", "user": "ann", "key": "***", "note": "kept"}


def test_a_token_is_masked_in_every_answer_however_it_was_set(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        token = asked.headers["authorization"].partition(" ")[2]
        return Answer(json.dumps({"t": token}).replace("/", "\\/").encode())

    schemes = {"b": {"type": "http", "scheme": "bearer", "variables": ["P_B"]}}
    with serving(answer) as local:
        answers = Running(adapter(tmp_path, local.url, schemes, ["b"]), {"P_B": "bearer tok/en+of=me"}).calls(
            "op", "op"
        )
    assert [answer["data"] for answer in answers] == [{"t": "***"}] * 2


def test_data_of_the_api_that_is_to_be_sent_back_can_be_had_whole(tmp_path: Path) -> None:
    """An update that reads, merges and writes must not write a mask."""
    with serving(fine) as local:
        running = Running(adapter(tmp_path, local.url, {"k": KEY}, ["k"]), {"P_KEY": "the-key-itself"})
        row = running.parts.table.find("op")
        from aqlgen.runtime.wire import ApiResponse

        response = ApiResponse(200, {"content-type": "application/json"}, b'{"key": "the-key-itself"}')
        running.api.build(row, {})
        assert running.api.decode(response, row, {}) == {"key": "***"}
        assert running.api.decode(response, row, {}, masked=False) == {"key": "the-key-itself"}


def test_doctor_names_every_way_and_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-OWN-3"""
    roles = ("client_id", "client_secret", "refresh_token", "scopes", "audience", "token_url")
    oauth = {
        "type": "oauth2",
        "variables": ["P_TOKEN"],
        "flows": {
            "clientCredentials": {"token_url": "https://login.example.com/token", "scopes": ["a"]},
            "authorizationCode": {"token_url": "/user", "scopes": ["a"]},
        },
        "optional_variables": {role: f"P_{role.upper()}" for role in roles},
    }
    folder = adapter(tmp_path, "https://login.example.com/v1", {"oauth": oauth, "basic": BASIC}, ["oauth"])
    monkeypatch.setenv("MCP_AQL_STATE_URL", f"sqlite:///{tmp_path}/none.sqlite3")
    monkeypatch.setenv("P_CLIENT_ID", "the-client")
    monkeypatch.setenv("P_CLIENT_SECRET", "the-secret-of-it")
    monkeypatch.setenv("P_PASSWORD_FILE", str(tmp_path / "absent"))
    assert main(folder, None, ["doctor", "--output-format", "json"]) == 0
    out = capsys.readouterr().out
    token, basic = json.loads(out)["credentials"]
    assert (token["scheme"], token["type"], token["variables"], token["set"]) == ("oauth", "oauth2", ["P_TOKEN"], True)
    assert token["grant"] == "client_credentials"
    assert token["grants"] == [
        {
            "grant": "refresh_token",
            "variables": ["P_CLIENT_ID", "P_REFRESH_TOKEN"],
            "set": False,
            "token_url": "https://login.example.com/user",
        },
        {"grant": "login", "variables": ["P_CLIENT_ID"], "set": False, "token_url": "https://login.example.com/user"},
        {
            "grant": "client_credentials",
            "variables": ["P_CLIENT_ID", "P_CLIENT_SECRET"],
            "set": True,
            "token_url": "https://login.example.com/token",
        },
    ]
    assert (basic["set"], basic["http_scheme"], basic["unreadable"]) == (False, "basic", ["P_PASSWORD_FILE"])
    assert main(folder, None, ["doctor"]) == 0
    human = capsys.readouterr().out
    assert (
        "or client_credentials    in use       P_CLIENT_ID, P_CLIENT_SECRET  https://login.example.com/token" in human
    )
    hidden(["the-secret-of-it"], out, human)
    assert not (tmp_path / "none.sqlite3").exists()


def test_credentials_that_are_sent_as_they_are_load_nothing_of_the_others(tmp_path: Path) -> None:
    program = (
        "import sys, os, asyncio; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
        "from aqlgen.runtime.assembly import assemble;"
        "parts = assemble(Path(sys.argv[2]), environ={'MCP_AQL_CONFIG': os.devnull, 'P_KEY': 'k'});"
        "parts.dispatcher.api.build(parts.table.find('op'), {});"
        "print([one for one in ('auth.grants', 'auth.login',"
        " 'auth.discovery', 'client.tls', 'auth.tokens') if f'aqlgen.runtime.{one}' in sys.modules])"
    )
    folder = adapter(tmp_path, "https://api.example.com", {"k": KEY}, ["k"])
    done = subprocess.run(
        [sys.executable, "-c", program, str(RUNTIME), str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def certificates(folder: Path) -> dict[str, Path]:
    """Make an authority, a server's certificate and two clients'; the keys stand with them."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.datetime.now(datetime.UTC)

    def issue(name: str, issuer: tuple[Any, Any] | None) -> tuple[Any, Any]:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        place = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        built = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer[0].subject if issuer else subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(place, critical=False)
            .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )
        if issuer is None:  # as RFC 5280 and Python 3.13 demand
            signs = {name: name == "key_cert_sign" for name in inspect.signature(x509.KeyUsage).parameters}
            built = built.add_extension(x509.KeyUsage(**signs), critical=True)
        else:
            signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer[1].public_key())
            built = built.add_extension(signer, critical=False)
        return built.sign(issuer[1] if issuer else key, hashes.SHA256()), key

    authority = issue("authority", None)
    files = {}
    for name in ("authority", "server", "ann", "bob"):
        certificate, key = authority if name == "authority" else issue(name, authority)
        form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        files[name] = folder / f"{name}.pem"
        files[name].write_bytes(certificate.public_bytes(form[0]) + key.private_bytes(*form))
    return files


MUTUAL = {"type": "mutualTLS", "variables": ["P_CERT", "P_KEY"], "optional_variables": {"key_password": "P_PW"}}


def trusting(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, mode: ssl.VerifyMode = ssl.CERT_REQUIRED
) -> ssl.SSLContext:
    """Return the context of a server that asks clients for a certificate of the authority, which clients trust, too."""
    monkeypatch.setenv("SSL_CERT_FILE", str(files["authority"]))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(files["server"])
    tls.load_verify_locations(files["authority"])
    tls.verify_mode = mode
    return tls


@pytest.mark.parametrize("named", [True, False])
def test_a_certificate_is_shown_at_no_origin_to_which_a_redirect_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    files = certificates(tmp_path)
    tls = trusting(files, monkeypatch, ssl.CERT_OPTIONAL)
    monkeypatch.setattr(hosts, "is_public_address", lambda _: not named)
    environ = {"P_CERT": str(files["ann"]), "P_KEY": str(files["ann"])}
    with serving(fine, tls) as other, serving(lambda _: Answer({}, 302, {"Location": other.url}), tls) as local:
        folder = adapter(tmp_path / "p", local.url, {"tls": MUTUAL}, ["tls"])
        assert Running(folder, environ).calls()[0]["success"]
    assert [request.peer for request in (*local.asked, *other.asked)] == ["ann", ""]


def test_a_client_shows_its_certificate_and_the_new_one_once_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = certificates(tmp_path)
    tls, scheme = trusting(files, monkeypatch), MUTUAL
    mine = tmp_path / "mine.pem"
    mine.write_bytes(files["ann"].read_bytes())
    with serving(lambda _: Answer({"n": 1}, headers={"Connection": "close"}), tls) as local:
        folder = adapter(tmp_path / "p", local.url, {"tls": scheme}, ["tls"])
        (without,) = Running(folder, {}).calls()
        running = Running(folder, {"P_CERT_FILE": str(mine)})

        async def job() -> list[Any]:
            answers = [await running.call()]
            mine.write_bytes(files["bob"].read_bytes())
            answers.append(await running.call())
            mine.write_text("-----BEGIN nonsense PRIVATE KEY-----")
            answers.append(await running.call())
            return answers

        answers = running.run(job())
        (by_path,) = Running(folder, {"P_CERT": str(files["ann"]), "P_KEY": str(files["ann"])}).calls()
    assert without["error"]["details"]["missing"] == ["P_CERT", "P_KEY"]
    assert [envelope["success"] for envelope in (*answers, by_path)] == [True, True, False, True]
    assert "P_CERT and P_KEY contain no certificate" in answers[2]["error"]["message"]
    assert [request.peer for request in local.asked] == ["ann", "bob", "ann"]


def test_a_credential_within_the_body_is_sent_where_its_object_is(tmp_path: Path) -> None:
    scheme = {"type": "apiKey", "in": "body", "name": "/job/vault~1token", "variables": ["P_KEY"]}
    kept = {"job": {"name": "j"}, "n": 1}
    assert with_credentials(kept, {"key": "k", "/job/vault~1token": "t", "/none/token": "t", "/n/token": "t"}) == {
        "job": {"name": "j", "vault/token": "t"},
        "n": 1,
        "key": "k",
    }
    assert kept == {"job": {"name": "j"}, "n": 1}
    assert sent_as(scheme) == "body /job/vault~1token={key}"


def test_a_call_without_a_credential_has_the_name_of_one_that_stands_in_the_path(tmp_path: Path) -> None:
    schemes = {"k": {"type": "apiKey", "in": "path", "name": "apiKey", "variables": ["P_KEY"]}}
    with serving(fine) as local:
        folder = adapter(tmp_path, local.url, schemes, ["k"], row={"path": "/v1/{apiKey}/things"})
        assert Running(folder, {"P_KEY": "abc"}).calls()[0]["success"]
        assert Running(folder, {"MCP_AQL_AUTH": "none"}).calls()[0]["success"]
    assert [request.path for request in local.asked] == ["/v1/abc/things", "/v1/apiKey/things"]
