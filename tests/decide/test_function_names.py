"""Names after the author's functions and words: FastAPI writes function, path and method into the operationId."""

from __future__ import annotations

import re

from operations import answer, decide_one, decided, operation

from aqlgen.table.parameters import agent_name
from tests.cases import each

PREFIXES = (
    "",
    "/api",
    "/v1",
    "/api/v2",
    "/api/v2.1",
    "/internal",
    "/my-service",
    "/my_service/api",
    "/{tenant_id}",
    "/orgs/{org_id}/admin",
)
APPLICATIONS = {
    "tutorial": {
        "GET /items/": ("read_items", "list_items"),
        "GET /items/{item_id}": ("read_item", "get_item"),
        "PUT /items/{item_id}": ("update_item", "update_item"),
        "POST /token": ("login_for_access_token", "login_for_access_token"),
        "GET /users/me/items/": ("read_own_items", "list_own_items"),
        "GET /files/{file_path}": ("read_file", "get_file"),
    },
    "full stack": {
        "GET /users/me": ("read_user_me", "get_user_me"),
        "PATCH /users/me/password": ("update_password_me", "update_password_me"),
        "POST /password-recovery/{email}": ("recover_password", "recover_password"),
        "POST /private/users/": ("create_user_private", "create_user_private"),
        "POST /users/signup": ("register_user", "register_user"),
    },
    "tools": {
        "POST /tools/cancel_pending_order": ("cancel_pending_order", "cancel_pending_order"),
        "POST /tools/get_order_details": ("get_order_details", "get_order_details"),
        "POST /tools/find_user_id_by_email": ("find_user_id_by_email", "find_user_id_by_email"),
        "POST /tools/return_delivered_order_items": ("return_delivered_order_items", "return_delivered_order_items"),
        "POST /tools/think": ("think", "think"),
        "POST /tools/calculate": ("calculate", "calculate"),
    },
    "shop": {
        "POST /cart/add": ("add_to_cart", "add_to_cart"),
        "DELETE /cart/{item_id}": ("remove_from_cart", "remove_from_cart"),
        "GET /cart": ("view_cart", "get_cart"),
        "POST /orders/{order_id}/refund": ("refund_order", "refund_order"),
        "POST /products/bulk": ("bulk_create_products", "bulk_create_products"),
    },
    "articles": {
        "GET /articles/{slug}": ("retrieve_article_by_slug", "get_article_by_slug"),
        "DELETE /articles/{slug}": ("destroy_article", "delete_article"),
        "GET /articles/{slug}/comments": ("list_comments_for_article", "list_comments_for_article"),
        "GET /tags": ("get_all_tags", "list_tags"),
        "POST /articles": ("add_article", "create_article"),
    },
    "models": {
        "POST /predict/batch": ("predict_batch", "predict_batch"),
        "POST /v1/chat/completions": ("chat_completion", "create_chat_completion"),
        "POST /reload": ("reload_model", "reload_model"),
        "GET /info": ("get_model_info", "get_model_info"),
        "POST /workers/scale": ("scale_workers", "scale_workers"),
    },
    "documents": {
        "POST /upload": ("upload_document", "upload_document"),
        "POST /chat": ("chat_with_documents", "chat_with_documents"),
        "DELETE /history/{session_id}": ("clear_chat_history", "clear_chat_history"),
        "GET /status/{task_id}": ("get_task_status", "get_task_status"),
        "POST /reindex": ("rebuild_index", "rebuild_index"),
    },
    "verbs in paths": {
        "GET /get_books": ("get_books", "list_books"),
        "GET /get_book/{book_id}": ("get_book", "get_book"),
        "POST /create_book": ("create_book", "create_book"),
        "DELETE /delete_book/{book_id}": ("delete_book", "delete_book"),
    },
    "accounts": {
        "POST /auth/forgot-password": ("forgot_password", "forgot_password"),
        "POST /auth/2fa/enable": ("enable_two_factor", "enable_two_factor"),
        "GET /auth/me": ("get_current_user_info", "get_current_user_info"),
        "GET /users": ("fetch_users", "list_users"),
        "POST /users": ("create_new_user", "create_new_user"),
    },
    "verbs elsewhere": {
        "GET /posts/preview/{token}": ("get_post_by_preview", "get_post_by_preview"),
        "GET /properties": ("get_properties_list", "list_properties_list"),
        "GET /v/{code}": ("tour_short_link", "get_tour_short_link"),
        "POST /ocr": ("ocr", "ocr"),
    },
    "jobs": {
        "POST /jobs": ("submit_job", "submit_job"),
        "GET /jobs/{job_id}": ("get_job_status", "get_job_status"),
        "DELETE /jobs/{job_id}": ("cancel_job", "cancel_job"),
        "POST /queue/purge": ("purge_queue", "purge_queue"),
        "GET /dashboard": ("dashboard", "get_dashboard"),
    },
}


def unique_id(function: str, method: str, path: str) -> str:
    """Return what `fastapi.utils.generate_unique_id` makes of a route."""
    return re.sub(r"\W", "_", f"{function}{path}") + f"_{method.lower()}"


def test_a_hundred_fastapi_documents_are_named_after_their_functions() -> None:
    """R-NAME-2"""
    misnamed: list[str] = []
    count = 0
    for prefix in PREFIXES:
        for application, routes in APPLICATIONS.items():
            wanted = {}
            operations = []
            for route, (function, name) in routes.items():
                method, path = route.split(" ")
                key = f"{method} {prefix}{path}"
                wanted[key] = name
                summary = function.replace("_", " ").title()
                operations.append(operation(key, unique_id(function, method, prefix + path), summary=summary))
            for decision in decided(*operations):
                count += 1
                key = decision.operation.key
                if decision.name != wanted[key]:
                    misnamed.append(f"{application}: {key} is {decision.name}, not {wanted[key]}")
    assert count >= 500
    assert len(misnamed) <= 0.02 * count, misnamed


@each(
    ("key", "called", "name"),
    [
        ("GET /gateway/items/{item_id}", "read_item_items__item_id__get", "get_item"),  # a gateway put a prefix before
        ("DELETE /items/{item_id}", "set_item_items__item_id__put", "delete_item"),  # a route of several methods
        ("GET /v1/items", "users_get_items", "list_items"),  # ends in no path
        ("GET /users/items", "users_items_get", "list_user_items"),  # path and method alone
        ("POST /v2/volumes/actions", "volumeActions_post", "initiate_volume_actions"),
    ],
)
def test_only_what_a_framework_appended_is_cut(key: str, called: str, name: str) -> None:
    """R-NAME-2"""
    summary = "Initiate a block storage action" if "volume" in key else ""
    assert decide_one(key, called, summary=summary).name == name


def test_a_function_behind_the_first_tag_names_the_operation() -> None:
    assert decide_one("GET /users/me", "users-read_user_me", tags=("users",)).name == "get_user_me"


def test_one_function_in_two_routers_still_gives_two_names() -> None:
    keys = {"GET /items/{item_id}": "read_item", "GET /orders/{order_id}/items/{item_id}": "read_item"}
    operations = [operation(key, unique_id(function, *key.split(" "))) for key, function in keys.items()]
    assert sorted(decision.name for decision in decided(*operations)) == ["get_item", "get_order_item"]


def test_a_function_cannot_make_a_deletion_look_milder() -> None:
    decision = decide_one("DELETE /users/{user_id}", "get_user_users__user_id__delete", responses=(answer("204"),))
    assert decision.name == "delete_user"


@each(
    ("key", "called", "summary", "name"),
    [
        ("POST /clusters/{id}/pools/{pool}/recycle", "recycle_pool", "Recycle a pool", "recycle_pool"),
        ("POST /rules/{id}/draft", None, "Drafts a new version", "draft_rule"),
        ("POST /#Action=ReceiveMessage", None, "", "receive_message"),
        ("POST /chat.unfurl", None, "", "unfurl_chat"),
        ("POST /swap-indexes", "swap_indexes", "Swap indexes", "swap_indexes"),
    ],
)
def test_an_action_is_named_by_its_own_word_though_no_verb_is_known(
    key: str, called: str | None, summary: str, name: str
) -> None:
    """R-NAME-2"""
    decision = decide_one(key, called, summary=summary)
    assert (decision.name, decision.category) == (name, "EXECUTE")


@each(
    ("key", "called", "summary", "name"),
    [
        ("POST /workflows/schedules", "schedule_workflow", "Schedule a workflow", "schedule_workflow"),
        ("POST /chores/{keep}/merge/{remove}", None, "Merges two chores", "merge_chore"),
        ("POST /entity/{id}/mirror-sync", "entityMirrorSync", "Sync a mirror", "sync_entity_mirror"),
        ("POST /v1/deleteshortcut", "deleteshortcut", "Delete shortcut", "delete_shortcut"),
        ("POST /v1/listshortcuts", "listshortcuts", "List shortcuts", "list_shortcuts"),
        ("PUT /posts/{id}/post_updates/{uid}", "updatePostUpdate", "", "update_post_update"),
    ],
)
def test_the_verb_is_said_once(key: str, called: str | None, summary: str, name: str) -> None:
    """R-NAME-3"""
    assert decide_one(key, called, summary=summary).name == name


@each(
    ("key", "called", "summary", "name"),
    [
        ("GET /issues/{id}/subscriptions", "issueSubscriptions", "Get who subscribed", "list_issue_subscriptions"),
        ("GET /plugins/importErrors", "import_errors", "Import Errors", "list_plugin_import_errors"),
        ("GET /transit/export/{type}/{name}", "transit-export-key", "Export a key", "export_transit_key"),
        ("GET /shelves/{id}/books/{isbn}.{form}", "shelfDownloadBookDiffOrPatch", "Get changes", "get_shelf_book"),
        ("GET /user/login", "loginUser", "Logs a user in", "login_user"),
        ("POST /uploads", "upload_create", "Create", "create_upload"),
        ("GET /knowledge-base/{id}", "get_knowledge_base_route", "", "get_knowledge_base"),
    ],
)
def test_a_noun_that_looks_like_a_verb_names_nothing(key: str, called: str, summary: str, name: str) -> None:
    """R-NAME-2"""
    assert decide_one(key, called, summary=summary).name == name


@each(
    ("key", "called", "name", "category"),
    [
        ("POST /user/change-password", "createUserChangePassword", "update_user_password", "UPDATE"),
        ("POST /lists/{idList}/moveAllCards", "addListsMoveAllCardsByIdList", "move_list_all_cards", "UPDATE"),
        ("POST /lists/{id}/checkItem", "addListsCheckItemById", "create_list_check_item", "CREATE"),
        ("POST /objects/{type}/gdpr-delete", None, "delete_object_gdpr", "DELETE"),
        ("POST /users/terminate_sessions", None, "terminate_user_sessions", "EXECUTE"),
        ("POST /csrs/{id}/lifecycle/publish", None, "publish_csr", "EXECUTE"),
        ("GET /#Action=TagQueue", "GET_TagQueue", "tag_queue", "UPDATE"),
    ],
)
def test_a_path_that_says_what_is_done_is_believed(key: str, called: str | None, name: str, category: str) -> None:
    """R-NAME-1, R-NAME-2"""
    decision = decide_one(key, called)
    assert (decision.name, decision.category) == (name, category)


def test_what_is_only_marked_is_no_read() -> None:
    """R-NAME-1, R-SAFE-1"""
    for decision in (decide_one("PUT /messages/{id}/read"), decide_one("POST /messages/{id}/read")):
        assert (decision.name, decision.category) == ("mark_message_read", "UPDATE")
    assert decide_one("POST /objects/{type}/batch/read").category == "READ"


@each(
    ("key", "called", "name"),
    [
        ("GET /api/0/organizations", None, "list_organizations"),
        ("GET /replays/{id}/viewed-by", "listReplayViewedBy", "list_replay_viewed_by"),
    ],
)
def test_numbers_participles_and_adjectives_are_no_nouns(key: str, called: str | None, name: str) -> None:
    """R-NAME-3"""
    assert decide_one(key, called).name == name


def test_a_put_that_is_called_by_another_method_is_what_its_summary_says() -> None:
    """R-NAME-1, R-SAFE-1"""
    decision = decide_one(
        "PUT /companies/{id}/finish_onboarding", "get-company-finish-onboarding", summary="Finish onboarding"
    )
    assert (decision.name, decision.category) == ("finish_company_onboarding", "EXECUTE")
    assert decision.review_reasons


def test_a_noun_is_written_alike_whatever_the_summaries_say() -> None:
    """R-NAME-2"""
    api = (
        operation("GET /finetunedmodels", "ListModels", summary="List fine tuned models"),
        operation("GET /finetunedmodels/{id}", "GetModel", summary="Get a finetunedmodel"),
    )
    assert {decision.resource for decision in decided(*api)} == {"finetunedmodel"}


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
