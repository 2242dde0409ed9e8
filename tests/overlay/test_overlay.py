"""OpenAPI Overlays: the effect of each kind of action, its errors, and diagnostics with lines of the overlay."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.overlay.actions import overlay
from aqlgen.document.positions import Origins
from aqlgen.document.read import Limits, parse
from aqlgen.document.resolve import Resolver
from tests.cases import each
from tests.generator.commands import run

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1", "x-note": "old"},
    "tags": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
    "paths": {
        "/things": {
            "get": {"operationId": "listThings", "tags": ["a", "b"], "responses": {"200": {"description": "ok"}}},
            "post": {"operationId": "createThing", "responses": {"201": {"description": "made"}}},
        },
        "/old": {"get": {"operationId": "listOld", "deprecated": True, "responses": {"200": {"description": "ok"}}}},
    },
}


def overlaid(actions: Any, version: str = "1.1.0", document: Any = DOCUMENT, **limits: Any) -> Any:
    before = json.dumps(document)
    data = {"overlay": version, "info": {"title": "t", "version": "1"}, "actions": actions}
    source = parse("fix.json", json.dumps(data).encode(), None)
    tree, remarks = overlay(document, source, Origins(), Limits(**limits))
    assert json.dumps(document) == before
    assert source.root == data
    return tree, remarks


def refused(actions: Any, version: str = "1.1.0", **limits: Any) -> Any:
    with pytest.raises(DocumentError) as caught:
        overlaid(actions, version, **limits)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.file == "fix.json"
    return diagnostic


COPY = {"target": "$.paths['/old']", "copy": "$.paths['/things']"}
MAKE = {"target": "$.paths", "update": {"/new": {"get": {"summary": "x"}}}}
DEEP = {"paths": {"/things": {"get": {"tags": ["c"], "summary": "All"}}}}
NAMES = [{"name": "a"}, {"name": "b"}, {"name": "c"}]


@each(
    ("actions", "expected"),
    [
        ([{"target": "$.info", "update": {"x-note": "new", "contact": {"name": "Zoë"}}}],
         {"/info": {"title": "Shop", "version": "1", "x-note": "new", "contact": {"name": "Zoë"}}}),
        ([{"target": "$", "update": DEEP}],
         {"/paths/~1things/get/tags": ["a", "b", "c"], "/paths/~1things/get/summary": "All",
          "/paths/~1things/post": DOCUMENT["paths"]["/things"]["post"]}),
        ([{"target": "$.tags", "update": {"name": "d"}}], {"/tags": [*NAMES, {"name": "d"}]}),
        ([{"target": "$.tags", "update": [{"name": "d"}]}], {"/tags": [*NAMES, {"name": "d"}]}),
        ([{"target": "$.paths.*.get.operationId", "update": "getIt"}, {"target": "$.tags", "update": "x"}],
         {"/paths/~1things/get/operationId": "getIt", "/paths/~1old/get/operationId": "getIt", "/tags/3": "x"}),
        ([{"target": "$.paths[?@.get.deprecated]", "remove": True}, {"target": "$.tags[0,2]", "remove": True}],
         {"/paths": {"/things": DOCUMENT["paths"]["/things"]}, "/tags": [{"name": "b"}]}),
        ([{"target": "$.tags[0]", "remove": True, "update": {"name": "d"}}], {"/tags": NAMES[1:]}),
        ([COPY, {"target": "$.paths['/things']", "remove": True}],
         {"/paths/~1old/get/deprecated": True, "/paths/~1old/get/tags": ["a", "b"],
          "/paths/~1old/post/operationId": "createThing"}),
        ([MAKE, {"target": "$.paths['/new'].get", "update": {"summary": "y"}}],
         {"/paths/~1new": {"get": {"summary": "y"}}}),
        ([{"target": "$.tags[?match(@.name, '[ab.]') && length(@.name) == 1]", "remove": True}],
         {"/tags": [{"name": "c"}]}),
    ],
)  # fmt: skip
def test_an_action_changes_its_targets_and_nothing_else(actions: Any, expected: dict[str, Any]):
    tree, remarks = overlaid(actions)
    assert {pointer: Resolver(tree).lookup(f"#{pointer}") for pointer in expected} == expected
    assert remarks == ()


def test_targets_may_stand_within_one_another():
    document = {"x": {"a": {"a": 1}, "b": 2}}
    tree, _ = overlaid([{"target": "$..[?@.a]", "update": {"n": 1}}], document=document)
    assert tree == {"x": {"a": {"a": 1, "n": 1}, "b": 2, "n": 1}}


def test_a_target_that_is_nowhere_is_a_warning_and_the_rest_is_applied():
    tree, remarks = overlaid([{"target": "$.no", "update": 1}, {"target": "$.info", "update": {"title": "New"}}])
    assert tree["info"]["title"] == "New"
    assert [(diagnostic.code, diagnostic.pointer) for diagnostic in remarks] == [
        ("overlay-target", "/actions/0/target")
    ]


@each(
    ("actions", "pointer", "says"),
    [
        ([], "/actions", "at least one"),
        (None, "/actions", "has actions"),
        ([1], "/actions/0", "an object with a target"),
        ([{"update": {}}], "/actions/0", "needs a target"),
        ([{"target": 5}], "/actions/0/target", "needs a target"),
        ([{"target": "$.info"}], "/actions/0", "changes nothing"),
        ([{"target": "$.info", "remove": "maybe"}], "/actions/0/remove", "true or false"),
        ([{"target": "$.info", "copy": [1]}], "/actions/0/copy", "JSONPath"),
        ([{"target": "$.info", "copy": "$.info", "update": {}}], "/actions/0/copy", "not both"),
        ([{"target": "$.info", "copy": "$.paths.*"}], "/actions/0/copy", "at 2 places"),
        ([{"target": "$.info", "copy": "$.tags"}], "/actions/0/copy", "a list cannot be merged into an object"),
        ([{"target": "$", "remove": True}], "/actions/0/target", "cannot be removed"),
        ([{"target": "$", "update": 1}], "/actions/0/update", "a single value cannot be merged into an object"),
        ([{"target": "$.*", "update": {}}], "/actions/0/target", "of one kind"),
        ([{"target": "$", "update": {"info": {"title": []}}}], "/actions/0/update/info/title", "a list cannot be"),
        ([{"target": "info", "remove": True}], "/actions/0/target", "not a valid JSONPath"),
        ([{"target": "$.info.x-note", "remove": True}], "/actions/0/target", "not a valid JSONPath"),
        ([{"target": "$[?nope(@)]", "remove": True}], "/actions/0/target", "is not defined"),
    ],
)  # fmt: skip
def test_an_overlay_that_is_not_valid_is_refused_at_its_place(actions: Any, pointer: str, says: str):
    diagnostic = refused(actions)
    assert (diagnostic.code, diagnostic.pointer) == ("invalid-overlay", pointer)
    assert says in diagnostic.message


def test_other_versions_and_other_documents_are_refused():
    assert refused([{"target": "$"}], "2.0.0").code == "overlay-version"
    with pytest.raises(DocumentError, match="this is an OpenAPI document"):
        overlay(DOCUMENT, parse("a.yaml", b"openapi: 3.1.0\nactions: []", None), Origins())


@pytest.mark.parametrize(
    "path",
    ["$" + "[?@" * 2000 + "]" * 2000, "$[?" + "!" * 5000 + "@.a]", "$" + ".a" * 4000, "$[?@ == 1e9999]", "$.a" * 9999],
    ids=["filters", "not", "names", "number", "length"],
)
def test_a_hostile_path_is_refused(path: str):
    assert refused([{"target": path, "remove": True}]).code == "invalid-overlay"


@pytest.mark.parametrize(
    "path",
    [
        "$" + "[?$..*]" + "[?$..[?$..[?$..[?$..[?$..[?@ == 5]]]]]]",
        "$" + "..*" * 12 + "[?@ == 7]",
        "$..[?match(@, '(a|aa)+')]",
    ],
    ids=["filters", "descents", "a regular expression"],
)
def test_a_path_without_end_is_aborted(path: str):
    wide: Any = {"w": {f"k{number}": {"d": ["a" * 60 + "!"] * 20} for number in range(100)}}
    for _ in range(50):
        wide = {"deep": wide}
    source = parse(
        "fix.yaml", json.dumps({"overlay": "1.0.0", "actions": [{"target": path, "remove": True}]}).encode(), None
    )
    begin = time.monotonic()
    with pytest.raises(DocumentError, match=r"take longer|takes too long"):
        overlay(wide, source, Origins(), Limits(seconds=0.3))
    assert time.monotonic() - begin < 5


def test_copies_of_copies_stay_within_the_bounds():
    bomb = [{"target": "$.x", "copy": "$"}] * 60
    diagnostic = refused([{"target": "$", "update": {"x": {}}}, *bomb], nodes=10_000)
    assert (diagnostic.code, diagnostic.message.endswith("10,000 values")) == ("document-too-large", True)


SPEC = """\
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /things:
    get:
      operationId: listThings
      responses: {"200": {description: ok}}
"""
FIX = """\
overlay: 1.1.0
info: {title: t, version: "1"}
extends: https://nowhere.invalid/openapi.yaml
actions:
- target: $.paths
  update:
    /things/{id}:
      get:
        operationId: getThing
        parameters:
        - {name: id, in: path, required: true, schema: {$ref: "#/components/schemas/Gone"}}
        responses: {"200": {description: ok}}
- target: $.nothing
  remove: true
"""
MORE = """\
{"overlay": "1.0.0", "info": {"title": "t", "version": "1"}, "actions": [
  {"target": "$.paths['/things/{id}'].get", "update": {"summary": "One thing"}}
]}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    named = tmp_path / "shop.yaml", tmp_path / "fix.yaml", tmp_path / "more.json"
    for path, text in zip(named, (SPEC, FIX, MORE), strict=True):
        path.write_text(text, encoding="utf-8")
    return named


def test_overlays_are_applied_in_order_and_kept_with_the_project(files: tuple[Path, Path, Path], tmp_path: Path):
    spec, fix, more = files
    target = tmp_path / "out"
    done = run("from-openapi", spec, "--overlay", fix, "--overlay", more, "-o", target, "--output-format", "json")
    assert done.code == 0, done.out
    assert (target / "openapi/openapi.yaml").read_text("utf-8") == SPEC
    assert (target / "openapi/overlays/1-fix.yaml").read_text("utf-8") == FIX
    assert (target / "openapi/overlays/2-more.json").read_text("utf-8") == MORE
    rows = json.loads(next(target.glob("src/*/operations/read.json")).read_text("utf-8"))
    assert sorted(rows) == ["get_thing", "list_things"]
    assert "One thing" in json.dumps(rows["get_thing"])


def test_findings_about_an_overlaid_part_name_the_line_of_the_overlay(files: tuple[Path, Path, Path]):
    spec, fix, more = files
    done = run("explain", spec, "--overlay", fix, "--overlay", more, "--output-format", "json")
    by_code = {diagnostic["code"]: diagnostic for diagnostic in json.loads(done.out)["diagnostics"]}
    assert (by_code["overlay-target"]["file"], by_code["overlay-target"]["line"]) == (str(fix), 13)
    assert (by_code["unresolved-reference"]["file"], by_code["unresolved-reference"]["line"]) == (str(fix), 11)


def test_an_overlay_that_is_not_valid_ends_with_exit_code_2_and_its_line(files: tuple[Path, Path, Path]):
    spec, fix, _ = files
    fix.write_text(FIX.replace("$.nothing", "$.a.x-b"), encoding="utf-8")
    done = run("explain", spec, "--overlay", fix)
    assert done.code == 2
    assert f"{fix}:13:" in done.err
    assert "['x-name']" in done.err


def test_an_overlay_that_is_missing_ends_with_exit_code_4(files: tuple[Path, Path, Path], tmp_path: Path):
    assert run("explain", files[0], "--overlay", tmp_path / "none.yaml").code == 4


def test_a_document_of_swagger_2_is_overlaid_before_it_is_converted(tmp_path: Path):
    spec, fix = tmp_path / "old.yaml", tmp_path / "fix.yaml"
    document = {"swagger": "2.0", "info": {"title": "Shop", "version": "1"}, "paths": DOCUMENT["paths"]}
    spec.write_text(yaml.safe_dump(document), encoding="utf-8")
    fix.write_text("overlay: 1.0.0\nactions: [{target: $, update: {host: shop.example}}]", encoding="utf-8")
    done = run("from-openapi", spec, "--overlay", fix, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "https://shop.example" in next((tmp_path / "out").glob("src/*/adapter.json")).read_text("utf-8")
