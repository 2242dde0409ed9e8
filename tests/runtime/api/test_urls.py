"""Paths with names in braces are read in one way, by the generator and by the runtime."""

from __future__ import annotations

from aqlgen.runtime.encode.urls import paired_placeholders, placeholders, split_at_placeholders, without_names


def test_a_placeholder_is_a_name_in_braces() -> None:
    assert placeholders("/pets/{petId}/{a b}:{}/{open") == ["petId", "a b"]


def test_a_segment_is_literals_with_names_between_them() -> None:
    assert split_at_placeholders("{name}.{ext}:run") == (["", ".", ":run"], ["name", "ext"])
    assert split_at_placeholders("pets") == (["pets"], [])


def test_paths_that_differ_in_names_alone_are_the_same_without_them() -> None:
    assert without_names("/pets/{petId}") == without_names("/pets/{pet_id}") == "/pets/{}"
    assert paired_placeholders("/o/{owner}/p/{id}", "/o/{ownerId}/p/{petId}") == {"owner": "ownerId", "id": "petId"}
