"""`aqlgen from-openapi` as a user meets it: the files it writes, the text it prints, the input it refuses."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from aqlgen.cli.output import progress
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.render.provenance import canonical_hash
from aqlgen.table.search import search_index
from tests.generator.commands import FIXTURES, api, generate, posting, run, tabulate

PETSTORE = FIXTURES / "petstore.yaml"


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_says_where_the_project_is_and_how_to_try_it(tmp_path: Path) -> None:
    result = run("from-openapi", PETSTORE, "-o", tmp_path / "shop")
    assert result.code == 0
    assert f"Generated {tmp_path / 'shop'}" in result.out
    assert f"Try it: cd {tmp_path / 'shop'} && pip install -e . && petstore-adapter operations" in result.out


def test_the_project_is_named_after_the_api_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("from-openapi", PETSTORE, "--output-format", "json")
    assert result.json["output_directory"] == "petstore-adapter"
    assert (tmp_path / "petstore-adapter/src/petstore_adapter/adapter.json").is_file()


def test_a_folder_named_as_an_adapters_names_the_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An explicit name wins, a folder called otherwise gives none, and an update keeps the name."""
    monkeypatch.chdir(tmp_path)
    for arguments, package in (
        (("-o", "pet-shop-adapter"), "pet_shop_adapter"),
        (("-o", "a/../zoo-adapter/"), "zoo_adapter"),
        (("-o", "farm-adapter", "--name", "barn"), "barn_adapter"),
        (("-o", "Pet-adapter"), "petstore_adapter"),
        (("-o", "pets"), "petstore_adapter"),
    ):
        result = run("from-openapi", PETSTORE, *arguments, "--dry-run", "--output-format", "json")
        assert result.json["package"] == package, arguments
    assert run("from-openapi", PETSTORE, "-o", "pet-shop-adapter").code == 0
    record = json.loads((tmp_path / "pet-shop-adapter" / "MCPAQL-PROVENANCE.json").read_text())
    assert record["options"]["name"] == "pet-shop"


def test_json_output_has_the_promised_keys(tmp_path: Path) -> None:
    result = run("from-openapi", PETSTORE, "-o", tmp_path / "shop", "--output-format", "json")
    assert list(result.json) == [
        "success",
        "output_directory",
        "package",
        "files_generated",
        "operations",
        "provenance",
        "hosts",
        "warnings",
    ]
    counts = result.json["operations"]
    families = ("create", "read", "update", "delete", "execute")
    assert counts["total"] == sum(counts[family] for family in families)
    assert result.json["files_generated"] == len(tree(tmp_path / "shop"))


def test_the_provenance_names_the_input_and_the_time_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-CONF-2"""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    document = posting({"type": "object", "properties": {"a": {"type": "string"}}})
    record = json.loads((generate(tmp_path, document).folder / "MCPAQL-PROVENANCE.json").read_text())
    assert record["input"]["hash"] == canonical_hash(document)
    assert record["generated_at"] == "2023-11-14T22:13:20Z"


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    result = run("from-openapi", PETSTORE, "-o", tmp_path / "shop", "--dry-run")
    assert result.code == 0
    assert "Would generate" in result.out
    assert list(tmp_path.iterdir()) == []
    command = re.search(r"(\d+) operations? (to review in \d+ rows?): `aqlgen (explain .*)`", result.out)
    assert command
    shown = run(*shlex.split(command[3]))
    assert shown.code == 0
    assert f"{command[1]} {command[2]}" in shown.out


def test_only_what_is_included_and_not_excluded_is_offered(tmp_path: Path) -> None:
    project = generate(tmp_path, PETSTORE.read_text(), "--include", "tag:pets", "--exclude", "operation:delete*")
    assert project.rows
    assert all(row["path"].startswith("/pets") for row in project.rows.values())
    assert not any(row["method"] == "DELETE" for row in project.rows.values())


def test_field_case_preserve_keeps_the_spelling_of_payloads(tmp_path: Path) -> None:
    """R-SEL-1"""
    project = generate(tmp_path, PETSTORE.read_text(), "--field-case", "preserve")
    assert project.adapter["field_case"] == "preserve"
    assert "birthDate" in project.types["Pet"]["properties"]


def test_an_override_has_the_last_word_and_is_kept_with_the_project(tmp_path: Path) -> None:
    overrides = tmp_path / "overrides.yaml"
    overrides.write_text("GET /pets:\n  name: browse_pets\n")
    project = generate(tmp_path, PETSTORE.read_text(), "--overrides", str(overrides))
    assert "browse_pets" in project.rows
    assert (project.folder / "overrides.yaml").read_text() == overrides.read_text()


def test_a_licence_is_written_into_the_project_only_when_asked_for(tmp_path: Path) -> None:
    project = generate(tmp_path, PETSTORE.read_text(), "--license", "apache-2.0")
    assert tomllib.loads((project.folder / "pyproject.toml").read_text())["project"]["license"] == "Apache-2.0"


UNUSABLE = {
    "empty": (b"", 2),
    "a PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", 2),
    "truncated JSON": (b'{"openapi": "3.1.0", "paths": {"/a"', 2),
    "YAML with a tab": (b"openapi: 3.1.0\ninfo:\n\ttitle: x\n", 2),
    "no paths": (b'{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {}}', 2),
    "no OpenAPI": (b'{"name": "x"}', 2),
    "a list": (b"[]", 2),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_file_that_cannot_be_used_gives_one_message_its_exit_code_and_leaves_nothing(
    kind: str, tmp_path: Path
) -> None:
    content, code = UNUSABLE[kind]
    spec = tmp_path / "spec"
    spec.write_bytes(content)
    result = run("from-openapi", spec, "-o", tmp_path / "out")
    assert result.code == code
    assert result.err.count("error:") == 1
    assert "Traceback" not in result.err + result.out
    assert list(tmp_path.iterdir()) == [spec]
    failure = run("from-openapi", spec, "-o", tmp_path / "out", "--output-format", "json").json
    assert failure["success"] is False
    assert failure["error"]["code"] == code
    assert failure["error"]["details"][0].keys() == {"path", "file", "line", "column", "code", "message", "suggestion"}


def test_a_destination_that_is_not_empty_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/mine.txt").write_text("mine")
    result = run("from-openapi", PETSTORE, "-o", tmp_path / "shop")
    assert result.code == 4
    assert "not empty" in result.err
    assert tree(tmp_path) == {"shop/mine.txt": b"mine"}


def test_strict_refuses_a_document_that_gives_warnings(tmp_path: Path) -> None:
    document = posting({"$ref": "#/components/schemas/Gone"})
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(document))
    assert run("from-openapi", spec, "-o", tmp_path / "lenient").code == 0
    result = run("from-openapi", spec, "-o", tmp_path / "strict", "--strict")
    assert result.code == 2
    assert not (tmp_path / "strict").exists()


TITLES: dict[str, Any] = {
    "empty": "",
    "dots": "../..",
    "Chinese": "宠物商店",
    "300 characters": "Very long " * 30,
    "quotes": "a \"b\" 'c' \\ `d` {{ e }} {% f %} ]]> \n g",
    "a keyword": "class",
}


@pytest.mark.parametrize("kind", TITLES)
def test_any_title_and_version_give_a_project_whose_metadata_can_be_read(kind: str, tmp_path: Path) -> None:
    document = posting({"type": "object", "properties": {"a": {"type": "string"}}})
    document["info"] = {"title": TITLES[kind], "version": "1.0.27-SNAPSHOT"}
    project = generate(tmp_path, document)
    metadata = tomllib.loads((project.folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert metadata["name"].endswith("-adapter")
    assert metadata["version"] == "0.1.0"
    assert project.package.name.isidentifier()
    assert project.adapter["api_version"] == "1.0.27-SNAPSHOT"


def test_an_internal_error_is_one_line_and_a_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("aqlgen.cli.from_openapi.prepare", broken)
    result = run("from-openapi", PETSTORE, "-o", tmp_path / "shop")
    assert result.code == 1
    assert result.err.startswith("internal error: RuntimeError; the report is in ")
    assert result.err.count("\n") == 1
    report = Path(result.err.strip().rsplit(" ", 1)[-1])
    assert "a fault of ours" in report.read_text()
    report.unlink()


def test_credentials_that_an_operation_requires_as_parameters_are_all_sent(tmp_path: Path) -> None:
    """R-OWN-1"""
    document = posting({"type": "object", "properties": {"a": {"type": "string"}}})
    schemes = {name: {"type": "apiKey", "in": "query", "name": name} for name in ("key", "token")}
    document["components"] = {"securitySchemes": schemes}
    document["security"] = [{"key": []}, {"token": []}]
    post = next(item["post"] for item in document["paths"].values())
    post["parameters"] = [
        {"name": name, "in": "query", "required": True, "schema": {"type": "string"}} for name in schemes
    ]
    row = tabulate(tmp_path, document).rows["create_thing"]
    assert row["security"] == [["key", "token"]]
    assert "key" not in row["parameters"]


def test_it_says_so_where_the_document_does_not_say_where_the_api_is(tmp_path: Path) -> None:
    document = tmp_path / "lonely.yaml"
    document.write_text("openapi: 3.0.3\ninfo: {title: Lonely, version: '1'}\npaths: {/cats: {get: {}}}\n")
    assert "set MCP_AQL_BASE_URL" in run("from-openapi", document, "-o", tmp_path / "without", "--dry-run").out
    document.write_text(f"{document.read_text()}servers: [{{url: 'https://cats.dev'}}]\n")
    assert "MCP_AQL_BASE_URL" not in run("from-openapi", document, "-o", tmp_path / "with", "--dry-run").out


def test_a_long_run_shows_on_a_terminal_how_many_operations_are_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("aqlgen.diagnostics.progress._EVERY", 2)
    shown: list[str] = []
    prepared = prepare(Options((Request(str(PETSTORE)),)), shown.append)
    search_index(prepared.table)  # the longest part of rendering
    count, stages = len(prepared.table.rows), ("building", "deciding", "tabulating", "rendering")
    counts = [line for line in shown if ":" in line]
    assert counts == [f"{stage}: {done} of {count} operations" for stage in stages for done in range(2, count, 2)]

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    for stage, line in (("tabulating", "Building the operation table …"), (counts[0], f"… 2 of {count} operations")):
        with progress(shown=True) as show:
            show(stage)
        assert line in capsys.readouterr().err, stage


GET = {"get": {"operationId": "getPet", "responses": {"200": {"description": "ok"}}}}


@pytest.mark.parametrize(
    ("servers", "code", "words"),
    [
        (
            [{"url": "https://your-domain.acme.dev"}],
            "placeholder-address",
            "'your-domain' is a placeholder for your name",
        ),
        ([{"url": "https://{tenant}.acme.dev"}], "placeholder-address", "'{tenant}' is to be filled in"),
        ([{"url": "http://localhost:8080"}], "placeholder-address", "is local"),
        ([{"url": "/v1"}], "no-server", "'/v1' is not complete"),
    ],
)
def test_an_address_to_be_set_is_noted_with_its_setting(tmp_path: Path, servers: Any, code: str, words: str) -> None:
    (note,) = tabulate(tmp_path, api({"/pet": GET}, servers=servers)).findings("placeholder-address", "no-server")
    assert (note["code"], words in note["message"], note["column"] > 1) == (code, True, True)
    assert "Set MCP_AQL_" in note["suggestion"]


def test_a_real_address_is_not_noted_and_that_of_an_operation_is_looked_at_too(tmp_path: Path) -> None:
    servers = [{"url": "https://api.acme.dev"}]
    assert not tabulate(tmp_path, api({"/pet": GET}, servers=servers)).findings("placeholder-address", "no-server")
    paths = {"/pet": {**GET, "servers": [{"url": "https://<region>.acme.dev"}]}, "/pot": GET}
    (note,) = tabulate(tmp_path, api(paths, servers=servers)).findings("placeholder-address")
    assert "'<region>' is to be filled in" in note["message"]


def test_the_summary_says_that_an_address_looks_like_a_placeholder(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "openapi: 3.1.0\ninfo: {title: Pets, version: '1'}\nservers: [{url: 'https://api.example.com'}]\n"
        "paths: {/pet: {get: {responses: {'200': {description: ok}}}}}\n"
    )
    result = run("from-openapi", spec, "-o", tmp_path / "project", "--dry-run")
    assert "looks like a placeholder: example.com is reserved for documentation" in result.out
    assert "set MCP_AQL_BASE_URL" in result.out
