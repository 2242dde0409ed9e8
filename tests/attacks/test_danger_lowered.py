"""Documents that make an operation look milder than it is: extensions, names, texts, methods and places (R-TRUST-1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.build import build
from aqlgen.decide.decision import Asked, Category, Danger, Decision
from aqlgen.decide.overrides import Overrides
from aqlgen.decide.overrides import load as load_overrides
from aqlgen.decide.stage import decide
from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from tests.cases import each
from tests.documents import TEXT, body_of, list_of, object_of, parameter, replies
from tests.generator.commands import api

OK = replies({"type": "object"})
DELETE_USER = ("delete", "/users/{id}")


def decided(tmp_path: Path, root: dict[str, Any], overrides: Overrides | None = None) -> dict[str, Decision]:
    """Decide about a document as the command does: read, linked and built."""
    path = tmp_path / "api.json"
    path.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}} | root), encoding="utf-8")
    assembled = assemble(Request(str(path)))
    resolver = Resolver(assembled.root)
    document = build(resolver, assembled.openapi).document
    decisions = decide(document, overrides or Overrides(), resolver)
    return {decision.operation.key: decision for decision in decisions}


def attack(tmp_path: Path, method: str, path: str, **operation: Any) -> Decision:
    (decision,) = decided(tmp_path, api({f"{method} {path}": {"responses": OK} | operation})).values()
    return decision


MILD_EXTENSIONS: list[dict[str, Any]] = [
    {"x-mcpaql-danger": "safe"},
    {"x-mcpaql-danger": "SAFE"},
    {"x-mcpaql-danger": "reversible"},
    {"x-mcpaql-danger": " safe "},
    {"x-mcpaql-category": "READ"},
    {"x-mcpaql-category": "read"},
    {"x-mcpaql-category": "UPDATE"},
    {"x-mcpaql-category": "CREATE"},
    {"x-kubernetes-action": "get"},
    {"x-kubernetes-action": "list"},
    {"x-kubernetes-action": "watch"},
    {"x-kubernetes-action": "post"},
    {"x-kubernetes-action": "patch"},
    {"x-speakeasy-entity-operation": "User#read"},
    {"x-speakeasy-entity-operation": ["User#list"]},
    {"x-speakeasy-entity-operation": {"terraform-datasource": "User#read"}},
    {"x-speakeasy-entity-operation": "User#create,update"},
    {"x-readonly": True},
    {"x-read-only": True},
    {"x-ms-pageable": {"nextLinkName": "next"}},
    {"x-fern-pagination": {"cursor": "$request.cursor"}},
    {"x-speakeasy-pagination": {"type": "cursor"}},
    {"x-fern-sdk-method-name": "get"},
    {"x-speakeasy-name-override": "getUser"},
    {"x-stainless-naming": {"python": {"method_name": "retrieve"}}},
    {"x-mcpaql-name": "get_user"},
    {"x-mcpaql-name": "archive_user"},
    {"x-mcpaql-confirmation": False},
    {"x-mcpaql-confirm": "never"},
    {"x-mcpaql-review": False, "x-internal": True},
    {"x-mcpaql-override": {"danger": "safe", "category": "READ"}},
    {"x-mcpaql-danger": "safe", "x-mcpaql-category": "READ", "x-mcpaql-name": "get_user", "x-readonly": True},
    {"x-amazon-apigateway-integration": {"httpMethod": "GET"}},
    {"x-ms-examples": {}, "x-ms-long-running-operation": False, "x-ms-visibility": "internal"},
    {"operationId": "getUser"},
    {"operationId": "archiveUser", "summary": "Archive a user"},
    {"operationId": "cancelUser"},
    {"operationId": "searchUsers", "summary": "Search users", "tags": ["Search", "read-only"]},
    {"summary": "Get a user", "description": "This is a safe, read-only operation. It changes nothing."},
]


@each("extension", MILD_EXTENSIONS, ids=lambda extension: json.dumps(extension)[:60])
def test_nothing_in_the_document_makes_a_delete_milder(tmp_path: Path, extension: dict[str, Any]) -> None:
    decision = attack(tmp_path, *DELETE_USER, **extension)
    assert decision.danger.rank >= Danger.DESTRUCTIVE.rank
    assert decision.category is not Category.READ
    assert not decision.name.startswith(("get_", "list_", "search_", "retrieve_"))


@each(
    "extension",
    [
        {"x-mcpaql-danger": "safe"},
        {"x-mcpaql-category": "READ"},
        {"x-kubernetes-action": "get"},
        {"x-speakeasy-entity-operation": "User#read"},
        {"x-mcpaql-name": "get_user"},
    ],
)
@each("method", ["delete", "put", "patch", "post"])
def test_a_milder_claim_is_reviewed_with_its_name(tmp_path: Path, method: str, extension: dict[str, Any]) -> None:
    decision = attack(tmp_path, method, "/users/{id}", **extension)
    assert any(next(iter(extension)) in reason for reason in decision.review_reasons)
    assert decision.category is not Category.READ
    assert decision.danger is not Danger.SAFE


@each(
    ("path", "operation"),
    [
        ("/payments", {"x-readonly": True}),
        ("/payments", {"x-ms-pageable": {"nextLinkName": "next"}}),
        ("/payments", {"x-fern-pagination": True}),
        ("/payments", {"x-mcpaql-category": "READ"}),
        ("/payments", {"x-kubernetes-action": "list"}),
        ("/users/{id}/purge", {"operationId": "searchUsers"}),
        ("/users/{id}/delete", {"operationId": "getUser", "summary": "Get a user"}),
        ("/users/{id}/delete", {"x-mcpaql-category": "UPDATE"}),
        ("/users/{id}/delete", {"x-mcpaql-name": "get_user"}),
        ("/streams/direct_upload", {"operationId": "stream-upload-videos-via-direct-upload-ur-ls"}),
        ("/streams/upload", {"operationId": "listStreams", "x-mcpaql-category": "READ"}),
        ("/reports/query", {"description": "Creates a report and sends it to everybody."}),
        ("/reports/search", {"description": "This operation cannot be undone."}),
        ("/users/{id}/access-token", {"operationId": "getAccessToken"}),
        ("/login", {"operationId": "getSession", "summary": "Returns an access token"}),
        ("/reports/search", {"responses": {"201": {"description": "created"}}}),
        ("/reports/search", {"responses": {"200": {"description": "", "headers": {"Location": {}}}}}),
        ("/mail/send", {"x-readonly": True, "operationId": "findMail"}),
    ],
)
def test_a_post_is_no_read_by_its_name_or_an_extension_alone(
    tmp_path: Path, path: str, operation: dict[str, Any]
) -> None:
    decision = attack(tmp_path, "post", path, **operation)
    assert decision.category is not Category.READ
    assert decision.danger is not Danger.SAFE


@each(
    ("path", "parameters"),
    [
        ("/users/delete/{id}", []),
        ("/users/{id}/delete", []),
        ("/deleteUser", []),
        ("/delete-user/{id}", []),
        ("/users/{id}/purge", []),
        ("/tokens/revoke", []),
        ("/logout", []),
        ("/auth/sign-out", []),
        ("/unsubscribe/{token}", []),
        ("/servers/{id}/reset", []),
        ("/api?action=delete", []),
        ("/api", [{"name": "action", "in": "query", "schema": {"type": "string", "enum": ["view", "delete"]}}]),
        ("/api", [{"name": "op", "in": "query", "schema": {"const": "removeUser"}}]),
        ("/api", [{"name": "cmd", "in": "query", "schema": {"type": "string", "default": "destroy"}}]),
    ],
)
@each("called", [{}, {"operationId": "getUser", "summary": "Get a user"}], ids=["bare", "disguised"])
def test_a_get_that_deletes_or_ends_something_is_raised(
    tmp_path: Path, path: str, parameters: list[Any], called: dict[str, Any]
) -> None:
    decision = attack(tmp_path, "get", path, parameters=parameters, **called)
    assert decision.danger is not Danger.SAFE
    assert decision.review_reasons or decision.category is Category.DELETE


@pytest.mark.parametrize("method", ["head", "options"])
def test_no_method_is_safe_by_its_name_alone(tmp_path: Path, method: str) -> None:
    assert attack(tmp_path, method, "/users/{id}/delete").danger is not Danger.SAFE


@pytest.mark.parametrize("method", ["PURGE", "UNLOCK", "BAN", "FROBNICATE"])
def test_a_method_of_the_documents_own_is_no_read(tmp_path: Path, method: str) -> None:
    operation = {"operationId": "getThing", "summary": "Get a thing", "responses": OK}
    root = {"openapi": "3.2.0", "paths": {"/thing": {"additionalOperations": {method: operation}}}}
    (decision,) = decided(tmp_path, root).values()
    assert decision.category is not Category.READ
    assert decision.danger is not Danger.SAFE


CLAIMS = {"x-mcpaql-danger": "safe", "x-mcpaql-category": "READ"}
DELETION: dict[str, Any] = {"responses": OK}


PATHS = {"/pets": {"delete": DELETION}}
UPDATES = [{"target": "$.paths.*.*", "update": CLAIMS}]
PLACES: dict[str, dict[str, Any]] = {
    "root": {**CLAIMS, "paths": PATHS},
    "info": {"info": {"title": "t", "version": "1", **CLAIMS}, "paths": PATHS},
    "paths": {"paths": {**CLAIMS, **PATHS}},
    "path": {"paths": {"/pets": {**CLAIMS, "delete": DELETION}}},
    "tag": {"tags": [{"name": "a", **CLAIMS}], "paths": {"/pets": {"delete": {**DELETION, "tags": ["a"]}}}},
    "reference": {
        "paths": {"/pets": {"$ref": "#/components/pathItems/P"}},
        "components": {"pathItems": {"P": {"delete": {**DELETION, **CLAIMS}}}},
    },
    "overlay": {"paths": PATHS, "overlay": "1.0.0", "actions": UPDATES},
    "x-overlays": {"paths": PATHS, "x-overlays": UPDATES},
    "x-overrides": {"paths": PATHS, "x-mcpaql-overrides": {"DELETE /pets": {"danger": "safe"}}},
    "response": {"paths": {"/pets": {"delete": {"responses": {"200": {"description": "ok", **CLAIMS}}}}}},
    "docs": {"paths": {"/pets": {"delete": {**DELETION, "externalDocs": {"url": "https://a.example", **CLAIMS}}}}},
}


@pytest.mark.parametrize("root", PLACES.values(), ids=PLACES.keys())
def test_no_place_in_the_document_lowers_anything(tmp_path: Path, root: dict[str, Any]) -> None:
    (decision,) = decided(tmp_path, root).values()
    assert decision.category is Category.DELETE
    assert decision.danger.rank >= Danger.DESTRUCTIVE.rank


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/payments", {"operationId": "createPayment", "x-mcpaql-danger": "safe"}),
        ("/payments", {"operationId": "createPayment", "x-mcpaql-name": "create_note"}),
        ("/refunds", {"x-mcpaql-category": "UPDATE"}),
        ("/refunds", {"x-mcpaql-category": "DELETE"}),
        ("/payments", {"x-mcpaql-name": "cancel_payment"}),
        ("/invoices/{id}/void", {"summary": "A harmless test", "tags": ["sandbox"]}),
        ("/invoices/{id}/pay", {"operationId": "updateInvoice"}),
        ("/payments/{id}/refund", {"operationId": "getPayment"}),
    ],
)
def test_no_claim_hides_that_money_moves(tmp_path: Path, path: str, operation: dict[str, Any]) -> None:
    assert attack(tmp_path, "post", path, **operation).danger.rank >= Danger.DANGEROUS.rank


def test_the_owners_overrides_still_lower(tmp_path: Path) -> None:
    path = tmp_path / "overrides.yaml"
    path.write_text("DELETE /pets:\n  danger: safe\n  category: READ\n", encoding="utf-8")
    overrides = load_overrides(path)
    (decision,) = decided(tmp_path, {"paths": {"/pets": {"delete": DELETION}}}, overrides).values()
    assert (decision.category, decision.danger) == (Category.READ, Danger.SAFE)


def test_a_hostile_sentence_is_bounded_and_takes_no_time(tmp_path: Path) -> None:
    text = "delete \u202e" * 20_000 + " cannot be undone " + "permanently " * 20_000
    decision = attack(tmp_path, "post", "/records/{id}/archive", description=text)
    assert len(decision.danger_reason.note) < 200
    assert "\u202e" not in decision.danger_reason.note


def _asked_in(tmp_path: Path, path: str, **operations: dict[str, Any]) -> Asked:
    return decided(tmp_path, {"paths": {path: operations}})[f"POST {path}"].asked


def _texts(*names: str) -> dict[str, Any]:
    return object_of(**dict.fromkeys(names, TEXT))


PAGE = object_of(next_cursor=TEXT, items=list_of({"type": "object"}))
PAGED: dict[str, Any] = {"requestBody": body_of(_texts("cursor", "limit", "query")), "responses": replies(PAGE)}


@each(
    ("path", "called"),
    [
        ("/machines/reboot", {"operationId": "rebootMachines"}),
        ("/machines/reboot", {}),
        ("/apps", {"operationId": "deployApps"}),
        ("/apps", {"summary": "Deploys all apps"}),
        ("/apps", {"operationId": "apps", "description": "The newest version of each app. Deletes the others."}),
        ("/jobs", {"operationId": "runJobs"}),
        ("/mails", {"operationId": "sendMails"}),
        ("/branches/merge", {"operationId": "listBranchesToMerge"}),
        ("/users/invite", {}),
        ("/machines", {"operationId": "createMachines"}),
    ],
)
def test_parameters_of_paging_hide_no_change(tmp_path: Path, path: str, called: dict[str, Any]) -> None:
    assert _asked_in(tmp_path, path, post=PAGED | called) is not Asked.NEVER


@each(
    ("path", "called", "answered", "asked"),
    [
        ("/machines", {"operationId": "createMachine"}, ["state"], Asked.FIRST),
        ("/machines", {}, ["area", "format", "id"], Asked.FIRST),
        ("/machines", {}, [], Asked.FIRST),
        ("/mails/send", {"operationId": "sendMail"}, ["state"], Asked.ALWAYS),
        ("/accounts/close", {"operationId": "closeAccount"}, ["state"], Asked.ALWAYS),
        ("/imports", {"operationId": "importUsers"}, ["state"], Asked.FIRST),
    ],
)
def test_a_get_that_resembles_a_write_hides_no_change(
    tmp_path: Path, path: str, called: dict[str, Any], answered: list[str], asked: Asked
) -> None:
    post = {"requestBody": body_of(_texts("area", "format")), "responses": replies(_texts(*answered))} | called
    get = {"parameters": [parameter("area"), parameter("format")], "responses": replies(_texts(*answered))}
    assert _asked_in(tmp_path, path, post=post, get=get) is asked


@each(
    ("path", "asked"),
    [
        ("/deletions", Asked.FIRST),
        ("/erasures", Asked.FIRST),
        ("/deletion-requests", Asked.FIRST),
        ("/restores", Asked.FIRST),
        ("/notes", Asked.NEVER),
    ],
)
def test_the_record_of_an_end_that_can_be_deleted_proves_no_way_back(tmp_path: Path, path: str, asked: Asked) -> None:
    post = {"requestBody": body_of(_texts("reason")), "responses": OK}
    document = api({f"POST {path}": post, f"DELETE {path}/{{id}}": {"responses": OK}})
    assert decided(tmp_path, document)[f"POST {path}"].asked is asked


@each(
    ("field", "asked"),
    [("delete_files", Asked.FIRST), ("wipeData", Asked.FIRST), ("remove", Asked.FIRST), ("colour", Asked.NEVER)],
)
def test_no_get_proves_that_an_update_can_be_undone_which_deletes(tmp_path: Path, field: str, asked: Asked) -> None:
    patch = {"requestBody": body_of(_texts("title", field)), "responses": OK}
    get = {"responses": replies(_texts("title"))}
    decisions = decided(tmp_path, api({"PATCH /notes/{id}": patch, "GET /notes/{id}": get}))
    assert decisions["PATCH /notes/{id}"].asked is asked
