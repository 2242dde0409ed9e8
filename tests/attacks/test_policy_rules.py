"""Attacks on the owner's rules: values, names and forms of a call that mean what a rule forbids, and do not look so."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forms import FORMS, Formed
from guarded_shop import ID, JSON_BODY, OPERATIONS, STRING, Human, Shop, open_shop, operation, write_shop
from mcp import Client

from aqlgen.runtime.exact_json import read_float
from aqlgen.runtime.safety.rules.values import places_of
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session
from aqlgen.runtime.table import row_of
from tests.cases import each

pytestmark = pytest.mark.anyio
ANY: dict[str, Any] = {}
NUMBER: dict[str, Any] = {"type": "number"}
OPEN: dict[str, Any] = {"type": "object", "additionalProperties": True}


def body(**schemas: Any) -> dict[str, Any]:
    return {name: {"in": "body", "schema": schema} for name, schema in schemas.items()}


def query(**schemas: Any) -> dict[str, Any]:
    return {name: {"in": "query", "schema": schema} for name, schema in schemas.items()}


EXTRA: dict[str, dict[str, Any]] = {
    "create": {
        "send_money": operation(
            "POST", "/transfers", "reversible", body=JSON_BODY,
            parameters=body(amount=NUMBER, total=STRING, price=ANY, lines={"type": "array", "items": OPEN}),
        ),
        "write_file": operation(
            "POST", "/files", "reversible", body=JSON_BODY,
            parameters=body(path=STRING, target=ANY, branch=STRING, options=OPEN),
        ),
    },
    "update": {
        "change_item": operation(
            "PATCH", "/items/{itemId}", "reversible", update={"strategy": "patch"},
            parameters={"item_id": ID, "input": {"in": "body", "required": True, "schema": OPEN}},
            body={"content_type": "application/json", "required": True, "shape": "whole", "parameter": "input"},
        )
    },
    "delete": {
        "remove_items": operation(
            "DELETE", "/items/some", "reversible",
            parameters=query(
                ids={"type": "array", "items": STRING}, list=STRING, force={"type": "boolean"}, mode=STRING
            ),
            aliases=[{"name": "wipe_items"}], operation_id="removeMany",
        ),
        "forced": operation(
            "DELETE", "/items/forced", "reversible",
            parameters=query(
                force={"type": "boolean", "default": True}, backup={"type": "boolean", "default": False}, plain=STRING
            ),
        ),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    operations = deepcopy(OPERATIONS)
    for family, rows in EXTRA.items():
        operations[family] |= rows
    return write_shop(tmp_path_factory.mktemp("ruled") / "shop", operations)


@pytest.fixture
def shop(package: Path, tmp_path: Path) -> Callable[..., Shop]:
    def make(*rules: dict[str, Any], **settings: Any) -> Shop:
        named = tuple({"id": f"rule-{index}", **rule} for index, rule in enumerate(rules, 1))
        return open_shop(package, tmp_path / "audit.jsonl", policy_rules=named, **settings)

    return make


async def call(shop: Shop, name: str, params: dict[str, Any], form: str = "alone", family: str | None = None) -> Any:
    place = replace(shop, dispatcher=Formed(shop.dispatcher, form))  # type: ignore[arg-type]
    person = Human(reachable=False)
    return await place.dispatcher.handle(family, {"operation": name, "params": params}, Session("s"), person)  # type: ignore[arg-type]


def deny(operations: str, **when: Any) -> dict[str, Any]:
    return {"operations": [operations], "when": when, "action": "deny", "reason": "The owner says so"}


AMOUNT = deny("send_money", amount={"above": 100})
TOTAL = deny("send_money", total={"above": 100})
PRICE = deny("send_money", price={"above": 100})
LINES = deny("send_*", **{"lines.price": {"above": 100}})
MANY = deny("remove_items", ids={"items_above": 2})
LIST = deny("remove_items", list={"items_above": 2})
FORCE = deny("remove_items", force={"equals": True})
MODE = deny("*_items", mode={"in": ("hard", "now")})
PATH = deny("POST /files", path={"outside": ("/data",)})
TARGET = deny("write_*", target={"outside": ("work/out",)})
BRANCH = deny("write_file", branch={"matches": ("prod*", "main")})
OPTION = deny("write_file", **{"options.admin.force": {"equals": True}})
INPUT = deny("change_item", admin={"equals": True})
DEEP = deny("change_item", **{"input.settings.limit": {"above": 5}})
GIVEN = deny("send_money", amount={"above": 100, "given": True})
ABSENT = deny("write_file", branch={"given": False})
OTHERS = deny("write_file", branch={"not_in": ("dev", "test")})
FEW = deny("remove_items", ids={"items_at_most": 1})
DEFAULT = deny("forced", force={"equals": True})
NO_BACKUP = deny("forced", backup={"equals": False})

SLIPPING: list[tuple[str, dict[str, Any], str, Any]] = [
    ("above", AMOUNT, "send_money", {"amount": 100.01}),
    ("above-by-exponent", AMOUNT, "send_money", {"amount": 1e9}),
    ("above-as-text", AMOUNT, "send_money", {"amount": "1e9"}),
    ("exact-number-of-the-wire", AMOUNT, "send_money", {"amount": read_float("100.00000000000000001")}),
    ("a-number-that-no-float-has", AMOUNT, "send_money", {"amount": read_float("1e400")}),
    ("huge-integer", AMOUNT, "send_money", {"amount": 10**300}),
    ("amount-left-out", AMOUNT, "send_money", {"total": "5"}),
    ("text-with-blanks", TOTAL, "send_money", {"total": " 101 "}),
    ("text-with-exponent", TOTAL, "send_money", {"total": "1e9"}),
    ("text-with-capital-exponent", TOTAL, "send_money", {"total": "+1.01E+2"}),
    ("text-with-thousands", TOTAL, "send_money", {"total": "1,000.00"}),
    ("text-with-underscores", TOTAL, "send_money", {"total": "1_000"}),
    ("text-in-hexadecimal", TOTAL, "send_money", {"total": "0xffff"}),
    ("fullwidth-digits", TOTAL, "send_money", {"total": "９９９"}),
    ("arabic-digits", TOTAL, "send_money", {"total": "٩٩٩"}),
    ("with-a-currency", TOTAL, "send_money", {"total": "$999"}),
    ("infinity", TOTAL, "send_money", {"total": "Infinity"}),
    ("not-a-number", TOTAL, "send_money", {"total": "NaN"}),
    ("empty-text", TOTAL, "send_money", {"total": ""}),
    ("exponent-without-end", TOTAL, "send_money", {"total": "1e999999999"}),
    ("true-as-an-amount", PRICE, "send_money", {"price": True}),
    ("null-as-an-amount", PRICE, "send_money", {"price": None}),
    ("object-as-an-amount", PRICE, "send_money", {"price": {"value": 1000, "currency": "EUR"}}),
    ("list-of-amounts", PRICE, "send_money", {"price": [1, 1000]}),
    ("list-in-a-list", PRICE, "send_money", {"price": [[1], [[1000]]]}),
    ("one-line-of-many", LINES, "send_money", {"lines": [{"price": 1}, {"price": 101}]}),
    ("a-line-without-a-price", LINES, "send_money", {"lines": [{}]}),
    ("one-line-without-a-price", LINES, "send_money", {"lines": [{"price": 1}, {}]}),
    ("another-spelling-within", LINES, "send_money", {"lines": [{"Price": 101}]}),
    ("both-spellings-within", LINES, "send_money", {"lines": [{"price": 1, "PRICE": 1000}]}),
    ("three-ids", MANY, "remove_items", {"ids": ["1", "2", "3"]}),
    ("ids-as-text", MANY, "remove_items", {"ids": "1,2,3"}),
    ("ids-as-json", MANY, "remove_items", {"ids": '["1","2","3"]'}),
    ("ids-in-one-item", MANY, "remove_items", {"ids": ["1,2,3"]}),
    ("ids-behind-an-escape", MANY, "remove_items", {"ids": ["1%2C2%2C3"]}),
    ("ids-by-a-star", MANY, "remove_items", {"ids": ["*"]}),
    ("ids-by-a-range", MANY, "remove_items", {"ids": ["1-1000"]}),
    ("ids-divided-by-plus", LIST, "remove_items", {"list": "1+2+3"}),
    ("no-ids-at-all", MANY, "remove_items", {"mode": "soft"}),
    ("list-as-text", LIST, "remove_items", {"list": "1, 2;3"}),
    ("list-in-lines", LIST, "remove_items", {"list": "1\n2\n3"}),
    ("list-of-all", LIST, "remove_items", {"list": "ALL"}),
    ("force", FORCE, "remove_items", {"force": True, "ids": ["1"]}),
    ("force-as-text", FORCE, "remove_items", {"force": "true", "ids": ["1"]}),
    ("force-by-an-alias", FORCE, "wipe_items", {"force": True}),
    ("force-by-the-operation-id", FORCE, "removeMany", {"force": True}),
    ("force-by-another-spelling", FORCE, "Remove_Items", {"force": True}),
    ("mode-in-capitals", MODE, "remove_items", {"mode": "HARD"}),
    ("mode-with-blanks", MODE, "remove_items", {"mode": " now\t"}),
    ("mode-escaped", MODE, "remove_items", {"mode": "%68ard"}),
    ("mode-twice-escaped", MODE, "remove_items", {"mode": "%2568ard"}),
    ("mode-with-something-unseen", MODE, "remove_items", {"mode": "ha\u200brd"}),
    ("mode-in-fullwidth", MODE, "remove_items", {"mode": "ｈａｒｄ"}),
    ("mode-among-others", MODE, "remove_items", {"mode": "soft,hard"}),
    ("outside", PATH, "write_file", {"path": "/etc/passwd"}),
    ("path-through-the-parent", PATH, "write_file", {"path": "/data/../etc/passwd"}),
    ("path-escaped", PATH, "write_file", {"path": "/data/%2e%2e/etc/passwd"}),
    ("path-twice-escaped", PATH, "write_file", {"path": "/data/%252e%252e/etc"}),
    ("path-with-escaped-slashes", PATH, "write_file", {"path": "/data/..%2fetc"}),
    ("path-with-back-slashes", PATH, "write_file", {"path": "/data\\..\\..\\etc"}),
    ("path-with-fullwidth-dots", PATH, "write_file", {"path": "/data/．．/etc"}),
    ("path-with-other-slashes", PATH, "write_file", {"path": "/data/..\u2215..\u2215etc"}),
    ("path-with-a-sign-of-two-dots", PATH, "write_file", {"path": "/data/\u2025/etc"}),
    ("path-that-only-begins-so", PATH, "write_file", {"path": "/datashop/x"}),
    ("path-in-capitals", PATH, "write_file", {"path": "/WORK/x"}),
    ("path-of-parameters", PATH, "write_file", {"path": "/data/..;/etc"}),
    ("path-of-a-home", PATH, "write_file", {"path": "~/x"}),
    ("path-with-a-line-break", PATH, "write_file", {"path": "/data/x\n/etc"}),
    ("path-relative", PATH, "write_file", {"path": "work/x"}),
    ("path-empty", PATH, "write_file", {"path": ""}),
    ("path-left-out", PATH, "write_file", {"branch": "x"}),
    ("path-as-a-number", TARGET, "write_file", {"target": 7}),
    ("one-path-of-a-list", TARGET, "write_file", {"target": ["work/out/x", "work/out/../in"]}),
    ("path-in-an-object", TARGET, "write_file", {"target": {"path": "/etc"}}),
    ("path-out-of-the-start", TARGET, "write_file", {"target": "../data/out/x"}),
    ("pattern", BRANCH, "write_file", {"branch": "production"}),
    ("pattern-in-capitals", BRANCH, "write_file", {"branch": "MAIN"}),
    ("pattern-with-blanks", BRANCH, "write_file", {"branch": " main"}),
    ("pattern-escaped", BRANCH, "write_file", {"branch": "%70rod"}),
    ("pattern-with-a-slash-behind", BRANCH, "write_file", {"branch": "main/"}),
    ("pattern-with-slashes-before", BRANCH, "write_file", {"branch": "//main"}),
    ("pattern-with-a-dot-behind", BRANCH, "write_file", {"branch": "main."}),
    ("pattern-with-a-query", BRANCH, "write_file", {"branch": "main?x=1"}),
    ("pattern-with-a-fragment", BRANCH, "write_file", {"branch": "main%23x"}),
    ("pattern-without-a-dot", BRANCH, "write_file", {"branch": "ma\u0131n"}),
    ("pattern-with-a-capital-dot", BRANCH, "write_file", {"branch": "MA\u0130N"}),
    ("mode-with-a-slash-behind", MODE, "remove_items", {"mode": "hard/"}),
    ("mode-with-a-back-slash-behind", MODE, "remove_items", {"mode": "hard\\"}),
    ("mode-with-a-query", MODE, "remove_items", {"mode": "hard?"}),
    ("nested", OPTION, "write_file", {"options": {"admin": {"force": True}}}),
    ("nested-as-one", OPTION, "write_file", {"options": {"admin": {"force": 1}}}),
    ("nested-as-text", OPTION, "write_file", {"options": {"admin": {"force": "yes"}}}),
    ("nested-as-unknown-text", OPTION, "write_file", {"options": {"admin": {"force": "aye"}}}),
    ("nested-in-a-list", OPTION, "write_file", {"options": {"admin": [{"force": False}, {"force": True}]}}),
    ("nested-with-dots", OPTION, "write_file", {"options": {"admin.force": True}}),
    ("nested-in-brackets", OPTION, "write_file", {"options": {"admin[force]": True}}),
    ("nested-in-camel-case", OPTION, "write_file", {"options": {"Admin": {"FORCE": True}}}),
    ("nested-among-many", OPTION, "write_file", {"options": {f"field{index}": 1 for index in range(20_001)}}),
    ("object-as-text", OPTION, "write_file", {"options": {"admin": '{"force": true}'}}),
    ("field-of-a-body", INPUT, "change_item", {"item_id": "1", "input": {"admin": True}}),
    ("field-of-a-body-as-text", INPUT, "change_item", {"item_id": "1", "input": {"Admin": "TRUE"}}),
    ("deep-in-a-body", DEEP, "change_item", {"item_id": "1", "input": {"settings": {"limit": "6"}}}),
    ("deep-in-a-body-in-a-list", DEEP, "change_item", {"item_id": "1", "input": {"settings": [{"limit": 1e1}]}}),
    ("not-given", ABSENT, "write_file", {"path": "x"}),
    ("none-of-those", OTHERS, "write_file", {"branch": "main"}),
    ("none-of-those-for-sure", OTHERS, "write_file", {"branch": "Dev"}),
    ("none-of-those-by-leaving-out", OTHERS, "write_file", {"path": "x"}),
    ("too-few", FEW, "remove_items", {"ids": ["1"]}),
    ("as-the-api-does-without-it", DEFAULT, "forced", {"plain": "x"}),
    ("left-out-where-the-default-is-false", NO_BACKUP, "forced", {"force": False}),
]  # fmt: skip


@each("form", FORMS)
@each(("rule", "name", "params"), [case[1:] for case in SLIPPING], ids=[case[0] for case in SLIPPING])
async def test_no_value_slips_past_a_rule(
    shop: Callable[..., Shop], rule: dict[str, Any], name: str, params: dict[str, Any], form: str
) -> None:
    """R-SAFE-1: a condition that cannot be told for sure is met."""
    place = shop(rule)
    answer = await call(place, name, params, form)
    assert answer["success"] is False, answer
    assert place.wire.sent == []
    if answer["error"]["code"].startswith("PERMISSION"):
        assert answer["error"]["details"]["rule"] == "rule-1"
    else:
        assert answer["error"]["code"].startswith("VALIDATION"), answer


HONEST: list[tuple[str, dict[str, Any], str, Any]] = [
    ("at-the-bound", AMOUNT, "send_money", {"amount": 100}),
    ("text-at-the-bound", TOTAL, "send_money", {"total": "100.00"}),
    ("all-lines-below", LINES, "send_money", {"lines": [{"price": 1}, {"price": 2}]}),
    ("two-ids", MANY, "remove_items", {"ids": ["1", "2"]}),
    ("two-of-a-list", LIST, "remove_items", {"list": "1,2"}),
    ("no-force", FORCE, "remove_items", {"ids": ["1"]}),
    ("force-off", FORCE, "remove_items", {"force": False}),
    ("another-mode", MODE, "remove_items", {"mode": "hardly"}),
    ("inside", PATH, "write_file", {"path": "/data/a/b.txt"}),
    ("inside-by-a-detour", PATH, "write_file", {"path": "/data/a/../b.txt"}),
    ("another-branch", BRANCH, "write_file", {"branch": "feature/production"}),
    ("no-option", OPTION, "write_file", {"options": {"force": True}}),
    ("option-off", OPTION, "write_file", {"options": {"admin": {"force": "false"}}}),
    ("another-field-of-a-body", INPUT, "change_item", {"item_id": "1", "input": {"name": "x"}}),
    ("default-made-good", DEFAULT, "forced", {"force": False}),
    ("false-default-made-good", NO_BACKUP, "forced", {"backup": True}),
    ("left-out-where-that-is-no-matter", GIVEN, "send_money", {"total": "5"}),
    ("given-at-last", ABSENT, "write_file", {"branch": "x"}),
    ("one-of-those", OTHERS, "write_file", {"branch": "dev"}),
    ("enough", FEW, "remove_items", {"ids": ["1", "2"]}),
    ("another-operation", AMOUNT, "create_item", {}),
]  # fmt: skip


@each(("rule", "name", "params"), [case[1:] for case in HONEST], ids=[case[0] for case in HONEST])
async def test_what_a_rule_does_not_speak_of_runs(
    shop: Callable[..., Shop], rule: dict[str, Any], name: str, params: dict[str, Any]
) -> None:
    """R-SAFE-1"""
    place = shop(rule)
    answer = await call(place, name, params)
    assert answer["success"], answer
    assert len(place.wire.sent) == 1


def allow(**when: Any) -> dict[str, Any]:
    return {"operations": ["pay"], "when": when, "action": "allow"}


@each("form", FORMS)
@each(
    ("when", "params"),
    [
        ({"amount": {"at_most": 50}}, {"amount": 51}),
        ({"metadata.cap": {"at_most": 50}}, {}),
        ({"recipient": "anna"}, {"recipient": "Anna"}),
        ({"recipient": "anna"}, {"recipient": "anna "}),
        ({"recipient": {"in": ("anna", "ben")}}, {"recipient": "anna,ben"}),
        ({"recipient": {"not_in": ("eve",)}}, {"recipient": "Eve"}),
        ({"note": {"inside": ("/data",)}}, {"note": "/data/../etc"}),
        ({"note": {"inside": ("/data",)}}, {"note": "/data/%2e%2e/etc"}),
        ({"note": {"inside": ("/data",)}}, {}),
        ({"lines": {"items_at_most": 1}}, {"lines": [{}, {}]}),
        ({"lines.price": {"at_most": 5}}, {"lines": [{"price": 1}, {"price": 6}]}),
        ({"lines.price": {"at_most": 5}}, {"lines": [{"price": 1}, {}]}),
        ({"lines.price": {"at_most": 5}}, {"lines": [{"price": 1}, {"Price": 6}]}),
        ({"zz_refund_all": False}, {"zz_refund_all": None}),
        ({"metadata.ok": True}, {"metadata": {"ok": "true"}}),
        ({"metadata.ok": True}, {"metadata": {"ok": [True, False]}}),
    ],
)  # fmt: skip
async def test_what_is_not_surely_allowed_is_asked_about_as_before(
    shop: Callable[..., Shop], when: dict[str, Any], params: dict[str, Any], form: str
) -> None:
    """R-SAFE-1: a rule that allows takes a doubtful value for another one."""
    tests = {path: test if isinstance(test, dict) else {"equals": test} for path, test in when.items()}
    place = shop(allow(**tests))
    answer = await call(place, "pay", {"amount": 5, "recipient": "x", **params}, form)
    assert answer["success"] is False
    assert place.wire.sent == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", ["standard", "strict", "open"])
async def test_no_form_of_a_call_leads_around_a_rule_or_an_older_name(
    shop: Callable[..., Shop], form: str, policy: str
) -> None:
    """R-SAFE-1: whatever the policy is, and whoever vouches for the adapter."""
    place = shop({"operations": ["wipe_items"], "action": "deny"}, policy=policy, trust_level="certified")
    for name in ("remove_items", "wipe_items", "removeMany", "REMOVE_ITEMS", "removeItems", "remove-items"):
        answer = await call(place, name, {"ids": ["1"]}, form)
        assert answer["success"] is False
    assert place.wire.sent == []


async def test_a_refused_step_sends_nothing_of_its_plan(shop: Callable[..., Shop]) -> None:
    """R-SAFE-1, R-STEP-2: the refusal is known before the first step, where no parameter decides it."""
    place = shop({"operations": ["remove_items"], "action": "deny"})
    steps = [{"operation": "create_item", "params": {}}, {"operation": "remove_items", "params": {"ids": ["1"]}}]
    answer = await place.dispatcher.handle(None, {"operation": "run_steps", "params": {"steps": steps}}, Session("s"))
    assert answer["success"] is False
    assert place.wire.sent == []


async def test_a_value_of_an_answer_meets_the_rule_that_it_would_meet_as_an_agents(shop: Callable[..., Shop]) -> None:
    """R-SAFE-1, R-STEP-2"""
    place = shop(deny("write_file", branch={"matches": ("red",)}))
    steps = [
        {"id": "a", "operation": "get_item", "params": {"item_id": "7"}},
        {"operation": "write_file", "params": {"branch": {"$ref": "a.colour"}}},
    ]
    answer = await place.dispatcher.handle(None, {"operation": "run_steps", "params": {"steps": steps}}, Session("s"))
    assert "rule-1" in str(answer)
    assert [request.method for request in place.wire.sent] == ["GET"]


async def test_no_metadata_of_a_call_names_another_rule_or_level(shop: Callable[..., Shop]) -> None:
    """R-SAFE-1, R-SAFE-2"""
    place = shop({"operations": ["remove_items"], "action": "deny"})
    for extra in ("_policy", "_rule", "_trust", "_allow", "_trust_level", "_confirmed"):
        answer = await call(place, "remove_items", {"ids": ["1"], extra: "open"})
        assert answer["success"] is False
    answer = await call(place, "remove_items", {"ids": ["1"], "dry_run": False})
    assert answer["success"] is False
    assert place.wire.sent == []


@pytest.mark.parametrize("name", ["trust", "promote", "trust_promote", "set_trust", "policy", "update_trust"])
async def test_no_operation_reaches_trust_or_rules(shop: Callable[..., Shop], name: str) -> None:
    """R-SAFE-2: they are changed in the owner's files alone."""
    place = shop(policy="strict")
    answer = await call(place, name, {"level": "certified", "by": "me", "reason": "because"})
    assert answer["error"]["code"] == "NOT_FOUND_OPERATION"
    for query_name in ("trust", "policy", "rules"):
        answer = await call(place, "introspect", {"query": query_name})
        assert answer["error"]["code"] == "VALIDATION_INVALID_VALUE", answer


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_through_a_client_a_rule_is_said_with_its_reason(shop: Callable[..., Shop], era: str) -> None:
    """R-SAFE-1"""
    place = shop(FORCE, {"operations": ["*_items"], "families": ["delete"], "action": "confirm", "reason": "Many"})
    async with Client(build_server(place.dispatcher), mode=era) as client:
        params = {"operation": "remove_items", "params": {"force": True}}
        refused: Any = (await client.call_tool("mcp_aql_delete", params)).structured_content
        assert refused["error"]["code"] == "PERMISSION_DENIED"
        assert refused["error"]["details"]["rule"] == "rule-1"
        assert "The owner says so" in refused["error"]["message"]
        asked: Any = (
            await client.call_tool("mcp_aql_delete", {"operation": "remove_items", "params": {"ids": ["1"]}})
        ).structured_content
        assert asked["error"]["code"] == "CONFIRMATION_REQUIRED"
        assert asked["confirmation"]["reasons"][0] == "Many (rule rule-2)"
    assert place.wire.sent == []
    assert [(event["event"], event.get("rule")) for event in place.events()[:2]] == [
        ("OPERATION_DENIED", "rule-1"),
        ("TOKEN_ISSUED", "rule-2"),
    ]


def test_a_type_that_is_made_of_itself_ends_the_search_for_a_field() -> None:
    """R-TRUST-4: the types are the document's."""
    looks: list[str] = []

    class Types(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            looks.append(key)
            assert len(looks) < 100
            return super().get(key, default)

    tree = {"anyOf": [{"$ref": "#/types/Tree"}, {"type": "array", "items": {"$ref": "#/types/Tree"}}]}
    entry = operation("POST", "/trees", "reversible", parameters={"tree": {"in": "body", "schema": tree}})
    row = row_of("create_tree", "create", {"resource": "tree", "verb": "create", **entry})
    assert places_of(row, ("tree", "leaf"), Types(Tree=tree))
