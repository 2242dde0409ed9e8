"""Folders, archives and URLs: which document is meant, and which files belong to it."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from aqlgen.diagnostics.errors import AqlgenError, OptionError
from aqlgen.document.assemble import Assembled, assemble
from aqlgen.document.read import Limits
from aqlgen.document.request import Request
from tests.cases import each

ROOT = """openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /pets: {get: {responses: {"200": {$ref: "%s"}}}}
"""
OK = "description: fine\n"


def archive(files: Mapping[str, str | bytes], **more: int) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", **more) as file:
        for name, text in files.items():
            file.writestr(name, text)
    return held.getvalue()


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def bundle(spec: object, limits: Limits | None = None, **more: tuple[object, ...]) -> Assembled:
    return assemble(Request(str(spec), **more), limits)


def refused(spec: object, limits: Limits | None = None) -> AqlgenError:
    with pytest.raises(AqlgenError) as caught:
        bundle(spec, limits)
    return caught.value


def names(assembled: Assembled) -> list[str]:
    return [source.name for source in assembled.sources]


class TestAFolder:
    def test_has_one_root_document_and_is_the_boundary_of_its_references(self, tmp_path: Path) -> None:
        write(tmp_path, {"spec/api.yaml": ROOT % "../common/ok.yaml", "common/ok.yaml": OK, ".git/x.yaml": ROOT})
        assembled = bundle(tmp_path)
        assert names(assembled) == [str(tmp_path / "spec/api.yaml"), str(tmp_path / "common/ok.yaml")]
        assert not assembled.diagnostics

    def test_with_several_is_refused_and_they_are_listed(self, tmp_path: Path) -> None:
        write(tmp_path, {"b.json": '{"swagger": "2.0"}', "v1/a.yaml": ROOT, "v1/no.yaml": "a: {openapi: 3.1.0}"})
        error = refused(tmp_path)
        assert (error.exit_code, error.diagnostics[0].code) == (4, "several-root-documents")
        assert str(error) == "several files have openapi or swagger at their root: b.json, v1/a.yaml"

    def test_with_none_is_refused(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.yaml": OK, "broken.json": '{"openapi": '})
        assert refused(tmp_path).diagnostics[0].code == "no-root-document"

    def test_of_too_many_files_is_refused(self, tmp_path: Path) -> None:
        write(tmp_path, {f"{at}.txt": "" for at in range(20)})
        assert refused(tmp_path, Limits(files=1)).diagnostics[0].code == "no-root-document"


class TestAnArchive:
    def test_is_read_like_a_folder_and_never_unpacked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        data = archive({"x/spec/api.yaml": ROOT % "../ok.yaml", "x/ok.yaml": OK, "__MACOSX/x/spec/._api.yaml": ROOT})
        (tmp_path / "api.zip").write_bytes(data)
        monkeypatch.chdir(tmp_path)
        assert names(bundle("api.zip")) == ["api.zip/x/spec/api.yaml", "api.zip/x/ok.yaml"]
        assert [entry.name for entry in tmp_path.iterdir()] == ["api.zip"]

    def test_has_nothing_outside(self, tmp_path: Path) -> None:
        write(tmp_path, {"ok.yaml": OK})
        names = {"api.yaml": ROOT % "../ok.yaml", "../ok.yaml": OK, "/ok.yaml": OK}
        (tmp_path / "api.zip").write_bytes(archive(names))
        (warning,) = bundle(tmp_path / "api.zip").diagnostics
        assert warning.code == "outside-reference"

    def test_of_a_link_is_not_followed(self, tmp_path: Path) -> None:
        link = zipfile.ZipInfo("ok.yaml")
        link.external_attr = 0o120777 << 16
        with zipfile.ZipFile(tmp_path / "api.zip", "w") as file:
            file.writestr("api.yaml", ROOT % "ok.yaml")
            file.writestr(link, "/etc/passwd")
        (warning,) = bundle(tmp_path / "api.zip").diagnostics
        assert warning.code == "unresolved-reference"

    @pytest.mark.parametrize(
        ("files", "limits"),
        [
            ({f"{at}.yaml": "" for at in range(20)}, Limits(files=10)),
            ({"a.yaml": "a" * 5000}, Limits(all_size=1000)),
        ],
    )
    def test_over_the_bounds_is_refused(self, tmp_path: Path, files: Mapping[str, str], limits: Limits) -> None:
        (tmp_path / "api.zip").write_bytes(archive(files, compression=zipfile.ZIP_DEFLATED))
        assert refused(tmp_path / "api.zip", limits).diagnostics[0].code == "bad-archive"

    def test_that_lies_about_its_size_is_bounded_all_the_same(self, tmp_path: Path) -> None:
        data = archive({"api.yaml": ROOT % "ok.yaml" + "#" * 100_000}, compression=zipfile.ZIP_DEFLATED)
        size = len(ROOT % "ok.yaml") + 100_000
        (tmp_path / "api.zip").write_bytes(data.replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little")))
        assert refused(tmp_path / "api.zip", Limits(size=50_000)).diagnostics[0].code == "file-unreadable"

    @pytest.mark.parametrize("data", [b"PK\x03\x04", b"PK\x03\x04" + b"x" * 100])
    def test_that_is_damaged_is_refused(self, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "api.zip").write_bytes(data)
        error = refused(tmp_path / "api.zip")
        assert (error.exit_code, error.diagnostics[0].code) == (2, "bad-archive")


class Handler(BaseHTTPRequestHandler):
    """Two servers; the second one only records the requests."""

    seen: ClassVar[list[tuple[str, str | None]]] = []
    other = ""

    def do_GET(self) -> None:
        type(self).seen.append((f"{self.headers['host']}{self.path}", self.headers.get("authorization")))
        if self.path == "/drip":
            self._drip()
            return
        places = {"/away/api.yaml": f"{self.other}/v1/api.yaml", "/v1/gone.yaml": f"{self.other}/v1/ok.yaml"}
        texts = {"/v1/api.yaml": ROOT % "ok.yaml", "/v1/ok.yaml": OK, "/v1/up.yaml": ROOT % "../ok.yaml"}
        texts |= {"/v1/leaves.yaml": ROOT % "gone.yaml", "/ok.yaml": OK}
        self.send_response(302 if self.path in places else 200 if self.path in texts else 404)
        if self.path in places:
            self.send_header("location", places[self.path])
        self.end_headers()
        self.wfile.write(texts.get(self.path, "").encode())

    def _drip(self) -> None:
        try:
            self.wfile.write(b"HTTP/1.0 200 OK\r\nx-drip: ")
            while not threading.Event().wait(0.05):
                self.wfile.write(b"x")
        except OSError:
            pass

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2)]
    for http_server in servers:
        http_server.daemon_threads = True
        http_server.block_on_close = False
        threading.Thread(target=http_server.serve_forever, args=(0.01,), daemon=True).start()
    Handler.seen = []
    Handler.other = f"http://127.0.0.1:{servers[1].server_port}"
    yield f"http://127.0.0.1:{servers[0].server_port}"
    for http_server in servers:
        http_server.shutdown()
        http_server.server_close()


SECRET = (("Authorization", "Bearer secret"),)


class TestAnAddress:
    def test_has_its_neighbours_below_its_own_folder(self, server: str) -> None:
        assembled = bundle(f"{server}/v1/api.yaml")
        assert names(assembled) == [f"{server}/v1/api.yaml", f"{server}/v1/ok.yaml"]

    def test_does_not_reach_other_folders_unless_allowed(self, server: str) -> None:
        (warning,) = bundle(f"{server}/v1/up.yaml").diagnostics
        assert warning.code == "outside-reference"
        assert not bundle(f"{server}/v1/up.yaml", allow=(f"{server}/",)).diagnostics

    def test_does_not_reach_other_servers_by_a_redirect(self, server: str) -> None:
        (warning,) = bundle(f"{server}/v1/leaves.yaml").diagnostics
        assert warning.code == "unresolved-reference"
        assert "which is outside" in warning.message

    def test_gets_the_headers_as_do_its_neighbours(self, server: str) -> None:
        bundle(f"{server}/v1/api.yaml", headers=SECRET)
        assert [sent for _, sent in Handler.seen] == ["Bearer secret"] * 2

    def test_alone_gets_them_and_no_server_that_it_redirects_to(self, server: str) -> None:
        bundle(f"{server}/away/api.yaml", headers=SECRET)
        host, other = server.partition("//")[2], Handler.other.partition("//")[2]
        assert [(place.partition("/")[0], sent) for place, sent in Handler.seen] == [
            (host, "Bearer secret"),
            (other, None),
            (other, None),
        ]

    def test_of_an_overlay_on_another_server_does_not_get_them(self, server: str) -> None:
        with pytest.raises(AqlgenError):
            bundle(f"{server}/v1/api.yaml", headers=SECRET, overlays=(f"{Handler.other}/overlay.yaml",))
        assert Handler.seen[-1] == (f"{Handler.other.partition('//')[2]}/overlay.yaml", None)

    def test_that_sends_headers_byte_by_byte_times_out(self, server: str) -> None:
        error = refused(f"{server}/drip", Limits(seconds=0.2))
        assert str(error) == "cannot be fetched: not finished after 0.2 seconds"

    def test_with_a_name_and_a_password_sends_them_to_its_own_server_only(self, server: str) -> None:
        bundle(server.replace("://", "://me:pass@") + "/away/api.yaml")
        assert [sent for _, sent in Handler.seen] == ["Basic bWU6cGFzcw==", None, None]


def test_standard_input_has_no_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((ROOT % "ok.yaml").encode())))
    (warning,) = bundle("-").diagnostics
    assert (warning.code, warning.file, warning.line) == ("outside-reference", "<stdin>", 4)


@each("written", ["Authorization", ": x", "A b: secret", "A: secret\r\nB: c"])
def test_a_header_that_is_none_is_refused_without_being_shown(written: str) -> None:
    with pytest.raises(OptionError) as caught:
        Request.of("-", [written], [], [])
    assert "secret" not in str(caught.value.diagnostics)


def test_headers_are_not_shown_with_the_request() -> None:
    assert "secret" not in repr(Request.of("-", ["Authorization: secret"], [], []))
