"""Classes of names that were bad: each row is a kind that many documents have."""

from __future__ import annotations

from typing import Any

from operations import answer, decide_one, names

from aqlgen.ir import Document
from aqlgen.table.identity import identify
from tests.cases import each

LIST: dict[str, Any] = {"type": "array", "items": {"type": "object"}}
ENVELOPE = {
    "type": "object",
    "properties": {
        "errors": {"type": "array", "items": {}},
        "messages": {"type": "array", "items": {}},
        "result": {"anyOf": [{"type": "object"}, {"type": "array"}]},
        "success": {"type": "boolean"},
    },
}
ONE = {"allOf": [ENVELOPE, {"properties": {"result": {"type": "object", "properties": {"id": {}}}}}]}
HAL = {"properties": {"count": {}, "_embedded": {"properties": {"domains": LIST}}, "_links": {}}}
MANY = {"allOf": [ENVELOPE, {"properties": {"result": LIST}}, {"properties": {"result_info": {"type": "object"}}}]}


@each(
    ("key", "called", "name"),
    [
        ("GET /containers/{id}/json", "ContainerInspect", "inspect_container"),
        ("GET /issuer/{ref}/json", "read-issuer-json", "get_issuer_json"),  # people say it
        ("GET /Products({ProductId})", "Products_GetProduct", "get_product"),
        ("POST /v1/auth/signin", "AuthService_SignIn", "sign_in_auth"),
        ("POST /payments/{id}/fail", "PostPaymentsIdFail", "fail_payment"),
        ("POST /calendars/{id}/events/watch", "calendar.events.watch", "watch_event"),
        ("POST /backup/restore/{id}", None, "restore_backup"),
        ("POST /accounts/{account}/people", "PostAccountsAccountPeople", "create_account_person"),
        ("GET /accounts/{account}/people/{person}", None, "get_account_person"),
        ("POST /boards/{idBoard}/lists", "addBoardsListsByIdBoard", "create_board_list"),
        ("PUT /cards/{idCard}/closed", "updateCardsClosedByIdCard", "update_card_closed"),
        ("POST /connectors/{connector_id_or_name}/key", "create_connector_key", "create_connector_key"),
        ("GET /lists", "getLists", "list_all_lists"),
        ("GET /movie/{movie_id}", "GET_movie-movie_id", "get_movie"),
        ("GET /person/{person_id}/images", "GET_person-person_id-images", "list_person_images"),
        ("GET /c/{id}/show.json", "getCategory", "get_category"),
        ("GET /c/{slug}/{id}.json", "listCategoryTopics", "list_category_topics"),
        ("PUT /t/{id}/status.json", "updateTopicStatus", "update_topic_status"),
        ("DELETE /t/{id}.json", "removeTopic", "delete_topic"),
        ("DELETE /investment/document/{id}", "addInvestmentDocument", "delete_investment_document"),
        ("PATCH /boards/{id}/cells/{cell}/view", "PatchBoardsIDCellsIDView", "update_board_cell_view"),
        ("POST /api/v2/write", "PostWrite", "write"),
        ("GET /settlements/open", "getOpenSettlement", "get_open_settlement"),
    ],
)
def test_a_name_says_what_a_path_means(key: str, called: str | None, name: str) -> None:
    """R-NAME-2"""
    assert decide_one(key, called).name == name


def test_a_singular_path_beside_its_plural_creates_one_person() -> None:
    both = names("POST /v1/account/people", "POST /v1/accounts/{account}/people")
    assert both["POST /v1/accounts/{account}/people"] == "create_account_person"
    assert "accounts_people" not in " ".join(both.values())


@each(("schema", "verb"), [(MANY, "list"), (ENVELOPE, "list"), (HAL, "list"), (ONE, "get")])
def test_a_list_in_an_envelope_that_all_answers_share_is_listed(schema: Any, verb: str) -> None:
    key = "GET /accounts/{account_id}/pages/projects/{project_name}/domains"
    decision = decide_one(key, "pages-domains-get-domains", responses=(answer("200", schema),))
    assert decision.name == f"{verb}_page_project_domains"


@each("tags", [(), ("Access Bookmark applications (Deprecated)",)])
def test_a_namespace_that_holds_a_verb_is_none(tags: tuple[str, ...]) -> None:
    called = "access-bookmark-applications-(-deprecated)-update-a-bookmark-application"
    decision = decide_one("PUT /accounts/{account_id}/access/bookmarks/{bookmark_id}", called, tags=tags)
    assert (decision.name, decision.category) == ("update_access_bookmark", "UPDATE")


def test_an_upload_with_broken_letters_is_no_list() -> None:
    called = "stream-videos-upload-videos-via-direct-upload-ur-ls"
    summary = "Upload videos via direct upload URLs"
    for tags in ((), ("Stream Videos",)):
        decision = decide_one("POST /accounts/{id}/stream/copies", called, summary=summary, tags=tags)
        assert decision.category == "CREATE"


def test_what_a_converter_of_odata_writes_as_title_is_no_name() -> None:
    title = "OData Service for namespace microsoft.graph"
    document = Document("3.1", title, "", "", (), (), (), (), ())
    assert identify(document, None, "graph").name == "microsoft-graph"


@each(
    ("key", "called", "level"),
    [
        ("POST /connectors/{id}/metadata-cache/reset", "resetConnectorMetadataCache", "destructive"),
        ("POST /connectors/{id}/resetMetadataCache", "resetConnectorMetadataCache", "destructive"),
        ("POST /instances/{id}/truncateLog", "truncateInstanceLog", "destructive"),
        ("POST /users.session.reset", "users_session_reset", "destructive"),
        ("POST /projects/{id}/database/reset", "resetProjectDatabase", "destructive"),
        ("POST /databases/{id}/reset", "resetDatabase", "forbidden"),
        ("POST /projects/{id}/cache/reset", "resetDatabase", "destructive"),
        ("POST /tables/{id}/truncate", "truncateTable", "forbidden"),
        ("POST /cache/reset", "resetCache", "forbidden"),
    ],
)
def test_a_part_of_one_item_bounds_what_a_name_says(key: str, called: str, level: str) -> None:
    """R-SAFE-1"""
    assert decide_one(key, called).danger == level


def test_an_operation_id_names_a_method_that_an_sdk_calls_by_no_verb() -> None:
    assert decide_one("GET /refunds", "listAllRefunds", extensions={"x-sdk-method-name": "all"}).name == "list_refunds"
