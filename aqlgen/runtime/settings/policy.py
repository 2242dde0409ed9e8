# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The owner's rules of the policy, `[[policy.rules]]`: which operations, under which conditions, what happens."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_args

from ..table import FAMILIES, DangerLevel
from .parsers import Choice, Whole, from_json, parsed_table

__all__ = ["BUILT_IN", "DANGER_LEVELS", "MONEY_TEXT", "POLICY_TEXT", "RULES_EXAMPLE", "RULES_TEXT", "policy_rules"]

DANGER_LEVELS: tuple[str, ...] = get_args(DangerLevel)
BUILT_IN = ("danger-level", "trust-matrix", "under-review", "money", "policy-open")
"""The ids of the decisions that no rule of the owner makes."""
_MOST = 200
_LONGEST = 200
_DEEPEST = 16

POLICY_TEXT = (
    'What is asked about. "standard": destructive and dangerous operations run once they are confirmed, forbidden ones '
    'are refused. "strict": by trust_level and danger, as docs/policies.md shows; operations under review are '
    'confirmed, too, and a call that cannot be shown in full is refused. "open": nothing is asked or refused. '
    'policy = "strict", outside of tables, says the same. OPERATIONS.md shows each operation\'s danger, overrides.yaml '
    "changes it and settles a review. `confirmation.approval` says who confirms."
)
MONEY_TEXT = (
    'Operations that move money: {allowed}. "default": confirmed under policy standard and strict, whatever their '
    'danger. "automation": refused unless a rule allows them, with its limits. "off": by their danger alone. In all, '
    "they are in the audit log."
)
RULES_TEXT = (
    "Rules about operations, of which each says allow, confirm or deny; of those that apply, and the policy, the most "
    "restrictive wins (docs/policies.md). One that fits no operation, or no parameter, stops the start."
)
RULES_EXAMPLE = """\
[[policy.rules]]
id = "many-at-once"
operations = ["delete_*"]
when = { ids = { items_above = 10 } }
action = "confirm"
reason = "More than ten at once"
"""


def _texts(value: Any) -> tuple[str, ...]:
    """Return one text or a list of them."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not 0 < len(texts) <= _MOST:
        raise ValueError(f"must be a text or a list of them, {_MOST} or fewer")
    if not all(isinstance(text, str) and text.strip() and len(text) <= _LONGEST for text in texts):
        raise ValueError(f"must be texts of 1 to {_LONGEST} characters")
    return tuple(text.strip() for text in texts)


def _words_of(words: tuple[str, ...]) -> Callable[[Any], tuple[str, ...]]:
    choice = Choice(words)
    return lambda value: tuple(choice(text) for text in _texts(value))


def _identifier(value: Any) -> str:
    text = str(value)
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,63}", text):
        raise ValueError("must be 1 to 64 lower-case letters, digits, '-', '_' or '.'")
    if text in BUILT_IN:
        raise ValueError(f"must not be one of {', '.join(BUILT_IN)}, which the policy's own decisions have")
    return text


def _sentence(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value.strip()) <= 300:
        raise ValueError("must be a text of one line, 300 characters or fewer")
    return value.strip()


# Conditions: `{path: {operator: value}}`


def _scalar(value: Any) -> Any:
    if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError("must be a text, a number, true or false")
    return value


def _scalars(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= 1000:
        raise ValueError("must be a list of 1 to 1000 texts or numbers")
    return tuple(_scalar(item) for item in value)


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("must be a number")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - as of all parsers
    return value


_OPERATORS: Mapping[str, Callable[[Any], Any]] = {
    "equals": _scalar,
    "in": _scalars,
    "not_in": _scalars,
    "matches": _texts,
    "above": _number,
    "at_most": _number,
    "items_above": Whole(0, 1_000_000),
    "items_at_most": Whole(0, 1_000_000),
    "outside": _texts,
    "inside": _texts,
    "given": _flag,
}


def _conditions(value: Any) -> Mapping[str, Mapping[str, Any]]:
    """Return the tests by dotted path."""
    if not isinstance(value, Mapping) or not value:
        raise ValueError("must be a table of parameters, such as { force = true }")
    conditions = dict(_tests((), value))
    if len(conditions) > 20:
        raise ValueError("must have 20 parameters or fewer")
    return conditions


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
        if value.keys() & _OPERATORS.keys():
            yield name, parsed_table(value, _OPERATORS, "test", f" of '{name}'", f"of '{name}': ")
        elif all(isinstance(inner, Mapping) for inner in value.values()):
            yield from _tests(segments, value)
        else:
            raise ValueError(f"has no test '{next(iter(value))}' of '{name}'; there are {', '.join(_OPERATORS)}")


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "id": _identifier,
    "operations": _texts,
    "tags": _texts,
    "families": _words_of(FAMILIES),
    "danger": _words_of(DANGER_LEVELS),
    "when": _conditions,
    "action": Choice(("allow", "confirm", "deny")),
    "reason": _sentence,
}


def policy_rules(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the rules, each with an id and an action; the environment gives them as a JSON list."""
    message = "must be a list of rules, each a table [[policy.rules]] with an action"
    tables = [] if value == "" else from_json(value, message)
    if not isinstance(tables, list) or len(tables) > _MOST or not all(isinstance(table, Mapping) for table in tables):
        raise ValueError(message)
    rules: list[Mapping[str, Any]] = []
    for position, table in enumerate(tables, 1):
        where = f"rule {position} ('{table['id']}')" if isinstance(table.get("id"), str) else f"rule {position}"
        rule = {"id": f"rule-{position}", **parsed_table(table, _KEYS, "key", f" in {where}", f"in {where}: ")}
        problem = _problem(rule, rules)
        if problem:
            raise ValueError(f"in {where}: {problem}")
        rules.append(rule)
    return tuple(rules)


def _problem(rule: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> str:
    """Return what is wrong with a rule of which each value is valid, "" if nothing is."""
    if "action" not in rule:
        return "it needs an action: allow, confirm or deny"
    if any(rule["id"] == other["id"] for other in before):
        return f"another rule has the id '{rule['id']}'"
    if rule["action"] == "allow":
        operations = rule.get("operations", ())
        if not operations or any(not re.search(r"[a-zA-Z0-9]", pattern) for pattern in operations):
            return "allow needs 'operations', each by its name or a pattern with part of one"
    return ""
