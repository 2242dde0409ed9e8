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
THING = {"type": "object", "properties": {"state": {}, "kind": {}, "ownerId": {"x-name": "ownerId"}, "size": {}}}
GIVEN = {"200": {"content_type": "application/json", "schema": {"type": "array", "items": THING}}}


@each(
    ("path", "more", "params", "expected"),
    [
        ("/a", {}, {}, []),
        ("/a/{id}", {"parameters": {"id": {"in": "path", "required": True}}}, {}, []),
        ("/a", {"parameters": {"state": QUERY, "sort": QUERY}}, {}, [f"{FILTERS}: `state`"]),
        ("/a", {"parameters": {"state": QUERY, "owner_id": QUERY}}, {}, [f"{FILTERS}: `state`, `owner_id`"]),
        ("/a", {"parameters": {"state": QUERY, "kind": QUERY}}, {"state": "open"}, [f"{FILTERS}: `kind`"]),
        ("/a", {"parameters": {"state": {**QUERY, "deprecated": True}}}, {}, []),
        ("/a", {"parameters": dict.fromkeys(["sort", "order_by", "expand", "locale"], QUERY)}, {}, []),
        ("/a", {"parameters": {"state": QUERY}, "verb": "get"}, {}, []),
        (
            "/a",
            {"parameters": {"first": {**ADAPTERS, "name": "first"}, "after": ADAPTERS}, "pagination": PAGED},
            {},
            [f"{PAGES}: a smaller `first`"],
        ),
        (
            "/a",
            {"parameters": {"first": {**ADAPTERS, "name": "first"}, "after": ADAPTERS}, "pagination": PAGED},
            {"first": 1},
            [],
        ),
        ("/a", {"parameters": {"fields": {**ADAPTERS, "name": "fields"}}}, {}, []),
        ("/a", {"method": "POST", "parameters": {"kind": {"in": "body", "schema": {}}}}, {}, [f"{FILTERS}: `kind`"]),
    ],
)
def test_an_operation_is_advised_of_what_it_offers(
    tmp_path: Path, path: str, more: dict[str, Any], params: dict[str, Any], expected: list[str]
) -> None:
    """R-WARN-4"""
    reads = {
        "slow": {**row(path), "responses": GIVEN, **more},
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
