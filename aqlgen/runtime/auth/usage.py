# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The credentials that the operations use, need or leave aside with the settings in force.

(OpenAPI 3.1, Security Requirement Object.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..text import counted

__all__ = ["ADDED_SCHEME", "Alternatives", "Usage", "alternative_in_use", "use_of"]

ADDED_SCHEME = """adapter:
  security_schemes: {token: {type: http, scheme: bearer}}
  security: [token]"""
"""The lines of `overrides.yaml` that add a security scheme."""

Alternatives: TypeAlias = tuple[tuple[str, ...], ...]


def alternative_in_use(alternatives: Alternatives, ready: Collection[str]) -> tuple[str, ...] | None:
    """Return the schemes that a request carries, none if it goes without a credential, None if it cannot be made."""
    for schemes in alternatives:
        if schemes and all(name in ready for name in schemes):
            return schemes
    return () if not alternatives or () in alternatives else None


@dataclass(slots=True)
class Usage:
    """The numbers of operations, of those that can be called, and of those that name, use and lack each scheme."""

    operations: int = 0
    met: int = 0
    without: int = 0
    """Operations that are called without a credential."""
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
        counts = {"naming": self.naming[scheme], "using": self.using[scheme], "lacking": self.lacking[scheme]}
        return {"state": state, "operations": counts}


def use_of(entry: Mapping[str, Any], total: int) -> str:
    """Return what an entry of a scheme says of its use, for people."""
    counts, state = entry["operations"], entry["state"]
    if not counts["naming"]:
        never = "declared, and no operation requires it"
        return f"set but unused: {never}" if state == "unused" else never
    return {
        "used": f"used by {counts['using']:,} of {counted(total, 'operation')}",
        "unused": f"set but unused: what requires it, {counted(counts['naming'], 'operation')}, uses another",
        "needed": f"needed by {counts['lacking']:,} of {counted(total, 'operation')}",
        "optional": f"not needed: {counted(counts['naming'], 'operation')} can do without",
    }[state]
