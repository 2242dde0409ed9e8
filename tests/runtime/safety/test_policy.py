"""The policy: trust and danger, the owner's rules, and what moves money, through a real client in both protocol eras.

Each test names the requirement of the protocol's documents that it proves: danger levels (section 7), trust levels
(section 6), and the guide to financial adapters (section 6).
"""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import Client
from stand_in import FakeApi
from tiny_zoo import ADAPTER, ID, OPERATIONS, write_package

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.hooks import Call, GateDecision, Hooks, Refuse
from aqlgen.runtime.safety.audit import Audit
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.load import ConfigError, load
from aqlgen.runtime.table import Adapter, Table
from tests.cases import setting, without_ids

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
TRUST = ("untested", "generated", "validated", "community_reviewed", "certified")
MATRIX = {
    "safe": "refuse allow allow allow allow",
    "reversible": "refuse refuse allow allow allow",
    "destructive": "refuse refuse confirm allow allow",
    "dangerous": "refuse refuse refuse confirm allow",
    "forbidden": "refuse refuse refuse refuse confirm",
}
OUTCOMES = {"PERMISSION_DANGER_LEVEL_DENIED": "refuse", "CONFIRMATION_REQUIRED": "confirm"}
Send = Callable[..., Any]


class Zoo:
    """A zoo whose operations are as a test wants them, with its API and its audit log."""

    def __init__(self, folder: Path) -> None:
        self.api = FakeApi()
        self.folder = folder
        self.audit = folder / "audit.jsonl"

    @asynccontextmanager
    async def client(
        self, era: str = "auto", hooks: Any = None, rows: dict[str, dict[str, Any]] | None = None, **settings: Any
    ) -> AsyncIterator[Send]:
        operations: Any = copy.deepcopy(OPERATIONS)
        for table in operations.values():
            for name, row in table.items():
                row |= (rows or {}).get(name, {})
        package = write_package(self.folder / f"zoo{len(list(self.folder.iterdir()))}", ADAPTER, operations)
        if "policy_rules" in settings:
            settings["policy_rules"] = setting("policy.rules", settings["policy_rules"])
        audit = Audit(self.audit, adapter="zoo")
        parts = Parts(Hooks.load(hooks), audit=audit)
        dispatcher = Dispatcher(Adapter.load(package), Table(package), self.api, Config(**settings), parts)
        async with Client(build_server(dispatcher), mode=era) as client:

            async def send(operation: str, tool: str = "delete", **params: Any) -> Any:
                arguments = {"operation": operation, "params": params}
                return (await client.call_tool(f"mcp_aql_{tool}", arguments)).structured_content

            yield send

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.audit.read_text().splitlines()] if self.audit.exists() else []


@pytest.fixture
def place(tmp_path: Path) -> Zoo:
    return Zoo(tmp_path)


def outcome(envelope: Any) -> str:
    return "allow" if envelope["success"] else OUTCOMES.get(envelope["error"]["code"], envelope["error"]["code"])


# The matrix of trust and danger


@pytest.mark.parametrize("level", MATRIX)
@pytest.mark.parametrize("trust", TRUST)
async def test_strict_is_the_matrix_of_trust_and_danger(place: Zoo, level: str, trust: str) -> None:
    """R-SAFE-2: danger levels 4.1; trust levels 6.2 SHOULD 1."""
    wanted = MATRIX[level].split()[TRUST.index(trust)]
    rows = {"delete_animal": {"danger": level}}
    async with place.client(policy="strict", trust_level=trust, rows=rows) as send:
        answer = await send("delete_animal", animal_id=7)
        assert outcome(answer) == wanted
        shown = await send("introspect", "read", query="danger", name="delete_animal")
        assert shown["data"]["operation"]["behavior"] == {"refuse": "deny"}.get(wanted, wanted)
    assert len(place.api.sent) == (wanted == "allow")


@ERAS
async def test_a_refusal_has_the_documents_form_and_says_how_the_owner_unlocks_it(place: Zoo, era: str) -> None:
    """R-SAFE-1, R-SAFE-2: danger levels 4.4 and 7.1 MUST 4."""
    rows = {"delete_animal": {"danger": "dangerous"}}
    async with place.client(era, policy="strict", trust_level="validated", rows=rows) as send:
        error = (await send("delete_animal", animal_id=7))["error"]
    assert error["code"] == "PERMISSION_DANGER_LEVEL_DENIED"
    assert without_ids(error["details"]) == {
        "operation": "delete_animal",
        "danger_level": "dangerous",
        "adapter_trust": "validated",
        "minimum_trust_required": "community_reviewed",
        "policy": "strict",
        "rule": "trust-matrix",
        "reasons": ["Removes data", "May not be undone"],
    }
    denied = "Operation 'delete_animal' (danger: dangerous) denied for adapter trust level 'validated'"
    assert error["message"].startswith(denied)
    assert "'zoo-adapter trust promote' up to 'community_reviewed'" in error["message"]


@ERAS
async def test_an_untested_adapter_answers_introspection_and_nothing_else(place: Zoo, era: str) -> None:
    """R-SAFE-2, R-SAFE-3: introspection and confirm_operation are never gated."""
    async with place.client(era, policy="strict", trust_level="untested") as send:
        assert (await send("introspect", "read", query="operations"))["success"]
        confirming = await send("confirm_operation", "execute", confirmation_token=f"conf_{'0' * 64}")
        assert "PERMISSION" not in confirming["error"]["code"]
        refused = await send("list_keepers", "read")
        assert refused["error"]["details"]["minimum_trust_required"] == "generated"
        steps = [{"operation": "list_keepers", "params": {}}]
        assert outcome(await send("run_steps", "execute", steps=steps)) == "refuse"
    assert place.api.sent == []


@pytest.mark.parametrize("policy", ["standard", "strict"])
async def test_an_operation_without_a_known_level_never_runs_unasked(place: Zoo, policy: str) -> None:
    """R-SAFE-1: danger levels 7.1 MUST 1, at least `reversible`."""
    for trust in TRUST:
        rows = {"list_keepers": {"danger": "harmless, trust me"}}
        async with place.client(policy=policy, trust_level=trust, rows=rows) as send:
            assert outcome(await send("list_keepers", "read")) != "allow"
    assert place.api.sent == []


@pytest.mark.parametrize("level", ["destructive", "dangerous", "forbidden"])
async def test_what_is_destructive_or_worse_is_asked_about_with_its_reasons_and_logged(place: Zoo, level: str) -> None:
    """R-SAFE-1, R-SAFE-5: danger levels 7.1 MUST 2, 3 and 5; 7.2 SHOULD 3 and 5."""
    async with place.client(rows={"delete_animal": {"danger": level}}) as send:
        answer = await send("delete_animal", animal_id=7)
        shown = await send("introspect", "read", query="danger", name="delete_animal")
    details = answer["error"]["details"]
    assert outcome(answer) == ("refuse" if level == "forbidden" else "confirm")
    assert "Removes data" in answer.get("confirmation", details)["reasons"]
    assert level == "forbidden" or details["confirmation_token"].startswith("conf_")
    assert shown["data"]["operation"]["danger"]["level"] == details["danger_level"] == level
    event = place.events()[0]
    assert (event["danger_level"], event["adapter_trust"], event["rule"]) == (level, "generated", "danger-level")
    assert place.api.sent == []


# The owner's rules


RULES = [
    {"id": "all", "families": ["delete"], "action": "confirm", "reason": "A delete"},
    {"id": "last", "operations": ["delete_*"], "when": {"animal_id": {"equals": 1}}, "action": "deny"},
    {"id": "own", "operations": ["delete_animal"], "when": {"animal_id": {"in": [2, 3]}}, "action": "allow"},
]


@ERAS
async def test_the_most_restrictive_of_rules_and_policy_wins_and_is_named(place: Zoo, era: str) -> None:
    """R-SAFE-1: danger levels 7.2 SHOULD 2."""
    async with place.client(era, policy="open", policy_rules=RULES) as send:
        denied, asked, both = [await send("delete_animal", animal_id=number) for number in (1, 9, 2)]
    assert (denied["error"]["code"], denied["error"]["details"]["rule"]) == ("PERMISSION_DENIED", "last")
    assert asked["confirmation"]["reasons"][0] == "A delete (rule all)"
    assert outcome(both) == "confirm"  # one rule allows and another asks
    assert [event.get("rule") for event in place.events()[:3]] == ["last", "all", "all"]


@pytest.mark.parametrize(
    ("settings", "level", "rule", "runs"),
    [
        ({}, "destructive", {"operations": ["delete_animal"]}, True),
        ({}, "destructive", {"operations": ["delete_*"]}, True),
        ({}, "destructive", {"operations": ["DELETE /animals/*"], "danger": ["destructive"]}, True),
        ({}, "destructive", {"operations": ["delete_animal"], "danger": ["dangerous", "safe"]}, False),
        ({}, "destructive", {"operations": ["delete_animal"], "tags": ["Zoo"]}, True),
        ({}, "destructive", {"operations": ["delete_animal"], "families": ["delete"]}, True),
        ({}, "dangerous", {"operations": ["delete_*"], "when": {"animal_id": {"at_most": 7}}}, True),
        ({}, "dangerous", {"operations": ["delete_*"], "when": {"animal_id": {"at_most": 6}}}, False),
        ({}, "forbidden", {"operations": ["delete_animal"]}, True),
        ({}, "forbidden", {"operations": ["DELETE /animals/{animalId}"]}, True),
        ({}, "forbidden", {"operations": ["give_away"]}, True),
        ({}, "forbidden", {"operations": ["delete_*"]}, False),
        ({"policy": "strict"}, "reversible", {"operations": ["delete_animal"]}, True),
        ({"policy": "strict"}, "reversible", {"operations": ["delete_*"]}, False),
        ({"policy": "strict", "trust_level": "untested"}, "safe", {"operations": ["delete_animal"]}, True),
    ],
)
async def test_a_rule_that_allows_lifts_a_confirmation_by_a_pattern_and_a_refusal_by_the_exact_name(
    place: Zoo, settings: dict[str, Any], level: str, rule: dict[str, Any], runs: bool
) -> None:
    """R-SAFE-1"""
    rows = {"delete_animal": {"danger": level, "tags": ["zoo"], "aliases": [{"name": "give_away"}]}}
    if rule.get("danger") == ["dangerous", "safe"]:
        rows["create_animal"] = {"danger": "dangerous"}
    async with place.client(policy_rules=[{**rule, "action": "allow"}], rows=rows, **settings) as send:
        assert (await send("delete_animal", animal_id=7))["success"] is runs
    assert len(place.api.sent) == runs


async def test_a_dry_run_and_the_danger_query_tell_of_the_rules(place: Zoo) -> None:
    """R-SAFE-1"""
    dry = {"in": "adapter", "schema": {"type": "boolean"}}
    parameters = {**OPERATIONS["create"]["create_animal"]["parameters"], "dry_run": dry}
    rules = [
        {"id": "ada", "operations": ["create_animal"], "when": {"name": "Ada"}, "action": "confirm", "reason": "Taken"},
        {"id": "never", "families": ["update"], "action": "deny"},
    ]
    async with place.client(policy_rules=rules, rows={"create_animal": {"parameters": parameters}}) as send:
        shown = await send("create_animal", "create", name="Ada", species="lion", dry_run=True)
        assert shown["data"]["decision"] == {"outcome": "confirm", "rule": "ada", "reasons": ["Taken (rule ada)"]}
        shown = await send("create_animal", "create", name="Bob", species="lion", dry_run=True)
        assert "decision" not in shown["data"]
        entry = (await send("introspect", "read", query="danger", name="create_animal"))["data"]["operation"]
        assert (entry["behavior"], entry["rules"]) == (
            "allow",
            [{"id": "ada", "action": "confirm", "reason": "Taken"}],
        )
        entry = (await send("introspect", "read", query="danger", name="update_animal"))["data"]["operation"]
        assert (entry["behavior"], entry["rule"]) == ("deny", "never")
    assert place.api.sent == []


async def test_calls_that_no_rule_can_concern_are_not_brought_to_the_gatekeeper(place: Zoo, tmp_path: Path) -> None:
    """R-SAFE-1: reads and introspection are never gated, and pay nothing for rules."""
    package = write_package(tmp_path / "plain", ADAPTER, OPERATIONS)
    rules = setting("policy.rules", [{"when": {"name": {"equals": "Ada"}}, "action": "deny"}])
    dispatcher = Dispatcher(Adapter.load(package), Table(package), place.api, Config(policy_rules=rules))
    watched = {name for name, _ in Table(package).names() if dispatcher.gatekeeper.watches(dispatcher.table.find(name))}
    assert watched == {"create_animal", "update_animal", "delete_animal"}


# Rules that cannot be used


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"action": "deny"}, "must be a list"),
        ([{"operations": ["x"]}], "at entry 1, 'action': is missing"),
        ([{"action": "deny"}, {"action": "ask"}], "at entry 2, 'action': must be 'allow', 'confirm' or 'deny'"),
        ([{"action": "deny", "operation": "x"}], "at entry 1: has no key 'operation'; there are id, operations"),
        ([{"id": "no", "action": "deny", "danger": ["mild"]}], "at entry 1, 'danger', entry 1: must be 'safe'"),
        ([{"id": "No!", "action": "deny"}], "'id': must be 1 to 64"),
        ([{"id": "money", "action": "deny"}], "'id': must not be one of"),
        ([{"id": "a", "action": "deny"}, {"id": "a", "action": "deny"}], "another rule has the id 'a'"),
        ([{"action": "deny", "when": {"x": {"over": 3}}}], "'when', 'x': has no key 'over'; there are equals, in"),
        ([{"action": "deny", "when": {"x": {"above": "3"}}}], "'x', 'above': must be a number"),
        ([{"action": "deny", "when": {"x": {"above": True}}}], "'x', 'above': must be a number"),
        ([{"action": "deny", "when": {"a..b": 1}}], "not a dotted path of names"),
        ([{"action": "deny", "when": {}}], "must be a table of parameters"),
        ([{"action": "deny", "when": {"x": []}}], "must have at least 1 item"),
        ([{"action": "allow"}], "allow needs 'operations'"),
        ([{"action": "allow", "operations": ["*"]}], "allow needs 'operations'"),
        ([{"action": "allow", "families": ["delete"]}], "allow needs 'operations'"),
        ([{"action": "deny", "reason": "two\nlines"}], "'reason': must be a text of one line"),
        ("[{]", "must be valid JSON"),
    ],
)
def test_a_rule_that_is_wrong_stops_the_start_with_its_place(package: Path, rules: Any, message: str) -> None:
    """R-SAFE-1: what is misspelt would guard nothing."""
    text = rules if isinstance(rules, str) else json.dumps(rules)
    with pytest.raises(ConfigError, match=message):
        load(package, {"MCP_AQL_POLICY_RULES": text})


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            {"operations": ["delete_animals"]},
            "rule 1 ('rule-1'): 'delete_animals' fits no operation. Did you mean 'delete_animal'?",
        ),
        ({"operations": ["delete_animal", "GET /x"]}, "'GET /x' fits no operation"),
        ({"tags": ["animals"]}, "no operation has the tag 'animals'"),
        ({"operations": ["delete_*"], "families": ["read"]}, "no operation is all that it asks for"),
        ({"when": {"forse": True}}, "no operation that it is about has a parameter 'forse'"),
        ({"operations": ["delete_*"], "when": {"animal": 1}}, "has a parameter 'animal'"),
        ({"operations": ["update_*"], "when": {"input.nome": 1}}, None),
    ],
)  # fmt: skip
def test_a_rule_that_fits_nothing_stops_the_start(package: Path, rule: dict[str, Any], message: str | None) -> None:
    """R-SAFE-1"""
    environ = {"MCP_AQL_POLICY_RULES": json.dumps([{**rule, "action": "deny"}]), "MCP_AQL_STATE_URL": "memory:"}
    if message is None:
        assert assemble(package, environ=environ)
        return
    with pytest.raises(ConfigError) as caught:
        assemble(package, environ=environ)
    assert str(caught.value).startswith("MCP_AQL_POLICY_RULES: ")
    assert message in str(caught.value)


def test_the_short_form_of_the_policy_and_the_table_say_the_same(package: Path) -> None:
    """R-SAFE-2"""
    file = package.parents[1] / "adapter.toml"
    file.write_text('policy = "strict"\n')
    assert load(package, {}).policy == "strict"
    file.write_text('[policy]\nname = "strict"\n[[policy.rules]]\naction = "deny"\nwhen.input.name = {in = ["x"]}\n')
    config = load(package, {})
    assert config.policy == "strict"
    assert config.policy_rules == ({"id": "rule-1", "action": "deny", "when": {"input.name": {"in": ("x",)}}},)
    file.write_text('policy = "strict"\n[[policy.rules]]\naction = "deny"\n')
    with pytest.raises(ConfigError, match=r"the policy's name is \[policy\] name"):
        load(package, {})


# Money


PAYS = {"create_animal": {"effects": ["money"], "danger": "reversible"}}
ADA = {"name": "Ada", "species": "lion"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"policy_{}": "default"}, "confirm"),
        ({"policy_{}": "default", "policy": "strict", "trust_level": "certified"}, "confirm"),
        ({"policy_{}": "default", "policy": "open"}, "allow"),
        ({"policy_{}": "off"}, "allow"),
        ({"policy_{}": "automation"}, "PERMISSION_DENIED"),
        ({"policy_{}": "automation", "policy": "open"}, "PERMISSION_DENIED"),
    ],
)
@pytest.mark.parametrize(
    ("effect", "reason"),
    [("money", "Moves money"), ("access", "Gives or takes access"), ("people", "Reaches people outside")],
)
async def test_what_has_a_grave_effect_is_confirmed_whatever_its_danger_and_logged(
    place: Zoo, settings: dict[str, Any], expected: str, effect: str, reason: str
) -> None:
    """R-SAFE-1, R-SAFE-5: guide to financial adapters, 6 and 8."""
    chosen = {name.format(effect): value for name, value in settings.items()}
    rows = {"create_animal": {"effects": [effect], "danger": "reversible"}}
    async with place.client(rows=rows, **chosen) as send:
        answer = await send("create_animal", "create", **ADA)
    assert outcome(answer) == expected
    assert place.events()[0]["operation"] == "create_animal"
    if expected != "allow":
        assert place.events()[0]["rule"] == effect
        assert reason in str(answer.get("confirmation", answer["error"]["details"])["reasons"])


async def test_what_moves_money_is_confirmed_unless_set_otherwise_and_the_owners_danger_is_the_word_on_the_rest(
    place: Zoo,
) -> None:
    """R-SAFE-1"""
    for effect, expected in (("money", "confirm"), ("access", "allow"), ("people", "allow")):
        async with place.client(rows={"create_animal": {"effects": [effect], "danger": "reversible"}}) as send:
            assert outcome(await send("create_animal", "create", **ADA)) == expected


async def test_money_moves_by_itself_only_within_the_limits_of_a_rule(place: Zoo) -> None:
    """R-SAFE-1: guide to financial adapters, 6, profile `automation`."""
    rules = [{"operations": ["create_*"], "when": {"name": {"in": ["Ada"]}}, "action": "allow"}]
    async with place.client(rows=PAYS, policy_money="automation", policy_rules=rules) as send:
        assert (await send("create_animal", "create", **ADA))["success"]
        for name in ("Bob", "ada", "Ada "):
            assert outcome(await send("create_animal", "create", name=name, species="lion")) == "PERMISSION_DENIED"
    assert len(place.api.sent) == 1


async def test_money_moves_with_a_key_where_the_api_knows_one(place: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-SAFE-1: guide to financial adapters, 8; a key that the adapter cannot make is asked for before a person is."""
    key = {"in": "body", "schema": {"type": "string", "pattern": "^K-"}}
    parameters = {**OPERATIONS["create"]["create_animal"]["parameters"], "key": key}
    row = {"effects": ["money"], "parameters": parameters, "idempotency": {"parameter": "key", "in": "body"}}
    build, as_json = place.api.build, (("Content-Type", "application/json"),)
    monkeypatch.setattr(place.api, "build", lambda *parts: replace(build(*parts), headers=as_json))
    async with place.client(rows={"create_animal": row}) as send:
        missing = (await send("create_animal", "create", **ADA))["error"]
        assert (missing["code"], missing["details"]["param_name"]) == ("VALIDATION_MISSING_PARAM", "key")
        assert outcome(await send("create_animal", "create", **ADA, key="K-1")) == "confirm"
    assert place.api.sent == []


# Hooks


@ERAS
async def test_on_decision_sees_what_decided_and_its_own_word_is_named(place: Zoo, era: str) -> None:
    """R-LOOP-6: danger, trust and rule of each decision."""
    seen: list[tuple[str, ...]] = []

    def on_decision(decision: GateDecision, call: Call) -> GateDecision | None:
        seen.append((call.operation, decision.outcome, decision.danger, decision.rule, decision.trust))
        return decision._replace(outcome="refuse") if call.operation == "list_animals" else None

    rules = [{"id": "all", "families": ["delete"], "action": "confirm"}]
    hooks = SimpleNamespace(on_decision=on_decision)
    async with place.client(era, hooks, policy="strict", trust_level="certified", policy_rules=rules) as send:
        await send("delete_animal", animal_id=1)
        await send("list_keepers", "read")
        refused = (await send("list_animals", "read"))["error"]
    assert seen == [
        ("delete_animal", "confirm", "destructive", "all", "certified"),
        ("list_keepers", "allow", "safe", "trust-matrix", "certified"),
        ("list_animals", "allow", "safe", "trust-matrix", "certified"),
    ]
    assert (refused["code"], refused["details"]["rule"]) == ("PERMISSION_DENIED", "on_decision")
    assert "hooks.py" in refused["message"]


async def test_only_what_on_decision_refuses_is_recorded_as_refused_by_it(place: Zoo) -> None:
    """R-SAFE-5: nobody refused a call of which no request can be made."""
    refusal = Refuse("no"), Failure(Code.PERMISSION_DENIED, "no credential")
    on_decision, build = (lambda *_, each=each: (_ for _ in ()).throw(each) for each in refusal)
    batch = {"danger": "safe", "places": [{"at": "", "field": "method", "address": "path"}]}
    async with place.client(
        hooks=SimpleNamespace(on_decision=on_decision), rows={"delete_animal": {"carries": batch}}
    ) as send:
        await send("delete_animal", animal_id=1)
        place.api.build = build  # type: ignore[method-assign]
        await send("delete_animal", animal_id=2)
    assert [(entry["by"], entry["params"]) for entry in place.events()] == [("on_decision", {"animal_id": 1})]


# What nothing proves harmless


UNPROVEN = {
    name: {"effects": ["unknown"], "asked": "first", "danger": "reversible"}
    for name in ("create_animal", "update_animal")
}


@ERAS
async def test_what_nothing_proves_harmless_is_asked_about_once_in_a_session(place: Zoo, era: str) -> None:
    """R-EFF-2: one yes for an operation, whatever its parameters; for no other one, and in no other session."""
    async with place.client(era, rows=UNPROVEN) as send:
        asked = await send("create_animal", "create", **ADA)
        assert outcome(asked) == "confirm"
        assert "overrides.yaml" in str(asked["confirmation"]["reasons"])
        assert outcome(await send("create_animal", "create", **ADA)) == "confirm", "asking is no yes"
        token = asked["confirmation"]["token"]
        assert outcome(await send("create_animal", "create", **ADA, confirmation_token=token)) == "allow"
        assert outcome(await send("create_animal", "create", name="Bob", species="bear")) == "allow"
        assert outcome(await send("update_animal", "update", animal_id=7, input={"name": "Eve"})) == "confirm"
        shown = (await send("introspect", "read", query="danger", name="create_animal"))["data"]["operation"]
        assert (shown["behavior"], shown["asked"], shown["effects"]) == ("confirm", "first", ["unknown"])
    assert len(place.api.sent) == 2
    assert sum(event["event"] == "CONFIRMATION_GRANTED" for event in place.events()) == 1
    async with place.client(era, rows=UNPROVEN) as send:
        assert outcome(await send("create_animal", "create", **ADA)) == "confirm"


@ERAS
async def test_a_plan_asks_about_the_first_use_of_its_operations_before_anything_is_done(place: Zoo, era: str) -> None:
    """R-EFF-2, R-STEP-2: one question, though what the later calls are to be sent is not known yet."""
    changed = {"animal_id": {"$ref": "new.species"}, "input": {"name": {"$ref": "new.name"}}}
    steps = [
        {"id": "new", "operation": "create_animal", "params": ADA},
        {"operation": "update_animal", "params": changed},
    ]
    async with place.client(era, rows=UNPROVEN) as send:
        asked = await send("run_steps", "execute", steps=steps)
        assert outcome(asked) == "confirm"
        assert "update_animal" in asked["confirmation"]["message"]
        assert "PATCH /animals/{animalId}" in asked["confirmation"]["message"]
        assert place.api.sent == []
        done = await send("run_steps", "execute", steps=steps, confirmation_token=asked["confirmation"]["token"])
        assert outcome(done) == "allow", done
        assert outcome(await send("update_animal", "update", animal_id=9, input={"name": "Eve"})) == "allow"
    rules = [{"operations": ["update_animal"], "action": "confirm", "when": {"animal_id": {"at_most": 100}}}]
    async with place.client(era, rows=UNPROVEN, policy_rules=rules) as send:
        asked = await send("run_steps", "execute", steps=steps)
        assert "update_animal" not in asked["confirmation"]["message"], "a rule may ask more of the call"


async def test_a_yes_to_a_call_without_the_field_that_is_asked_about_is_none_to_a_call_with_it(place: Zoo) -> None:
    """R-EFF-2"""
    rows = {"update_animal": {**UNPROVEN["update_animal"], "danger_reason": "address: its request has species"}}
    async with place.client(rows=rows) as send:
        named = {"animal_id": 7, "input": {"name": "Eve"}}
        token = (await send("update_animal", "update", **named))["confirmation"]["token"]
        assert outcome(await send("update_animal", "update", **named, confirmation_token=token)) == "allow"
        assert outcome(await send("update_animal", "update", **named)) == "allow"
        asked = await send("update_animal", "update", animal_id=7, input={"species": "bear"})
        assert outcome(asked) == "confirm"
        token = asked["confirmation"]["token"]
        sent = {"animal_id": 7, "input": {"species": "bear"}, "confirmation_token": token}
        assert outcome(await send("update_animal", "update", **sent)) == "allow"
        assert outcome(await send("update_animal", "update", animal_id=8, input={"species": "cat"})) == "allow"


async def test_a_patch_counts_as_sending_the_field_that_is_asked_about(place: Zoo) -> None:
    """R-EFF-2: whatever its paths are."""
    patched = {**UNPROVEN["update_animal"], "danger_reason": "address: its request has species"}
    patched["parameters"] = {"animal_id": ID, "input": {"in": "body", "required": True, "schema": {}}}
    async with place.client(rows={"update_animal": patched}) as send:
        named = {"animal_id": 7, "input": {"name": "Eve"}}
        token = (await send("update_animal", "update", **named))["confirmation"]["token"]
        assert outcome(await send("update_animal", "update", **named, confirmation_token=token)) == "allow"
        assert outcome(await send("update_animal", "update", **named)) == "allow"
        steps = [{"op": "replace", "path": "/species", "value": "bear"}]
        assert outcome(await send("update_animal", "update", animal_id=7, input=steps)) == "confirm"


async def test_a_yes_to_what_is_grave_stays_one_for_each_call(place: Zoo) -> None:
    """R-EFF-2"""
    rows = {"create_animal": {**UNPROVEN["create_animal"], "danger": "destructive"}}
    async with place.client(rows=rows) as send:
        token = (await send("create_animal", "create", **ADA))["confirmation"]["token"]
        assert outcome(await send("create_animal", "create", **ADA, confirmation_token=token)) == "allow"
        assert outcome(await send("create_animal", "create", name="Bob", species="bear")) == "confirm"


async def test_the_owner_lets_what_nothing_proves_harmless_run(place: Zoo) -> None:
    """R-EFF-2"""
    rules = [{"operations": ["create_*"], "action": "allow"}]
    for settings in ({"policy_rules": rules}, {"policy": "open"}):
        async with place.client(rows=UNPROVEN, **settings) as send:
            assert outcome(await send("create_animal", "create", **ADA)) == "allow"
