"""Responses become data, and errors of the API become failures."""

from __future__ import annotations

import re
import time
from email.utils import formatdate
from typing import Any

import pytest

from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.warnings.content import unexpected_content
from aqlgen.runtime.wire import ApiResponse
from tests.cases import each

from .hand_made import STRING, Make, Package, json_answer, operation

TYPES = {"Pet": {"type": "object", "properties": {"pet_id": {"type": "integer", "x-name": "petId"}}}}
ROWS = {
    "op": operation(
        path="/owners/{ownerId}/pets/{petId}",
        parameters={
            "owner_id": {"in": "path", "name": "ownerId", "required": True, "schema": STRING},
            "pet_id": {"in": "path", "name": "petId", "required": True, "schema": STRING},
            "page_size": {"in": "query", "name": "pageSize", "schema": {}},
        },
        responses={
            "200": {"content_type": "application/json", "schema": {"$ref": "#/types/Pet"}},
            "202": {"content_type": "text/plain", "schema": STRING},
            "2XX": {"content_type": "application/json", "schema": {"type": "array", "items": {"$ref": "#/types/Pet"}}},
            "303": {},
        },
    )
}
PARAMS = {"owner_id": "o1", "pet_id": "p1"}


@pytest.fixture
def pets(package: Make) -> Package:
    adapter = {
        "security_schemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["P_KEY"]}},
        "security": [["key"]],
    }
    return package(ROWS, TYPES, adapter=adapter, environ={"P_KEY": "hunter2-secret"})


def raised(pets: Package, response: ApiResponse) -> Failure:
    with pytest.raises(Failure) as caught:
        pets.decode(response, PARAMS)
    return caught.value


def answer(content: bytes, content_type: str = "", status: int = 200) -> ApiResponse:
    return ApiResponse(status, {"content-type": content_type} if content_type else {}, content)


@each(
    "promised, kind, data",
    [
        ("text/plain", "text/plain", ""),
        ("text/plain; charset=utf-8", "", ""),
        ("text/html", "text/html", ""),
        ("application/yaml", "application/yaml", ""),
        ("text/csv", "text/csv", ""),
        ("text/event-stream", "text/event-stream", []),
        ("application/x-ndjson", "application/x-ndjson", []),
    ],
)
def test_no_bytes_of_a_text_or_a_stream_are_an_empty_one(package: Make, promised: str, kind: str, data: object) -> None:
    """R-ERR-2."""
    small = package({"op": operation(responses={"200": {"content_type": promised}})})
    response = answer(b"", kind)
    assert small.decode(response) == data
    assert unexpected_content(small.row(), response, data) is None


@each("promised", ["application/json", "application/vnd.x+json", "application/xml", "image/png"])
def test_no_bytes_of_what_cannot_be_empty_are_told(package: Make, promised: str) -> None:
    """R-ERR-2."""
    small = package({"op": operation(responses={"200": {"content_type": promised}})})
    assert small.decode(answer(b"", promised)) is None
    assert unexpected_content(small.row(), answer(b"", promised), None) is not None


@pytest.mark.parametrize(
    ("response", "data"),
    [
        (answer(b"", "application/json"), None),
        (answer(b"hello", "text/plain", 205), "hello"),
        (answer(b"<a/>", "application/xml", 202), "<a/>"),
        (answer(b'{"petId": NaN}', "application/json"), {"pet_id": None}),
        (answer(b"fine", "text/plain"), "fine"),
        (answer(b"x", "text/plain; charset=nonsense", 202), "x"),
    ],
)
def test_bodies_are_read_by_their_type(pets: Package, response: ApiResponse, data: Any) -> None:
    assert pets.decode(response) == data


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (answer(b"oops", "application/json"), "oops"),
        (answer(b"<html>login</html>", "text/html"), "<html>login</html>"),
        (answer(b"[" * 100_000, "application/json"), "[" * 100_000),
        (answer(b"\xff\xfe\xfd", "application/json"), "\ufffd"),
    ],
)
def test_a_success_that_is_not_what_it_says_is_its_text(pets: Package, response: ApiResponse, text: str) -> None:
    """R-ERR-2."""
    assert pets.decode(response) == text


@pytest.mark.parametrize("status", [302, 304])
def test_a_status_of_no_meaning_here_is_an_internal_error(pets: Package, status: int) -> None:
    """R-ERR-2."""
    assert raised(pets, answer(b"", "", status)).code is Code.INTERNAL_ERROR


def test_a_missing_resource_names_its_type_and_the_last_identifier(pets: Package) -> None:
    failure = raised(pets, json_answer({}, 404))
    assert failure.message == "Resource 'pet' not found: 'p1'"
    assert failure.details == {"http_status": 404, "resource_type": "pet", "resource_id": "p1"} | {
        "upstream": {"status": 404, "content_type": "application/json"}
    }


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "17"}, 17),
        ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "33"}, 33),
        ({"retry_after": "soon"}, 60),
        ({}, 60),
    ],
)
def test_a_rate_limit_says_when_to_try_again(pets: Package, headers: dict[str, str], seconds: int) -> None:
    failure = raised(pets, json_answer({}, 429, **headers))
    assert failure.details["retry_after_seconds"] == seconds
    assert str(seconds) in failure.message


def test_a_rate_limit_may_give_a_date(pets: Package) -> None:
    failure = raised(pets, json_answer({}, 429, retry_after=formatdate(time.time() + 100, usegmt=True)))
    assert 90 <= failure.details["retry_after_seconds"] <= 101


def test_a_needed_scope_is_told(pets: Package) -> None:
    failure = raised(
        pets, json_answer({}, 403, www_authenticate='Bearer error="insufficient_scope", scope="pets:write"')
    )
    assert failure.details["required_scope"] == "pets:write"
    assert "pets:write" not in failure.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"type": "about:blank", "title": "Bad", "detail": "The name is taken"}, "The name is taken"),
        ({"title": "Only a title", "status": 400}, "Only a title"),
        ({"error": "plain"}, "plain"),
        ({"error": {"message": "within", "code": 3}}, "within"),
        ({"errors": [{"message": "the first"}, {"message": "the second"}]}, "the first"),
        ({"detail": [{"loc": ["query", "size"], "msg": "field required"}]}, "field required"),
        ({"Message": "in capitals"}, "in capitals"),
        ({"errorMessages": ["of a list"], "errors": {}}, "of a list"),
        ({"fault": {"faultstring": "of a gateway", "detail": {"errorcode": "x"}}}, "of a gateway"),
        ({"success": False, "issues": [{"path": ["a", "b"], "message": "Expected text"}]}, "Expected text"),
        ({"error": "invalid_request", "error_description": "told better"}, "told better"),
        (["a bare text"], "a bare text"),
        ({"errors": "as a text"}, "as a text"),
        ({"status": 400}, None),
    ],
)
def test_the_apis_message_is_found_in_the_common_shapes(pets: Package, body: Any, message: str | None) -> None:
    """R-ERR-2."""
    assert raised(pets, json_answer(body, 409)).details["upstream"].get("message") == message


@pytest.mark.parametrize(
    ("body", "code", "param"),
    [
        (
            {"detail": [{"loc": ["query", "pageSize"], "msg": "field required", "type": "missing"}]},
            Code.MISSING_PARAM,
            "page_size",
        ),
        ({"message": "Missing required parameter 'pageSize'"}, Code.MISSING_PARAM, "page_size"),
        ({"message": "The 'ownerId' misses a required contract"}, Code.INVALID_VALUE, "owner_id"),
        ({"errors": [{"field": "pageSize", "code": "invalid_type"}]}, Code.INVALID_TYPE, "page_size"),
        ({"errors": [{"field": "pageSize", "code": "invalid_media_type"}]}, Code.INVALID_VALUE, "page_size"),
        ({"errors": [{"field": "pageSize", "code": "invalid"}]}, Code.INVALID_VALUE, "page_size"),
        ({"errors": [{"source": {"parameter": "pageSize"}, "detail": "too big"}]}, Code.INVALID_VALUE, "page_size"),
        ({"errors": {"pageSize": ["must be positive"]}}, Code.INVALID_VALUE, "page_size"),
        ({"invalid-params": [{"name": "pageSize", "reason": "must be positive"}]}, Code.INVALID_VALUE, "page_size"),
        ({"error": {"message": "bad", "param": "pageSize"}}, Code.INVALID_VALUE, "page_size"),
        (
            {"error": "RecordInvalid", "details": {"pageSize": [{"description": "too big"}]}},
            Code.INVALID_VALUE,
            "page_size",
        ),
        (
            {
                "error": {
                    "message": "bad",
                    "details": [{"fieldViolations": [{"field": "pageSize", "description": "bad"}]}],
                }
            },
            Code.INVALID_VALUE,
            "page_size",
        ),
        ({"message": "Something is off"}, Code.INVALID_VALUE, None),
    ],
)
def test_the_parameter_that_the_api_names_is_named_as_the_agent_knows_it(
    pets: Package, body: Any, code: Code, param: str | None
) -> None:
    """R-ERR-2, R-ENV-5."""
    failure = raised(pets, json_answer(body, 422))
    assert failure.code is code
    assert failure.details.get("param_name") == param
    if param:
        assert f"'{param}'" in failure.message


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_word_that_an_api_quotes_is_no_parameter_where_it_refuses_for_another_reason(
    pets: Package, status: int
) -> None:
    body = {"message": "The item 'pageSize' is missing: at least one 'owner_id' is required"}
    failure = raised(pets, json_answer(body, status))
    assert not failure.details.keys() & {"param_name", "problems"}
    assert "page_size" not in failure.message


def test_a_parameter_that_the_api_does_not_know_is_told(pets: Package) -> None:
    failure = raised(pets, json_answer({"message": "Unrecognized request argument supplied: 'colour'"}, 400))
    assert failure.code is Code.UNKNOWN_PARAM
    assert failure.details["unknown_params"] == ["colour"]
    assert failure.details["valid_params"] == ["owner_id", "pet_id", "page_size"]


def test_what_the_api_says_is_bounded_and_free_of_secrets_and_traces(pets: Package) -> None:
    """R-ENV-4."""
    pets.build(PARAMS)
    failure = raised(pets, json_answer({"message": "key hunter2-secret is wrong " + "x" * 2000}, 401))
    assert "hunter2" not in str(failure.envelope())
    assert len(failure.details["upstream"]["message"]) <= 500
    trace = raised(pets, json_answer({"message": "TypeError: x\n    at run (/srv/app/src/index.js:3:4)"}, 500))
    assert not re.search(r"at\s+\S+|typeerror|/src/|\.js:\d", trace.message, re.IGNORECASE)
    assert "index.js" not in str(trace.envelope())
    html = raised(pets, answer(b"<html><body>Traceback</body></html>", "text/html", 502))
    assert "message" not in html.details["upstream"]


@pytest.mark.parametrize(
    ("content", "content_type", "message"),
    [
        (
            b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>Gone &amp; lost</Message></Error>',
            "application/xml",
            "Gone & lost",
        ),
        (b"<e:Fault><faultstring>Bad <b/></faultstring><detail>why</detail></e:Fault>", "text/xml", "why"),
        (b"Simply no", "text/plain", "Simply no"),
        (b'{"message": "JSON in disguise"}', "text/plain", "JSON in disguise"),
        ('{"message": "é"}'.encode("utf-16"), "application/json", "é"),
        (b"<!DOCTYPE html><html>no</html>", "text/plain", None),
        (b"{broken", "application/json", None),
        (b"Unauthorized", "application/json", "Unauthorized"),
        (b'{"errors": [{"message": "a \\"quoted\\" one"}, {"mess', "application/json", None),
    ],
)
def test_the_apis_message_is_found_in_any_content(
    pets: Package, content: bytes, content_type: str, message: str | None
) -> None:
    """R-ERR-2."""
    assert raised(pets, answer(content, content_type, 409)).details["upstream"].get("message") == message


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"<error><field>pageSize</field><message>is too big</message></error>", Code.INVALID_VALUE),
        (b"<errors><error><field>pageSize</field><code>missing_field</code></error></errors>", Code.MISSING_PARAM),
    ],
)
def test_an_error_in_xml_names_its_fields_as_one_in_json_does(pets: Package, content: bytes, code: Code) -> None:
    """R-ERR-2."""
    failure = raised(pets, answer(content, "application/xml", 422))
    assert (failure.code, failure.details.get("param_name")) == (code, "page_size")


def test_the_apis_own_code_is_kept(pets: Package) -> None:
    assert raised(pets, json_answer({"error": {"code": "card_declined"}}, 402)).details["upstream"]["code"] == (
        "card_declined"
    )
    assert raised(pets, json_answer({"code": 17, "message": "x"}, 409)).details["upstream"]["code"] == "17"
    assert raised(pets, json_answer({"Fault": {"Error": [{"code": "20", "Detail": "x"}]}}, 409)).details["upstream"][
        "code"
    ] == ("20")
    assert "code" not in raised(pets, json_answer({"code": 409, "message": "x"}, 409)).details["upstream"]


def test_a_challenge_says_why_when_the_content_does_not(pets: Package) -> None:
    response = ApiResponse(401, {"www-authenticate": 'Bearer error_description="The token expired"'}, b"")
    assert raised(pets, response).details["upstream"]["message"] == "The token expired"


def test_a_redirect_that_is_not_followed_names_the_host_alone(pets: Package) -> None:
    response = ApiResponse(302, {"location": "https://u:p@login.example.net/x?token=abc"}, b"")
    failure = raised(pets, response)
    assert failure.code is Code.INTERNAL_ERROR
    assert failure.details["redirected_to"] == "https://login.example.net"
