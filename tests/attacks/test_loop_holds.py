"""Attacks of agents on pauses and blocks: other names, other words, confirming oneself, the store.

R-LOOP-3, R-LOOP-4: what holds an agent holds it whatever it says and whoever it says it is.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from forms import altered
from guarded_shop import Human
from looped_shop import AGENT, DELETE, PAY, Floor, opened

from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.tables import LoopSettings
from aqlgen.runtime.state import StoreAway
from tests.runtime.one_store import challenge_of

pytestmark = pytest.mark.anyio
DENY = LoopSettings(deny=("drop_*",))
KEYS = ("k" * 40,)


# New names

RENAMED = [
    "Researcher",
    "RESEARCHER",
    " researcher ",
    "re searcher",
    "re-searcher",
    "re_searcher",
    "re.searcher",
    "researcher!",
    "rese\u200barcher",
    "rese\u200darcher",
    "rese\u2060archer",
    "rese\u00adarcher",
    "\u202eresearcher",
    "researcher\ufe0f",
    "rese\u0301archer",
    "r\u0435search\u0435r",
    "\u0433esearcher",
    "rese\u0430rcher",
    "re\u0455earcher",
    "researc\u04bber",
    "\uff52\uff45searcher",
    "\U0001d42b\U0001d41e\U0001d42c\U0001d41earcher",
    "\u24e1esearcher",
    "\U0001f181esearcher",
    "\u0279esearcher",
    "res\u0247archer",
    "rese\u1d00rcher",
    "\u211desearcher",
    "r3s3archer",
    "re5earcher",
    "re$earcher",
    "rese@rcher",
    "\x00researcher",
    "researcher\n",
    "res\tearcher",
    "researcher\u3164",
    "researcher" + " " * 90,
    "researcher" + "\u200b" * 90,
]


@pytest.mark.parametrize("name", RENAMED, ids=ascii)
async def test_another_spelling_is_the_same_agent(floor: Floor, name: str) -> None:
    """R-LOOP-4: blocked, in another session and another process too."""
    floor.open(loop=DENY, free=False)
    await floor.start()
    assert (await floor.step("drop_all"))["stopped"]
    for session, shop in ((floor.session, floor.shop), (Session.new(), floor.open(loop=DENY))):
        assert not (await floor.start(name, session=session, shop=shop))["success"]
        assert not (await floor.step("reading", name, session=session, shop=shop))["continue"]
        await floor.report(PAY, agent=name, session=session, shop=shop)
        assert not (await floor.send(PAY, session=session, shop=shop))["success"]
    assert floor.written == []


@pytest.mark.parametrize("how", ["a session", "no session", "an ended session", "the same session"])
@pytest.mark.parametrize("grave", [False, True])
async def test_a_new_name_needs_a_person_while_another_agent_is_held(floor: Floor, how: str, grave: bool) -> None:
    """R-LOOP-4: also where the client approves starts; the client's own word lets no paused agent start over."""
    floor.open(loop=DENY, free=False, requires_approval=("ask*",))
    if how == "no session":
        floor.session = Session()
    await floor.start()
    assert not (await floor.step("drop_all" if grave else "ask first"))["continue"]
    if how == "an ended session":
        floor.session.close()
    if how in ("a session", "an ended session"):
        floor.session = Session.new()
    answer = await floor.start("another")
    if how == "the same session" and not grave:
        assert answer["success"], "it starts, and changes nothing"
    else:
        assert answer["error"]["details"]["waits_for"] == "operator"
        (matter,) = [matter for matter in await floor.desk.questions() if matter.kind == "start"]
        assert "may be the same one" in matter.question
        assert await floor.desk.decide(matter.id, "denied", "operator:ada")
        assert not (await floor.start("another"))["success"]
    assert not (await floor.report(altered(DELETE), agent="another"))["continue"]
    assert not (await floor.send(DELETE))["success"]
    assert floor.written == []


@pytest.mark.parametrize("name", ["\u202e../../etc", "a\nb\r\n\x1b[31m", "'\"`);<script>", "{}{{7*7}}", "x" * 100])
async def test_a_hostile_name_is_data_in_questions_and_on_the_desk(floor: Floor, name: str) -> None:
    """R-LOOP-4, R-OPS-1: on one line, quoted, without control characters."""
    floor.open(loop_approval="person", free=False)
    await floor.start(name)
    human = Human()
    await floor.start(name, session=Session.new(), person=human)
    (matter,) = await floor.desk.questions()
    for text in (matter.question, matter.title, *human.asked):
        assert text.isprintable()
        assert "\n" not in text


# Words

HIDDEN = {
    "plain": "drop_table users",
    "in a sentence": "now calling drop_table on users",
    "capitals": "DROP_TABLE users",
    "fullwidth": "\uff44rop\uff3ftable users",
    "an undertie": "drop\u203ftable users",
    "a zero width": "dr\u200bop_table users",
    "a joiner": "drop\u2060_table users",
    "a soft hyphen": "d\u00adrop_table users",
    "a direction": "\u202ddrop_table users",
    "tags": "drop\U000e0041_table users",
    "a variation": "d\ufe00rop_table users",
    "bold": "\U0001d41d\U0001d42b\U0001d428\U0001d429_table users",
    "circled": "\u24d3\u24e1\u24de\u24df_table users",
    "boxes": "\U0001f173rop_table users",
    "flags": "\U0001f1e9\U0001f1f7\U0001f1f4\U0001f1f5_table users",
    "cyrillic": "dr\u043e\u0440_t\u0430ble users",
    "greek": "dr\u03bf\u03c1_table users",
    "small capitals": "\u1d05\u0280\u1d0f\u1d18_table users",
    "a stroke": "\u0111rop_table users",
    "a slash through o": "dr\u00f8p_table users",
    "turned": "d\u0279op_table users",
    "accents": "dr\u00f6p_t\u00e0ble users",
    "stacked accents": "d" + "\u0301" * 50 + "rop_table users",
    "a filler": "dr\u3164op_table users",
    "lines before": "reading\n\n\ndrop_table users",
    "a return": "reading a note\rdrop_table users",
    "another separator": "reading\u2028drop_table users",
    "long before": "reading " + "a " * 1980 + "drop_table",
    "letters before": "a" * 3980 + " drop_table",
    "ligatures before": "\ufdfa" * 3900 + " drop_table",
    "units before": "\u33c2" * 3900 + " drop_table",
    "camel case": "calling dropTable on users",
    "wide camel case": "\uff44\uff52\uff4f\uff50\uff34able users",
    "camel case behind ligatures": "\ufdfa" * 3900 + " dropTable",
    "hyphens": "calling drop-table on users",
    "another hyphen": "calling drop\u2010table on users",
}


@pytest.mark.parametrize("hint", HIDDEN)
@pytest.mark.parametrize("before", ["", "reading: "])
async def test_no_spelling_hides_what_is_denied(floor: Floor, hint: str, before: str) -> None:
    """R-LOOP-3, R-LOOP-4"""
    floor.open(loop=LoopSettings(deny=("drop_*", "*.drop_*")), free=False)
    await floor.start()
    text = before + HIDDEN[hint]
    assert (await floor.step(text if len(text) <= 4000 else HIDDEN[hint]))["stopped"]


@pytest.mark.parametrize(
    "hint", ["reading notes", "list items", "introspect", "advisory: safe", "approved by a person"]
)
@pytest.mark.parametrize(
    ("call", "tier"), [(DELETE, "confirm"), (PAY, "verify"), ({"operation": "purge", "params": {}}, "danger_zone")]
)
async def test_kind_words_do_not_lower_what_would_run(floor: Floor, hint: str, call: dict[str, Any], tier: str) -> None:
    """R-LOOP-3: nor do patterns of the hint that are approved in advance."""
    floor.open(free=False, auto_approve=("read*", "list*", "intro*", "advisory*", "approved*"))
    await floor.start()
    directive = await floor.report(call, hint, outcome="success", stepDescription="approved")
    assert (directive["continue"], directive["nextStepRisk"]) == (False, tier)
    assert directive.get("stopped", False) is (tier == "danger_zone")
    assert not (await floor.send(call))["success"]


@pytest.mark.parametrize("hint", ["drop_table", "rm -rf /", "sudo rm", "git push --force", "reading"])
@pytest.mark.parametrize("outcome", ["failure", "success"])
async def test_monitoring_never_stops(floor: Floor, hint: str, outcome: str) -> None:
    """R-LOOP-3: whatever is reported."""
    floor.open(safety_loop="monitoring", loop=DENY, free=False, max_autonomous_steps=1)
    await floor.start()
    for _ in range(3):
        directive = await floor.report({"operation": "purge", "params": {}}, hint, outcome=outcome)
        assert directive["continue"]
        assert "stopped" not in directive
    assert (await floor.send(DELETE))["success"]


# An agent that confirms itself


SELF: dict[str, dict[str, Any]] = {
    "a call": DELETE,
    "a plan": {"operation": "run_steps", "params": {"steps": [DELETE]}},
    "a workflow": {"operation": "clear_item", "params": {"item": "7", "dry_run": False}},
}


@pytest.mark.parametrize("ended", ["abort_execution", "complete_execution", ""])
@pytest.mark.parametrize("kind", SELF)
async def test_an_agent_sends_no_token_back_by_itself(floor: Floor, ended: str, kind: str) -> None:
    """R-LOOP-4; specification, 8.7.3: neither while it runs, nor after it has ended, nor by a new execution."""
    floor.open(loop_approval="person", policy="standard", loop=LoopSettings(risk_tolerance="aggressive"))
    human = Human()
    await floor.start(person=human)
    call = SELF[kind]
    assert (await floor.report(call))["granted"]
    asked = await floor.send(call, form="alone")
    token = json.dumps(asked).partition('"conf_')[2].partition('"')[0]
    assert token
    if ended:
        await floor.do(ended, element_name=AGENT)
    assert not (await floor.do("confirm_operation", confirmation_token=f"conf_{token}"))["success"]
    if ended:
        await floor.start(person=human)
        await floor.report(call)
    for name in ("confirmation_token", "_confirmation"):
        assert not (await floor.send(altered(call, **{name: f"conf_{token}"}), form="alone"))["success"]
    assert floor.written == []


@pytest.mark.parametrize("name", [AGENT, "Researcher", "helper", "\u0433esearcher"])
async def test_an_agent_confirms_no_pause(floor: Floor, name: str) -> None:
    """R-LOOP-3; specification, 8.7.3: neither its own nor another's, where a person has to."""
    floor.open(loop_approval="person", free=False)
    human = Human()
    for agent in (AGENT, "helper"):
        await floor.start(agent, person=human)
        assert not (await floor.report(DELETE, agent=agent))["continue"]
    assert not (await floor.do("confirm_operation", element_name=name))["success"]
    human.says = False
    confirm = {"operation": "confirm_operation", "params": {"element_name": name}}
    assert not (await floor.send(confirm, form="alone", person=human))["success"]
    assert not (await floor.report(DELETE))["continue"]
    assert floor.written == []


async def test_a_paused_agent_learns_that_an_operator_has_denied_its_action(floor: Floor) -> None:
    """R-LOOP-3: and stays paused."""
    floor.open(loop_approval="person", free=False)
    await floor.start(person=Human())
    await floor.report(DELETE)
    (matter,) = await floor.desk.questions()
    assert await floor.desk.decide(matter.id, "denied", "operator:ada")
    directive = await floor.report(DELETE)
    assert not directive["continue"]
    assert "has denied this action" in directive["reason"]
    assert "has denied this action" in directive["factors"][0]


# The store


def put(floor: Floor, space: str, value: str) -> None:
    """Write to a space's rows as somebody with the file, and without a key, does."""
    with sqlite3.connect(floor.folder / "state.sqlite3") as connection:
        connection.execute("UPDATE kept SET value = ? WHERE space = ?", (value, space))


def rows(floor: Floor, space: str) -> list[tuple[str, str]]:
    """Return the keys and values of a space."""
    with sqlite3.connect(floor.folder / "state.sqlite3") as connection:
        return list(connection.execute("SELECT key, value FROM kept WHERE space LIKE ?", (f"%{space}",)))


GRANTS = [["delete_item", "0" * 64, 9e9]]
FORGED = {
    "nothing": "null",
    "no JSON": "{",
    "a number": "7",
    "a text": '"granted"',
    "a list": "[1]",
    "grants in the clear": json.dumps({"executions": {AGENT: {"agent": AGENT, "grants": GRANTS}}, "pending": {}}),
    "nothing that runs": json.dumps({"executions": {}, "pending": {}}),
    "a seal of zeros": json.dumps("A" * 200),
}


@pytest.mark.parametrize("value", FORGED)
async def test_what_is_written_into_the_store_lets_nothing_run(tmp_path: Path, value: str) -> None:
    """R-LOOP-4, R-OPS-3: by somebody who has no key, whatever stands in the place of executions, blocks and marks."""
    async with opened(tmp_path, keys=KEYS) as floor:
        floor.session, floor.caller = Session(), "anna"
        floor.open(loop=DENY, free=False)
        await floor.start()
        assert challenge_of(await floor.step("drop_all"))
        assert len(rows(floor, "loop.block")) == 1
        put(floor, "loop.block", FORGED[value])
        put(floor, "challenge", FORGED[value])
        for shop in (floor.shop, floor.open(loop=DENY)):
            assert not (await floor.start("another", shop=shop))["success"]
            assert not (await floor.send(DELETE, shop=shop))["success"]
        put(floor, "loop", FORGED[value])
        assert not (await floor.send(DELETE))["success"]
        assert (await floor.do("get_item", item_id="7"))["success"]
        assert floor.written == []


@pytest.mark.parametrize("keys", [KEYS, ()], ids=["keys", "no keys"])
async def test_a_row_of_another_place_is_none(tmp_path: Path, keys: tuple[str, ...]) -> None:
    """R-LOOP-4: another caller's executions, put in the place of one's own."""
    async with opened(tmp_path, keys=keys) as floor:
        floor.session = Session()
        floor.open()
        await floor.granted(PAY, caller="anna")
        await floor.start(caller="bert")
        before = dict(rows(floor, "loop"))
        assert len(before) == 2
        with sqlite3.connect(floor.folder / "state.sqlite3") as connection:
            first, second = before
            connection.execute("UPDATE kept SET value = ? WHERE key = ?", (before[second], first))
            connection.execute("UPDATE kept SET value = ? WHERE key = ?", (before[first], second))
        for caller in ("anna", "bert"):
            assert not (await floor.send(PAY, caller=caller))["success"]
        assert floor.written == []


async def test_what_agents_do_is_not_in_the_clear_in_the_store(tmp_path: Path) -> None:
    """R-LOOP-4: neither hints nor the parameters that they report."""
    async with opened(tmp_path, keys=KEYS) as floor:
        floor.session, floor.caller = Session(), "anna"
        floor.open(free=False)
        await floor.start()
        await floor.report(altered(DELETE, item_id="item-of-ada"), "tidying the attic")
        stored = b"".join(path.read_bytes() for path in tmp_path.glob("state.sqlite3*"))
        assert stored
        assert b"item-of-ada" not in stored
        assert b"attic" not in stored


async def test_a_forged_mark_verifies_nobody(tmp_path: Path) -> None:
    """R-LOOP-5: the agent knows the id of its challenge, and so the name of the row."""
    async with opened(tmp_path, keys=KEYS) as floor:
        floor.open(free=False)
        await floor.start()
        challenge = challenge_of(await floor.report(PAY))
        store = floor.state().shared.store
        for value in (1, "1", "A" * 200):
            await store.put("loop.verified", hashlib.sha256(challenge.encode()).hexdigest()[:32], value, 600)
            assert not (await floor.report(PAY))["continue"]
        assert not (await floor.send(PAY))["success"]
        assert floor.written == []


@pytest.mark.parametrize("after", ["nothing", "a report", "a block"])
async def test_while_the_store_is_away_nothing_runs(
    tmp_path: Path, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-LOOP-4: reads do."""
    async with opened(tmp_path) as floor:
        floor.session, floor.caller = Session(), "anna"
        floor.open(loop=DENY)
        if after == "a report":
            await floor.granted(PAY)
        elif after == "a block":
            floor.open(loop=DENY, free=False)
            await floor.start()
            await floor.step("drop_all")

        async def away(*_: Any, **__: Any) -> Any:
            raise StoreAway("gone")

        for name in ("get", "put", "add", "swap", "take", "items"):
            monkeypatch.setattr(type(floor.states[0].shared.store), name, away)
        assert not (await floor.start("another"))["success"]
        await floor.report(PAY)
        assert not (await floor.send(PAY))["success"]
        assert (await floor.do("get_item", item_id="7"))["success"]
        assert floor.written == []
