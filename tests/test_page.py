"""`aqlgen explain --html`: one page that needs nothing else, holds every decision, and lets no document act."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from aqlgen.runtime.text import visible
from tests.generator.commands import FIXTURES, api, run

VOID = frozenset("area base br col embed hr img input link meta source track wbr rect".split())
LOADS = frozenset({"src", "href", "srcset", "action", "formaction", "data", "poster", "background", "ping", "cite"})
HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\"'`&amp;\u2028\u202eevil\u202c"


class Page(HTMLParser):
    """A page as its elements: well-formed or it says where not."""

    def __init__(self, file: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.text = file.read_text(encoding="utf-8")
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.contents: dict[str, list[str]] = {}
        self.words: list[str] = []
        self.wrong: list[str] = []
        self._open: list[str] = []
        self.feed(self.text)
        self.close()
        self.wrong += [f"<{tag}> is left open" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.wrong.append(f"an attribute stands twice in {self.get_starttag_text()}")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self.contents.setdefault(tag, []).append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self._open or self._open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing, at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self._open:
            self.contents[self._open[-1]][-1] += data

    @property
    def data(self) -> dict[str, Any]:
        scripts = [attributes for tag, attributes in self.elements if tag == "script"]
        place = next(index for index, attributes in enumerate(scripts) if attributes.get("type") == "application/json")
        return json.loads(self.contents["script"][place])

    @property
    def policy(self) -> str:
        return next(
            attributes["content"]
            for tag, attributes in self.elements
            if attributes.get("http-equiv") == "Content-Security-Policy"
        )

    def of(self, tag: str, kind: str) -> Iterator[dict[str, str]]:
        return (attributes for name, attributes in self.elements if name == tag and attributes.get("class") == kind)


def reported(tmp_path: Path, spec: Path) -> tuple[Page, dict[str, Any]]:
    file = tmp_path / "report.html"
    done = run("explain", spec, "--html", file, "--output-format", "json")
    assert done.code == 0, done.out
    return Page(file), done.json


def document(tmp_path: Path, paths: dict[str, Any], **more: Any) -> Path:
    spec = tmp_path / "document.json"
    spec.write_text(json.dumps(api(paths, **more)), encoding="utf-8")
    return spec


@pytest.fixture(scope="module")
def petstore(tmp_path_factory: pytest.TempPathFactory) -> tuple[Page, dict[str, Any]]:
    return reported(tmp_path_factory.mktemp("page"), FIXTURES / "petstore.yaml")


def test_the_page_is_well_formed_and_its_ids_are_unique(petstore: tuple[Page, Any]) -> None:
    page, _ = petstore
    assert page.text.startswith("<!doctype html>\n")
    assert not page.wrong
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_page_needs_nothing_outside_itself(petstore: tuple[Page, Any]) -> None:
    page, _ = petstore
    loaded = [
        (tag, name, value) for tag, attributes in page.elements for name, value in attributes.items() if name in LOADS
    ]
    assert {(tag, name) for tag, name, _ in loaded} == {("a", "href")}
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert {value.removeprefix("#") for _, _, value in loaded} <= ids
    assert not {"link", "img", "iframe", "object", "embed", "base", "video", "audio"} & {
        tag for tag, _ in page.elements
    }
    assert not re.search(r"url\(|@import", page.contents["style"][0])


def test_the_policy_allows_just_the_pages_own_style_and_scripts(petstore: tuple[Page, Any]) -> None:
    page, _ = petstore
    directives = dict(directive.strip().split(" ", 1) for directive in page.policy.split(";"))
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    executed = [page.contents["script"][index] for index, attributes in enumerate(scripts) if "type" not in attributes]

    def hashes(texts: list[str]) -> set[str]:
        return {f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts}

    assert directives["default-src"] == "'none'"
    assert set(directives["style-src"].split()) == hashes(page.contents["style"])
    assert set(directives["script-src"].split()) == hashes(executed)
    assert len(executed) == 2
    assert not [
        name for _, attributes in page.elements for name in attributes if name.startswith("on") or name == "style"
    ]


def test_the_page_holds_every_decision_that_explain_gives(petstore: tuple[Page, dict[str, Any]]) -> None:
    page, explained = petstore
    shown = page.data["operations"]
    assert len(shown) == len(explained["operations"]) > 5
    for operation, expected in zip(shown, explained["operations"], strict=True):
        for key in ("method", "path", "name", "category", "resource", "verb", "danger", "confidence"):
            assert operation[key] == expected[key]
        assert operation.get("operation_id") == expected["operation_id"]
        assert operation["reasons"]["category"]["rule"] == expected["rule"]
        assert operation.get("review", []) == expected["review_reasons"]
        assert [parameter["name"] for parameter in operation.get("parameters", [])] == expected["parameters"]


def test_every_operation_stands_in_the_map_and_in_the_table_without_a_script(petstore: tuple[Page, Any]) -> None:
    page, explained = petstore
    names = {operation["name"] for operation in explained["operations"]}
    rows = {
        attributes["id"].removeprefix("op/") for tag, attributes in page.elements if tag == "tr" and "id" in attributes
    }
    links = [attributes["href"].removeprefix("#op/") for attributes in page.of("a", "op")]
    listed = sum(len(row["operations"]) for row in page.data["reviews"])
    assert rows == names == set(links)
    assert len(links) == 2 * len(names) + listed
    assert "noscript" in page.contents


def test_what_needs_review_comes_with_the_least_certain_first(tmp_path: Path) -> None:
    paths = {"/a": {"post": {"operationId": "frobnicate", "responses": {"200": {"description": "ok"}}}}}
    page, explained = reported(tmp_path, document(tmp_path, paths | {"/pets": {"get": {"responses": {}}}}))
    wanted = [operation for operation in explained["operations"] if operation["needs_review"]]
    assert wanted
    text = page.text.split('<ol class="review">')[1].split("</ol>")[0]
    listed = re.findall(r'href="#op/([a-z0-9_]+)"', text)
    assert set(listed) == {operation["name"] for operation in wanted}
    lowest = {
        operation["name"]: min(reason["confidence"] for reason in operation["reasons"].values())
        for operation in page.data["operations"]
    }
    assert [lowest[name] for name in listed] == sorted(lowest[name] for name in listed)


def test_skipped_operations_and_findings_are_listed(tmp_path: Path) -> None:
    body = {"required": True, "content": {"multipart/mixed": {"schema": {"type": "string", "format": "binary"}}}}
    paths = {
        "/pets": {"get": {"responses": {"200": {"description": "ok", "content": {}}}}},
        "/broken/{id}": {"get": {"parameters": "none", "responses": {}}},
        "/odd": {"post": {"requestBody": body, "responses": {}}},
    }
    page, explained = reported(tmp_path, document(tmp_path, paths))
    assert explained["skipped"]
    assert page.data["skipped"] == explained["skipped"]
    assert [diagnostic["message"] for diagnostic in page.data["diagnostics"]] == [
        diagnostic["message"] for diagnostic in explained["diagnostics"]
    ]
    words = " ".join(page.words)
    for entry in (*explained["skipped"], *explained["diagnostics"]):
        assert entry["message"] in words


def test_no_text_of_a_hostile_document_becomes_markup_or_acts_on_the_reader(tmp_path: Path) -> None:
    parameter = {"name": f"q{HOSTILE}", "in": "query", "description": HOSTILE, "schema": {"enum": [HOSTILE]}}
    operation = {
        "operationId": f"get{HOSTILE}",
        "summary": HOSTILE,
        "description": f"more: {HOSTILE}",
        "tags": [HOSTILE],
        "parameters": [parameter],
        "responses": {"200": {"description": HOSTILE}},
    }
    spec = document(tmp_path, {f"/things{HOSTILE}": {"get": operation}}, info={"title": HOSTILE, "version": HOSTILE})
    page, explained = reported(tmp_path, spec)
    plain, _ = reported(tmp_path, document(tmp_path, {"/things": {"get": {"tags": ["a"], "responses": {}}}}))
    assert not page.wrong
    tags = {tag for tag, _ in page.elements} - {"wbr", "li", "ol", "p", "small", "span", "code", "strong"}
    assert tags <= {tag for tag, _ in plain.elements}
    assert page.contents["script"][0::2] == plain.contents["script"][0::2], (
        "the scripts are the same, whatever the document"
    )
    assert "<!--" not in page.text
    assert not re.search("[\u2028\u2029\u202a-\u202e\u2066-\u2069]", page.text)
    assert page.data["operations"][0]["path"] == visible(explained["operations"][0]["path"])
    assert visible(HOSTILE) in page.data["operations"][0]["path"]
    assert "\\u202e" in " ".join(page.words)


@pytest.mark.parametrize(
    "path", ["/a: b", "/a #b", "/things:batch", "/a:", f"/x{HOSTILE}", '/q"\\', "/t\u00e9\u4e2d", "/pets"]
)
def test_the_key_of_an_override_is_yaml_for_exactly_that_operation(tmp_path: Path, path: str) -> None:
    spec = document(tmp_path, {path: {"get": {"operationId": "listThings", "responses": {}}}})
    page, _ = reported(tmp_path, spec)
    operation = page.data["operations"][0]
    override = tmp_path / "overrides.yaml"
    override.write_text(f"{operation.get('key', 'GET ' + operation['path'])}:\n  name: find_it\n", encoding="utf-8")
    assert yaml.safe_load(override.read_text(encoding="utf-8")) == {f"GET {path}": {"name": "find_it"}}
    done = run("explain", spec, "--overrides", override, "--output-format", "json")
    assert [each["name"] for each in done.json["operations"]] == ["find_it"]


def test_the_page_holds_the_whole_api_whatever_the_terminal_is_asked_to_show(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    done = run("explain", FIXTURES / "petstore.yaml", "--review", "--html", file)
    assert done.code == 0, done.err
    assert len({operation["category"] for operation in Page(file).data["operations"]}) > 1


def test_the_same_document_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "one.html", tmp_path / "two.html"
    for file in (first, second):
        assert run("explain", FIXTURES / "petstore.yaml", "--html", file).code == 0
    assert first.read_bytes() == second.read_bytes()


def test_an_earlier_report_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "reports" / "report.html"
    file.parent.mkdir()
    for _ in range(2):
        done = run("explain", FIXTURES / "petstore.yaml", "--html", file)
        assert done.code == 0
        assert str(file) in done.out
    assert [path.name for path in file.parent.iterdir()] == ["report.html"]


def test_a_link_keeps_leading_to_the_file_that_it_names(tmp_path: Path) -> None:
    file, link = tmp_path / "report.html", tmp_path / "latest.html"
    file.write_text("old", encoding="utf-8")
    link.symlink_to(file)
    assert run("explain", FIXTURES / "petstore.yaml", "--html", link).code == 0
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_folder_or_a_pipe_is_refused_and_nothing_is_left_behind(tmp_path: Path) -> None:
    folder, pipe = tmp_path / "folder", tmp_path / "pipe"
    folder.mkdir()
    os.mkfifo(pipe)
    for file in (folder, pipe):
        done = run("explain", FIXTURES / "petstore.yaml", "--html", file, "--output-format", "json")
        assert done.code == 4
        assert done.json["error"]["details"][0]["code"] == "output-unwritable"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "pipe"]
    assert pipe.is_fifo()


def test_a_report_that_cannot_be_written_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    file.write_text("earlier", encoding="utf-8")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    done = run("explain", FIXTURES / "petstore.yaml", "--html", file)
    assert done.code == 4
    assert "no space left" in done.err
    assert file.read_text(encoding="utf-8") == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_document_that_cannot_be_used_writes_no_report(tmp_path: Path) -> None:
    spec = tmp_path / "empty.yaml"
    spec.write_text("openapi: 3.1.0\ninfo: {title: x, version: '1'}\npaths: {}\n", encoding="utf-8")
    assert run("explain", spec, "--html", tmp_path / "report.html").code == 2
    assert not (tmp_path / "report.html").exists()


READ: dict[str, Any] = {"responses": {}}


def test_the_list_that_is_worked_off_says_what_settles_each_concern(tmp_path: Path) -> None:
    paths = {f"/v1/{name}/{{id}}": {"get": READ, "post": {"responses": {}}} for name in ("a", "b", "c")}
    odd = {"/v1/d/{id}": {"get": READ, "post": {"x-readonly": True, "responses": {}}}}
    spec = document(tmp_path, paths | odd)
    page, explained = reported(tmp_path, spec)
    repeated, single = (row for row in page.data["reviews"] if not row["asked"])
    assert repeated["by_rule"]
    assert repeated["concerns"] == [[index, "category", "post-on-item"] for index in (1, 3, 5)]
    assert (single["rules"], single["concerns"]) == ([], [[7, "category", ""]])
    assert [row["count"] for row in explained["review"]] == [3, 1]
    listed = sum("row-to-review" in attributes.get("class", "") for _, attributes in page.elements)
    assert listed == len(page.data["reviews"])
    entries = [f'"rule:{rule}"' for rule in repeated["rules"]] + single["entries"]
    overrides = tmp_path / "overrides.yaml"
    overrides.write_text("adapter:\n  accept:\n" + "".join(f"    - {entry}\n" for entry in entries), encoding="utf-8")
    done = run("explain", spec, "--overrides", overrides, "--output-format", "json")
    assert done.json["review"] == []
    assert not any(operation["needs_review"] for operation in done.json["operations"])
    assert all(operation["accepted"] for operation in done.json["operations"] if operation["method"] == "POST")


@pytest.mark.parametrize("path", ["/a: b/{id}", f"/x{HOSTILE}/{{id}}", '/q"\\/{id}', "/t\u00e9/{id}", "/a/*/{id}"])
def test_the_entry_of_a_row_is_yaml_that_settles_just_its_operation(tmp_path: Path, path: str) -> None:
    spec = document(tmp_path, {path: {"post": {"responses": {}}}})
    page, explained = reported(tmp_path, spec)
    assert explained["review"]
    (entry,) = page.data["reviews"][0]["entries"]
    overrides = tmp_path / "overrides.yaml"
    overrides.write_text(f"adapter:\n  accept: [{entry}]\n", encoding="utf-8")
    done = run("explain", spec, "--overrides", overrides, "--output-format", "json")
    assert done.code == 0
    assert done.json["review"] == []


def test_the_review_has_each_write_by_consequence_and_when_it_is_asked_about(tmp_path: Path) -> None:
    """R-EFF-2: a row for each part of the API and each doubt, those of most consequence first, with what is quoted."""
    ok = {"responses": {"200": {"description": "ok"}}}
    role = {"type": "object", "properties": {"role": {"type": "string"}}}
    body = {"content": {"application/json": {"schema": role}}}
    paths = {
        "/leashes": {"post": {"summary": "Add a leash", "tags": ["walks"], **ok}},
        "/bowls": {"post": {"summary": "Add a bowl", "tags": ["food"], **ok}},
        "/apps": {"get": ok, "post": {"tags": ["walks"], "requestBody": body, **ok}},
        "/apps/{id}": {"get": ok, "delete": ok},
        "/toys": {"get": ok, "post": {"tags": ["walks"], **ok}},
        "/toys/{id}": {"get": ok, "delete": ok},
        "/balls": {"post": {"summary": "Add a ball", "tags": ["walks"], **ok}},
    }
    page, explained = reported(tmp_path, document(tmp_path, paths))
    names = {f"{row['method']} {row['path']}": row["name"] for row in explained["operations"]}
    listed = [
        (row["asked"], row["section"], [page.data["operations"][index]["name"] for index in row["operations"]])
        for row in page.data["reviews"]
        if row["asked"]
    ]
    assert listed == [
        ("first", "walks", [names["POST /apps"]]),
        ("never", "walks", [names["POST /toys"]]),
        ("first", "walks", [names["POST /leashes"], names["POST /balls"]]),
        ("first", "food", [names["POST /bowls"]]),
        ("always", "apps", [names["DELETE /apps/{id}"]]),
        ("always", "toys", [names["DELETE /toys/{id}"]]),
    ]
    words = " ".join(" ".join(page.words).split())
    assert "5 operations run without a confirmation : 4 reads, and 1 write that can be undone" in words
    assert "4 need a confirmation at the first call , since nothing rules out harm" in words
    assert "its request has role" in words
    assert "undoes it" in words


@pytest.mark.parametrize("path", ["/a: b/{id}", f"/x{HOSTILE}/{{id}}", '/q"\\/{id}', "/a/*/{id}"])
def test_the_key_of_an_answer_is_yaml_that_settles_just_its_operation(tmp_path: Path, path: str) -> None:
    spec = document(tmp_path, {path: {"post": {"responses": {}}}, "/a/b/{id}": {"post": {"responses": {}}}})
    page, _ = reported(tmp_path, spec)
    operation = next(each for each in page.data["operations"] if each["path"] == visible(path))
    assert operation["asked"] == "first"
    overrides = tmp_path / "overrides.yaml"
    key = operation.get("key", f"{operation['method']} {operation['path']}")
    overrides.write_text(f"{key}:\n  asked: never\n  why: answered by a person\n", encoding="utf-8")
    done = run("explain", spec, "--overrides", overrides, "--output-format", "json")
    assert {row["path"]: row["asked"] for row in done.json["operations"]} == {path: "never", "/a/b/{id}": "first"}


def test_each_key_of_the_page_has_a_button_that_names_it(petstore: tuple[Page, Any]) -> None:
    page, _ = petstore
    buttons = [attributes for tag, attributes in page.elements if tag == "button" and "data-key" in attributes]
    commands = re.search(r"const commands = \{\n(.*?)\n\};", page.contents["script"][-1], re.DOTALL)
    assert commands is not None
    assert {attributes["data-key"] for attributes in buttons} == set(
        re.findall(r"^  (\w): ", commands[1], re.MULTILINE)
    )
    assert all(attributes["aria-keyshortcuts"][-1] == attributes["data-key"] for attributes in buttons)
