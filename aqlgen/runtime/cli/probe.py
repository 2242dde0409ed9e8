"""The safe reads of `doctor --call`: which operations, and what their answers say of address and credential.

Each read is tried without the credential first: what succeeds so proves nothing of it. A read that fails is followed by
the next, and the address or the credential is blamed only where all agree. Each goes the way of every call. Nothing of
an answer is shown but its status, media type and size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic, perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..auth import BARE, alternative_in_use
from ..auth.sources import config_of_each
from ..encode.addresses import operation_problem
from ..learn.reads import Known
from ..learn.requests import safe_reads
from ..settings.load import load
from ..table import Adapter, Table, first_success
from ..text import counted, line
from ..wire import is_json
from .readiness import ready_schemes, what_to_set

if TYPE_CHECKING:
    from ..envelope import Envelope
    from ..settings.config import Config
    from ..table import Row
    from ..wire import ApiResponse

_MOST_READS = 5
_MOST_UNANSWERED = 2
_LONGEST = 60.0
"""Seconds from which on no further read begins."""
_REFUSED = (401, 403)
_SUCCESS = ("ok", "success")
_CAUSES = {
    404: "nothing is there; the address may lack a part of its path, or have one too many",
    429: "too many calls; try again later",
}


class Probe(NamedTuple):
    """An operation to call with its parameters, and the schemes whose credentials its request can carry.

    `demands` says that the document has the API refuse a call without them; `unset` names what to set for those that
    are missing.
    """

    row: Row
    params: dict[str, Any]
    credentials: tuple[str, ...]
    demands: bool
    unset: str = ""


class _Read(NamedTuple):
    """A read that was made, with a credential or without."""

    probe: Probe
    carries: bool
    answer: ApiResponse | None
    envelope: Envelope
    seconds: float

    @property
    def status(self) -> int:
        """The status of the answer, 0 for none."""
        return 0 if self.answer is None else self.answer.status

    @property
    def success(self) -> bool:
        """True if the API answered with data that tell of no failure."""
        return bool(self.envelope["success"]) and (self.answer is None or _is_data(self.answer, self.envelope))


def choose(
    adapter: Adapter, table: Table, config: Config, credentials: list[dict[str, Any]], *, mock: bool = False
) -> list[Probe]:
    """Return the safe reads to try with the credentials of the report, the best first; a mock needs none.

    Those that need a credential which is there come first, then those without parameters, then lists.
    """
    parts, configs = adapter.of_each_api(), config_of_each(config, adapter)
    probes, known = list[Probe](), Known(())
    ready, entries = ready_schemes(credentials), {entry["scheme"]: entry for entry in credentials}
    for row in safe_reads(table):
        part, of_api, params = parts[row.api], configs[row.api], known.params(row)
        problem = operation_problem(part.servers, row.servers, of_api.base_url, of_api.server_variables)
        if params is None or row.method != "GET" or (not mock and problem is not None and problem.certain):
            continue
        alternatives = part.security if row.security is None else row.security
        pages = {name: 1 for name in row.adapter_parameters if row.parameters[name].wire == "first"}
        silent = mock or config.auth == "none"
        used = () if silent else alternative_in_use(alternatives, ready) or ()
        demands = bool(alternatives) and () not in alternatives
        probes.append(Probe(row, params | pages, used, demands, what_to_set(alternatives, entries)))
    return sorted(probes, key=_rank)[:_MOST_READS]


def _rank(probe: Probe) -> tuple[Any, ...]:
    row = probe.row
    answer = first_success(row.responses)
    kind = answer.get("content_type", "")
    return (
        not (probe.credentials and probe.demands),
        not probe.credentials and probe.demands,
        not probe.credentials,
        bool(row.review or row.deprecated or row.long_running),
        bool(kind) and not is_json(kind),  # no data, as far as the table says
        any(parameter.required for parameter in row.parameters.values()),
        row.paging is None and answer.get("schema", {}).get("type") != "array",
        bool(row.servers),
        row.path.count("/") + 3 * row.path.count("{"),
        row.name,
    )


def call_safely(
    folder: Path, hooks: object | None, environ: Mapping[str, str], report: Mapping[str, Any], *, mock: bool
) -> dict[str, Any]:
    """Choose operations by what `doctor` reports, and perform them until one proves something.

    Returns the operation that decided, status, time, media type and size, what became of the credential (accepted,
    refused, not_allowed, not_sent or unknown), and all `reads`. The operation is None if there is none to try.
    """
    config, adapter = load(folder, environ), Adapter.load(folder)
    table = Table(folder, read_only=config.read_only)
    probes = choose(adapter, table, config, report["credentials"], mock=mock)
    if not probes:
        lacking = Known(()).lacking(safe_reads(table))
        verdict = f"Nothing was called: no safe read by GET can be made without parameters. {lacking}".strip()
        return {"operation": None, "success": False, "mock": mock, "credential": "unknown", "verdict": verdict}
    reads = asyncio.run(_reads(folder, hooks, environ, probes, mock=mock))
    decisive, success, credential, verdict = _judged(reads, mock=mock)
    probe, answer = decisive.probe, decisive.answer
    return {
        "operation": probe.row.name,
        "method": probe.row.method,
        "path": probe.row.path,
        "success": success,
        "mock": mock,
        "status": None if answer is None else answer.status,
        "milliseconds": round(decisive.seconds * 1000),
        "content_type": "" if answer is None else line(answer.headers.get("content-type", ""), 80),
        "size": None if answer is None else len(answer.content),
        "credentials": list(probe.credentials) if decisive.carries else [],
        "credential": credential,
        "verdict": verdict,
        "reads": [
            {"operation": read.probe.row.name, "status": read.status or None, "with_credential": read.carries}
            for read in reads
        ],
    }


async def _reads(
    folder: Path, hooks: object | None, environ: Mapping[str, str], probes: Sequence[Probe], *, mock: bool
) -> list[_Read]:
    """Make reads until one proves something of the credential, or none that is to be sent is there."""
    reads: list[_Read] = []
    ends = monotonic() + _LONGEST
    for probe in probes[: 1 if mock else None]:
        anonymous = await _read(folder, hooks, environ, probe, carries=False, mock=mock)
        reads.append(anonymous)
        if probe.credentials and anonymous.status and not anonymous.success:
            reads.append(await _read(folder, hooks, environ, probe, carries=True, mock=mock))
        last = reads[-1]
        if last.success and (last.carries or not probe.credentials):
            break
        if last.status in _REFUSED and not probe.credentials:
            break
        if sum(not read.status for read in reads) >= _MOST_UNANSWERED or monotonic() > ends:
            break
    return reads


async def _read(
    folder: Path, hooks: object | None, environ: Mapping[str, str], probe: Probe, *, carries: bool, mock: bool
) -> _Read:
    from ..assembly import assemble
    from ..hooks import Call, Hooks
    from ..session import Session

    owners = Hooks.load(hooks)
    answers: list[ApiResponse] = []

    async def after_response(response: ApiResponse, call: Call) -> ApiResponse:
        answers.append(response)
        return await owners.on_response(response, call)

    observed = SimpleNamespace(**{**owners._asdict(), "after_response": after_response})
    environ = environ if carries else {**environ, "MCP_AQL_AUTH": "none"}
    parts = assemble(folder, observed, environ=environ, mock=mock)
    begin = perf_counter()
    try:
        envelope = await parts.dispatcher.handle(
            None, {"operation": probe.row.name, "params": probe.params}, Session.new()
        )
    finally:
        await parts.close()
    return _Read(probe, carries, answers[-1] if answers else None, envelope, perf_counter() - begin)


def _judged(reads: Sequence[_Read], *, mock: bool) -> tuple[_Read, bool, str, str]:
    """Return the read that decides, whether all is well, and what became of the credential in a word and a sentence."""
    last = reads[-1]
    if mock:
        verdict = "Nothing was sent: --mock answers from the document, and proves nothing about the credential."
        return last, last.success, "not_sent", verdict
    names = " and ".join(last.probe.credentials)
    if last.success and last.carries:
        before = reads[-2]
        how = f"HTTP {before.status}" if not 200 <= before.status < 300 else "a page, or an error"
        return last, True, "accepted", f"The API accepted the credential '{names}': without it the read gave {how}."
    public, carried = [read for read in reads if read.success], [read for read in reads if read.carries]
    if public and not carried:
        return (public[-1], True, *_unproven(public[-1].probe, names, len(public)))
    failed = carried or list(reads)
    return (failed[-1], False, *_failed(failed, len(public)))


def _unproven(probe: Probe, names: str, count: int) -> tuple[str, str]:
    """Return the verdict of so many reads that succeeded without the credential of these names."""
    if names:
        known = f"{counted(count, 'read')} succeeded without it"
        return "unknown", f"The address is right. Proves nothing of the credential '{names}': {known}."
    if probe.demands:
        return "not_sent", (
            "The API answered, though its document requires a credential: if it needs none, set MCP_AQL_AUTH=none."
        )
    return "not_sent", "The URL is right. The call proves nothing about a credential: none was sent or required."


def _failed(failed: Sequence[_Read], public: int) -> tuple[str, str]:
    """Return the verdict of reads that failed, beside so many that succeeded without a credential."""
    read, statuses = failed[-1], {read.status for read in failed}
    message = str(read.envelope.get("error", {}).get("message", "no answer"))
    if len(statuses) > 1 or (public and not statuses.issubset(_REFUSED)):
        seen = ", ".join(f"HTTP {status}" if status else "no answer" for status in sorted(statuses))
        others = f", and {counted(public, 'read')} succeeded without it" if public else ""
        return "unknown", f"It proves nothing about address and credential: the reads do not agree ({seen}{others})."
    if read.answer is None:
        return "unknown", f"No answer of the API: {line(message, 400)}"
    answer = f"HTTP {read.status} in {counted(len(failed), 'read')}"
    if read.status in _REFUSED:
        credential, verdict = _refused(read)
        bare = f" It was sent {BARE}." if BARE in message else ""
        return credential, f"{answer}: {verdict}.{bare}"
    is_none = "it is a web page, a reported failure, or cannot be read"
    cause = is_none if read.status < 300 else _CAUSES.get(read.status, "it failed")
    return "unknown", f"{answer}: {cause}. It proves nothing about the credential."


def _refused(read: _Read) -> tuple[str, str]:
    """Return the verdict of a read that the API refused for its credential, or for want of one."""
    if not read.carries:
        remedy = f"set {read.probe.unset}" if read.probe.unset else "the document asks for none here"
        return "not_sent", f"the API needs a credential, and the adapter sent none: {remedy}"
    names = " and ".join(read.probe.credentials)
    verdict = f"the credential '{names}' is wrong, expired, for another place, or not allowed to do this"
    return "refused" if read.status == 401 else "not_allowed", verdict


def _is_data(answer: ApiResponse, envelope: Envelope) -> bool:
    """Return False for an answer with success that may be none: a page for people, or data that tell of an error."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    data = envelope.get("data")
    is_failure = isinstance(data, dict) and (any(data.get(key) is False for key in _SUCCESS) or bool(data.get("error")))
    return bool(envelope["success"]) and kind not in ("text/html", "application/xhtml+xml") and not is_failure
