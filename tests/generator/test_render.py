"""The renderer's own way gives the same bytes as copier."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from copier import run_copy

from aqlgen.render.template import render_template
from aqlgen.resources import BYTECODE, own_templates
from tests.template.plain_copier import quicken

pytestmark = pytest.mark.long

ANSWERS = {
    "name": "shop",
    "package": "shop_adapter",
    "env_prefix": "SHOP",
    "title": "Shop",
    "description": "Sells things.",
    "version": "0.1.0",
    "license": "",
    "base_url": "https://shop.example",
}


LONGEST = "s" * 31 + "-" + "p" * 32


@pytest.mark.parametrize(("name", "runtime"), [("s", "sealed"), (LONGEST, ""), ("s", "0.1.0+r0123456789")])
def test_the_template_renders_to_what_copier_makes_of_the_whole_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, runtime: str
) -> None:
    """The template is formatted as ruff formats, for names of any length: plain copier gives the same bytes."""
    answers = ANSWERS | {"name": name, "package": f"{name.replace('-', '_')}_adapter", "runtime": runtime}
    template = tmp_path / "template"  # without the history beside it, which copier would take
    shutil.copytree(own_templates() / "templates", template / "templates", ignore=shutil.ignore_patterns(*BYTECODE))
    shutil.copy(own_templates() / "copier.yml", template)
    quicken(monkeypatch.setattr)
    run_copy(str(template), tmp_path / "shop", data=answers, defaults=True, quiet=True)
    ours = render_template(answers)
    theirs = {
        path.relative_to(tmp_path / "shop").as_posix(): path.read_bytes()
        for path in (tmp_path / "shop").rglob("*")
        if path.is_file()
    }
    assert ours == theirs
    subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--check", "--no-cache", "."], cwd=tmp_path / "shop", check=True
    )
