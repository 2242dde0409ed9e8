"""What requests and answers must be, byte for byte: cases written from the specifications' own rules.

A `Case` is an operation of its own at `/c<number>` and one call of it; an `Answer` is one at `/a<number>` and what
comes back. Each names the place of its rule: OpenAPI 3.1.1, 3.0.4 or 3.2.0, Swagger 2.0, RFC 6570 for what is
undefined, RFC 7578 for parts of forms, RFC 9110 for the semantics of HTTP. `{B}` in a body stands for the boundary that
the content type names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .addresses import ADDRESSES
from .answers import ANSWERS
from .bodies import forms, jsons, texts
from .case import HOST, STRING, Answer, Case, ruled
from .multipart import parts
from .parameters import contents, headers, paths, places, queries, refused, values
from .schemas import EARLIER, SCHEMAS
from .styles import STYLES
from .versions import newer, older
from .xml import xmls

__all__ = [
    "ANSWERS",
    "CASES",
    "EARLIER",
    "HOST",
    "OLD_CASES",
    "Answer",
    "Case",
    "answering",
    "document",
    "old_document",
]

CASES: tuple[Case, ...] = (
    *ruled("OpenAPI 3.1.1, 4.8.12.4 Style Examples", paths()),
    *ruled("OpenAPI 3.1.1, appendix B Data Type Conversion; RFC 3986, 2.1", values()),
    *ruled("OpenAPI 3.1.1, 4.8.8.1 Path Templating; RFC 3986, 5.2.4; RFC 9110, 5.5", refused()),
    *ruled("OpenAPI 3.1.1, 4.8.12.4 Style Examples", queries()),
    *ruled("OpenAPI 3.1.1, 4.8.12.2.3 Fixed Fields with content", contents()),
    *ruled("OpenAPI 3.1.1, 4.8.12.1 Parameter Locations", headers()),
    *ruled("OpenAPI 3.1.1, 4.8.12 Parameter Object and 4.8.9 Path Item Object", places()),
    *ruled("OpenAPI 3.1.1, 4.8.14 Media Type Object", jsons()),
    *ruled("OpenAPI 3.1.1, 4.8.14.5 and 4.8.15 Encoding Object", forms()),
    *ruled("OpenAPI 3.1.1, 4.8.15 Encoding Object; RFC 7578", parts()),
    *ruled("OpenAPI 3.1.1, 4.8.14.4 Considerations for File Uploads", texts()),
    *ruled("OpenAPI 3.1.1, 4.8.26.2 XML Object Examples", xmls()),
    *ruled("OpenAPI 3.2.0, 4.12 Parameter Object", newer()),
    *STYLES,
    *ADDRESSES,
    *SCHEMAS,
)
"""Every request; its number is its place. Those of 3.2 mean the same for all of the others."""
OLD_CASES: tuple[Case, ...] = tuple(ruled("Swagger 2.0, Parameter Object, collectionFormat", older()))
"""Those of Swagger 2.0."""

NODE = {"type": "object", "properties": {"name": STRING, "child": {"$ref": "#/components/schemas/Node"}}}


def old_document(*, server: str = "wire.example.com") -> dict[str, Any]:
    """Return the Swagger 2.0 document of `OLD_CASES`."""
    paths = {
        f"/c{number}{case.path}": {
            case.method.lower(): {
                "operationId": f"case{number}",
                "summary": case.title,
                "parameters": list(case.parameters),
                "responses": {"200": {"description": "OK"}},
            }
        }
        for number, case in enumerate(OLD_CASES)
    }
    info = {"title": "Old wire", "version": "1"}
    return {"swagger": "2.0", "info": info, "host": server, "schemes": ["https"], "paths": paths}


def document(cases: Sequence[Case] = CASES, *, server: str = HOST, version: str = "3.2.0") -> dict[str, Any]:
    """Return the OpenAPI document of cases."""
    paths: dict[str, Any] = {}
    for number, case in enumerate(cases):
        operation: dict[str, Any] = {
            "operationId": f"case{number}",
            "summary": case.title,
            "parameters": list(case.parameters),
            "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": {}}}}},
        }
        if case.content is not None:
            operation["requestBody"] = {"content": case.content, "required": not case.optional}
        if case.servers:
            operation["servers"] = [{**item, "url": item["url"].replace(HOST, server)} for item in case.servers]
        path = f"/c{number}{case.path}"
        paths[path] = {case.method.lower(): operation} | ({"parameters": list(case.shared)} if case.shared else {})
    return _openapi(version, "Wire", server, paths)


def answering(answers: Sequence[Answer] = ANSWERS, *, server: str = HOST) -> dict[str, Any]:
    """Return the OpenAPI document of answers."""
    paths = {
        f"/a{number}": {
            answer.method.lower(): {
                "operationId": f"answer{number}", "summary": answer.title, "responses": answer.documented
            }
        }
        for number, answer in enumerate(answers)
    }  # fmt: skip
    return _openapi("3.2.0", "Answers", server, paths)


def _openapi(version: str, title: str, server: str, paths: dict[str, Any]) -> dict[str, Any]:
    return {
        "openapi": version,
        "info": {"title": title, "version": "1"},
        "servers": [{"url": server}],
        "paths": paths,
        "components": {"schemas": {"Node": NODE}},
    }
