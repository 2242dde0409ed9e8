"""Look at the operator's page in a real browser: every state of it, by mouse and keyboard, with axe.

It needs a Chromium (`apt-get install chromium`) and npm. The page runs over stores with data of every kind, hostile
texts among them; both themes pass axe without a finding, wide and at 320 pixels; an approval, a denial, a code, an
unblocking and a revocation reach the store; nothing is asked of the network but the page's own address. Every failure
is printed, and the exit code is 1. `--pictures DIR` keeps a picture of each state to look at.
"""

from __future__ import annotations

import asyncio
import json
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn

from aqlgen.runtime.operator.actions import Actions
from aqlgen.runtime.operator.admission import Admission
from aqlgen.runtime.operator.app import Page, page_app
from aqlgen.runtime.operator.feed import Feed
from aqlgen.runtime.operator.sources import Source, Sources
from aqlgen.runtime.quota.counting import Quotas
from aqlgen.runtime.safety.audit import Audit
from aqlgen.runtime.safety.desk import Challenge, Matter, SessionApproval
from aqlgen.runtime.safety.loop.agents import Agent, Block, Blocks, Board, Reported
from aqlgen.runtime.server.http import uvicorn_config
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.http import HttpSettings
from aqlgen.runtime.settings.quota import QuotaSettings
from aqlgen.runtime.state.custody import Custody
from aqlgen.runtime.state.sqlite import SqliteState, SqliteStore
from aqlgen.runtime.state.store import Counter, StoreAway
from bench.page.browser import Browser
from bench.page.check import AXE, HERE, Findings
from bench.support.arguments import parser
from bench.support.node import installed

HOSTILE = "</script><img src=x onerror=alert(1)>\u202egnp.exe\u202c\x1b[2J\u200b"


async def fill_board(custody: Custody, now: float) -> None:
    """Put agents and a block on the board, as the adapter does."""
    board, started = Board(custody), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 600))
    bot = Agent(
        "exec_1", "cleanup-bot", "", "session_4be1", "running", "enforcing", started, now, "Tidy up acme/widgets"
    )
    for number, (action, operation, decision, risk, reason) in enumerate(
        [
            ("Read the list of repositories", "list_repositories", "may go on", 0, ""),
            ("Read repository acme/widgets", "get_repository", "may go on", 0, ""),
            ("Close 12 stale issues of acme/widgets", "close_issue", "may go on", 35, ""),
            ("Delete branch release/2024-01", "delete_branch", "paused", 61, "needs approval"),
            (f"Then {HOSTILE}", "", "paused", 80, "risk above the tier 'verify'"),
        ],
        1,
    ):
        step = Reported(now - 90 + 15 * number, action, operation, "success", decision, risk, "", reason)
        paused = "a person has to approve it" if decision == "paused" else ""
        await board.publish(replace(bot, number=number, paused=paused), step)
    reporter = replace(bot, execution="exec_2", name="reporter", caller="oauth:anna@example.com", session="", goal="")
    await board.publish(replace(reporter, number=1), Reported(now, "Read a report", "", "", "may go on", 0, ""))
    factors = ("risk 92 of 100", "matched pattern: drop*")
    action, reason = "drop the production database", "danger zone: matches 'drop*'"
    block = Block(
        "block_1", "deployer", "", "exec_3", action, "drop_database", reason, factors, 92, now - 200, "c1", now + 400
    )
    await Blocks(custody).add(block)


def matters(now: float) -> list[Matter]:
    """Return questions of every kind and danger."""
    whole = (
        "Delete repository acme/widgets? This cannot be undone.\n\nDELETE /repos/acme/widgets\n  owner: acme\n"
        "  repo: widgets\n"
    )
    plan = (
        "Run a plan of 4 steps?\n\n1. list_issues of acme/widgets\n2. close_issue, for each of 12\n3. delete_branch "
        "release/2024-01\n4. send_message to #release\n"
    )
    return [
        Matter(
            "m1", "call", "Delete repository acme/widgets? This cannot be undone.", whole, ("delete_repository",),
            "dangerous", now - 95, now + 505, ("dangerous: the text says that it cannot be undone",), "cleanup-bot", "",
            "session_4be1",
        ),
        Matter(
            "m2", "plan", "Run a plan of 4 steps, 2 of which delete or close what exists?", plan,
            ("list_issues", "close_issue", "delete_branch", "send_message"), "destructive", now - 40, now + 560,
            ("destructive: closes", "destructive: deletes"), "", "oauth:anna@example.com", "session_77aa",
        ),
        Matter(
            "m3", "call", f"Rename animal 7 to {HOSTILE}?", f"Rename animal 7?\n\nname: {HOSTILE}\n" + "x" * 600,
            ("update_animal",), "destructive", now - 12, now + 148, (), "a" * 120, "", "",
        ),
    ]  # fmt: skip


def refund(now: float) -> Matter:
    """Return a question of another adapter, which a session's approval would cover."""
    question = "Refund payment 81 of 40.00 EUR?\n\nPOST /payments/81/refunds\n  amount: 40.00\n"
    reach = "refund_payment with amount 40.00, any payment"
    title = "Refund payment 81 of 40.00 EUR?"
    first = matters(now)[0]
    return replace(
        first, id="m4", title=title, question=question, operations=("refund_payment",), agent="", reach=reach
    )


def challenges(now: float) -> list[Challenge]:
    """Return the challenges."""
    return [
        Challenge(
            "c1", "deployer", "", "danger_zone", "drop the production database", "danger zone: matches 'drop*'",
            now - 180, now + 420, ("risk 92 of 100",),
        ),
        Challenge(
            "c2", "payer", "oauth:anna@example.com", "verify", "transfer 4,000 EUR to DE89 3704 0044 0532 0130 00",
            "risk 64 of 100: above the tier 'verify'", now - 20, now + 580, ("money moves",),
        ),
    ]  # fmt: skip


async def filled(folder: Path, *, empty: bool = False) -> Sources:
    """Return the adapters of a page, with something in each section, or with nothing."""
    now = time.time()
    sources = []
    for name in ("github", "zoo-billing"):
        home = folder / f"{name}-adapter"
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        custody = Custody(SqliteStore(SqliteState(home / "state.sqlite3")), name)
        audit = Audit(home / "audit.jsonl", adapter=name)
        source = Source.of(str(home), name, custody, audit)
        sources.append(source)
    github, billing = sources
    if not empty:
        await fill_board(github.custody, now)
        for number in range(20):
            event = ("TOKEN_ISSUED", "OPERATION_PERFORMED", "CALL_DENIED")[number % 3]
            github.audit.write(event, operation="delete_repository", danger_level="dangerous", result="denied")
        billing.audit.write("OPERATION_PERFORMED", operation="refund_payment", note=HOSTILE)
        for matter in matters(now):
            await github.desk.ask(matter)
        await github.desk.grant(
            SessionApproval(
                "appr_1", "0" * 64, "close_issue", "close_issue of acme/widgets, any issue", "operator:anna", now - 300,
                now + 3000, 17, "", "session_4be1",
            )
        )  # fmt: skip
        await billing.desk.ask(refund(now))
        for challenge in challenges(now):
            await (github if challenge.id == "c1" else billing).desk.challenge(challenge)
        settings = QuotaSettings(per_minute=60, per_day=5000, operations={"delete_*": {"per_hour": 5}})
        quotas = Quotas.of(Config(quota=settings), "github", github.custody)
        assert quotas is not None
        for limit, used in zip(quotas.limits.all, (12, 4200, 5), strict=True):
            await github.custody.store.spend([Counter(quotas.key(limit, ""), limit.window, used)])
        github = replace(github, quotas=quotas)
    shown = Sources(replace(github, is_home=True), None)
    if not empty:
        shown._others[folder] = billing
    shown.look = _nothing  # type: ignore[method-assign]
    return shown


async def _nothing() -> None:
    pass


async def _away(_: str) -> list[Any]:
    raise StoreAway("the state in /home/anna/.local/state/github-adapter/state.sqlite3 does not work: disk I/O error")


class Served:
    """A page that is served in a thread."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.admission = Admission()
        self.feed = Feed(sources, lambda text, error: print(f"  {text}: {error!r}"), interval=0.3)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        page = Page(self.admission, self.feed, Actions(sources, "operator:anna"), self.port)
        app = page_app(page, (f"127.0.0.1:{self.port}",))
        settings = HttpSettings(stop_timeout=1.0)
        self.server = uvicorn.Server(uvicorn_config(app, settings))
        self._thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self._listener]}, daemon=True)

    @property
    def address(self) -> str:
        """A new address, good once."""
        return f"http://127.0.0.1:{self.port}/#{self.admission.new_key()}"

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self) -> None:
        """End it, as a person does at the terminal."""
        self.feed.stop()
        self.server.should_exit = True
        self._thread.join(10)
        self._listener.close()


@contextmanager
def served(folder: Path, *, empty: bool = False) -> Any:
    """Serve a page over stores of its own."""
    page = Served(asyncio.run(filled(folder, empty=empty)))
    page.start()
    try:
        yield page
    finally:
        page.stop()


def go(browser: Browser, url: str, until: str) -> None:
    """Open an address and wait until an expression holds."""
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=url)
    wait(browser, until)


def wait(browser: Browser, until: str) -> None:
    """Wait until an expression holds in the page."""
    deadline = time.monotonic() + 15
    while True:
        try:
            if browser.run(until):
                return
        except RuntimeError:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(until)
        time.sleep(0.05)


def click(browser: Browser, expression: str) -> None:
    """Click on an element when it has stood still."""
    time.sleep(0.9)
    point(browser, expression)


def point(browser: Browser, expression: str) -> None:
    """Click in the middle of an element as a person does."""
    place = browser.run(
        f"(() => {{ const e = {expression}; e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();"
        " return [r.left + r.width / 2, r.top + r.height / 2]; })()"
    )
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)


LIVE = "document.getElementById('live')?.dataset.state === 'live' && !document.getElementById('open').hidden"
CARDS = "document.querySelectorAll('.card').length"


def with_text(text: str, selector: str = ".card") -> str:
    """Return an expression for the element that holds a text."""
    return f"[...document.querySelectorAll({selector!r})].find((e) => e.textContent.includes({json.dumps(text)}))"


def push(text: str, card: str) -> str:
    """Return an expression for the button of a card."""
    return f"[...{with_text(card)}.querySelectorAll('button')].find((e) => e.textContent.startsWith({text!r}))"


class Look:
    """Pictures of states, each with axe over it and a check that nothing is cut off."""

    def __init__(self, browser: Browser, expect: Callable[[object, str], None], pictures: Path | None) -> None:
        self._browser = browser
        self._expect = expect
        self._pictures = pictures
        self._axe = AXE.read_text(encoding="utf-8") if AXE.is_file() else ""

    def at(self, name: str) -> None:
        """Look at the present state in both themes, wide and narrow."""
        for dark, width in ((False, 1280), (True, 1280), (False, 320), (True, 320)):
            where = f"{name}-{'dark' if dark else 'light'}-{width}"
            self._browser.size(width, 900, dark=dark)
            time.sleep(0.25)
            browser = self._browser
            self._expect(browser.run("document.documentElement.scrollWidth <= innerWidth"), f"{where} is cut off")
            if self._pictures:
                height = browser.run("document.documentElement.scrollHeight")
                browser.size(width, min(5000, max(900, height)), dark=dark)
                time.sleep(0.15)
                browser.picture(self._pictures / f"{where}.png")
            browser.run(self._axe + "; 0")
            findings = browser.run(
                "axe.run(document).then((done) => done.violations.map("
                "(one) => [one.impact, one.id, one.nodes.length, one.nodes[0].html.slice(0, 200)]))"
            )
            for finding in findings:
                self._expect(False, f"axe, {where}: {finding}")
        self._browser.size(1280, 900)


def states(browser: Browser, folder: Path, look: Look, expect: Callable[[object, str], None]) -> None:
    """Go through every state of the page."""
    with served(folder / "empty", empty=True) as page:
        go(browser, page.address.partition("#")[0], "!document.getElementById('gate').hidden")
        look.at("closed")
        address = page.address
        go(browser, address, LIVE)
        wait(browser, "!document.getElementById('nothing').hidden")
        look.at("nothing")
        expect(browser.run("location.hash") == "", "the key is gone from the address")
        expect(browser.run("document.cookie") == "", "no script reads the cookie")
        browser.run("sessionStorage.clear()")
        go(browser, address, "!document.getElementById('gate').hidden")
        expect("was used" in browser.run("document.getElementById('gate').textContent"), "an address is good once")
        look.at("used")
    with served(folder / "full") as page:
        go(browser, page.address, f"{LIVE} && {CARDS} === 7")
        look.at("full")
        expect(
            browser.run("document.querySelectorAll('main img, main script, .card a').length") == 0, "texts are texts"
        )
        keyboard(browser, page, expect)
        acts(browser, page, look, expect)
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
        time.sleep(10)
        look.at("later")
        page.sources.home.custody.store.items = _away
        wait(browser, "!document.getElementById('problems').hidden")
        look.at("problem")
        page.stop()
        wait(browser, "document.getElementById('live').dataset.state === 'away'")
        look.at("away")


def keyboard(browser: Browser, page: Served, expect: Callable[[object, str], None]) -> None:
    """Check that what arrives takes no focus and moves none, and that keys reach every button."""
    target = push("Deny", "Run a plan of 4 steps")
    browser.run(f"{target}.focus()")
    now = time.time()
    extra = replace(matters(now)[0], id="m0", title="Older than all others?", question="All of it", asked=now - 1000)
    desk = page.sources.home.desk
    browser.run(f"{target}.scrollIntoView({{block: 'center'}})")
    asyncio.run(desk.ask(extra))
    wait(browser, f"{CARDS} === 8")
    expect(browser.run(f"document.activeElement === {target}"), "focus stays where it was")
    point(browser, push("Deny", "Older than all"))
    text = browser.run(f"{with_text('Older than all')}.querySelector('.outcome').textContent")
    expect("just moved" in text, f"what has just come cannot be pressed: {text}")
    asyncio.run(desk.ask(replace(extra, title="Older than all others, and another?", digest="1")))
    browser.run(f"{push('Deny', 'Older than all')}.focus()")
    wait(browser, f"{with_text('and another')} !== undefined")
    expect(browser.run("document.activeElement.tagName") == "H4", "what changes takes the focus from its buttons")
    asyncio.run(page.sources.home.desk.withdraw("m0"))
    wait(browser, f"{with_text('Older than all')}.dataset.settled !== undefined")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    browser.run("document.querySelector('.skip').focus()")
    stops = []
    for _ in range(60):
        browser.press("Tab")
        stops.append(browser.run("document.activeElement.textContent.trim().slice(0, 30)"))
        ring = browser.run("getComputedStyle(document.activeElement).outlineStyle")
        at_end = browser.run("document.activeElement === document.body")
        expect(ring != "none" or at_end, f"the focus can be seen: {stops[-1]}")
    wait(browser, f"{CARDS} === 7")
    for name in ("Show code", "Unblock without a code…", "Approve once", "Deny"):
        expect(name in stops, f"Tab reaches {name}")


def acts(browser: Browser, page: Served, look: Look, expect: Callable[[object, str], None]) -> None:
    """Do each thing that a person can do, and look for it in the store."""
    desk = page.sources.home.desk
    click(browser, push("Approve once", "Delete repository"))
    wait(browser, f"{with_text('Delete repository')}.querySelector('.outcome').textContent.includes('Approved once')")
    matter = asyncio.run(desk.matter("m1"))
    expect(matter and (matter.verdict, matter.by) == ("approved", "operator:anna"), f"it is approved: {matter}")
    click(browser, push("Approve for this session", "Refund payment"))
    wait(browser, f"{with_text('Refund payment')}.querySelector('.outcome').textContent.includes('for this session')")
    click(browser, push("Deny", "Run a plan"))
    wait(browser, f"{with_text('Run a plan')}.querySelector('.outcome').textContent.includes('Denied')")
    click(browser, push("Show code", "deployer"))
    wait(browser, "document.querySelector('.code') !== null")
    code = browser.run("document.querySelector('.code').textContent")
    time.sleep(1)
    click(browser, f"{with_text('Rename animal')}.querySelector('summary')")
    look.at("decided")
    expect(not asyncio.run(desk.verify("c1", "AAAA")), "a wrong code verifies nothing")
    wait(browser, "document.querySelector('.code.void') !== null")
    expect(not asyncio.run(desk.verify("c1", code)), "the code was good for one try")
    click(browser, push("Unblock without", "is blocked"))
    wait(browser, "document.activeElement.tagName === 'INPUT'")
    look.at("tried")
    browser.run("document.querySelector('.ask input').focus()")
    browser.type("it was me")
    click(browser, push("Unblock", "is blocked").replace("'Unblock')", "'Unblock') && e.textContent === 'Unblock'"))
    wait(browser, f"{with_text('is blocked')}.querySelector('.outcome').textContent.includes('Unblocked')")
    revoke = "[...document.querySelectorAll('#approvals button')][0]"
    click(browser, revoke)
    wait(browser, "document.querySelectorAll('#approvals li').length === 0")
    look.at("settled")
    written = (page.sources.home.log_path or Path()).read_text(encoding="utf-8")
    for event in ("OPERATOR_DECISION", "OPERATOR_CODE_SHOWN", "OPERATOR_UNBLOCK", "OPERATOR_REVOKE"):
        expect(f'"event": "{event}"' in written, f"{event} is in the audit log")
    expect(code not in written, "no code is in the audit log")


def main(argv: Sequence[str]) -> int:
    """Look at the page; return 1 if an expectation fails."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("--browser", help="the Chromium to use")
    arguments.add_argument("--pictures", type=Path, help="where to put pictures of every state")
    options = arguments.parse_args(argv)
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    installed(HERE)
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder, Browser.started(options.browser) as browser:
        browser.size(1280, 900)
        browser.call("Page.setBypassCSP", enabled=False)
        states(browser, Path(folder), Look(browser, findings.expect, options.pictures), findings.expect)
        expected = ("Failed to load resource", "net::ERR_CONNECTION_REFUSED")
        messages = [text for text in browser.console if not any(part in text for part in expected)]
        findings.expect(not messages, f"the console is silent: {messages[:3]}")
        foreign = [url for url in browser.requests if not url.startswith(("http://127.0.0.1:", "about:", "data:"))]
        findings.expect(not foreign, f"nothing is asked of the network: {foreign[:3]}")
    print("all holds" if not findings.count else f"{findings.count} failed")
    return 1 if findings.count else 0
