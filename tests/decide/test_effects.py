"""The effects of writes, what says so, and when a person is asked (R-EFF-1, R-EFF-2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from operations import NOWHERE, answer, decide_one, decided, names, operation

from aqlgen.decide.decision import Asked, Category, Danger, Decision, Effect
from aqlgen.decide.overrides import Override, Overrides
from aqlgen.ir import MISSING, Body, MediaType, Operation, Response
from tests.cases import each

TEXT: Any = {"type": "string"}
NAMES: Any = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}}


def sending(*fields: str) -> dict[str, Any]:
    schema: Any = {"type": "object", "properties": dict.fromkeys(fields, TEXT)}
    return {"body": Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)}


def nesting(field: str, *fields: str) -> dict[str, Any]:
    """Return the body of a request with a field, and an object of fields beside it."""
    inner: Any = {"type": "object", "properties": dict.fromkeys(fields, TEXT)}
    schema: Any = {"type": "object", "properties": {"note": TEXT, field: inner}}
    return {"body": Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)}


def listing_values(field: str, *values: str) -> dict[str, Any]:
    """Return the body of a request with a field of these values."""
    schema: Any = {"properties": {field: {"type": "string", "enum": list(values)}}}
    return {"body": Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)}


def described(field: str, description: str, kind: str = "string") -> dict[str, Any]:
    """Return the body of a request with a field of this type and description."""
    schema: Any = {"properties": {"id": TEXT, field: {"type": kind, "description": description}}}
    return {"body": Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)}


FILE: Any = {"body": Body(True, "", (MediaType("image/png", MISSING, MISSING, NOWHERE),), NOWHERE)}
LIST: Any = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}}
LIST = {"body": Body(True, "", (MediaType("application/json", LIST, MISSING, NOWHERE),), NOWHERE)}


def reading(key: str, *fields: str) -> Operation:
    return operation(key, responses=(answer("200", {"type": "object", "properties": dict.fromkeys(fields, TEXT)}),))


def enveloped(key: str, inner: Any) -> Operation:
    return operation(key, responses=(answer("200", {"type": "object", "properties": {"ok": TEXT, "data": inner}}),))


def of(first: Operation, *others: Operation) -> Decision:
    return decided(first, *others)[0]


@each(
    ("write", "other"),
    [
        (operation("POST /boards"), operation("DELETE /boards/{id}")),
        (operation("POST /boards"), operation("POST /boards/{id}/archive")),
        (operation("POST /boards.add"), operation("POST /boards.remove")),
        (operation("PATCH /boards/{id}", **sending("title")), reading("GET /boards/{id}", "id", "title")),
        (operation("PATCH /boards/{id}", **sending("title")), reading("GET /boards", "id", "title")),
        (operation("PUT /boards/{id}/title"), reading("GET /boards/{id}", "id", "title")),
        (operation("POST /boards/{id}/archive"), operation("POST /boards/{id}/unarchive")),
        (operation("POST /boards.hide"), operation("POST /boards.show")),
        (operation("PUT /users/{id}/stars/{board}"), operation("DELETE /users/{id}/stars/{board}")),
        (operation("PUT /boards/{id}/title", **sending("value")), reading("GET /boards/{id}", "title")),
        (operation("PATCH /messages/{id}", **sending("tags")), reading("GET /messages/{id}", "id", "tags")),
        (operation("PUT /boards/{id}", **sending("title", "size")), reading("GET /boards", "id", "title", "size")),
        (operation("PUT /board", **sending("id", "title")), reading("GET /board/{id}", "id", "title")),
    ],
)
def test_what_structure_proves_reversible_is_never_asked_about(write: Operation, other: Operation) -> None:
    """R-EFF-2"""
    proven = of(write, other)
    assert (proven.asked, proven.effects) == (Asked.NEVER, (Effect.DATA,))
    assert proven.evidence[-1].kind == "structure"
    alone = of(write)
    assert (alone.asked, alone.effects, alone.danger) == (Asked.FIRST, (Effect.UNKNOWN,), Danger.REVERSIBLE)
    assert alone.review_reasons


@each(
    ("write", "other"),
    [
        (operation("POST /boards"), operation("DELETE /labels/{id}")),
        (operation("POST /boards", **sending("title")), operation("PATCH /boards/{id}", **sending("title"))),
        (operation("PATCH /boards/{id}", **sending("title")), enveloped("GET /boards", {})),
        (operation("PUT /boards/{id}/title", **sending("value")), operation("GET /boards/{id}")),
        (operation("POST /users/{id}/erasures"), operation("DELETE /users/{id}/erasures/{erasure}")),
        (operation("POST /boards/{id}/reboots"), operation("DELETE /boards/{id}/reboots/{reboot}")),
        (operation("PATCH /boards/{id}", **sending("title", "size")), reading("GET /boards/{id}", "id")),
        (operation("POST /boards", responses=(answer("202"),)), operation("DELETE /boards/{id}")),
        (operation("PUT /boards/{id}", **sending("title", "size")), reading("GET /boards", "id", "title")),
        (operation("PUT /boards/{id}/area", **sending("width", "size")), reading("GET /boards/{id}", "width", "size")),
        (operation("PATCH /boards/{id}", **sending("role")), reading("GET /boards/{id}", "role")),
        (operation("POST /boards", description="Existing boards are removed."), operation("DELETE /boards/{id}")),
        (operation("POST /boards/{id}/archive"), operation("GET /boards/{id}")),
        (operation("POST /boards/{id}/transfer", **sending("owner")), reading("GET /boards/{id}", "owner")),
        (operation("POST /backups/{id}/restore"), operation("DELETE /backups/{id}")),
        (operation("POST /incidents"), operation("DELETE /incidents/fields/{id}")),
        (
            operation("POST /clients", responses=(answer("201", {"properties": {"id": TEXT, "token": TEXT}}),)),
            operation("DELETE /clients/{id}"),
        ),
        (operation("POST /boards/{id}/rules/convert", **sending("rule")), operation("GET /boards/{id}/rules")),
        (operation("POST /users/{id}/unlock"), operation("POST /users/{id}/lock")),
        (operation("PUT /teams/{id}/members/{user}"), operation("DELETE /teams/{id}/members/{user}")),
        (
            operation("PUT /sites/{id}/authorizations/{user}", **sending("starts", "ends")),
            reading("GET /sites/{id}/authorizations/{user}", "starts", "ends"),
        ),
        (
            operation("PATCH /retentions/{id}/executions/{run}", summary="Stop an execution", **sending("action")),
            operation("POST /replication/executions", "startReplication"),
        ),
        (operation("PUT /zones/{id}/records/{type}", **LIST), reading("GET /zones/{id}/records/{type}", "name")),
        (operation("POST /webhooks", **sending("url")), operation("DELETE /webhooks/{id}")),
        (operation("PUT /files/{name}", **FILE), operation("DELETE /files/{name}")),
        (operation("PATCH /users/{id}", **sending("email")), reading("GET /users/{id}", "email")),
        (operation("PATCH /zones/{id}/records/{name}", **sending("ttl")), reading("GET /zones/{id}/records", "ttl")),
        (operation("PUT /credit-cards/{id}", **sending("name")), reading("GET /credit-cards/{id}", "name")),
        (operation("PUT /settings/security", **sending("mode")), reading("GET /settings/security", "mode")),
        (operation("POST /sites/{id}/disable", "disableSite"), operation("POST /sites/{id}/enable", "enableSite")),
        (operation("POST /registries", **sending("url", "secret")), operation("DELETE /registries/{id}")),
        (operation("PUT /boards/{id}", **sending("title")), reading("GET /boards/{id}")),
        (operation("PUT /policies/{id}", **sending("mode")), reading("GET /policies/{id}", "mode")),
        (operation("PUT /apps/{id}", **sending("scopes")), reading("GET /apps/{id}", "scopes")),
    ],
)
def test_neither_other_things_nor_effects_outside_of_the_data_are_proven(write: Operation, other: Operation) -> None:
    """R-EFF-2"""
    assert of(write, other).asked is not Asked.NEVER


@each(
    ("write", "effect", "kind"),
    [
        (operation("POST /transfers", **sending("amount", "currency", "recipient")), Effect.MONEY, "structure"),
        (operation("POST /users", **sending("name", "role")), Effect.ACCESS, "field"),
        (operation("PUT /groups/{id}/members/{user}", "addMember"), Effect.ACCESS, "structure"),
        (operation("POST /groups/{id}/members/approve-all"), Effect.ACCESS, "structure"),
        (operation("PUT /groups/{id}/members.json", "addGroupMembers", **sending("names")), Effect.ACCESS, "structure"),
        (operation("PUT /groups/{id}/files/{file}/owner", **sending("owner")), Effect.ACCESS, "structure"),
        (operation("POST /outbox", **sending("to", "subject")), Effect.PEOPLE, "field"),
        (operation("POST /x", summary="Sends an email to the customer."), Effect.PEOPLE, "sentence"),
        (operation("POST /servers/{id}/setup", description="All disks will be erased."), Effect.ENDS, "sentence"),
        (operation("DELETE /boards/{id}"), Effect.ENDS, "structure"),
        (operation("PATCH /employees/{id}", **sending("name", "bank_account")), Effect.MONEY, "structure"),
        (operation("DELETE /payments/{id}"), Effect.ENDS, "structure"),
        (reading("POST /domains/{id}/renew", "total", "currency"), Effect.MONEY, "structure"),
        (reading("POST /products/{id}/orders", "id", "price"), Effect.MONEY, "structure"),
        (operation("POST /payouts/{id}/verify", **sending("code")), Effect.MONEY, "sentence"),
        (operation("POST /channels", **sending("peer", "local_funding_amount")), Effect.MONEY, "structure"),
        (operation("POST /registry/subscription", **sending("tier_slug")), Effect.MONEY, "structure"),
        (operation("PUT /domains/{id}/transfer", summary="Purchase and start a transfer"), Effect.MONEY, "sentence"),
        (operation("POST /images", description="Images are billed by their size."), Effect.MONEY, "sentence"),
        (operation("POST /user/settings/email", **sending("email")), Effect.ACCESS, "structure"),
        (operation("POST /teams/{id}/members/{user}/admin", "toggleAdmin"), Effect.ACCESS, "structure"),
        (operation("PUT /sites/{id}/accounts/{account}", **sending("note", "is_blocked")), Effect.ACCESS, "field"),
        (operation("PUT /subaccounts/{id}", **sending("account_number", "bank_code")), Effect.MONEY, "structure"),
        (operation("POST /offers/{id}/decline"), Effect.ENDS, "structure"),
        (operation("PATCH /teams/{id}", **sending("permissions")), Effect.ACCESS, "field"),
        (operation("POST /texts/{id}/redo", summary="Redo it. You will lose the old text."), Effect.ENDS, "sentence"),
    ],
)
def test_what_moves_gives_reaches_or_ends_is_always_asked_about(write: Operation, effect: Effect, kind: str) -> None:
    """R-EFF-1"""
    decision = of(write)
    assert decision.asked is Asked.ALWAYS
    assert effect in decision.effects
    assert any(each.kind == kind and each.says for each in decision.evidence)


PAYMENTS = operation("POST /payments", **sending("amount"))


@each(
    ("write", "other", "is_money"),
    [
        (operation("POST /subscriptions/{id}/replay"), reading("GET /subscriptions/{id}", "url", *"abcde"), False),
        (operation("POST /subscriptions/{id}/replay"), reading("GET /subscriptions/{id}", "price", *"abcde"), True),
        (operation("POST /payments", summary="Record a payment."), operation("DELETE /payments/{id}"), False),
        (operation("POST /payments", summary="Record a payment."), operation("GET /payments/{id}"), True),
        (operation("POST /transactions/{id}/query"), operation("POST /transactions", **sending("amount")), False),
        (operation("POST /payments/cancel", **sending("key")), PAYMENTS, False),
        (operation("POST /payments/{id}/batch/submit"), PAYMENTS, True),
        (operation("POST /simulations/payments", **sending("amount")), PAYMENTS, True),
        (operation("POST /payments/search", **sending("key")), PAYMENTS, False),
        (operation("POST /payments/{bank}/{number}/void"), PAYMENTS, True),
        (operation("PATCH /payments/{id}", **sending("status")), PAYMENTS, True),
        (operation("POST /papers/{id}/send"), operation("POST /papers", **sending("amount", "currency")), True),
        (
            operation("POST /papers/{id}/send", **sending("emails")),
            operation("POST /papers", **sending("amount", "currency")),
            False,
        ),
        (operation("POST /plans/{id}/notes"), operation("GET /plans/{id}"), False),
        (operation("POST /invoices", summary="Creates a draft invoice."), operation("DELETE /invoices/{id}"), False),
        (operation("POST /invoices/{id}/generate-qr-code"), operation("POST /invoices", **sending("amount")), False),
    ],
)
def test_the_document_around_a_write_shows_whether_it_moves_money(
    write: Operation, other: Operation, is_money: bool
) -> None:
    """R-EFF-1"""
    assert (Effect.MONEY in of(write, other).effects) is is_money


def listing(field: str, *fields: str) -> dict[str, Any]:
    schema: Any = {"properties": {field: {"type": "array", "items": {"properties": dict.fromkeys(fields, TEXT)}}}}
    return {"body": Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)}


def test_what_takes_a_create_back_is_of_what_it_makes() -> None:
    create = operation("POST /stream/event-type", "createStreamEventType", summary="Create Stream Event Type")
    others = (operation("DELETE /event-type/{name}"), operation("DELETE /stream/event-type/{name}"))
    assert "delete_stream_event_type undoes it" in {each.says for each in of(create, *others).evidence}
    token = operation("POST /auth/apps/{id}/create-message-link")
    assert of(token, operation("DELETE /apps/{id}")).asked is not Asked.NEVER


def test_a_field_that_the_api_sets_gives_no_access() -> None:
    schema: Any = {"type": "object", "properties": {"name": TEXT, "role": TEXT, "user": {"properties": {"role": TEXT}}}}
    for name, part in (("role", {"allOf": [TEXT]}), ("user", schema["properties"]["user"])):
        schema["properties"][name] = {**part, "readOnly": True}
    body = {"body": Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)}
    others = operation("DELETE /boards/{id}")
    assert of(operation("POST /boards", **body), others).asked is Asked.NEVER
    assert of(operation("POST /boards", **sending("name", "role")), others).asked is Asked.FIRST


PRICED: Any = {"type": "array", "items": {"properties": {"name": TEXT, "price_monthly": TEXT}}}
CHANGED = operation("PUT /rates/{id}", **sending("amount", "currency"))
TYPES = operation("GET /server-types", responses=(answer("200", PRICED),))


@each(
    ("write", "others", "moves"),
    [
        (operation("POST /servers", **sending("name", "server_type")), [TYPES], True),
        (operation("POST /servers/{id}/change_type", **sending("server_type")), [TYPES], True),
        (operation("PATCH /servers/{id}", **sending("name", "server_type")), [TYPES], False),
        (operation("POST /servers", **sending("server_type")), [reading("GET /server-types", "name")], False),
        (
            operation("POST /webhooks/subscriptions", **sending("url", "event_type")),
            [*(operation(f"GET /{i}") for i in range(9))],
            False,
        ),
        (operation("POST /images", description="The user will no longer be billed for them."), [TYPES], False),
        (operation("POST /stock/{id}/open", **sending("minimum_payout_amount", "amount")), [TYPES], False),
        (operation("POST /payouts", **sending("idempotency_key", "payout")), [TYPES], True),
        (operation("POST /rates", **sending("amount", "currency")), [CHANGED, operation("DELETE /rates/{id}")], False),
        (operation("DELETE /payments/creditors/{id}"), [TYPES], False),
    ],
)
def test_what_costs_moves_money(write: Operation, others: list[Operation], *, moves: bool) -> None:
    """R-EFF-1: the API shows a price of what the request chooses."""
    assert of(write, *others).moves_money is moves


PAYOUT = operation("POST /payouts", **sending("amount", "currency"))
ORDER = operation("POST /orders", **sending("amount", "currency"))
INVOICE = operation("POST /invoices", **sending("amount", "currency"))


@each(
    ("write", "maker", "moves"),
    [
        (operation("PUT /payouts/{id}", **sending("amount")), PAYOUT, True),
        (operation("PATCH /payouts/{id}", **sending("note")), PAYOUT, False),
        (operation("POST /payouts/{id}/withdraw"), PAYOUT, True),
        (operation("POST /payout-estimates/preview", **sending("amount", "currency")), PAYOUT, False),
        (operation("PUT /invoices/{id}", **sending("amount")), INVOICE, False),
        (operation("POST /orders/delete", **sending("id")), PAYOUT, False),
        (operation("PUT /payouts/batches/{id}/reject", "rejectPayoutBatch"), operation("GET /payouts"), True),
        (operation("POST /accounts", **sending("iban", "bank")), PAYOUT, False),
        (operation("POST /accounts", **sending("iban", "amount")), PAYOUT, True),
        (operation("POST /customers", **sending("iban")), PAYOUT, False),
        (operation("POST /capture", **sending("payment_method_nonce")), PAYOUT, True),
        (operation("PUT /refunds/{id}/cancel"), operation("GET /refunds"), False),
        (
            operation("PATCH /orders/{id}", **sending("price")),
            operation("POST /orders", **sending("amount", "currency")),
            True,
        ),
        (operation("POST /memos/{id}/pdf", description="This feature includes payments."), PAYOUT, False),
    ],
)
def test_what_is_done_to_a_thing_of_money_moves_money(write: Operation, maker: Operation, *, moves: bool) -> None:
    """R-EFF-1: the operation that makes it says what it is; its estimate, or another field of it, is none."""
    assert of(write, maker).moves_money is moves


def showing(key: str, **fields: Any) -> Operation:
    return operation(key, responses=(answer("200", {"properties": {"data": {"properties": fields}}}),))


SUM: Any = {"properties": {"amount": {"type": "integer"}, "currency": TEXT}}
TAG = operation("GET /tags/{tagId}")
BOOKING = showing("GET /bookings/{id}", id=TEXT, total=SUM, status=TEXT)


@each(
    ("write", "others", "moves"),
    [
        (operation("DELETE /bookings/{id}"), [BOOKING], False),
        (operation("POST /bookings/{id}/cancel"), [BOOKING], False),
        (operation("POST /bookings/{id}/confirm"), [BOOKING], True),
        (operation("PATCH /bookings/{id}", **sending("status")), [BOOKING], True),
        (operation("PATCH /bookings/{id}/rooms/{room}", **sending("price")), [BOOKING], True),
        (operation("PATCH /desk/bookings/{id}", **sending("total_cents")), [BOOKING], True),
        (operation("POST /bookings", **sending("total")), [BOOKING], True),
        (operation("POST /bookings", **sending("total")), [BOOKING, operation("DELETE /bookings/{id}")], False),
        (operation("PATCH /bookings/{id}", **sending("note")), [BOOKING], False),
        (operation("POST /bookings/{id}/guests", **sending("name")), [BOOKING], False),
        (operation("POST /bookings/{id}/seats", **nesting("detail", "key", "value")), [BOOKING], False),
        (operation("POST /bookings/{id}/download"), [BOOKING], False),
        (operation("POST /bookings/{id}/notify", **sending("emails")), [BOOKING], False),
        (operation("POST /bookings/{id}/confirm"), [showing("GET /bookings/{id}", total=SUM)], False),
        (operation("POST /bookings/{id}/confirm"), [showing("GET /bookings/{id}", total=TEXT, status=TEXT)], False),
    ],
)
def test_a_record_of_money_is_known_by_its_sum_its_currency_and_its_state(
    write: Operation, others: list[Operation], *, moves: bool
) -> None:
    """R-EFF-1: whatever it is called."""
    assert of(write, *others).moves_money is moves


def test_an_act_on_an_item_that_answers_with_the_whole_item_costs_nothing() -> None:
    """R-EFF-1: a GET shows the price, too."""
    upload, item = (reading(key, "id", "price", "currency") for key in ("POST /shops/{id}/upload", "GET /shops/{id}"))
    assert of(upload).moves_money
    assert not of(upload, item).moves_money


@each(
    ("removal", "others", "asked"),
    [
        (
            operation("POST /sets/{id}/unassign-form/{form}"),
            [operation("POST /sets/{id}/assign-form", **sending("id"))],
            1,
        ),
        (
            operation("POST /carts/{id}/remove", **sending("part_ids")),
            [operation("POST /carts/{id}/add", **sending("part_ids"))],
            1,
        ),
        (
            operation("POST /carts/{id}/remove", **sending("part_ids")),
            [operation("POST /carts/{id}/add", **sending("part_ids", "color"))],
            0,
        ),
        (
            operation("POST /carts/{id}/remove", **sending("part_ids")),
            [operation("POST /carts/{id}/add", **sending("part_ids", "color")), reading("GET /carts/{id}", "color")],
            1,
        ),
        (operation("DELETE /sets/{id}/tags/{tagId}"), [operation("PUT /sets/{id}/tags/{tagId}"), TAG], 1),
        (operation("DELETE /sets/{id}/tags/{tagId}"), [operation("PUT /sets/{id}/tags/{tagId}")], 0),
        (
            operation("DELETE /sets/{id}/tags/{tagId}"),
            [operation("PUT /sets/{id}/tags/{tagId}", **sending("text")), TAG],
            0,
        ),
        (operation("DELETE /sets/{id}/tags/{tagId}"), [operation("POST /sets/{id}/tags", **sending("tagId")), TAG], 1),
        (operation("DELETE /sets/{id}/tags/{tagId}"), [operation("POST /sets/{id}/tags", **sending("id")), TAG], 1),
        (
            operation("DELETE /sets/{id}/tags/{tagId}"),
            [operation("POST /sets/{id}/tags", **sending("id", "text")), TAG],
            0,
        ),
        (operation("DELETE /tags/{tagId}"), [operation("POST /tags", **sending("tagId")), TAG], 0),
        (
            operation("DELETE /sets/{id}/tags", **sending("ids")),
            [operation("POST /sets/{id}/tags", **sending("ids"))],
            1,
        ),
        (operation("DELETE /sets/{id}"), [operation("PUT /sets/{id}"), operation("POST /sets", **sending("id"))], 0),
    ],
)
def test_a_removal_is_asked_about_once_where_an_addition_beside_it_makes_the_same_again(
    removal: Operation, others: list[Operation], asked: int
) -> None:
    """R-EFF-2: it loses nothing that its caller does not know; the DELETE of the thing itself does."""
    assert of(removal, *others).asked is (Asked.FIRST if asked else Asked.ALWAYS)


def test_a_thing_that_can_be_deleted_and_has_no_state_is_no_deal() -> None:
    """R-EFF-1"""
    order, delete = operation("POST /orders", "createOrder"), operation("DELETE /orders/{id}")
    assert not of(order, delete, reading("GET /orders/{id}", "id", "name")).moves_money
    assert of(order, delete, reading("GET /orders/{id}", "id", "status")).moves_money


def test_a_word_of_money_is_a_doubt_where_the_rest_of_the_api_is_about_something_else() -> None:
    """R-EFF-1"""
    others = [operation(f"GET /{name}") for name in ("boards", "labels", "users", "teams")]
    doubted = of(operation("POST /transactions/{id}/broadcast"), *others)
    assert (doubted.asked, doubted.moves_money) == (Asked.FIRST, False)
    quoted = of(operation("POST /transactions/{id}/preview"))
    assert (quoted.asked, quoted.moves_money) == (Asked.FIRST, False)


@each(
    "sentence",
    [
        "Endpoint closing down notice: it will be removed in 2027.",
        "The caller must be an admin or billing manager.",
        "Snapshots stay; they must be deleted by hand.",
        "This operation is deprecated and will be removed.",
        "It is discarded if the client leaves, and tells whether a user is revoked.",
        "Old | delete boards | Tokens stop when the user who made them is deleted; nothing is removed.",
    ],
)
def test_sentences_about_the_operation_or_the_caller_are_no_acts(sentence: str) -> None:
    """R-EFF-1"""
    write = operation("PATCH /boards/{id}", description=sentence, **sending("title"))
    assert of(write, reading("GET /boards/{id}", "title")).asked is Asked.NEVER


def test_a_restore_is_proven_where_what_is_deleted_stays() -> None:
    """R-EFF-2: a restore of a backup overwrites what is there."""
    soft = operation("POST /media/{id}/restore", responses=(answer("200", {"properties": {"deleted_at": TEXT}}),))
    assert of(soft, operation("DELETE /media/{id}")).asked is Asked.NEVER
    hard = operation("POST /backups/{id}/restore")
    assert of(hard, operation("DELETE /backups/{id}")).asked is Asked.ALWAYS


@each(
    ("sent", "shown", "asked"),
    [
        (("OPEN", "LOCKED"), ("OPEN", "LOCKED"), Asked.NEVER),
        (("LOCKED",), ("OPEN", "LOCKED"), Asked.FIRST),
        (("OPEN", "CANCELLED"), ("OPEN", "CANCELLED"), Asked.FIRST),
        (("SHARE", "REVOKE"), ("SHARE", "REVOKE"), Asked.ALWAYS),
    ],
)
def test_a_state_that_an_update_cannot_put_back_is_asked_about(
    sent: tuple[str, ...], shown: tuple[str, ...], asked: Asked
) -> None:
    """R-EFF-2"""
    schema: Any = {"properties": {"status": {"type": "string", "enum": list(shown)}}}
    get = operation("GET /orders/{id}", responses=(answer("200", schema),))
    assert of(operation("PATCH /orders/{id}", **listing_values("status", *sent)), get).asked is asked


STATE = reading("GET /cards/{id}", "id", "state")


@each(
    ("write", "other", "asked"),
    [
        (operation("POST /drafts", **sending("to", "text")), operation("GET /drafts"), Asked.FIRST),
        (
            operation("DELETE /groups/{id}/parts", "unassignParts", **sending("ids")),
            operation("POST /groups/{id}/parts", "assignParts", **sending("ids", "names")),
            Asked.ALWAYS,
        ),
        (
            operation("DELETE /engines/{id}", "disableEngine", **sending("ids")),
            operation("POST /engines/{id}", "enableEngine", **sending("ids", "names")),
            Asked.ALWAYS,
        ),
        (
            operation("POST /people/{id}/restore", summary="Restores a person scheduled for deletion."),
            operation("DELETE /people/{id}"),
            Asked.NEVER,
        ),
        (
            operation("POST /ships/launch", extensions={"x-mcpaql-category": "CREATE"}),
            operation("DELETE /ships/{id}"),
            Asked.FIRST,
        ),
        (
            operation("PUT /plans/{id}", **sending("amount", "currency")),
            reading("GET /plans/{id}", "amount", "currency"),
            Asked.FIRST,
        ),
        (
            operation("PATCH /links/{id}", "unlink", **sending("status")),
            reading("GET /links/{id}", "id", "status"),
            Asked.FIRST,
        ),
        (operation("POST /boards/{id}/{action}"), operation("GET /boards/{id}/{action}"), Asked.FIRST),
        (operation("PUT /boards/{id}/photo", **FILE), reading("GET /boards/{id}/photo"), Asked.FIRST),
        (
            operation("POST /boards", **described("send_email", "", "boolean")),
            operation("DELETE /boards/{id}"),
            Asked.FIRST,
        ),
        (
            operation("POST /boards", **described("email", "Of the owner.")),
            operation("DELETE /boards/{id}"),
            Asked.NEVER,
        ),
        (operation("PATCH /cards/{id}", **listing_values("state", "on", "closed")), STATE, Asked.FIRST),
        (operation("PATCH /cards/{id}", **listing_values("state", "open", "closed")), STATE, Asked.NEVER),
        (
            operation("DELETE /boards/{id}/tags/{tag}", "untagBoard"),
            operation("POST /boards/{id}/tags", "tagBoard", **sending("id")),
            Asked.NEVER,
        ),
        (
            operation("DELETE /boards/{id}/tags/{tag}", "untagBoard"),
            operation("POST /boards/{id}/tags", "tagBoard", **sending("id", "color")),
            Asked.ALWAYS,
        ),
        (operation("POST /upload-sessions"), operation("DELETE /upload-sessions/{id}"), Asked.FIRST),
        (operation("POST /sessions"), operation("DELETE /sessions/{id}"), Asked.FIRST),
        (
            operation("PATCH /boards/{id}", responses=(answer("202"),), **sending("title")),
            reading("GET /boards/{id}", "title"),
            Asked.NEVER,
        ),
        (operation("POST /feeds", **sending("url", "password")), operation("DELETE /feeds/{id}"), Asked.FIRST),
        (operation("POST /users", **sending("name", "password")), operation("DELETE /users/{id}"), Asked.ALWAYS),
        (operation("PATCH /users/{id}", **sending("suspended")), reading("GET /users/{id}"), Asked.ALWAYS),
        (operation("POST /mail-folders", **sending("name")), operation("DELETE /mail-folders/{id}"), Asked.NEVER),
        (reading("POST /cards", "token", "name"), operation("DELETE /cards/{card_token}"), Asked.NEVER),
        (reading("POST /cards", "token", "name"), operation("DELETE /cards/{id}"), Asked.FIRST),
        (operation("POST /boards", **sending("admin_id", "name")), operation("DELETE /boards/{id}"), Asked.NEVER),
        (operation("POST /boards", **sending("admin", "name")), operation("DELETE /boards/{id}"), Asked.FIRST),
        (operation("POST /boards", summary="The board will be empty."), operation("DELETE /boards/{id}"), Asked.NEVER),
        (operation("POST /accounts", **sending("iban", "bank")), operation("DELETE /accounts/{id}"), Asked.FIRST),
        (
            operation("POST /sources", **sending("iban", "name")),
            operation("POST /sources/{id}", "removeSource"),
            Asked.FIRST,
        ),
        (
            operation("PUT /accounts/{id}/plans/base", **sending("type")),
            reading("GET /accounts/{id}/plans"),
            Asked.FIRST,
        ),
        (operation("POST /a/enable", description="It increases the price."), operation("POST /a/disable"), Asked.FIRST),
        # `{"items": [{…}]}` says of each thing what `{…}` says of one
        (
            operation("POST /users/{id}/authorizations", **listing("authorizations", "agent", "permission")),
            operation("DELETE /users/{id}/authorizations"),
            Asked.FIRST,
        ),
        (
            operation("PUT /credits/{id}/allocations", **listing("allocations", "amount", "invoice")),
            operation("GET /credits/{id}"),
            Asked.ALWAYS,
        ),
        (
            operation("PATCH /boards", **listing("boards", "title", "size")),
            reading("GET /boards", "id", "title", "size"),
            Asked.NEVER,
        ),
        (
            operation("PATCH /boards/{id}/relationships/tags", **listing("data", "id", "type")),
            reading("GET /boards/{id}/relationships/tags", "id", "type"),
            Asked.NEVER,
        ),
        (
            operation("POST /boards", **listing("boards", "title", "author")),
            operation("DELETE /boards/{id}"),
            Asked.NEVER,
        ),
    ],
)
def test_what_stands_beside_a_write_ends_its_question_or_not(write: Operation, other: Operation, asked: Asked) -> None:
    """R-EFF-1, R-EFF-2"""
    assert of(write, other).asked is asked


def test_a_described_link_carries_no_operation() -> None:
    """R-EFF-1: what names its relation is a link (RFC 8288), and nothing is done with it."""
    link: Any = {"properties": dict.fromkeys(("href", "rel", "method"), TEXT)}
    schema: Any = {"properties": {"links": {"type": "array", "items": link}}}
    body = Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)
    get = operation("GET /forms/{id}", responses=(answer("200", schema),))
    assert of(operation("PATCH /forms/{id}", body=body), get).asked is Asked.NEVER


def test_a_rename_takes_itself_back() -> None:
    """R-EFF-2"""
    assert decide_one("POST /boards/{id}/rename").asked is Asked.NEVER


def test_the_text_of_an_answer_is_no_act() -> None:
    """R-EFF-1"""
    write = operation(
        "PATCH /boards/{id}", responses=(Response("204", "Empty response", (), (), NOWHERE),), **sending("title")
    )
    assert of(write, reading("GET /boards/{id}", "title")).asked is Asked.NEVER


def test_the_email_of_an_author_is_no_recipient() -> None:
    """R-EFF-1"""
    schema: Any = {"properties": {"message": TEXT, "author": {"properties": {"email": TEXT}}}}
    body = Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)
    assert Effect.PEOPLE not in of(operation("POST /commits", body=body)).effects


@each(
    ("read", "asked"),
    [
        (operation("POST /keys/validate", "validateKey", responses=(answer("200"),)), Asked.FIRST),
        (operation("POST /boards/search", "searchBoards", responses=(answer("200"),)), Asked.NEVER),
        (
            operation("POST /boards/search", "searchBoards", summary="Get unread boards.", responses=(answer("200"),)),
            Asked.NEVER,
        ),
        (
            operation("POST /keys/validate", "validateKey", summary="Check a key.", responses=(answer("200"),)),
            Asked.NEVER,
        ),
        (operation("POST /boards/reach", summary="Search the boards.", responses=(answer("204"),)), Asked.FIRST),
        (operation("POST /boards/reach", summary="Search the boards.", responses=(answer("200"),)), Asked.FIRST),
        (operation("POST /keys/reach", summary="Search the keys.", responses=(answer("200"),)), Asked.FIRST),
        (operation("POST /sum/check", responses=(answer("200", NAMES),), **sending("values")), Asked.NEVER),
        (operation("POST /sum/check", responses=(answer("200", NAMES),), **sending("name")), Asked.FIRST),
        (operation("POST /boards/reach", summary="Search the boards.", responses=(answer("200", NAMES),)), Asked.NEVER),
        (operation("POST /keys/{id}/export", "exportKey", responses=(answer("200", TEXT),)), Asked.FIRST),
        (operation("POST /boards/search", "searchBoards", **sending("callback")), Asked.FIRST),
        (operation("POST /boards/search", "searchBoards", **sending("callback_url")), Asked.FIRST),
        (operation("POST /boards/report", "getBoardReport", **sending("email")), Asked.FIRST),
        (operation("POST /boards/report", "getBoardReport", **sending("name")), Asked.NEVER),
    ],
)
def test_a_read_that_answers_nothing_calls_back_or_acts_is_asked_about(read: Operation, asked: Asked) -> None:
    """R-EFF-1"""
    assert of(read).asked is asked


def test_an_update_that_answers_with_the_price_of_an_order_buys_nothing() -> None:
    """R-EFF-1"""
    update = replace(reading("PATCH /orders/{id}", "id", "note", "price"), **sending("note"))
    assert not of(update, reading("GET /orders/{id}", "id", "note", "price")).moves_money


@each(("field", "asked"), [("content", Asked.FIRST), ("tags", Asked.NEVER)])
def test_a_content_deep_in_an_update_of_a_message_is_a_doubt(field: str, asked: Asked) -> None:
    """R-EFF-1"""
    schema: Any = {"properties": {"data": {"properties": {"attributes": {"properties": {field: TEXT}}}}}}
    body = Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)
    update = operation("PATCH /messages/{id}", body=body)
    assert of(update, reading("GET /messages/{id}", "id", "data")).asked is asked


def choosing(key: str, name: str, *path: str) -> Operation:
    schema: Any = {"properties": {"event": {"type": "string", "enum": ["create", "update", "delete"]}}}
    for field in reversed(path):
        inner = {"type": "array", "items": schema} if field.endswith("s") else schema
        schema = {"properties": {field: inner, "a": TEXT, "b": TEXT, "c": TEXT, "d": TEXT}}
    body = Body(True, "", (MediaType("application/json", schema, MISSING, NOWHERE),), NOWHERE)
    return operation(key, name, body=body, responses=(answer("200", TEXT),))


@each(
    ("carrying", "asked"),
    [
        (choosing("POST /audit/search", "searchAudit", "filter"), Asked.NEVER),
        (choosing("POST /time-cards", "createTimeCard", "lines"), Asked.NEVER),
        (choosing("PUT /time-cards/{id}", "updateTimeCard", "lines"), Asked.ALWAYS),
        (choosing("POST /time-cards", "createTimeCard"), Asked.ALWAYS),
    ],
)
def test_a_detail_that_may_say_delete_is_left_to_the_gate(carrying: Operation, asked: Asked) -> None:
    """R-EFF-1"""
    assert of(carrying, operation("DELETE /time-cards/{id}")).asked is asked


def test_what_moves_money_is_never_in_the_tool_that_destroys_nothing() -> None:
    """R-NAME-1, R-EFF-5"""
    payout = decide_one("POST /payouts", "createPayout", **sending("amount", "currency"))
    assert (payout.category, payout.name) == (Category.EXECUTE, "create_payout")
    assert payout.category_reason.note.endswith("the tool of CREATE is annotated as not destructive")
    overrides = Overrides({"POST /payouts": Override(category=Category.CREATE, sources={"category": "POST /payouts"})})
    (stated,) = decided(operation("POST /payouts", "createPayout"), overrides=overrides)
    assert stated.category is Category.CREATE


def test_a_sentence_that_denies_lowers_nothing() -> None:
    """R-EFF-2"""
    write = operation("POST /x", description="This does not delete the data. It does not move any money.")
    assert of(write).effects == (Effect.UNKNOWN,)
    payment = operation("POST /payments", "recordPayment", description="This does not move real money.")
    assert of(payment).asked is Asked.ALWAYS


def test_the_owners_word_ends_the_question() -> None:
    """R-EFF-2"""
    assert decide_one("POST /boards").asked is Asked.FIRST
    overrides = Overrides({"POST /boards": Override(danger=Danger.REVERSIBLE, sources={"danger": "POST /boards"})})
    (decision,) = decided(operation("POST /boards"), overrides=overrides)
    assert decision.asked is Asked.NEVER
    assert decision.evidence[-1].kind == "owner"


def test_the_order_of_operations_changes_no_evidence() -> None:
    """R-EFF-1"""
    api = [operation("POST /a"), operation("DELETE /a/{id}"), operation("POST /a/{id}/cancel"), operation("GET /a")]
    first = {each.operation.key: each.evidence for each in decided(*api)}
    assert first == {each.operation.key: each.evidence for each in decided(*reversed(api))}


@each(
    ("key", "called", "summary", "name"),
    [
        ("POST /payouts/{id}", "instructPayout", "Instructs a payout", "instruct_payout"),
        ("PUT /zones/{id}/rectify", "rectifyZone", "Rectify the zone data", "rectify_zone"),
        ("POST /attest/k8s", "attestK8s", "Attest a token", "attest_k8s"),
        ("POST /invoices", "invoiceCreation", "Invoice creation", "create_invoice"),
        ("DELETE /zones/{id}", "rectifyZone", "Rectify the zone data", "delete_zone"),
        ("PATCH /hooks/{id}", "updateWebhook", "Change it", "update_hook"),  # the summary does not say it
        ("DELETE /series/{id}/progress", "markSeriesAsUnread", "Mark series as unread", "delete_series_progress"),
        ("DELETE /groups/{id}/schedule", "unscheduleGroup", "Unschedule a group", "delete_group_schedule"),
    ],
)
def test_an_unknown_verb_is_heard_where_name_and_summary_begin_with_it_and_a_milder_one_of_a_deletion_is_not(
    key: str, called: str, summary: str, name: str
) -> None:
    """R-NAME-2, R-SAFE-1"""
    assert decide_one(key, called, summary=summary).name == name


def test_a_name_over_40_characters_is_taken_only_where_no_shorter_one_is_free() -> None:
    """R-NAME-3"""
    plans = "GET /finance/financial-goals/{id}/contribution-plans"
    assert names(plans)[plans] == "list_financial_goal_contribution_plans"
    other = "GET /health/financial-goals/{id}/contribution-plans"
    both = names(plans, other)
    assert both[plans] == "list_finance_financial_goal_contribution_plans"
    assert both[other] == "list_health_financial_goal_contribution_plans"


def test_a_name_is_not_shortened_to_where_its_thing_is_found() -> None:
    """R-NAME-3, R-SAFE-1"""
    called = "disable_public_interface_of_load_balancer"
    decision = decide_one("POST /load_balancers/{id}/actions/disable_public_interface", called)
    assert decision.name == called


def test_what_nearly_all_paths_begin_with_is_no_part_of_a_name() -> None:
    """R-NAME-3"""
    keys = [f"GET /{{realm}}/things{index}/{{id}}/parts" for index in range(30)]
    api = names(*keys, "GET /{realm}", "GET /health", ("GET /{realm}/users", "listRealmUsers"))
    assert api[keys[0]] == "list_things0_parts"
    assert api["GET /{realm}"] == "get_realm"
    assert api["GET /{realm}/users"] == "list_realm_users"  # people say it
    few = names(*keys[:10], *(f"GET /{{area}}/others{index}" for index in range(10)))
    assert few[keys[0]] == "list_realm_things0_parts"


def test_an_api_before_the_version_is_residue() -> None:
    assert decide_one("GET /shop/api/v1/users").name == "list_shop_users"
    assert decide_one("GET /shop/api/keys").name == "list_shop_api_keys"


SPANISH = "Realizar un pago. El importe se carga en la cuenta, y después de la confirmación no se puede devolver."
GERMAN = "Eine Zahlung auslösen. Der Betrag wird vom Konto abgebucht und kann nicht zurück überwiesen werden."
ITALIAN = "Crea un ordine per il cliente. Dopo la conferma il cliente riceve un messaggio con tutti i dati di ordine. "


@each("text", [SPANISH, GERMAN, "支払いを作成する。", "Создать платёж.", ITALIAN * 6])
def test_writes_of_a_document_in_another_language_are_asked_about_though_structure_takes_them_back(text: str) -> None:
    proven = of(operation("POST /boards", description=text), operation("DELETE /boards/{id}", description=text))
    assert (proven.asked, proven.danger_reason.rule, proven.effects) == (Asked.FIRST, "language", (Effect.UNKNOWN,))
    read = of(operation("GET /boards", description=text))
    assert (read.asked, read.danger) == (Asked.NEVER, Danger.SAFE)


@each("text", ["New Board", "", "Create a board of the team, such as Bücher."])
def test_titles_missing_texts_and_a_foreign_word_are_no_evidence_of_another_language(text: str) -> None:
    boards = [operation(f"POST /boards{n}", summary=text) for n in range(80)]
    assert of(*boards, *(operation(f"DELETE /boards{n}/{{id}}", summary=text) for n in range(80))).asked is Asked.NEVER
