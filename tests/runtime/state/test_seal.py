"""What callers keep is sealed: unreadable, unchangeable, bound, and opened by any replica with the key (R-OPS-3)."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqlgen.runtime.state.custody import Sealer, State
from tests.cases import each

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
    """R-SAFE-3 (Confirmation tokens, 7.2.2)"""
    sealer = Sealer([KEY], "zoo")
    text = sealer.seal("plan", {"steps": ["delete_pet"]}, 60)
    raw = bytearray(base64.urlsafe_b64decode(text + "=="))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    assert sealer.open("plan", base64.urlsafe_b64encode(raw).decode()) is None
    assert sealer.open("plan", text[: data.draw(st.integers(0, len(text) - 1))]) is None


@each("text", [None, 7, "", "plan", "=", "%%%%", "é" * 40, "A" * 2_000_000, ["x"]])
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


@given(st.binary(max_size=40), st.text(max_size=8), st.text(max_size=8))
def test_bytes_are_wrapped_in_the_shortest_text(content: bytes, kind: str, bound: str) -> None:
    text = Sealer([KEY], "zoo").wrap(kind, content, bound)
    assert len(text) == -(-(len(content) + 16) * 4 // 3)
    assert Sealer([NEW, KEY], "zoo").unwrap(kind, text, bound) == (content or None)
    assert Sealer([KEY], "other").unwrap(kind, text, bound) is None
    assert Sealer([KEY], "zoo").unwrap(f"{kind}.", text, bound) is None
    assert Sealer([KEY], "zoo").unwrap(kind, text, f"{bound}.") is None
    assert Sealer([KEY], "zoo").open(kind, text, bound) is None


@given(st.data())
def test_no_wrapped_bytes_that_were_changed_or_cut_are_opened(data: st.DataObject) -> None:
    sealer = Sealer([KEY], "zoo")
    text = sealer.wrap("cursor", b"page 7", "list")
    raw = bytearray(base64.urlsafe_b64decode(text + "=="))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    assert sealer.unwrap("cursor", base64.urlsafe_b64encode(raw).decode(), "list") is None
    assert sealer.unwrap("cursor", text[: data.draw(st.integers(0, len(text) - 1))], "list") is None


@pytest.mark.anyio
async def test_what_a_ticket_is_bound_to_cannot_be_prepared_since_its_marks_are_salted() -> None:
    """R-SAFE-3: two tickets for the same call have nothing in common."""
    custody = State(name="zoo").local
    tickets = [await custody.issue("confirmation", [("anna", 4), ("delete 7", 8)], 60, 1000.0) for _ in range(2)]
    assert tickets[0].text != tickets[1].text
    assert tickets[0].marks != tickets[1].marks
    assert (len(tickets[0].text), tickets[0].expires) == (64, 1060)
    for ticket in tickets:
        opened = await custody.open("confirmation", ticket.text)
        assert opened is not None
        assert (opened.fits("anna", 0, 4), opened.fits("delete 7", 4, 12)) == (True, True)
        assert (opened.fits("bert", 0, 4), opened.fits("delete 8", 4, 12)) == (False, False)
        assert await custody.open("question", ticket.text) is None
