"""Texts of a document stay texts in everything that is generated: code, TOML, YAML, JSON, Markdown, HTML, file names.

One document holds every payload in every text that it can have. The project that it gives is compared with that of the
same document with plain words, and each file is read by a parser of its own format.
"""

from __future__ import annotations

import io
import json
import keyword
import re
import tokenize
import tomllib
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from aqlgen.document.request import Request
from aqlgen.options import PARTS
from aqlgen.page import report
from aqlgen.pipeline import Options, prepare
from aqlgen.project.generated_paths import problem_of_all
from aqlgen.project.generation import order_of
from aqlgen.render import render
from aqlgen.table.identity import NAME
from tests.cases import each
from tests.documents import TEXT, object_of, parameter
from tests.generator.commands import api, tabulate

PAYLOADS = {
    "docstring": '"""\nimport os; os.system("touch owned")\n"""',
    "quotes": "'); import os; os.system('touch owned') #",
    "escape": '\\"; owned = 1 #\\',
    "f-string": "{__import__('os').system('touch owned')}",
    "jinja expression": "{{ cycler.__init__.__globals__.os.popen('touch owned').read() }}",
    "jinja statement": "{% for owned in range(3) %}owned{% endfor %}{% raw %}",
    "jinja comment": "{# owned #}",
    "toml string": '"\n[project.scripts]\nowned = "os:system',
    "toml lines": "'''\n[build-system]\nrequires = ['owned']\n'''",
    "yaml key": "x\nowned: true\n",
    "yaml tag": "!!python/object/apply:os.system ['touch owned']",
    "yaml anchor": "&owned [*owned]",
    "yaml document": "\n---\nowned: 1\n...\n",
    "actions": "${{ secrets.GITHUB_TOKEN }}",
    "shell": "$(touch owned) `touch owned` ; touch owned | tee",
    "docker": '\nRUN touch owned\nENTRYPOINT ["owned"]',
    "script": "</script><script>owned()</script>",
    "comment end": "--><img src=x onerror=owned()><!--",
    "attribute": '" onmouseover="owned()" x="',
    "template end": "</template></style></title><svg/onload=owned()>",
    "entity": "&lt;script&gt;owned()&lt;/script&gt;",
    "table break": "a | b |\n| --- | --- |\n| owned | row |",
    "heading": "\n\n# owned\n",
    "fence": "```\n</details>\n# owned\n```",
    "link": "[owned](javascript:owned()) ![x](https://evil.example/x.png)",
    "autolink": "<javascript:owned()>",
    "html in markdown": "<img src=https://evil.example/x.png>",
    "json": '"}, "owned": {"x": "',
    "separators": "a\u2028owned\u2029b\u0085c",
    "nul": "a\x00owned",
    "override": "\u202eowned\u2066",
    "escape sequence": "\x1b]0;owned\x07\x1b[2J",
    "carriage return": "a\rowned: 1\r\n# owned",
    "coding": "# -*- coding: utf-7 -*-\n+AG8-wned",
    "prototype": "__proto__",
    "surrogate": "\ud800owned",
}


def document(texts: Mapping[str, str]) -> dict[str, Any]:
    """Build a document that holds each text everywhere; identifiers and paths are the same whatever the texts are."""
    everything = " ".join(texts.values())
    paths = {}
    for number, text in enumerate(texts.values()):
        item = parameter(f"p{number}", schema={**TEXT, "enum": ["a", text]}, description=text, example=text)
        schema = object_of(**{f"f{number}": {"description": text}}) | {"title": text, "description": text}
        answer = {"description": text, "content": {"application/json": {"schema": schema, "example": {"x": text}}}}
        paths[f"/things{number}"] = {
            "get": {
                "operationId": f"listThings{number}",
                "summary": text,
                "description": text,
                "tags": [text],
                "parameters": [item],
                "externalDocs": {"url": f"https://x.example/{text}", "description": text},
                "responses": {"200": answer},
                "x-thing": text,
            }
        }
    key = {"type": "apiKey", "in": "header", "name": "K", "description": everything}
    return api(
        paths,
        info={
            "title": f"Shop: {everything}",
            **dict.fromkeys(("version", "summary", "description", "termsOfService"), everything),
            "contact": dict.fromkeys(("name", "url", "email"), everything),
            "license": dict.fromkeys(("name", "identifier"), everything),
        },
        servers=[{"url": "https://shop.example.com", "description": everything}],
        tags=[{"name": text, "description": text} for text in texts.values()],
        components={"securitySchemes": {"key": key}},
        security=[{"key": []}],
    )


def project(folder: Path, texts: Mapping[str, str]) -> tuple[dict[str, bytes], str]:
    """Return the project of a document, and the review page."""
    folder.mkdir()
    spec = folder / "shop.json"
    spec.write_text(json.dumps(document(texts)), encoding="utf-8")
    options = Options((Request(str(spec)),), "shop", parts=tuple(PARTS))
    prepared = prepare(options, lambda _stage: None)
    return render(order_of(options, prepared, "")), report(prepared)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], str]:
    return project(tmp_path_factory.mktemp("injection") / "hostile", PAYLOADS)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], str]:
    words = {name: f"words number {number}" for number, name in enumerate(PAYLOADS)}
    return project(tmp_path_factory.mktemp("injection") / "plain", words)


Sides = tuple[dict[str, bytes], str]


def _keys(value: Any) -> Any:
    """Return the shape of data: its keys, and the number of items."""
    if isinstance(value, dict):
        return {key: _keys(member) for key, member in value.items()}
    return [_keys(member) for member in value] if isinstance(value, list) else None


def test_the_files_have_the_same_names(hostile: Sides, plain: Sides) -> None:
    assert sorted(hostile[0]) == sorted(plain[0])
    assert problem_of_all(hostile[0]) == ""


@pytest.mark.parametrize(
    "suffix", [".py", ".sh", ".yml", "Dockerfile", ".toml", "ignore", "attributes", ".schema.json", "overrides.yaml"]
)
def test_code_and_settings_are_the_same_bytes(hostile: Sides, plain: Sides, suffix: str) -> None:
    """R-TRUST-1: no text of the document is in them at all, but for the description of the distribution."""
    paths = [
        path for path in hostile[0] if path.endswith(suffix) and path not in ("pyproject.toml", ".copier-answers.yml")
    ]
    assert paths or suffix == ".toml"
    assert [path for path in paths if hostile[0][path] != plain[0][path]] == []


def test_the_project_file_differs_in_its_description_only(hostile: Sides, plain: Sides) -> None:
    sides = [tomllib.loads(tree["pyproject.toml"].decode()) for tree, _ in (hostile, plain)]
    for side in sides:
        side["project"].pop("description")
    assert sides[0] == sides[1]


def test_the_answers_differ_in_texts_only(hostile: Sides, plain: Sides) -> None:
    sides = [yaml.safe_load(tree[".copier-answers.yml"]) for tree, _ in (hostile, plain)]
    changed = {key for key in sides[0].keys() | sides[1].keys() if sides[0].get(key) != sides[1].get(key)}
    assert changed <= {"title", "description", "credentials"}


def test_the_schema_file_is_yaml_of_the_same_shape(hostile: Sides, plain: Sides) -> None:
    sides = [yaml.safe_load(tree["schema/adapter.yaml"]) for tree, _ in (hostile, plain)]
    assert "owned" not in _keys(sides[0])
    assert _keys(sides[0]).keys() == _keys(sides[1]).keys()


def test_every_json_file_is_json_without_a_key_of_the_texts(hostile: Sides) -> None:
    for path, content in hostile[0].items():
        if path.endswith(".json"):
            assert "owned" not in json.loads(content)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(sorted(name for name, _ in attrs))))


def _tags(page: str) -> list[tuple[str, tuple[str, ...]]]:
    parser = _Tags()
    parser.feed(page)
    return parser.tags


def test_the_review_page_has_the_elements_of_the_plain_one(hostile: Sides, plain: Sides) -> None:
    assert {tag for tag, _ in _tags(hostile[1])} == {tag for tag, _ in _tags(plain[1])}
    assert not [attributes for _, attributes in _tags(hostile[1]) if any(name.startswith("on") for name in attributes)]
    for tag in ("script", "style", "title", "link", "meta", "img", "iframe", "svg"):
        assert hostile[1].lower().count(f"<{tag}") == plain[1].lower().count(f"<{tag}")


def test_a_page_of_markdown_has_the_headings_and_rows_of_the_plain_one(hostile: Sides, plain: Sides) -> None:
    for path in ("OPERATIONS.md", "README.md", "CLIENTS.md"):
        sides = [tree[path].decode() for tree, _ in (hostile, plain)]
        assert not re.search(r"^ {0,3}#+ owned", sides[0], re.MULTILINE)
        headings = [re.findall(r"^#+ ", side, re.MULTILINE) for side in sides]
        assert len(headings[0]) <= len(headings[1])
        rows = [
            [len(re.findall(r"(?<!\\)\|", line)) for line in side.splitlines() if line.startswith("|")]
            for side in sides
        ]
        assert set(rows[0]) <= set(rows[1])


ACTIVE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


@each("name", PAYLOADS)
def test_a_text_is_no_code_anywhere(hostile: Sides, name: str) -> None:
    """What runs of a payload stands in no file that is run, built or rendered, whole or as one line."""
    lines = [line.strip() for line in PAYLOADS[name].splitlines() if "owned" in line] or [PAYLOADS[name]]
    for path, content in hostile[0].items():
        if path.endswith((".py", ".sh", ".yml", "Dockerfile")) and path != ".copier-answers.yml":
            text = content.decode("utf-8", "surrogatepass")
            assert not [line for line in lines if len(line) > 8 and line in text], path


@each("name", PAYLOADS)
def test_a_text_in_a_page_neither_acts_nor_loads(tmp_path: Path, name: str) -> None:
    text = PAYLOADS[name]
    paths = {"/things": {"get": {"operationId": "list", "summary": text, "tags": [text], "responses": {}}}}
    info = {"title": f"Shop {text}", "version": text, "description": text}
    page = tabulate(tmp_path, {"openapi": "3.1.0", "info": info, "paths": paths}).page
    assert not ACTIVE.search(page)
    outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", page)
    assert not re.search(r"(?<!\\)<(script|img|svg|/details|javascript:)", outside_code)
    assert not re.search(r"(?<!\\)\]\((javascript|https://evil)", outside_code)


def test_every_python_file_is_utf_8_without_a_declared_encoding(hostile: Sides) -> None:
    for path, content in hostile[0].items():
        if path.endswith(".py"):
            assert tokenize.detect_encoding(io.BytesIO(content).readline)[0] == "utf-8"


TITLES = (
    "../../x",
    "..",
    ".",
    "/etc/passwd",
    "os",
    "sys",
    "class",
    "import",
    "None",
    "__init__",
    "__main__",
    "src",
    "tests",
    "test",
    "a\x00b",
    "\u202egpj",
    "\u0430pple",
    "CON",
    "nul",
    ".git",
    "-rf",
    "--help",
    "x\ny",
    "x; rm -rf ~",
    "$(id)",
    "`id`",
    "a" * 5000,
    "😀",
    "ﬁle",
    "İstanbul",
    "1password",
    "mcp",
    "jsonschema_rs",
    "C:\\x",
    "%2e%2e%2f",
    "",
)


@each("title", TITLES, ids=lambda title: ascii(title)[:20])
def test_a_name_from_a_title_is_a_plain_name(tmp_path: Path, title: str) -> None:
    document = api({"GET /a": {"responses": {}}}, info={"title": title, "version": "1"})
    identity = tabulate(tmp_path, document).prepared.identity
    assert NAME.fullmatch(identity.name)
    assert re.fullmatch(r"[a-z][a-z0-9_]*_adapter", identity.package)
    assert identity.package.isidentifier()
    assert not keyword.iskeyword(identity.package)
    assert problem_of_all([identity.package, identity.project]) == ""


def _workflow(tree: Mapping[str, bytes], name: str = "update-adapter") -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(tree[f".github/workflows/{name}.yml"])
    return loaded


def _steps(tree: Mapping[str, bytes]) -> list[dict[str, Any]]:
    jobs = [job for name in ("update-adapter", "test") for job in _workflow(tree, name)["jobs"].values()]
    return [step for job in jobs for step in job["steps"]]


def test_a_workflow_puts_no_expression_into_a_command(plain: Sides) -> None:
    assert not [step for step in _steps(plain[0]) if "${{" in step.get("run", "")]


def test_the_workflow_of_tests_only_reads(plain: Sides) -> None:
    workflow = _workflow(plain[0], "test")
    assert workflow["permissions"] == {}
    assert all(job["permissions"] == {"contents": "read"} for job in workflow["jobs"].values())
    assert workflow[True].keys() == {"push", "pull_request"}
    assert not [step for step in _steps(plain[0]) if "secrets." in str(step) and step["name"] != "Propose"][1:]


def test_the_workflow_asks_for_the_least_rights(plain: Sides) -> None:
    workflow = _workflow(plain[0])
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["update"]["permissions"] == {"contents": "read"}
    assert workflow["jobs"]["propose"]["permissions"] == {"contents": "write", "pull-requests": "write"}
    assert workflow[True].keys() == {"schedule", "workflow_dispatch"}  # "on"; never pull_request_target


def test_a_workflow_pins_what_it_runs(plain: Sides) -> None:
    """It installs no aqlgen by its name, which is nobody's on a public index: the script takes what has a hash."""
    steps = _steps(plain[0])
    used = [step for step in steps if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]) for step in used)
    taking = [step for step in steps if "AQLGEN" in step.get("env", {})]
    assert {step["env"]["AQLGEN"] for step in taking} == {"${{ vars.AQLGEN }}"}
    assert all("sh scripts/update-adapter.sh" in step["run"] for step in taking)
    assert not [step for step in steps if re.search(r"install[^\n]*\baqlgen\b", step.get("run", ""))]


def test_the_workflow_leaves_no_token_in_the_checkout(plain: Sides) -> None:
    checkouts = [step for step in _steps(plain[0]) if "checkout" in step.get("uses", "")]
    assert [checkout["with"]["persist-credentials"] for checkout in checkouts] == [False] * 4
    assert [step["name"] for step in _steps(plain[0]) if "GH_TOKEN" in step.get("env", {})] == ["Propose"]
