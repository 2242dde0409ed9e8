from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from operations import answer, decided, operation
from test_effects import reading, sending

from aqlgen.decide.decision import Asked, Category, Danger, Decision, Effect, EffectEvidence, Evidence
from aqlgen.decide.overrides import Overrides, parse
from aqlgen.decide.overrides import load as load_overrides
from aqlgen.decide.overrides.selectors import Selector, parse_selector
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.diagnostics.plain import nearest
from aqlgen.ir import Operation
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


@each(
    ("key", "name"), [("DELETE /pets", "delete_all_pets"), ("POST /pets/wipe", "tidy_pets"), ("PUT /pets", "add_pets")]
)
def test_a_name_of_the_owners_changes_no_danger(key: str, name: str) -> None:
    renamed, plain = (decided(operation(key), overrides=parse(text))[0] for text in (f"{key}: {{name: {name}}}", ""))
    assert (renamed.name, renamed.danger, renamed.asked) == (name, plain.danger, plain.asked)


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
    for key in ("PUT /pets/{petId}", "DELETE /pets"):  # of another method, and of one thing instead of all
        assert refusal(f"{key}: {{hidden: true}}")[0][3] == "Choose one of GET /pets, DELETE /pets/{petId}."


@pytest.mark.parametrize("key", ["GET /courses/", "GET /v3.1/courses", "GET /corses"])
def test_a_slash_at_the_end_and_a_base_path_do_not_hide_what_is_meant(key: str) -> None:
    assert (
        nearest(key, ["GET /courses", "GET /courses/{id}", "POST /courses"], "operation")
        == "Did you mean `GET /courses`?"
    )


def test_an_unknown_field_is_reported_with_its_place_and_the_nearest_there_is() -> None:
    assert refusal("GET /pets:\n  nmae: my_pets\n") == [(2, 3, "an override has no `nmae`", "Did you mean `name`?")]
    ((_, _, _, hint),) = refusal("GET /pets: {exclude: true}")  # that is nearest to `example`
    assert hint.startswith("Choose one of ")
    assert "hidden" in hint


def test_all_findings_are_reported_at_once_in_the_order_of_the_file() -> None:
    findings = refusal(
        "GET /pets:\n  category: REED\n  danger: mortal\nDELETE /pets/{petId}:\n  hidden: perhaps\n  name: Retire-Pet\n"
    )
    assert [(line, column) for line, column, _, _ in findings] == [(2, 13), (3, 11), (5, 11), (6, 9)]
    assert findings[0][2:] == ("`category` cannot be `REED`", "Did you mean `READ`?")
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


@each("text", ["GET /pets\n  name: x", "GET /pets:\n  name: x\n summary: y"])
def test_a_slip_that_the_parser_notices_later_has_a_help(text: str) -> None:
    assert "the one above for a missing `:`" in refusal(text)[0][3]


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no file"):
        load_overrides(tmp_path / "none.yaml")
    with pytest.raises(FileError, match="is a folder"):
        load_overrides(tmp_path)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"GET /p\xe9ts: {}")
    with pytest.raises(OptionError, match="not UTF-8"):
        load_overrides(latin)


def refusals(text: str) -> list[tuple[int, int, str]]:
    return [
        (diagnostic.line, diagnostic.column, diagnostic.message)
        for diagnostic in parse(text, "overrides.yaml").diagnostics
    ]


def test_an_alias_is_a_name_or_a_name_with_its_last_day() -> None:
    text = "GET /pets:\n  aliases:\n    - all_pets\n    - {name: fetch_pets, until: 2027-01-31}\n"
    first, second = parse(text).entries["GET /pets"].aliases
    assert (first.name, first.until, first.place) == ("all_pets", None, (3, 7))
    assert (second.name, second.until, second.place) == ("fetch_pets", date(2027, 1, 31), (4, 14))


@each(
    ("aliases", "column", "message"),
    [
        ("old", 22, "`aliases` must be a list"),
        ("[Old]", 23, "`Old` cannot be a name: an operation's name is lower-case words joined by _, at most 64"),
        ("[introspect]", 23, "`introspect` is reserved by the protocol"),
        ("[{until: 2027-01-01}]", 23, "an alias needs a `name`"),
        ("[{name: old, till: 2027-01-01}]", 35, "an alias has no `till`"),
        ("[{name: old, until: soon}]", 42, "`until` must be a day"),
        ("[{name: old, until: 2027-02-30}]", 42, "`until` must be a day"),
        ("[{name: old, until: 2027-01-01T10:00:00Z}]", 42, "`until` must be a day"),
        ("[[old]]", 23, "an alias must be a name or a mapping"),
        ("[old, old]", 28, "the alias `old` is taken by GET /pets"),
        ("[my_pets], name: my_pets", 23, "the alias `my_pets` is taken by GET /pets"),
    ],
)
def test_what_is_no_alias_is_refused_with_its_place(aliases: str, column: int, message: str) -> None:
    """R-REQ-8"""
    diagnostics = refusals(f"GET /pets: {{aliases: {aliases}}}")
    assert len(diagnostics) == 1
    assert diagnostics[0][:2] == (1, column)
    assert diagnostics[0][2].startswith(message)


def test_an_alias_may_be_no_name_or_alias_that_another_operation_is_given() -> None:
    text = "GET /pets: {aliases: [mine, ours]}\nPUT /pets: {aliases: [ours]}\nPOST /pets: {name: mine}\n"
    assert refusals(text) == [
        (1, 23, "the alias `mine` is taken by POST /pets"),
        (2, 23, "the alias `ours` is taken by GET /pets"),
    ]


def test_a_tag_has_no_aliases() -> None:
    assert refusals("tag:pets: {aliases: [old]}") == [(1, 12, "the override of a tag has no `aliases`")]


SEEN = "why: 'observed 2026-11-24: the delete took it away'"


def of(write: Operation, *fields: str, others: tuple[Operation, ...] = ()) -> Decision:
    text = f"{write.key}:\n" + "".join(f"  {field}\n" for field in fields)
    return decided(write, *others, overrides=parse(text))[0]


def test_what_was_taken_back_is_no_longer_doubted_and_says_when_it_was_seen() -> None:
    """R-LEARN-1"""
    write = operation("POST /boards")
    assert decided(write)[0].asked is Asked.FIRST
    seen = of(write, "can_undo: true", SEEN)
    assert (seen.asked, seen.danger) == (Asked.NEVER, Danger.REVERSIBLE)
    assert seen.evidence == (EffectEvidence("observed", "2026-11-24: the delete took it away"),)


@each(
    "write",
    [
        operation("POST /payouts", **sending("amount", "currency")),
        operation("POST /api-keys"),
        operation("POST /things", **sending("role")),
        operation("POST /outbox", **sending("to", "subject")),
        operation("POST /boards", description="It ends all sessions, which cannot be undone."),
        operation("POST /boards", extensions={"x-mcpaql-danger": "destructive"}),
        operation("POST /boards/{id}/rebuild"),
        operation("POST /boards/{id}/convert", responses=(answer("202"),)),
        operation("DELETE /boards/{id}"),
        operation("PUT /boards/{id}/permissions", **sending("title", "size")),
    ],
)
def test_no_observation_lowers_a_danger_or_settles_another_doubt(write: Operation) -> None:
    """R-LEARN-1"""
    plain = decided(write)[0]
    assert plain.asked is not Asked.NEVER
    seen = of(write, "can_undo: true", "send: named", "security: []", SEEN)
    assert (seen.danger, seen.asked) == (plain.danger, plain.asked)
    assert set(plain.effects) - {Effect.UNKNOWN} <= set(seen.effects)


def test_an_observed_partial_put_is_sent_so_and_only_the_owner_ends_the_question() -> None:
    """R-LEARN-1: a server that pretends to keep fields ends no question about them."""
    write = operation("PUT /boards/{id}", **sending("title", "size"))
    other = reading("GET /boards/{name}", "title")
    plain = decided(write, other)[0]
    assert plain.danger_reason.rule == "replaces-whole"
    seen = of(write, "send: named", "why: 'observed 2026-11-24: it kept 1 field'", others=(other,))
    assert (seen.asked, seen.danger) == (plain.asked, plain.danger) == (Asked.FIRST, Danger.REVERSIBLE)
    (update,) = [trait for trait in seen.traits if trait.kind == "update"]
    assert (update.value.strategy, update.reason.rule) == ("patch", "observed")
    assert "observed 2026-11-24" in update.reason.note
    owned = of(write, "send: named", "why: we tried it", others=(other,))
    assert (owned.asked, owned.danger) == (Asked.NEVER, Danger.REVERSIBLE)


def test_what_no_observation_decides_stays_the_word_of_the_owner_in_an_observed_entry() -> None:
    """R-LEARN-1"""
    owned = of(operation("POST /api-keys"), "danger: safe", "can_undo: true", SEEN)
    assert (owned.danger, owned.danger_reason.rule) == (Danger.SAFE, "override")
    assert [each.kind for each in owned.evidence] == ["structure", "structure", "observed", "owner"]
    stated = of(operation("POST /boards"), "can_undo: true", "why: answered by a person")
    assert (stated.asked, stated.evidence) == (Asked.NEVER, ())


def selector(key: str) -> Selector:
    parsed = parse_selector(key)
    assert parsed is not None
    return parsed


@each(
    ("key", "operations"),
    [
        ("GET /pets", ["GET /pets"]),
        ("get  /pets/{id}", ["GET /pets/{id}"]),
        ("GET /*", ["GET /pets"]),
        ("* /pets", ["GET /pets", "POST /pets"]),
        ("* /pets/*", ["GET /pets/{id}"]),
        ("* /pets/**", ["GET /pets", "POST /pets", "GET /pets/{id}", "GET /pets/{id}/toys", "GET /pets/"]),
        ("GET /**/toys", ["GET /pets/{id}/toys"]),
        ("GET /p*", ["GET /pets"]),
        ("GET /pets/**/**/*", ["GET /pets/{id}", "GET /pets/{id}/toys"]),
        ("GET /pet.", []),
        ("GET /pet", []),
        ("GET /pets/{*}", ["GET /pets/{id}"]),
        ("DELETE /*", []),
    ],
)
def test_a_path_selects_by_segments(key: str, operations: list[str]) -> None:
    known = ("GET /pets", "POST /pets", "GET /pets/{id}", "GET /pets/{id}/toys", "GET /pets/")
    assert [each for each in known if selector(key).matches(operation(each))] == operations


def test_a_star_in_the_documents_own_path_is_selected_by_that_path() -> None:
    assert selector("GET /files/**").matches(operation("GET /files/**"))


@each(
    ("key", "matches"),
    [
        ("operation:delete_pet", True),
        ("operation:removePet", True),
        ("operation:delete_*", True),
        ("operation:*Pet", True),
        ("operation:delete", False),
        ("operation:DELETE_PET", False),
        ("tag:pets", True),
        ("tag:the *", True),
        ("tag: pets", True),
        ("tag:pet", False),
    ],
)
def test_names_and_tags_select_whole_or_by_a_pattern(key: str, matches: bool) -> None:
    known = operation("DELETE /pets/{id}", operation_id="removePet", tags=("pets", "the shop"))
    assert selector(key).matches(known, ["delete_pet"]) is matches


@each("key", ["", "pets", "GET", "GET pets", "tag:", "operation: ", "rule:x", "GET/pets", "A B /c"])
def test_other_keys_select_nothing(key: str) -> None:
    assert parse_selector(key) is None


def test_the_order_of_exactness_is_that_of_the_documentation() -> None:
    keys = [
        "GET /v1/pets/{id}",
        "operation:get_pet",
        "operation:get_*",
        "operation:*",
        "GET /v1/pets/*",
        "* /v1/pets/*",
        "GET /v1/pets/*/**",
        "GET /v1/pets/**",
        "GET /v1/*",
        "GET /**",
        "* /**",
        "tag:pets",
        "tag:pet*",
        "tag:*",
    ]
    assert sorted(keys, key=lambda key: selector(key).rank, reverse=True) == keys


_WORDS = st.sampled_from(["a", "ab", "abc", "b", "{id}", "a.b"])
_SEGMENTS = st.lists(st.one_of(_WORDS, st.sampled_from(["*", "**", "a*", "*b", "a*b"])), min_size=1, max_size=5)
_METHODS = st.sampled_from(["GET", "POST", "*"])


@given(_METHODS, _SEGMENTS, st.lists(_WORDS, min_size=1, max_size=6), st.data())
def test_a_pattern_made_more_general_selects_the_same_and_more_and_is_less_exact(
    method: str, segments: list[str], path: list[str], data: st.DataObject
) -> None:
    exact = selector(f"{method} /{'/'.join(segments)}")
    index = data.draw(st.integers(0, len(segments) - 1))
    segment = segments[index]
    wider = {"**": ["**"], "*": ["**"]}.get(segment, ["*", "**", f"{segment}*", f"*{segment}"])
    changed = [*segments[:index], data.draw(st.sampled_from(wider)), *segments[index + 1 :]]
    general = selector(f"{data.draw(st.sampled_from([method, '*']))} /{'/'.join(changed)}")
    known = operation(f"GET /{'/'.join(path)}")
    assert general.matches(known) or not exact.matches(known)
    assert general.rank <= exact.rank


@given(_METHODS, _SEGMENTS, st.lists(_WORDS, min_size=1, max_size=6))
def test_an_operations_own_key_is_more_exact_than_every_pattern(
    method: str, segments: list[str], path: list[str]
) -> None:
    pattern, exact = selector(f"{method} /{'/'.join(segments)}"), selector(f"GET /{'/'.join(path)}")
    assert exact.rank >= pattern.rank
    assert exact.matches(operation(exact.key))
