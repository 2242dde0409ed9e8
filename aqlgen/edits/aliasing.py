"""The old names of operations that an update renames, as overrides that let agents go on using them for a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from aqlgen.decide.decision import Alias, Decision
from aqlgen.decide.naming.kept_names import followed
from aqlgen.ir import Json

__all__ = ["aliases"]


def aliases(
    names: Mapping[str, str], ids: Mapping[str, str], decisions: Iterable[Decision], until: date
) -> dict[str, dict[str, Json]]:
    """Give the overrides by `METHOD /path`; `names` and `ids` are the names and operationIds that there were.

    A name that another operation has now, or that answers already, is left out.
    """
    served = list(decisions)
    taken = {one.name for one in served} | {alias.name for one in served for alias in one.override.aliases}
    today = {one.operation.key: one.operation.operation_id or "" for one in served}
    known = followed(names, today, ids, today)
    found: dict[str, dict[str, Json]] = {}
    for one in served:
        old = known.get(one.operation.key)
        if old is not None and old not in taken:
            taken.add(old)
            every = (*one.override.aliases, Alias(old, until))
            found[one.operation.key] = {"aliases": [_written(alias) for alias in every]}
    return found


def _written(alias: Alias) -> Json:
    return alias.name if alias.until is None else {"name": alias.name, "until": alias.until.isoformat()}
