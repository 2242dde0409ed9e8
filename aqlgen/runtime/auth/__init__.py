"""The credentials that the operations use, need or leave aside with the settings in force.

(OpenAPI 3.1, Security Requirement Object.)
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..text import counted

_SCHEME = ("security_schemes: {token: {type: http, scheme: bearer}}", "security: [token]")

STARTED_BY = "AQLGEN_STARTED_BY"
"""The variable with the command line of `aqlgen serve`, where that started the adapter, which is not installed then."""

BARE = "alone, by the API's document; some APIs need 'Bearer <value>'"
"""What is said of a key in `Authorization` that was not accepted, of which nothing is shown."""

KEY = "{key}"
"""Placeholder for the credential in descriptions of how it is sent."""

Alternatives: TypeAlias = tuple[tuple[str, ...], ...]


def added_scheme(api: str = "") -> str:
    """Return the lines of `overrides.yaml` that add a security scheme, to one of several APIs if it is named."""
    heads = ("apis:", f"  {api}:") if api else ("adapter:",)
    return "\n".join((*heads, *(f"{'  ' * len(heads)}{line}" for line in _SCHEME)))


def by_doctor(adapter: str, shows: str, otherwise: str = "") -> str:
    """Return the end of a sentence that names `doctor`, or `otherwise` where the adapter is not installed."""
    return otherwise if os.environ.get(STARTED_BY) else f"'{adapter}-adapter doctor' shows {shows}"


def alternative_in_use(alternatives: Alternatives, ready: Collection[str]) -> tuple[str, ...] | None:
    """Return the schemes that a request carries, none if it goes without a credential, None if it cannot be made."""
    for schemes in alternatives:
        if schemes and all(name in ready for name in schemes):
            return schemes
    return () if not alternatives or () in alternatives else None


def place_of(scheme: Mapping[str, Any]) -> dict[str, str]:
    """Return where a scheme's credential is sent: `in`, the `name` there, and the `format` with `{key}` for it.

    `in` is header, query, cookie, path or body; `tls` for a certificate, and "" for what cannot be sent.
    """
    kind, name = scheme.get("type", ""), scheme.get("scheme", "")
    if kind == "apiKey":
        return {"in": scheme.get("in", ""), "name": scheme.get("name", ""), "format": scheme.get("format") or KEY}
    if kind == "mutualTLS":
        return {"in": "tls", "name": "", "format": "the client's certificate"}
    formats = {"oauth2": f"Bearer {KEY}", "openIdConnect": f"Bearer {KEY}"}
    if kind == "http":
        answers = {"basic": "Basic …", "digest": "Digest …", "bearer": f"Bearer {KEY}"}
        formats["http"] = answers.get(name.lower(), f"{name} {KEY}")
    placed = kind in formats
    return {
        "in": "header" if placed else "",
        "name": "Authorization" if placed else "",
        "format": formats.get(kind, ""),
    }


def sent_as(scheme: Mapping[str, Any]) -> str:
    """Return where and how a scheme's credential is sent, for people: `header Authorization: Token {key}`."""
    place = place_of(scheme)
    if place["in"] in ("", "tls"):
        return place["format"]
    mark = ": " if place["in"] == "header" else "="
    return f"{place['in']} {place['name']}{mark}{place['format']}"


@dataclass(slots=True)
class Usage:
    """The numbers of operations, of those that can be called, and of those that name, use and lack each scheme."""

    operations: int = 0
    met: int = 0
    without: int = 0
    """Operations that are called without a credential."""
    demanding: int = 0
    """Operations that need a credential, whatever is there."""
    needing: Counter[str] = field(default_factory=Counter)
    """Operations that are not called without a scheme, since each alternative names it."""
    naming: Counter[str] = field(default_factory=Counter)
    using: Counter[str] = field(default_factory=Counter)
    lacking: Counter[str] = field(default_factory=Counter)
    unmet: Counter[Alternatives] = field(default_factory=Counter)
    """The requirements that are not met, with their operations."""

    @classmethod
    def of(cls, requirements: Iterable[Alternatives], ready: Collection[str]) -> Usage:
        """Count the operations with these requirements; `ready` are the schemes whose credential is there."""
        usage = cls()
        for alternatives in requirements:
            schemes = alternative_in_use(alternatives, ready)
            named = {name for schemes in alternatives for name in schemes}
            usage.operations += 1
            usage.naming.update(named)
            usage.demanding += bool(alternatives) and () not in alternatives
            usage.needing.update(name for name in named if all(name in schemes for schemes in alternatives))
            if schemes is None:
                usage.unmet[alternatives] += 1
                usage.lacking.update(named.difference(ready))
            else:
                usage.met += 1
                usage.without += not schemes
                usage.using.update(schemes)
        return usage

    def entry(self, scheme: str, *, ready: bool) -> dict[str, Any]:
        """Return the state of a scheme, and how many operations name it, use it and cannot be called for want of it.

        States: used, unused (it is there, and nothing uses it), needed, optional (not there, and nothing fails for it)
        and not_required (no operation names it).
        """
        if self.using[scheme]:
            state = "used"
        elif ready:
            state = "unused"
        elif self.lacking[scheme]:
            state = "needed"
        else:
            state = "optional" if self.naming[scheme] else "not_required"
        counts = {"naming": self.naming, "needing": self.needing, "using": self.using, "lacking": self.lacking}
        return {"state": state, "operations": {name: count[scheme] for name, count in counts.items()}}


def demand_of(demanding: int, total: int) -> str:
    """Return how many operations need a credential, for people."""
    return f"needed by {demanding:,} of {counted(total, 'operation')}"


def use_of(entry: Mapping[str, Any], total: int) -> str:
    """Return the sentence about the use of a scheme, from its entry, for people."""
    counts, state = entry["operations"], entry["state"]
    if not counts["naming"]:
        never = "declared, and no operation requires it"
        return f"set but unused: {never}" if state == "unused" else never
    return {
        "used": f"used by {counts['using']:,} of {counted(total, 'operation')}",
        "unused": f"set but unused: another is used for {counted(counts['naming'], 'operation')}",
        "needed": f"needed by {counts['lacking']:,} of {counted(total, 'operation')}",
        "optional": f"not needed: {counted(counts['naming'], 'operation')} can do without",
    }[state]
