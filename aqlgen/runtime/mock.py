# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Stands in for the API with the document's own examples, or with what fits its schemas; no network, no account."""

from __future__ import annotations

import base64
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from .bodies import is_json, is_text, media_type
from .decode import declared
from .samples import sample
from .table import Row, Table
from .wire import ApiRequest, ApiResponse

__all__ = ["MockTransport"]


class MockTransport:
    """Answers each operation with the same response, made at its first call.

    `offline` tells the builder of requests that neither a server nor a credential is needed.
    """

    offline = True

    def __init__(self, table: Table, folder: Path) -> None:
        self._table = table
        self._folder = folder
        self._answers: dict[str, ApiResponse] = {}

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:  # noqa: ARG002 - the protocol gives both
        """Give the operation's answer; the request is not looked into."""
        answer = self._answers.get(row.name)
        if answer is None:
            answer = self._answers[row.name] = self._answer(row)
        return answer

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""

    @cached_property
    def _examples(self) -> dict[str, dict[str, Any]]:
        try:
            examples: dict[str, dict[str, Any]] = json.loads((self._folder / "mock.json").read_bytes())
        except FileNotFoundError:
            return {}
        return examples

    def _answer(self, row: Row) -> ApiResponse:
        example = self._examples.get(row.name)
        if example is not None:
            kind = example.get("content_type") or "application/json"
            return _response(example.get("status", 200), kind, example.get("body"), given="body" in example)
        status = _status(row)
        answer = declared(row, status)
        kind = str(answer.get("content_type") or "")
        if not kind:
            return ApiResponse(status, {}, b"")
        if is_json(media_type(kind)) or "*" in kind:
            return _response(status, "application/json", sample(self._table, answer.get("schema", {})), given=True)
        return _response(status, kind, "example", given=True)


def _status(row: Row) -> int:
    """Give the first success status that the document names; 200 when it names none."""
    for key in row.responses:
        if key.isdigit() and 200 <= int(key) < 300:
            return int(key)
    return 200


def _response(status: int, content_type: str, body: Any, *, given: bool) -> ApiResponse:
    kind = media_type(content_type)
    if not given:
        return ApiResponse(status, {}, b"")
    if is_json(kind) or not isinstance(body, str):
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    elif is_text(kind):
        content = body.encode("utf-8", "replace")
    else:
        try:
            content = base64.b64decode(body, validate=True)
        except ValueError:
            content = body.encode("utf-8", "replace")
    return ApiResponse(status, {"content-type": content_type}, content)
