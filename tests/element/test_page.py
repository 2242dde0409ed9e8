"""The page about adapter elements is true: its example generates, and its findings are those that are printed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.element.reading import written
from tests.generator.commands import run

PAGE = (Path(__file__).parents[2] / "docs" / "adapter-element.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)[0]
PRINTED = [
    block.split("\n", 1)[1] for block in re.findall(r"```console\n(\$ aqlgen from-schema .*?)```", PAGE, re.DOTALL)
]


def test_the_example_generates_what_the_page_shows(tmp_path: Path) -> None:
    path = written(tmp_path, EXAMPLE, "books-adapter.md")
    shown = run("from-schema", path, "--dry-run").out.replace("Would generate", "Generated")
    assert re.sub(r"\d+ files", "… files", shown) == re.sub(r"\d+ files", "… files", PRINTED[0])


def test_the_finding_is_printed_as_on_the_page(tmp_path: Path) -> None:
    path = written(tmp_path, EXAMPLE.replace(" page: { type: integer", " page: { type: int"), "books-adapter.md")
    assert run("from-schema", path).err.replace(f"{tmp_path}/", "") == PRINTED[1]
