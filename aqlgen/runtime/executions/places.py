"""What is asked about work: an address that the API names, or an operation of the table (R-LOOP-1).

An address of the API is the API's word, and no more than that: it is asked at the host of the call, or at a host that
the owner has accepted, which the gate of all requests decides. Where it is that of an operation, that is called
instead; where it is that of an operation which is not a read, nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urljoin, urlsplit

from ..encode.urls import counterparts, without_names
from ..wire import without_credentials
from .states import value_at

if TYPE_CHECKING:
    from ..table import Row, Table
    from ..wire import ApiRequest

CANCELLING = ("cancel", "abort", "stop", "terminate")
"""Verbs that end work; of what is no work, all but the first end its use."""

_HEADERS = ("operation-location", "azure-asyncoperation", "location")
"""Headers that say where to look, the most exact first."""
_LONGEST = 2000


class Target(NamedTuple):
    """What is asked: the operation `monitor` with parameters, or else the address `url`."""

    monitor: str = ""
    params: Mapping[str, Any] = {}
    url: str = ""


def named_place(headers: Mapping[str, str], *, accepted: bool) -> str | None:
    """Return the address at which an answer says that its work can be followed; Location says it with 202 alone."""
    names = _HEADERS if accepted else _HEADERS[:-1]
    value = next((headers[name] for name in names if headers.get(name)), None)
    return value if value is not None and len(value) <= _LONGEST and value.isprintable() else None


def target_at(place: str, row: Row, request: ApiRequest, table: Table) -> Target | None:
    """Return the target at an address that the answer to a request names; None if it may not be asked.

    At the host of the request the scheme and the port are the request's, whatever the address says.
    """
    here = urlsplit(request.url)
    there = _address_at(request.url, place)
    if there is None:
        return None
    query = without_credentials(there.query, request)
    path = there.path or "/"
    address = f"{path}?{query}" if query else path
    if any(secret and secret in unquote(address) for secret in request.secrets):
        return None
    if there.hostname != here.hostname:
        return Target(url=f"{there.scheme}://{there.netloc}{address}")
    steps = row.path.partition("?")[0].rstrip("/").count("/")
    base = "/".join(here.path.rstrip("/").split("/")[: -steps or None])
    reader = _reader_at(path, query, base, row, table) if path.startswith(f"{base}/") else None
    if reader is None:
        return Target(url=address)
    operation, params = reader
    return Target(monitor=operation.name, params=params) if operation.family == "read" else None


def _address_at(base: str, place: str) -> SplitResult | None:
    """Return the address that a place names, None if it is none that may be asked: of HTTP, and of no user."""
    try:
        address = urlsplit(urljoin(base, place.strip()))
        is_address = address.scheme in ("http", "https") and bool(address.hostname) and address.username is None
    except ValueError:
        return None
    return address if is_address else None


def target_of(row: Row, params: Mapping[str, Any], data: Any, table: Table) -> Target | None:
    """Return the operation that the table names for following work, with parameters from the call and its answer."""
    work = row.long_running
    if work is None or work.monitor is None or work.arguments is None:
        return None
    monitor = table.find(work.monitor, "read")
    if monitor is None:
        return None
    values: dict[str, Any] = {}
    for name, source in counterparts(monitor, row).items():
        if source in params and (monitor.parameters[name].required or monitor.parameters[name].location == "path"):
            values[name] = params[source]
    by_wire = {parameter.wire: name for name, parameter in monitor.parameters.items()}
    for wire, pointer in work.arguments.items():
        value = value_at(data, pointer)
        if wire not in by_wire or not isinstance(value, (str, int)) or isinstance(value, bool) or value == "":
            return None
        values[by_wire[wire]] = value
    values |= _named_whole(monitor, values)
    return Target(monitor=monitor.name, params=values)


def cancel_of(monitor: Row, table: Table) -> Row | None:
    """Return the operation that cancels what an operation tells of, by its path; it asks for nothing else."""
    base = without_names(monitor.path.rstrip("/"))
    places = {f"{base}{mark}{CANCELLING[0]}" for mark in ("/", ":", "/actions/")}
    cancels = f"{monitor.api}_cancel_" if monitor.api else "cancel_"
    for name, family, (method, path, api) in table.values("method", "path", "api"):
        place = without_names(str(path).rstrip("/"))
        is_named = name.startswith(("cancel_", cancels))
        if api != monitor.api or method == "GET" or not (place in places or (place == base and is_named)):
            continue
        row = table.find(name, family)
        if row is not None and not any(
            parameter.required and parameter.location != "path" for parameter in row.parameters.values()
        ):
            return row
    return None


def _reader_at(path: str, query: str, base: str, row: Row, table: Table) -> tuple[Row, dict[str, Any]] | None:
    """Return the operation that a GET of an address is, with its parameters; the one with the most text in its path.

    It is of the API that answered: an answer of one has no say in what is asked of another.
    """
    steps = path.removeprefix(base).strip("/").split("/")
    matches = [
        (name, family, values)
        for name, family, (method, template, api) in table.values("method", "path", "api")
        if method == "GET" and api == row.api
        if (values := _matched(str(template).strip("/").split("/"), steps)) is not None
    ]
    if not matches:
        return None
    name, family, values = min(matches, key=lambda match: len(match[2]))
    reader = table.find(name, family)
    if reader is None or reader.servers != row.servers:
        return None
    params = _params_of(reader, values, parse_qsl(query, keep_blank_values=True))
    return None if params is None else (reader, params)


def _params_of(reader: Row, path: Mapping[str, str], query: Iterable[tuple[str, str]]) -> dict[str, Any] | None:
    """Return the parameters that an address gives a read; None if it has no such one, or lacks a required one."""
    asked = {("query", key): value for key, value in query} | {("path", key): value for key, value in path.items()}
    by_place = {(str(parameter.location), parameter.wire): name for name, parameter in reader.parameters.items()}
    if not asked.keys() <= by_place.keys():
        return None
    params = {by_place[place]: value for place, value in asked.items()}
    required = {name for name, parameter in reader.parameters.items() if parameter.required}
    return params if required <= params.keys() else None


def _matched(template: Sequence[str], steps: Sequence[str]) -> dict[str, str] | None:
    """Return the values of a path's placeholders, each of which is a step; None if the path is another."""
    if len(template) != len(steps):
        return None
    values: dict[str, str] = {}
    for part, step in zip(template, steps, strict=True):
        if part[:1] == "{" and part[-1:] == "}" and part.count("{") == 1 and step:
            values[part[1:-1]] = unquote(step)
        elif "{" in part or quote(unquote(part)) != quote(unquote(step)):
            return None
    return values


def _named_whole(monitor: Row, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of a path of which a value is the name of the whole, such as `operations/7` (AIP-122)."""
    template = monitor.path.strip("/").split("/")
    by_wire = {parameter.wire: name for name, parameter in monitor.parameters.items() if parameter.location == "path"}
    for name, value in values.items():
        parameter = monitor.parameters[name]
        if parameter.location != "path" or parameter.allow_reserved or "/" not in str(value):
            continue
        steps = str(value).strip("/").split("/")
        parts = _matched(template[-len(steps) :], steps)
        if parts is not None and parameter.wire in parts and parts.keys() <= by_wire.keys():
            return {by_wire[wire]: part for wire, part in parts.items()}
    return {}
