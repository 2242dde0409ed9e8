"""Hosts in the terminal: what goes to each, and what to write where the owner has not accepted one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from aqlgen.diagnostics.plain import counted
from aqlgen.runtime.hosts.report import HostUse
from aqlgen.runtime.text import visible
from aqlgen.table.access import overrides_entry

__all__ = ["refusal_lines", "use_lines"]

_MOST: Final = 20
"""The number of hosts that are shown before the rest is counted."""


def use_lines(uses: Sequence[HostUse]) -> list[str]:
    """Return a line for each host: whether it is accepted, and what goes there."""
    lines = []
    for use in uses[:_MOST]:
        state = f"accepted by {use.accepted_by}" if use.accepted_by else "not accepted" if use.is_used else "not called"
        lines.append(visible(f"  {use.origin}  {state}: {use.summary}" if use.is_used else f"  {use.origin}  {state}"))
    if len(uses) > _MOST:
        lines.append(f"  … and {len(uses) - _MOST:,} more")
    return lines


def refusal_lines(uses: Iterable[HostUse]) -> list[str]:
    """Return what is refused until the owner accepts its host, with the entry to paste; nothing if there is none."""
    refused = [use for use in uses if use.is_used and not use.accepted_by]
    if not refused:
        return []
    hosts = counted(len(refused), "host")
    return [
        f"{hosts} of the document not accepted; no requests or credentials go there:",
        *use_lines(refused),
        "To accept, put into overrides.yaml, with the hosts that you trust, and run `aqlgen update`:",
        *(f"  {line}" for line in overrides_entry(refused).splitlines()),
    ]
