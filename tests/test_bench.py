"""Every measurement can be run: it is listed, it imports, and it explains its arguments."""

from __future__ import annotations

import importlib
import re

import pytest

from aqlgen.decide import category
from aqlgen.decide.category import rules as category_rules
from bench.__main__ import NAMES, main, source, summary
from bench.servers import SERVERS
from bench.servers.model import filled, load, unmet
from bench.support.rules import leave_out, rules

FOLDER = source("generate").parent
INTERNAL = ("__main__", "support.bare", "support.preloaded")
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
        ("wire", "Did you mean wire.record or wire.mutated?"),
        ("zzz", "`python -m bench` lists all of them."),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_ones(
    name: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name]) == 3
    assert capsys.readouterr().err == f"There is no measurement {name!r}. {hint}\n"


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_has_calls_enough_and_each_write_is_looked_at_past_the_adapter(name: str) -> None:
    server = load(name)
    writes = [call for call in server.calls if call.call.split()[0] in ("PUT", "PATCH", "DELETE") and not call.error]
    assert len(server.calls) >= 25
    assert [call.call for call in writes if not call.look] == []


@pytest.mark.parametrize(
    ("expected", "actual", "difference"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, ""),
        ({"a": 1}, {"b": 2}, "data.a: missing"),
        ({"a": "<absent>"}, {"a": None}, "data.a: must not be there"),
        ([1], [1, 2], "data: 1 items expected: [1, 2]"),
        ({"<some>": [{"a": 2}]}, [{"a": 1}, {"a": 2}], ""),
        ({"<some>": [{"a": 3}]}, [{"a": 1}], "data: no item is like {'a': 3}: [{'a': 1}]"),
        ({"<like>": "^x"}, "xyz", ""),
        (["<any>", 2], [1, 3], "data[1]: 2 expected: 3"),
    ],
)
def test_what_a_server_holds_is_compared_field_by_field(expected: object, actual: object, difference: str) -> None:
    assert unmet(expected, actual, "data") == difference


def test_a_kept_value_is_filled_in_with_its_type() -> None:
    names = {"id": 7, "AT": "/items/$id"}
    assert filled({"item": "$id", "at": "$AT/tags"}, names) == {"item": 7, "at": "/items/7/tags"}


def test_a_rule_that_is_taken_away_decides_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "category.rules:delete-method" in set(rules())
    for module in (category, category_rules):
        monkeypatch.setattr(module, "RULES", module.RULES)
    leave_out("category.rules:delete-method")
    assert "delete-method" not in [rule.name for rule in category_rules.RULES]
    with pytest.raises(LookupError, match="there is no rule"):
        leave_out("category.rules:delete-method")
