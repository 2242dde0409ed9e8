# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The owner's rules of the policy, `[[policy.rules]]`: which operations, under which conditions, what happens."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Required, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool
from typing_extensions import TypedDict

from ..table import DangerLevel
from .types import Stripped, Whole, Word, from_json, known_keys, matching, requiring

__all__ = ["BUILT_IN", "DANGER_LEVELS", "RULES_EXAMPLE", "Comparisons", "PolicyRule", "PolicyRules"]

DANGER_LEVELS: tuple[str, ...] = get_args(DangerLevel)
BUILT_IN = ("danger-level", "trust-matrix", "under-review", "money", "first-use", "policy-open")
"""The ids of the decisions that no rule of the owner makes."""
_LONGEST = 200
_DEEPEST = 16

RULES_EXAMPLE = """\
[[policy.rules]]
id = "many-at-once"
operations = ["delete_*"]
when = { ids = { items_above = 10 } }
action = "confirm"
reason = "More than ten at once"
"""

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
            raise ValueError(f"has '{name[:_LONGEST]}', which is no path of names with dots between")
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
    when: Annotated[
        Mapping[str, Annotated[Comparisons, known_keys(Comparisons)]], BeforeValidator(_by_path), Field(max_length=20)
    ]
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
