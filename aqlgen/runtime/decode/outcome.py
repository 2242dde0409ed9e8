"""A call whose outcome is not known: what to say of it, and the operation that shows what became of it (R-ERR-2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..encode.urls import counterparts, replaced_placeholders
from ..errors import NOT_PERFORMED, UNKNOWN_OUTCOME, Failure
from ..text import ended, folded

if TYPE_CHECKING:
    from ..table import Row, Table


def with_advice(failure: Failure, row: Row, params: Mapping[str, Any], table: Table, key: str = "") -> Failure:
    """Return a failure whose outcome may be unknown with what that means, and how to find out.

    A call that carried an idempotency key may be made again with it, if the operation has a parameter for it.
    """
    outcome = failure.details.get("outcome")
    message = ended(failure.message)
    if outcome == NOT_PERFORMED:
        return Failure(failure.code, f"{message} Nothing was sent: the call was not carried out.", failure.details)
    if outcome != UNKNOWN_OUTCOME:
        return failure
    message += " The call may have been carried out"
    details = failure.details
    question = find_out(row, params, table)
    if question is None:
        message += ": find out before you make it again."
    else:
        details = {**details, "find_out": question}
        message += f": find out with '{question['operation']}', see details.find_out, before you make it again."
    path = _path_of_key(row) if key else ()
    if path:
        message += f" With '{'.'.join(path)}' as in details.idempotency_key the API carries it out once only."
        details = {**details, "idempotency_key": key}
    return Failure(failure.code, message, details)


def with_key(row: Row, params: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the parameters of a call that is made again, with the idempotency key that it had."""
    match _path_of_key(row):
        case (name,):
            return {**params, name: key}
        case (name, field) if isinstance(params.get(name), dict):
            return {**params, name: {**params[name], field: key}}
    return dict(params)


def _path_of_key(row: Row) -> tuple[str, ...]:
    """Return the parameter by which agents give the idempotency key, and its field if that holds the key."""
    carrier = row.idempotency
    if carrier is None:
        return ()
    wire = carrier.header or carrier.parameter or ""
    for name, parameter in row.parameters.items():
        if parameter.wire.lower() == wire.lower():
            return (name,)
    whole = None if row.body is None or carrier.location != "body" else row.body.parameter
    return () if whole is None else (whole, wire)


def find_out(row: Row, params: Mapping[str, Any], table: Table) -> dict[str, Any] | None:
    """Return the call that shows whether another one was carried out; None if the table has none.

    It reads what the call is about: the same path, which for a create is the list, or else a path above it.
    """
    path = row.path.rstrip("/")
    paths = [path[:end] for end in range(len(path), 0, -1) if path[end : end + 1] in ("", "/")]
    wanted = {_identified(path): path for path in paths}
    readers: dict[str, str] = {}  # of several at one path the first counts
    for name, family, (method, reader_path, api, danger) in table.values("method", "path", "api", "danger"):
        if (family, method, api, danger) == ("read", "GET", row.api, "safe"):
            readers.setdefault(wanted.get(_identified(str(reader_path).rstrip("/")), ""), name)
    if row.update is not None and row.update.read is not None:
        readers[path] = row.update.read
    for path in paths:
        reader = table.find(readers[path], "read") if path in readers else None
        arguments = None if reader is None else _arguments(reader, row, params)
        if reader is not None and arguments is not None:
            return {"operation": reader.name, "params": arguments}
    return None


def _identified(path: str) -> str:
    """Return a path that equals another of the same things, by the names of its parameters in any spelling."""
    return replaced_placeholders(path, lambda name: f"{{{folded(name)}}}")


def _arguments(reader: Row, row: Row, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the reader's parameters that a call gave, by place and name; None if a required one is not among them."""
    sources = counterparts(reader, row)
    arguments: dict[str, Any] = {}
    for name, parameter in reader.parameters.items():
        source = sources.get(name)
        if source is not None and source in params and row.parameters[source].sensitive:
            continue  # a secret is not repeated: whoever gave it knows it
        if source is not None and source in params and parameter.required:
            arguments[name] = params[source]
        elif parameter.required and parameter.preset is None:
            return None
    return arguments
