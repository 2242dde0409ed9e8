"""Let `learn` observe a server without its overrides, and compare its proposals with what was written by hand."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from aqlgen.runtime.learn.proposals import Proposal, entries_of, proposals
from bench.servers.model import Server
from bench.servers.playing import playing


def learned(server: Server, home: Path) -> list[Proposal]:
    """Return what is proposed without the overrides; where the whole adapter is meant, once more with that."""
    proposed = _learned(server, home, [])
    of_adapter = [each for each in proposed if each.key == "adapter" and each.certain]
    return of_adapter + _learned(server, home, of_adapter) if of_adapter else proposed


def _learned(server: Server, home: Path, known: list[Proposal]) -> list[Proposal]:
    """Play the calls with the known proposals; return what is proposed halfway and before the first of each fault."""
    proposed: dict[tuple[str, str], Proposal] = {}
    faults = {call.fault: number for number, call in reversed([*enumerate(server.calls)])}
    stops = {len(server.calls) // 2, *(number for fault, number in faults.items() if fault)}
    with tempfile.TemporaryDirectory() as scratch, playing(taken(server, known), home, Path(scratch)) as player:
        for number, call in enumerate(server.calls):
            for proposal in proposals(player.observations(), {}, "2026-11-24") if number in stops else ():
                proposed.setdefault((proposal.key, proposal.field), proposal)
            with suppress(KeyError, IndexError, TypeError, ValueError):
                player.problem(call)
    return list(proposed.values())


def taken(server: Server, proposed: list[Proposal]) -> Server:
    """Return a server whose overrides are the certain proposals, and the owner's word about danger."""
    owned = {key: entry for key, entry in server.overrides.items() if "danger" in entry}
    return replace(server, overrides=owned | entries_of((each for each in proposed if each.certain), {}))


def table(name: str, server: Server, proposed: list[Proposal]) -> Iterator[str]:
    """Yield a row for each fact that was written by hand, then one for each further proposal."""
    by_place = {(each.key, each.field): each for each in proposed}
    for key, field, value in ((key, *fact) for key, entry in server.overrides.items() for fact in entry.items()):
        each = by_place.pop((key, field), None)
        is_held = each is not None and _holds(value, each.value)
        verdict = "not found" if not is_held or each is None else "found" if each.certain else "doubtful"
        yield f"{name:12} {verdict:10} {key}: {field}: {value}"
    for each in by_place.values():
        yield f"{name:12} {'further' if each.certain else 'further?':10} {each.key}: {each.field}: {each.value}"


def _holds(stated: Any, proposed: Any) -> bool:
    """Return True for a proposal that says all that was stated by hand."""
    if isinstance(stated, Mapping):
        return isinstance(proposed, Mapping) and all(_holds(value, proposed.get(key)) for key, value in stated.items())
    return stated == proposed or (isinstance(stated, list) and set(map(str, stated)) == set(map(str, proposed or ())))
