"""A stand-in for the API: the document's own examples, or samples of its schemas, as `mock.json` has them."""

from __future__ import annotations

import base64
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from ..decode import declared_response
from ..table import Row, Table
from ..wire import JSON, ApiRequest, ApiResponse, current_spending, is_json, is_text


class MockTransport:
    """A transport that answers each operation with the same response, built at its first call.

    `offline` tells the builder of requests that neither a server nor a credential is needed.
    """

    offline = True

    def __init__(self, table: Table, folder: Path) -> None:
        self._table = table
        self._folder = folder
        self._responses: dict[str, ApiResponse] = {}

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:  # noqa: ARG002 - the protocol gives both
        """Return the operation's response; the request is not read, but counts."""
        spending = current_spending()
        if spending is not None:
            await spending.admit(row)
        response = self._responses.get(row.name)
        if response is None:
            response = self._responses[row.name] = self._response(row)
        return response

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""

    @cached_property
    def _examples(self) -> dict[str, dict[str, Any]]:
        try:
            examples: dict[str, dict[str, Any]] = json.loads((self._folder / "mock.json").read_bytes())
        except FileNotFoundError:
            return {}
        return examples

    def _response(self, row: Row) -> ApiResponse:
        """Return the response of an operation, which is a success though the example be of a failure."""
        from ..decode.declared_failures import as_success, declared_failure

        response = self._example(row)
        declared = declared_response(row, response.status)
        schema = declared.get("schema") or {}
        try:
            data = json.loads(response.content)
        except ValueError:
            return response
        if not isinstance(data, dict) or not declared_failure(response, data, row, {}, self._table, schema):
            return response
        content_type = response.headers["content-type"]
        return _encode_response(response.status, content_type, as_success(data, schema, self._table.types))

    def _example(self, row: Row) -> ApiResponse:
        example = self._examples.get(row.name, {})
        status = example.get("status", 200)
        if "body" not in example:
            return ApiResponse(status, {}, b"")
        return _encode_response(status, example.get("content_type") or JSON, example["body"])


def _encode_response(status: int, content_type: str, body: Any) -> ApiResponse:
    if is_json(content_type) or not isinstance(body, str):
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    elif is_text(content_type):
        content = body.encode("utf-8", "replace")
    else:
        try:
            content = base64.b64decode(body, validate=True)
        except ValueError:
            content = body.encode("utf-8", "replace")
    return ApiResponse(status, {"content-type": content_type}, content)
