"""The tries of an update: a body that was sent, what was read before and after it, and what that says of the update."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..schema import Types, admitted_types, json_type
from ..table import JsonSchema
from ..text import counted, listed

MISSING_STATUSES = (404, 410)


@dataclass(frozen=True, slots=True)
class Try:
    """A body that was sent, with the status, and the resource as it was read before and after; None for no answer.

    `ours` are fields that were set before, so that their values are no defaults of the API. Where nothing else changed,
    the try tells something only of an update that `works`, as an earlier one has shown.
    """

    body: Mapping[str, Any]
    status: int
    before: Mapping[str, Any]
    after: Mapping[str, Any] | None
    ours: Collection[str] = ()
    works: bool = False

    @property
    def is_done(self) -> bool:
        """True if the API did it, and the resource is read afterwards."""
        return 200 <= self.status < 300 and self.after is not None

    def took(self, wires: Collection[str]) -> set[str]:
        """Return the fields that have a new value, the one that was sent."""
        after = self.after or {}
        return {key for key in wires if after.get(key) == self.body[key] != self.before.get(key)}

    def differing(self) -> set[str]:
        """Return the fields that changed and were not named."""
        after = self.after or {}
        return {key for key in self.before.keys() - self.body.keys() if after.get(key) != self.before[key]}

    def lost(self, fields: Collection[str]) -> set[str]:
        """Return the unnamed fields that were set, or had a value, and are empty now or have another one."""
        after, differing = self.after or {}, self.differing()
        emptied = {key for key in differing if not is_ours(self.before[key]) and is_ours(after.get(key))}
        return (emptied & {*fields}) | (differing & {*self.ours})

    def kept(self) -> set[str]:
        """Return the unnamed fields that were set before and are as they were, though something was done."""
        unnamed = {*self.ours} & (self.before.keys() - self.body.keys())
        return unnamed - self.differing() if self.works or self.after != self.before else set()

    def untaken(self) -> set[str]:
        """Return the fields that have another value than the one that was sent, or changed unnamed; none if refused."""
        after = self.after or {}
        other = {key for key, value in self.body.items() if after.get(key) != value}
        return other | self.differing() if self.is_done else set()

    def lenient(self, fields: Mapping[str, JsonSchema], types: Types) -> dict[str, Any]:
        """Return the types of the fields of which the API took another one than the document declares."""
        lenient: dict[str, Any] = {}
        for key in self.body.keys() & fields.keys() - self.untaken():
            admitted, kind = admitted_types(fields[key], types), json_type(self.body[key])
            if kind not in {*admitted, "integer"}:
                lenient[key] = {"type": sorted({*admitted, kind} - ({"integer"} if "number" in admitted else set()))}
        return lenient


def unnamed(parts: Sequence[Try], fields: Collection[str]) -> tuple[set[str], set[str]]:
    """Return the fields that an update lost though none was named, and those that it kept."""
    done = [trial for trial in parts if trial.is_done]
    lost = {key for trial in done for key in trial.lost(fields)}
    return lost, {key for trial in done for key in trial.kept()} - lost


def verdict(
    parts: Sequence[Try],
    lost: Collection[str],
    kept: Collection[str],
    whole: Try | None,
    names: Mapping[str, str],
    *,
    is_whole: bool,
) -> tuple[str, dict[str, str]] | None:
    """Return the verdict on fields that parts of a resource do not name, and the override that follows.

    `whole` is the try of all of it; `is_whole` says that the adapter sends that.
    """
    takes_whole = whole is not None and whole.is_done
    if lost:
        known = listed(sorted(names[key] for key in names.keys() & lost))
        return f"It loses omitted fields{f': {known}' if known else ''}", {} if is_whole else {"send": "whole"}
    if kept:
        says = f"It keeps omitted fields: {counted(len(kept), 'field')} of those that were set"
        if whole is not None and not takes_whole:
            says += f"; it refuses the whole resource as read, with {whole.status}"
        return says, {"send": "named"} if is_whole else {}
    if not parts or any(trial.is_done for trial in parts):
        return None
    statuses = {trial.status for trial in parts}
    return f"It refuses a part, with {listed(sorted(statuses))}{', and takes the whole' if takes_whole else ''}", {}


def is_ours(value: Any, marker: str = "") -> bool:
    """Return True for an empty value, or a text with the marker."""
    return value in (None, "", [], {}, False, 0) or (bool(marker) and isinstance(value, str) and marker in value)


def without_nulls(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body without its nulls."""
    return {key: value for key, value in body.items() if value is not None}
