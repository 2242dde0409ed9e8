"""The project's template: the files that it renders for any answers."""

import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path, PurePosixPath

import pytest
import yaml

from aqlgen.diagnostics.errors import TemplateError
from aqlgen.render.provenance import RUNTIME, Kind, kind
from aqlgen.render.template import PROJECT, render_template
from aqlgen.runtime.cli import main
from tests.generator.commands import FIXTURES, run

PLAIN = {
    "name": "petstore",
    "package": "petstore_adapter",
    "env_prefix": "PETSTORE",
    "title": "Petstore",
    "description": "Pets.",
    "version": "0.1.0",
    "license": "MIT",
    "base_url": "https://petstore.example/api",
    "hosts": "https://petstore.example: operations, with apiKey\nhttps://uploads.example: operations",
    "credentials": "PETSTORE_API_KEY: The key of your shop\nPETSTORE_CLIENT_ID?: staff: id of your client",
    "calls": 'list_pets {}\nget_pet {"pet_id": 7}\ncreate_pet {"name": "D\'Artagnan"}',
    "confirmations": "dangerous 1: burn_down\ndestructive 2: delete_pet delete_shop",
    "runtime": "",
    "parts": "ci clients docker git hooks kubernetes mcpb overrides registry schemas settings skill",
}
TEXTS = ("title", "description", "base_url", "hosts", "credentials", "calls", "confirmations")
HOSTILE = (
    "\"\"\"'''\\ \n\t\r\x00\x07\x7f\x85\u2028 {{ 7*7 }} {% raw %} `rm` ]]> <script> --- | [x](y) \U0001f600 宠物 \ud800"
)


SHARED_JSON = {"manifest.json", "server-card.json", "server.json"}
"""Data in the form of others, which has no place for a comment."""


def test_texts_of_the_api_reach_no_python_file() -> None:
    plain, hostile = render_template(PLAIN), render_template(PLAIN | dict.fromkeys(TEXTS, HOSTILE))
    assert plain.keys() == hostile.keys()
    changed = {path for path in plain if plain[path] != hostile[path]}
    pages = {"README.md", "CLIENTS.md"}
    assert changed == {*pages, *SHARED_JSON, ".env.example", "pyproject.toml", ".copier-answers.yml"}


@pytest.mark.parametrize("text", ["", " ", HOSTILE, "x" * 3000, "宠物商店", "../.."])
def test_every_file_stays_well_formed_whatever_the_api_is_called(text: str) -> None:
    tree = render_template(PLAIN | {"title": text, "description": text})
    project = tomllib.loads(tree["pyproject.toml"].decode())["project"]
    assert project["name"] == "petstore-adapter"
    assert 0 < len(project["description"]) < 400
    assert "\n" not in project["description"]
    assert yaml.safe_load(tree[".copier-answers.yml"])["name"] == "petstore"
    assert re.search(r"^# petstore-adapter$", tree["README.md"].decode(), re.MULTILINE)


def test_the_answers_file_names_no_place_of_this_machine() -> None:
    """R-CONF-2: the same input gives the same bytes wherever aqlgen stands."""
    assert yaml.safe_load(render_template(PLAIN)[".copier-answers.yml"]) == PLAIN | {"_src_path": "."}


def test_the_answers_file_keeps_the_address_of_the_template() -> None:
    source = {"template_url": "https://example.org/templates.git", "template_tag": "v0.1.0"}
    answers = yaml.safe_load(render_template(PLAIN | source)[".copier-answers.yml"])
    assert answers == PLAIN | {"_src_path": source["template_url"], "_commit": "v0.1.0"}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("name", "Pet Store"),
        ("package", "3pets"),
        ("version", "1.0.27-SNAPSHOT"),
        ("license", 'MIT"'),
        ("env_prefix", "x"),
        ("runtime", "0.1.0"),
    ],
)
def test_an_answer_that_would_break_the_project_is_refused(question: str, answer: str) -> None:
    with pytest.raises(TemplateError, match=question):
        render_template(PLAIN | {question: answer})


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "petstore"
    assert run("from-openapi", FIXTURES / "petstore.yaml", "-o", folder, "-q", "--add", "all").code == 0
    return folder


def files_of(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def test_every_file_says_whose_it_is_in_its_first_line(generated: Path) -> None:
    """Except the archive, the API's own document, and JSON data, which has no comments; the README lists them."""
    for path in files_of(generated):
        whose, json = kind(path, "petstore_adapter"), path.endswith(".json")
        if path == RUNTIME or path.startswith("openapi/") or (json and not path.startswith("schema/")):
            assert whose is (Kind.SHARED if path in SHARED_JSON else Kind.MACHINE)
            continue
        lines = (generated / path).read_text(encoding="utf-8").splitlines()
        first = lines[1 if json or lines[0] == "---" else 0]  # front matter
        assert re.match(rf"(# |<!-- |// |/\* |  \"\$comment\": \"){whose}: ", first), path


def test_the_readme_says_of_every_file_whose_it_is(generated: Path) -> None:
    section = (generated / "README.md").read_text(encoding="utf-8").split("## Files")[1].split("\n## ")[0]
    owners = {"you": "yours", "you and aqlgen": "shared", "aqlgen": "machine"}
    rows = re.findall(r"^\| (`.*`) \| (you|you and aqlgen|aqlgen) \|", section, re.MULTILINE)
    named = [(pattern, owners[owner]) for patterns, owner in rows for pattern in re.findall("`(.*?)`", patterns)]
    for path in files_of(generated):
        kinds = {whose for pattern, whose in named if _names(pattern, path)}
        expected = kind(path, "petstore_adapter")
        assert expected in kinds, path
        assert kinds == {expected} or path.endswith("hooks.py"), path


def test_the_calls_of_the_readme_run(generated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (generated / "README.md").read_text(encoding="utf-8")
    commands = [shlex.split(line)[1:] for line in readme.splitlines() if " call " in line and line.endswith("--mock")]
    assert len(commands) == 3
    for command in commands:
        assert main(generated / "src/petstore_adapter", None, command) == 0
        assert json.loads(capsys.readouterr().out)["success"] is True


def _names(pattern: str, path: str) -> bool:
    """Return True if a row of the README's table names a file: `*` matches no slash, a folder all in it."""
    return PurePosixPath(path).match(pattern) if not pattern.endswith("/") else path.startswith(pattern)


def test_the_source_of_the_runtime_is_copied_as_it_stands() -> None:
    source = Path(__file__).parents[2] / "aqlgen/runtime"
    tree = render_template(PLAIN)
    copied = {path.split("/runtime/")[1]: content for path, content in tree.items() if "/runtime/" in path}
    files = [file for file in source.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    assert copied == {file.relative_to(source).as_posix(): file.read_bytes() for file in files}


def test_the_examples_in_overrides_yaml_are_overrides(tmp_path: Path) -> None:
    from aqlgen.decide.overrides import load as load_overrides

    text = render_template(PLAIN)["overrides.yaml"].decode()
    file = tmp_path / "overrides.yaml"
    file.write_text(text)
    assert not load_overrides(file).entries
    examples = text.split("#\n", 1)[1]
    file.write_text(re.sub(r"^# ", "", examples, flags=re.MULTILINE))
    overrides = load_overrides(file)
    assert not overrides.diagnostics
    adopt, pets, photo, owner, health = overrides.entries.values()
    assert (adopt.name, adopt.category, adopt.danger) == ("adopt_pet", "EXECUTE", "destructive")
    assert adopt.parameters["petId"].name == "pet"
    assert pets.pagination.style == "page"
    assert photo.content_type == "image/png"
    assert owner.hidden
    assert health.security is not None
    assert list(overrides.patterns) == ["* /admin/**", "operation:delete_*", "tag:internal"]
    assert overrides.patterns["tag:internal"].hidden
    assert [header.variable for header in overrides.adapter.headers] == ["", "TENANT"]
    assert overrides.adapter.field_case == "preserve"


def test_the_examples_in_hooks_are_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = render_template(PLAIN)
    for path, content in tree.items():
        if path.startswith("src/"):
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    hooks = tmp_path / "src/petstore_adapter/hooks.py"
    text = hooks.read_text()
    head, examples = text.split("# The examples need:\n", 1)
    hooks.write_text(head + "".join(f"{line[6:]}\n" for line in examples.splitlines() if line.startswith("#     ")))
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    module = __import__("petstore_adapter.hooks", fromlist=["hooks"])
    assert callable(module.before_call)
    assert callable(module.before_send)
    assert callable(module.after_response)


def test_templates_whose_copy_followed_the_link_to_the_runtime_have_it_where_it_belongs(tmp_path: Path) -> None:
    link = "src/{{package}}/{% if not runtime %}runtime{% endif %}"
    root = Path(__file__).parents[2]
    shutil.copytree(root / "templates/project", tmp_path / PROJECT, ignore=shutil.ignore_patterns("{%*"))
    shutil.copy(root / "copier.yml", tmp_path)
    (tmp_path / PROJECT / link).mkdir()
    (tmp_path / PROJECT / link / "alone.py").write_text("# of this copy\n", encoding="utf-8")
    tree = render_template(PLAIN, tmp_path)
    runtime = {path: content for path, content in tree.items() if "/runtime/" in path}
    assert runtime == {"src/petstore_adapter/runtime/alone.py": b"# of this copy\n"}
    assert tree.keys() - runtime.keys() == {path for path in render_template(PLAIN) if "/runtime/" not in path}
