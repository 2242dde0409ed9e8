from __future__ import annotations

from typing import Any

import pytest
from operations import NOWHERE, answer, decide_one, decided, document, operation

from aqlgen.decide.decision import REVIEW_THRESHOLD, Category, Evidence
from aqlgen.decide.facts import Facts
from aqlgen.decide.overrides import Override, Overrides
from aqlgen.decide.schemas import Schemas
from aqlgen.decide.stage import decide
from aqlgen.document.resolve import Resolver
from aqlgen.ir import MISSING, Body, Document, MediaType
from tests.cases import each, each_family


@each_family(
    ("key", "called", "category"),
    {
        "plain operations follow their method": [
            ("GET /pets", None, "READ"),
            ("HEAD /pets/{petId}", None, "READ"),
            ("OPTIONS /pets", None, "READ"),
            ("POST /pets", None, "CREATE"),
            ("PUT /pets/{petId}", None, "UPDATE"),
            ("PATCH /pets/{petId}", None, "UPDATE"),
            ("DELETE /pets/{petId}", None, "DELETE"),
        ],
        "a delete is judged by its effect": [
            ("DELETE /jobs/{id}", "cancelJob", "EXECUTE"),
            ("DELETE /products/{id}/tags/{tag}", "Tag_DetachFromProduct", "UPDATE"),
            ("DELETE /users/{id}", "removeUser", "DELETE"),
        ],
        "a remote procedure is read from the verb in its name": [
            ("POST /chat.postMessage", None, "CREATE"),
            ("GET /users.list", None, "READ"),
            ("POST /#X-Amz-Target=AWSGlue.DeleteTable", None, "DELETE"),
            ("GET /#Action=RebootInstances", None, "EXECUTE"),
            ("GET /#Action=DescribeVpcs", None, "READ"),
            ("POST /asset_report/get", None, "READ"),
            ("POST /deleteWebhook", None, "DELETE"),
        ],
        "a verb inside a compound is a noun": [
            ("POST /accounts/{id}/transferLimits", None, "CREATE"),
            ("GET /grantOffers", None, "READ"),
            ("GET /accounts/{id}/ConnectApps.json", "ListConnectApp", "READ"),
            ("GET /recordings/{id}/AddOnResults.json", None, "READ"),
            ("POST /storage/upload-url", None, "CREATE"),
            ("POST /storage/download-links", None, "CREATE"),
            ("POST /runners/remove-token", "actions/create-remove-token", "CREATE"),
            ("POST /storage/{id}/listKeys", None, "READ"),
            ("POST /chats/{id}/exportChatInviteLink", None, "READ"),
        ],
    },
)
def test_a_category_follows_from_the_method_unless_the_words_say_otherwise(
    key: str, called: str | None, category: str
) -> None:
    """R-NAME-1"""
    assert decide_one(key, called).category == category


@each(
    ("key", "called"),
    [
        ("POST /pets/search", None),
        ("POST /v1/items:query", None),
        ("POST /indexes/{index}/_search", None),
        ("POST /reports", "searchReports"),
        ("POST /prices/calculate", "calculatePrice"),
        ("GET /executions/{id}/status", "getExecutionStatus"),
    ],
)
def test_what_only_asks_or_computes_is_a_read_whatever_its_method_and_subject(key: str, called: str | None) -> None:
    """R-NAME-1"""
    assert decide_one(key, called).category is Category.READ


@each(
    ("key", "called"),
    [
        ("POST /pulls/{id}/merge", None),
        ("PUT /pulls/{id}/merge", "pulls/merge"),
        ("POST /orders/{id}/cancel", None),
        ("POST /posts/{id}/publish", "publishPost"),
        ("POST /v1/operations/{id}:cancel", None),
        ("POST /messages", "sendMessage"),
        ("POST /jobs/{id}/retry", "createRetry"),
        ("POST /calls/{id}/actions/record_start", None),
    ],
)
def test_actions_with_an_effect_outside_the_data_are_executed(key: str, called: str | None) -> None:
    """R-NAME-1"""
    assert decide_one(key, called).category is Category.EXECUTE


@each(
    ("key", "called"),
    [
        ("PUT /user/starred/{owner}/{repo}", "activity/star-repo-for-authenticated-user"),
        ("PUT /users/{id}/following/{other}", "followUser"),
        ("PUT /teams/{id}/members/{user}", "addTeamMember"),
    ],
)
def test_a_put_that_attaches_creates(key: str, called: str) -> None:
    """R-NAME-1"""
    assert decide_one(key, called).category is Category.CREATE


def test_a_put_of_a_member_with_nothing_to_send_attaches_but_wants_a_look() -> None:
    """R-NAME-1"""
    decision = decide_one("PUT /teams/{id}/members/{user}", responses=(answer("204"),))
    assert decision.category is Category.CREATE
    assert decision.review_reasons


JSON: Any = Body(True, "", (MediaType("application/json", {"type": "object"}, MISSING, NOWHERE),), NOWHERE)


@pytest.mark.parametrize(
    ("key", "called", "name"),
    [
        ("PUT /clusters/{name}", "Clusters_CreateOrUpdate", "create_or_update_cluster"),
        ("PUT /clusters/{name}", "upsertCluster", "upsert_cluster"),
        ("POST /clusters", "addOrUpdateCluster", "add_or_update_cluster"),
        ("POST /clusters/upsert", None, "upsert_cluster"),
        ("PUT /files/{path}", "saveFile", "save_file"),
        ("POST /files", "saveFile", "save_file"),
        ("PUT /files/{path}", "createFile", "create_file"),
        ("PUT /files/{path}", "uploadFile", "upload_file"),
        ("PUT /guilds/{id}/members/{user}", "addMember", "add_member"),
    ],
)
@pytest.mark.parametrize("answers", [(), ("200",), ("201", "204"), ("201",), ("default",), ("200", "409")])
def test_what_can_overwrite_is_an_update_under_the_name_that_people_use(
    key: str, called: str | None, name: str, answers: tuple[str, ...]
) -> None:
    """R-NAME-1: the tool of CREATE says that it destroys nothing."""
    decision = decide_one(key, called, body=JSON, responses=tuple(map(answer, answers)))
    only_made = answers == ("201",) and called == "saveFile" and key.startswith("POST")
    assert (decision.category, decision.name) == (Category.CREATE if only_made else Category.UPDATE, name)


@each("called", ["createFile", "uploadFile", "addFile"])
def test_a_put_that_refuses_what_is_there_creates(called: str) -> None:
    """R-NAME-1: it declares 409, and 201 as its only success."""
    decision = decide_one("PUT /files/{path}", called, body=JSON, responses=(answer("201"), answer("409")))
    assert decision.category is Category.CREATE


def test_a_put_of_what_a_get_of_its_path_answers_is_an_update() -> None:
    read = operation("GET /events/{type}/rules", responses=(answer("200", {"type": "object"}),))
    assert decided(read, operation("PUT /events/{type}/rules", "createRules", body=JSON))[1].category == "UPDATE"


def test_the_owner_has_the_last_word_about_what_overwrites() -> None:
    """R-NAME-1"""
    overrides = Overrides(entries={"PUT /files/{path}": Override(category=Category.CREATE)})
    assert decided(operation("PUT /files/{path}", "saveFile", body=JSON), overrides=overrides)[0].category == "CREATE"


@each(
    ("called", "category"),
    [
        ("transferLedgerGet", "READ"),
        ("UpdateRuns_ListTopLevel", "READ"),
        ("registries_list_keys", "READ"),
        ("aws-write-role-tag", "UPDATE"),
    ],
)
def test_a_noun_that_looks_like_a_verb_does_not_mislead(called: str, category: str) -> None:
    """R-NAME-1"""
    assert decide_one("POST /transfer/ledger/things", called).category == category


def test_the_document_may_say_it_itself() -> None:
    """R-NAME-1"""
    decision = decide_one("POST /reports", extensions={"x-mcpaql-category": "execute"})
    assert (decision.category, decision.category_reason.evidence) == (Category.EXECUTE, Evidence.METADATA)


@each(("action", "category"), [("deletecollection", "DELETE"), ("connect", "EXECUTE"), ("list", "CREATE")])
def test_kubernetes_says_what_it_does(action: str, category: str) -> None:
    """R-NAME-1"""
    assert decide_one("POST /api/v1/pods", extensions={"x-kubernetes-action": action}).category == category


def test_a_decision_names_the_rule_it_rests_on() -> None:
    """R-NAME-4"""
    reason = decide_one("POST /orders/{id}/cancel").category_reason
    assert (reason.rule, reason.note) == ("action-on-resource", "the path ends in cancel")


@each(
    ("key", "called", "summary", "answers", "category"),
    [
        ("POST /runs/{id}/rules", "reviewRules", "Review the rules of a run", "204", "EXECUTE"),
        ("POST /books/{id}/analyze", "bookAnalyze", "Analyze book", "202", "EXECUTE"),
        ("POST /hooks/{id}/pings", "pingHook", "Ping a hook", "204", "EXECUTE"),
        ("POST /spaces/{id}/exports", "exportSpace", "Triggers an export of a space", "200", "EXECUTE"),
        ("POST /signals/report", "signalReport", "Report whether it was paid", "200", "EXECUTE"),
        ("POST /library/{name}/check-out", "libraryCheckOut", "Check an account out", "200", "EXECUTE"),
        ("POST /docs/findOneAndDelete", None, "", "200", "DELETE"),
        ("PUT /accounts/query/blocklist", "blocklistAccountsQuery", "", "200", "UPDATE"),
        ("DELETE /volumes/{id}/{action}", "detachOrDeleteVolume", "", "204", "DELETE"),
        ("POST /shares/{share}/auth", None, "Get an auth token for a share", "200", "EXECUTE"),
        ("POST /messages/download", "downloadMessages", "Download messages", "202", "EXECUTE"),
        ("PUT /accounts/{id}/validate", None, "", "200", "EXECUTE"),
        ("PUT /stats/event-types", "stats.aggregate-event-types", "Aggregate event types", "202", "EXECUTE"),
        ("POST /things/search", "searchThings", "Search things", "200", "READ"),
        ("POST /monitors/validate", "validateMonitor", "Validate a monitor", "200", "READ"),
    ],
)
def test_a_change_that_sounds_like_reading_is_no_read(
    key: str, called: str | None, summary: str, answers: str, category: str
) -> None:
    """R-NAME-1, R-SAFE-1"""
    response = answer(answers, {"type": "object"} if answers in ("200", "202") else None)
    assert decide_one(key, called, summary=summary, responses=(response,)).category == category


def test_an_extension_that_calls_sending_read_only_is_not_believed() -> None:
    """R-SAFE-1, R-TRUST-1"""
    assert decide_one("POST /messages/send-raw", extensions={"x-readonly": True}).category == "EXECUTE"
    assert decide_one("POST /webhooks/{id}/test", extensions={"x-readonly": True}).category != "READ"
    assert decide_one("POST /messages", "lookupMessages", extensions={"x-readonly": True}).category == "READ"
    assert decide_one("DELETE /a/{id}", "deleteA", extensions={"x-sdk-operation-name": "detach"}).category == "DELETE"


def test_a_get_that_is_called_like_a_change_wants_a_look() -> None:
    """R-NAME-4"""
    assert decide_one("GET /cache", "flushCache").review_reasons
    assert not decide_one("GET /cache", "getCache").review_reasons


@each(
    ("key", "called", "summary", "category"),
    [
        ("DELETE /journeys/{id}", "archiveJourney", "", "UPDATE"),
        ("DELETE /invitations/{id}", "decline-invitation", "", "EXECUTE"),
        ("DELETE /products/{id}", None, "Archives a product", "UPDATE"),
        ("PATCH /devices/{id}", None, "Change a device", "UPDATE"),
        ("PUT /snapshots", "Sites_GetSnapshots", "", "READ"),
    ],
)
def test_a_method_gives_way_to_what_people_say_is_done(
    key: str, called: str | None, summary: str, category: str
) -> None:
    """R-NAME-1"""
    assert decide_one(key, called, summary=summary).category == category


def test_a_post_on_an_item_changes_it_and_beside_its_owner_adds() -> None:
    """R-NAME-1"""
    decisions = [decide_one(f"POST /{path}") for path in ("evaluations/{evaluation_id}", "policies/{project_id}")]
    assert [decision.category for decision in decisions] == ["UPDATE", "CREATE"]
    assert all(decision.review_reasons for decision in decisions)


@each(
    ("summary", "category"),
    [
        ("Modifies an assistant", "UPDATE"),
        ("Returns the number of tokens", "READ"),
        ("Use this method to send a message", "EXECUTE"),
        ("Permanently deletes the key", "DELETE"),
        ("(Deprecated) Retrieve a sweep", "READ"),
    ],
)
def test_a_summary_is_read_to_its_verb(summary: str, category: str) -> None:
    """R-NAME-1"""
    assert decide_one("POST /x/things", summary=summary).category == category


@each(
    ("key", "called", "summary"),
    [
        ("POST /assets/{id}/materialise", "materialiseAsset", "Materialise an asset"),
        ("POST /bookings/{id}/unbook", None, "Unbooks a booking"),
        ("POST /points/{id}/accumulate", "AccumulatePoints", ""),
    ],
)
def test_an_action_is_known_by_its_place_when_its_verb_is_not(key: str, called: str | None, summary: str) -> None:
    """R-NAME-1"""
    decision = decide_one(key, called, summary=summary)
    assert (decision.category, decision.category_reason.rule) == (Category.EXECUTE, "described-action")


@each(
    ("path", "called", "summary", "category"),
    [
        ("/entities/{id}/requestPeriodicReview", "requestPeriodicReview", "Request periodic review", "CREATE"),
        ("/transfers/{id}/returns", "returnTransfer", "Return a transfer", "EXECUTE"),
        ("/sandbox/item/reset_login", "sandboxItemResetLogin", "", "UPDATE"),
        ("/sandbox/transfer/fire_webhook", "sandboxTransferFireWebhook", "", "EXECUTE"),
    ],
)
def test_the_verb_of_a_name_is_the_one_that_its_summary_or_its_path_has(
    path: str, called: str, summary: str, category: str
) -> None:
    """R-NAME-1"""
    assert decide_one(f"POST {path}", called, summary=summary).category == category


@each(
    ("extensions", "category"),
    [
        ({"x-methodName": "cancelPayment"}, "EXECUTE"),
        ({"x-fern-sdk-method-name": "search"}, "READ"),
        ({"x-speakeasy-name-override": "upsert"}, "UPDATE"),
        ({"x-speakeasy-entity-operation": "Pet#delete"}, "DELETE"),
        ({"x-readonly": True, "x-methodName": "query"}, "READ"),
        ({"x-ms-pageable": {"nextLinkName": "nextLink"}, "x-methodName": "findAll"}, "READ"),
        ({"x-readonly": True}, "CREATE"),
        ({"x-ms-pageable": {"nextLinkName": "nextLink"}}, "CREATE"),
    ],
)
def test_extensions_of_sdk_generators_are_believed(extensions: dict[str, object], category: str) -> None:
    """R-NAME-1"""
    assert decide_one("POST /payments/reports", "post-payments-reports", extensions=extensions).category == category


@each("key", ["POST /auth/login", "PUT /things/{id}/lists", "POST /things/{id}/lists"])
def test_what_only_the_path_says_wants_a_look(key: str) -> None:
    """R-NAME-4"""
    silent = decide_one(key)
    spoken = decide_one(key, summary="Sets the lists" if key.startswith("PUT") else "Creates a list")
    assert silent.category_reason.confidence < REVIEW_THRESHOLD
    assert "without other evidence" in silent.category_reason.note
    assert "without other evidence" not in spoken.category_reason.note


def test_an_action_on_one_item_is_sure_without_anybody_else() -> None:
    """R-NAME-4"""
    assert not decide_one("POST /orders/{id}/cancel").review_reasons


def test_a_contradiction_wants_a_look_and_says_who_contradicts() -> None:
    """R-NAME-4"""
    decision = decide_one("POST /databases/{id}/migrate", "databases_update_region")
    assert decision.category is Category.EXECUTE
    assert decision.category_reason.note == "the path ends in migrate, but its name in the document says update"
    assert decision.review_reasons


def test_a_get_of_a_procedure_that_may_be_a_change_wants_a_look() -> None:
    """R-NAME-4"""
    assert decide_one("GET /files.share").review_reasons
    assert not decide_one("GET /files.list").review_reasons


def test_a_document_hides_what_agents_should_not_see() -> None:
    hidden = operation("GET /internal", extensions={"x-mcpaql-hidden": True})
    assert [decision.name for decision in decided(hidden, operation("GET /pets"))] == ["list_pets"]


def paged(schema: object) -> Document:
    return document(operation("GET /reports/summary", responses=(answer("200", schema),)))


@each(
    ("schema", "verb"),
    [
        ({"type": "array"}, "list"),
        ({"$ref": "#/page"}, "list"),
        ({"allOf": [{"properties": {"next": {}}}, {"properties": {"reports": {"type": "array"}}}]}, "list"),
        ({"properties": {"data": {"properties": {"total": {}, "rows": {"type": "array"}}}}}, "list"),
        ({"properties": {"id": {}, "tags": {"type": "array"}}}, "get"),
        ({"type": "object"}, "get"),
        ({"$ref": "#/nowhere"}, "get"),
    ],
)
def test_the_answer_tells_one_from_many(schema: object, verb: str) -> None:
    """R-NAME-2"""
    root = {"page": {"properties": {"data": {"type": "array"}, "has_more": {}, "object": {}}}}
    (decision,) = decide(paged(schema), Overrides(), Resolver(root))
    assert decision.verb == verb


@each(
    "schema",
    [
        {"$ref": ["#/page"]},
        {"allOf": {"odd": 1}, "properties": ["odd"]},
        {"oneOf": 7, "type": {"odd": 1}},
        {"allOf": [{"$ref": "#/bomb"}] * 50},
        {"properties": {1: {"type": "array"}, "data": "odd"}},
    ],
)
def test_odd_schemas_and_schemas_that_hold_themselves_do_no_harm(schema: object) -> None:
    root = {"bomb": {"allOf": [{"$ref": "#/bomb"}] * 50, "properties": {"data": {"$ref": "#/bomb"}}}}
    (reading,) = paged(schema).operations
    assert Facts(reading, Schemas(Resolver(root))).answers_list in (True, False, None)
