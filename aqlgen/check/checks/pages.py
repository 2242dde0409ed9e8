"""Lists are paged to their end, by cursors that are good for that list alone (conformance testing, 2.2)."""

from __future__ import annotations

from typing import Any

from aqlgen.check.listing import NUMBER, PagedList
from aqlgen.check.operations import Operation
from aqlgen.check.results import Category, Result
from aqlgen.check.run import Connected, check

_ITEMS, _SIZE, _LARGER, _MOST_PAGES = 7, 3, 5, 8


@check("L2-3", "A list is paged to its end, each item once, by cursors of its own and by no others", Category.LEVEL_2,
       "R-SEL-3")  # fmt: skip
async def pages(run: Connected, result: Result) -> None:
    """Page through a list of numbered items, and with cursors that were never given."""
    for operation in run.setup.callable:
        paging = operation.row.paging
        if paging is None or "first" not in operation.row.shown_parameters:
            continue
        params = {**(operation.params or {}), "first": _SIZE}
        if operation.row.selects:
            params["fields"] = "full"
        if paging.location is None and paging.item_cursor is None and operation.row.method == "GET":
            data = run.setup.api.data_of(operation.row)
            # Where nothing tells the size of a page, the end is known by pages of a usual size alone.
            for size in (None, _LARGER) if paging.size_param is not None else (_LARGER,):
                with run.setup.api.behaving(PagedList(operation.row, paging, data, _ITEMS, size).reply):
                    cursor = await _whole(run, result, operation, params)
                    if cursor is not None and (size is None or paging.size_param is None):
                        await _cursors(run, result, operation, params, cursor)
        forged = {**params, "after": "bm90LWEtY3Vyc29y"}
        await run.refused(result, operation, forged, "a cursor that it never gave", "VALIDATION_INVALID_VALUE")


async def _whole(run: Connected, result: Result, operation: Operation, params: dict[str, Any]) -> str | None:
    """Page to the end; returns the cursor of the first page."""
    numbers: list[Any] = []
    first: str | None = None
    after: dict[str, Any] = {}
    for _ in range(_MOST_PAGES):
        envelope, _ = await run.sent(operation, {**params, **after})
        data = envelope.get("data")
        page: Any = data if isinstance(data, dict) else {}
        info, items = page.get("pageInfo"), page.get("items")
        is_page = isinstance(info, dict) and {"hasNextPage", "hasPreviousPage"} <= info.keys()
        is_page = is_page and isinstance(items, list) and len(items) <= _SIZE
        if not result.expect(is_page, operation.name, "gives no page", envelope):
            return None
        if envelope.get("warnings"):
            return None  # the items are too large for a page of so many
        numbers += [item.get(NUMBER) if isinstance(item, dict) else None for item in items]
        if info["hasNextPage"] is not True:
            break
        cursor = info.get("endCursor")
        if not result.expect(isinstance(cursor, str), operation.name, "gives no cursor of the next page", envelope):
            return None
        first, after = first or cursor, {"after": cursor}
    result.expect(numbers == list(range(_ITEMS)), operation.name, f"its pages hold the items {numbers} of {_ITEMS}")
    return first


async def _cursors(run: Connected, result: Result, operation: Operation, params: dict[str, Any], cursor: str) -> None:
    """Use a cursor for what it was not given for."""
    changed = cursor[:-3] + ("AAA" if not cursor.endswith("AAA") else "BBB")
    cases: dict[str, dict[str, Any]] = {"a changed cursor": {**params, "after": changed}}
    other = _filter(operation)
    if other is not None:
        cases[f"a cursor for another {other}"] = {**params, "after": cursor, other: "another"}
    cases["a cursor without first"] = {key: value for key, value in params.items() if key != "first"}
    cases["a cursor without first"]["after"] = cursor
    for name, case in cases.items():
        await run.refused(result, operation, case, name, "VALIDATION_INVALID_")


def _filter(operation: Operation) -> str | None:
    """Return an optional parameter of plain text that is no part of paging."""
    for name, parameter in operation.row.shown_parameters.items():
        is_open = parameter.location == "query" and not parameter.required and name not in (operation.params or {})
        if is_open and operation.takes_any_text(parameter):
            return name
    return None
