"""Names that once read badly, by the rule that fixed them."""

from __future__ import annotations

from operations import decide_one, decided, operation

from tests.cases import each


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
        ("GET /threads/{id}", "notifyGetThread", "Get a thread", "get_thread"),
        ("GET /transit/export/{type}/{name}", "transit-export-key", "Export a key", "export_transit_key"),
        ("GET /shelves/{id}/books/{isbn}.{form}", "shelfDownloadBookDiffOrPatch", "Get changes", "get_shelf_book"),
        ("POST /books/{id}/undismissals", "bookUnDismissNote", "Cancel to dismiss", "undismiss_book_note"),
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


@each(
    ("key", "name"),
    [
        ("PUT /messages/{id}/read", "mark_message_read"),
        ("POST /messages/{id}/read", "mark_message_read"),
    ],
)
def test_what_is_only_marked_is_no_read(key: str, name: str) -> None:
    """R-NAME-1, R-SAFE-1"""
    decision = decide_one(key)
    assert (decision.name, decision.category) == (name, "UPDATE")
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
