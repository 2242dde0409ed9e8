from __future__ import annotations

from pathlib import Path

import pytest
from operations import decided, operation

from aqlgen.decide.decision import Category, Danger, Evidence
from aqlgen.decide.overrides import Overrides, parse
from aqlgen.decide.overrides import load as load_overrides
from aqlgen.diagnostics.errors import FileError, OptionError
from tests.cases import each


def refusal(text: str) -> list[tuple[int, int, str, str]]:
    with pytest.raises(OptionError) as caught:
        decided(operation("GET /pets"), operation("DELETE /pets/{petId}"), overrides=parse(text, "overrides.yaml"))
    return [
        (diagnostic.line, diagnostic.column, diagnostic.message, diagnostic.help)
        for diagnostic in caught.value.diagnostics
    ]


def test_what_the_user_decides_has_the_last_word() -> None:
    """R-NAME-4"""
    text = """
    DELETE /pets/{petId}:
      name: retire_pet
      category: execute
      danger: dangerous
      description: The pet leaves the shop.
    """
    (decision,) = decided(operation("DELETE /pets/{petId}"), overrides=parse(text))
    assert (decision.name, decision.category, decision.danger) == ("retire_pet", Category.EXECUTE, Danger.DANGEROUS)
    assert (decision.verb, decision.resource, decision.description) == ("retire", "pet", "The pet leaves the shop.")
    reasons = (decision.name_reason, decision.category_reason, decision.danger_reason)
    assert {reason.evidence for reason in reasons} == {Evidence.OVERRIDE}
    assert not decision.review_reasons


def test_a_hidden_operation_is_not_decided_about() -> None:
    overrides = parse("GET /pets: {hidden: true}")
    assert [
        decision.name for decision in decided(operation("GET /pets"), operation("POST /pets"), overrides=overrides)
    ] == ["create_pet"]


def test_a_name_given_to_one_operation_is_free_for_no_other() -> None:
    overrides = parse("POST /pets: {name: list_pets}")
    names = [
        decision.name for decision in decided(operation("GET /pets"), operation("POST /pets"), overrides=overrides)
    ]
    assert names[1] == "list_pets"
    assert names[0] != "list_pets"


@each("text", ["", "\n\n", "# nothing yet\n", "---\n", "~"])
def test_a_file_that_says_nothing_overrides_nothing(text: str) -> None:
    assert parse(text).entries == {}
    assert load_overrides(None) == Overrides()


def test_an_unknown_operation_is_reported_with_its_place_and_the_nearest_there_is() -> None:
    assert refusal("# mine\nGET /pet:\n  name: my_pets\n") == [
        (2, 1, "there is no operation `GET /pet` in the document", "Did you mean `GET /pets`?")
    ]


def test_an_unknown_field_is_reported_with_its_place_and_the_nearest_there_is() -> None:
    assert refusal("GET /pets:\n  nmae: my_pets\n") == [(2, 3, "an override has no `nmae`", "Did you mean `name`?")]


def test_all_findings_are_reported_at_once_in_the_order_of_the_file() -> None:
    findings = refusal(
        "GET /pets:\n  category: REED\n  danger: mortal\nDELETE /pets/{petId}:\n  hidden: perhaps\n  name: Retire-Pet\n"
    )
    assert [(line, column) for line, column, _, _ in findings] == [(2, 13), (3, 11), (5, 11), (6, 9)]
    assert findings[0][2:] == ("`REED` is no category", "Did you mean `READ`?")
    assert findings[3][3] == "Did you mean `retire_pet`?"


@each(
    ("text", "message"),
    [
        ("GET /pets: {name: introspect}", "`introspect` is reserved by the protocol"),
        ("GET /pets: {name: x}\nDELETE /pets/{petId}: {name: x}", "the name `x` is taken by GET /pets"),
        ("GET /pets: {name: a}\nGET /pets: {name: b}", "`GET /pets` is here twice"),
        ("GET /pets: {name: class}", "`class` cannot be a name"),
        ("pets: {name: b}", "`pets` is not the key of an operation"),
        ("- GET /pets", "the overrides must be a mapping"),
        ("GET /pets: yes", "an override must be a mapping"),
        ("GET /pets: {name: [a]}", "`name` must be text"),
        ("? [a, b]\n: c", "a key must be text"),
        ("GET /pets: {name: 'a", "not valid YAML"),
        ("GET /pets: *gone", "not valid YAML"),
        ("a\x00b: 1", "not valid YAML"),
    ],
)
def test_what_cannot_be_used_is_refused(text: str, message: str) -> None:
    assert refusal(text)[0][2].startswith(message)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no file"):
        load_overrides(tmp_path / "none.yaml")
    with pytest.raises(FileError, match="is a folder"):
        load_overrides(tmp_path)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"GET /p\xe9ts: {}")
    with pytest.raises(OptionError, match="not UTF-8"):
        load_overrides(latin)
