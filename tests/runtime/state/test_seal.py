"""What callers keep is sealed: unreadable, unchangeable, bound, and opened by any replica with the key (R-OPS-3)."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqlgen.runtime.state.seal import Sealer

KEY, NEW = "k" * 32, "n" * 40
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(VALUE, st.text(max_size=8), st.text(max_size=8))
def test_any_replica_with_the_key_opens_what_another_sealed(value: object, kind: str, bound: str) -> None:
    text = Sealer([KEY], "zoo").seal(kind, value, 60, bound)
    opened = Sealer([KEY], "zoo").open(kind, text, bound)
    assert opened is not None
    assert opened.value == value


@given(st.data())
def test_nothing_that_was_changed_or_cut_is_opened(data: st.DataObject) -> None:
    sealer = Sealer([KEY], "zoo")
    text = sealer.seal("plan", {"steps": ["delete_pet"]}, 60)
    raw = bytearray(base64.urlsafe_b64decode(text + "=="))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    assert sealer.open("plan", base64.urlsafe_b64encode(raw).decode()) is None
    assert sealer.open("plan", text[: data.draw(st.integers(0, len(text) - 1))]) is None


@pytest.mark.parametrize("text", [None, 7, "", "plan", "=", "%%%%", "é" * 40, "A" * 2_000_000, ["x"]])
def test_what_was_never_sealed_is_not_opened(text: object) -> None:
    assert Sealer([KEY], "zoo").open("plan", text) is None


def test_a_seal_is_good_for_its_kind_its_binding_and_its_adapter_alone() -> None:
    text = Sealer([KEY], "zoo").seal("cursor", 1, 60, "alice")
    assert Sealer([KEY], "zoo").open("cursor", text, "alice") is not None
    assert Sealer([KEY], "zoo").open("plan", text, "alice") is None
    assert Sealer([KEY], "zoo").open("cursor", text, "bob") is None
    assert Sealer([KEY], "other").open("cursor", text, "alice") is None
    assert Sealer([NEW], "zoo").open("cursor", text, "alice") is None


def test_what_is_kept_cannot_be_read_and_two_seals_of_it_differ() -> None:
    sealer = Sealer([KEY], "zoo")
    first, second = sealer.seal("plan", "secret-word", 60), sealer.seal("plan", "secret-word", 60)
    assert first != second
    assert b"secret-word" not in base64.urlsafe_b64decode(first + "==")


def test_a_key_is_replaced_without_a_break() -> None:
    old = Sealer([KEY], "zoo").seal("plan", 1, 60)
    both = Sealer([NEW, KEY], "zoo")
    assert both.open("plan", old) is not None
    assert Sealer([NEW], "zoo").open("plan", both.seal("plan", 1, 60)) is not None
    assert Sealer([NEW], "zoo").open("plan", old) is None


def test_the_time_is_part_of_the_seal() -> None:
    opened = Sealer([KEY], "zoo", clock=lambda: 1000.0).open(
        "plan", Sealer([KEY], "zoo", clock=lambda: 1000.0).seal("plan", 1, 60)
    )
    assert opened is not None
    assert opened.expires == 1060.0
