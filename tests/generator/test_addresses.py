"""Addresses of a document that are hardly those of the API are noted where they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import api, run, tabulate

GET = {"get": {"operationId": "getPet", "responses": {"200": {"description": "ok"}}}}


@pytest.mark.parametrize(
    ("servers", "code", "words"),
    [
        (
            [{"url": "https://your-domain.acme.dev"}],
            "placeholder-address",
            "'your-domain' is a placeholder for your name",
        ),
        ([{"url": "https://{tenant}.acme.dev"}], "placeholder-address", "'{tenant}' is to be filled in"),
        ([{"url": "http://localhost:8080"}], "placeholder-address", "is local"),
        ([{"url": "/v1"}], "no-server", "'/v1' is not complete"),
    ],
)
def test_an_address_to_be_set_is_noted_with_its_setting(tmp_path: Path, servers: Any, code: str, words: str) -> None:
    (note,) = tabulate(tmp_path, api({"/pet": GET}, servers=servers)).findings("placeholder-address", "no-server")
    assert (note["code"], words in note["message"], note["column"] > 1) == (code, True, True)
    assert "Set MCP_AQL_" in note["suggestion"]


def test_a_real_address_is_not_noted_and_that_of_an_operation_is_looked_at_too(tmp_path: Path) -> None:
    servers = [{"url": "https://api.acme.dev"}]
    assert not tabulate(tmp_path, api({"/pet": GET}, servers=servers)).findings("placeholder-address", "no-server")
    paths = {"/pet": {**GET, "servers": [{"url": "https://<region>.acme.dev"}]}, "/pot": GET}
    (note,) = tabulate(tmp_path, api(paths, servers=servers)).findings("placeholder-address")
    assert "'<region>' is to be filled in" in note["message"]


def test_the_summary_says_that_an_address_looks_like_a_placeholder(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "openapi: 3.1.0\ninfo: {title: Pets, version: '1'}\nservers: [{url: 'https://api.example.com'}]\n"
        "paths: {/pet: {get: {responses: {'200': {description: ok}}}}}\n"
    )
    result = run("from-openapi", spec, "-o", tmp_path / "project", "--dry-run")
    assert "looks like a placeholder: example.com is reserved for documentation" in result.out
    assert "set MCP_AQL_BASE_URL" in result.out
