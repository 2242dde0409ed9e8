"""What is wrong with an adapter element: path, expected, actual and suggestion, with line and column, all at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.element.reading import BOOKS, TARGET, element, reading, refusal, refused, written
from tests.generator.commands import FIXTURES, run


def with_parameter(**parameter: Any) -> dict[str, Any]:
    """Build an element whose operation has a parameter `size`."""
    return reading(params={"size": parameter})


Case = tuple[dict[str, Any], str, str, str, str, str]

INVALID: dict[str, Case] = {
    "a required field": (
        element(operations={"read": [{"name": "get_it"}]}),
        "MISSING_FIELD", "operations.read[0].maps_to", "string", "nothing", "Write `maps_to: GET /users/{user_id}`.",
    ),
    "a boolean in quotes": (
        with_parameter(type="integer", required="true"),
        "INVALID_TYPE", "operations.read[0].params.size.required", "boolean", '"true"',
        "Write `required: true (without quotes)`.",
    ),
    "a number as version": (
        element(version=1.5), "INVALID_TYPE", "version", "string", "1.5", 'Write `version: "1.5"`.',
    ),
    "a list that is an object": (
        element(operations={"read": {"get_status": "GET /status"}}),
        "INVALID_TYPE", "operations.read", "array", "object", "",
    ),
    "a type that there is not": (
        with_parameter(type="int"),
        "INVALID_VALUE", "operations.read[0].params.size.type", "integer", '"int"', "Write `type: string`.",
    ),
    "a value that resembles none": (
        element(operations={"read": [{"name": "get_it", "maps_to": "GET /it", "danger_level": "deadly"}]}),
        "INVALID_VALUE", "operations.read[0].danger_level", "safe or reversible", '"deadly"',
        "Choose one of safe, reversible, destructive, dangerous, forbidden.",
    ),
    "a misspelt key": (
        with_parameter(type="integer", requird=True),
        "UNKNOWN_FIELD", "operations.read[0].params.size.requird", "required", "requird", "Did you mean `required`?",
    ),
    "a name in camel case": (
        element(operations={"read": [{"name": "getStatus", "maps_to": "GET /status"}]}),
        "INVALID_NAME", "operations.read[0].name", "lower-case words", '"getStatus"', "Write `name: get_status`.",
    ),
    "a placeholder without a parameter": (
        reading("GET /things/{thing_id}", params={"size": {"type": "string"}}),
        "UNRESOLVED_REF", "operations.read[0].maps_to", "one of the parameters (size)", '"thing_id"',
        "Add `thing_id` to `params`.",
    ),
    "another host": (
        reading("GET https://evil.example/things"),
        "INVALID_VALUE", "operations.read[0].maps_to", "below base_url", '"GET https://evil.example/things"',
        "Write `maps_to: GET /users/{user_id}`.",
    ),
    "an address that is none": (
        element(target={**TARGET, "base_url": "api.example.com"}),
        "INVALID_VALUE", "target.base_url", "https://", '"api.example.com"',
        "Write `base_url: https://api.example.com/v1`.",
    ),
    "an address of tokens that is none": (
        element(auth={"type": "oauth2", "token_url": "https://[auth.example.com"}),
        "INVALID_VALUE", "auth.token_url", "the address of a server", "another address", "",
    ),
    "a parameter in two places": (
        reading("GET /things?from={day}&to={day}", params={"day": {"type": "string"}}),
        "INVALID_VALUE", "operations.read[0].maps_to", "one place", '"/things?from={day}&to={day}"',
        "Give each place a parameter of its own.",
    ),
    "a parameter in the path and the query": (
        reading("GET /things/{day}?to={day}", params={"day": {"type": "string"}}),
        "INVALID_VALUE", "operations.read[0].maps_to", "one place", '"/things/{day}?to={day}"',
        "Give each place a parameter of its own.",
    ),
    "a danger that there is not": (
        reading(danger_level="destructiv"),
        "INVALID_VALUE", "operations.read[0].danger_level", "safe or reversible or destructive", '"destructiv"',
        "Did you mean `destructive`?",
    ),
    "a paging parameter that there is not": (
        reading(pagination={"style": "page", "param_name": "page"}),
        "UNRESOLVED_REF", "operations.read[0].pagination.param_name", "a parameter", '"page"',
        "Add `page` to `params`.",
    ),
    "a variable in lower case": (
        element(auth={"type": "bearer", "token_env": "my-token"}),
        "INVALID_NAME", "auth.token_env", "an environment variable", '"my-token"',
        "Write `token_env: PETSTORE_API_KEY`.",
    ),
}  # fmt: skip


@each("case", INVALID)
def test_a_finding_says_where_what_is_expected_what_stands_there_and_what_to_write(tmp_path: Path, case: str) -> None:
    content, code, path, expected, actual, suggestion = INVALID[case]
    detail = refusal(tmp_path, content)
    assert (detail["code"], detail["path"], detail["actual"]) == (f"SCHEMA_{code}", path, actual)
    assert detail["suggestion"] == suggestion
    assert expected in detail["expected"]
    assert detail["line"] > 0
    assert detail["column"] > 0
    assert detail["message"]


def test_a_name_may_stand_in_one_family_alone(tmp_path: Path) -> None:
    same = {"name": "get_it", "maps_to": "GET /it"}
    detail = refusal(tmp_path, element(operations={"read": [same], "execute": [{**same, "maps_to": "POST /it"}]}))
    assert (detail["code"], detail["path"]) == ("SCHEMA_DUPLICATE_NAME", "operations.execute[0].name")
    assert "operations.read[0].name" in detail["message"]


@pytest.mark.parametrize(
    "auth", [{"type": "bearer", "token": "sk-123"}, {"type": "api_key", "config": {"key": "sk-123"}}]
)
def test_a_credential_in_an_element_is_refused_and_not_shown(tmp_path: Path, auth: dict[str, Any]) -> None:
    assert "sk-123" not in str(refused(tmp_path, element(auth=auth)))


def test_a_document_of_openapi_is_sent_to_the_other_command(tmp_path: Path) -> None:
    text = (FIXTURES / "petstore.yaml").read_text(encoding="utf-8")
    detail = refusal(tmp_path, text)
    assert detail["code"] == "not-an-element"
    assert "from-openapi" in detail["suggestion"]


def test_markdown_needs_front_matter(tmp_path: Path) -> None:
    assert refusal(tmp_path, "# Shop\n\nNothing.\n", "adapter.md")["code"] == "no-front-matter"


def test_the_command_prints_all_findings_and_ends_with_exit_code_2(tmp_path: Path) -> None:
    text = BOOKS.read_text(encoding="utf-8").replace("type: integer, required: true", "type: int, required: yes")
    path = written(tmp_path, text, "books.md")
    shown = run("from-schema", path, "-o", tmp_path / "project", "--output-format", "json")
    assert shown.code == 2
    error = shown.json["error"]
    assert (error["code"], error["type"]) == (2, "SCHEMA_VALIDATION_ERROR")
    assert len(error["details"]) == 8
    assert {"path", "expected", "actual", "suggestion", "line", "column", "code"} <= error["details"][0].keys()
    assert not (tmp_path / "project").exists()


def test_exit_codes_tell_options_from_files(tmp_path: Path) -> None:
    path = written(tmp_path, element())
    assert run("from-schema", path, "-o", tmp_path / "p", "--name", "No Name").code == 3
    assert run("from-schema", tmp_path / "nothing.yaml").code == 4
    assert run("from-schema", "https://example.com/adapter.yaml").code == 3
    assert run("from-schema", path, "--dry-run", "-q").code == 0
