"""Every measurement can be run: it is listed, it imports, and it explains its arguments."""

from __future__ import annotations

import importlib
import re

import pytest

from bench.__main__ import NAMES, main, source, summary

FOLDER = source("generate").parent
INTERNAL = ("__main__", "wire.calling", "wire.peer", "support.bare", "support.preloaded")
"""Modules with a `main` that run in processes of their own."""


@pytest.mark.parametrize("name", NAMES)
def test_every_measurement_explains_itself_without_network_or_corpus(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AQLGEN_CORPUS", raising=False)
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert summary(name) in capsys.readouterr().out
    assert callable(importlib.import_module(f"bench.{name}").main)


def test_every_module_with_a_main_is_listed() -> None:
    paths = [path for path in FOLDER.rglob("*.py") if re.search(r"^def main\(", path.read_text("utf-8"), re.MULTILINE)]
    modules = {".".join(path.relative_to(FOLDER).with_suffix("").parts).removesuffix(".__init__") for path in paths}
    assert modules - set(INTERNAL) == set(NAMES)


def test_the_listing_has_a_sentence_for_every_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listing = capsys.readouterr().out
    assert all(f"{name} " in listing and summary(name) in listing for name in NAMES)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gen", "Did you mean generate?"),
        ("overhaed", "Did you mean overhead?"),
        ("page", "Did you mean page.check or page.estimate?"),
        ("zzz", "`python -m bench` lists all of them."),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_ones(
    name: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name]) == 3
    assert capsys.readouterr().err == f"There is no measurement {name!r}. {hint}\n"
