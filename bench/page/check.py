"""The page of `aqlgen explain --html` in a real browser: what a reviewer does, by keyboard, and how long it takes.

usage: npm install --prefix bench/page && python bench/page/check.py [--browser CHROMIUM] [--pictures DIR] [SPEC ...]

Needs a Chromium (`apt-get install chromium`). Without SPEC it looks at the petstore. For each document: search filters,
the way from search to an override needs no mouse, both themes pass axe without a finding in every view and with the
panel open, at 1,400 and at 390 pixels; nothing is said on the console and nothing is asked of the network; times are
under their bounds. Every failure is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from browser import Browser

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
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
    """What went wrong, said at once and counted."""

    def __init__(self) -> None:
        self.count = 0

    def expect(self, holds: object, what: str) -> None:
        """Say what does not hold."""
        if not holds:
            self.count += 1
            print(f"  FAILED {what}")


def made(spec: Path, folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """Write the page, and give it with what `explain` says in JSON."""
    page = folder / f"{spec.stem}.html"
    command = [sys.executable, "-m", "aqlgen", "explain", str(spec), "--html", str(page), "--output-format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    operations: list[dict[str, Any]] = json.loads(done.stdout)["operations"]
    return page, operations


def times(browser: Browser, page: Path, expect: Callable[[object, str], None]) -> None:
    """Measure, print, and hold against the bounds; a keystroke is what the main thread does for the slowest."""
    browser.size(1400, 900)
    found = {"page, MB": page.stat().st_size / 1e6}
    browser.open(page)
    found["first render, ms"] = browser.run(FIRST_PAINT)
    found["ready, ms"] = browser.run("performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart")
    typed: dict[tuple[str, int, str], list[tuple[float, float]]] = {}
    for view in ("map", "decisions"):
        browser.open(page, f"#{view}")
        time.sleep(0.5)
        for _ in range(ROUNDS):
            for place, text in enumerate(TYPED):
                before = browser.main_thread()
                until = browser.run(f"{KEYSTROKE}({json.dumps(text)})")
                typed.setdefault((view, place, text), []).append((browser.main_thread() - before, until))
    work = {one: median(busy for busy, _ in taken) for one, taken in typed.items()}
    slowest = max(work, key=lambda one: work[one])
    found["a keystroke, ms"] = work[slowest]
    found["until painted, ms"] = median(until for _, until in typed[slowest])
    found["opening the panel, ms"] = browser.run(OPENING)
    for what, value in found.items():
        bound = f"  (≤ {BOUNDS[what]:g})" if what in BOUNDS else ""
        where = f"  {slowest}" if what == "a keystroke, ms" else ""
        print(f"  {what:24} {value:8.1f}{bound}{where}")
        expect(value <= BOUNDS.get(what, value), f"{what} is over its bound")


def search(
    browser: Browser, page: Path, operations: list[dict[str, Any]], expect: Callable[[object, str], None]
) -> None:
    """Search by name, path, operationId; filters; the count that is read aloud."""
    browser.open(page)
    expect(browser.run(f"{VISIBLE}.length") == len(operations), "the map holds every operation")
    wanted = operations[len(operations) // 2]
    for key in ("name", "path", "operation_id"):
        if not wanted[key]:
            continue
        browser.run(
            f"search.value = {json.dumps(wanted[key])}; search.dispatchEvent(new Event('input', {{bubbles: true}}))"
        )
        found = browser.run(f"{VISIBLE}.map((one) => one.hash.slice(4))")
        expect(
            wanted["name"] in found and len(found) < max(2, len(operations)), f"search by {key} finds {wanted['name']}"
        )
        said = browser.run("hits.textContent")
        expect(said.startswith(f"{len(found):,} "), f"the count says what is shown: {said}")
    browser.run("clear.click()")
    time.sleep(0.1)
    browser.run("document.querySelector('[name=category][value=DELETE]').click()")
    deleted = {one["name"] for one in operations if one["category"] == "DELETE"}
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
        wanted = min(operations, key=lambda one: (-len(one["name"]), one["name"]))
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


def accessible(
    browser: Browser, page: Path, count: int, expect: Callable[[object, str], None], pictures: Path | None
) -> None:
    """Run axe in every view, with the panel open and closed, in both themes, wide and narrow."""
    if not AXE.is_file():
        expect(False, "axe-core is not installed: npm install --prefix bench/page")
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
            found = browser.run(
                "axe.run(document, {resultTypes: ['violations']}).then((done) => done.violations.map("
                "(one) => [one.impact, one.id, one.nodes.length, one.nodes[0].html.slice(0, 160)]))"
            )
            for finding in found:
                expect(False, f"axe, {where}: {finding}")


def themes(browser: Browser, page: Path, expect: Callable[[object, str], None]) -> None:
    """See that the page follows the system's theme, and that the button overrules it."""
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


def bare(browser: Browser, page: Path, operations: list[dict[str, Any]], expect: Callable[[object, str], None]) -> None:
    """See that every decision can be read without scripts."""
    browser.size(1400, 900, script=False)
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=page.resolve().as_uri())
    time.sleep(2)
    document = browser.call("DOM.getDocument")["root"]["nodeId"]
    rows = browser.call("DOM.querySelectorAll", nodeId=document, selector="#decisions tbody tr")["nodeIds"]
    expect(len(rows) == len(operations), "the table stands without a script")
    expect(browser.call("DOM.getBoxModel", nodeId=rows[0]), "and is shown")
    browser.size(1400, 900)


def main() -> int:
    """Check the documents named, or the petstore."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("spec", nargs="*", type=Path, default=[ROOT / "fixtures/petstore.yaml"])
    parser.add_argument("--browser", help="the Chromium to use")
    parser.add_argument("--pictures", type=Path, help="where to put pictures of every view")
    given = parser.parse_args()
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder, Browser.started(given.browser) as browser:
        for spec in given.spec:
            page, operations = made(spec.resolve(), Path(folder))
            print(f"{spec.name}: {len(operations)} operations")
            browser.console.clear()
            browser.requests.clear()
            times(browser, page, findings.expect)
            search(browser, page, operations, findings.expect)
            keyboard(browser, page, operations, findings.expect)
            themes(browser, page, findings.expect)
            accessible(browser, page, len(operations), findings.expect, given.pictures)
            bare(browser, page, operations, findings.expect)
            findings.expect(not browser.console, f"the console is silent: {browser.console[:3]}")
            asked = [url for url in browser.requests if not url.startswith(("file:", "about:"))]
            findings.expect(not asked, f"nothing is asked of the network: {asked[:3]}")
    print("all holds" if not findings.count else f"{findings.count} failed")
    return 1 if findings.count else 0


if __name__ == "__main__":
    sys.exit(main())
