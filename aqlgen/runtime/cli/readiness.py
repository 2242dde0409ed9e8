"""Whether calls could succeed, as `doctor` tells it: the address, the use of each credential, what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..auth import Usage, added_scheme, alternative_in_use, demand_of, use_of
from ..auth.sources import config_of_each
from ..encode.addresses import operation_problem
from ..encode.urls import operation_url
from ..hosts import Origin
from ..text import counted

if TYPE_CHECKING:
    from ..auth import Alternatives
    from ..encode.addresses import AddressProblem
    from ..settings.config import Config
    from ..table import Adapter, Table

_READABLE = "the address is one of plain http, over which no credential is sent"
_MOST_STEPS = 3


def ready_schemes(credentials: list[dict[str, Any]]) -> frozenset[str]:
    """Return the schemes whose credential is there, or comes with each caller."""
    return frozenset(entry["scheme"] for entry in credentials if entry["set"] or "per_user" in entry)


class _Operation(NamedTuple):
    """An operation with the settings in force: `place` is its own server or its API, "" for the main address."""

    needs: Alternatives
    api: str
    place: str
    problem: AddressProblem | None
    accepted: bool

    @property
    def has_address(self) -> bool:
        """False where its address is certainly none."""
        return self.problem is None or not self.problem.certain


def survey(
    adapter: Adapter,
    table: Table,
    config: Config,
    credentials: list[dict[str, Any]],
    hosts: Iterable[Mapping[str, Any]],
) -> tuple[Usage, dict[str, Any], dict[str, int]]:
    """Return the use of credentials, which each of their entries gets too, what is wrong with addresses, and counts.

    Counted are the operations: all, those with their credentials, with an address, at an accepted host, and with all.
    """
    ready = ready_schemes(credentials)
    parts, configs = adapter.of_each_api(), config_of_each(config, adapter)
    mains = {name: _problem(part, (), configs[name]) for name, part in parts.items()}
    others: dict[str, dict[str, Any]] = {}
    counts = {"operations": 0, "with_credentials": 0, "with_address": 0, "accepted": 0, "ready": 0}
    operations = list(_operations(parts, configs, table, mains, hosts))
    for operation in operations:
        is_met = alternative_in_use(operation.needs, ready) is not None
        counts["operations"] += 1
        counts["accepted"] += operation.accepted
        counts["with_credentials"] += is_met
        counts["with_address"] += operation.has_address
        counts["ready"] += is_met and operation.has_address and operation.accepted
        if operation.problem is not None and operation.place and not configs[operation.api].base_url:
            stated = {**_as_json(operation.problem, operation.api), "url": operation.place, "operations": 0}
            others.setdefault(operation.place, stated)["operations"] += 1
    usage = Usage.of((operation.needs for operation in operations), ready)
    for entry in credentials:
        entry |= usage.entry(entry["scheme"], ready=entry["scheme"] in ready)
    main = next(filter(None, mains.values()), None)
    address = {
        "source": config.sources.get("base_url", "default") if config.base_url else "document",
        "problem": None if main is None or adapter.apis else _as_json(main),
        "others": list(others.values()),
    }
    return usage, address, counts


def _operations(
    parts: Mapping[str, Adapter],
    configs: Mapping[str, Config],
    table: Table,
    mains: Mapping[str, AddressProblem | None],
    hosts: Iterable[Mapping[str, Any]],
) -> Iterator[_Operation]:
    open_hosts = {(host.get("api", ""), host["origin"]) for host in hosts if host["accepted"]}
    for _, _, (stated, servers, api) in table.values("security", "servers", "api"):
        part, of_api = parts[api], configs[api]
        needs = () if of_api.auth == "none" else part.security if stated is None else stated
        problem = _problem(part, servers, of_api) if servers else mains[api]
        url = operation_url(part.servers, servers or (), of_api.base_url, of_api.server_variables)
        operation = _Operation(needs, api, servers[0]["url"] if servers else api, problem, True)
        is_open = not operation.has_address or (api, str(Origin.of(url.strip()))) in open_hosts
        yield operation._replace(accepted=is_open)


def _as_json(problem: AddressProblem, api: str = "") -> dict[str, Any]:
    remedy = problem.remedy
    if api:
        of_api = ", ".join(f"{api}.{name}=…" for name in problem.variables) or f"{api}=URL"
        remedy = f"set {problem.setting}={of_api}"
    return {
        "rule": problem.rule,
        "reason": problem.reason,
        "certain": problem.certain,
        "setting": problem.setting,
        "remedy": remedy,
    }


def _problem(adapter: Adapter, servers: Any, config: Config) -> AddressProblem | None:
    return operation_problem(adapter.servers, servers, config.base_url, config.server_variables)


def next_steps(report: Mapping[str, Any], usage: Usage) -> list[str]:
    """Return the steps that let more be called, the most important first."""
    steps = []
    problem = report["address"]["problem"]
    counts = report["callable"]
    if problem is not None and counts["with_address"] < counts["operations"]:
        steps.append(f"{_capitalized(problem['remedy'])}: {_about_address(problem, report['base_url'])}")
    for other in [other for other in report["address"]["others"] if other["certain"]][:_MOST_STEPS]:
        operations = counted(other["operations"], "operation")
        steps.append(f"{_capitalized(other['remedy'])} for {operations}: {_about_address(other, other['url'])}")
    entries = {entry["scheme"]: entry for entry in report["credentials"]}
    for alternatives, number in usage.unmet.most_common(_MOST_STEPS):
        steps.append(f"Set {what_to_set(alternatives, entries)} for {counted(number, 'operation')}")
    return steps


def what_to_set(alternatives: Alternatives, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the variables for alternatives of schemes, by the entries of the report; "" if none is missing."""
    return _any_of(dict.fromkeys(filter(None, (_variables(schemes, entries) for schemes in alternatives))))


def _variables(schemes: tuple[str, ...], entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the variables of schemes that are not there yet."""
    texts = []
    for name in schemes:
        entry = entries.get(name, {"set": False, "variables": ()})
        if entry["set"] or "per_user" in entry:
            continue
        grants = ([*way["variables"], *["run `login`"] * (way["grant"] == "login")] for way in entry.get("grants", ()))
        ways = [entry["variables"], *grants]
        text = _any_of(" and ".join(way) for way in ways if way)
        texts.append(text or f"the credential '{name}', of a kind that is not served,")
    return " and ".join(f"({text})" if " or " in text and len(texts) > 1 else text for text in texts)


def _any_of(texts: Iterable[str]) -> str:
    """Return `A or B`, with commas where one of them has several parts."""
    texts = list(texts)
    return (", or " if any(" " in text for text in texts) else " or ").join(texts)


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _about_address(problem: Mapping[str, Any], url: str | None) -> str:
    if problem["rule"] == "incomplete":
        return "the document has no URL of the API"
    return f"{url or 'the address'} looks like a placeholder ({problem['reason']})"


def address_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the address of the API, where it comes from, and what is wrong with it."""
    address, servers = report["address"], report["servers"]
    problem, source = address["problem"], address["source"]
    place = "from the document" if source == "document" else f"from {source}"
    yield f"Base URL     {report['base_url'] or (servers[0] if servers else 'none')} ({place})"
    if problem is not None and not problem["certain"]:
        yield f"  {problem['rule']}: {problem['reason']}; {problem['remedy']} if the API is elsewhere"
    elif problem is not None:
        looks = "" if problem["rule"] == "incomplete" else "looks like a placeholder: "
        yield f"  {looks}{problem['reason']}; {problem['remedy']}"
    yield from (f"  or         {server}" for server in servers if server not in (report["base_url"], servers[0]))
    for other in address["others"]:
        yield f"  {counted(other['operations'], 'operation')} at {other['url']}: {other['reason']}; {other['remedy']}"


def credential_section(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines about the credentials, and about operations that go without."""
    from ..auth.sources import lines

    total = report["callable"]["operations"]
    if report["settings"]["auth.credentials"]["value"] == "none":
        yield "  none is sent: MCP_AQL_AUTH is none"
    elif report["credentials"]:
        yield f"  {demand_of(report['demanding'], total)}"
    for entry in report["credentials"]:
        first, *rest = lines(entry)
        yield first
        yield f"    {use_of(entry, total)}"
        yield from rest
    if not report["credentials"]:
        yield "  none: the document declares no security scheme"
        yield "  if the API wants one, put into overrides.yaml, then `aqlgen update`:"
        yield from (f"    {line}" for line in added_scheme().splitlines())


def call_lines(call: Mapping[str, Any]) -> Iterator[str]:
    """Yield the outcome of `--call`."""
    if call.get("operation") is None:
        yield f"  {call['verdict']}"
        return
    for read in call["reads"][:-1]:
        status = f"HTTP {read['status']}" if read["status"] else "no answer"
        yield f"  {read['operation']:<26} {'with' if read['with_credential'] else 'without'} a credential: {status}"
    yield f"  {call['operation']:<26} {call['method']} {call['path']}"
    if call["status"] is not None:
        status, kind = f"HTTP {call['status']}", f", {call['content_type']}" if call["content_type"] else ""
        yield f"  {status:<26} {call['milliseconds']} ms, {counted(call['size'], 'byte')}{kind}"
    yield f"  {call['verdict']}"


def verdict(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence on whether calls can be made, and what to do next."""
    reason = _obstacle(report)
    yield f"Not ready: {reason}" if reason else _readiness(report)
    for step in report["next"]:
        yield f"  {step}"


def _obstacle(report: Mapping[str, Any]) -> str:
    """Return why no call can be made, and the way out; "" where one can."""
    counts, call = report["callable"], report.get("call", {"success": True})
    is_set = any(entry["set"] for entry in report["credentials"])
    obstacles = {
        "the audit log cannot be written, so every call but plain reads would be refused. Set MCP_AQL_AUDIT_PATH.": (
            report["safety"]["audit"]["writable"] or report["safety"]["read_only"]
        ),
        f"{_READABLE}. Use https, or set MCP_AQL_AUTH_ALLOW_HTTP=true.": report["encrypted"] or not is_set,
        "the address of the API is not known. `--mock` answers without it.": counts["with_address"],
        f"{'a' if is_set else 'no'} credential is {'missing' if is_set else 'set'}. `--mock` answers without one; "
        "MCP_AQL_AUTH=none if the API needs none.": counts["with_credentials"],
        "no host of the API is accepted; the entry that accepts one is above.": counts["accepted"],
        "those with a credential have no URL. `--mock` needs neither.": counts["ready"],
        "the test of `--call` failed, see Call.": call["success"] or call.get("operation") is None,
    }
    return next((obstacle for obstacle, is_met in obstacles.items() if not is_met), "")


def _readiness(report: Mapping[str, Any]) -> str:
    counts, problem, call = report["callable"], report["address"]["problem"], report.get("call", {})
    total, ready = counts["operations"], counts["ready"]
    if problem is not None and problem["rule"] == "default" and not _has_answered(report):
        return f"Ready only after you have chosen the host: {problem['remedy']} ({problem['reason']})."
    if ready < total:
        return f"Ready for {ready:,} of {counted(total, 'operation')}; the others need the missing settings."
    if _is_unclear(report):
        return (
            "Ready if the API wants no credential: its document declares one, and requires it nowhere. "
            "`doctor --call` tries a read."
        )
    if problem is not None and not _has_answered(report):
        return f"Ready if the API is at {report['base_url']} (local); else {problem['remedy']}."
    doubt = "; the credential is not proven" if call.get("credential") == "unknown" else ""
    doubt = doubt if report["credentials"] else "; the document names no credential"
    return f"Ready: nothing is missing for any of {counted(total, 'operation')}{doubt}."


def _has_answered(report: Mapping[str, Any]) -> bool:
    """Return True if `--call` had an answer of the API."""
    call = report.get("call", {})
    return bool(call.get("success")) and not call["mock"]


def _is_unclear(report: Mapping[str, Any]) -> bool:
    """Return True if the API has credentials that nothing requires, and none is set or was found to be needless."""
    entries, is_off = report["credentials"], report["settings"]["auth.credentials"]["value"] == "none"
    if not entries or is_off or _has_answered(report):
        return False
    return not any(entry["set"] or "per_user" in entry or entry["operations"]["needing"] for entry in entries)
