from __future__ import annotations

from typing import Any

import pytest
from operations import NOWHERE, answer, decide_one, decided, operation

from aqlgen.decide.decision import Asked, Danger, Decision
from aqlgen.ir import MISSING, Body, Location, MediaType, Parameter, Response
from tests.cases import each, each_family

AMOUNT: Any = {"properties": {"amount": {"type": "integer"}, "currency": {"type": "string"}}}
MEDIA = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml", "*/*")


def sends(schema: Any, content_type: str = "application/json") -> Body:
    return Body(True, "", (MediaType(content_type, schema, MISSING, NOWHERE),), NOWHERE)


@each_family(
    ("key", "called", "level"),
    {
        "each category has its default": [
            ("GET /pets", None, "safe"),
            ("POST /pets", None, "reversible"),
            ("PATCH /pets/{petId}", None, "reversible"),
            ("POST /pets/{petId}/publish", None, "reversible"),
            ("DELETE /pets/{petId}", None, "destructive"),
        ],
        "patterns in the name raise it": [
            ("POST /caches/{id}/purge", "purgeCache", "dangerous"),
            ("POST /branches/{id}/force-push", "forcePush", "dangerous"),
            ("POST /disks/{id}/wipe", "wipeDisk", "forbidden"),
            ("POST /databases/{id}/reset", "resetDatabase", "forbidden"),
        ],
        # The pattern `reset_*` stands for a reset to empty or factory state
        "resetting a whole is forbidden and resetting a value is destructive": [
            ("POST /databases/{id}/reset", "resetDatabase", "forbidden"),
            ("POST /devices/{id}/reset", None, "forbidden"),
            ("POST /system/factory/reset", "resetAllData", "forbidden"),
            ("PATCH /apps/{id}/token", "resetToken", "destructive"),
            ("POST /servers/{id}/actions/reset_password", "resetRootPasswordOfServer", "destructive"),
            ("POST /users/{id}/reset-counter", None, "destructive"),
        ],
        "what speaks of destroying is destructive unless it averts it": [
            ("POST /users/submit_delete_job", None, "destructive"),
            ("POST /droplets/{id}/destroy_with_resources/retry", "droplets_retryDestroyWithResources", "destructive"),
            ("POST /delete_jobs/{id}/pause", None, "reversible"),
            ("POST /requests", "createDeleteRequest", "destructive"),
        ],
    },
)
def test_a_danger_follows_what_is_done_to_what(key: str, called: str | None, level: str) -> None:
    """R-SAFE-1"""
    assert decide_one(key, called).danger == level


@each("key", ["DELETE /pets", "PUT /pets"])
def test_a_whole_collection_at_once_is_dangerous(key: str) -> None:
    """R-SAFE-1"""
    decision = decide_one(key)
    assert decision.danger is Danger.DANGEROUS
    assert decision.danger_reason.rule == "whole-collection"


def test_settings_are_one_thing_though_they_are_called_by_a_plural() -> None:
    """R-SAFE-1"""
    assert decide_one("PUT /users/{id}/settings").danger is Danger.REVERSIBLE


def test_the_document_may_raise_it_and_never_lower_it() -> None:
    """R-SAFE-1"""
    raised = decide_one("POST /drafts", extensions={"x-mcpaql-danger": "dangerous"})
    assert (raised.danger, raised.danger_reason.rule) == (Danger.DANGEROUS, "declared")
    lowered = decide_one("DELETE /drafts/{id}", extensions={"x-mcpaql-danger": "reversible"})
    assert lowered.danger is Danger.DESTRUCTIVE
    assert any("x-mcpaql-danger claims reversible" in reason for reason in lowered.review_reasons)


def test_a_pattern_ends_where_a_word_ends() -> None:
    """R-SAFE-1"""
    assert decide_one("POST /lists/delete", "deleteAllowlist").danger is Danger.DESTRUCTIVE


@each(("key", "called"), [("POST /lists/delete-all", None), ("DELETE /list/{id}", "deleteAllRows")])
def test_what_is_said_to_take_all_is_dangerous_at_least(key: str, called: str | None) -> None:
    """R-SAFE-1"""
    assert decide_one(key, called).danger.rank >= Danger.DANGEROUS.rank


def both(path: str, method: str, listed: Any, **rest: Any) -> Decision:
    reading = operation(f"GET {path}", responses=(answer("200", listed),))
    return decided(reading, operation(f"{method} {path}", **rest))[1]


MANY = {"type": "array"}
ONE = {"properties": {"url": {}, "status": {}}}


@pytest.mark.parametrize("path", ["/repos/{repo}/pages", "/repos/{repo}/status-checks"])
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_the_read_of_the_same_path_tells_a_collection_from_one_thing(path: str, method: str) -> None:
    """R-SAFE-1"""
    items = operation(f"GET {path}/{{id}}")
    reading = operation(f"GET {path}", responses=(answer("200", MANY),))
    of_many = decided(operation(f"{method} {path}"), reading, items)[0]
    assert of_many.danger_reason.rule == "whole-collection"
    assert both(path, method, ONE).danger_reason.rule != "whole-collection"


@each(
    ("key", "items", "asked"),
    [
        ("PUT /repos/{repo}/topics", "", Asked.NEVER),
        ("PUT /repos/{repo}/topics", "DELETE /repos/{repo}/topics/{id}", Asked.FIRST),
        ("PUT /stop-words", "", Asked.NEVER),
        ("PUT /topics", "GET /topics/{id}", Asked.ALWAYS),
        ("PUT /topics", "DELETE /topics/{id}", Asked.ALWAYS),
        ("DELETE /repos/{repo}/topics", "", Asked.ALWAYS),
    ],
)
def test_a_list_that_a_get_reads_is_put_back_unless_its_things_have_paths(key: str, items: str, asked: Asked) -> None:
    """R-SAFE-1, R-EFF-2: the same PUT puts it back; things with paths of their own, or what is deleted, it does not."""
    reading = operation(f"GET {key.partition(' ')[2]}", responses=(answer("200", MANY),))
    others = (operation(items),) if items else ()
    assert decided(operation(key), reading, *others)[0].asked is asked


@each("key", ["DELETE /user/following/{user}", "PUT /user/following/{user}", "DELETE /subscription"])
def test_a_member_or_a_single_thing_is_no_collection(key: str) -> None:
    """R-SAFE-1"""
    assert decide_one(key).danger is not Danger.DANGEROUS


def test_a_delete_that_must_say_what_it_deletes_takes_no_whole_collection() -> None:
    """R-SAFE-1"""
    asked = Parameter("id", Location.QUERY, True, {}, "", False, "form", True, False, None, MISSING, NOWHERE)
    sent = Body(True, "", (MediaType("application/json", MANY, MISSING, NOWHERE),), NOWHERE)
    assert decide_one("DELETE /pets", parameters=(asked,)).danger is Danger.DESTRUCTIVE
    assert decide_one("DELETE /pets", body=sent).danger is Danger.DESTRUCTIVE


@pytest.mark.parametrize("media", MEDIA)
@pytest.mark.parametrize(
    ("field", "danger"),
    [(MANY, "dangerous"), ({"type": "string", "format": "binary"}, "dangerous"), ({}, "reversible")],
)
def test_a_put_that_sends_no_list_replaces_no_collection(field: Any, danger: str, media: str) -> None:
    """R-SAFE-1: a file may hold a list."""
    reading = operation("GET /defaults", responses=(answer("200", MANY),))
    put = operation("PUT /defaults", body=sends({"properties": {"names": field}}, media))
    assert decided(put, reading, operation("GET /defaults/{id}"))[0].danger == danger


def test_a_put_of_what_there_is_one_of_is_asked_about_though_it_is_called_create() -> None:
    """R-SAFE-1"""
    sent = sends({"properties": {"image": {"type": "string"}}})
    decision = decide_one("PUT /users/{id}/avatar", "uploadAvatar", body=sent)
    assert (decision.category, decision.danger, decision.danger_reason.rule) == (
        "CREATE",
        "destructive",
        "may-overwrite",
    )
    assert decide_one("PUT /users/{id}/notes", "createNote", body=sent).danger is Danger.REVERSIBLE
    file = sends({"type": "string", "format": "binary"}, "application/octet-stream")
    assert decide_one("PUT /files/{path}", "uploadFile", body=file).danger is Danger.DESTRUCTIVE
    assert decide_one("PUT /files/{path}", "saveFile", body=file).danger is Danger.DESTRUCTIVE
    assert decide_one("PUT /files/{path}", "updateFile", body=file).danger is Danger.REVERSIBLE
    assert decide_one("PUT /users/{id}/star", "starUser").danger is Danger.REVERSIBLE


def test_a_patch_of_a_list_changes_all_of_it_unless_it_sends_the_ones_to_change() -> None:
    """R-SAFE-1"""

    def sending(schema: Any, listed: Any = MANY, item: str = "/todos/{id}") -> Danger:
        body = Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)
        reading = operation("GET /todos", responses=(answer("200", listed),))
        item_reading = operation(f"GET {item}", responses=(answer("200", ONE),))
        return decided(reading, item_reading, operation("PATCH /todos", body=body))[2].danger

    done = {"properties": {"done": {"type": "boolean"}}}
    assert sending(done) is Danger.DANGEROUS
    assert sending(done, ONE) is Danger.REVERSIBLE
    assert sending(done, item="/lists/{id}") is Danger.REVERSIBLE
    assert sending({"properties": {"todos": MANY}}) is Danger.REVERSIBLE
    assert sending(MANY) is Danger.REVERSIBLE


def test_enabling_something_on_a_path_with_a_plural_replaces_nothing() -> None:
    """R-SAFE-1"""
    assert decide_one("PUT /repos/{repo}/vulnerability-alerts", "repos/enable-alerts").danger is Danger.REVERSIBLE


def test_deleting_a_collection_in_kubernetes_is_dangerous() -> None:
    """R-SAFE-1"""
    extensions = {"x-kubernetes-action": "deletecollection"}
    assert decide_one("DELETE /apis/{namespace}/endpoints", extensions=extensions).danger is Danger.DANGEROUS


def test_a_delete_is_destructive_whatever_it_is_called() -> None:
    """R-SAFE-1"""
    assert decide_one("DELETE /users/{id}/star", "unstarUser").danger is Danger.DESTRUCTIVE
    assert decide_one("DELETE /users/{id}", "archiveUser").danger is Danger.DESTRUCTIVE


@each(
    ("key", "called"),
    [
        ("POST /v1/invoices/{invoice}/void", "PostInvoicesInvoiceVoid"),
        ("POST /v1/invoices/{invoice}/pay", None),
        ("POST /v1/disputes/{dispute}/close", "PostDisputesDisputeClose"),
        ("POST /v1/payouts", "PostPayouts"),
        ("POST /v1/charges/{charge}/refund", "PostChargesChargeRefund"),
        ("POST /v1/charges/{charge}/capture", None),
        ("POST /v2/refunds", "RefundPayment"),
        ("POST /v2/disputes/{dispute_id}/accept", "AcceptDispute"),
        ("POST /wallets/{id}/withdraw", None),
        ("POST /accounts/{id}/fund-transfers", "transferFunds"),
        ("POST /coins", "sendCoins"),
        ("POST /payments", "createPayment"),
    ],
)
def test_what_moves_money_is_dangerous(key: str, called: str | None) -> None:
    """R-SAFE-1"""
    decision = decide_one(key, called)
    assert (decision.danger, decision.danger_reason.rule.partition("-")[0]) == (Danger.DANGEROUS, "money")
    assert decision.danger_reason.note


@pytest.mark.parametrize("media", MEDIA)
@pytest.mark.parametrize("schema", [AMOUNT, {"oneOf": [{"properties": {"memo": {}}}, AMOUNT]}, {"allOf": [AMOUNT]}])
def test_an_amount_is_money_in_a_body_of_every_media_type(schema: Any, media: str) -> None:
    """R-SAFE-1"""
    decision = decide_one("POST /v1/transfers", "PostTransfers", body=sends(schema, media))
    assert (decision.danger, decision.moves_money) == (Danger.DANGEROUS, True)


def test_the_fields_of_every_media_type_count() -> None:
    """R-SAFE-1: what is sent as a form is no milder for the JSON beside it that the document does not describe."""
    first = MediaType("application/json", {"type": "object"}, MISSING, NOWHERE)
    body = Body(True, "", (first, *sends(AMOUNT, "multipart/form-data").media), NOWHERE)
    assert decide_one("POST /v1/transfers", "PostTransfers", body=body).danger is Danger.DANGEROUS


def test_a_doubtful_word_wants_money_beside_it() -> None:
    """R-SAFE-1"""
    assert decide_one("POST /repos/{id}/transfer", "transferRepo").danger is Danger.REVERSIBLE
    assert decide_one("POST /interfaces/{id}/capture", "captureInterface").danger is Danger.REVERSIBLE
    assert decide_one("POST /batteries/{id}/charge", "chargeBattery").danger is Danger.REVERSIBLE


@each(
    ("key", "called"),
    [
        ("GET /v1/payouts", "ListPayouts"),
        ("POST /v1/tax/calculations", "calculateTax"),
        ("POST /v1/invoices/create_preview", "previewInvoice"),
        ("POST /payments/search", "searchPayments"),
        ("POST /v1/payment_methods", "createPaymentMethod"),
        ("POST /v1/payment_links", "createPaymentLink"),
        ("POST /v1/prices", "createPrice"),
        ("POST /refunds/estimate", "estimateRefund"),
        ("POST /refund-policies", "createRefundPolicy"),
        ("POST /quotes", "createQuote"),
        ("PATCH /v1/charges/{id}", "updateCharge"),
    ],
)
def test_what_describes_prepares_or_averts_a_payment_moves_no_money(key: str, called: str) -> None:
    """R-SAFE-1"""
    assert not decide_one(key, called).moves_money


@each(
    ("key", "called"),
    [
        ("POST /api/v1/users/{userId}/lifecycle/deactivate", "deactivateUser"),
        ("POST /api/v1/users/{userId}/lifecycle/suspend", None),
        ("POST /users/{id}/ban", None),
        ("PUT /users/{id}/roles/{role}", "assignUserRole"),
        ("POST /users/{id}/sessions/revoke", "revokeUserSessions"),
        ("PUT /repos/{repo}/collaborators/{user}", "addCollaborator"),
        ("POST /roles", "createRole"),
        ("POST /users/{id}/impersonate", "impersonateUser"),
    ],
)
def test_what_moves_peoples_access_is_destructive(key: str, called: str | None) -> None:
    """R-SAFE-1"""
    assert decide_one(key, called).danger.rank >= Danger.DESTRUCTIVE.rank


@each(
    ("key", "called"),
    [
        ("POST /issues/{id}/lock", "lockIssue"),
        ("POST /workflows/{id}/disable", "disableWorkflow"),
        ("PUT /owners/{ownerId}", "replaceOwner"),
        ("PATCH /users/{id}", "updateUser"),
        ("POST /users", "createUser"),
        ("POST /users/{id}/settings/disable", "disableUserNotifications"),
    ],
)
def test_what_is_about_people_and_not_their_access_stays(key: str, called: str) -> None:
    """R-SAFE-1"""
    assert decide_one(key, called).danger is Danger.REVERSIBLE


@each(
    "text",
    [
        "This action cannot be undone.",
        "Archives it. This action **cannot** be undone!",
        "This can\u2019t be reversed.",
        "Permanently removes the record.",
        "The data is irrevocably gone.",
        "This operation is irreversible.",
        "Deleted messages cannot be restored.",
        "There is no way to recover the data.",
        "The record will be deleted\nforever.",
        "This is permanent and will not be reverted. " * 3,
        "can\u200bnot be undone, so it cannot be un\u200bdone.",
    ],
)
def test_a_sentence_that_nothing_brings_it_back_is_the_reason(text: str) -> None:
    """R-SAFE-1"""
    decision = decide_one("POST /records/{id}/archive", "archiveRecord", description=text)
    assert (decision.danger, decision.danger_reason.rule) == (Danger.DESTRUCTIVE, "irreversible")
    assert decision.danger_reason.note.startswith("\u201c")
    assert len(decision.danger_reason.note) <= 170


@each(
    "text",
    [
        "This does not permanently delete the record.",
        "Archives it without permanently removing it.",
        "To permanently delete a record, use the delete operation.",
        "Unlike purge, which cannot be undone, this keeps the record.",
        "The slug cannot be changed later.",
        "A permanent URL is returned.",
        "The resource has moved permanently.",
        "This can be undone.",
        "Individual versions of a key cannot be restored.",
    ],
)
def test_a_sentence_that_says_something_else_is_none(text: str) -> None:
    """R-SAFE-1"""
    assert decide_one("POST /records/{id}/archive", "archiveRecord", description=text).danger is Danger.REVERSIBLE


@each(
    ("key", "operation_id", "answers", "asked"),
    [
        ("GET /keys/{id}/regenerate", None, (), Asked.FIRST),
        ("GET /reports/{id}:send", "reports7", (), Asked.FIRST),
        ("GET /login", None, (answer("200"),), Asked.FIRST),
        ("GET /keys/{id}/regenerate", "showRegeneration", (), Asked.NEVER),
        ("GET /accounts/{id}/lock", None, (answer("200", MANY),), Asked.NEVER),
        ("GET /settings/login", None, (answer("200", ONE),), Asked.NEVER),
        ("GET /keys/{id}/send-options", None, (), Asked.NEVER),
    ],
)
def test_a_get_that_ends_in_a_verb_is_asked_about_unless_something_says_that_it_reads(
    key: str, operation_id: str | None, answers: tuple[Response, ...], asked: Asked
) -> None:
    """R-SAFE-1"""
    assert decide_one(key, operation_id, responses=answers).asked is asked


def test_a_get_that_describes_what_cannot_be_undone_stays_safe() -> None:
    """R-SAFE-1"""
    text = "Lists what was permanently deleted, which cannot be undone."
    assert decide_one("GET /trash", "listTrash", description=text).danger is Danger.SAFE


def test_what_is_made_within_an_item_is_not_taken_back_by_the_deletion_of_the_item() -> None:
    """R-SAFE-1"""
    keys = "POST /companies/{id}/upload", "DELETE /companies/{id}", "DELETE /companies/{id}/upload"
    making, around, itself = map(operation, keys, ("uploadCompany", None, None))
    assert [decided(making, other)[0].asked for other in (around, itself)] == [Asked.FIRST, Asked.NEVER]


def test_a_create_is_not_taken_back_in_the_list_of_another_thing() -> None:
    """R-SAFE-1"""
    creating, deleting, leaving = map(
        operation, ("POST /inboxes", "DELETE /inboxes/{id}", "DELETE /groups/{id}/inboxes"), ("createInbox", None, None)
    )
    assert [decided(creating, other)[0].asked for other in (deleting, leaving)] == [Asked.NEVER, Asked.FIRST]
