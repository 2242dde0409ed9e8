"""Signed requests to AWS, against the published example of Signature Version 4 and an implementation of its text."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import anyio
import pytest

from aqlgen.runtime.auth import aws
from aqlgen.runtime.cli.doctor import doctor
from aqlgen.runtime.wire import ApiRequest
from tests.runtime.api.hand_made import STRING, Recorder, json_answer, make_package, operation

KEY_ID, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
HMAC = {"type": "awsSigv4", "variables": [], "optional_variables": {"profile": "P_PROFILE", "region": "P_REGION"}}
ABOUT = {"security_schemes": {"hmac": HMAC}, "security": [["hmac"]]}


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    aws._known_session.cache_clear()
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")


def mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def recomputed(request: ApiRequest) -> str:
    """Compute a request's signature from what it claims (AWS Signature Version 4, create a signed request)."""
    headers = {name.lower(): value for name, value in request.headers}
    match = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=\w+/(\S+), SignedHeaders=(\S+), Signature=\w+", headers["authorization"]
    )
    assert match is not None
    scope, names = match[1], match[2].split(";")
    parts = urlsplit(request.url)
    headers["host"] = parts.netloc
    pairs = sorted(pair if "=" in pair else f"{pair}=" for pair in parts.query.split("&") if pair)
    lines = [request.method, quote(parts.path or "/"), "&".join(pairs)]
    lines += [f"{name}:{headers[name]}" for name in names]
    lines += ["", ";".join(names), hashlib.sha256(request.content or b"").hexdigest()]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        key = mac(key, part)
    return mac(key, "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest])).hex()


def sent(folder: Path, row: dict[str, Any], params: dict[str, Any], base_url: str, **environ: str) -> ApiRequest:
    recorder = Recorder(answer=json_answer({}))
    package = make_package(folder, {"op": row}, adapter=ABOUT, environ=environ, base_url=base_url, transport=recorder)
    anyio.run(package.api.send, package.build(params), package.row())
    return recorder.sent[0]


@pytest.mark.parametrize(
    ("base_url", "scope"),
    [
        ("https://dynamodb.eu-west-1.amazonaws.com", "eu-west-1/dynamodb"),
        ("https://abc123.execute-api.us-east-2.amazonaws.com/prod", "us-east-2/execute-api"),
        ("https://iam.amazonaws.com", "us-east-1/iam"),
    ],
)
def test_a_request_is_signed_over_all_that_is_sent(tmp_path: Path, base_url: str, scope: str) -> None:
    parameters = {"q": {"in": "query", "schema": STRING}, "name": {"in": "body", "schema": STRING}}
    body = {"content_type": "application/json", "shape": "fields", "schema": {"type": "object"}}
    row = operation("POST", "/tables", parameters=parameters, body=body, headers={"X-Amz-Target": "Shop.List"})
    request = sent(tmp_path, row, {"q": "a", "name": "n"}, base_url)
    header = dict(request.headers)["Authorization"]
    assert f"/{scope}/aws4_request" in header
    assert "content-type;host;x-amz-date;x-amz-target" in header
    assert header.endswith(recomputed(request))
    assert "pending-" not in str(request.headers)
    assert SECRET in request.secrets


def test_the_published_example_has_its_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of the AWS General Reference: GET ListUsers at IAM, 30 August 2015."""
    import datetime

    import botocore.auth

    moment = datetime.datetime(2015, 8, 30, 12, 36)
    clock = next(name for name in ("get_current_datetime",) if hasattr(botocore.auth, name))
    monkeypatch.setattr(botocore.auth, clock, lambda *_, **__: moment)
    url = "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08"
    content_type = ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
    headers, secrets = aws.signed(ApiRequest("GET", url, (content_type,)), HMAC, None, None)
    signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    assert dict(headers)["Authorization"].endswith(f"Signature={signature}")
    assert secrets == [SECRET]


def test_the_token_of_a_session_is_sent_and_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "the-session-token")
    request = sent(tmp_path, operation(), {}, "https://sqs.eu-west-1.amazonaws.com")
    assert dict(request.headers)["X-Amz-Security-Token"] == "the-session-token"
    assert "the-session-token" in request.secrets
    assert dict(request.headers)["Authorization"].endswith(recomputed(request))


def test_an_address_that_names_no_region_needs_one(tmp_path: Path) -> None:
    about = {"security_schemes": {"hmac": HMAC | {"service": "shop"}}, "security": [["hmac"]]}
    package = make_package(tmp_path, {"op": operation()}, adapter=about, transport=Recorder(answer=json_answer({})))
    with pytest.raises(Exception, match="Set P_REGION"):
        anyio.run(package.api.send, package.build({}), package.row())


def test_without_the_extra_the_credential_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws, "is_installed", lambda: False)
    package = make_package(tmp_path, {"op": operation()}, adapter=ABOUT)
    assert "petstore-adapter[aws]" in package.refused({}).message
    (entry,) = doctor(tmp_path, {})["credentials"]
    assert not entry["set"]
    assert "extra `aws`" in entry["problem"]
    assert json.dumps(entry)
