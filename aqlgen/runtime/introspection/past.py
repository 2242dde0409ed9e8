# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The query `warnings`: what the session, or the caller, was warned of so far, the newest first (R-WARN-6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure
from ..warnings import is_among
from . import Bounds, refuse_narrowing

if TYPE_CHECKING:
    from ..warnings import History

__all__ = ["warnings_so_far"]

_NOBODY = (
    "No warnings are kept: this call has no session, and the adapter does not know who calls. Each answer carries "
    "its own warnings."
)


def warnings_so_far(
    history: History | None, params: Mapping[str, Any], names: Sequence[str], bounds: Bounds
) -> dict[str, Any]:
    """Return the warnings of a history; with `names` only those of these operations and codes. Raises Failure.

    A name that ends with an underscore stands for a whole category of codes.
    """
    refuse_narrowing(params, "warnings", ("search", "category", "resource"))
    if history is None:
        return {"warnings": [], "reason": _NOBODY}
    chosen = [
        entry for entry in history if not names or entry.operation in names or is_among(entry.warning.code, names)
    ]
    # The entry that a page ended with may have come again since, and then has another number.
    before = None if bounds.after is None else _number(bounds.after)
    newer = 0 if before is None else sum(entry.number >= before for entry in chosen)
    page, left = Bounds(None, bounds.first, bounds.tokens).page([entry.as_json() for entry in chosen[newer:]])
    return {"warnings": page, "page": bounds.described(page, len(chosen), left)}


def _number(after: str) -> int:
    if not (after.isascii() and after.isdigit() and len(after) <= 12):
        raise Failure(Code.INVALID_VALUE, "Parameter 'after' is the `name` of a warning, such as `page.next`")
    return int(after)
