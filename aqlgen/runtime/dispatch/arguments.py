"""The form of a request: its limits (R-REQ-9, R-REQ-10), one operation or a batch (specification, 4; R-BAT-1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure, invalid, too_large
from ..exact_json import ExactFloat, read_json
from ..introspection.protocol import tool_name
from ..safety.gatekeeper import sent_token
from ..schema import json_type
from ..settings.config import Config
from ..table import Row
from ..text import line

if TYPE_CHECKING:
    from ..safety.approvals import Approvals

_ESCAPED = 6
"""The most bytes that JSON spends on one byte of text: `\\u001f`."""


def _exceeded(limit_type: str, limit: int, actual: int, unit: str) -> Failure:
    """Build VALIDATION_PAYLOAD_TOO_LARGE; the unit is bytes, elements or levels."""
    message = f"Payload exceeds {limit_type} limit of {limit} {unit}: it has {actual}. Send less in one request."
    return too_large(message, limit_type, limit, unit, actual)


class Limits:
    """The check of a call's arguments in one walk; a small call costs a few microseconds."""

    __slots__ = ("_array", "_depth", "_request", "_string")

    def __init__(self, config: Config) -> None:
        self._request = config.max_request_size
        self._string = config.max_string_length
        self._array = config.max_array_elements
        self._depth = config.max_nesting_depth

    def check(self, arguments: Mapping[str, Any]) -> int:
        """Return the arguments' size, or more. Raises Failure if they are too large, too deep, or hold invalid text."""
        size = self._walk(arguments, 1, "")
        if size > self._request:
            size = len(json.dumps(arguments, ensure_ascii=False, separators=(",", ":")).encode())
        if size > self._request:
            raise _exceeded("request_size", self._request, size, "bytes")
        return size

    def _walk(self, value: Any, depth: int, path: str) -> int:
        """Return an upper bound of the value's size as JSON."""
        kind = type(value)
        if kind is str:
            return self._text(value, path) * _ESCAPED + 2
        if kind in (dict, list) and depth > self._depth:
            raise _exceeded("nesting_depth", self._depth, depth, "levels")
        if kind is dict:
            total = 2
            for key, item in value.items():
                total += self._walk(key, depth, path) + 2
                total += self._walk(item, depth + 1, f"{path}.{key}" if path else key)
            return total
        if kind is list:
            if len(value) > self._array:
                raise _exceeded("array_elements", self._array, len(value), "elements")
            total = 2
            for index, item in enumerate(value):
                total += self._walk(item, depth + 1, f"{path}[{index}]") + 1
            return total
        if kind is int and value.bit_length() > 64:
            return int(value.bit_length())
        return 24 if kind is not ExactFloat else len(value.text)

    def _text(self, value: str, path: str) -> int:
        """Return the bytes of a text."""
        try:
            size = len(value) if value.isascii() else len(value.encode())
        except UnicodeEncodeError:
            raise _encoding(value, path) from None
        if "\x00" in value:
            raise _encoding(value, path)
        if size > self._string:
            raise _exceeded("string_length", self._string, size, "bytes")
        return size


def _encoding(value: str, path: str) -> Failure:
    position = next(index for index, char in enumerate(value) if char == "\x00" or "\ud800" <= char <= "\udfff")
    details: dict[str, Any] = {"byte_offset": len(value[:position].encode())}
    if path:
        details["location"] = path.encode("utf-8", "replace").decode()
    what = "a null character" if value[position] == "\x00" else "bytes outside UTF-8, or half of a surrogate pair"
    where = f" '{details['location']}'" if path else ""
    message = f"Invalid character encoding in request:{where} holds {what}. Send text without it."
    return Failure(Code.INVALID_ENCODING, message, details)


MAX_BATCH = 50
TOKEN = "confirmation_token"  # noqa: S105
"""The parameter of a confirmation token; `_confirmation` is its other name (confirmation tokens, 5)."""

QUOTA_TOKEN = "_quota_continue"  # noqa: S105
"""The key of the token by which a call goes on that a quota has paused (rate limiting document, 4.4)."""

_PROTOCOL_FIELDS = frozenset({"operation", "params", "operations"})


class Request(NamedTuple):
    """One operation to perform; `outside` holds the parameters that stood beside `params`."""

    operation: str
    inside: Mapping[str, Any]
    outside: Mapping[str, Any]
    approvals: Approvals | None = None
    """What was decided before about the calls of the batch or plan that it is of."""
    max_tokens: int | None = None
    """How many tokens its data may have; None for the setting."""

    @property
    def params(self) -> dict[str, Any]:
        """The parameters, without metadata; those inside `params` win."""
        merged = {**self.outside, **self.inside} if self.outside else self.inside
        return {name: value for name, value in merged.items() if not name.startswith("_")}

    def for_row(self, row: Row, asks: Callable[[Row], bool]) -> Mapping[str, Any]:
        """Return the parameters of an operation: a name inside `params` wins over either spelling of it outside.

        A key that begins with `_` is metadata, unless the API itself spells a parameter so; so is `confirmation_token`
        where the operation `asks`. Elsewhere it is a parameter that nobody knows.
        """
        inside, outside, aliases = self.inside, self.outside, row.wire_names
        if outside:
            taken = {aliases.get(name, name) for name in inside}
            added = {key: value for key, value in outside.items() if aliases.get(key, key) not in taken}
            inside = {**added, **inside}
        for name in inside:
            if name[:1] == "_" or name == TOKEN:
                refused = TOKEN if TOKEN in inside and not asks(row) else None
                return {key: value for key, value in inside.items() if key == refused or not _is_metadata(key, row)}
        return inside

    def metadata(self, row: Row) -> dict[str, Any]:
        """Return the keys that are metadata, wherever they stood."""
        both = {**self.outside, **self.inside}
        return {key: value for key, value in both.items() if _is_metadata(key, row)}


def _is_metadata(name: str, row: Row) -> bool:
    if name[:1] == "_":
        return name not in row.wire_names
    return name == TOKEN and name not in row.parameters and name not in row.wire_names


def parse_json_texts(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments with `params` and `operations` as data where they came as JSON text.

    Many models and clients write an object within an object as text; a text can mean nothing else here. So it is with
    the `nextParams` of a report, which are the `params` of the call that comes next.
    """
    arguments = _parsed(_parsed(arguments, "params", dict), "operations", list)
    if arguments.get("operation") == "record_execution_step":
        arguments = _parsed(arguments, "nextParams", dict)
        if isinstance(arguments.get("params"), dict):
            arguments = {**arguments, "params": _parsed(arguments["params"], "nextParams", dict)}
    items = arguments.get("operations")
    if isinstance(items, list):
        arguments = {
            **arguments,
            "operations": [parse_json_texts(item) if isinstance(item, dict) else item for item in items],
        }
    return arguments


def _parsed(arguments: Mapping[str, Any], name: str, kind: type) -> Mapping[str, Any]:
    """Return the arguments with one of them as data of a kind, if it is JSON text of such."""
    text = arguments.get(name)
    if isinstance(text, str):
        with suppress(ValueError, RecursionError):
            value = read_json(text)
            if isinstance(value, kind):
                return {**arguments, name: value}
    return arguments


def read_single(arguments: Mapping[str, Any], is_known: Callable[[str], bool]) -> Request:
    """Read a request for one operation. `is_known` recognises operations. Raises Failure if its form is wrong."""
    operation = arguments.get("operation")
    if operation is None:
        raise _missing_operation(arguments, is_known)
    if not isinstance(operation, str):
        raise _wrong_type("operation", "string", operation)
    inside = arguments.get("params")
    if inside is None:
        inside = {}
    elif not isinstance(inside, Mapping):
        raise _wrong_type("params", "object", inside)
    if len(arguments) <= 2 and _PROTOCOL_FIELDS.issuperset(arguments):
        return Request(operation, inside, {})
    return Request(operation, inside, {key: value for key, value in arguments.items() if key not in _PROTOCOL_FIELDS})


def _missing_operation(arguments: Mapping[str, Any], is_known: Callable[[str], bool]) -> Failure:
    """Build the failure of a missing operation; it says where the name stands instead, if it stands anywhere."""
    inside = arguments.get("params")
    fields = {**inside, **arguments} if isinstance(inside, Mapping) else arguments
    advice = "List the operations with introspect, query 'operations'."
    if fields.get("query") in ("operations", "types"):
        advice = "To introspect, give 'introspect' as operation, and the rest in params."
    else:
        for name, value in arguments.items():
            if isinstance(value, str) and is_known(value):
                advice = f"Give '{line(value, 64)}' as 'operation', not as '{line(name, 40)}'."
                break
    message = f"Missing required parameter 'operation'. {advice}"
    return Failure(Code.MISSING_PARAM, message, {"param_name": "operation"})


def read_item(value: Any, is_known: Callable[[str], bool]) -> Request:
    """Read an item of a batch. `is_known` recognises operations. Raises Failure if its form is wrong."""
    if not isinstance(value, Mapping):
        raise _wrong_type("operations[]", "object", value)
    if value.get("operations") is not None:
        raise Failure(
            Code.UNKNOWN_PARAM,
            "Unknown parameter(s) in a batch: operations. A batch holds single operations, not batches.",
            {"unknown_params": ["operations"], "valid_params": ["operation", "params"]},
        )
    return read_single(value, is_known)


async def refuse_in_batch(_: Mapping[str, Any], __: object, ___: object) -> None:
    """Refuse a plan within a batch. Raises Failure."""
    raise Failure(
        Code.INVALID_VALUE,
        "A batch holds single operations, not plans: call 'run_steps' alone, and workflows",
    )


def read_batch(arguments: Mapping[str, Any]) -> list[Any] | None:
    """Return the items of a batch, or None for a single request. Raises Failure if the batch cannot be run."""
    items = arguments.get("operations")
    if items is None:
        return None
    if arguments.get("operation") is not None:
        raise invalid(
            "operations",
            "Parameter 'operations' excludes 'operation': send one operation, or a batch of them, not both",
        )
    if not isinstance(items, list):
        raise _wrong_type("operations", "array", items)
    if not items:
        raise invalid("operations", "Parameter 'operations' is empty: a batch holds one operation or more")
    if len(items) > MAX_BATCH:
        raise _exceeded("array_elements", MAX_BATCH, len(items), "elements")
    misplaced = [name for name in arguments if name not in _PROTOCOL_FIELDS and name[:1] != "_" and name != TOKEN]
    if arguments.get("params") is not None:
        misplaced.append("params")
    if misplaced:
        misplaced = [line(name, 64) for name in misplaced[:20]]
        raise Failure(
            Code.UNKNOWN_PARAM,
            f"Unknown parameter(s) beside 'operations': {', '.join(misplaced)}. Put them into their operations.",
            {"unknown_params": misplaced, "valid_params": ["operations"]},
        )
    return items


def sent_tokens(fields: Mapping[str, Any]) -> tuple[object, object]:
    """Return the confirmation token and the token of a quota that stand among these fields, None for each without."""
    return sent_token(fields), fields.get(QUOTA_TOKEN)


def _wrong_type(name: str, expected: str, value: Any) -> Failure:
    actual = json_type(value)
    details = {"param_name": name, "expected_type": expected, "actual_type": actual}
    advice = {"params": '. Give an object, such as {"id": 1}', "operations": ". Give a list of {operation, params}"}
    message = f"Parameter '{name}' expected '{expected}', got '{actual}'{advice.get(name, '')}"
    return Failure(Code.INVALID_TYPE, message, details)


def wrong_family(config: Config, operation: str, expected: str, actual: str) -> Failure:
    """Return the refusal of an operation of one family that was called through the tool of another."""
    expected_tool, actual_tool = tool_name(config, expected), tool_name(config, actual)
    return Failure(
        Code.ENDPOINT_MISMATCH,
        f"Operation '{operation}' must be called through '{expected_tool}', not '{actual_tool}'",
        {"operation": operation, "expected_endpoint": expected.upper(), "actual_endpoint": actual.upper()},
    )
