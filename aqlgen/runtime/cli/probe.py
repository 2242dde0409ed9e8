# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The one safe read of `doctor --call`: which operation, and what its answer says of address and credential.

It goes the way of every call. Nothing of the answer is shown but its status, media type and size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..auth.usage import BARE, alternative_in_use
from ..encode.addresses import operation_problem
from ..hosts.apis import config_of_each
from ..media import is_json
from ..settings.load import load
from ..table import Adapter, Table
from ..text import folded, line, words
from .readiness import ready_schemes

if TYPE_CHECKING:
    from ..envelope import Envelope
    from ..settings.config import Config
    from ..table import Row
    from ..wire import ApiResponse

__all__ = ["Probe", "call_safely", "choose"]

_ABOUT_CALLER = frozenset(("me", "self", "myself", "whoami", "viewer", "userinfo", "tokeninfo", "currentuser"))
_OF_CALLER = frozenset(("current", "user", "account", "profile", "identity", "session"))
_SIZES = frozenset(
    ("limit", "perpage", "pagesize", "pagelength", "maxresults", "maxitems", "itemsperpage", "count", "top", "first")
)
_UNUSUAL = frozenset(("socket", "websocket", "ws", "stream", "event", "watch", "export", "download", "raw", "sse"))
"""Words at the end of paths whose answers are no small JSON, or do not end."""
_FAILED = ("ok", "success")


class Probe(NamedTuple):
    """An operation to call with its parameters, and the schemes whose credentials its request carries.

    `proves` says that the API should refuse the call without them; `unset` are variables of those that are not there.
    """

    row: Row
    params: dict[str, Any]
    credentials: tuple[str, ...]
    proves: bool
    unset: tuple[str, ...] = ()


def choose(
    adapter: Adapter, table: Table, config: Config, ready: Collection[str], *, mock: bool = False
) -> Probe | None:
    """Return the safe read to try, None if there is none that could succeed with what is set; a mock needs nothing.

    One that needs a credential is preferred, then one about the caller, then one whose answer is small.
    """
    parts, configs = adapter.of_each_api(), config_of_each(config, adapter)
    candidates: list[tuple[tuple[Any, ...], Probe]] = []
    for name, family, (method, danger) in table.values("method", "danger"):
        if family != "read" or danger != "safe" or method != "GET":
            continue
        row = table.find(name, family)
        params = None if row is None else _params(row)
        if row is None or params is None:
            continue
        part, of_api = parts[row.api], configs[row.api]
        alternatives = part.security if row.security is None else row.security
        credentials: tuple[str, ...] | None = () if mock else alternative_in_use(alternatives, ready)
        problem = operation_problem(part.servers, row.servers, of_api.base_url, of_api.server_variables)
        if credentials is not None and (mock or problem is None or not problem.certain):
            schemes = [
                adapter.security_schemes.get(name, {}) for names in alternatives for name in names if name not in ready
            ]
            unset = tuple(dict.fromkeys(variable for scheme in schemes for variable in scheme.get("variables", ())))
            probe = Probe(row, params, credentials, bool(credentials) and () not in alternatives, unset)
            candidates.append((_rank(probe), probe))
    return min(candidates, key=lambda candidate: candidate[0])[1] if candidates else None


def _params(row: Row) -> dict[str, Any] | None:
    """Return what every call must give, where there is a default or a single value, and a small page."""
    params: dict[str, Any] = {}
    for name, parameter in row.parameters.items():
        schema = parameter.schema
        if name in row.presets:
            continue
        if parameter.required:
            values = list(schema.get("enum") or ())
            if "default" in schema or "const" in schema:
                params[name] = schema.get("default", schema.get("const"))
            elif len(values) == 1:
                params[name] = values[0]
            else:
                return None
        elif name in row.shown_parameters and folded(name) in _SIZES and schema.get("type") == "integer":
            least = schema.get("minimum", 1)
            params[name] = max(1, least) if "enum" not in schema else min(schema["enum"])
    return params if row.body is None or not row.body.required else None


def _rank(probe: Probe) -> tuple[Any, ...]:
    row = probe.row
    return (
        not probe.proves,
        not probe.credentials,
        bool(row.review or row.deprecated or row.long_running),
        not _gives_data(row) or not _UNUSUAL.isdisjoint(words(row.path.rpartition("/")[2])),
        bool(row.servers),
        _distance_from_caller(row),
        not any(folded(name) in _SIZES for name in probe.params) and row.verb in ("list", "search"),
        row.path.count("/") + 3 * row.path.count("{"),
        row.name,
    )


def _gives_data(row: Row) -> bool:
    """Return True if success is answered with JSON, as far as the table says."""
    kinds = [answer.get("content_type", "") for status, answer in row.responses.items() if status.startswith("2")]
    return any(map(is_json, kinds)) or not any(kinds)


def _distance_from_caller(row: Row) -> int:
    """Return 0 for an operation on the caller themselves, such as `GET /me`, 1 for one that may be, else 2."""
    last = row.path.rstrip("/").rpartition("/")[2]
    if folded(last) in _ABOUT_CALLER or _ABOUT_CALLER.intersection(words(last.replace(".", " "))):
        return 0
    is_single = row.verb not in ("list", "search") and not row.path.count("{")
    return 1 if is_single and _OF_CALLER.intersection(words(last)) else 2


def call_safely(
    folder: Path, hooks: object | None, environ: Mapping[str, str], report: Mapping[str, Any], *, mock: bool
) -> dict[str, Any]:
    """Choose an operation by what `doctor` reports, and perform it.

    Returns the operation, status, time, media type and size, and what became of the credential: accepted, refused,
    not_allowed, not_sent or unknown. The operation is None if there is none that could succeed.
    """
    config, adapter = load(folder, environ), Adapter.load(folder)
    ready = ready_schemes(report["credentials"])
    probe = choose(adapter, Table(folder, read_only=config.read_only), config, ready, mock=mock)
    if probe is None:
        missing = report["callable"]["ready"] < report["callable"]["operations"]
        why = "with what is set" if missing else "without parameters"
        verdict = f"Nothing was called: no safe read by GET can be made {why}."
        return {"operation": None, "success": False, "mock": mock, "credential": "not_sent", "verdict": verdict}
    return asyncio.run(_call(folder, hooks, environ, probe, mock=mock))


async def _call(
    folder: Path, hooks: object | None, environ: Mapping[str, str], probe: Probe, *, mock: bool
) -> dict[str, Any]:
    from ..assembly import assemble
    from ..hooks import Call, Hooks
    from ..session import Session

    owners = Hooks.load(hooks)
    answers: list[ApiResponse] = []

    async def after_response(response: ApiResponse, call: Call) -> ApiResponse:
        answers.append(response)
        return await owners.on_response(response, call)

    observed = SimpleNamespace(**{**owners._asdict(), "after_response": after_response})
    parts = assemble(folder, observed, environ=environ, mock=mock)
    begin = perf_counter()
    try:
        envelope = await parts.dispatcher.handle(
            None, {"operation": probe.row.name, "params": probe.params}, Session.new()
        )
    finally:
        await parts.close()
    seconds = perf_counter() - begin
    answer = answers[-1] if answers else None
    credential, verdict = _judged(probe, answer, envelope, mock=mock)
    return {
        "operation": probe.row.name,
        "method": probe.row.method,
        "path": probe.row.path,
        "success": envelope["success"] and (answer is None or not any(_doubts(answer, envelope))),
        "mock": mock,
        "status": None if answer is None else answer.status,
        "milliseconds": round(seconds * 1000),
        "content_type": "" if answer is None else line(answer.headers.get("content-type", ""), 80),
        "size": None if answer is None else len(answer.content),
        "credentials": [] if mock else list(probe.credentials),
        "credential": credential,
        "verdict": verdict,
    }


def _judged(probe: Probe, answer: ApiResponse | None, envelope: Envelope, *, mock: bool) -> tuple[str, str]:
    """Return what became of the credential, in a word and in a sentence."""
    if mock:
        return "not_sent", "Nothing was sent: --mock answers from the document, and proves nothing of the credential."
    if answer is None:
        message = line(str(envelope.get("error", {}).get("message", "no answer")), 400)
        return "unknown", f"No answer of the API: {message}"
    names = " and ".join(probe.credentials)
    if not 200 <= answer.status < 300:
        credential, verdict = _refused(answer.status, names, probe.unset)
        bare = BARE in str(envelope.get("error", {}).get("message", ""))
        return credential, f"{verdict} It was sent {BARE}." if bare else verdict
    doubt = next(_doubts(answer, envelope), None)
    if doubt is not None:
        return "unknown", f"Proves nothing of the credential: {doubt}."
    if not names:
        return "not_sent", "The address is right. It proves nothing of a credential: the operation asks for none."
    if not probe.proves:
        return "unknown", f"The address is right. '{names}' was sent, and the operation may answer without it, too."
    return "accepted", f"The API accepted the credential '{names}'."


def _refused(status: int, names: str, unset: Sequence[str]) -> tuple[str, str]:
    remedy = f"set {' and '.join(unset)}" if unset else "the document asks for none here"
    if status == 401:
        if names:
            return "refused", f"The API did not accept the credential '{names}': wrong, expired, or for another place."
        return "not_sent", f"The API wants a credential, and the adapter sent none: {remedy}."
    if status == 403:
        if names:
            return "not_allowed", f"The API refused: '{names}' is not valid, or does not allow this operation."
        return "not_sent", f"The API refused a call to which the adapter added no credential: {remedy}."
    cause = {
        404: "nothing is there; the address may lack a part of its path, or have one too many",
        429: "too many calls; try again later",
    }.get(status, "the API failed" if status >= 500 else "it redirects elsewhere" if status < 400 else "refused")
    return "unknown", f"HTTP {status}: {cause}. It proves nothing of the credential."


def _doubts(answer: ApiResponse, envelope: Envelope) -> Iterator[str]:
    """Yield why an answer that says success may be none: a page for people, or data that tell of an error."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml"):
        yield "the answer is a page for people, such as one to log in"
    declared = "declared_by" in envelope.get("error", {}).get("details", {})
    if not envelope["success"] and not declared:
        yield f"the answer cannot be read: {line(str(envelope['error'].get('message', '')), 200).rstrip('.')}"
    data = envelope.get("data")
    if declared or (isinstance(data, dict) and (any(data.get(key) is False for key in _FAILED) or data.get("error"))):
        yield "the answer says itself that it failed"
