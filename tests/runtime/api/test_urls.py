"""Paths with names in braces are read in one way, by the generator and by the runtime."""

from __future__ import annotations

from api.hand_made import operation
from aqlgen.runtime.encode.urls import (
    paired_placeholders,
    placeholders,
    resource_of,
    split_at_placeholders,
    without_names,
)
from aqlgen.runtime.table import row_of
from aqlgen.runtime.wire import ApiRequest, at_host_of
from tests.documents import TEXT


def test_a_placeholder_is_a_name_in_braces() -> None:
    assert placeholders("/pets/{petId}/{a b}:{}/{open") == ["petId", "a b"]


def test_a_segment_is_literals_with_names_between_them() -> None:
    assert split_at_placeholders("{name}.{ext}:run") == (["", ".", ":run"], ["name", "ext"])
    assert split_at_placeholders("pets") == (["pets"], [])


def test_paths_that_differ_in_names_alone_are_the_same_without_them() -> None:
    assert without_names("/pets/{petId}") == without_names("/pets/{pet_id}") == "/pets/{}"
    assert paired_placeholders("/o/{owner}/p/{id}", "/o/{ownerId}/p/{petId}") == {"owner": "ownerId", "id": "petId"}


def test_two_calls_are_about_one_resource_only_if_each_value_is_the_same() -> None:
    """R-OPS-5"""
    parameters = {name: {"in": "path", "required": True, "schema": TEXT} for name in ("x", "y")}
    get, run = (
        row_of("do", "read", operation("GET", path, parameters=parameters)) for path in ("/a/{x}/{y}", "/a/{x}/{y}/run")
    )
    assert resource_of(get, {"x": "{y}", "y": "1"}) != resource_of(get, {"x": "1", "y": "1"})
    assert resource_of(get, {"x": "1", "y": "2"}) == resource_of(run, {"x": 1, "y": 2}) == ("", "/a/{}/{}", ("1", "2"))


def test_the_next_page_at_the_host_keeps_the_key_of_the_query_and_nothing_else() -> None:
    request = ApiRequest("GET", "https://a.example/pets?key=s3cr%2Ft&page=1", (), None, frozenset({"s3cr/t"}))
    assert at_host_of(request, "/pets?page=2") == "https://a.example/pets?page=2&key=s3cr%2Ft"
    assert at_host_of(request, "/jobs/7") == "https://a.example/jobs/7?key=s3cr%2Ft"
