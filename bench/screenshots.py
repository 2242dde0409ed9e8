"""Take the pictures of docs/pictures: the page of `aqlgen explain --html`, and the operator's page.

It needs a Chromium (`apt-get install chromium`). The review page shows the petstore of `fixtures/` and the document of
docs/tutorial.md, the operator's page questions that are made up. `python -m bench screenshots docs/pictures` takes the
pictures of the documentation anew; one of more than 150 KB fails.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.operator_page import LIVE, challenges, go, matters, served, wait
from bench.page.browser import Browser
from bench.support.arguments import parser
from bench.support.documents import PETSTORE
from bench.support.processes import AQLGEN, ROOT, environment

MOST = 150 * 1024
WIDTH, HEIGHT = 1200, 760
FIRST_YAML = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


def review(browser: Browser, folder: Path, pictures: Path) -> None:
    """Take the review page: the map of an API, an operation beside the decisions, and what is to be reviewed."""
    document = folder / "openapi.yaml"
    document.write_bytes(PETSTORE.read_bytes())
    page = explained(document)
    browser.open(page)
    browser.picture(pictures / "map.png")
    browser.open(page, "#decisions")
    link = "[...document.querySelectorAll('a.op')].find((e) => e.checkVisibility() && e.textContent === 'delete_pet')"
    browser.run(f"{link}.click()")
    time.sleep(1)
    browser.picture(pictures / "operation.png")
    tutorial = FIRST_YAML.search((ROOT / "docs/tutorial.md").read_text(encoding="utf-8"))
    assert tutorial is not None
    document.write_text(tutorial[1], encoding="utf-8")
    browser.open(explained(document), "#review")
    browser.size(WIDTH, 690)
    browser.picture(pictures / "review.png")


def explained(document: Path) -> Path:
    """Return the review page of a document, which names it as its reader would."""
    command = [*AQLGEN, "explain", document.name, "--html", "review.html"]
    subprocess.run(command, check=True, capture_output=True, cwd=document.parent, env=environment())
    return document.with_name("review.html")


def operator(browser: Browser, folder: Path, pictures: Path) -> None:
    """Take the operator's page with what waits."""
    with served(folder, empty=True) as page:
        go(browser, page.address, LIVE)
        now, desk = time.time(), page.sources.home.desk
        for matter in matters(now)[:2]:
            asyncio.run(desk.ask(matter))
        asyncio.run(desk.challenge(challenges(now)[0]))
        wait(browser, "document.querySelectorAll('.card').length === 3")
        browser.size(WIDTH, 860)
        time.sleep(1)
        browser.picture(pictures / "operator.png")


def main(argv: Sequence[str]) -> int:
    """Take all pictures; return 1 if one is too large."""
    options = parser(__name__, __doc__)
    options.add_argument("folder", type=Path, help="where to put the pictures")
    options.add_argument("--browser", help="the Chromium to use")
    arguments = options.parse_args(argv)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Browser.started(arguments.browser) as browser:
        browser.size(WIDTH, HEIGHT)
        browser.call("Emulation.setScrollbarsHidden", hidden=True)
        review(browser, Path(folder), arguments.folder)
        operator(browser, Path(folder) / "operator", arguments.folder)
    sizes = {file.name: file.stat().st_size for file in sorted(arguments.folder.glob("*.png"))}
    for name, size in sizes.items():
        print(f"{name:16} {size / 1024:4.0f} KB{'  too large' if size > MOST else ''}")
    return int(any(size > MOST for size in sizes.values()))
