"""The report in each form: text for a terminal, JSON and Markdown for people and tools, JUnit, SARIF, and a badge."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from aqlgen.check.results import CATEGORIES, MUST, Category, Outcome, Report, Result
from aqlgen.runtime.text import visible

__all__ = ["EMPTY", "FORMATS", "as_data", "as_text", "bundle", "format_of", "missing_parts"]

_MOST = 5
_LONGEST = 300


def as_data(report: Report) -> dict[str, Any]:
    """Return the report as the conformance document lays it out (6.1), with the problems of each test."""
    return {
        "implementation": report.adapter,
        "version": report.version,
        "specVersion": report.spec_version,
        "generator": f"aqlgen {report.aqlgen}",
        "conformanceLevel": report.level,
        **({"exceptions": list(report.exceptions)} if report.exceptions else {}),
        "summary": dict(report.counts),
        "operations": {"total": report.operations, "called": report.sampled},
        "categories": [
            {
                "name": category.value,
                "required": category in MUST,
                "result": report.outcome_of(category).value,
                "tests": [_test(result) for result in report.of(category)],
            }
            for category in _shown(report)
        ],
    }


def _shown(report: Report) -> list[Category]:
    """Return the categories of a report: all but that of the live API, which is there if it was called."""
    return [category for category in CATEGORIES if category is not Category.LIVE or report.of(category)]


def _test(result: Result) -> dict[str, Any]:
    about: dict[str, Any] = {
        "id": result.id,
        "name": result.title,
        "requirement": result.requirement,
        "result": result.outcome.value,
        "cases": result.cases,
    }
    if result.setting:
        about["setting"] = result.setting
    if result.count:
        about["problems"] = [
            {"subject": problem.subject, "message": problem.text, "answer": problem.answer}
            for problem in result.problems
        ]
        about["problem_count"] = result.count
    return about


def as_text(report: Report, *, show_all: bool = False) -> str:
    """Return the report for a terminal: each category in a line, and what is wrong in it."""
    lines = [f"{visible(report.adapter)} {visible(report.version)}, MCP-AQL {report.spec_version}"]
    for category in _shown(report):
        results = report.of(category)
        if not results:
            continue
        cases = sum(result.cases for result in results)
        word = "must" if category in MUST else "should"
        lines.append(f"  {report.outcome_of(category).value:<4}  {category.value} ({word}): {cases:,} cases")
        for result in results:
            if show_all or result.outcome in (Outcome.FAIL, Outcome.WARN):
                lines += _lines(result)
    counts = report.counts
    summary = (
        f"{counts['passed']} passed, {counts['warned']} warned, {counts['failed']} failed, {counts['skipped']} skipped"
    )
    called = f"{report.sampled} of {report.operations} operations" if report.sampled < report.operations else ""
    called = called or f"{report.operations} operations"
    level = f"Level {report.level}{_exceptions(report)}"
    return "\n".join([*lines, f"{level}. {summary}; {called}, {report.seconds:.0f} s."])


def _exceptions(report: Report) -> str:
    """Return the operations that the level leaves out, as the end of a clause."""
    return f", without {', '.join(map(visible, report.exceptions))}" if report.exceptions else ""


def _lines(result: Result) -> list[str]:
    setting = f" [{result.setting}]" if result.setting else ""
    lines = [f"    {result.outcome.value} {result.id} {result.title}{setting}"]
    for problem in result.problems[:_MOST]:
        lines.append(f"      {visible(problem.subject)}: {visible(problem.text[:_LONGEST])}")
        if problem.answer is not None:
            lines.append(f"        it answered {visible(_short(problem.answer))}")
    if result.count > _MOST:
        lines.append(f"      and {result.count - _MOST:,} more")
    return lines


def _short(answer: Any) -> str:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _as_json(report: Report) -> str:
    return json.dumps(as_data(report), indent=2, ensure_ascii=False, default=str) + "\n"


def _as_markdown(report: Report) -> str:
    lines = [
        f"# Conformance of {report.adapter} {report.version}",
        "",
        f"MCP-AQL {report.spec_version}, **level {report.level}**{_exceptions(report)}, "
        f"checked by aqlgen {report.aqlgen}: "
        f"{report.counts['passed']} tests passed, {report.counts['warned']} warned, {report.counts['failed']} failed, "
        f"{report.counts['skipped']} skipped; {report.sampled} of {report.operations} operations called.",
        "",
        "| Category | | Result | Cases |",
        "|---|---|---|---|",
    ]
    for category in _shown(report):
        cases = sum(result.cases for result in report.of(category))
        word = "must" if category in MUST else "should"
        lines.append(f"| {category.value} | {word} | {report.outcome_of(category).value} | {cases:,} |")
    failing = [result for result in report.results if result.count]
    for result in failing:
        lines += ["", f"## {result.outcome.value} {result.id}: {result.title}", ""]
        lines += [f"- `{_cell(problem.subject)}`: {_cell(problem.text)}" for problem in result.problems]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return visible(text[:_LONGEST]).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")


def _as_junit(report: Report) -> str:
    counts = report.counts
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name={quoteattr(report.adapter)} tests="{counts["total"]}" failures="{counts["failed"]}" '
        f'skipped="{counts["skipped"]}" time="{report.seconds:.3f}">',
    ]
    for category in _shown(report):
        results = report.of(category)
        failed = sum(result.outcome is Outcome.FAIL for result in results)
        lines.append(f'<testsuite name={quoteattr(category.value)} tests="{len(results)}" failures="{failed}">')
        for result in results:
            name = f"{result.id} {result.title}" + (f" [{result.setting}]" if result.setting else "")
            opened = f"<testcase classname={quoteattr(category.value)} name={quoteattr(name)}"
            text = "\n".join(f"{visible(item.subject)}: {visible(item.text)}" for item in result.problems)
            if result.outcome is Outcome.FAIL:
                message = quoteattr(f"{result.count} of {result.cases} cases")
                lines.append(f"{opened}><failure message={message}>{escape(text)}</failure></testcase>")
            elif result.outcome is Outcome.SKIP:
                lines.append(f"{opened}><skipped/></testcase>")
            elif result.outcome is Outcome.WARN:
                lines.append(f"{opened}><system-out>{escape(text)}</system-out></testcase>")
            else:
                lines.append(f"{opened}/>")
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _as_sarif(report: Report) -> str:
    levels = {Outcome.FAIL: "error", Outcome.WARN: "warning"}
    rules = {result.id: result for result in report.results}
    problems = [result for result in report.results if result.outcome in levels]
    run = {
        "tool": {
            "driver": {
                "name": "aqlgen check",
                "version": report.aqlgen,
                "rules": [
                    {
                        "id": rule,
                        "shortDescription": {"text": result.title},
                        "properties": {"category": result.category},
                    }
                    for rule, result in rules.items()
                ],
            }
        },
        "results": [
            {
                "ruleId": result.id,
                "level": levels[result.outcome],
                "message": {"text": f"{problem.subject}: {problem.text}"},
                "locations": [
                    {
                        "physicalLocation": {"artifactLocation": {"uri": "OPERATIONS.md"}},
                        "logicalLocations": [{"name": problem.subject, "kind": "function"}],
                    }
                ],
            }
            for result in problems
            for problem in result.problems
        ],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _as_badge(report: Report) -> str:
    color = {0: "#b33", 1: "#3a3", 2: "#27c"}[report.level]
    text = f"MCP-AQL: level {report.level}"
    left, right = 66, 54
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{text}"><title>{text}</title><rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{color}"/><g fill="#fff" text-anchor="middle" '
        f'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="{left / 2}" y="14">MCP-AQL</text>'
        f'<text x="{left + right / 2}" y="14">level {report.level}</text></g></svg>\n'
    )


FORMATS: Mapping[str, Callable[[Report], str]] = {
    ".json": _as_json,
    ".md": _as_markdown,
    ".xml": _as_junit,
    ".sarif": _as_sarif,
    ".svg": _as_badge,
}
"""The forms of a report by the ending of its file: JSON, Markdown, JUnit, SARIF, badge."""


def format_of(file: PurePath) -> Callable[[Report], str] | None:
    """Return what writes a report into a file of this name; None for an ending that stands for no form."""
    return FORMATS.get(file.suffix.lower())


# The evidence bundle, in the shape of the protocol's own examples, every field of it from a live call (R-CONF-1)

_PARAMETER_TESTS = ("missing_required", "unknown_parameter", "optional_defaults")
_LISTS = ("error_tests", "round_trip_tests", "update_preservation_tests", "constraint_tests")
_MODES = {"semantic": "crude"}
EMPTY = (*_PARAMETER_TESTS[:2], "error_tests", "round_trip_tests", "operation_details", "endpoint_modes")
"""The parts that an adapter of any API has; without one of them a bundle is no evidence."""


def bundle(report: Report, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bundle of what tests have kept."""
    listed = (kept.get("operations_list") or {}).get("data") or {}
    capabilities = (listed.get("_protocol") or {}).get("capabilities") or {}
    details = [item for item in kept.get("operation_details", ()) if item]
    accepted = {item["name"]: [entry["name"] for entry in item.get("parameters", ())] for item in details}
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
        "semantic_tests": [],
    }


def _modes(report: Report) -> list[str]:
    """Return the modes of tools in which the adapter was connected to and listed them, by the protocol's names."""
    settings = [result.setting.split(", ") for result in report.results if result.setting and result.cases]
    modes = {_MODES.get(setting[1], setting[1]) for setting in settings if len(setting) > 1}
    return sorted(modes)


def missing_parts(evidence: Mapping[str, Any]) -> list[str]:
    """Return the parts that hold nothing though every adapter has them."""
    parts = {**evidence, **evidence["parameter_tests"], **evidence["introspection"]}
    return [name for name in EMPTY if not parts.get(name)]
