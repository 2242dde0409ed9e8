"""What agents are told of an answer, case by case: status and body → envelope (R-ERR-2)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aqlgen.runtime.wire import ApiResponse
from tests.cases import each

from . import shop
from .hand_made import Recorder

MISSING, UNKNOWN, TYPE = "VALIDATION_MISSING_PARAM", "VALIDATION_UNKNOWN_PARAM", "VALIDATION_INVALID_TYPE"
VALUE = "VALIDATION_INVALID_VALUE"
EXISTS, CHANGED = "CONFLICT_ALREADY_EXISTS", "CONFLICT_VERSION_MISMATCH"
DENIED, INTERNAL, LIMITED = "PERMISSION_DENIED", "INTERNAL_ERROR", "RATE_LIMIT_EXCEEDED"
JSON = "application/json"
NEW = {"customer": {"email_address": "a@b"}, "line_items": [{"sku": "1"}, {"sku": "2"}], "metadata": {"my_key": "1"}}
UPDATE = {"order_id": "7", "input": NEW}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shop.generated(tmp_path_factory.mktemp("shop"))


def called(package: Path, operation: str, params: Any, answer: ApiResponse) -> dict[str, Any]:
    dispatcher = shop.dispatcher(package, Recorder(answer))
    return asyncio.run(dispatcher.handle(None, {"operation": operation, "params": params}))


def answer(body: Any, status: int, content_type: str = JSON, **headers: str) -> ApiResponse:
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    kind = {"content-type": content_type} if content else {}
    return ApiResponse(status, kind | named, content)


PARAMS = {
    "list_orders": {"page_size": 5},
    "get_order": {"order_id": "7"},
    "create_order": NEW,
    "update_order": UPDATE,
    "delete_order": {"order_id": "7"},
    "cancel_order": {"order_id": "7"},
    "create_report": {},
    "update_shelf": {"label": "a", "input": {"size": 3}},
    "add_book": {"label": "a", "title": "b"},
}


class Field(NamedTuple):
    """An answer that blames fields: the code, and the agent's names of the problems in order, None for unknown."""

    operation: str
    body: Any
    code: str
    names: tuple[str | None, ...]
    status: int = 422


FIELDS = {
    "GitHub": Field(
        "create_order",
        {"message": "Validation Failed", "errors": [{"resource": "Order", "field": "note", "code": "missing_field"}]},
        MISSING,
        ("note",),
    ),
    "FastAPI": Field(
        "create_order",
        {"detail": [{"type": "missing", "loc": ["body", "customer", "emailAddress"], "msg": "Field required"}]},
        MISSING,
        ("customer",),
    ),
    "FastAPI in a list": Field(
        "update_order",
        {"detail": [{"type": "float_parsing", "loc": ["body", "lineItems", 1, "unitPrice"], "msg": "no number"}]},
        TYPE,
        ("input.line_items",),
    ),
    "RFC 7807": Field(
        "create_order", {"invalid-params": [{"name": "note", "reason": "must be text"}]}, VALUE, ("note",), 400
    ),
    "RFC 9457": Field(
        "update_order",
        {"title": "Not valid", "errors": [{"pointer": "#/lineItems/0/unitPrice", "detail": "must be positive"}]},
        VALUE,
        ("input.line_items",),
    ),
    "JSON:API pointer": Field(
        "update_order",
        {"errors": [{"source": {"pointer": "/data/attributes/note"}, "detail": "is too long", "code": "x1"}]},
        VALUE,
        ("input.note",),
    ),
    "Google": Field(
        "create_order",
        {
            "error": {
                "code": 400,
                "status": "INVALID_ARGUMENT",
                "details": [
                    {
                        "@type": "type.googleapis.com/google.rpc.BadRequest",
                        "fieldViolations": [{"field": "line_items[1].unit_price", "description": "negative"}],
                    }
                ],
            }
        },
        VALUE,
        ("line_items",),
        400,
    ),
    "Stripe": Field(
        "create_order",
        {"error": {"type": "invalid_request_error", "param": "line_items[0][sku]", "message": "No such sku"}},
        VALUE,
        ("line_items",),
        400,
    ),
    "Rails": Field(
        "update_order",
        {"errors": {"customer.emailAddress": ["is invalid"], "note": ["can't be blank"], "base": ["is closed"]}},
        MISSING,
        ("input.customer", "input.note", None),
    ),
    "Rails without a frame": Field("create_order", {"note": ["is too long"]}, VALUE, ("note",)),
    "ASP.NET": Field(
        "create_order",
        {
            "type": "https://tools.ietf.org/html/rfc9110#section-15.5.1",
            "title": "One or more validation errors occurred.",
            "errors": {"$.lineItems[0].unitPrice": ["not a number"], "Note": ["The Note field is required."]},
        },
        MISSING,
        ("line_items", "note"),
        400,
    ),
    "Django REST": Field("create_order", {"customer": {"emailAddress": ["Enter a valid address."]}}, VALUE, (), 400),
    "Spring": Field(
        "create_order",
        {"status": 400, "errors": [{"field": "customer.emailAddress", "defaultMessage": "must not be empty"}]},
        VALUE,
        ("customer",),
        400,
    ),
    "express-validator": Field(
        "list_orders",
        {"errors": [{"type": "field", "path": "pageSize", "location": "query", "msg": "Invalid value"}]},
        VALUE,
        ("page_size",),
        400,
    ),
    "zod": Field(
        "create_order",
        {"issues": [{"path": ["lineItems", 0, "sku"], "message": "Expected text", "code": "invalid_type"}]},
        TYPE,
        ("line_items",),
        400,
    ),
    "a field that nobody knows": Field(
        "create_order", {"errors": [{"field": "colour", "message": "bad"}]}, VALUE, (None,)
    ),
    "unknown": Field(
        "create_order",
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "colour"], "msg": "Extra inputs"}]},
        UNKNOWN,
        (None,),
    ),
    "a field that has the name of a parameter of the path": Field(
        "update_shelf", {"errors": [{"field": "label", "message": "is taken"}]}, VALUE, ("input.label",)
    ),
    "a field of the body that lacks": Field(
        "add_book",
        {"detail": [{"type": "missing", "loc": ["body", "label"], "msg": "Field required"}]},
        VALUE,
        (None,),
    ),
    "a pointer into the body": Field(
        "add_book", {"errors": [{"pointer": "#/label", "detail": "must be a number"}]}, VALUE, (None,)
    ),
    "missing where the path has it": Field(
        "add_book", {"errors": [{"field": "label", "message": "is required"}]}, VALUE, (None,)
    ),
    "a name with dots": Field("add_book", {"errors": {"file.csv": ["is too long"]}}, VALUE, ("file_csv",)),
    "the path by its place": Field(
        "update_shelf", {"detail": [{"loc": ["path", "label"], "msg": "no such shelf"}]}, VALUE, ("label",)
    ),
    "nothing named": Field("create_order", {"message": "Something is off"}, VALUE, ()),
    "a path of the server": Field("create_order", {"error": {"path": "/orders", "message": "no"}}, VALUE, (), 400),
}


@pytest.mark.parametrize("case", FIELDS.values(), ids=FIELDS)
def test_fields_are_named_as_the_agent_knows_them(package: Path, case: Field) -> None:
    """R-ERR-2, R-ENV-5."""
    envelope = called(package, case.operation, PARAMS[case.operation], answer(case.body, case.status))
    error = envelope["error"]
    assert error["code"] == case.code
    problems = error["details"].get("problems", [])
    assert tuple(problem.get("param_name") for problem in problems) == case.names
    assert all(problem["upstream"] for problem in problems)
    assert error["details"]["upstream"]["body"] == case.body
    assert error["details"]["http_status"] == error["details"]["upstream"]["status"] == case.status
    names = [name for name in case.names if name]
    if names and case.code in (TYPE, VALUE):
        assert f"'{names[0]}'" in error["message"]


def test_a_field_that_nobody_knows_has_its_name_without_the_envelope(package: Path) -> None:
    """R-ERR-2"""
    body = {"errors": [{"source": {"pointer": "/data/attributes/nothing"}, "detail": "is not known"}]}
    error = called(package, "update_order", PARAMS["update_order"], answer(body, 422))["error"]
    assert [problem["upstream"]["name"] for problem in error["details"]["problems"]] == ["nothing"]


STATUSES: list[tuple[str, int, Any, str]] = [
    ("create_order", 402, {"error": {"type": "card_error", "code": "card_declined", "message": "declined"}}, DENIED),
    ("get_order", 401, {"message": "Bad credentials"}, DENIED),
    ("get_order", 403, {"message": "Forbidden"}, DENIED),
    ("get_order", 404, {"message": "Not Found"}, "NOT_FOUND_RESOURCE"),
    ("get_order", 405, None, VALUE),
    ("get_order", 407, None, INTERNAL),
    ("update_order", 408, None, INTERNAL),
    ("get_order", 410, None, "NOT_FOUND_RESOURCE"),
    ("create_order", 413, None, "VALIDATION_PAYLOAD_TOO_LARGE"),
    ("update_order", 423, {"error": "locked"}, DENIED),
    ("create_order", 425, None, LIMITED),
    ("update_order", 428, None, VALUE),
    ("list_orders", 429, {"message": "slow down"}, LIMITED),
    ("get_order", 451, {"message": "for legal reasons"}, DENIED),
    ("get_order", 500, {"message": "oops"}, INTERNAL),
    ("get_order", 501, None, INTERNAL),
    ("get_order", 503, b"<html><title>Down</title><script>x()</script><p>Try &amp; wait</p></html>", INTERNAL),
    ("create_order", 409, None, EXISTS),
    ("create_order", 409, {"code": "conflict", "message": "no"}, EXISTS),
    ("create_order", 422, {"errors": [{"field": "note", "code": "already_exists"}]}, EXISTS),
    ("update_order", 400, {"code": "DuplicateName", "message": "no"}, EXISTS),
    ("create_order", 422, {"errors": [{"field": "note", "code": "exists", "message": "there is none"}]}, VALUE),
    ("cancel_order", 400, {"code": "duplicate", "message": "no"}, VALUE),
    ("create_order", 400, {"message": "Missing node to start: at least one trigger is required"}, VALUE),
    ("create_order", 409, {"message": "An order with this id already exists"}, EXISTS),
    ("create_order", 409, {"code": "23505", "message": "duplicate key value violates unique constraint"}, EXISTS),
    ("create_order", 409, {"error": {"code": "ResourceExists", "message": "no"}}, EXISTS),
    ("create_order", 409, {"code": "PARENT_DOES_NOT_EXIST", "message": "no"}, CHANGED),
    ("update_order", 409, {"code": "VERSION_CONFLICT", "message": "the version is not the latest"}, CHANGED),
    ("update_order", 409, {"message": "the object has been modified; apply your changes to the latest"}, CHANGED),
    ("update_order", 409, {"errors": {"note": ["has already been taken"]}}, EXISTS),
    ("delete_order", 409, {"message": "An invoice already exists"}, CHANGED),
    ("update_order", 412, None, CHANGED),
]


@pytest.mark.parametrize(("operation", "status", "body", "code"), STATUSES)
def test_each_status_has_its_code(package: Path, operation: str, status: int, body: Any, code: str) -> None:
    """R-ERR-2."""
    kind = "text/html" if isinstance(body, bytes) else JSON
    error = called(package, operation, PARAMS[operation], answer(body, status, kind))["error"]
    assert error["code"] == code
    assert error["details"]["http_status"] == error["details"]["upstream"]["status"] == status
    expected = "Down Try & wait" if isinstance(body, bytes) else body
    assert error["details"]["upstream"].get("body") == expected
    words = json.dumps(body) if isinstance(body, dict) else ""
    assert not words or words not in error["message"]


def test_a_create_that_must_be_new_is_told_that_there_is_one(package: Path) -> None:
    for version, code in (("*", EXISTS), ('"v1"', "CONFLICT_VERSION_MISMATCH")):
        envelope = called(package, "create_order", NEW | {"if_none_match": version}, answer(None, 412))
        assert envelope["error"]["code"] == code


@pytest.mark.parametrize(
    ("operation", "status", "question"),
    [
        ("create_order", 500, {"operation": "list_orders", "params": {}}),
        ("create_order", 504, {"operation": "list_orders", "params": {}}),
        ("update_order", 502, {"operation": "get_order", "params": {"order_id": "7"}}),
        ("delete_order", 503, {"operation": "get_order", "params": {"order_id": "7"}}),
        ("cancel_order", 520, {"operation": "get_order", "params": {"order_id": "7"}}),
        ("create_report", 500, None),
        ("update_shelf", 502, None),
        ("add_book", 500, None),
    ],
)
def test_a_write_on_which_the_server_failed_says_how_to_find_out(
    package: Path, operation: str, status: int, question: Any
) -> None:
    """R-ERR-2."""
    error = called(package, operation, PARAMS[operation], answer(None, status))["error"]
    assert error["details"]["outcome"] == "unknown"
    assert error["details"].get("find_out") == question
    assert "may have been carried out" in error["message"]


@pytest.mark.parametrize(("operation", "status"), [("get_order", 500), ("create_order", 501), ("create_order", 400)])
def test_what_was_not_carried_out_says_nothing_of_that(package: Path, operation: str, status: int) -> None:
    assert "outcome" not in called(package, operation, PARAMS[operation], answer(None, status))["error"]["details"]


@pytest.mark.parametrize(
    "name",
    [
        "x-request-id",
        "request-id",
        "x-amzn-requestid",
        "x-amz-request-id",
        "x-github-request-id",
        "x-ms-correlation-request-id",
        "x-correlation-id",
        "x-trace-id",
        "cf-ray",
    ],
)
def test_the_apis_own_name_of_the_exchange_is_told(package: Path, name: str) -> None:
    """R-ERR-2."""
    upstream = called(package, "get_order", PARAMS["get_order"], answer({}, 500, **{name: "r-1"}))["error"]["details"][
        "upstream"
    ]
    assert upstream["request_id"] == "r-1"


def test_the_headers_that_matter_are_told_and_credentials_in_them_masked(package: Path) -> None:
    """R-ERR-2."""
    headers = {
        "retry_after": "7",
        "ratelimit_remaining": "0",
        "x_ratelimit_reset": "9",
        "link": '<https://u:p@shop.example.com/help>; rel="help"',
        "location": "https://u:p@shop.example.com/orders/7?token=abc",
        "deprecation": "@1",
        "sunset": "Sat, 31 Dec 2033 23:59:59 GMT",
        "www_authenticate": 'Digest realm="shop", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", Negotiate ' + "Zm9v" * 20,
        "set_cookie": "session=1",
        "server": "nginx",
    }
    details = called(package, "update_order", UPDATE, answer({}, 409, **headers))["error"]["details"]
    assert details["upstream"]["headers"] == {
        "retry-after": "7",
        "location": "https://***@shop.example.com/orders/7",
        "link": '<https://***@shop.example.com/help>; rel="help"',
        "www-authenticate": 'Digest realm="shop", nonce=***, Negotiate ***',
        "deprecation": "@1",
        "sunset": "Sat, 31 Dec 2033 23:59:59 GMT",
        "ratelimit-remaining": "0",
        "x-ratelimit-reset": "9",
    }


ORDER = {"orderId": "1", "note": "x"}
READ = {"order_id": "1", "note": "x"}
AT = "/orders/1"


class Success(NamedTuple):
    """A success: what comes, the data, the headers beside them, and whether there is a warning."""

    operation: str
    answer: ApiResponse
    data: Any
    headers: dict[str, str] | None = None
    warned: bool = False


SUCCESSES = {
    "object and headers": Success(
        "create_order",
        answer(ORDER, 201, location=AT, etag='"a"', retry_after="3"),
        READ,
        {"Location": AT, "ETag": '"a"', "Retry-After": "3"},
    ),
    "a field called location": Success(
        "create_order", answer({"location": "Rome"}, 201, location=AT), {"location": "Rome"}, {"Location": AT}
    ),
    "a field called location, accepted": Success(
        "create_order",
        answer({"location": "Rome", "_location": "x"}, 202, location=AT),
        {"location": "Rome", "_location": "x", "_monitor": "get_order"},
        {"Location": AT},
    ),
    "an accepted object": Success(
        "create_order",
        answer({"location": "Rome"}, 202, location=AT, retry_after="3"),
        {"location": "Rome", "_location": AT, "_monitor": "get_order", "_retry_after_seconds": 3},
        {"Retry-After": "3"},
    ),
    "an accepted object and no place": Success(
        "create_order", answer(ORDER, 202, retry_after="3"), READ | {"_retry_after_seconds": 3}, {"Retry-After": "3"}
    ),
    "an array": Success(
        "create_report", answer([ORDER], 201, location=AT, etag='"a"'), [READ], {"Location": AT, "ETag": '"a"'}
    ),
    "an accepted text": Success(
        "create_report", answer(b"queued", 202, "text/plain", location=AT), "queued", {"Location": AT}, warned=True
    ),
    "nothing": Success(
        "create_order", answer(None, 201, location=AT, etag='"a"'), {"location": AT, "etag": '"a"'}, None, warned=True
    ),
    "nothing accepted": Success(
        "create_order",
        answer(None, 202, location=AT, retry_after="3"),
        {"status": "running", "location": AT, "monitor": "get_order", "retry_after_seconds": 3},
        {"Retry-After": "3"},
        warned=True,
    ),
    "nothing at all": Success("create_order", answer(None, 201), None, None, warned=True),
    "no content": Success("update_order", answer(None, 204), None),
    "HTML": Success("create_order", answer(b"<html>ok</html>", 200, "text/html"), "<html>ok</html>", warned=True),
    "broken JSON": Success("create_order", answer(b'{"orderId": "1"', 200), '{"orderId": "1"', warned=True),
    "broken JSON of an update": Success("update_order", answer(b'{"orderId', 200), '{"orderId', warned=True),
    "blanks": Success("create_order", answer(b" \n", 200), None, None, warned=True),
    "a read of nothing": Success("get_order", answer(None, 200), None, warned=True),
    "a read and headers": Success("get_order", answer(ORDER, 200, etag='"a"'), READ),
}


@pytest.mark.parametrize("case", SUCCESSES.values(), ids=SUCCESSES)
def test_a_success_stays_one_and_keeps_its_headers_beside_the_data(package: Path, case: Success) -> None:
    """R-ERR-2, R-LOOP-1."""
    envelope = called(package, case.operation, PARAMS[case.operation], case.answer)
    assert envelope["success"] is True, envelope
    goes_on = case.answer.status == 202 and "location" in case.answer.headers
    assert (_without_execution(envelope["data"]) if goes_on else envelope["data"]) == case.data
    assert envelope.get("_meta", {}).get("headers") == case.headers
    warnings = [warning["code"] for warning in envelope.get("warnings", ())]
    assert warnings == (["VALIDATION_UNEXPECTED_CONTENT_WARNING"] if case.warned else [])
    if case.warned:
        says_so = "was carried out" in envelope["warnings"][0]["message"]
        assert says_so == (case.operation not in ("get_order", "list_orders"))


def _without_execution(data: Any) -> Any:
    """Return what the API sent of work that goes on, which can be followed."""
    execution = data.get("_execution", data)
    assert execution["execution_id"].startswith("exec_")
    assert (execution["status"], execution["follow_with"]) == ("running", "get_execution_status")
    if "_execution" in data:
        return {name: value for name, value in data.items() if name != "_execution"}
    added = ("execution_id", "started_at", "follow_with")
    return data["data"] if "data" in data else {name: value for name, value in data.items() if name not in added}


def test_headers_of_a_batch_stand_beside_each_result(package: Path) -> None:
    transport = Recorder(answer([ORDER], 201, location=AT))
    operations = [{"operation": "create_report"}, {"operation": "get_order", "params": {"order_id": "1"}}]
    envelope = asyncio.run(shop.dispatcher(package, transport).handle(None, {"operations": operations}))
    assert envelope["results"][0]["result"]["_meta"] == {"headers": {"Location": AT}}
    assert "_meta" not in envelope["results"][1]["result"]
    assert "headers" not in envelope["_meta"]


def test_more_values_than_can_be_passed_on_are_no_failure_of_a_write(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aqlgen.runtime.decode import body

    monkeypatch.setattr(body, "_MAX_VALUES", 3)
    crowd = answer(b"[1,2,3,4,5]", 200)
    envelope = called(package, "create_order", NEW, crowd)
    assert envelope["data"] is None
    assert "more values" in envelope["warnings"][0]["message"]
    assert called(package, "get_order", PARAMS["get_order"], crowd)["success"] is False


def test_a_page_that_is_a_text_is_no_empty_page(package: Path) -> None:
    """R-ERR-2."""
    envelope = called(package, "list_products", {"first": 5}, answer(b"<html>Log in</html>", 200, "text/html"))
    assert envelope["data"]["items"] == ["<html>Log in</html>"]
    assert envelope["data"]["pageInfo"]["hasNextPage"] is False
    assert [warning["code"] for warning in envelope["warnings"]] == ["VALIDATION_UNEXPECTED_CONTENT_WARNING"]


def test_json_that_is_too_deep_for_a_page_is_told(package: Path) -> None:
    """R-ERR-2."""
    deep = answer(b"[" * 50_000 + b"]" * 50_000, 200, "text/html")
    envelope = called(package, "list_products", {"first": 5}, deep)
    assert "VALIDATION_UNEXPECTED_CONTENT_WARNING" in [warning["code"] for warning in envelope["warnings"]]


@each("content_type", [JSON, "text/json; charset=utf-8", "application/vnd.shop+json", "text/plain", ""])
def test_broken_json_is_no_answer_to_a_read(package: Path, content_type: str) -> None:
    """R-ERR-2: neither an item of a page nor a text; the answer to a write is kept, since it was carried out."""
    for operation, params in (("list_products", {"first": 5}), ("get_order", PARAMS["get_order"])):
        envelope = called(package, operation, params, answer(b'{"a": ', 200, content_type))
        assert envelope["error"]["code"] == INTERNAL, operation
        assert "broken JSON" in envelope["error"]["message"]


@pytest.mark.parametrize("content", [b"<html>Log in</html>", b'{"name": "a"'])
def test_nothing_is_written_over_what_could_not_be_read(package: Path, content: bytes) -> None:
    """R-ERR-2, R-UPD-2."""
    recorder = Recorder(answer(content, 200, "text/html" if content.startswith(b"<") else JSON))
    call = {"operation": "replace_product", "params": {"product_id": "7", "input": {"price": 2}}}
    envelope = asyncio.run(shop.dispatcher(package, recorder).handle(None, call))
    assert envelope["error"]["code"] == INTERNAL
    assert envelope["error"]["details"]["outcome"] == "not_performed"
    assert [request.method for request in recorder.sent] == ["GET"]
