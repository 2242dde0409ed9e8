"""Review the page of `aqlgen explain --html` in a real browser, by keyboard, and measure how long it takes.

It needs a Chromium (`apt-get install chromium`) and npm. For each document: search filters, the way from search to an
override needs no mouse, both themes pass axe without a finding in every view and with the panel open, at 1,400 and at
390 pixels; nothing is written on the console and nothing is asked of the network; times are under their bounds. Every
failure is printed, and the exit code is 1.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.page.browser import Browser
from bench.support.arguments import parser
from bench.support.documents import PETSTORE
from bench.support.node import installed
from bench.support.processes import AQLGEN, environment

HERE = Path(__file__).parent
AXE = HERE / "node_modules/axe-core/axe.min.js"
BOUNDS = {"page, MB": 3.0, "first render, ms": 1000.0, "a keystroke, ms": 50.0, "opening the panel, ms": 100.0}
VIEWS = ("map", "review", "decisions", "findings", "overrides")

VISIBLE = "[...document.querySelectorAll('main > section.shown a.op')].filter((one) => one.checkVisibility())"
FOCUS = "document.activeElement.id || document.activeElement.textContent.trim()"
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now()"
TYPED = ("r", "re", "rep", "repo", "repo ", "repo i", "repo is", "", "zzz", "", "list", "get", "")
ROUNDS = 5
MANY = 300
"""Over so many operations axe takes minutes, and what it finds does not depend on how many there are: one theme."""

KEYSTROKE = """((text) => new Promise((done) => {
  const start = performance.now();
  const search = document.getElementById("search");
  search.value = text;
  search.dispatchEvent(new Event("input", { bubbles: true }));
  document.body.getBoundingClientRect();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
}))"""
OPENING = f"""(async () => {{
  const link = {VISIBLE}[0];
  const start = performance.now();
  link.click();
  document.body.getBoundingClientRect();
  return performance.now() - start;
}})()"""


class Findings:
    """The failures, printed at once and counted."""

    def __init__(self) -> None:
        self.count = 0

    def expect(self, holds: object, what: str) -> None:
        """Print an expectation that does not hold."""
        if not holds:
            self.count += 1
            print(f"  FAILED {what}")


def written(spec: Path, folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """Write the page; return it with the operations of the JSON answer."""
    page = folder / f"{spec.stem}.html"
    command = [*AQLGEN, "explain", str(spec), "--html", str(page), "--output-format", "json"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    operations: list[dict[str, Any]] = json.loads(finished.stdout)["operations"]
    return page, operations


def times(browser: Browser, page: Path, expect: Callable[[object, str], None]) -> None:
    """Measure, print and compare with the bounds; a keystroke is the work of the main thread for the slowest one."""
    browser.size(1400, 900)
    figures = {"page, MB": page.stat().st_size / 1e6}
    browser.open(page)
    figures["first render, ms"] = browser.run(FIRST_PAINT)
    figures["ready, ms"] = browser.run(
        "performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart"
    )
    typed: dict[tuple[str, int, str], list[tuple[float, float]]] = {}
    for view in ("map", "decisions"):
        browser.open(page, f"#{view}")
        time.sleep(0.5)
        for _ in range(ROUNDS):
            for place, text in enumerate(TYPED):
                before = browser.main_thread()
                until = browser.run(f"{KEYSTROKE}({json.dumps(text)})")
                typed.setdefault((view, place, text), []).append((browser.main_thread() - before, until))
    work = {key: median(busy for busy, _ in rounds) for key, rounds in typed.items()}
    slowest = max(work, key=lambda key: work[key])
    figures["a keystroke, ms"] = work[slowest]
    figures["until painted, ms"] = median(until for _, until in typed[slowest])
    figures["opening the panel, ms"] = browser.run(OPENING)
    for what, value in figures.items():
        bound = f"  (≤ {BOUNDS[what]:g})" if what in BOUNDS else ""
        where = f"  {slowest}" if what == "a keystroke, ms" else ""
        print(f"  {what:24} {value:8.1f}{bound}{where}")
        expect(value <= BOUNDS.get(what, value), f"{what} is over its bound")


def search(
    browser: Browser, page: Path, operations: list[dict[str, Any]], expect: Callable[[object, str], None]
) -> None:
    """Check the search by name, path and operationId, the filters, and the count that is read aloud."""
    browser.open(page)
    expect(browser.run(f"{VISIBLE}.length") == len(operations), "the map holds every operation")
    wanted = operations[len(operations) // 2]
    for key in ("name", "path", "operation_id"):
        if not wanted[key]:
            continue
        browser.run(
            f"search.value = {json.dumps(wanted[key])}; search.dispatchEvent(new Event('input', {{bubbles: true}}))"
        )
        names = browser.run(f"{VISIBLE}.map((one) => one.hash.slice(4))")
        expect(
            wanted["name"] in names and len(names) < max(2, len(operations)), f"search by {key} finds {wanted['name']}"
        )
        count = browser.run("hits.textContent")
        expect(count.startswith(f"{len(names):,} "), f"the count says what is shown: {count}")
    browser.run("clear.click()")
    time.sleep(0.1)
    browser.run("document.querySelector('[name=category][value=DELETE]').click()")
    deleted = {row["name"] for row in operations if row["category"] == "DELETE"}
    expect(
        set(browser.run(f"{VISIBLE}.map((one) => one.hash.slice(4))")) == deleted, "the filter DELETE shows just those"
    )


def keyboard(
    browser: Browser, page: Path, operations: list[dict[str, Any]], expect: Callable[[object, str], None]
) -> None:
    """Go from the start of the page to an override and back, by keys alone."""
    for width in (1400, 390):
        browser.size(width, 844)
        browser.open(page)
        browser.press("Tab")
        expect(browser.run(FOCUS) == "Skip to the operations", "the first stop is the skip link")
        browser.press("/")
        expect(browser.run(FOCUS) == "search", "/ goes to search")
        wanted = min(operations, key=lambda row: (-len(row["name"]), row["name"]))
        browser.type(wanted["name"])
        browser.press("Enter")
        expect(browser.run(FOCUS) == wanted["name"], "Enter goes to the first match")
        browser.press("Enter")
        expect(
            browser.run("panel.open") and browser.run(FOCUS) == "panel-title", "Enter opens the panel and goes there"
        )
        expect(browser.run("panel.matches(':modal')") == (width < 1000), "the panel is modal just where it covers all")
        for _ in range(40):
            browser.press("Tab")
            if browser.run(FOCUS) == "new-name":
                break
        expect(browser.run(FOCUS) == "new-name", "Tab comes to the name")
        browser.run("document.getElementById('new-name').select()")
        browser.type("Not a name")
        expect("lower-case" in browser.run("document.getElementById('name-wrong').textContent"), "a wrong name is said")
        browser.run("document.getElementById('new-name').select()")
        browser.type("find_it_at_once")
        yaml = f"{wanted['method']} {wanted['path']}:\n  name: find_it_at_once\n"
        expect(browser.run("yaml.value") == yaml, f"the override says the new name: {browser.run('yaml.value')!r}")
        for _ in range(8):
            browser.press("Tab")
            if browser.run(FOCUS) == "collect":
                break
        browser.press("Enter")
        expect("1 override" in browser.run("copied.textContent"), "Collect is said")
        browser.press("Escape")
        expect(
            not browser.run("panel.open") and browser.run(FOCUS) == wanted["name"], "Escape goes back to the operation"
        )
        expect(
            browser.run("document.getElementById('collected').value") == yaml,
            "it is kept",
        )
        ring = browser.run("getComputedStyle(document.activeElement).outlineStyle")
        expect(ring != "none", "the focus can be seen")


def sitting(browser: Browser, page: Path, spec: Path, expect: Callable[[object, str], None]) -> None:
    """Work the review off by keys alone, from the top of the page to the YAML, which has to leave no row."""
    left = "Number(document.getElementById('left').textContent)"
    browser.size(1400, 900)
    browser.open(page)
    rows = browser.run(left)
    if not rows:
        return
    start, keys = time.perf_counter(), 2
    for _ in range(8):
        browser.press("Tab")
        keys += 1
        if browser.run("document.activeElement.hash") == "#review":
            break
    browser.press("Enter")
    expect(browser.run("document.activeElement.className") == "row-to-review", "the view begins at its first row")
    ring = browser.run("getComputedStyle(document.activeElement).outlineStyle")
    expect(ring != "none", "the focus on a row can be seen")
    while browser.run(left) and keys < 4 * rows + 20:
        by_rule = browser.run("reviews[current].rules.length > 0")
        browser.press("A" if by_rule else "a", shift=by_rule)
        keys += 1
    browser.press("u")
    expect(browser.run(left) > 0, "u takes the last decision back")
    by_rule = browser.run("reviews[current].rules.length > 0")
    browser.press("A" if by_rule else "a", shift=by_rule)
    browser.press("y")
    seconds = time.perf_counter() - start
    expect(browser.run(left) == 0, "no row is left on the page")
    with tempfile.TemporaryDirectory() as folder:
        overrides = Path(folder) / "overrides.yaml"
        overrides.write_text(browser.run("document.getElementById('collected').value"), encoding="utf-8")
        entries = overrides.read_text(encoding="utf-8").count("    - ")
        command = [*AQLGEN, "explain", str(spec), "--overrides", str(overrides), "--output-format", "json", "-q"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
        expect(done.returncode == 0 and not json.loads(done.stdout)["review"], "the YAML of the sitting leaves no row")
    print(f"  a sitting: {rows} rows, {keys + 3} keys, {entries} entries, {seconds:.1f} s without a pause to read")


def accessible(
    browser: Browser, page: Path, count: int, expect: Callable[[object, str], None], pictures: Path | None
) -> None:
    """Run axe in every view, with the panel open and closed, in both themes, wide and narrow."""
    if not AXE.is_file():
        expect(False, "axe-core is not installed: see bench/page/package.json")
        return
    script = AXE.read_text(encoding="utf-8")
    screens = ((False, 1400), (True, 1400), (False, 390), (True, 390))
    for dark, width in screens if count <= MANY else screens[:1]:
        browser.size(width, 900, dark=dark)
        for view in (*VIEWS, "panel"):
            where = f"{view}, {'dark' if dark else 'light'}, {width} px"
            browser.open(page, "" if view == "panel" else f"#{view}")
            if view == "panel":
                browser.run(f"{VISIBLE}[0].click()")
            time.sleep(0.3)
            if pictures:
                browser.picture(pictures / f"{page.stem}-{view}-{'dark' if dark else 'light'}-{width}.png")
            expect(browser.run("document.documentElement.scrollWidth <= innerWidth"), f"nothing is cut off: {where}")
            browser.run(script + "; 0")
            violations = browser.run(
                "axe.run(document, {resultTypes: ['violations']}).then((done) => done.violations.map("
                "(one) => [one.impact, one.id, one.nodes.length, one.nodes[0].html.slice(0, 160)]))"
            )
            for finding in violations:
                expect(False, f"axe, {where}: {finding}")


def themes(browser: Browser, page: Path, expect: Callable[[object, str], None]) -> None:
    """Check that the page follows the system's theme, and that the button overrules it."""
    paper = "getComputedStyle(document.body).backgroundColor"
    browser.size(1400, 900)
    browser.open(page)
    light = browser.run(paper)
    browser.size(1400, 900, dark=True)
    dark = browser.run(paper)
    expect(light != dark, "the page follows the system's theme")
    browser.run("theme.click()")
    expect(browser.run(paper) == light and "light" in browser.run("theme.textContent"), "the button makes it light")
    browser.run("theme.click()")
    expect(browser.run(paper) == dark and "dark" in browser.run("theme.textContent"), "and dark")
    browser.run("theme.click()")


def without_script(
    browser: Browser, page: Path, operations: list[dict[str, Any]], expect: Callable[[object, str], None]
) -> None:
    """Check that every decision can be read without scripts."""
    browser.size(1400, 900, script=False)
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=page.resolve().as_uri())
    time.sleep(2)
    document = browser.call("DOM.getDocument")["root"]["nodeId"]
    rows = browser.call("DOM.querySelectorAll", nodeId=document, selector="#decisions tbody tr")["nodeIds"]
    expect(len(rows) == len(operations), "the table stands without a script")
    expect(browser.call("DOM.getBoxModel", nodeId=rows[0]), "and is shown")
    browser.size(1400, 900)


def main(argv: Sequence[str]) -> int:
    """Check the documents; return 1 if an expectation fails."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument(
        "specs", nargs="*", type=Path, metavar="SPEC", default=[PETSTORE], help="default: the petstore"
    )
    arguments.add_argument("--browser", help="the Chromium to use")
    arguments.add_argument("--pictures", type=Path, help="where to put pictures of every view")
    options = arguments.parse_args(argv)
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    installed(HERE)
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder, Browser.started(options.browser) as browser:
        for spec in options.specs:
            page, operations = written(spec.resolve(), Path(folder))
            print(f"{spec.name}: {len(operations)} operations")
            browser.console.clear()
            browser.requests.clear()
            times(browser, page, findings.expect)
            search(browser, page, operations, findings.expect)
            keyboard(browser, page, operations, findings.expect)
            sitting(browser, page, spec.resolve(), findings.expect)
            themes(browser, page, findings.expect)
            accessible(browser, page, len(operations), findings.expect, options.pictures)
            without_script(browser, page, operations, findings.expect)
            findings.expect(not browser.console, f"the console is silent: {browser.console[:3]}")
            requests = [url for url in browser.requests if not url.startswith(("file:", "about:"))]
            findings.expect(not requests, f"nothing is asked of the network: {requests[:3]}")
    print("all holds" if not findings.count else f"{findings.count} failed")
    return 1 if findings.count else 0
