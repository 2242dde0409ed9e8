# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The ceiling of one request that holds several answers: those of a batch, the steps of a plan (R-WARN-3).

What is small stays, what is large shares the room. What was cut a second time is warned of once, and a page that was
cut leads on behind its last item, or nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..warnings.ceiling import CODE, Cut, cut_warnings, fit, fit_together
from ..warnings.rules import repeated_by

if TYPE_CHECKING:
    from ..envelope import Envelope, Paged
    from ..table import Row
    from ..warnings import CallWarning

__all__ = ["Answers", "fit_plan"]


class _Answer(NamedTuple):
    envelope: Envelope
    row: Row
    page: Paged | None


class Answers:
    """The answers of a batch. What the adapter itself answers is not cut."""

    def __init__(self) -> None:
        self._answers: list[_Answer] = []

    def add(self, envelope: Envelope, row: Row | None, page: Paged | None) -> None:
        """Add an answer of an operation of the API; `row` is None for any other."""
        if row is not None and envelope["success"]:
            self._answers.append(_Answer(envelope, row, page))

    async def fit(self, most: int, remember: Callable[[str, Iterable[CallWarning]], list[CallWarning]]) -> None:
        """Cut the data of the answers to `most` tokens together.

        `remember` takes the warnings of an operation, and returns those that are shown.
        """
        answers = self._answers
        if len(answers) < 2:
            return
        data = [answer.envelope["data"] for answer in answers]
        fitted = fit_together(data, [answer.page is not None for answer in answers], most)
        for answer, (shorter, cuts) in zip(answers, fitted, strict=True):
            if cuts:
                if answer.page is not None:
                    await answer.page.prepare()
                selector = repeated_by(answer.row)
                warnings = cut_warnings(cuts, most, page=answer.page is not None, selector=selector)
                _replace(answer, shorter, remember(answer.row.name, warnings))


def _replace(answer: _Answer, data: Any, cuts: Iterable[CallWarning]) -> None:
    envelope, _, page = answer
    if page is not None:
        data = {**data, "pageInfo": page.info(len(data["items"]))}
    warnings = envelope.get("warnings", [])
    before = {entry["details"]["field"]: entry for entry in warnings if entry["code"] == CODE}
    added = []
    for warning in cuts:
        entry = warning.as_json()
        earlier = before.get(entry["details"]["field"])
        if earlier is not None:
            entry["details"]["original_count"] = earlier["details"]["original_count"]
        added.append(entry)
    fields = {entry["details"]["field"] for entry in added}
    kept = [entry for entry in warnings if entry["code"] != CODE or entry["details"]["field"] not in fields]
    envelope["data"] = data
    if kept or added:
        envelope["warnings"] = [*kept, *added]


def fit_plan(data: Any, most: int, *, entries: bool) -> tuple[Any, list[CallWarning]]:
    """Return the answer of a plan cut to `most` tokens, with the warnings of what was cut.

    `entries` says that the data are those of every step, which share the room; a step's are named by its id or number.
    """
    shared = {str(entry.get("id", entry["step"])): entry["data"] for entry in data["steps"]} if entries else data
    fitted, cuts = fit(shared, most)
    if not cuts:
        return data, []
    for cut in cuts:
        _end_page(fitted, cut)
    warnings = list(cut_warnings(cuts, most, selector=""))
    if entries:
        fitted = {
            "steps": [{**entry, "data": fitted.get(str(entry.get("id", entry["step"])))} for entry in data["steps"]]
        }
    return fitted, warnings


def _end_page(data: Any, cut: Cut) -> None:
    """Take the cursor of a page whose items were cut: it leads on behind items that are not shown."""
    *path, last = cut.path or ("",)
    if last != "items":
        return
    for name in (*path, None):
        while isinstance(data, list) and data:
            data = data[0]  # of a list that was cut within an item, that item is left
        if name is not None and isinstance(data, dict):
            data = data.get(name)
    info = data.get("pageInfo") if isinstance(data, dict) else None
    if isinstance(info, dict):
        data["pageInfo"] = {**{key: value for key, value in info.items() if key != "endCursor"}, "hasNextPage": True}
