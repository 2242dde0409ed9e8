"""The gatekeeper as a client meets it: what is asked about, what a token is good for, what stays secret."""

from __future__ import annotations

import json
from base64 import b64decode
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio

from aqlgen.conformance.connection import Adapter, connect, served_over_http
from aqlgen.conformance.operations import Operation
from aqlgen.conformance.results import Category, Result
from aqlgen.conformance.run import Setup, check
from aqlgen.conformance.stand_in import Arrived, Reply, StandIn, serve

_MODERN, _LEGACY = "2026-07-28", "2025-11-25"
_SHORTEST = 10
"""Seconds that a token is good for at least."""


def grave_of(setup: Setup, level: tuple[str, ...] = ("destructive", "dangerous")) -> list[Operation]:
    """Return some operations of these levels of danger, all of whose calls are."""
    return [item for item in setup.callable if item.always_is(level) and not item.row.servers][:3]


async def asked_about(adapter: Adapter, operation: Operation, result: Result, api: StandIn) -> str | None:
    """Call an operation that asks; returns its token."""
    api.arrived = []
    envelope = await adapter.call(operation.family, operation.name, operation.params or {})
    details = envelope.details
    token = details.get("confirmation_token")
    right = envelope.code == "CONFIRMATION_REQUIRED" and str(token).startswith("conf_")
    right = right and bool(details.get("expires_at"))
    result.expect(right, operation.name, "is not asked about", envelope)
    confirmation = envelope.get("confirmation") or {}
    result.expect(bool(confirmation.get("message")), operation.name, "is asked about without a question", envelope)
    result.expect(confirmation.get("token") == token, operation.name, "has no confirmation beside the error", envelope)
    writes = [request for request in api.arrived if request.method == operation.row.method]
    result.expect(not writes, operation.name, "is sent before it is confirmed", envelope)
    return str(token) if right else None


@check("SA-1", "A grave call runs once, after it was confirmed with its own token", Category.SAFETY, "R-SAFE-3",
      where="alone")  # fmt: skip
async def confirmations(setup: Setup, result: Result) -> None:
    """Ask, alter, confirm, repeat."""
    launch = setup.launch.with_variables(MCP_AQL_POLICY="standard", MCP_AQL_APPROVAL="agent")
    async with connect(launch, _LEGACY) as adapter:
        for operation in grave_of(setup):
            token = await asked_about(adapter, operation, result, setup.api)
            if token is None:
                continue
            await _misused(adapter, operation, token, result, setup.api)
            call, params = operation.family, operation.params or {}
            setup.api.arrived = []
            done = await adapter.call(call, operation.name, {**params, "_confirmation": token})
            writes = [request for request in setup.api.arrived if request.method == operation.row.method]
            right = done.ok and len(writes) == 1
            result.expect(right, operation.name, f"does not run once it is confirmed ({len(writes)} requests)", done)
            setup.api.arrived = []
            again = await adapter.call(call, operation.name, params, confirmation_token=token)
            result.expect(again.code == "TOKEN_ALREADY_USED", operation.name, "takes a token twice", again)
            result.expect(not setup.api.arrived, operation.name, "is sent with a used token", again)


async def _misused(adapter: Adapter, operation: Operation, token: str, result: Result, api: StandIn) -> None:
    params = operation.params or {}
    forged = token[:-6] + ("AAAAAA" if not token.endswith("AAAAAA") else "BBBBBB")
    api.arrived = []
    answer = await adapter.call(operation.family, operation.name, params, confirmation_token=forged)
    result.expect(answer.code == "TOKEN_INVALID", operation.name, "takes a forged token", answer)
    text = next((name for name, value in params.items() if isinstance(value, str | int)), None)
    if text is not None and operation.schema(operation.row.parameters[text]).get("type") in ("string", "integer"):
        value = params[text]
        other = {**params, text: value + 1 if isinstance(value, int) else value + "1"}
        answer = await adapter.call(operation.family, operation.name, other, confirmation_token=token)
        right = answer.code in ("TOKEN_SCOPE_MISMATCH",) or answer.code.startswith("VALIDATION_")
        result.expect(right, operation.name, "takes a token for other parameters", answer)
    writes = [request for request in api.arrived if request.method == operation.row.method]
    result.expect(not writes, operation.name, "is sent with a wrong token", answer)


@check("SA-2", "A token is good in the session that it was given to, expires, and is given so often", Category.SAFETY,
       "R-SAFE-3", where="alone")  # fmt: skip
async def other_sessions(setup: Setup, result: Result) -> None:
    """Send a token in another session and too late, and ask for one too many."""
    grave = grave_of(setup)[:1]
    if not grave:
        return
    operation, params = grave[0], grave[0].params or {}
    launch = setup.launch.with_variables(
        MCP_AQL_POLICY="standard", MCP_AQL_APPROVAL="agent", MCP_AQL_CONFIRMATION_SKEW="0",
        MCP_AQL_CONFIRMATION_TTL=str(_SHORTEST), MCP_AQL_CONFIRMATION_RATE="2",
    )  # fmt: skip
    async with (
        served_over_http(launch) as (url, _),
        connect(launch, _LEGACY, url) as first,
        connect(launch, _LEGACY, url) as second,
    ):
        token = await asked_about(first, operation, result, setup.api)
        later = await asked_about(first, operation, result, setup.api)
        third = await first.call(operation.family, operation.name, params)
        result.expect(third.code == "RATE_LIMIT_EXCEEDED", operation.name, "gives a third token of two a minute", third)
        setup.api.arrived = []
        answer = await second.call(operation.family, operation.name, params, confirmation_token=token)
        result.expect(answer.code.startswith("TOKEN_"), operation.name, "takes another session's token", answer)
        answer = await second.call("execute", "confirm_operation", {"confirmation_token": token})
        result.expect(answer.code.startswith("TOKEN_"), operation.name, "confirms another session's call", answer)
        await anyio.sleep(_SHORTEST + 0.5)
        answer = await first.call(operation.family, operation.name, params, confirmation_token=later)
        result.expect(answer.code == "TOKEN_EXPIRED", operation.name, "takes a token that has expired", answer)
        writes = [request for request in setup.api.arrived if request.method == operation.row.method]
        result.expect(not writes, operation.name, "is sent with a token that is not good", answer)


@check("SA-3", "Where the client can ask a person, the person decides", Category.SAFETY, "R-SAFE-4", where="alone")
async def persons(setup: Setup, result: Result) -> None:
    """Answer yes, no and not at all."""
    for era in (_LEGACY, _MODERN):
        for answer, runs in (("accept", True), ("decline", False), ("cancel", False)):
            launch = setup.launch.with_variables(MCP_AQL_POLICY="standard", MCP_AQL_APPROVAL="person")
            asked: list[str] = []

            def person(question: str, answer: str = answer, asked: list[str] = asked) -> str:
                asked.append(question)
                return answer

            async with connect(launch, era, answer=person) as adapter:
                for operation in grave_of(setup)[:1]:
                    setup.api.arrived = []
                    envelope = await adapter.call(operation.family, operation.name, operation.params or {})
                    writes = [request for request in setup.api.arrived if request.method == operation.row.method]
                    right = len(asked) == 1 and envelope.get("success") is runs and len(writes) == int(runs)
                    result.expect(right, operation.name, f"a person's {answer} ends in {envelope.code}", envelope)
                    shown = operation.row.method in asked[0] if asked else False
                    result.expect(shown, operation.name, "the question does not show the request", asked)


@check("SA-4", "Where only a person confirms and none can be asked, nothing runs", Category.SAFETY, "R-SAFE-4",
      where="alone")  # fmt: skip
async def nobody(setup: Setup, result: Result) -> None:
    """Call a grave operation with nobody to ask, with and without a token."""
    launch = setup.launch.with_variables(MCP_AQL_POLICY="standard", MCP_AQL_APPROVAL="person")
    async with connect(launch, _LEGACY) as adapter:
        for operation in grave_of(setup):
            for beside in ({}, {"confirmation_token": "conf_" + "a" * 60}):
                setup.api.arrived = []
                envelope = await adapter.call(operation.family, operation.name, operation.params or {}, **beside)
                result.expect(envelope.get("success") is False, operation.name, "runs without a person", envelope)
                has_token = "conf_" in json.dumps(envelope.get("error"))
                result.expect(not has_token, operation.name, "gives a token", envelope)
                result.expect(not setup.api.arrived, operation.name, "is sent without a person", envelope)


@check("SA-5", "What is forbidden is refused, and safe calls are never asked about", Category.SAFETY, "R-SAFE-1",
      where="alone")  # fmt: skip
async def levels(setup: Setup, result: Result) -> None:
    """Call operations of every level under the policy standard."""
    launch = setup.launch.with_variables(MCP_AQL_POLICY="standard", MCP_AQL_APPROVAL="agent")
    async with connect(launch, _MODERN) as adapter:
        for operation in grave_of(setup, ("forbidden",)):
            setup.api.arrived = []
            envelope = await adapter.call(operation.family, operation.name, operation.params or {})
            result.expect(envelope.code == "PERMISSION_DANGER_LEVEL_DENIED", operation.name, "is not refused", envelope)
            result.expect(not setup.api.arrived, operation.name, "is sent though it is forbidden", envelope)
        unasked = [item for item in setup.callable if item.row.asked == "never"]
        mild = [item for item in unasked if item.row.danger in ("safe", "reversible")]
        for operation in mild[:: max(1, len(mild) // 10)][:10]:
            envelope = await adapter.call(operation.family, operation.name, operation.params or {})
            asked = envelope.code in ("CONFIRMATION_REQUIRED", "PERMISSION_DENIED")
            result.expect(not asked, operation.name, "is asked about", envelope)


@check("SA-6", "A read-only adapter offers reads alone, and performs nothing else by any name", Category.SAFETY,
      "R-SAFE-1", where="alone")  # fmt: skip
async def read_only(setup: Setup, result: Result) -> None:
    """Call what a read-only adapter does not offer."""
    launch = setup.launch.with_variables(MCP_AQL_READ_ONLY="1", MCP_AQL_POLICY="open")
    async with connect(launch, _MODERN) as adapter:
        envelope = await adapter.introspect(query="operations", all=True)
        names = {entry.get("name") for entry in envelope.data.get("operations") or ()}
        for operation in [item for item in setup.callable if not item.is_plain_read][:40]:
            result.expect(operation.name not in names, operation.name, "is listed")
            setup.api.arrived = []
            for tool in list(adapter.tools)[:2]:
                answer = await adapter.send(tool, {"operation": operation.name, "params": operation.params})
                result.expect(answer.get("success") is False, operation.name, "runs in a read-only adapter", answer)
            result.expect(not setup.api.arrived, operation.name, "is sent by a read-only adapter")
        for operation in setup.reads(2):
            answer = await adapter.call(operation.family, operation.name, operation.params or {})
            result.expect(answer.ok, operation.name, "fails in a read-only adapter", answer)


_AS_THEY_ARE = ("basic", "bearer")


def _shows_credential(setup: Setup, operation: Operation) -> bool:
    """Return True if a call needs a credential that stands in its request as it is, and not as a digest of it."""
    stated = operation.row.security
    security = setup.adapter.of_api(operation.row.api).security if stated is None else stated
    schemes = [setup.adapter.security_schemes.get(name) for option in security for name in option]
    return bool(security) and all(security) and all(
        scheme is not None and (scheme["type"] != "http" or scheme.get("scheme", "").lower() in _AS_THEY_ARE)
        for scheme in schemes
    )  # fmt: skip


def _variables(setup: Setup, operation: Operation) -> set[str]:
    """Return the variables of the credentials of an operation's API."""
    schemes = setup.adapter.of_api(operation.row.api).security_schemes.values()
    return {name for scheme in schemes for name in scheme["variables"]}


def _whole(request: Arrived) -> str:
    """Return a request as text, with what stands in base64 behind Basic."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    pair = ""
    if kind.lower() == "basic":
        with suppress(ValueError):
            pair = b64decode(text).decode("utf-8", "replace")
    body = request.body.decode("utf-8", "replace")
    return json.dumps([dict(request.headers), request.query, request.path, pair, body])


@check("SA-7", "Credentials go to the API alone, and into no answer, log or audit entry", Category.SAFETY, "R-TRUST-5",
      where="alone")  # fmt: skip
async def secrets(setup: Setup, result: Result) -> None:
    """Provoke answers that might carry credentials, and look for them everywhere."""
    if not setup.secrets:
        return
    audit = Path(setup.launch.variables["MCP_AQL_AUDIT_PATH"]).with_name("secrets.jsonl")
    launch = setup.launch.with_variables(MCP_AQL_LOG_LEVEL="debug", MCP_AQL_AUDIT_PATH=str(audit))
    seen: list[str] = []
    elsewhere = StandIn.__new__(StandIn)
    elsewhere.arrived, elsewhere.misbehaviour = [], lambda _: Reply.of(200, {"ok": True})
    with serve(elsewhere) as other:
        async with connect(launch, _MODERN) as adapter:
            for operation in [*setup.reads(4), *grave_of(setup)]:
                carried: list[bool] = []
                crossed: list[str] = []
                of_others = [setup.secrets[name] for name in setup.secrets.keys() - _variables(setup, operation)]

                def echo(
                    request: Arrived,
                    status: int,
                    carried: list[bool] = carried,
                    crossed: list[str] = crossed,
                    of_others: list[str] = of_others,
                ) -> Reply:
                    whole = _whole(request)
                    crossed += [secret for secret in of_others if secret in whole]
                    carried.append(any(secret in whole for secret in setup.secrets.values()))
                    return Reply.of(status, {"you_sent": dict(request.headers), "query": list(request.query)})

                for status in (400, 200):
                    with setup.api.behaving(partial(echo, status=status)):
                        answer = await adapter.call(operation.family, operation.name, operation.params or {})
                    seen.append(json.dumps(answer))
                result.expect(not crossed, operation.name, "is sent with the credential of another API")
                if _shows_credential(setup, operation) and carried:
                    result.expect(any(carried), operation.name, "is sent without its credential")
                away = Reply(302, b"", {"Location": f"{other}/stolen"})
                with setup.api.behaving(away):
                    answer = await adapter.call(operation.family, operation.name, operation.params or {})
                seen.append(json.dumps(answer))
            seen.append(adapter.log())
    stolen = [_whole(item) for item in elsewhere.arrived]
    for name, secret in setup.secrets.items():
        result.expect(not any(secret in text for text in stolen), name, "goes to another host with a redirect")
        result.expect(not any(secret in text for text in seen), name, "is in an answer or in the log")
        written = audit.read_text(encoding="utf-8") if audit.exists() else ""
        result.expect(secret not in written, name, "is in the audit log")
