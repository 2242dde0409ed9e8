from __future__ import annotations

from typing import Any

from operations import answer, decide_one, decided, names, operation

from aqlgen.decide.overrides import parse
from aqlgen.ir import Location, Parameter
from tests.cases import each, each_family


@each_family(
    ("key", "called", "name"),
    {
        "a name is a verb and a resource": [
            ("GET /pets", None, "list_pets"),
            ("GET /pets", "listPets", "list_pets"),
            ("POST /pets", "addPet", "create_pet"),
            ("GET /pets/{petId}", "getPetById", "get_pet"),
            ("PUT /pets/{petId}", None, "update_pet"),
            ("PATCH /settings/new_relic", "PATCH_settings-new_relic", "update_settings_new_relic"),
            ("POST /add_ons", "createAddOn", "create_add_on"),
            ("POST /PayRunCalendars", "createPayRunCalendar", "create_pay_run_calendar"),
            ("DELETE /pets/{petId}", "removePet", "delete_pet"),
            ("DELETE /message", "deleteMessages", "delete_messages"),
            ("DELETE /application/{id}/message", "deleteAppMessages", "delete_application_messages"),
            ("DELETE /cache", "deleteCache", "delete_cache"),
            ("POST /pets/search", None, "search_pets"),
            ("GET /pet/findByStatus", "findPetsByStatus", "find_pets_by_status"),
            ("POST /orders/{id}/cancel", None, "cancel_order"),
            ("POST /threads/{id}/runs/{run}/submit_tool_outputs", None, "submit_thread_run_tool_outputs"),
            ("GET /users/{id}/settings", None, "get_user_settings"),
            ("GET /store/order/{orderId}", "getOrderById", "get_order"),
        ],
        "a name holds as much of the parents as sense needs": [
            ("GET /repos/{owner}/{repo}/issues", "issues/list-for-repo", "list_repo_issues"),
            ("GET /orgs/{org}/issues", "issues/list-for-org", "list_org_issues"),
            ("GET /repos/{owner}/{repo}/issues/comments", "issues/list-comments-for-repo", "list_repo_issue_comments"),
            ("GET /repos/{owner}/{repo}/issues/{n}/comments", "issues/list-comments", "list_issue_comments"),
            ("GET /playlists/{id}/tracks", None, "list_playlist_tracks"),
            ("GET /me/playlists", None, "list_my_playlists"),
            ("GET /users/@me/guilds/{id}/member", "get_my_guild_member", "get_my_guild_member"),
            ("GET /orgs/{org}/actions/secrets", "actions/list-secrets-for-organization", "list_org_actions_secrets"),
            ("GET /auth/{aws_mount_path}/role/{role}", "aws-read-auth-role", "get_aws_auth_role"),
            ("GET /sim_cards/{id}/wireless_connectivity_logs", None, "list_sim_card_wireless_connectivity_logs"),
            ("GET /admin/users", "listUsers", "list_admin_users"),
        ],
        "a name has no residue and no stutter": [
            ("GET /api/v1/users/{id}", "getUserUsingGET", "get_user"),
            ("GET /api/v2.1/users", "UserController_findAll", "list_users"),
            ("GET /items/{item_id}", "read_item_items__item_id__get", "get_item"),
            ("PUT /files/{id}/classification-6VMVochwUWo", None, "update_file_classification"),
            ("GET /Accounts/{Sid}/Calls.json", None, "list_account_calls"),
            ("GET /orgs/{org}/projectsV2", None, "list_org_projects"),
        ],
        "a verb that says more stays": [
            ("PUT /gists/{id}/star", "gists/star", "star_gist"),
            ("POST /files/{id}/copy", None, "copy_file"),
            ("POST /files.upload", None, "upload_file"),
            ("POST /guilds/{id}/bulk-ban", "bulk_ban_users_from_guild", "bulk_ban_users_from_guild"),
            ("POST /store/order", "placeOrder", "place_order"),
            ("PUT /teams/{id}/members/{user}", "addTeamMember", "add_team_member"),
            ("POST /pulls/{id}/requested_reviewers", "pulls/request-reviewers", "request_pull_reviewers"),
        ],
        "a remote procedure is named by its words": [
            ("POST /chat.postMessage", None, "post_chat_message"),
            ("GET /users.list", None, "list_users"),
            ("POST /stars.add", None, "create_star"),
            ("POST /#Action=DescribeNetworkAcls", None, "describe_network_acls"),
            ("POST /wallet/transaction/list", None, "list_wallet_transactions"),
            ("POST /institutions/get", None, "get_institutions"),
            ("POST /asset_report/pdf/get", None, "get_asset_report_pdf"),
            ("POST /sendMessage", None, "send_message"),
        ],
        "what a literal query adds is named": [
            ("GET /orders/{orderId}", "getOrderById", "get_order"),
            ("POST /responses?beta=true", None, "create_response_beta"),
        ],
        "nouns stand in the order in which people say them": [
            (
                "PUT /permissions/runners/repositories/{repository_id}",
                "enableRunnerRepository",
                "enable_runner_repository",
            ),
        ],
        "where a thing is found is no part of its name": [
            ("GET /auth/{radius_mount_path}/config", "radius-read-configuration", "get_radius_auth_config"),
            ("GET /{terraform_mount_path}/role/", "terraform-list-roles", "list_terraform_roles"),
            ("POST /{db_mount_path}/reset/{name}", "db-reset-connection", "reset_db_connection"),
            (
                "POST /{pki_path}/issuer/{issuer_ref}/order",
                "pki-write-issuer-issuer_ref-order",
                "update_pki_issuer_order",
            ),
        ],
        "a noun that looks like a verb stays a noun and a verb a verb": [
            (
                "POST /projects/{id}/endpoints/{endpoint_id}/restart",
                "restartProjectEndpoint",
                "restart_project_endpoint",
            ),
            ("POST /pool/sync_committees", "submitSyncCommitteeSignatures", "submit_sync_committee_signatures"),
            ("POST /repos/{repo}/push-bypasses", "create-push-bypass", "create_repo_push_bypass"),
            ("POST /vector_stores/{id}/search", "openai_search_vector_store", "search_vector_store"),
            ("POST /sandbox/test_clock/advance", "sandboxTestClockAdvance", "advance_sandbox_test_clock"),
            ("POST /deployment/pause/{deploymentID}", "PostDeploymentPause", "pause_deployment"),
            ("POST /web_search", None, "search_web"),
            ("GET /usage/audio_speeches", "usage-audio-speeches", "list_usage_audio_speeches"),
            ("POST /authn/{login}/authenticate", "getAccessToken", "authenticate_authn"),
            ("GET /disputes/{dispute_token}", "getDisputeByTokenV2", "get_dispute"),
        ],
        "a name says what people say": [
            ("GET /pet/stats", "getPetStats", "get_pet_stats"),
            ("GET /orgs/{org}/limits", "getLimits", "list_org_limits"),
            ("PUT /sites/{name}", "Sites_CreateOrUpdate", "create_or_update_site"),
            ("POST /invoices", "updateOrCreateInvoices", "update_or_create_invoices"),
            ("POST /search-hours-of-operations", "SearchHoursOfOperations", "search_hours_of_operations"),
            ("POST /docs/{name}/findOneAndDelete", None, "find_one_and_delete_doc"),
            ("GET /b/{bucket}/o/{object}/acl", "storage.objectAccessControls.list", "list_object_acls"),
            ("GET /users/{username}/following", "users/list-following-for-user", "list_user_following"),
            ("GET /gists/public", "gists/list-public", "list_public_gists"),
            ("GET /users", "requestUsers", "list_users"),
        ],
    },
)
def test_a_name_is_what_people_would_say_of_the_operation(key: str, called: str | None, name: str) -> None:
    """R-NAME-2, R-NAME-3"""
    assert decide_one(key, called).name == name


@each(
    ("key", "called", "tags", "name"),
    [
        ("GET /resourcequotas", "listResourceQuota", (), "list_resource_quotas"),
        ("PUT /usergroups/{id}", None, ("UserGroup",), "update_user_group"),
        ("GET /webhooks", "listWebhooks", ("WebHook",), "list_webhooks"),
    ],
)
def test_run_together_words_are_taken_apart_as_the_document_writes_them(
    key: str, called: str | None, tags: tuple[str, ...], name: str
) -> None:
    """R-NAME-2"""
    assert decide_one(key, called, tags=tags).name == name


def test_a_plural_that_people_get_is_one_thing_where_the_answer_is() -> None:
    """R-NAME-2"""
    answers = (answer("200", {"type": "object", "properties": {"core": {"type": "integer"}}}),)
    assert decide_one("GET /orgs/{org}/limits", "getLimits", responses=answers).name == "get_org_limits"


@each(
    ("key", "called", "verb"),
    [
        ("GET /links", "getLinks", "list"),
        ("GET /stop-for-route/{routeId}", None, "get"),
        ("GET /links/{linkId}", "getLinks", "get"),
    ],
)
def test_several_are_listed_whoever_they_are_found_by(key: str, called: str | None, verb: str) -> None:
    """R-NAME-2"""
    assert decide_one(key, called).verb == verb


def test_a_collection_called_in_the_singular_is_listed_beside_its_item() -> None:
    """R-NAME-3"""
    assert names("GET /brand", "GET /brand/{brandId}") == {
        "GET /brand": "list_brands",
        "GET /brand/{brandId}": "get_brand",
    }


def test_a_segment_that_is_the_operations_own_name_is_its_verb() -> None:
    """R-NAME-2"""
    assert decide_one("POST /keys/{name}/unwrapkey", "unwrapKey").name == "unwrap_key"


def test_the_answer_tells_one_from_many_where_the_noun_does_not() -> None:
    """R-NAME-2"""
    assert decide_one("GET /feedback", responses=(answer("200", {"type": "array"}),)).name == "list_feedback"


def test_an_operation_with_nothing_to_name_it_by_is_named_all_the_same() -> None:
    """R-NAME-2"""
    chosen = names("GET /", "GET /{名前}", "POST /{id}")
    assert list(chosen.values()) == ["get_root", "get_ming_qian", "create_id"]


def test_people_who_say_get_are_heard_unless_the_answer_is_a_list() -> None:
    """R-NAME-2"""
    listing = {"type": "object", "properties": {"Data": {"type": "object", "properties": {"Pet": {"type": "array"}}}}}
    assert decide_one("GET /pets", "getPets", responses=(answer("200", listing),)).name == "list_pets"
    limits = {"type": "object", "properties": {"most": {"type": "integer"}}}
    assert decide_one("GET /pets", "getPets", responses=(answer("200", limits),)).name == "get_pets"


@each(
    ("schema", "name"),
    [
        ({"type": "string", "default": "v2"}, "list_pets"),
        ({"enum": ["eu"]}, "list_pets"),
        ({"const": "2024-01"}, "list_pets"),
        ({"enum": ["a", "b"]}, "list_area_pets"),
        ({"type": "string", "default": "eu-1"}, "list_area_pets"),
    ],
)
def test_a_parameter_of_the_path_that_is_always_the_same_is_no_part_of_a_name(schema: Any, name: str) -> None:
    """R-NAME-3"""
    area = Parameter("area", Location.PATH, required=True, schema=schema)
    assert decide_one("GET /{area}/pets", parameters=(area,)).name == name


def test_put_and_patch_of_one_item_are_told_apart_by_their_verb() -> None:
    """R-NAME-2"""
    assert list(names("PUT /pets/{id}", "PATCH /pets/{id}").values()) == ["replace_pet", "update_pet"]


def test_the_resource_is_one_noun_for_the_table() -> None:
    """R-NAME-2"""
    decision = decide_one("GET /repos/{owner}/{repo}/branches")
    assert (decision.verb, decision.resource) == ("list", "repo_branch")


def test_names_of_the_protocol_are_left_to_it() -> None:
    """R-REQ-8"""
    chosen = names(("POST /introspect", "introspect"), ("POST /agents/{id}/execute", "executeAgent"))
    assert not set(chosen.values()) & {"introspect", "execute_agent"}


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
