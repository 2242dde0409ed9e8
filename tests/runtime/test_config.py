from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

import pytest

from aqlgen.render.settings_texts import page
from aqlgen.runtime.settings.config import SETTINGS, Config
from aqlgen.runtime.settings.load import ConfigError, load


def settings_file(folder: Path, text: str) -> None:
    (folder.parent.parent / "adapter.toml").write_text(text)


def test_defaults_are_those_of_the_protocol(package: Path) -> None:
    """R-REQ-5, R-REQ-9"""
    config = load(package, {})
    assert config == Config(sources=config.sources)
    assert set(config.sources.values()) == {"default"}
    assert config.limits() == {
        "max_request_size": 1048576,
        "max_response_size": 10485760,
        "max_string_length": 1048576,
        "max_array_elements": 10000,
        "max_nesting_depth": 32,
    }


def test_the_environment_wins_over_the_file(package: Path) -> None:
    settings_file(package, 'endpoint_mode = "single"\ntimeout = 5\n[limits]\nmax_nesting_depth = 16\n')
    config = load(package, {"MCP_AQL_ENDPOINT_MODE": "all", "MCP_AQL_TOOL_PREFIX": ""})
    assert (config.mode, config.timeout, config.max_nesting_depth, config.tool_prefix) == ("all", 5.0, 16, "")
    assert config.sources["mode"] == "environment"
    assert config.sources["timeout"] == "adapter.toml"


def test_the_file_is_looked_for_beside_the_project_then_in_the_package_then_where_told(package: Path) -> None:
    (package / "adapter.toml").write_text("timeout = 3")
    assert load(package, {}).timeout == 3
    settings_file(package, "timeout = 4")
    assert load(package, {}).timeout == 4
    (package / "other.toml").write_text("timeout = 5")
    assert load(package, {"MCP_AQL_CONFIG": str(package / "other.toml")}).timeout == 5
    with pytest.raises(ConfigError, match="does not exist"):
        load(package, {"MCP_AQL_CONFIG": str(package / "none.toml")})


def test_a_file_that_is_a_link_to_nothing_stops_the_start(package: Path) -> None:
    (package.parent.parent / "adapter.toml").symlink_to("gone.toml")
    with pytest.raises(ConfigError, match="cannot read"):
        load(package, {})


@pytest.mark.parametrize(
    ("key", "attribute", "value", "expected"),
    [
        ("files.folder", "files_folder", "~/files", "/home/ada/files"),
        ("audit.path", "audit.path", "~/audit.jsonl", "/home/ada/audit.jsonl"),
        ("state.url", "state_url", "sqlite:///~/state.sqlite3", "sqlite:////home/ada/state.sqlite3"),
        ("state.url", "state_url", "sqlite:///state.sqlite3", "sqlite:///state.sqlite3"),
        ("state.url", "state_url", "redis://:~a@host:6379/0", "redis://:~a@host:6379/0"),
    ],
)
def test_a_tilde_is_the_users_folder(
    package: Path, monkeypatch: pytest.MonkeyPatch, key: str, attribute: str, value: str, expected: str
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    settings_file(package, f'{key} = "{value}"')
    assert attrgetter(attribute)(load(package, {})) == expected


def test_crude_is_another_name_of_semantic(package: Path) -> None:
    """R-REQ-5"""
    assert load(package, {"MCP_AQL_ENDPOINT_MODE": "crude"}).mode == "semantic"


@pytest.mark.parametrize("prefix", ["zoo_", "a_", "x" * 19 + "_", "_1_"])
def test_a_good_prefix_is_taken(package: Path, prefix: str) -> None:
    """R-REQ-7"""
    assert load(package, {"MCP_AQL_TOOL_PREFIX": prefix}).tool_prefix == prefix


@pytest.mark.parametrize("prefix", ["zoo", "_", "Zoo_", "x" * 20 + "_", "zoo-_", "zoo_\n", "zoö_"])
def test_a_bad_prefix_is_an_error_that_names_the_variable(package: Path, prefix: str) -> None:
    """R-REQ-7"""
    with pytest.raises(ConfigError, match="MCP_AQL_TOOL_PREFIX must be"):
        load(package, {"MCP_AQL_TOOL_PREFIX": prefix})


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("colour = 1", "'colour' in adapter.toml is not a setting. The settings are base_url, "),
        ("timout = 1", "is not a setting. Did you mean 'timeout'?"),
        ("polcy = 'strict'", "is not a setting. Did you mean 'policy'?"),
        ("ZOO_HTTP_BEARER = 1", "is not a setting. Credentials belong in environment variables"),
        ("ZOO_API_KEY = 1", "is not a setting. Credentials belong in environment variables, which `doctor` lists"),
        (
            "[limits]\nmax_nesting = 1",
            "'limits.max_nesting' in adapter.toml is not a setting. Did you mean 'limits.max_nesting_depth'?",
        ),
        ("timeout = 0", "'timeout' in adapter.toml must be"),
        ("timeout = true", "'timeout' in adapter.toml must be"),
        ("limits = 3", "'limits' in adapter.toml"),
        ("[limits]\nmax_request_size = 1", "from 65536 to 10485760"),
        ("[limits]\nmax_nesting_depth = 65", "from 8 to 64"),
        ("[limits]\nmax_nesting_depth = 8.5", "whole number"),
        ('base_url = "ftp://x"', "'base_url'"),
        ('endpoint_mode = "many"', "'semantic', 'single' or 'all'"),
        ('log_level = "loud"', "'log_level'"),
        ("= 1", "adapter.toml is not valid TOML"),
        (
            '[http]\nallowed_hosts = ["a.example", "*"]',
            "'http.allowed_hosts' in adapter.toml at entry 2: must be hosts",
        ),
        ("[warnings]\nsuppress = 3", "'warnings.suppress' in adapter.toml must be a list; it is 3"),
        ('[server.variables]\nregion = "a b"', "at 'region': must not hold blanks"),
        (
            "[quota.callers]\nper_week = 3",
            "'quota.callers' in adapter.toml has no key 'per_week'; there are per_minute, ",
        ),
        ('[auth]\nforward_header = ["Cookie"]', "at entry 1, entry 1: must name a separate header"),
    ],
)
def test_a_bad_file_is_an_error_of_one_line_that_names_the_key_its_place_and_the_nearest(
    package: Path, text: str, named: str
) -> None:
    settings_file(package, text)
    with pytest.raises(ConfigError) as caught:
        load(package, {})
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_aqlgen_check_leaves_out_is_no_setting_of_the_adapter(package: Path) -> None:
    known = 'rule = "PH-3"\noperation = "list_animals"\nreason = "asked upstream"\nuntil = 2999-01-31'
    settings_file(package, f"timeout = 7\n[[check.known]]\n{known}\n")
    assert load(package, {}).timeout == 7
    settings_file(package, "[check]\nother = 1\n")
    with pytest.raises(ConfigError, match=r"'check\.other'"):
        load(package, {})


def test_the_page_of_settings_follows_from_the_fields(update_goldens: bool) -> None:
    """Rewrite it with --update-goldens, or by `python -m aqlgen.render.settings_texts > docs/settings.md`."""
    path = Path(__file__).parents[2] / "docs/settings.md"
    if update_goldens:
        path.write_text(page(), "utf-8")
    assert path.read_text("utf-8") == page()


def test_each_setting_has_its_own_key_variable_and_attribute() -> None:
    for part in ("key", "variable", "attribute"):
        assert len({getattr(setting, part) for setting in SETTINGS}) == len(SETTINGS)
    for setting in SETTINGS:
        assert attrgetter(setting.attribute)(Config()) == setting.default
        assert setting.variable.startswith("MCP_AQL_")
        if setting.default == ():
            assert setting.parse([]) == setting.parse("") == ()
        elif setting.default not in (None, ""):
            assert setting.parse(setting.default) == setting.default
            assert setting.parse(str(setting.default)) == setting.default


ODD_VALUES = ["", " ", "x", "{", "[]", "{x}", "a\nb", "9" * 5000, "1e999", "nan", -1, 10**30, 0.5, float("inf"), True]
ODD_VALUES += [[], [1], [[]], [{}], ["{"], {}, {"a": 1}, {"a": {}}, {"a": {"b": []}}, {1: 2}, [{"when": 1}], "[1]"]


def test_each_setting_takes_a_value_or_says_in_a_sentence_what_it_must_be() -> None:
    for setting in SETTINGS:
        for value in ODD_VALUES:
            try:
                setting.parse(value)
            except ValueError as problem:
                sentence = str(problem)
                assert re.fullmatch(
                    r"(at ['e][^:]{1,80}: )?(must|has|is missing|says|allow|a pattern is)\b.*", sentence
                ), sentence
                assert not re.search("pydantic|[Ii]nput|Value error", sentence), sentence


@pytest.mark.parametrize("key", ["http.token_file", "state.key"])
def test_a_secret_in_the_file_is_refused_with_its_variable_and_not_shown(package: Path, key: str) -> None:
    settings_file(package, f"{key} = 'hunter2'")
    variable = f"MCP_AQL_{key.removesuffix('_file').replace('.', '_').upper()}"
    with pytest.raises(ConfigError, match=f"not allowed here: set {variable}, or {variable}_FILE") as caught:
        load(package, {})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("MCP_AQL_SAFETY_LOOPS", "MCP_AQL_SAFETY_LOOP"),
        ("MCP_AQL_POLICI", "MCP_AQL_POLICY"),
        ("mcp_aql_policy", "MCP_AQL_POLICY"),
        ("MCPAQL_READ_ONLY", "MCP_AQL_READ_ONLY"),
        ("MCP_AQL_HTTP_TOKENS", "MCP_AQL_HTTP_TOKEN"),
    ],
)
def test_a_variable_that_nothing_reads_stops_the_start(package: Path, name: str, nearest: str) -> None:
    """What is misspelt would guard nothing."""
    with pytest.raises(ConfigError, match=rf"^the variable {name} is not a setting\. Did you mean '{nearest}'\? unset"):
        load(package, {name: "strict"})
    load(package, {name: ""})


def test_variables_that_are_no_settings_and_those_of_others_are_left_alone(package: Path) -> None:
    environ = {"MCP_AQL_HTTP_TOKEN_FILE": "/t", "MCP_AQL_STATE_KEY_FILE": "/k", "MCP_SERVER": "x", "ZOO_KEY": "x"}
    assert load(package, environ) == load(package, {})
    renamed = package.rename(package.parent / "mcp_aql_zoo_adapter")
    assert load(renamed, {"MCP_AQL_ZOO_TOKEN": "x"}).sources["policy"] == "default"
