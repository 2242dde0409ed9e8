# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapter against the API's document, which a witness reads a second time: it knows nothing of the table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from ..witness import Grade, Request, Witness
from .sessions import FOLDER, SAMPLE, Session, connect

_GRAVE = (Grade.BROKEN, Grade.WRONG)


class Recorded:
    """A session as the witness needs it: each request is kept, and answered by the witness."""

    def __init__(self, witness: Witness) -> None:
        self.witness = witness
        self.session: Session | None = None
        self._arrived: list[Request] = []

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        """Keep a request and answer it."""
        headers = tuple(request.headers.items())
        arrived = Request(request.method, str(request.url), headers, request.content)
        self._arrived.append(arrived)
        answer = self.witness.answer(arrived)
        return httpx2.Response(answer.status, headers=dict(answer.headers), content=answer.content)

    def requests(self) -> list[Request]:
        arrived, self._arrived = self._arrived, []
        return arrived

    async def introspect(self, **params: Any) -> Mapping[str, Any]:
        return (await self.call("read", "introspect", params)).get("data") or {}

    async def call(self, family: str, operation: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        assert self.session is not None
        return await self.session.send(family, operation, params)


async def test_every_operation_is_what_the_document_has() -> None:
    """R-INT-2, R-INT-4, R-ENV-1, R-SEL-3"""
    witness = Witness(FOLDER.parents[1])
    if not witness.documents:
        pytest.skip("the project has no OpenAPI document")
    addresses = witness.addresses
    witness.base = "" if all(addresses.values()) else f"https://api.invalid{witness.documents[0].base_path}"
    settings: dict[str, Any] = {"MCP_AQL_AUTH_ALLOW_HTTP": "1"} | (
        {"MCP_AQL_BASE_URL": witness.base} if witness.base else {}
    )
    recorded = Recorded(witness)
    async with connect(mock=False, network=httpx2.MockTransport(recorded.respond), **settings) as session:
        recorded.session = session
        findings = await witness.examine(recorded, SAMPLE)
    for finding in findings:
        if finding.grade not in _GRAVE:
            warnings.warn(str(finding), stacklevel=1)
    grave = [str(finding) for finding in findings if finding.grade in _GRAVE]
    assert not grave, f"{len(grave)} findings\n" + "\n".join(grave[:25])
