"""The report in each form: text for a terminal, JSON and Markdown for people and tools, and JUnit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from aqlgen.check.results import CATEGORIES, MUST, Category, Outcome, Report, Result
from aqlgen.runtime.text import visible

_MOST = 5
_LONGEST = 300


def as_data(report: Report) -> dict[str, Any]:
    """Return the report as the conformance document lays it out (6.1), with the problems of each test."""
    known = [{**item._asdict(), "until": str(item.until)} for item in report.excused]
    return {
        "implementation": report.adapter,
        "version": report.version,
        "specVersion": report.spec_version,
        "generator": f"aqlgen {report.aqlgen}",
        "conformanceLevel": report.level,
        **({"missing": report.missing} if report.missing else {}),
        **({"exceptions": list(report.exceptions)} if report.exceptions else {}),
        **({"known": known} if known else {}),
        "summary": dict(report.counts),
        "operations": {"total": report.operations, "called": report.sampled, "succeeded": len(report.succeeded)},
        "categories": [
            {
                "name": category.value,
                "required": category in MUST,
                "result": report.outcome_of(category).value,
                "tests": [_of_test(report, result) for result in report.of(category)],
            }
            for category in _shown(report)
        ],
    }


def _of_test(report: Report, result: Result) -> dict[str, Any]:
    """Return a test with its problems, each with who has to change something, and where the operation stands."""
    data = {"id": result.id, "name": result.title, "requirement": result.requirement,
            "result": result.outcome.value, "cases": result.cases}  # fmt: skip
    data |= {"setting": result.setting} if result.setting else {}
    problems = [
        {
            "subject": problem.subject,
            "message": problem.text,
            "cause": problem.cause.value,
            **({"place": report.places[problem.subject]._asdict()} if problem.subject in report.places else {}),
            "answer": problem.answer,
        }
        for problem in result.problems
    ]
    return data | ({"problems": problems, "problem_count": result.count} if problems else {})


def _shown(report: Report) -> list[Category]:
    """Return the categories of a report: all but that of the live API, which is there if it was called."""
    return [category for category in CATEGORIES if category is not Category.LIVE or report.of(category)]


def as_text(report: Report, *, show_all: bool = False) -> str:
    """Return the report for a terminal: each category in a line, and what is wrong in it."""
    lines = [f"{visible(report.adapter)} {visible(report.version)}, MCP-AQL {report.spec_version}"]
    for category in _shown(report):
        results = report.of(category)
        if results:
            need, cases = "must" if category in MUST else "should", sum(result.cases for result in results)
            lines.append(f"  {report.outcome_of(category).value:<4}  {category.value} ({need}): {cases:,} cases")
        for result in results:
            if show_all or result.count:
                lines += _lines(report, result)
    for known in report.excused:
        lines.append(f"  known until {known.until}: {known.rule} {visible(known.operation)}: {visible(known.reason)}")
    counts = ", ".join(f"{report.counts[name]} {name}" for name in ("passed", "failed", "skipped"))
    return "\n".join([*lines, f"{_level(report)}. {counts}; {report.seconds:.0f} s."])


def _level(report: Report) -> str:
    """Return the level, what it leaves out, and how many operations it rests on."""
    without = f", without {', '.join(map(visible, report.exceptions))}" if report.exceptions else ""
    rests = f", from calls of {len(report.succeeded)} of {report.operations} operations"
    known = f", with {len(report.excused)} known findings" if report.excused else ""
    missing = f": {report.missing}" if report.missing else ""
    return f"Level {report.level}{missing}{without}{rests}{known}"


def _lines(report: Report, result: Result) -> list[str]:
    setting = f" [{result.setting}]" if result.setting else ""
    lines = [f"    {result.outcome.value} {result.id} {result.title}{setting}"]
    for problem in result.problems[:_MOST]:
        lines.append(f"      {visible(problem.subject)}: {visible(problem.text[:_LONGEST])}")
        if problem.answer is not None:
            text = json.dumps(problem.answer, ensure_ascii=False, default=str)
            lines.append(f"        it answered {visible(text[:_LONGEST])}{'…' * (len(text) > _LONGEST)}")
        if problem.subject in report.places:
            lines.append(f"        {problem.cause.value}: {visible(str(report.places[problem.subject]))}")
    return lines + [f"      and {result.count - _MOST:,} more"] * (result.count > _MOST)


def _as_json(report: Report) -> str:
    return json.dumps(as_data(report), indent=2, ensure_ascii=False, default=str) + "\n"


def _as_markdown(report: Report) -> str:
    text = as_text(report, show_all=True).replace("`", "'")
    heading = f"# Conformance of {report.adapter} {report.version}, level {report.level}"
    return f"{heading}\n\nChecked by aqlgen {report.aqlgen}.\n\n```text\n{text}\n```\n"


def _as_junit(report: Report) -> str:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name={quoteattr(report.adapter)} tests="{report.counts["total"]}" '
        f'failures="{report.counts["failed"]}" skipped="{report.counts["skipped"]}" time="{report.seconds:.3f}">',
    ]
    for category in _shown(report):
        results, name = report.of(category), quoteattr(category.value)
        failed = sum(result.outcome is Outcome.FAIL for result in results)
        lines.append(f'<testsuite name={name} tests="{len(results)}" failures="{failed}">')
        for result in results:
            title = quoteattr(f"{result.id} {result.title}" + (f" [{result.setting}]" if result.setting else ""))
            text = escape("\n".join(f"{visible(item.subject)}: {visible(item.text)}" for item in result.problems))
            inner = {
                Outcome.FAIL: f'<failure message="{result.count} of {result.cases} cases">{text}</failure>',
                Outcome.SKIP: "<skipped/>",
            }.get(result.outcome, "")
            lines.append(f"<testcase classname={name} name={title}>{inner}</testcase>")
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


FORMATS: Mapping[str, Callable[[Report], str]] = {".json": _as_json, ".md": _as_markdown, ".xml": _as_junit}
"""The forms of a report by the ending of its file: JSON, Markdown, JUnit."""


def format_of(file: PurePath) -> Callable[[Report], str] | None:
    """Return the function that writes a report into a file of this name; None for an ending of no form."""
    return FORMATS.get(file.suffix.lower())


# The evidence bundle, in the shape of the protocol's own examples, every field of it from a live call (R-CONF-1)

_PARAMETER_TESTS = ("missing_required", "unknown_parameter", "optional_defaults")
_LISTS = ("error_tests", "round_trip_tests", "update_preservation_tests", "constraint_tests", "semantic_tests")
_MODES = {"semantic": "crude"}
EMPTY = (
    *_PARAMETER_TESTS[:2], "error_tests", "round_trip_tests", "operation_details", "endpoint_modes", "semantic_tests",
)  # fmt: skip
"""The parts that an adapter of any API has; without one of them a bundle is no evidence."""
_BOUNDS = {"enum", "minimum", "maximum", "maxLength"}


def bundle(report: Report, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bundle of what tests have kept."""
    listed = (kept.get("operations_list") or {}).get("data") or {}
    capabilities = (listed.get("_protocol") or {}).get("capabilities") or {}
    details = [item for item in kept.get("operation_details", ()) if item]
    accepted = {item["name"]: item["accepted"] for item in kept.get("accepted_parameters", ())}
    return {
        "implementation": report.adapter,
        "version": report.version,
        "spec_version": report.spec_version,
        "expected_level": report.level,
        "expected_exit_code": 0 if report.level else 1,
        "endpoint_modes": _modes(report),
        "capabilities": {
            "field_selection": capabilities.get("field_selection"),
            "batch_operations": capabilities.get("batch"),
        },
        "introspection": {
            "operations_list": kept.get("operations_list"),
            "types_list": kept.get("types_list"),
            "operation_details": details,
        },
        "accepted_parameters": accepted,
        "parameter_tests": {name: kept.get(name, []) for name in _PARAMETER_TESTS},
        **{name: kept.get(name, []) for name in _LISTS},
        "batch_example": kept.get("batch_example"),
    }


def _modes(report: Report) -> list[str]:
    """Return the modes of tools in which the adapter was connected to and listed them, by the protocol's names."""
    settings = [result.setting.split(", ") for result in report.results if result.setting and result.cases]
    return sorted({_MODES.get(setting[1], setting[1]) for setting in settings if len(setting) > 1})


def missing_parts(evidence: Mapping[str, Any]) -> list[str]:
    """Return the parts that hold nothing though every adapter has them, or one with such operations."""
    parts = {**evidence, **evidence["parameter_tests"], **evidence["introspection"]}
    details = parts["operation_details"]
    bounded = any(not _BOUNDS.isdisjoint(entry) for item in details for entry in item.get("parameters", ()))
    updated = any(
        item.get("semantic_category") == "UPDATE" and item.get("returns", {}).get("kind") == "object"
        for item in details
    )
    wanted = {"constraint_tests": bounded, "update_preservation_tests": updated}
    return [name for name in (*EMPTY, *(name for name in wanted if wanted[name])) if not parts.get(name)]
