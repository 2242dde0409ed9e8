"""`aqlgen check` of a running adapter: its options, its exit codes, and adapters that are broken (R-CONF-1)."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from aqlgen.check.checks import probe
from aqlgen.check.run import TESTS
from aqlgen.check.runner import test_ids as ids_of_tests
from aqlgen.check.stand_in import Reply, StandIn, serve
from aqlgen.runtime import SEAL
from bench.mutants import LEAST, MUTATIONS, broken, mutations
from tests.check.probe import PROBE, files
from tests.checkouts import unpack_runtime
from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter, ref, replies
from tests.generator.commands import FIXTURES, api, run

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "aqlgen" / "runtime"


def test_the_table_of_the_probe_follows_from_its_document() -> None:
    assert {name: (PROBE / name).read_bytes() for name in files()} == files(), "`make generated` writes it"


def test_the_sessions_with_the_probe_are_what_the_runtime_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are played for a runtime, a probe or libraries other than those that are recorded to have passed."""
    monkeypatch.setenv("AQLGEN_CACHE", str(tmp_path / "cache"))
    assert run("from-openapi", FIXTURES / "petstore.yaml", "-o", tmp_path / "petstore", "-q").code == 0
    done = run("check", tmp_path / "petstore", "--test", "WI-3")
    assert done.code == 0, f"`python -m tests.check.probe` writes them again: {done.out}"


def test_sessions_that_a_runtime_has_passed_are_played_for_another_runtime_alone(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AQLGEN_CACHE", str(tmp_path / "cache"))
    head, steps = next(each for each in probe.recorded() if each.head["session"] == "nobody")
    monkeypatch.setattr(probe, "recorded", lambda: [probe.Session(head, steps)])
    first = run("check", project, "--test", "WI-3")
    monkeypatch.setattr(probe, "recorded", lambda: [probe.Session(head, [{**steps[0], "answer": 1}])])
    again = run("check", project, "--test", "WI-3")
    run("from-openapi", FIXTURES / "petstore.yaml", "-o", tmp_path / "source", "--runtime", "source", "-q")
    same = run("check", tmp_path / "source", "--test", "WI-3")
    other = run("check", broken(project, tmp_path, mutations()[0]) or project, "--test", "WI-3")
    assert (first.code, again.code, same.code, other.code) == (0, 0, 0, 1)


def test_a_test_of_an_honest_adapter_passes_and_writes_its_reports(project: Path, tmp_path: Path) -> None:
    reports = [tmp_path / f"report{ending}" for ending in (".json", ".xml", ".md")]
    options = [text for file in reports for text in ("--report", str(file))]
    done = run("check", project, "--test", "IF-1", "--all", *options)
    assert (done.code, "PASS IF-1" in done.out, "Not as generated" in done.out) == (0, True, False)
    assert json.loads(reports[0].read_text())["summary"] == {
        "total": 1, "passed": 1, "failed": 0, "skipped": 0,
    }  # fmt: skip
    assert ET.parse(reports[1]).getroot().attrib["tests"] == "1"
    assert reports[2].read_text().startswith("# Conformance of workshop-adapter")


def test_a_broken_adapter_fails_the_test_that_is_for_it(project: Path, tmp_path: Path) -> None:
    mutation = next(mutation for mutation in mutations() if mutation.name == "a token is good any number of times")
    copy = broken(project, tmp_path, mutation)
    assert copy is not None
    done = run("check", copy, "--test", "SA-1", "--output-format", "json")
    assert done.code == 1
    assert done.json["success"] is False
    assert done.json["summary"]["failed"] == 1


def test_a_generated_file_or_a_runtime_that_is_another_fails(project: Path, tmp_path: Path) -> None:
    """A behaviour that no test of an adapter reaches is proven for the tested code alone, in each form of it."""
    run("from-openapi", FIXTURES / "petstore.yaml", "-o", sealed := tmp_path / "sealed", "-q")
    honest = run("check", sealed, "--test", "WI-4")
    (table,), archive = sealed.glob("src/*/operations/create.json"), sealed / "vendor/runtime.zip"
    table.write_text(table.read_text().replace('"POST"', '"PUT"', 1))
    with ZipFile(archive, "a") as added:
        added.writestr("runtime/more.py", "")
    edited = run("check", sealed, "--test", "WI-4", "--output-format", "json")
    copy = broken(project, tmp_path, mutations()[0])
    assert copy is not None
    other = run("check", copy, "--test", "WI-4")
    assert (honest.code, edited.code, other.code) == (0, 1, 1)
    tests = [test for category in edited.json["categories"] for test in category["tests"]]
    subjects = [problem["subject"] for test in tests for problem in test.get("problems", ())]
    assert [Path(subject).name for subject in subjects] == ["create.json", "more.py", "runtime.zip"]
    assert mutations()[0].file in other.err


def test_a_runtime_that_aqlgens_own_tests_have_not_passed_with_fails(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An aqlgen that is itself changed generates an adapter that is as generated, and says that nobody tested it."""
    shutil.copytree(probe.PASSED, tmp_path / "passed")
    seal = tmp_path / "passed" / SEAL
    lines = seal.read_text().splitlines(keepends=True)
    seal.write_text("".join(line for line in lines if not line.endswith("  wire.py\n")))
    monkeypatch.setattr(probe, "PASSED", tmp_path / "passed")
    done = run("check", project, "--test", "WI-4")
    assert done.code == 1
    assert "runtime/wire.py: is not the file that aqlgen's own tests passed with" in done.err


def test_an_adapter_that_does_not_start_fails_and_says_why(project: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    (copy / "src" / "workshop_adapter" / "__main__.py").write_text("raise SystemExit('the cat sat on it')\n")
    done = run("check", copy, "--test", "CD-1")
    assert done.code == 1
    assert "does not start: the cat sat on it" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--test", "XX-1"], "no test is called 'XX-1'"),
        (["--report", "report.html"], "no report has the ending of 'report.html'"),
        (["--pristine", "--level", "2", "--quick"], "--level, --quick start the adapter"),
    ],
)
def test_options_that_cannot_be_met_are_refused_before_anything_starts(
    project: Path, options: Sequence[str], message: str
) -> None:
    done = run("check", project, *options)
    assert (done.code, message in done.err) == (3, True), done.err


def test_evidence_of_too_few_tests_is_refused(project: Path, tmp_path: Path) -> None:
    done = run("check", project, "--test", "CD-1", "--evidence", tmp_path / "evidence.json")
    assert done.code == 3
    assert "the evidence would be empty in missing_required" in done.err
    assert not (tmp_path / "evidence.json").exists()


def test_the_live_api_is_only_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSHOP_API_KEY", "the key of the environment")
    live = StandIn(project / "src" / "workshop_adapter")
    with serve(live) as url:
        done = run("check", project, "--test", "LI-1", "--all", "--base-url", url)
    assert (done.code, "PASS LI-1" in done.out) == (0, True), done.err
    assert {request.method for request in live.arrived} == {"GET"}
    assert {request.headers.get("x-workshop-key") for request in live.arrived} == {"the key of the environment"}
    assert {request.path for request in live.arrived} == {
        "/archive", "/bikes", "/hours", "/invoices", "/mechanics", "/parts",
    }  # fmt: skip


API_THAT_FAILS = {
    "openapi": "3.1.0",
    "info": {"title": "Ward", "version": "1"},
    "servers": [{"url": "https://ward.example"}],
    "paths": {
        "/motto": {"get": {"responses": {"200": {"description": "-", "content": {"text/plain": {}}}}}},
        "/export": {"get": {"responses": {"200": {"description": "-", "content": {"text/csv": {}}}}}},
        "/beds": {"get": {"responses": {"200": {"description": "-"}, "403": {"description": "not on duty"}}}},
        "/staff": {"get": {"responses": {"200": {"description": "-"}, "4XX": {"description": "no"}}}},
        "/wards": {"get": {"responses": {"200": {"description": "-"}, "default": {"description": "no"}}}},
    },
}


def test_a_failure_that_the_document_declares_and_an_empty_text_are_no_fault_of_the_adapter(tmp_path: Path) -> None:
    document, folder = tmp_path / "ward.json", tmp_path / "ward"
    document.write_text(json.dumps(API_THAT_FAILS), encoding="utf-8")
    assert run("from-openapi", document, "-o", folder, "-q").code == 0
    unpack_runtime(folder / "src/ward_adapter")
    live = StandIn(folder / "src" / "ward_adapter")
    answers = {path: Reply.of(403, {"message": "no"}) for path in ("/beds", "/staff", "/wards")}
    answers |= {path: Reply(200, b"", {"Content-Type": "text/plain"}) for path in ("/motto", "/export")}

    def checked() -> tuple[int, str]:
        with serve(live) as url, live.behaving(lambda request: answers.get(request.path)):
            done = run("check", folder, "--test", "LI-1", "--base-url", url)
        return done.code, done.out + done.err

    code, text = checked()
    assert code == 0, text
    answers["/beds"] = Reply.of(404, {"message": "no"})
    code, text = checked()
    assert code == 1
    assert text.count("which its document does not have") == 1


def test_unusual_alternatives_fields_and_items_are_no_fault_of_the_adapter(
    tmp_path: Path,
) -> None:
    box = object_of("kind", kind={"enum": ["Tin", "Chest"]}, label=TEXT, note=TEXT) | {
        "discriminator": {"propertyName": "kind"}
    }
    boxes = {name: {"allOf": [ref("Box"), object_of(lid=TEXT)]} for name in ("Tin", "Chest")}
    sinks = {name: object_of("kind", kind={"enum": [name]}, **dict.fromkeys(fields, TEXT))
             for name, fields in (("chat", ("url", "token")), ("mail", ("address",)))}  # fmt: skip
    mapping = {name: f"#/components/schemas/{name}" for name in sinks}
    sink = {"oneOf": list(map(ref, sinks)), "discriminator": {"propertyName": "kind", "mapping": mapping}}
    shelf = object_of(box=ref("Box"), title=TEXT, digits=TEXT)
    words, wide = {"type": "object", "additionalProperties": TEXT}, [f"part{number}" for number in range(900)]
    tag = object_of("attributes", "size", "colour", attributes=words, size=TEXT, colour=TEXT)
    paths = {
        "GET /shelves/{id}": {"responses": replies(shelf)},
        "PUT /shelves/{id}": {"requestBody": body_of(shelf), "responses": replies(shelf)},
        "GET /sinks/{id}": {"responses": replies(sink)},
        "PUT /sinks/{id}": {"requestBody": body_of(sink), "responses": replies(sink)},
        "POST /tags": {"requestBody": body_of(tag), "responses": replies(status="204")},
        "GET /racks": {"parameters": [parameter(name, schema=INTEGER) for name in ("offset", "limit")],
                       "responses": replies(object_of(rows=list_of(object_of(**dict.fromkeys(wide, TEXT)))))},
    }  # fmt: skip
    document, folder = tmp_path / "shop.json", tmp_path / "shop"
    servers = [{"url": "https://shop.example"}]
    document.write_text(
        json.dumps(api(paths, servers=servers, components={"schemas": {"Box": box, **boxes, **sinks}})),
        encoding="utf-8",
    )
    assert run("from-openapi", document, "-o", folder, "-q").code == 0
    unpack_runtime(folder / "src/shop_adapter")
    done = run("check", folder, "--test", "RT-2", "--test", "RT-3", "--test", "EQ-5", "--test", "L2-7")
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize("tag", [{"mapping": {"tin": "Tin", "chest": "Chest"}}, {}])
def test_subtypes_of_a_base_are_no_fault_of_the_adapter(tmp_path: Path, tag: dict[str, Any]) -> None:
    box = object_of("kind", kind=TEXT, label=TEXT) | {"discriminator": {"propertyName": "kind", **tag}}
    schemas = {
        "Box": box,
        "Tin": {"allOf": [ref("Box"), object_of("lid", lid=TEXT)]},
        "Chest": {"allOf": [ref("Box"), object_of(lockNumber=INTEGER)]},
        "Safe": {**ref("Chest"), **object_of("weight", weight=INTEGER)},
    }
    shelf = object_of(box=ref("Box"), chests=list_of(ref("Chest")))
    paths = {
        "POST /shelves": {"requestBody": body_of(shelf), "responses": replies(shelf)},
        "POST /boxes": {"requestBody": body_of(ref("Box")), "responses": replies(ref("Box"))},
        "GET /boxes/{id}": {"responses": replies(ref("Box"))},
        "PUT /boxes/{id}": {"requestBody": body_of(ref("Box")), "responses": replies(ref("Box"))},
    }
    document, folder = tmp_path / "shop.json", tmp_path / "shop"
    servers = [{"url": "https://shop.example"}]
    document.write_text(json.dumps(api(paths, servers=servers, components={"schemas": schemas})), encoding="utf-8")
    assert run("from-openapi", document, "-o", folder, "-q").code == 0
    unpack_runtime(folder / "src/shop_adapter")
    done = run("check", folder, "--test", "RT-3", "--test", "IF-4", "--test", "WI-1")
    assert done.code == 0, done.out + done.err


def test_every_test_has_an_id_of_its_own_and_a_requirement_that_there_is() -> None:
    ids = ids_of_tests()
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[A-Z][A-Z0-9]-[0-9]{1,2}", name) for name in ids)
    rows = (ROOT / "contributing" / "requirements.md").read_text("utf-8")
    known = set(re.findall(r"^\| (R-[A-Z]+-\d+) ", rows, re.MULTILINE))
    assert {name for test in TESTS for name in test.requirement.split(", ")} <= known


def test_every_mutation_can_be_made_and_most_are_said_to_be_caught() -> None:
    entries = mutations()
    stale = [item.name for item in entries if (RUNTIME / item.file).read_text("utf-8").count(item.old) != 1]
    assert stale == []
    assert len(entries) >= 60
    assert len({item.name for item in entries}) == len(entries)
    assert {item.caught for item in entries} - {""} <= set(ids_of_tests())
    assert sum(bool(item.caught) for item in entries) >= LEAST * len(entries)
    assert all(bool(item.caught) != bool(item.survives) for item in entries)
    assert tomllib.loads(MUTATIONS.read_text("utf-8")).keys() == {"mutation"}
