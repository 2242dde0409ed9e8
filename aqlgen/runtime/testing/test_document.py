"""The adapter against the API's document, which a witness reads a second time: it knows nothing of the table."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from ..hooks import Hooks, import_hooks
from ..witness import Grade, Request, Witness
from .sessions import FOLDER, MOST_SHOWN, PACKAGE, SAMPLE, Session, base_url, callable_operations, connect

_GRAVE = (Grade.BROKEN, Grade.WRONG)


class Recorded:
    """A session as the witness needs it: each request is kept, and answered by the witness."""

    def __init__(self, witness: Witness) -> None:
        self.witness = witness
        self.session: Session | None = None
        self._arrived: list[Request] = []

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        """Keep a request and answer it."""
        arrived = Request(request.method, str(request.url), tuple(request.headers.items()), request.content)
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
    """R-INT-2, R-INT-4, R-INT-5, R-INT-7, R-ENV-1, R-REQ-4, R-SEL-1, R-SEL-3"""
    witness = Witness(FOLDER.parents[1])
    if not witness.documents:
        pytest.skip("the project has no OpenAPI document")
    missing = witness.documents if not all(witness.addresses.values()) else ()
    witness.base = addresses = {each.api: f"https://api{each.api}.invalid{each.base_path}" for each in missing}
    adapter = Recorded(witness)
    network = httpx2.MockTransport(adapter.respond)
    settings: dict[str, Any] = {"MCP_AQL_AUTH_ALLOW_HTTP": "1", "MCP_AQL_BASE_URL": base_url(addresses)}
    async with connect(mock=False, network=network, **settings) as session:
        adapter.session = session
        findings = await witness.examine(adapter, SAMPLE)
    grave = [str(finding) for finding in findings if finding.grade in _GRAVE]
    for finding in findings:
        if finding.grade not in _GRAVE:
            warnings.warn(str(finding), stacklevel=1)
    assert not grave, f"{len(grave)} findings\n" + "\n".join(grave[:MOST_SHOWN])


async def test_each_hook_is_called_once_for_a_call() -> None:
    """R-LOOP-6"""
    owners = Hooks.load(import_hooks(f"{PACKAGE}.hooks"))
    hooks = {name: hook for name, hook in owners._asdict().items() if hook and name != "on_step"}
    rows = [row for row in callable_operations() if row.family == "read"]
    if not hooks or not rows:
        pytest.skip("the project has no hooks, or no read to call")
    calls: Counter[str] = Counter()

    def counted(name: str) -> Callable[..., Any]:
        def hook(*arguments: Any) -> Any:
            calls[name] += 1
            return hooks[name](*arguments)

        return hook

    async with connect(hooks=SimpleNamespace(**{name: counted(name) for name in hooks})) as session:
        answer = await session.call(rows[0])
    code = answer.get("error", {}).get("code")  # a hook may refuse the call; those after it are not called then
    assert calls == dict.fromkeys(hooks, 1) if answer["success"] else code != "INTERNAL_ERROR", answer
