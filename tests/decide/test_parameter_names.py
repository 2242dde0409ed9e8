from __future__ import annotations

from aqlgen.table.parameters import agent_name
from tests.cases import each


@each(
    ("wire", "path", "name"),
    [
        ("id", "/pets/{id}", "pet_id"),
        ("id", "/v1/pets/by-id/{id}", "pet_id"),
        ("id", "/entity/id/{id}", "entity_id"),
        ("gid", "/task-lists/{gid}", "task_list_gid"),
        ("name", "/users/{id}/{name}", "user_name"),
        ("petId", "/pets/{petId}", "pet_id"),
        ("id", "/{id}", "thing_id"),
        ("owner", "/repos/{owner}", "owner"),
    ],
)
def test_a_bare_id_is_named_by_what_it_is_of(wire: str, path: str, name: str) -> None:
    """R-REQ-2"""
    assert agent_name(wire, "path", path, "thing") == name


def test_a_bare_id_in_a_query_is_that_of_the_resource() -> None:
    """R-REQ-2"""
    assert agent_name("id", "query", "/pets/get", "pet") == "pet_id"
    assert agent_name("limit", "query", "/pets/get", "pet") == "limit"


def test_a_parameter_in_another_script_is_written_in_latin_letters() -> None:
    """R-REQ-2"""
    assert agent_name("название", "query", "/pets") == "nazvanie"
