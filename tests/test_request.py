"""The part of a request that a project records: the document's public URL."""

from __future__ import annotations

import pytest

from aqlgen.document.request import Request


@pytest.mark.parametrize("spec", ["https://api.example/openapi.json", "http://localhost:8000/spec.yaml"])
def test_an_address_without_secrets_is_recorded(spec: str) -> None:
    assert Request.of(spec, [], [], []).public_url == spec


@pytest.mark.parametrize(
    "spec",
    [
        "openapi.yaml",
        "-",
        "/srv/https/openapi.yaml",
        "file:///srv/openapi.yaml",
        "https://user:secret@api.example/openapi.json",
        "https://token@api.example/openapi.json",
        "https://api.example/openapi.json?key=secret",
        "https://api.example/openapi.json#secret",
        "https://api.example/open\napi.json",
    ],
)
def test_what_is_no_address_or_may_hold_a_secret_is_not_recorded(spec: str) -> None:
    assert Request.of(spec, [], [], []).public_url == ""


def test_an_address_that_wants_a_header_is_not_recorded() -> None:
    asked = Request.of("https://api.example/openapi.json", ["Authorization: Bearer x"], [], [])
    assert asked.public_url == ""
