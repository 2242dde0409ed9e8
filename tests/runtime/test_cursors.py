"""Cursors as short texts (R-SEL-3)."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqlgen.runtime.errors import Failure
from aqlgen.runtime.paging.cursors import HASH, Cursors, Place
from aqlgen.runtime.session import with_caller
from aqlgen.runtime.state.custody import State
from tests.examples import examples

HASHES = st.just("") | st.binary(min_size=HASH, max_size=HASH).map(bytes.hex)
COUNTS = st.integers(0, 200) | st.integers(0, 10**12)
PLACES = st.builds(
    Place,
    position=st.none() | st.integers(-5, 10**30) | st.text(max_size=60),
    begin=COUNTS,
    skip=COUNTS,
    size=st.none() | COUNTS,
    full=COUNTS,
    seen=HASHES,
    origin=HASHES,
)
CURSORS = Cursors(State())


@settings(max_examples=examples(300), deadline=None)
@given(PLACES)
def test_a_place_comes_back_as_it_was(place: Place) -> None:
    cursor = CURSORS.write("list_things", {"color": "red"}, place)
    assert CURSORS.read("after", cursor, "list_things", {"color": "red"}) == place


@settings(max_examples=examples(100), deadline=None)
@given(PLACES, st.integers(0, 10**6), st.integers(1, 63))
def test_a_cursor_that_was_changed_is_refused(place: Place, index: int, step: int) -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    cursor = CURSORS.write("list_things", {}, place)
    index %= len(cursor) - 1  # some bits of the last letter may mean nothing
    letter = letters[(letters.index(cursor[index]) + step) % 64]
    with pytest.raises(Failure):
        CURSORS.read("after", cursor[:index] + letter + cursor[index + 1 :], "list_things", {})


def test_a_cursor_of_a_usual_place_is_short() -> None:
    page = Place(2, 20, 0, 20, 20, "0a1b2c3d")
    assert len(CURSORS.write("list_things", {}, page)) <= 57
    assert len(CURSORS.write("list_things", {}, Place(skip=15, size=20))) <= 44


def test_a_cursor_is_of_its_caller_and_says_nothing_of_the_place() -> None:
    """R-SEL-3, R-OPS-3"""
    place = Place("token-of-the-api", 20)
    with with_caller({}, "anna"):
        cursor = CURSORS.write("list_things", {}, place)
        assert CURSORS.read("after", cursor, "list_things", {}) == place
    with with_caller({}, "bert"), pytest.raises(Failure):
        CURSORS.read("after", cursor, "list_things", {})
    assert b"token-of-the-api" not in base64.urlsafe_b64decode(cursor + "==")
