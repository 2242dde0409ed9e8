"""Names after the author's functions: FastAPI writes function, path and method into the operationId."""

from __future__ import annotations

import re

from operations import answer, decide_one, decided, operation

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
