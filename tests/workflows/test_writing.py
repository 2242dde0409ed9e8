"""Plans written out as Arazzo by the adapter's command, and read again (R-STEP-3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.runtime.cli import main
from aqlgen.table.model import table_files

PETSTORE = Path(__file__).parents[2] / "fixtures/petstore.yaml"
LOOK = {"operation": "get_pet", "params": {"pet_id": 7}}
PLAN: dict[str, Any] = {
    "steps": [
        {"id": "find", "operation": "list_pets", "params": {"status": ["available"], "limit": 5}},
        {
            "operation": "get_pet",
            "params": {"pet_id": {"$ref": "find[0].id"}},
            "expect": {"home_address.post_code": {"ne": "x'y"}, "id": {"gt": 3}, "status": "available"},
        },
        {
            "operation": "create_pet",
            "params": {
                "name": {"$ref": "2.name"},
                "kind": "cat",
                "home_address": {"city": {"$ref": "2.home_address.city"}, "post_code": "1011", "street": "Quay 3"},
            },
        },
        {"operation": "update_pet", "params": {"pet_id": {"$ref": "3.id"}, "input": {"name": "Rosa"}}},
    ],
    "return": {"code": {"$ref": "2.home_address.post_code"}, "all": {"$ref": "find"}},
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("petstore") / "petstore_adapter"
    table = prepare(Options(Request(str(PETSTORE))), lambda _stage: None).table
    for path, content in table_files(table):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def command(package: Path, tmp_path: Path, plan: Any, *options: str) -> int:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan), encoding="utf-8")
    return main(package, None, ["plan", str(file), "--mock", *options])


def test_a_plan_that_is_written_out_is_read_again_as_it_was(
    package: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """R-STEP-3"""
    assert command(package, tmp_path, PLAN, "--arazzo", "newCat") == 0
    text = capsysbinary.readouterr().out
    written = json.loads(text)
    (ours,) = written["workflows"]
    assert ours["steps"][2]["requestBody"]["payload"]["homeAddress"]["postCode"] == "1011"
    assert ours["outputs"]["code"] == "$steps.step2.outputs.answer#/homeAddress/postCode"
    assert "$response.body#/homeAddress/postCode != 'x''y'" in json.dumps(ours["steps"][1]["successCriteria"])
    file = tmp_path / "new.json"
    file.write_bytes(text)
    request = Request(str(PETSTORE), workflows=(str(file),))
    (again,) = prepare(Options(request), lambda _stage: None).table.workflows
    assert [step["operation"] for step in again.steps] == [step["operation"] for step in PLAN["steps"]]
    assert again.steps[1]["expect"] == {
        "home_address.post_code": {"ne": "x'y"},
        "id": {"gt": 3},
        "status": {"eq": "available"},
    }
    assert again.steps[1]["params"] == PLAN["steps"][1]["params"]
    assert list(again.outputs or {}) == ["code", "all"]


def test_without_it_the_requests_are_shown(
    package: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert command(package, tmp_path, PLAN["steps"]) == 0
    shown = json.loads(capsysbinary.readouterr().out)["data"]
    assert shown["dry_run"] is True
    assert shown["steps"][0]["requests"][0]["method"] == "GET"


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ([{**LOOK, "foreach": [1]}], "nothing for foreach"),
        ([{"operation": "list_pets", "where": {"name": "x"}}], "nothing for where"),
        ([{**LOOK, "expect": {"name": {"contains": "x"}}}], "nothing for 'contains'"),
        ([{"id": "a", **LOOK}, {"operation": "get_pet", "params": {"pet_id": {"$ref": "a.tags[-1]"}}}], "beginning"),
        ({"steps": [LOOK], "return": {"x": 1}}, "not a reference"),
        ([{"operation": "list_pets", "params": {"tags": ["$inputs.x"]}}], "read as an expression"),
        (
            [{"operation": "replace_owner", "params": {"owner_id": "7b1c1a3e-2f4d-4b55-9a5e-111111111111"}}],
            "reads before",
        ),
    ],
)
def test_what_arazzo_cannot_say_is_refused(
    package: Path, tmp_path: Path, plan: Any, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "replace_owner" in json.dumps(plan):
        plan[0]["params"]["input"] = {"lastName": "Kim"}
    assert command(package, tmp_path, plan, "--arazzo", "x") == 1
    output = capsys.readouterr()
    assert message in output.err + output.out


@pytest.mark.parametrize("text", ["", "[", "1", '{"steps": [{"operation": "nope"}]}', '{"continue": "plan_1"}'])
def test_a_file_that_holds_no_plan_is_a_line(
    package: Path, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text, encoding="utf-8")
    assert main(package, None, ["plan", str(file), "--mock", "--arazzo", "x"]) == 1
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    assert main(package, None, ["plan", str(tmp_path / "none.json")]) == 1
