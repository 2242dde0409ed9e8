from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from operations import operation

from aqlgen.decide.overrides.selectors import Selector, parse_selector
from tests.cases import each


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
