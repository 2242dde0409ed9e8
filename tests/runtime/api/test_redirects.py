"""Redirects: followed where that is safe, and never with a credential to another host."""

from __future__ import annotations

import httpx2
import pytest

from tests.attacks.test_redirects import API, SECRET, follow, request
from tests.cases import each


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_read_is_followed_on_its_own_host_with_its_credentials(status: int, method: str) -> None:
    answer, seen = follow(request(method=method), status, "/b?c=d")
    assert answer.status == 200
    assert (seen[1].method, str(seen[1].url)) == (method, f"{API}/b?c=d")
    assert seen[1].headers["x-api-key"] == SECRET


@each("location", ["https://files.example.net/b", "//files.example.net/b", f"{API}:8443/b"])
def test_a_read_is_followed_to_another_origin_with_nothing_that_the_api_was_given(location: str) -> None:
    """R-TRUST-2"""
    answer, seen = follow(request(url=f"{API}/a?key={SECRET}"), 302, location)
    assert answer.content == b"there"
    assert SECRET not in str(seen[1].url)
    assert not any(SECRET in value for value in seen[1].headers.values())
    assert "x-id" not in seen[1].headers
    assert seen[1].headers["accept"] == "application/json"


@each(
    "location",
    [
        "http://api.example.com/b",
        "http://files.example.net/b",
        "https://user:word@files.example.net/b",
        "https://[bad",
        "file:///etc/passwd",
    ],
)
def test_a_redirect_that_is_not_safe_is_given_back(location: str) -> None:
    answer, seen = follow(request(), 302, location)
    assert answer.status == 302
    assert len(seen) == 1


def test_encryption_may_be_gained_on_the_way() -> None:
    _, seen = follow(request(url="http://api.example.com/a"), 301, "https://api.example.com/a")
    assert seen[1].headers["x-api-key"] == SECRET


@each(("status", "location"), [(307, "https://other.example.net/b"), (308, f"{API}:1/b"), (301, "/b"), (302, "/b")])
def test_a_change_goes_nowhere_else(status: int, location: str) -> None:
    answer, seen = follow(request(method="POST", content=b"body"), status, location)
    assert answer.status == status
    assert len(seen) == 1


def test_a_303_after_a_change_reads_its_result() -> None:
    answer, seen = follow(request(method="POST", content=b"body"), 303, "/result")
    assert (seen[1].method, seen[1].content) == ("GET", b"")
    assert "content-type" not in seen[1].headers
    assert seen[1].headers["x-api-key"] == SECRET
    assert answer.content == b"there"


def test_a_change_that_was_carried_out_does_not_fail_with_the_reading_of_its_result() -> None:
    answer, _ = follow(request(method="POST"), 303, "/result", then=lambda _: httpx2.Response(500))
    assert (answer.status, answer.headers["location"]) == (303, "/result")

    def broken(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadError("no")

    answer, _ = follow(request(method="POST"), 303, "/result", then=broken)
    assert answer.status == 303
