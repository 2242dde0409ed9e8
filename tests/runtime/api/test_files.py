"""Files that a call gives: in base64 with a name and a type, or by a path in the folder that the owner allows."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.errors import Code

from .hand_made import Make, Package, operation

ROW = operation(
    "POST",
    parameters={"file": {"in": "body", "schema": {"contentEncoding": "base64"}}},
    body={"content_type": "multipart/form-data", "shape": "fields", "schema": {}},
)


@pytest.fixture
def pets(package: Make, tmp_path: Path) -> Package:
    folder = tmp_path / "allowed"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "a.txt").write_bytes(b"inside")
    (tmp_path / "secret.txt").write_bytes(b"outside")
    (tmp_path / "allowed-not").mkdir()
    (tmp_path / "allowed-not" / "b.txt").write_bytes(b"outside")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "fine.txt").symlink_to(folder / "inner" / "a.txt")
    return package({"op": ROW}, files_folder=str(folder))


def content(pets: Package, file: Any) -> bytes:
    return pets.build({"file": file}).content or b""


@pytest.mark.parametrize(("path", "name"), [("inner/a.txt", "a.txt"), ("./inner/../fine.txt", "a.txt")])
def test_a_file_of_the_folder_is_sent_under_its_name(pets: Package, path: str, name: str) -> None:
    sent = content(pets, {"path": path})
    assert f'filename="{name}"\r\nContent-Type: text/plain\r\n\r\ninside'.encode() in sent


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "link.txt",
        "inner/../../secret.txt",
        "../allowed-not/b.txt",
        "inner",
        ".",
        "",
        "none.txt",
        "a\0b",
        "/etc/passwd",
    ],
)
def test_a_path_never_leaves_the_folder(pets: Package, path: str) -> None:
    failure = pets.refused({"file": {"path": path}})
    assert failure.code in (Code.INVALID_VALUE, Code.INVALID_ENCODING)
    assert "outside" not in failure.message


def test_without_a_folder_paths_are_refused(package: Make) -> None:
    failure = package({"op": ROW}).refused({"file": {"path": "a.txt"}})
    assert failure.code is Code.INVALID_VALUE
    assert "MCP_AQL_FILES_FOLDER" in failure.message


@pytest.mark.parametrize(
    "file",
    [{}, {"path": "a", "content": ""}, {"content": 1}, {"filename": "x"}, {"text": 1}, {"text": "", "path": "a"}],
)
def test_a_file_is_its_content_a_text_or_a_path(pets: Package, file: Any) -> None:
    assert pets.refused({"file": file}).code is Code.INVALID_VALUE


@pytest.mark.parametrize("file", ["notes.txt", {"content": "hello, world"}])
def test_a_text_in_place_of_base64_is_refused_with_the_forms_that_a_file_takes(pets: Package, file: Any) -> None:
    message = pets.refused({"file": file}).message
    assert all(f"`{key}`" in message for key in ("content", "text", "path")), message


def test_a_type_and_a_name_that_are_told_count(pets: Package) -> None:
    file = {"content": base64.b64encode(b"x").decode(), "filename": "é.bin", "mime_type": "text/csv; charset=utf-8"}
    assert 'filename="é.bin"\r\nContent-Type: text/csv; charset=utf-8\r\n\r\nx'.encode() in content(pets, file)


def test_a_file_that_an_answer_shows_as_text_can_be_sent_as_it_is(pets: Package) -> None:
    shown = {"text": "Grüße\n", "was": "bytes", "mime_type": "application/x-sh", "filename": "a.sh"}
    assert 'filename="a.sh"\r\nContent-Type: application/x-sh\r\n\r\nGrüße\n'.encode() in content(pets, shown)
