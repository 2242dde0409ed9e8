"""The gatekeeper as a client meets it: what is asked about, what a token is good for, what stays secret, the loop."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from aqlgen.check.checks.lists import without
from aqlgen.check.operations import Operation, security_of
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Arrived, Reply, StandIn, base_url, serve
from aqlgen.runtime.table import DangerLevel

_ASKED = {"money", "access", "people"}
"""The effects of which each call is confirmed."""
_LEVELS = get_args(DangerLevel)
_MOST_SECRETS = 3
_FOR_ANYBODY = {"host", "accept", "accept-encoding", "accept-language", "user-agent", "connection"}
"""Headers that tell nothing of the caller."""


async def _token(run: Run, operation: Operation, params: Any = None) -> str | None:
    """Call an operation that asks; returns its token."""
    answer = await run.call(operation, params)
    token = str(answer.details.get("confirmation_token"))
    is_told = {"message", "expires_at"} <= (answer.get("confirmation") or {}).keys()
    right = answer.code == "CONFIRMATION_REQUIRED" and token.startswith("conf_") and is_told
    right = right and (answer.get("confirmation") or {}).get("token") == token
    run.expect(right, operation, "is not asked about, with a token beside the error, too")
    return token if right else None


@check("SA-1", "A grave call runs once, after it was confirmed with its own token", Category.SAFETY, "R-SAFE-3",
      where="agent")  # fmt: skip
async def confirmations(run: Run) -> None:
    """Ask, alter, confirm, repeat."""
    for operation in run.grave():
        first, others = run.sampled(operation, 0), run.sampled(operation, 1)
        params = operation.params | {name: first[name] for name in others if name in first}
        token = await _token(run, operation, params)
        if token is None:
            continue
        shown = await run.call(operation, {**params, "dry_run": True})
        outcome = (shown.data.get("decision") or {}).get("outcome")
        run.expect(outcome == "confirm" or not shown.ok, operation, "a dry run does not say that it is asked about")
        forged = token[:-6] + ("AAAAAA" if not token.endswith("AAAAAA") else "BBBBBB")
        await run.refused(operation, params, "a forged token", "TOKEN_INVALID", confirmation_token=forged)
        for name, changed in _altered(operation, params, others):
            code = (await run.call(operation, changed, confirmation_token=token)).code
            right = code.startswith(("TOKEN_SCOPE_MISMATCH", "VALIDATION_"))
            run.expect(right, operation, f"takes a token for another {name}, or for none")
        revoked = await _token(run, operation, params)
        await run.introspect(query="revoke_token", token=revoked)
        await run.refused(operation, params, "a token that was revoked", "TOKEN_", confirmation_token=revoked)
        answer = await run.call(operation, {**params, "_confirmation": token})
        right = answer.ok and len(run.writes(operation)) == 1
        run.expect(right, operation, f"does not run once it is confirmed ({len(run.writes(operation))} requests)")
        await run.refused(operation, params, "a token twice", "TOKEN_ALREADY_USED", confirmation_token=token)
        await run.own("execute", "confirm_operation", confirmation_token=await _token(run, operation, params))
        codes = [(await run.call(operation, params)).code for _ in range(2)]
        run.expect(codes == ["", "CONFIRMATION_REQUIRED"], operation, f"confirmed before, it ends {codes}")


def _altered(
    operation: Operation, params: dict[str, Any], others: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield other calls by the parameter in which they differ: it has another value, or none and no default."""
    for name, value in others.items():
        if value != params.get(name):
            yield name, {**params, name: value}
        if name in params and operation.row.parameters[name].schema.get("default") != params[name]:
            yield name, without(params, name)


@check("SA-5", "Forbidden calls are refused, unproven ones need a confirmation once, safe ones never",
       Category.SAFETY, "R-SAFE-1", where="agent")  # fmt: skip
async def levels(run: Run) -> None:
    """Call operations under the policy standard, and compare each with what danger, effects and the owner ask for."""
    await _counted(run)
    called = [item for item in run.callable if item.row.carries is None and not item.row.servers]
    kinds = {(row := item.row).family + row.danger + row.asked + str(sorted(row.effects)): item for item in called}
    for operation in [*run.grave("forbidden"), *kinds.values()]:
        row = operation.row
        is_always = row.danger in ("destructive", "dangerous") or not _ASKED.isdisjoint(row.effects)
        behavior = "deny" if row.danger == "forbidden" else "confirm" if is_always or row.asked == "first" else "allow"
        await _behaves(run, operation, behavior)
        token = await _token(run, operation) if behavior == "confirm" else None
        code = (await run.call(operation, confirmation_token=token) if token else await run.call(operation)).code
        is_denied = code == "PERMISSION_DANGER_LEVEL_DENIED" and not run.arrived
        right = is_denied if behavior == "deny" else code not in ("CONFIRMATION_REQUIRED", "PERMISSION_DENIED")
        run.expect(right, operation, f"is to {behavior}, and ends with {code}")
        if token:
            code = (await run.call(operation)).code
            run.expect((code == "CONFIRMATION_REQUIRED") is is_always, operation, f"ends a second time with {code!r}")


async def _counted(run: Run) -> None:
    """Compare the counts of the levels of danger with the list of the operations."""
    danger = (await run.introspect(query="danger", all=True)).data
    listed = Counter(each["danger"]["level"] for each in danger.get("operations") or ())
    right = danger.get("summary") == dict.fromkeys(_LEVELS, 0) | listed
    run.expect(right, "danger", f"counts {danger.get('summary')} of {dict(listed)}")


async def _behaves(run: Run, operation: Operation, behavior: str) -> None:
    """Expect that introspection tells how a call behaves, and the parameter that it needs for that."""
    danger = (await run.introspect(query="danger", name=operation.name)).data.get("operation") or {}
    answer = danger.get("behavior"), (danger.get("danger") or {}).get("level")
    run.expect(answer == (behavior, operation.row.danger), operation, f"is told to behave as {answer}")
    typed = (await run.introspect(query="types", name=f"{operation.name}.params", all=True)).data.get("type") or {}
    is_shown = "confirmation_token" in [entry.get("name") for entry in typed.get("fields") or ()]
    run.expect(is_shown is (behavior == "confirm"), operation, f"shows a token: {is_shown}, though it is to {behavior}")


def _whole(request: Arrived) -> str:
    """Return a request as text, with what stands in base64 behind Basic."""
    pair = ""
    with suppress(ValueError):
        pair = b64decode(request.headers.get("authorization", "").partition(" ")[2]).decode("utf-8", "replace")
    body = request.body.decode("utf-8", "replace")
    return json.dumps([dict(request.headers), request.query, request.path, pair, body])


def _echo(status: int, request: Arrived) -> Reply:
    """Return an answer that repeats a request, as it is and encoded, in its body and its headers."""
    whole = _whole(request)
    headers = dict.fromkeys(("WWW-Authenticate", "X-Request-Id", "Link"), whole.encode("ascii", "replace").decode())
    coded = [b64encode(whole.encode()).decode(), whole.encode().hex()]
    return Reply.of(status, {"you": dict(request.headers), "message": whole, "coded": coded, whole: 1}, **headers)


@check("SA-7", "Credentials go to the API alone, and into no answer, log or audit entry", Category.SAFETY, "R-TRUST-5",
      where="alone")  # fmt: skip
async def secrets(run: Run) -> None:
    """Let the API repeat what it is sent, and send it elsewhere; EN-1 looks into the answers."""
    if not run.secrets:
        return
    file = Path(run.launch.variables["MCP_AQL_AUDIT_PATH"]).with_name("secrets.jsonl")
    elsewhere = StandIn.__new__(StandIn)
    elsewhere.arrived, elsewhere.misbehaviour = [], lambda _: Reply.of(200, {"ok": True})
    with serve(elsewhere) as other:
        async with run.connected(settings={"LOG_LEVEL": "debug", "AUDIT_PATH": str(file)}) as run:
            for operation in [*run.reads(4), *run.grave()]:
                schemes = run.table.of_api(operation.row.api).security_schemes.values()
                ours = {name for scheme in schemes for name in scheme["variables"]}
                others = [secret for name, secret in run.secrets.items() if name not in ours]
                for status in (200, 400, 404, 500):
                    with run.api.behaving(partial(_echo, status)):
                        await run.call(operation)
                    crossed = [item for item in run.arrived if any(secret in _whole(item) for secret in others)]
                    run.expect(not crossed, operation, "is sent with the credential of another API")
                with run.api.behaving(Reply(302, b"", {"Location": f"{other}/stolen"})):
                    await run.call(operation, operation.params | run.sampled(operation, 0))
            written = run.adapter.log() + (file.read_text(encoding="utf-8") if file.exists() else "")
    await _lacking(run)
    stolen = "".join(map(_whole, elsewhere.arrived))
    further = {name for request in elsewhere.arrived for name in request.headers} - _FOR_ANYBODY
    run.expect(not further, "redirects", f"give another host the headers {further}")
    for name, secret in run.secrets.items():
        run.expect(secret not in stolen, name, "goes to another host with a redirect")
        run.expect(secret not in written, name, "is in the log or the audit log")


async def _lacking(run: Run) -> None:
    """Call what needs credentials without one of them, and at an address at which everybody could read them."""
    secured = [(item, security_of(run.table, item.row)) for item in run.callable if not item.row.servers]
    kinds = {str(security): item for item, security in secured if security and all(security)}
    for name in list(run.secrets)[:_MOST_SECRETS]:
        kept = {key: value for key, value in run.launch.variables.items() if key != name}
        async with replace(run, launch=replace(run.launch, variables=kept)).connected() as poorer:
            for operation in list(kinds.values())[:_MOST_SECRETS]:
                await poorer.call(operation)
                problems = poorer.request_problems()
                poorer.expect(not problems, operation, f"is sent without {name}: {problems}")
    for operation in list(kinds.values())[:1]:
        async with run.connected(settings={"BASE_URL": base_url(run.table, "http://check.invalid")}) as plain:
            code = (await plain.call(operation)).code
            plain.expect(code.startswith("PERMISSION_"), operation, f"is sent over plain http: {code}")
