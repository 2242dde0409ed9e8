"""The table of all tests in docs/conformance.md. `python -m aqlgen.conformance.texts` writes it anew in a clone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aqlgen.conformance.checks import TESTS
from aqlgen.conformance.results import CATEGORIES, MUST, Category
from aqlgen.conformance.run import Test

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
_BEGIN, _END = "<!-- tests: written by python -m aqlgen.conformance.texts -->", "<!-- end of tests -->"
_SETTINGS = {
    "every": "in each of the 8 connections",
    "whole": "on every operation",
    "alone": "in processes of its own",
    "live": "with `--base-url`",
}


def page(text: str) -> str:
    """Return the text of the page with the table of the tests as they are."""
    head, _, rest = text.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    return "\n".join((f"{head}{_BEGIN}", "", *_rows(), f"{_END}{tail}"))


def _rows() -> Iterator[str]:
    for category in CATEGORIES:
        tests = sorted((test for test in TESTS if test.category is category), key=_number)
        yield from (f"### {category.value}{_word(category)}", "")
        yield from ("| id | what must hold | where | requirement |", "|---|---|---|---|")
        for test in tests:
            title = test.title if test.must else f"{test.title} (a warning, no failure)"
            yield f"| {test.id} | {title} | {_SETTINGS[test.where]} | {test.requirement} |"
        yield ""


def _number(test: Test) -> tuple[str, int]:
    prefix, _, number = test.id.partition("-")
    return prefix, int(number)


def _word(category: Category) -> str:
    return ", needed for level 1" if category in MUST else ""


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
