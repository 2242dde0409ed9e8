# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Every type that introspection names can be shown by introspection (R-INT-5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .findings import Findings
from .sessions import connect
from .table import operations

BASIC = {"string", "number", "integer", "boolean", "array", "object", "null", "any"}
PROTOCOL = {
    "SemanticCategory",
    "OperationInput",
    "OperationResult",
    "OperationSuccess",
    "OperationFailure",
    "EndpointPermissions",
    "FieldSelection",
}


async def test_every_type_that_is_named_can_be_shown() -> None:
    findings = Findings()
    async with connect() as session:
        wanted = {entry["name"]: "the list of types" for entry in await session.listed("types")}
        findings.expect(wanted.keys() >= PROTOCOL, "the list", f"lacks {sorted(PROTOCOL - wanted.keys())}")
        for operation in operations():
            details = (await session.introspect("operations", operation.name))["data"]["operation"]
            for name in (details["returns"]["name"], *_named(details["parameters"])):
                wanted.setdefault(name, operation.name)
        seen = set(BASIC)
        while todo := wanted.keys() - seen:
            for name in sorted(todo):
                seen.add(name)
                answer = await session.introspect("types", name, whole=True)
                shown = (answer.get("data") or {}).get("type")
                findings.expect(shown is not None, name, f"cannot be shown; named by {wanted[name]}", answer)
                for inner in _named((shown or {}).get("fields", ())):
                    wanted.setdefault(inner, name)
                for inner in (shown or {}).get("members", ()):
                    wanted.setdefault(inner, name)
    findings.check()


async def test_an_unknown_type_is_null() -> None:
    """R-INT-2"""
    async with connect() as session:
        answer = await session.introspect("types", "NoSuchTypeAnywhere")
    assert answer == {"success": True, "data": {"type": None}}


def _named(entries: Any) -> Iterator[str]:
    """Yield the type of each entry, and of what its arrays hold."""
    for entry in entries:
        inner: Mapping[str, Any] | None = entry
        while inner is not None:
            if "type" in inner:
                yield inner["type"]
            inner = inner.get("items")
