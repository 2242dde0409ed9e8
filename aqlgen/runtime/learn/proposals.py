"""From observations to entries of overrides.yaml, and from those of an earlier run to what has changed since.

This is the one place that says which fields an observation may set: none lowers danger, names a host, hides an
operation or leaves out a question. What the owner has written is never replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from ..text import line
from .model import CHALLENGES, Observation

OBSERVED: Final = "observed "
"""How `why` of an entry begins that was observed."""
_LONGEST: Final = 400

_TEXT: Final = {"type": "string", "pattern": r"^[\w/.@$:~+{}\[\] -]{0,200}$"}
_KINDS: Final = {"enum": ["string", "integer", "number", "boolean", "array", "object", "null"]}
_PAGING: Final = (
    "style page_param offset_param cursor_param before_param size_param items has_more total next next_in item_cursor"
)
_SCHEMES: Final = {"type": "object", "propertyNames": _TEXT, "additionalProperties": {"type": "array", "maxItems": 0}}


def _object(required: Sequence[str] = (), /, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": fields, "additionalProperties": False}


_OF_OPERATIONS: Final = _object(
    pagination=_object(("style",), size_max={"type": "integer"}, **dict.fromkeys(_PAGING.split(), _TEXT)),
    security={
        "type": "array",
        "items": {"anyOf": [_TEXT, _SCHEMES]},
        "contains": {"anyOf": [_TEXT, {**_SCHEMES, "minProperties": 1}]},
    },
    send={"enum": ["named", "whole", "upsert"]},
    can_undo={"const": True},
    body=_object(("content_type",), content_type=_TEXT),
    parameters={
        "type": "object",
        "propertyNames": _TEXT,
        "additionalProperties": _object(
            type={"anyOf": [_KINDS, {"type": "array", "items": _KINDS, "minItems": 1}]}, required={"const": False}
        ),
    },
)
_KEY: Final = {
    "type": {"const": "apiKey"},
    "in": {"const": "header"},
    "name": {"type": "string", "pattern": "^(?i:authorization)$"},
    "description": {"enum": ["Authorization: Bearer <key>", "Authorization: Token <key>"]},
}
_CHALLENGE: Final = {"type": {"const": "http"}, "scheme": {"enum": list(CHALLENGES)}}
_OF_ADAPTERS: Final = _object(
    security={"enum": [[name] for name in CHALLENGES.values()]},
    security_schemes={
        "type": "object",
        "propertyNames": _TEXT,
        "additionalProperties": {"anyOf": [_object(tuple(_KEY), **_KEY), _object(tuple(_CHALLENGE), **_CHALLENGE)]},
    },
)
"""What an observation may set, as JSON Schemas: forms with plain names, and no other field."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entry to add: its key in overrides.yaml, a field with its value, and why; `owned` is the owner's own value."""

    key: str
    field: str
    value: Any
    why: str
    certain: bool
    owned: Any = None


@dataclass(frozen=True, slots=True)
class Change:
    """A field that an earlier run wrote, and that the API contradicts now."""

    key: str
    field: str
    was: Any
    now: Any
    says: str


def _fields(observation: Observation) -> Iterator[tuple[str, str, Any]]:
    """Yield the key, the field and the value of what an observation proposes and may set."""
    admitted = _OF_OPERATIONS if observation.key else _OF_ADAPTERS
    for field, value in observation.override.items():
        if jsonschema_rs.is_valid(admitted, {field: value}):
            yield observation.key or "adapter", field, value


def proposals(
    observations: Iterable[Observation], entries: Mapping[str, Mapping[str, Any]], day: str
) -> list[Proposal]:
    """Return the proposals of observations beyond the entries of overrides.yaml; `day` is the day of the observation.

    A value of the owner that is another is told beside the proposal, which is not to be taken then.
    """
    proposed: dict[tuple[str, str], Proposal] = {}
    for observation in observations:
        for key, field, value in () if observation.settled else _fields(observation):
            entry = entries.get(key) or {}
            stated = entry.get(field)
            observed = str(entry.get("why", "")).startswith(OBSERVED)
            if stated == value or (field == "security_schemes" and set(value) <= set(stated or ())):
                continue
            owned = None if observed or field == "security_schemes" else stated
            why = f"{OBSERVED}{day}: {line(observation.says, _LONGEST)}"
            if field == "security_schemes":
                value = {**(stated or {}), **value}
            proposed[key, field] = Proposal(key, field, value, why, observation.certain and owned is None, owned)
    return list(proposed.values())


def changes(observations: Iterable[Observation], entries: Mapping[str, Mapping[str, Any]]) -> list[Change]:
    """Return the entries of an earlier run that the API contradicts."""
    contradictions = []
    for observation in observations:
        for key, field, value in () if observation.settled else _fields(observation):
            entry = entries.get(key) or {}
            if field in entry and entry[field] != value and str(entry.get("why", "")).startswith(OBSERVED):
                contradictions.append(Change(key, field, entry[field], value, line(observation.says, _LONGEST)))
    return contradictions


def entries_of(taken: Iterable[Proposal], entries: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the entries to add for proposals that were taken; the owner's own reason for an entry stays."""
    added: dict[str, dict[str, Any]] = {}
    for proposal in taken:
        entry = added.setdefault(proposal.key, {})
        entry[proposal.field] = proposal.value
        why = str((entries.get(proposal.key) or {}).get("why", OBSERVED))
        if proposal.key != "adapter" and why.startswith(OBSERVED):
            before = str(entry.get("why", ""))
            entry["why"] = f"{before}; {proposal.why.partition(': ')[2]}" if before else proposal.why
    return added
