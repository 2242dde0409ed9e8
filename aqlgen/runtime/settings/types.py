"""Types of settings, which pydantic makes of text or a TOML value; a ValueError says what the value must be."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Required, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StringConstraints
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from ..table import DangerLevel

Value = TypeVar("Value")
_NOT_FORWARDED = frozenset({"authorization", "proxy-authorization", "cookie", "host", "content-type", "mcp-session-id"})
_NO_FILE = frozenset({"off", "none", "false", "0", "no"})


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004 - what pydantic makes an error of
    return value.strip() if isinstance(value, str) else value


class Whole(NamedTuple):
    """A whole number within bounds."""

    least: int
    most: int

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> CoreSchema:
        """Return how pydantic reads it."""
        number = core_schema.no_info_before_validator_function(
            _number, core_schema.int_schema(ge=self.least, le=self.most)
        )
        return core_schema.custom_error_schema(
            number, "whole", custom_error_message=f"must be a whole number from {self.least} to {self.most}"
        )


def _lowered(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _off(value: Any) -> Any:
    is_off = value is False or (isinstance(value, str) and value.strip().lower() in _NO_FILE)
    return "off" if is_off else value


def from_json(value: Any) -> Any:
    """Return a value of `adapter.toml` as it is, and text of the environment as the JSON that it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("must be valid JSON") from None


def known_keys(table: type) -> BeforeValidator:
    """Return the check that a value is a table with keys of a TypedDict alone."""
    names = table.__annotations__

    def check(value: Any) -> Any:
        unknown = sorted(str(key) for key in value.keys() - names) if isinstance(value, Mapping) else ()
        if unknown:
            raise ValueError(f"has no key '{unknown[0]}'; there are {', '.join(names)}")
        return value

    return BeforeValidator(check)


def requiring(test: Callable[[Any], object], expected: str) -> AfterValidator:
    """Return the check by a test; `expected` is said of a value that fails it."""

    def check(value: Any) -> Any:
        if not test(value):
            raise ValueError(expected)
        return value

    return AfterValidator(check)


def matching(pattern: str, expected: str) -> AfterValidator:
    """Return the check that a text as a whole matches a pattern."""
    return requiring(lambda value: re.fullmatch(pattern, value), expected)


def divided(by: str) -> BeforeValidator:
    """Return the reader of a list, or of a text that a pattern divides, without its blank entries."""

    def entries(value: Any) -> Any:
        items = re.split(by, value) if isinstance(value, str) else value
        return [item for item in items if not isinstance(item, str) or item.strip()] if type(items) is list else items

    return BeforeValidator(entries)


Number = BeforeValidator(_number)
Word = Annotated[Value, BeforeValidator(_lowered)]
Seconds = Annotated[float, Number, Field(gt=0, le=3600)]
Switch = Annotated[bool, BeforeValidator(_lowered)]
Stripped = Annotated[str, StringConstraints(strip_whitespace=True)]
Lowered = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)]
Line = Annotated[Stripped, requiring(str.isprintable, "must be a text of one line")]
FilePath = Annotated[str, matching(r"[^\x00]*", "must be the path of a file"), AfterValidator(os.path.expanduser)]
"""A path, in which `~` is the user's folder."""
Pattern = Annotated[Stripped, Field(max_length=200)]
Patterns = Annotated[tuple[Pattern, ...], divided(r"[;\r\n]"), Field(max_length=200)]
"""Globs, which the environment divides by line breaks or semicolons."""

# The API's address, its answers and its credentials.

_ADDRESS = r"https?://[^\s/?#][^\s?#]*"
_NAMED = r"[a-z][a-z0-9]{0,23}=https?://[^\s/?#,][^\s?#,]*+"


def named_values(value: Any) -> Any:
    """Return values by name, from text such as `region=eu, tenant=acme`."""
    if not isinstance(value, str):
        return value
    pairs = [pair.partition("=") for pair in value.strip().strip("{}").split(",") if pair.strip()]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        raise ValueError("must be NAME=VALUE, several of them with commas between")
    return {name.strip(): text.strip() for name, _, text in pairs}


def _header_and_scheme(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a text")  # noqa: TRY004 - what pydantic makes an error of
    return [part.strip() for part in value.partition("=")[::2]]


BaseUrl = Annotated[
    Stripped,
    matching(
        rf"{_ADDRESS}|{_NAMED}(?:\s*+,\s*+{_NAMED})*+",
        "must be an http or https address without a query, such as https://api.example.com/v1",
    ),
]
"""An address, or those of several APIs by their names."""
Prefix = Annotated[
    str,
    matching(
        r"[a-z0-9_]{1,19}_", "must be 1 to 19 lower-case letters, digits or underscores, followed by an underscore"
    ),
]
ServerVariable = Annotated[
    str, Field(coerce_numbers_to_str=True), matching(r"[^\s?#]*", "must not hold blanks, '?' or '#'")
]
WarningCode = Annotated[
    str,
    matching(r"[A-Z][A-Z0-9_]{1,63}", "must be codes such as DEPRECATION_WARNING, or categories such as PERFORMANCE_"),
]
WarningCodes = Annotated[tuple[WarningCode, ...], divided(r"[,\s]")]
Header = Annotated[
    str,
    matching(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", "must be the name of a header, or header=scheme, divided by ;"),
    requiring(
        lambda header: header.lower() not in _NOT_FORWARDED,
        "must name a separate header, such as X-Target-Authorization: the client's credential for the adapter is "
        "never forwarded",
    ),
]
ForwardedHeaders = Annotated[
    tuple[Annotated[tuple[Header, str], BeforeValidator(_header_and_scheme)], ...], divided(";")
]
"""Headers with the security schemes that they fill, "" if none is named."""
StateUrl = Annotated[
    str,
    matching(
        r"memory:|sqlite:///.+|rediss?://[^/?#]+(/\d*)?",
        "must be sqlite:/// and a file, such as sqlite:////var/lib/adapter.sqlite3, memory:, or the address of a "
        "server of Redis, such as redis://:password@host:6379/0",
    ),
    AfterValidator(lambda url: "///".join(map(os.path.expanduser, url.split("///", 1)))),
]
AuditPath = Annotated[FilePath, BeforeValidator(_off)]
"""The path of a file, or `off` for none."""

# The adapter's own HTTP endpoint.

_HOST = r"(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?)"
_LOCAL = r"(localhost|127\.0\.0\.1|\[::1\])"
_PLACE = r"(:[0-9]{1,5})?(/[\x21\x22\x24-\x3e\x40-\x7e]*)?"
Host = Annotated[
    Lowered,
    AfterValidator(lambda name: name.removesuffix(":*")),
    matching(
        _HOST + r"(:[0-9]{1,5})?",
        "must be hosts such as mcp.example.com or mcp.example.com:8443, each by its full name",
    ),
]
Origin = Annotated[
    Lowered,
    AfterValidator(lambda name: name.removesuffix("/")),
    matching(
        r"[a-z][a-z0-9+.-]*://" + _HOST + r"(:([0-9]{1,5}|\*))?",
        "must be origins such as https://app.example.com, without a path",
    ),
]
HttpUrl = Annotated[
    str,
    matching(
        rf"(?i)https?://{_HOST}{_PLACE}",
        "must be an http or https address without a query or fragment, such as https://mcp.example.com/mcp",
    ),
]
HttpsUrl = Annotated[
    HttpUrl,
    matching(
        rf"(?i)(https://.*|http://{_LOCAL}{_PLACE})",
        "must be an https URL: over http the network could replace the keys",
    ),
]
"""An address that is trusted for keys; http is for this machine."""
Scope = Annotated[str, matching(r"[\x21\x23-\x5b\x5d-\x7e]+", "must be scopes such as 'tools.read tools.write'")]
Scopes = Annotated[tuple[Scope, ...], divided(r"[,\s]")]
"""Scopes (RFC 6749, 3.3)."""


DANGER_LEVELS: tuple[str, ...] = get_args(DangerLevel)
BUILT_IN = ("danger-level", "trust-matrix", "under-review", "money", "access", "people", "first-use", "policy-open")
"""The ids of the decisions that no rule of the owner makes."""
_LONGEST = 200
_DEEPEST = 16

one_or_more = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
Some = Field(min_length=1, max_length=200)
Texts = Annotated[tuple[Annotated[Stripped, Field(min_length=1, max_length=_LONGEST)], ...], one_or_more, Some]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


Scalar = Annotated[
    Any,
    requiring(
        lambda value: isinstance(value, str | bool) or _is_number(value), "must be a text, a number, true or false"
    ),
]
Scalars = Annotated[tuple[Scalar, ...], Field(min_length=1, max_length=1000)]
Finite = Annotated[Any, requiring(_is_number, "must be a number")]
Count = Annotated[int, Whole(0, 1_000_000)]

Comparisons = TypedDict(
    "Comparisons",
    {
        "equals": Scalar,
        "in": Scalars,
        "not_in": Scalars,
        "matches": Texts,
        "above": Finite,
        "at_most": Finite,
        "items_above": Count,
        "items_at_most": Count,
        "outside": Texts,
        "inside": Texts,
        "given": StrictBool,
    },
    total=False,
)
"""What a condition asks of a value."""
Condition = Annotated[Comparisons, known_keys(Comparisons)]


def _by_path(value: Any) -> Any:
    """Return the tests by dotted path."""
    if not isinstance(value, Mapping) or not value:
        raise ValueError("must be a table of parameters, such as { force = true }")
    return dict(_tests((), value))


def _tests(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, value in table.items():
        segments = (*path, *str(key).split("."))
        name = ".".join(segments)
        if len(segments) > _DEEPEST or not all(segment.strip() and len(segment) <= _LONGEST for segment in segments):
            raise ValueError(f"has '{name[:_LONGEST]}', which is not a dotted path of names")
        if not isinstance(value, Mapping):
            value = {"in" if isinstance(value, list) else "equals": value}
        if not value:
            raise ValueError(f"says nothing of '{name}'")
        if all(isinstance(item, Mapping) for item in value.values()) and not value.keys() & Comparisons.__annotations__:
            yield from _tests(segments, value)
        else:
            yield name, value


class PolicyRule(TypedDict, total=False):
    """A rule: the operations that it is about, the conditions of a call, and what happens then."""

    id: Annotated[
        str,
        matching(r"[a-z0-9][a-z0-9_.-]{0,63}", "must be 1 to 64 lower-case letters, digits, '-', '_' or '.'"),
        requiring(
            lambda name: name not in BUILT_IN,
            f"must not be one of {', '.join(BUILT_IN)}, which the policy's own decisions have",
        ),
    ]
    operations: Texts
    tags: Texts
    families: Annotated[tuple[Word[Literal["create", "read", "update", "delete", "execute"]], ...], one_or_more, Some]
    danger: Annotated[tuple[Word[DangerLevel], ...], one_or_more, Some]
    when: Annotated[Mapping[str, Condition], BeforeValidator(_by_path), Field(max_length=20)]
    action: Required[Word[Literal["allow", "confirm", "deny"]]]
    reason: Annotated[
        Stripped,
        requiring(
            lambda text: text.isprintable() and 0 < len(text) <= 300,
            "must be a text of one line, 300 characters or fewer",
        ),
    ]


def _named(rules: tuple[PolicyRule, ...]) -> tuple[PolicyRule, ...]:
    """Return the rules, each with an id. Raises ValueError for what is wrong although each value is valid."""
    named: dict[str, PolicyRule] = {}
    for position, rule in enumerate(rules, 1):
        identifier = rule.get("id", f"rule-{position}")
        if identifier in named:
            raise ValueError(f"at entry {position}: another rule has the id '{identifier}'")
        operations = rule.get("operations", ())
        if rule["action"] == "allow" and not (
            operations and all(re.search("[a-zA-Z0-9]", text) for text in operations)
        ):
            raise ValueError(
                f"at entry {position}: allow needs 'operations', each by its name or a pattern with part of one"
            )
        named[identifier] = {"id": identifier, **rule}
    return tuple(named.values())


PolicyRules = Annotated[
    tuple[Annotated[PolicyRule, known_keys(PolicyRule)], ...],
    BeforeValidator(from_json),
    Field(max_length=200),
    AfterValidator(_named),
]
