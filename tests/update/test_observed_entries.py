"""What was observed of the API, beside newer documents of it (R-LEARN-1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.update.repos import Repo, grown, operation

SEEN = """\
GET /orders:
  pagination: {style: offset, offset_param: skip, items: /orders}
  why: "observed 2026-11-24: two pages by skip"
PATCH /orders/{id}:
  send: named
  parameters: {size: {type: [integer, "null"]}, note: {type: [string, "null"]}}
  why: "observed 2026-11-24: answers have null"
POST /boards:
  reversible: true
  why: "observed 2026-11-24: the delete took it away"
"""


def document(size: str, *query: str, deletes: bool = True) -> dict[str, Any]:
    """Return a shop with orders, whose list takes these parameters."""
    whole = {"type": "object", "properties": {"size": {"type": size}, "note": {"type": "string"}}}
    listed = {"type": "object", "properties": {"orders": {"type": "array", "items": whole}}}
    body = {"required": True, "content": {"application/json": {"schema": whole}}}
    content = {"content": {"application/json": {"schema": listed}}}
    parameters = [{"name": name, "in": "query", "schema": {"type": "integer"}} for name in ("skip", "limit", *query)]
    return grown(
        orders={
            "get": operation("listOrders", parameters=parameters, responses={"200": {"description": "", **content}}),
            "post": operation("createOrder", requestBody=body),
        },
        boards={"post": operation("createBoard", requestBody=body)},
        **{
            "boards/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                **({"delete": operation("deleteBoard")} if deletes else {"get": operation("getBoard")}),
            },
            "orders/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "patch": operation("updateOrder", requestBody=body),
                "delete": operation("deleteOrder"),
            },
        },
    )


def contradictions(done: Any) -> list[tuple[int, int, str]]:
    code = "contradicted-observation"
    return [
        (warning["line"], warning["column"], warning["message"])
        for warning in done["warnings"]
        if warning["code"] == code
    ]


def test_an_update_keeps_what_was_observed_and_says_where_a_newer_document_contradicts_it(
    repo: Repo, spec: Callable[[Any], Path]
) -> None:
    """R-LEARN-1"""
    repo.changed("--spec", spec(document("integer")))
    repo.write("overrides.yaml", SEEN)
    repo.commit()
    assert contradictions(repo.changed()) == []
    repo.commit()
    text = "the document changed {} since its `{}` was observed on 2026-11-24"
    assert contradictions(repo.changed("--spec", spec(document("integer", deletes=False)))) == [
        (9, 15, text.format("POST /boards", "reversible"))
    ]
    repo.commit()
    assert contradictions(repo.changed("--spec", spec(document("number", "page", deletes=False)))) == [
        (2, 15, text.format("GET /orders", "pagination")),
        (6, 16, text.format("PATCH /orders/{id}", "parameters.size")),
    ]
    assert repo.read("overrides.yaml") == SEEN
