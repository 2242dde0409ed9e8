from __future__ import annotations

import pytest
from operations import answer, names, one


@pytest.mark.parametrize(
    ("key", "called", "name"),
    [
        ("GET /pets", None, "list_pets"),
        ("GET /pets", "listPets", "list_pets"),
        ("POST /pets", "addPet", "create_pet"),
        ("GET /pets/{petId}", "getPetById", "get_pet"),
        ("PUT /pets/{petId}", None, "update_pet"),
        ("DELETE /pets/{petId}", "removePet", "delete_pet"),
        ("POST /pets/search", None, "search_pets"),
        ("GET /pet/findByStatus", "findPetsByStatus", "find_pets_by_status"),
        ("POST /orders/{id}/cancel", None, "cancel_order"),
        ("POST /threads/{id}/runs/{run}/submit_tool_outputs", None, "submit_run_tool_outputs"),
        ("GET /users/{id}/settings", None, "get_user_settings"),
        ("GET /store/order/{orderId}", "getOrderById", "get_order"),
    ],
)
def test_a_name_is_a_verb_and_a_resource(key: str, called: str | None, name: str) -> None:
    """R-NAME-2"""
    assert one(key, called).name == name


@pytest.mark.parametrize(
    ("key", "called", "name"),
    [
        ("GET /repos/{owner}/{repo}/issues", "issues/list-for-repo", "list_repo_issues"),
        ("GET /orgs/{org}/issues", "issues/list-for-org", "list_org_issues"),
        ("GET /repos/{owner}/{repo}/issues/comments", "issues/list-comments-for-repo", "list_repo_issue_comments"),
        ("GET /repos/{owner}/{repo}/issues/{n}/comments", "issues/list-comments", "list_issue_comments"),
        ("GET /playlists/{id}/tracks", None, "list_playlist_tracks"),
        ("GET /me/playlists", None, "list_my_playlists"),
        ("GET /users/@me/guilds/{id}/member", "get_my_guild_member", "get_my_guild_member"),
    ],
)
def test_a_name_holds_as_much_of_the_parents_as_sense_needs(key: str, called: str | None, name: str) -> None:
    """R-NAME-2"""
    assert one(key, called).name == name


@pytest.mark.parametrize(
    ("key", "called", "name"),
    [
        ("GET /api/v1/users/{id}", "getUserUsingGET", "get_user"),
        ("GET /api/v2.1/users", "UserController_findAll", "list_users"),
        ("GET /items/{item_id}", "read_item_items__item_id__get", "get_item"),
        ("GET /users/{id}/users", None, "list_users"),
        ("GET /Accounts/{Sid}/Calls.json", None, "list_account_calls"),
        ("GET /orgs/{org}/projectsV2", None, "list_org_projects"),
    ],
)
def test_a_name_has_no_residue_and_no_stutter(key: str, called: str | None, name: str) -> None:
    """R-NAME-3"""
    assert one(key, called).name == name


@pytest.mark.parametrize(
    ("key", "called", "name"),
    [
        ("PUT /gists/{id}/star", "gists/star", "star_gist"),
        ("PUT /user/starred/{owner}/{repo}", "activity/star-repo-for-authenticated-user", "star_repo"),
        ("POST /files/{id}/copy", None, "copy_file"),
        ("POST /files.upload", None, "upload_file"),
        ("POST /guilds/{id}/bulk-ban", "bulk_ban_users_from_guild", "bulk_ban_users_from_guild"),
        ("POST /store/order", "placeOrder", "place_order"),
        ("PUT /teams/{id}/members/{user}", "addTeamMember", "add_team_member"),
        ("POST /pulls/{id}/requested_reviewers", "pulls/request-reviewers", "request_pull_reviewers"),
    ],
)
def test_a_verb_that_says_more_stays(key: str, called: str, name: str) -> None:
    """R-NAME-2"""
    assert one(key, called).name == name


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("POST /chat.postMessage", "post_chat_message"),
        ("GET /users.list", "list_users"),
        ("POST /stars.add", "create_star"),
        ("GET /#Action=DescribeNetworkAcls", "list_network_acls"),
        ("POST /asset_report/pdf/get", "get_asset_report_pdf"),
        ("POST /sendMessage", "send_message"),
    ],
)
def test_a_remote_procedure_is_named_by_its_words(key: str, name: str) -> None:
    """R-NAME-2"""
    assert one(key).name == name


def test_the_answer_tells_one_from_many_where_the_noun_does_not() -> None:
    """R-NAME-2"""
    assert one("GET /feedback", responses=(answer("200", {"type": "array"}),)).name == "list_feedback"


def test_an_operation_with_nothing_to_name_it_by_is_named_all_the_same() -> None:
    """R-NAME-2"""
    found = names("GET /", "GET /{名前}", "POST /{id}")
    assert list(found.values()) == ["get_root", "get_value", "create_id"]


def test_put_and_patch_of_one_item_are_told_apart_by_their_verb() -> None:
    """R-NAME-2"""
    assert list(names("PUT /pets/{id}", "PATCH /pets/{id}").values()) == ["replace_pet", "update_pet"]


def test_the_resource_is_one_noun_for_the_table() -> None:
    """R-NAME-2"""
    decision = one("GET /repos/{owner}/{repo}/branches")
    assert (decision.verb, decision.resource) == ("list", "repo_branch")


def test_names_of_the_protocol_are_left_to_it() -> None:
    """R-REQ-8"""
    found = names(("POST /introspect", "introspect"), ("POST /agents/{id}/execute", "executeAgent"))
    assert not set(found.values()) & {"introspect", "execute_agent"}
