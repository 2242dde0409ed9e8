"""A small shop: an OpenAPI document of orders, and its generated adapter with any transport."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aqlgen.runtime.client import Api
from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from tests.generator.commands import run

__all__ = ["dispatcher", "document", "generated"]

STRING: dict[str, Any] = {"type": "string"}


def _content(schema: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    return {"content": {kind: {"schema": schema}}}


def _answers(schema: dict[str, Any], *statuses: str) -> dict[str, Any]:
    return {status: {"description": "Done", **_content(schema)} for status in statuses}


def document() -> dict[str, Any]:
    """Return the document; names on the wire are in camel case."""
    order = {"$ref": "#/components/schemas/Order"}
    new_order = {"required": True, **_content({"$ref": "#/components/schemas/NewOrder"})}
    order_id = {"name": "orderId", "in": "path", "required": True, "schema": STRING}
    page_size = {"name": "pageSize", "in": "query", "schema": {"type": "integer"}}
    condition = {"name": "If-None-Match", "in": "header", "schema": STRING}
    item = {"type": "object", "properties": {"sku": STRING, "unitPrice": {"type": "number"}}}
    customer = {"type": "object", "properties": {"emailAddress": STRING, "name": STRING}}
    properties = {
        "customer": customer,
        "lineItems": {"type": "array", "items": item},
        "note": STRING,
        "tags": {"type": "array", "items": STRING},
        "metadata": {"type": "object", "additionalProperties": STRING},
    }
    paths: dict[str, Any] = {
        "/orders": {
            "get": {
                "operationId": "listOrders",
                "summary": "List orders",
                "parameters": [page_size],
                "responses": _answers({"type": "array", "items": order}, "200"),
            },
            "post": {
                "operationId": "createOrder",
                "summary": "Create an order",
                "parameters": [condition],
                "requestBody": new_order,
                "responses": _answers(order, "201", "200", "202"),
            },
        },
        "/orders/{orderId}": {
            "parameters": [order_id],
            "get": {"operationId": "getOrder", "summary": "Get an order", "responses": _answers(order, "200")},
            "patch": {
                "operationId": "updateOrder",
                "summary": "Update an order",
                "requestBody": new_order,
                "responses": _answers(order, "200") | {"204": {"description": "Nothing"}},
            },
            "delete": {
                "operationId": "deleteOrder",
                "summary": "Delete an order",
                "responses": {"204": {"description": "Gone"}},
            },
        },
        "/orders/{orderId}/cancel": {
            "parameters": [order_id],
            "post": {"operationId": "cancelOrder", "summary": "Cancel an order", "responses": _answers(order, "200")},
        },
        "/reports": {
            "post": {
                "operationId": "createReport",
                "summary": "Create a report",
                "responses": _answers({"type": "array", "items": order}, "201", "202"),
            }
        },
    }
    product = {"type": "object", "required": ["name"], "properties": {"name": STRING, "price": {"type": "number"}}}
    product_id = {"name": "productId", "in": "path", "required": True, "schema": STRING}
    pages = [{"name": name, "in": "query", "schema": {"type": "integer"}} for name in ("page", "perPage")]
    listed = {"type": "object", "properties": {"items": {"type": "array", "items": product}, "total": {}}}
    paths["/products"] = {
        "get": {
            "operationId": "listProducts",
            "summary": "List products",
            "parameters": pages,
            "responses": _answers(listed, "200"),
        }
    }
    paths["/products/{productId}"] = {
        "parameters": [product_id],
        "get": {"operationId": "getProduct", "summary": "Get a product", "responses": _answers(product, "200")},
        "put": {
            "operationId": "replaceProduct",
            "summary": "Replace a product",
            "requestBody": {"required": True, **_content(product)},
            "responses": _answers(product, "200"),
        },
    }
    label = {"name": "label", "in": "path", "required": True, "schema": STRING}
    shelf = {"type": "object", "properties": {"label": STRING, "size": {"type": "integer"}}}
    paths["/shelves/{label}"] = {
        "parameters": [label],
        "patch": {
            "operationId": "updateShelf",
            "summary": "Change a shelf",
            "requestBody": {"required": True, **_content(shelf)},
            "responses": {"204": {"description": "Done"}},
        },
    }
    number = {"name": "number", "in": "path", "required": True, "schema": {"type": "integer"}}
    paths["/shelves/{number}"] = {
        "get": {
            "operationId": "getShelf",
            "summary": "Get a shelf",
            "parameters": [number],
            "responses": _answers(shelf, "200"),
        },
    }
    paths["/shelves/{label}/books"] = {
        "post": {
            "operationId": "addBook",
            "summary": "Add a book to a shelf",
            "parameters": [label],
            "requestBody": {"required": True, **_content({"type": "object", "properties": {"title": STRING}})},
            "responses": {"201": {"description": "Done"}},
        },
    }
    schemas = {
        "NewOrder": {"type": "object", "properties": properties},
        "Order": {"type": "object", "properties": {"orderId": STRING, "location": STRING, **properties}},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://shop.example.com"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def generated(folder: Path) -> Path:
    """Generate the adapter and return its package."""
    file = folder / "shop.json"
    file.write_text(json.dumps(document()), encoding="utf-8")
    assert run("from-openapi", file, "-o", folder / "project", "-q").code == 0
    return next((folder / "project" / "src").iterdir())


def dispatcher(package: Path, transport: Any, base_url: str | None = None) -> Dispatcher:
    """Return the dispatcher of the adapter, which asks nobody, over a transport."""
    table, adapter = Table(package), Adapter.load(package)
    api = Api(adapter, table, transport, Config(base_url=base_url), environ={})
    return Dispatcher(adapter, table, api, Config(policy="open"), Parts(masked=api.masked))
