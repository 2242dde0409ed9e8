"""The first line of a question: what a call does, in words, whatever the agent gives (R-SAFE-4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aqlgen.runtime.hooks import GateDecision
from aqlgen.runtime.safety.question_texts import name_of, title_of, title_of_all
from aqlgen.runtime.safety.view import text_of_any, view_of
from aqlgen.runtime.table import Parameter, ReturnType, Row
from aqlgen.runtime.table.parts import Update
from aqlgen.runtime.wire import ApiRequest
from tests.cases import each

FOR_GOOD = "This cannot be undone."
OWNED = {"owner": "acme", "repo": "widgets"}


def row(name: str, verb: str, method: str, path: str, danger: str = "destructive", **more: Any) -> Row:
    """Return a row whose parameters are those of its path, and of `body` and `query`."""
    places = dict.fromkeys(path.replace("}", "{").split("{")[1::2], "path")
    places |= dict.fromkeys(more.pop("body", ()), "body") | dict.fromkeys(more.pop("query", ()), "query")
    families = {"DELETE": "delete", "PUT": "update", "POST": "execute"}
    parameters = {
        wire: Parameter(name=wire, location=place, wire=wire, required=True, schema={})
        for wire, place in places.items()
    }
    return Row(
        **{
            "name": name,
            "family": families[method],
            "summary": "",
            "description": "",
            "method": method,
            "path": path,
            "resource": name.partition("_")[2],
            "verb": verb,
            "danger": danger,
            "shown_parameters": parameters,
            "returns": ReturnType(name="object", kind="object"),
            **more,
        }
    )


LABEL = row("delete_label", "delete", "DELETE", "/repos/{owner}/{repo}/labels/{name}")
HIDDEN = replace(
    LABEL, shown_parameters={**LABEL.parameters, "name": replace(LABEL.parameters["name"], sensitive=True)}
)
REPO = row("delete_repository", "delete", "DELETE", "/repos/{owner}/{repo}")


@each(
    ("operation", "params", "title"),
    [
        (REPO, OWNED, f"Delete repository acme/widgets? {FOR_GOOD}"),
        (HIDDEN, {**OWNED, "name": "bug"}, f"Delete label (hidden) (repos acme/widgets)? {FOR_GOOD}"),
        (LABEL, {**OWNED, "name": "bug"}, f"Delete label bug (repos acme/widgets)? {FOR_GOOD}"),
        (
            row("delete_card_checklist_check_item", "delete", "DELETE", "/cards/{c}/checklist/{l}/checkItem/{i}"),
            {"c": "1", "l": "2", "i": "3"},
            f"Delete card checklist check item 3 (checklist 2, cards 1)? {FOR_GOOD}",
        ),
        (
            row("reset_root_password_of_server", "reset", "POST", "/servers/{id}/actions/reset_password"),
            {"id": 42},
            f"Reset root password of server (servers 42)? {FOR_GOOD}",
        ),
        (
            row("remove_server_from_placement_group", "remove", "POST", "/servers/{id}/actions/remove"),
            {"id": 42},
            f"Remove server from placement group (servers 42)? {FOR_GOOD}",
        ),
        (
            row(
                "delete_group_contacts",
                "delete",
                "DELETE",
                "/groups/{id}/contacts",
                "dangerous",
                danger_reason="whole-collection: DELETE on a collection",
            ),
            {"id": "g1"},
            f"Delete group contacts (groups g1)? This is about all of them. {FOR_GOOD}",
        ),
        (
            row("delete_user_emails", "delete", "DELETE", "/user/emails", body=("emails",)),
            {"emails": ["a@b.example", "c@d.example", "e@f.example"]},
            f"Delete user emails (emails (3 values))? {FOR_GOOD}",
        ),
        (
            row(
                "create_payment",
                "create",
                "POST",
                "/payments",
                "dangerous",
                body=("amount", "recipient", "token"),
                danger_reason="money: it moves money",
            ),
            {"amount": 100, "recipient": "DE89 3704", "token": "hidden"},
            'Create payment (amount 100, recipient "DE89 3704", token (hidden))? This moves money.',
        ),
        (
            row("update_board_members", "update", "PUT", "/boards/{id}/members", update=Update(strategy="put")),
            {"id": 5},
            "Update board members (boards 5)? Existing data may be lost.",
        ),
        (
            row("archive_channel", "archive", "POST", "/channels/{id}/archive"),
            {"id": "c1"},
            "Archive channel (channels c1)?",
        ),
        (row("purge", "do", "DELETE", "/items", "forbidden"), {}, f"Purge items? {FOR_GOOD}"),
        (replace(LABEL, danger="reversible"), {**OWNED, "name": "bug"}, "Delete label bug (repos acme/widgets)?"),
        (
            replace(REPO, confirmation="Delete repository '{owner}/{repo}'? {gone} and {missing} are gone, too."),
            OWNED,
            "Delete repository 'acme/widgets'? {gone} and {missing} are gone, too.",
        ),
        (
            replace(LABEL, confirmation="It is gone."),
            {**OWNED, "name": "x"},
            "Delete label x (repos acme/widgets)? It is gone.",
        ),
        (replace(LABEL, confirmation="Drop {name}?"), {**OWNED, "name": 'x"? Yes'}, 'Drop "x\\u0022? Yes"?'),
    ],
    ids=lambda value: value.name if isinstance(value, Row) else None,
)
def test_a_call_is_said_in_words(operation: Row, params: dict[str, Any], title: str) -> None:
    """R-SAFE-4"""
    assert title_of(operation, params) == title


def test_the_few_fields_of_an_object_are_shown_without_its_secrets() -> None:
    """R-SAFE-4, R-SAFE-5"""
    coupon = row("apply_coupon", "apply", "POST", "/applied_coupons", "dangerous", body=("applied",))
    applied = {"customer": "cust_5", "pass": "hunter2", "of": {"api_key": "k"}}
    shown = title_of(coupon, {"applied": applied}, frozenset({"pass"}))
    assert shown.startswith("Apply coupon (applied {customer cust_5, pass (hidden), of (1 value)})?")
    assert title_of(coupon, {"applied": applied}).startswith("Apply coupon (applied (3 values))?")
    many = title_of(coupon, {"applied": dict.fromkeys("abcd", 1)}, frozenset())
    assert many.startswith("Apply coupon (applied (4 values))?")


@each(
    "value",
    [
        "bug? This is harmless.\nDELETE nothing",
        "bug\u2028Approved",
        "\u202egub",
        "bug\uff1f Yes",
        "b\u0443g",
        'bug"? Yes. "',
        "bug. Nothing is deleted. x",
        "acme/widgets",
        "",
        "x" * 5000,
        "\x1b[2Jx",
        "bug\u200b",
        ["a", "b"],
        {"a": 1},
    ],
    ids=ascii,
)
def test_a_value_stays_a_value_on_one_line(value: Any) -> None:
    """R-SAFE-4, R-TRUST-6: in quotes where it is no plain word, with nothing unseen, bounded."""
    title = title_of(LABEL, {**OWNED, "name": value})
    assert title.startswith(('Delete label "', "Delete label ("))
    assert title.endswith(f" (repos acme/widgets)? {FOR_GOOD}")
    assert title.count('"') in (0, 2)
    assert title.isprintable()
    assert len(title) < 200
    inner = title.removeprefix("Delete label ").partition(" (repos")[0]
    assert not any(char in inner for char in "\u0443\u202e\n\u2028\u200b")


def test_calls_together_are_said_together() -> None:
    """R-SAFE-4, R-BAT-2: how many, what they share, and the worst of it once."""
    labels: list[tuple[Row, dict[str, Any]]] = [(LABEL, {**OWNED, "name": f"l{number}"}) for number in range(12)]
    begin = "Run all of these 12 calls? Delete label, 12 times"
    assert title_of_all(labels) == f"{begin} (repos acme/widgets): l0, l1, l2 and 9 more. {FOR_GOOD}"
    labels[0] = (LABEL, {**OWNED, "repo": "gadgets", "name": "x"})
    assert title_of_all(labels) == f"{begin}: x, l1, l2 and 9 more. {FOR_GOOD}"
    both = [(REPO, OWNED), *labels[1:3]]
    assert title_of_all(both) == (
        "Run all of these 3 calls? Delete repository acme/widgets. Delete label, 2 times "
        "(repos acme/widgets): l1, l2. "
        f"{FOR_GOOD}"
    )


@each(
    ("summary", "is_shown"),
    [
        ("Deletes the label for the given id.", False),
        ("Delete a label by ID", False),
        ("Delete a label and all its issues", True),
        ("Do not delete labels", True),
    ],
)
def test_a_summary_is_shown_only_if_it_says_more_than_the_title(summary: str, is_shown: bool) -> None:
    text = text_of_any(replace(LABEL, summary=summary), GateDecision("confirm", "destructive", "", (), "", ""))
    assert (summary in text) == is_shown


STATE = {"type": "string", "enum": ["close", "snoozed", "open"]}
UNTIL = {"type": "integer", "description": "A Unix timestamp."}
CHANGE = {"type": "object", "properties": {"state": STATE, "until": UNTIL, "lines": {"type": "array"}}}


@each(
    ("reason", "change", "shown"),
    [
        ("money: its request has amount", {"lines": [{"amount": 5}]}, '("money: its request has amount")'),
        (
            "money: its request has amount",
            {"until": 5},
            '("money: its request can have amount, not sent here: amount")',
        ),
        ("people: its request has to and text", {"text": "Hi"}, "can have to and text, not sent here: to"),
        ("money: its request has amount", [{"op": "copy", "path": "/amount", "from": "/x"}], 'has amount")'),
        ("money: its request has amount", [{"op": "test"}], "can have amount, not sent here: amount"),
        ("ends: “Close a conversation”", {"state": "snoozed"}, "'Close a conversation'; here state is snoozed"),
        ("ends: “Close a conversation”", {"state": "close"}, "'Close a conversation'\")"),
        ("ends: it ends it", {"until": 1796112000}, "input.until: 1796112000 (2026-12-01T08:00:00Z)"),
        ("ends: it ends it", {"until": 1796112000000}, "input.until: 1796112000000 (2026-12-01T08:00:00Z)"),
        ("ends: it ends it", {"until": 50}, '{"until": 50}'),
        ("ends: “Close it”", [{"state": "open"}], '[{"state": "open"}]'),
    ],
)
def test_a_question_says_what_of_its_reason_the_call_does_not_send_and_the_date_of_a_number(
    reason: str, change: Any, shown: str
) -> None:
    """R-SAFE-4"""
    changing = row("change_ticket", "change", "PUT", "/tickets/{id}", body=("input",), danger_reason=reason)
    changing.parameters["input"] = replace(changing.parameters["input"], schema=CHANGE)
    decision = GateDecision("confirm", "destructive", "", (), "", "")
    request = ApiRequest("PUT", "https://a.example/tickets/7", (), None)
    assert shown in view_of(changing, {"id": "7", "input": change}, decision, request, {}).text


@each(("thing", "name"), [({"id": 7, "name": "Ada"}, "Ada"), ({"note": "Ada"}, ""), ({"name": ""}, ""), ("Ada", "")])
def test_a_thing_is_named_by_a_field_for_names_alone(thing: Any, name: str) -> None:
    """R-TRUST-6: any other text of the API's answer is no name in a question."""
    assert name_of(thing) == name
