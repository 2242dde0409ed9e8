"""Files, URLs and standard input, and the ways in which reading them fails."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from aqlgen.diagnostics.errors import AqlgenError, DocumentError, FileError
from aqlgen.document.read import Limits, read
from tests.cases import each
from tests.web import Answer, Asked, serving

DOCUMENT = b"openapi: 3.1.0\n"


def answer(request: Asked) -> Answer:
    path = request.path.partition("?")[0]
    if path in ("/old", "/loop", "/away"):
        place = {"/old": "/v2/api.yaml", "/loop": "/loop", "/away": "ftp://127.0.0.1/x"}[path]
        return Answer(b"", 302, {"Location": place})
    if path == "/slow":
        threading.Event().wait(3)
    return Answer(b"x" * 5000 if path == "/large" else DOCUMENT, {"/private": 401, "/gone": 404}.get(path, 200))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving(answer) as local:
        yield local.url


def refused(spec: str, limits: Limits | None = None) -> AqlgenError:
    with pytest.raises(AqlgenError) as caught:
        read(spec, limits=limits)
    assert len(caught.value.diagnostics) == 1
    return caught.value


def test_a_file_knows_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "api.yaml").write_bytes(DOCUMENT)
    monkeypatch.chdir(tmp_path)
    source = read("api.yaml")
    assert (source.name, source.base, source.data) == ("api.yaml", (tmp_path / "api.yaml").resolve(), DOCUMENT)


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(DOCUMENT)))
    source = read("-")
    assert (source.name, source.base, source.root) == ("<stdin>", None, {"openapi": "3.1.0"})


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("missing.yaml", "file-not-found"),
        (".", "file-is-a-folder"),
        ("a\0b", "file-not-found"),
        ("x" * 5000, "file-unreadable"),
    ],
)
def test_what_is_no_file_is_refused_with_exit_code_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str
):
    monkeypatch.chdir(tmp_path)
    error = refused(name)
    assert isinstance(error, FileError)
    assert (error.exit_code, error.diagnostics[0].code, error.diagnostics[0].file) == (4, code, name)


def test_a_file_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert refused("api.yaml").diagnostics[0].message == "cannot be read: Permission denied"


def test_a_url_with_another_scheme_is_explained():
    assert "not ftp" in refused("ftp://example.com/api.yaml").diagnostics[0].help


@pytest.mark.parametrize("data", [b"", b" \n\t\n"])
def test_an_empty_file_is_refused_with_exit_code_2(tmp_path: Path, data: bytes):
    (tmp_path / "api.yaml").write_bytes(data)
    error = refused(str(tmp_path / "api.yaml"))
    assert (error.exit_code, error.diagnostics[0].code) == (2, "empty-document")


def test_a_file_over_the_bound_is_refused(tmp_path: Path):
    (tmp_path / "api.yaml").write_bytes(b"a" * 101)
    assert refused(str(tmp_path / "api.yaml"), Limits(size=100)).diagnostics[0].code == "document-too-large"


def test_an_address_is_read_after_redirects(server: str):
    source = read(f"{server}/old")
    assert (source.name, source.base) == (f"{server}/old", f"{server}/v2/api.yaml")
    assert source.root == {"openapi": "3.1.0"}


def test_a_password_in_an_address_is_never_kept(server: str):
    source = read(server.replace("://", "://me:secret@") + "/api.yaml")
    assert (source.name, source.base) == (f"{server}/api.yaml", f"{server}/api.yaml")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/gone", "the server answered 404 Not Found"),
        ("/private", "the server answered 401 Unauthorized"),
        ("/loop", "cannot be fetched: more than 10 redirects"),
        ("/slow", "cannot be fetched: not finished after 0.5 seconds"),
    ],
)
def test_an_address_that_fails_says_how(server: str, path: str, message: str):
    error = refused(server + path, Limits(seconds=0.5))
    assert isinstance(error, FileError)
    assert (error.diagnostics[0].code, error.diagnostics[0].message) == ("url-unreadable", message)


def test_a_redirect_to_something_else_than_http_is_refused(server: str):
    assert refused(f"{server}/away").diagnostics[0].code == "url-unreadable"


def test_an_answer_over_the_bound_is_refused(server: str):
    error = refused(f"{server}/large", Limits(size=1000))
    assert isinstance(error, DocumentError)
    assert error.diagnostics[0].code == "document-too-large"


@each("address", ["http://127.0.0.1:1/x", "http://", "http://[", "https://exa mple/"])
def test_an_address_that_cannot_be_reached_is_refused(address: str):
    assert refused(address).diagnostics[0].code == "url-unreadable"
