"""What a slow call is advised to do: only what its operation offers and the API acts on (R-WARN-4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiny_zoo import ADAPTER, write_package
from users_api import QUERY, row

from aqlgen.runtime.table import Table
from aqlgen.runtime.warnings.thresholds import suggestions
from tests.cases import each

FILTERS = "Consider adding filters to narrow results"
PAGES = "Use pagination for large result sets"
ADAPTERS = {"in": "adapter", "schema": {}}
PAGED = {"style": "page", "page_param": "page", "size_param": "perPage", "items": "", "parameters": {"per_page": QUERY}}


@each(
    ("path", "more", "params", "expected"),
    [
        ("/a", {}, {}, []),
        ("/a/{id}", {"parameters": {"id": {"in": "path", "required": True}}}, {}, []),
        ("/a", {"parameters": {"state": QUERY}}, {}, [f"{FILTERS}: `state`"]),
        ("/a", {"parameters": {"state": QUERY, "since": QUERY}}, {}, [f"{FILTERS}: `state` or `since`"]),
        ("/a", {"parameters": dict.fromkeys("abcd", QUERY)}, {}, [f"{FILTERS}: `a`, `b` or `c`"]),
        ("/a", {"parameters": {"state": QUERY, "since": QUERY}}, {"state": "open"}, [f"{FILTERS}: `since`"]),
        ("/a", {"parameters": {"q": {**QUERY, "required": True}}}, {"q": "x"}, []),
        ("/a", {"parameters": {"q": {**QUERY, "deprecated": True}}}, {}, []),
        ("/a", {"parameters": dict.fromkeys(["sort", "order_by", "expand", "locale"], QUERY)}, {}, []),
        ("/a", {"parameters": {"per_page": QUERY, "page": QUERY}}, {}, [f"{PAGES}: a smaller `per_page`"]),
        ("/a", {"parameters": {"limit": QUERY}}, {"limit": 1}, []),
        ("/a", {"parameters": {"page_token": QUERY}}, {}, [f"{PAGES}: `page_token`"]),
        (
            "/a",
            {"parameters": {"first": {**ADAPTERS, "name": "first"}, "after": ADAPTERS}, "pagination": PAGED},
            {},
            [f"{PAGES}: a smaller `first`"],
        ),
        ("/a", {"parameters": {"fields": {**ADAPTERS, "name": "fields"}}}, {}, []),
        ("/a", {"parameters": {"fields": QUERY}}, {}, ["Ask for fewer fields: `fields`"]),
        ("/a", {"parameters": {"order_id": QUERY, "page_size": QUERY}, "verb": "get"}, {}, []),
        (
            "/a",
            {"parameters": {"start_hr": QUERY, "start": QUERY}},
            {},
            [f"{FILTERS}: `start_hr`", f"{PAGES}: `start`"],
        ),
        ("/a", {"parameters": {"order_id": QUERY, "disk_size": QUERY}}, {}, [f"{FILTERS}: `order_id` or `disk_size`"]),
        ("/users", {}, {}, ["If you know which one you need, call `get_user`"]),
        ("/a", {"method": "POST", "parameters": {"term": {"in": "body", "schema": {}}}}, {}, [f"{FILTERS}: `term`"]),
    ],
)
def test_an_operation_is_advised_of_what_it_offers(
    tmp_path: Path, path: str, more: dict[str, Any], params: dict[str, Any], expected: list[str]
) -> None:
    """R-WARN-4"""
    reads = {
        "slow": {**row(path), **more},
        "get_user": row("/users/{id}"),
        "get_user_v1": row("/users/{id}", deprecated=True),
        "list_user_roles": row("/users/{id}/roles"),
    }
    families = {family: {} for family in ("create", "update", "delete", "execute")}
    table = Table(write_package(tmp_path / "users", ADAPTER, {"read": reads, **families}))
    slow = table.find("slow")
    assert slow is not None
    assert suggestions(slow, params, table) == expected


def test_what_changes_something_is_advised_of_nothing(tmp_path: Path) -> None:
    """R-WARN-4"""
    update = row("/users", "PATCH", parameters={"q": QUERY, "limit": QUERY})
    families: dict[str, Any] = {family: {} for family in ("create", "read", "delete", "execute")}
    table = Table(write_package(tmp_path / "users", ADAPTER, {**families, "update": {"update_users": update}}))
    update_row = table.find("update_users")
    assert update_row is not None
    assert suggestions(update_row, {}, table) == []
