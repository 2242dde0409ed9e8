"""A small shop: an OpenAPI document of orders, and its generated adapter with any transport."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aqlgen.runtime.client import Api
from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter, ref, replies
from tests.generator.commands import api, run

__all__ = ["dispatcher", "document", "generated"]


def answering(schema: dict[str, Any], *statuses: str) -> dict[str, Any]:
    (answer,) = replies(schema).values()
    return dict.fromkeys(statuses, answer)


def document() -> dict[str, Any]:
    """Return the document; names on the wire are in camel case."""
    item = object_of(sku=TEXT, unitPrice={"type": "number"})
    properties = {
        "customer": object_of(emailAddress=TEXT, name=TEXT),
        "lineItems": list_of(item),
        "note": TEXT,
        "tags": list_of(TEXT),
        "metadata": {"type": "object", "additionalProperties": TEXT},
    }
    order, many, gone = ref("Order"), list_of(ref("Order")), replies(status="204")
    product, shelf = object_of("name", name=TEXT, price={"type": "number"}), object_of(label=TEXT, size=INTEGER)

    def does(name: str, summary: str, responses: Any, sent: Any = None, *parameters: Any) -> dict[str, Any]:
        body = {} if sent is None else {"requestBody": body_of(sent)}
        entry = {"operationId": name, "summary": summary, "parameters": list(parameters)}
        return {**entry, **body, "responses": responses}

    size, condition = parameter("pageSize", schema=INTEGER), parameter("If-None-Match", "header")
    pages = [parameter(name, schema=INTEGER) for name in ("page", "perPage")]
    products, number = object_of(items=list_of(product), total={}), parameter("number", "path", INTEGER)
    answers, new = answering(order, "201", "200", "202"), ref("NewOrder")
    operations = {
        "GET /orders": does("listOrders", "List orders", replies(many), None, size),
        "POST /orders": does("createOrder", "Create an order", answers, new, condition),
        "GET /orders/{orderId}": does("getOrder", "Get an order", replies(order)),
        "PATCH /orders/{orderId}": does("updateOrder", "Update an order", replies(order) | gone, new),
        "DELETE /orders/{orderId}": does("deleteOrder", "Delete an order", gone),
        "POST /orders/{orderId}/cancel": does("cancelOrder", "Cancel an order", replies(order)),
        "POST /reports": does("createReport", "Create a report", answering(many, "201", "202")),
        "GET /products": does("listProducts", "List products", replies(products), None, *pages),
        "GET /products/{productId}": does("getProduct", "Get a product", replies(product)),
        "PUT /products/{productId}": does("replaceProduct", "Replace a product", replies(product), product),
        "PATCH /shelves/{label}": does("updateShelf", "Change a shelf", gone, shelf),
        "GET /shelves/{number}": does("getShelf", "Get a shelf", replies(shelf), None, number),
        "POST /shelves/{label}/books": does(
            "addBook", "Add a book to a shelf", replies(status="201"), object_of(title=TEXT, **{"file.csv": TEXT})
        ),
    }
    schemas = {"NewOrder": object_of(**properties), "Order": object_of(orderId=TEXT, location=TEXT, **properties)}
    servers = [{"url": "https://shop.example.com"}]
    return api(operations, servers=servers, components={"schemas": schemas})


def generated(folder: Path) -> Path:
    """Generate the adapter and return its package."""
    file = folder / "shop.json"
    file.write_text(json.dumps(document()), encoding="utf-8")
    assert run("from-openapi", file, "-o", folder / "project", "-q").code == 0
    return next((folder / "project" / "src").iterdir())


def dispatcher(package: Path, transport: Any, base_url: str | None = None) -> Dispatcher:
    """Return the dispatcher of the adapter, which asks nobody, over a transport."""
    loaded, table = Adapter.load(package), Table(package)
    side = Api(loaded, table, transport, Config(base_url=base_url), environ={})
    return Dispatcher(loaded, table, side, Config(policy="open"), Parts(masked=side.masked))
