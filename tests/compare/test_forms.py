"""How changes are shown: to people, to programs, and in a pull request, whatever the API's texts hold."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.compare.shops import SHOP, diff, edited, fields, operation, parameter_of, schema

HOSTILE = "x`` |</details><script>@octocat #1 [a](b) \x1b[31m\u202e\n- {} {*} [is|are]"


def mixed(document: dict[str, Any]) -> None:
    """Break something, change something to look at, add something."""
    fields(document, "Pet").pop("born")
    parameter_of(document, "order")["deprecated"] = True
    fields(document, "Pet")["photo"] = {"type": "string"}


def test_a_terminal_shows_what_breaks_first(tmp_path: Path) -> None:
    done = diff(tmp_path, SHOP, edited(mixed))
    assert done.code == 1
    assert done.out.splitlines() == [
        f"From {tmp_path}/old.json to {tmp_path}/new.json:",
        "1 breaking change, 1 to look at, 1 compatible:",
        "",
        "Breaking",
        "  `born` of `Pet` is no longer answered: create_pet, get_pet, list_pets, update_pet",
        "",
        "To look at",
        "  the parameter `order` is deprecated: list_pets",
        "",
        "Compatible",
        "  `photo` of `Pet` is new: create_pet, get_pet, list_pets, update_pet",
    ]


def test_a_pull_request_gets_a_table_and_what_breaks_first(tmp_path: Path) -> None:
    done = diff(
        tmp_path,
        SHOP,
        edited(mixed, lambda document: document["info"].update(version="2.0.0")),
        "--output-format",
        "markdown",
    )
    assert done.code == 1
    assert done.out == (
        "|  | before | now |\n"
        "| --- | --- | --- |\n"
        "| operations | 6 | 6 |\n"
        "| version of the API | `1.0.0` | `2.0.0` |\n"
        "\n"
        "For an agent: **1** breaking, **1** to look at, **1** compatible.\n"
        "\n"
        "### Breaking (1)\n"
        "\n"
        "- `born` of `Pet` is no longer answered: `create_pet`, `get_pet`, `list_pets`, `update_pet`\n"
        "\n"
        "### To look at (1)\n"
        "\n"
        "- the parameter `order` is deprecated: `list_pets`\n"
        "\n"
        "### Compatible (1)\n"
        "\n"
        "- `photo` of `Pet` is new: `create_pet`, `get_pet`, `list_pets`, `update_pet`\n"
    )


def test_programs_get_every_change_whole(tmp_path: Path) -> None:
    done = diff(tmp_path, SHOP, edited(mixed), "--output-format", "json")
    report = done.json
    assert (report["success"], report["breaking"]) == (True, True)
    assert report["counts"] == {"breaking": 1, "attention": 1, "texts": 0, "compatible": 1}
    assert report["from"] == {"api_version": "1.0.0", "operations": 6}
    assert report["changes"][0] == {
        "rule": "field-removed",
        "level": "breaking",
        "title": "A field is gone",
        "message": "`born` of `Pet` is no longer answered",
        "operations": ["create_pet", "get_pet", "list_pets", "update_pet"],
        "fields": ["born"],
        "places": [{"kind": "type", "name": "Pet", "path": ""}],
        "directions": ["output"],
    }


@pytest.mark.parametrize(
    ("edit", "option", "code"),
    [
        (mixed, "breaking", 1),
        (mixed, "never", 0),
        (lambda document: fields(document, "Pet").update(photo={"type": "string"}), "breaking", 0),
        (lambda document: fields(document, "Pet").update(photo={"type": "string"}), "any", 1),
        (lambda document: document, "any", 0),
    ],
)
def test_the_exit_code_says_what_was_asked_for(tmp_path: Path, edit: Any, option: str, code: int) -> None:
    assert diff(tmp_path, SHOP, edited(edit), "--fail-on", option, "-q").code == code


def hostile(document: dict[str, Any]) -> None:
    parameter_of(document, "status")["schema"]["enum"].append(HOSTILE)
    fields(document, "Pet")[HOSTILE] = {"type": "string"}
    parameter_of(document, "order")["schema"]["default"] = HOSTILE
    document["servers"] = [{"url": f"https://shop.example/{HOSTILE}"}]
    document["info"]["version"] = HOSTILE


def test_texts_of_the_api_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    text = diff(tmp_path, SHOP, edited(hostile), "-v").out
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)
    starts = ("  ", "From ", "1", "0", "Br", "Cr", "To", "Te", "Co")
    assert all(line.startswith(starts) or not line for line in text.splitlines())


def test_texts_of_the_api_cannot_break_out_of_markdown(tmp_path: Path) -> None:
    text = diff(tmp_path, SHOP, edited(hostile), "--output-format", "markdown").out
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    for sign in ("<script", "</details", "@octocat", "#1", "](", "\x1b", "\u202e"):
        assert sign not in outside
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)


def many(document: dict[str, Any]) -> None:
    """Add so much that nobody can read it: other fields in each of many operations, under long names."""
    for number in range(300):
        name = f"thing_{number}_{'of_a_rather_long_name' * 3}"
        document["paths"][f"/{name}"] = {
            "get": {
                "operationId": f"list_{name}",
                "parameters": [{"name": f"filter_{number}", "in": "query", "schema": {"type": "string"}}],
                "responses": {"204": {"description": ""}},
            }
        }


def few(document: dict[str, Any]) -> None:
    many(document)
    for item in document["paths"].values():
        if len(item) == 1 and "get" in item:
            item["get"]["parameters"] = []


def test_what_nobody_could_read_is_cut_and_counted(tmp_path: Path) -> None:
    old, new = edited(many), edited(few)
    markdown = diff(tmp_path, old, new, "--output-format", "markdown").out
    assert len(markdown.encode()) < 60_000
    assert "<details><summary>Breaking (300)</summary>" in markdown
    assert markdown.count("<details>") == markdown.count("</details>") == 1
    assert "- … and 200 more: a parameter is gone\n" in markdown
    assert "`aqlgen diff --output-format json` has all of them." in markdown
    text = diff(tmp_path, old, new).out
    assert text.splitlines()[-2:] == ["  … and 270 more: a parameter is gone", "  (-v shows all)"]
    assert len(diff(tmp_path, old, new, "-v").out.splitlines()) > 300
    assert len(json.loads(diff(tmp_path, old, new, "--output-format", "json").out)["changes"]) == 300


def test_a_long_list_of_values_is_cut_for_people(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        schema(document, "Kind")["enum"] += [f"kind{number}" for number in range(30)]

    done = diff(tmp_path, SHOP, edited(edit))
    assert "`kind0`, `kind1`, `kind2`, `kind3`, `kind4`, `kind5` and 24 more" in done.out
    [change, _] = diff(tmp_path, SHOP, edited(edit), "--output-format", "json").json["changes"]
    assert "`kind29`" in change["message"]


def test_an_operation_that_pages_does_not_hide_a_change_of_its_items(tmp_path: Path) -> None:
    def paged(document: dict[str, Any]) -> None:
        operation(document, "GET /pets")["parameters"] += [
            {"name": "page", "in": "query", "schema": {"type": "integer"}},
            {"name": "per_page", "in": "query", "schema": {"type": "integer"}},
        ]

    differences = diff(tmp_path, edited(paged), edited(paged, mixed), "--output-format", "json").json["changes"]
    assert differences[0]["operations"] == ["create_pet", "get_pet", "list_pets", "update_pet"]
