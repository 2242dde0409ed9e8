"""Where requests go: variables of the document's servers, relative ones, and none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.cli.doctor import doctor, render_doctor
from aqlgen.runtime.settings.load import ConfigError

from .hand_made import Make, operation

ZONES = {
    "url": "https://{zone}.example.com/{tenant}",
    "variables": {"zone": {"default": "eu", "enum": ["eu", "us"]}, "tenant": {"default": "a"}},
}


def test_variables_take_the_owners_values(package: Make) -> None:
    pets = package({"op": operation()}, adapter={"servers": [ZONES]}, server_variables={"zone": "us"})
    assert pets.build({}).url == "https://us.example.com/a/pets"


def test_an_operations_relative_server_is_relative_to_the_documents(package: Make) -> None:
    rows = {"op": operation(servers=[{"url": "/files"}])}
    pets = package(rows, adapter={"servers": [{"url": "https://api.example.com/v1"}]})
    assert pets.build({}).url == "https://api.example.com/files/pets"


@pytest.mark.parametrize(
    ("setting", "message"),
    [("zone=mars", "none of eu, us"), ("zoon=eu", "not a variable"), ("zone", "NAME=VALUE"), ("tenant=a/?b", "blanks")],
)
def test_a_bad_variable_is_a_bad_setting(package: Make, tmp_path: Any, setting: str, message: str) -> None:
    package({"op": operation()}, adapter={"servers": [ZONES]})
    environ = {"MCP_AQL_SERVER_VARIABLES": setting, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_CONFIG": ""}
    with pytest.raises(ConfigError, match=message):
        assemble(tmp_path, environ=environ)


def test_the_file_has_a_table_for_them(package: Make, tmp_path: Any) -> None:
    package({"op": operation()}, adapter={"servers": [ZONES]})
    (tmp_path / "adapter.toml").write_text('[server.variables]\nzone = "us"\n')
    report = doctor(tmp_path, {"MCP_AQL_STATE_URL": "memory:"})
    assert report["base_url"] == "https://us.example.com/a"


def test_doctor_says_when_an_address_is_needed(package: Make, tmp_path: Any) -> None:
    package({"op": operation()}, adapter={"servers": [{"url": "/v1"}]})
    report = doctor(tmp_path, {"MCP_AQL_STATE_URL": "memory:"})
    assert report["base_url"] is None
    assert "set MCP_AQL_BASE_URL" in render_doctor(json.loads(json.dumps(report, default=str)))
