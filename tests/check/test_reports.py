"""The report of a check: its level, and its forms for people and continuous integration (R-CONF-1)."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import date
from pathlib import PurePath
from typing import Any

import pytest

from aqlgen.check.reports import FORMATS, as_data, as_text, bundle, format_of, missing_parts
from aqlgen.check.results import MUST, Category, Known, Outcome, Place, Report, Result
from tests.cases import each

HOSTILE = "list|`<img src=x>\x1b[31m\u202e"


def result(category: Category, outcome: Outcome, *, id: str = "XX-1", subject: str = "list_pets") -> Result:
    whole = Result(id, "What must hold & <more>", category, "R-REQ-1")
    if outcome is not Outcome.SKIP:
        whole.expect(outcome is Outcome.PASS, subject, "is not so", {"success": False})
    return whole


def report(*, called: int = 10, **outcomes: Outcome) -> Report:
    """Return a report in which every category passes but those that are named; `list_pets` is among what was called."""
    results = [result(category, outcomes.get(category.name, Outcome.PASS)) for category in Category]
    names = frozenset({"list_pets", *(f"read_{number}" for number in range(1, called))})
    return Report("petstore-adapter", "1.0.0", "1.0.0-draft", "0.1", tuple(results), called, called, 0.0, names)


def test_level_2_needs_all_to_pass_and_lets_what_has_nothing_to_look_at_be_skipped() -> None:
    assert report().level == 2
    assert report(CONSTRAINTS=Outcome.SKIP, WARNINGS=Outcome.SKIP).level == 2
    assert report(LEVEL_2=Outcome.SKIP).level == 1


@each("category", [category.name for category in Category if category not in MUST])
def test_a_failure_that_the_protocol_does_not_demand_leaves_level_1(category: str) -> None:
    failed = report(**{category: Outcome.FAIL})
    assert (failed.level, failed.is_sound) == (1, False), "the level is reached, and the check fails"
    assert report(called=100, **{category: Outcome.FAIL}).is_sound


@each("category", [category.name for category in MUST])
def test_level_1_needs_what_the_protocol_demands(category: str) -> None:
    failed, whole = report(**{category: Outcome.FAIL}), report()
    assert failed.level == 0
    assert "Level 0, from calls of" in as_text(failed)
    rest = tuple(each for each in whole.results if each.category is not Category[category])
    assert replace(whole, results=rest).level == 0, "its tests did not run"


@pytest.mark.parametrize("category", [category.name for category in MUST])
def test_a_category_that_an_api_has_no_case_of_does_not_apply_and_is_named(category: str) -> None:
    skipped = report(**{category: Outcome.SKIP})
    why = f"no case of {Category[category]} (XX-1)"
    assert (skipped.level, as_data(skipped)["missing"]) == (2, why)
    assert f"Level 2: {why}, from calls of" in as_text(skipped)
    assert report(**dict.fromkeys((each.name for each in MUST), Outcome.SKIP)).level == 0


def test_one_operation_of_a_hundred_is_an_exception_that_is_named_and_of_fewer_fails_the_level() -> None:
    failed = report(called=100, PARAMETERS=Outcome.FAIL, ROUND_TRIP=Outcome.FAIL)
    assert (failed.level, failed.exceptions) == (1, ("list_pets",))
    assert as_data(failed)["exceptions"] == ["list_pets"]
    assert "Level 1, without list_pets, from calls of 0 of 100 operations." in as_text(failed)
    assert report(called=99, PARAMETERS=Outcome.FAIL).level == 0


def test_what_is_no_operation_is_no_exception() -> None:
    whole = report(called=1000)
    broken = result(Category.PARAMETERS, Outcome.FAIL, subject="the connection")
    assert replace(whole, results=(*whole.results, broken)).level == 0


def test_each_ending_has_its_form_and_another_has_none() -> None:
    assert format_of(PurePath("a/REPORT.XML")) is FORMATS[".xml"]
    assert format_of(PurePath("report.html")) is None


def test_json_has_the_level_the_counts_and_the_problems() -> None:
    data = json.loads(FORMATS[".json"](report(SAFETY=Outcome.FAIL)))
    assert data["conformanceLevel"] == 1
    assert data["summary"]["failed"] == 1
    problems = [test["problems"] for category in data["categories"] for test in category["tests"] if "problems" in test]
    problem = {"subject": "list_pets", "message": "is not so", "cause": "adapter", "answer": {"success": False}}
    assert problems == [[problem]]


def test_the_live_api_is_reported_only_where_it_was_called() -> None:
    without = report()
    results = tuple(item for item in without.results if item.category is not Category.LIVE)
    without = Report("a", "1", "1", "0", results, 1, 1)
    assert Category.LIVE.value not in str(as_data(without))
    assert Category.LIVE.value in str(as_data(report()))


def test_junit_parses_and_counts_what_it_holds() -> None:
    tree = ET.fromstring(FORMATS[".xml"](report(SAFETY=Outcome.FAIL, WARNINGS=Outcome.SKIP)))
    assert tree.tag == "testsuites"
    cases = tree.findall("testsuite/testcase")
    assert int(tree.attrib["tests"]) == len(cases) == len(Category)
    assert int(tree.attrib["failures"]) == len(tree.findall("testsuite/testcase/failure")) == 1
    assert int(tree.attrib["skipped"]) == len(tree.findall("testsuite/testcase/skipped")) == 1
    assert "list_pets: is not so" in (tree.findtext("testsuite/testcase/failure") or "")


def test_a_finding_names_who_must_change_something_and_where() -> None:
    places = {"list_pets": Place("openapi/openapi.yaml", 12, "GET /pets")}
    whole = replace(report(SAFETY=Outcome.FAIL), places=places)
    assert "adapter: openapi/openapi.yaml:12, or 'GET /pets' in overrides.yaml" in as_text(whole)
    tests = (test for category in as_data(whole)["categories"] for test in category["tests"])
    ((problem,),) = (test["problems"] for test in tests if "problems" in test)
    assert (problem["place"]["file"], problem["place"]["line"]) == ("openapi/openapi.yaml", 12)
    assert problem["cause"] == "adapter"


def test_a_known_finding_does_not_count_and_is_named_with_its_reason() -> None:
    known = Known("XX-1", "list_pets", "asked upstream", date(2999, 1, 31))
    broken = Result("XX-1", "title", Category.SAFETY, "R-REQ-1", known=frozenset({"list_pets"}))
    broken.expect(False, "list_pets", "is not so")
    whole = report()
    others = [item for item in whole.results if item.category is not Category.SAFETY]
    whole = replace(whole, results=(*others, broken), known=(known,))
    assert (whole.level, broken.outcome) == (2, Outcome.PASS)
    assert "known until 2999-01-31: XX-1 list_pets: asked upstream" in as_text(whole)
    assert as_data(whole)["known"][0]["until"] == "2999-01-31"
    broken.expect(False, "get_pet", "is not so")
    assert whole.level == 1


def test_hostile_names_control_nothing() -> None:
    failed = Result("XX-1", "title", Category.ERRORS, "R-REQ-1")
    failed.expect(False, HOSTILE, HOSTILE, HOSTILE)
    whole = Report("petstore-adapter", "1", "1", "0", (failed,), 1, 1)
    markdown = FORMATS[".md"](whole)
    assert markdown.count("`") == 6, "nothing leaves the block of text"
    for text in (as_text(whole), FORMATS[".xml"](whole), markdown):
        assert "\x1b" not in text
        assert "\u202e" not in text
    ET.fromstring(FORMATS[".xml"](whole))


def test_evidence_without_what_every_adapter_has_is_told_by_its_parts() -> None:
    assert missing_parts(bundle(report(), {})) == [
        "missing_required", "unknown_parameter", "error_tests", "round_trip_tests", "operation_details",
        "endpoint_modes", "semantic_tests",
    ]  # fmt: skip
    entry = [{"name": "introspect"}]
    names = ("missing_required", "unknown_parameter", "error_tests", "round_trip_tests", "operation_details",
             "semantic_tests")  # fmt: skip
    kept: dict[str, Any] = dict.fromkeys(names, entry)
    kept["operations_list"] = {"data": {"_protocol": {"capabilities": {"field_selection": True, "batch": False}}}}
    whole = report(SAFETY=Outcome.FAIL)
    for mode, single in zip(("semantic", "single"), whole.results[:2], strict=True):
        single.setting = f"stdio, {mode}, 2026-07-28"
    evidence = bundle(whole, kept)
    assert missing_parts(evidence) == []
    assert evidence["endpoint_modes"] == ["crude", "single"]
    assert evidence["capabilities"] == {"field_selection": True, "batch_operations": False}
    assert (evidence["expected_level"], evidence["expected_exit_code"]) == (1, 0)
    kept["accepted_parameters"] = [{"name": "update_bike", "accepted": ["input"]}]
    kept["operation_details"] = [
        {"name": "update_bike", "semantic_category": "UPDATE", "returns": {"kind": "object"},
         "parameters": [{"name": "input"}, {"name": "size", "maximum": 9}]},
    ]  # fmt: skip
    evidence = bundle(whole, kept)
    assert evidence["accepted_parameters"] == {"update_bike": ["input"]}
    assert missing_parts(evidence) == ["constraint_tests", "update_preservation_tests"]
