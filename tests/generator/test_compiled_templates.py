"""The compiled templates that are kept beside Python's own bytecode: they save time and change no result."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Environment

from aqlgen.render import template
from aqlgen.render.template import render_template
from tests.generator.test_render import ANSWERS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let compiled templates be kept in a folder of the test's own."""
    kept = tmp_path / "__pycache__"
    kept.mkdir()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(template, "cache_from_source", lambda _path: str(kept / "template.pyc"))
    forget()
    yield kept
    forget()


def forget() -> None:
    """Start as a new process does."""
    template._environment.cache_clear()
    template._compiled.cache_clear()


def refuse(*_arguments: object, **_options: object) -> None:
    raise AssertionError("a template was compiled again")


def test_templates_are_compiled_once_for_all_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = render_template(ANSWERS)
    kept = sorted(folder.iterdir())
    forget()
    monkeypatch.setattr(Environment, "compile", refuse)
    assert render_template(ANSWERS | {"name": "store", "package": "store_adapter"}).keys() != first.keys()
    assert render_template(ANSWERS) == first
    assert sorted(folder.iterdir()) == kept


def test_what_is_kept_of_another_template_or_is_damaged_is_not_used(folder: Path) -> None:
    first = render_template(ANSWERS)
    first_kept, *others = sorted(folder.iterdir())
    for file in others:
        file.write_bytes(first_kept.read_bytes())
    first_kept.write_bytes(b"no bytecode")
    forget()
    assert render_template(ANSWERS) == first


def test_nothing_is_kept_where_python_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert render_template(ANSWERS)
    assert not list(folder.iterdir())
    folder.rmdir()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    forget()
    assert render_template(ANSWERS)
    assert not folder.exists()
