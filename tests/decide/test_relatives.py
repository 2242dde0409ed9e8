"""Every verb that is not canonical names the canonical verb that it is a kind of."""

from __future__ import annotations

from operations import answer, decide_one, decided, operation

from aqlgen.decide.overrides import parse
from tests.cases import each

MANY = {"type": "array", "items": {"type": "object"}}


@each(
    ("key", "name", "relative"),
    [
        ("GET /pets", "list_pets", ""),
        ("POST /pets", "create_pet", ""),
        ("POST /visits/{id}/cancel", "cancel_visit", ""),
        ("GET /pets/search", "search_pets", "list"),
        ("GET /pets/count", "count_pets", "get"),
        ("GET /files/{id}/download", "download_file", "get"),
        ("POST /files/upload", "upload_file", "create"),
        ("POST /pets/{id}/rename", "rename_pet", "update"),
        ("PUT /users/{id}/block", "block_user", "update"),
        ("POST /tokens/{id}/revoke", "revoke_token", "delete"),
        ("POST /messages/{id}/send", "send_message", "execute"),
        ("POST /pulls/{id}/merge", "merge_pull", "execute"),
        ("POST /machines/{id}/stop", "stop_machine", "cancel"),
    ],
)
def test_a_verb_that_is_not_canonical_has_its_canonical_relative(key: str, name: str, relative: str) -> None:
    """R-NAME-2"""
    decision = decide_one(key)
    assert (decision.name, decision.relative) == (name, relative)


def test_what_answers_with_a_list_is_a_kind_of_list() -> None:
    """R-NAME-2"""
    decision = decide_one("GET /pets/{id}/compare", "comparePet", responses=(answer("200", MANY),))
    assert (decision.verb, decision.relative) == ("compare", "list")


def test_the_relative_follows_the_name_and_the_category_that_the_user_gives() -> None:
    """R-NAME-2"""
    text = "POST /pets/{id}/adopt: {name: give_pet, category: UPDATE}\nGET /pets: {name: get_pets}"
    first, second = decided(operation("POST /pets/{id}/adopt"), operation("GET /pets"), overrides=parse(text))
    assert (first.verb, first.relative) == ("give", "update")
    assert (second.verb, second.relative) == ("get", "")
