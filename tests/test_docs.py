"""The pages of docs/ are true: their commands work as printed, their links lead somewhere, their lists are complete."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from aqlgen.cli import COMMANDS, register
from aqlgen.cli.app import app
from aqlgen.cli.commands_page import page as commands_page
from bench.__main__ import NAMES
from tests.checkouts import unpack_runtime
from tests.diagrams import DIAGRAMS
from tests.generator.commands import run
from tests.pages import PAGES, ROOT, Reader, Step, steps

pytestmark = pytest.mark.long

OTHERS = {"README.md": "tests/test_readme.py", "living.md": "tests/test_living.py"}
"""The pages whose commands another test runs."""

FROM_THE_NETWORK = "installs from the network; tests/test_readme.py installs aqlgen and a project of it without"
CLIENT = "is the command of an MCP client"
PERSON = "waits for a person at a terminal; tests/runtime/operator and tests/safety are about it"
MEASURES = "measures for minutes, beside what it installs from the network"
NOT_RUN = {
    "comparison.md": {
        "python -m venv peers && peers/bin/pip install 'fastmcp[code-mode]==4.2.3'": FROM_THE_NETWORK,
        "python -m bench jobs CORPUS --fastmcp peers/bin/python": MEASURES,
    },
    "tutorial.md": {
        "python3 -m venv .venv && . .venv/bin/activate": FROM_THE_NETWORK,
        "pip install /path/to/aqlgen": FROM_THE_NETWORK,
        'claude mcp add --env NOTES_KEY=secret --scope user notes -- "$VIRTUAL_ENV/bin/notes-adapter"': CLIENT,
    },
    "conformance.md": {"aqlgen check petstore-adapter": "takes half a minute; tests/check/test_check.py runs it"},
    "safety-server.md": {
        "aqlgen safety --policy safety.toml operator": PERSON,
        "aqlgen safety --policy safety.toml audit verify": "needs what a server has written; tests/safety runs it",
    },
    "sealed-runtime.md": dict.fromkeys(
        ("aqlgen from-openapi openapi.yaml", "aqlgen update --runtime source", "aqlgen update --runtime sealed"),
        "tests/template/test_sealed_runtime.py moves a project to and fro",
    ),
    "clients.md": dict.fromkeys(
        ("npx @anthropic-ai/mcpb validate manifest.json", "npx @anthropic-ai/mcpb pack . petstore-adapter.mcpb"),
        FROM_THE_NETWORK,
    ),
}
"""The commands that pages show and no test types, each with the reason."""


def commands(page: Path) -> list[Step]:
    return [step for step in steps(page) if step.kind == "command"]


TYPED = [page for page in PAGES if commands(page) and page.name not in OTHERS]


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the petstore's document and the project that was generated from it."""
    home = tmp_path_factory.mktemp("home")
    shutil.copy(ROOT / "fixtures/petstore.yaml", home / "openapi.yaml")
    assert run("from-openapi", home / "openapi.yaml", "-o", home / "petstore-adapter", "--quiet").code == 0
    unpack_runtime(home / "petstore-adapter/src/petstore_adapter")
    return home


@pytest.fixture
def reader(tmp_path: Path, adapter: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path / "home")
    yield reader
    reader.leave()


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.name)
def test_every_command_of_a_page_works(page: Path, reader: Reader, adapter: Path) -> None:
    """The reader of a how-to has the petstore's project; that of the tutorial begins with nothing."""
    if page.name != "tutorial.md":
        shutil.copytree(adapter, reader.home, dirs_exist_ok=True)
        reader.install([])
    reader.read(page, skipped=frozenset(NOT_RUN.get(page.name, {})))


def test_what_is_not_run_is_on_its_page() -> None:
    for name, left_out in NOT_RUN.items():
        shown = {step.command for step in commands(ROOT / "docs" / name)}
        assert set(left_out) <= shown, name


LINK = re.compile(r"(?<!`)\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)")
CONTRIBUTORS = [f"contributing/{name}.md" for name in ("architecture", "releasing", "requirements")]
OUTSIDE = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", *CONTRIBUTORS)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors that a code host gives the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    slugs: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
        repeated = sum(re.fullmatch(rf"{re.escape(slug)}(-\d+)?", other) is not None for other in slugs)
        slugs.append(f"{slug}-{repeated}" if repeated else slug)
    return frozenset(slugs)


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / name for name in OUTSIDE)], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for path, anchor in LINK.findall(text):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {path}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {path}#{anchor}"


def test_every_page_is_in_the_navigation_of_the_site_and_on_its_first_page() -> None:
    navigation = str(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"])
    named = set(re.findall(r"'([\w-]+\.md)'", navigation))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    assert named == pages
    first = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert {name for name in pages if f"({name})" not in first} == {"index.md"}


def test_the_first_page_answers_questions_with_a_link_each() -> None:
    table = (ROOT / "docs/index.md").read_text(encoding="utf-8").partition("## Questions")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]*)\? \| (.*) \|$", table, re.MULTILINE)
    assert len(rows) == 67
    assert [question for question, answer in rows if not LINK.search(CODE.sub("", answer))] == []


def test_the_page_of_commands_is_that_of_the_commands() -> None:
    written = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    assert written == commands_page(), "python -m aqlgen.cli.commands_page > docs/commands.md"


MENTIONED = re.compile(r"`aqlgen ([a-z][a-z-]*)([^`\n]*)`")
EXAMPLES = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)


@cache
def parsers() -> dict[str, Any]:
    register(*COMMANDS)
    group: Any = typer.main.get_command(app)
    return dict(group.commands)


def check_options(commands: str) -> None:
    for name, words in MENTIONED.findall(commands):
        if name != "safety":  # what follows it is for the adapter's command
            asked = re.findall(r"(?<=\s)--?[a-z][a-z-]*", words)
            known = {option for parameter in parsers()[name].params for option in parameter.opts}
            assert set(asked) <= known, f"aqlgen {name}{words}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_only_mentioned_exist_with_their_options(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    check_options(text + "".join(f"`{line}`" for block in EXAMPLES.findall(text) for line in block.splitlines()))


def test_the_examples_of_a_help_text_name_options_that_exist() -> None:
    for name, command in parsers().items():
        examples = re.findall(rf"^[ \b]*(aqlgen {name}\b.*)$", command.epilog or "", re.MULTILINE)
        assert examples, name
        check_options("".join(f"`{line}`" for line in examples))


def test_no_command_hides_in_a_block_without_a_language() -> None:
    for page in PAGES:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for language, text in blocks:
            assert language or not re.search(r"^(\$ )?(aqlgen|pip|python|petstore-adapter) ", text, re.MULTILINE), page


def test_every_example_of_a_file_can_be_read() -> None:
    for page in PAGES:
        blocks = re.findall(r"^```(toml|yaml)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for language, text in blocks:
            (tomllib.loads if language == "toml" else yaml.safe_load)(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_measurements_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(r"python -m bench ([\w.]+)", page.read_text(encoding="utf-8"))
    assert {name for name in named if name not in NAMES} <= {"NAME"}


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 5])
def test_every_exit_code_is_explained(code: int) -> None:
    assert f"\n| {code} | " in (ROOT / "docs/commands.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("picture", DIAGRAMS)
def test_diagrams_are_drawn_from_the_code(picture: str) -> None:
    written = (ROOT / "docs/pictures" / picture).read_text(encoding="utf-8")
    assert written == DIAGRAMS[picture](), "python -m tests.diagrams"


def test_pictures_are_small_and_all_of_them_are_shown() -> None:
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in (ROOT / "docs/pictures").iterdir():
        assert picture.stat().st_size < 150 * 1024
        assert f"pictures/{picture.name}" in texts


def test_the_readme_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 90
