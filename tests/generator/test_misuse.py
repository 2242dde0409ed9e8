"""Wrong use is refused in one way: on standard error, with the way out and the exit code of docs/commands.md."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import each
from tests.generator.commands import FIXTURES, run

PETSTORE = str(FIXTURES / "petstore.yaml")

MISTAKES = [
    (["generate", PETSTORE], 3, "No such command 'generate'", "from-openapi"),
    (["expalin", PETSTORE], 3, "No such command 'expalin'", "Did you mean `aqlgen explain`?"),
    (["zzz"], 3, "No such command 'zzz'", "from-openapi"),
    (["openapi.yaml"], 3, "No such command", "`aqlgen from-openapi openapi.yaml` generates"),
    (["https://example.com/a"], 3, "No such command", "`aqlgen from-openapi https://example.com/a` generates"),
    (["from-openapi"], 3, "Missing argument 'SPEC...'", "`aqlgen from-openapi --help`"),
    (["from-openapi", f"a={PETSTORE}", f"a={PETSTORE}"], 3, "two documents are called 'a'", "Name it: crm="),
    (["from-openapi", PETSTORE, f"b={PETSTORE}"], 3, "an adapter of 2 documents needs a name", "--name company"),
    (["from-openapi", "-", "-"], 3, "only one document can be standard input", "files"),
    (["from-openapi", PETSTORE, "my-b=x.yaml"], 3, "'my-b' is not the name of an API", "myb=x.yaml"),
    (["from-openapi", f"a={PETSTORE}", "--overlay", "x.yaml"], 3, "does not name the API", "--overlay a=x.yaml"),
    (["from-openapi", PETSTORE, "--licence", "MIT"], 3, "--license", "--help"),
    (["from-openapi", PETSTORE, "--force"], 3, "No such option: --force", "`aqlgen from-openapi --help`"),
    (["from-openapi", PETSTORE, "--license", "NOPE"], 3, "SPDX", "Apache-2.0"),
    (["from-openapi", PETSTORE, "--name", "\u00dcn\u00ef"], 3, "--name", "lower-case"),
    (["from-openapi", PETSTORE, "--field-case", "camel"], 3, "'camel' is not one of 'snake', 'preserve'", "--help"),
    (["from-openapi", PETSTORE, "--include", "Pet"], 3, "'Pet' matches no operation", "Did you mean 'tag:pets'?"),
    (["from-openapi", PETSTORE, "--include", "tag:xyz"], 3, "matches no operation", "such as 'tag:pets'"),
    (
        ["from-openapi", PETSTORE, "--add", "ci", "docker"],
        3,
        "'docker' is a part, not a document",
        "Write --add docker.",
    ),
    (["from-openapi", PETSTORE, "--exclude", "path:*"], 3, "no operation of 15 is left by --exclude", "explain"),
    (["from-openapi", PETSTORE, "--header", "nonsense"], 3, "header", "Authorization"),
    (["from-openapi", PETSTORE, "--overrides", "missing.yaml"], 4, "missing.yaml", ""),
    (["from-openapi", "missing.yaml"], 4, "no such file", "path"),
    (["from-openapi", "."], 4, "no file in it has openapi", "root document"),
    (["from-openapi", "ftp://example.com/a.yaml"], 4, "no such file", "not ftp"),
    (["from-openapi", "https://"], 4, "names no server", ""),
    (["from-openapi", "http://127.0.0.1:9/a.yaml"], 4, "cannot be fetched", "at this port"),
    (["from-openapi", PETSTORE, "-o", "full"], 4, "not empty", "aqlgen update"),
    (["from-openapi", PETSTORE, "-o", "full/file"], 4, "not a folder", "-o"),
    (["explain", PETSTORE, "--html", "full"], 4, "is a folder", "report.html"),
    (["explain", PETSTORE, "--html", "none/a.html"], 4, "there is no folder none", ""),
    (["explain", PETSTORE, "--output-format", "xml"], 3, "'xml' is not one of 'human', 'json'", "--help"),
    (["diff", PETSTORE], 3, "nothing to compare", "second document"),
    (["diff", PETSTORE, "missing"], 4, "or a git revision here", "HEAD~1"),
    (["status", "full"], 4, "no project", "from-openapi"),
    (["status", "missing"], 4, "not a folder", "from-openapi"),
    (["update", "full"], 4, "no project", "from-openapi"),
    (["update", "--aliases", "never"], 3, "'--aliases'", "`aqlgen update --help`"),
]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("mine")


@each(("arguments", "code", "message", "way"), MISTAKES)
def test_wrong_use_is_told_with_the_way_out(arguments: list[str], code: int, message: str, way: str) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert way in result.err
    for word in ("Traceback", "Value error", "[Errno"):
        assert word not in result.err
    assert sorted(path.name for path in Path().rglob("*")) == ["file", "full"]


@each(("arguments", "code", "message", "way"), MISTAKES)
def test_programs_are_told_the_same_as_json(arguments: list[str], code: int, message: str, way: str) -> None:
    if "--output-format" in arguments:
        return
    result = run(*arguments, "--output-format", "json")
    assert (result.code, result.err) == (code, "")
    error = json.loads(result.out)["error"]
    assert error["code"] == code
    texts = [text for detail in error["details"] for text in (detail["message"], detail["path"])]
    assert any(message in text for text in (*texts, str(error)))
    assert way in str(error)


def test_help_is_short_for_all_commands_and_shows_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for flag in ("-h", "--help"):
        text = run(flag).out
        assert text == run().out
        assert "..." not in text.partition("Commands:")[2]
        assert max(map(len, text.splitlines())) <= 80
    for command in ("from-openapi", "explain", "update", "diff", "status", "check"):
        shown = run(command, "-h").out
        assert f"\n    aqlgen {command}" in shown, command
