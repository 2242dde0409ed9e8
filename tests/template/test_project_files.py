"""What a project says of its API, and what others read of it: README, client settings, bundle, registry entry."""

from __future__ import annotations

import json
import re
import shlex
import tomllib

import pytest
import yaml

from aqlgen.render.template import render_template
from aqlgen.runtime.cli.arguments import _CLIENTS
from aqlgen.runtime.cli.clients import CLIENTS, Start, client_texts
from tests.template.test_template import HOSTILE, PLAIN, TEXTS

TREE = render_template(PLAIN)
NEEDED = ["PETSTORE_API_KEY"]
COMMAND = "/absolute/path/to/.venv/bin/petstore-adapter"
START = Start("petstore", COMMAND, [], NEEDED)


def text(path: str, **answers: str) -> str:
    return (render_template(PLAIN | answers) if answers else TREE)[path].decode()


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_readme_shows_calls_of_this_api() -> None:
    (calls,) = blocks(text("README.md"), "json")[:1]
    assert [json.loads(line) for line in calls.splitlines()] == [
        {"operation": "introspect", "params": {"query": "search", "search": "list pets"}},
        {"operation": "list_pets", "params": {}},
        {"operation": "get_pet", "params": {"pet_id": 7}},
        {"operation": "create_pet", "params": {"name": "D'Artagnan"}},
    ]
    commands = [line for block in blocks(text("README.md"), "sh") for line in block.splitlines() if " --mock" in line]
    assert shlex.split(next(line for line in commands if "create_pet" in line))[1:] == [
        "call",
        "create_pet",
        '{"name": "D\'Artagnan"}',
        "--mock",
    ]


def test_the_readme_names_each_credential_and_what_is_confirmed() -> None:
    readme = text("README.md")
    assert "| `PETSTORE_API_KEY` | The key of your shop |" in readme
    assert "| `PETSTORE_CLIENT_ID` | optional; staff: id of your client |" in readme
    assert "| dangerous | 1 | `burn_down` |" in readme
    assert "| destructive | 2 | `delete_pet`, `delete_shop` |" in readme
    bare = text("README.md", credentials="", confirmations="", calls="", description="", hosts="")
    assert "The document declares no credential." in bare
    assert "No call needs a confirmation" in bare


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("See https://x.example/a_b-c(1).", "See `https://x.example/a_b-c(1).`"),
        ("Mail me@x.example or WWW.x.example", "Mail `me@x.example` or `WWW.x.example`"),
        ("C++ and client_id, A & B, 1.4 - x", "C++ and client_id, A & B, 1.4 - x"),
        ("- item", "\\- item"),
        ("# head", "\\# head"),
        ("1. first", "1\\. first"),
        (
            "[a](b) ![c](d) <e> `f` *g* _h_ a|b &lt; $x$",
            "\\[a\\](b) !\\[c\\](d) \\<e> \\`f\\` \\*g\\* \\_h\\_ a\\|b \\&lt; \\$x\\$",
        ),
        ("a `http://x.example` b", "a `'http://x.example'` b"),
    ],
)
def test_a_text_of_the_api_is_shown_as_it_is_and_links_nowhere(written: str, shown: str) -> None:
    assert f"\n> {shown}\n" in text("README.md", description=written)


def test_a_hostile_text_adds_no_line_and_no_link() -> None:
    link = re.compile(r"(?<!\\)(?:\]\(|<[a-z/!]|https?://|www\.)")
    for path in ("README.md", "CLIENTS.md"):
        for written in (
            HOSTILE,
            "x\n\n# y\n```\n",
            "[x](javascript:y) <https://x.example> www.x.example https://y.example",
        ):
            answers = dict.fromkeys(("title", "description", "api_version", "base_url"), written)
            page = text(path, **answers)
            assert len(page.splitlines()) == len(text(path).splitlines())
            outside = [re.sub(r"`[^`]*`", "", line) for line in page.splitlines()]
            plain = [re.sub(r"`[^`]*`", "", line) for line in text(path).splitlines()]
            assert sum(len(link.findall(line)) for line in outside) == sum(len(link.findall(line)) for line in plain)


@pytest.mark.parametrize("name", CLIENTS)
def test_the_settings_of_a_client_are_those_that_the_command_prints(name: str) -> None:
    client = CLIENTS[name]
    page = text("CLIENTS.md").split(f"\n## {client.title}\n")[1].split("\n## ")[0]
    settings, remark = client_texts(START, client)
    assert blocks(page, client.language) == [f"{settings}\n"]
    for command in blocks(page, "sh"):
        assert remark.endswith(f"or in one step: {command.strip()}")
    data = tomllib.loads(settings) if client.language == "toml" else json.loads(settings)
    (servers,) = [value for key, value in data.items() if key != "inputs"]
    assert servers["petstore"]["command"] == COMMAND
    assert NEEDED[0] in (servers["petstore"].get("env") or servers["petstore"]["env_vars"])


def test_the_command_knows_the_clients_of_the_page() -> None:
    assert list(_CLIENTS) == list(CLIENTS)
    assert re.findall(r"^## (.*)", text("CLIENTS.md"), re.MULTILINE) == [client.title for client in CLIENTS.values()]


def test_the_example_of_variables_is_such_a_file_and_holds_no_value() -> None:
    for tree in (TREE, render_template(PLAIN | dict.fromkeys(TEXTS, HOSTILE))):
        lines = tree[".env.example"].decode().splitlines()
        assert all(re.fullmatch(r"#.*|[A-Za-z_][A-Za-z0-9_]*=|", line) for line in lines)
    assert "PETSTORE_API_KEY=\n" in text(".env.example")
    assert "# PETSTORE_CLIENT_ID=\n" in text(".env.example")


def test_the_example_of_variables_has_those_that_the_compose_file_needs() -> None:
    needed = re.findall(r"\$\{([A-Z_]+):\?", text("deploy/compose.yaml"))
    assert {"MCP_AQL_STATE_KEY", "STORE_PASSWORD"} <= {*needed}
    assert {*needed} <= {*re.findall(r"^# ([A-Z_]+)=$", text(".env.example"), re.MULTILINE)}


@pytest.mark.parametrize("title", ["Petstore", "", HOSTILE, "x" * 300])
def test_the_registry_entry_has_what_the_registry_asks_for(title: str) -> None:
    """Its schema: names, lengths, patterns. No package of a public index is named: none of them is the owner's."""
    server = json.loads(text("server.json", title=title, description=title))
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 1 <= len(server["description"]) <= 100
    assert 1 <= len(server["title"]) <= 100
    (package,) = server["packages"]
    assert package["registryType"] == "mcpb"
    assert package["identifier"].startswith("https://example.com/")
    assert re.fullmatch("[a-f0-9]{64}", package["fileSha256"])
    assert package["transport"] == {"type": "stdio"}
    assert [variable["name"] for variable in package["environmentVariables"]] == NEEDED
    assert all(variable["isSecret"] for variable in package["environmentVariables"])


@pytest.mark.parametrize("title", ["Petstore", "", HOSTILE, "x" * 300])
def test_the_server_card_has_the_form_of_its_draft_and_the_name_of_the_registry_entry(title: str) -> None:
    """SEP-2127: required members, lengths and patterns; it lists no tools, which are asked for at run time."""
    card, entry = (json.loads(text(f"{name}.json", title=title)) for name in ("server-card", "server"))
    assert card["$schema"] == "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
    assert [card[key] for key in ("name", "version", "description")] == [
        entry[key] for key in ("name", "version", "description")
    ]
    assert 1 <= len(card["title"]) <= 100
    assert 1 <= len(card["description"]) <= 100
    assert [remote["type"] for remote in card["remotes"]] == ["streamable-http"]
    assert card.keys() == {"$schema", "name", "title", "description", "version", "remotes"}


def test_the_skill_is_short_has_the_form_of_skills_and_no_text_of_the_api() -> None:
    """The folder has the skill's name (agentskills.io); its commands are those of the adapter."""
    path = "skills/petstore/SKILL.md"
    skill = text(path)
    _, front_matter, body = skill.split("---\n", 2)
    fields = yaml.safe_load(front_matter)
    assert fields.keys() == {"name", "description"}
    assert fields["name"] == "petstore"
    assert len(fields["description"]) <= 1024
    assert len(skill.splitlines()) <= 60
    assert set(re.findall(r"petstore-adapter ([a-z]+)", body)) == {"search", "describe", "call", "doctor"}
    assert render_template(PLAIN | dict.fromkeys(TEXTS, HOSTILE))[path].decode() == skill


def test_the_bundle_asks_for_the_credentials_and_keeps_an_empty_one_empty() -> None:
    manifest = json.loads(text("manifest.json"))
    assert manifest["manifest_version"] == "0.4"
    assert manifest["server"]["type"] == "uv"
    assert f"src/petstore_adapter/{manifest['server']['entry_point'].rpartition('/')[2]}" in TREE
    assert manifest["server"]["mcp_config"]["env"] == {name: f"${{user_config.{name}}}" for name in NEEDED}
    assert list(manifest["user_config"]) == NEEDED
    assert all(asked["sensitive"] and asked["default"] == "" for asked in manifest["user_config"].values())


def test_the_bundle_leaves_out_nothing_of_the_package() -> None:
    """A pattern without a slash before it is for a name in any folder, as in .gitignore."""
    patterns = [line for line in text(".mcpbignore").splitlines() if not line.startswith("#")]
    anywhere = {pattern.strip("/") for pattern in patterns if not pattern.startswith("/")}
    kept = {"pyproject.toml", "README.md", "adapter.toml", *(path for path in TREE if path.startswith("src/"))}
    assert not {name for path in kept for name in path.split("/")} & anywhere
    assert not {path.split("/")[0] for path in kept} & {pattern.strip("/") for pattern in patterns}


def test_no_text_tells_to_install_a_package_by_its_bare_name() -> None:
    """Whoever registers such a name on a public index would be run; paths, addresses and extras are named instead."""
    bare = re.compile(
        r"(?:uvx|pipx (?:run|install)|pip3? install|uv tool (?:install|run))(?: -\S+)* ['\"]?(?:aqlgen|petstore)\b"
    )
    for path, content in TREE.items():
        assert not bare.search(content.decode()), path


def test_a_container_is_built_from_no_more_than_what_it_copies() -> None:
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", text("Dockerfile", runtime="sealed"), re.MULTILINE)
    wanted = {source.removeprefix("./").replace("[l]", "l") for line in copied for source in line.split()}
    assert {line[1:] for line in text(".dockerignore").splitlines() if line.startswith("!")} == wanted
    assert "\n*\n" in text(".dockerignore")
