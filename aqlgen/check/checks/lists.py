"""Lists by a model: paged to the end either way, narrowed, ordered and counted, each answer compared as a whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from aqlgen.check.connection import Answer
from aqlgen.check.listing import NUMBER, PagedList
from aqlgen.check.operations import Operation
from aqlgen.check.results import Category
from aqlgen.check.run import Run, check
from aqlgen.check.stand_in import Arrived, Reply

_ITEMS, _SIZE, _LARGER, _MOST_PAGES = 7, 3, 5, 8
_GROUP, _PART, _MIXED = "checkGroup", "checkPart", "checkMixed"
_GROUPS = ("Anna", "Bo", None)
_FIELDS = tuple(
    {_GROUP: _GROUPS[number % 3], _MIXED: (number, "some", None)[number % 3],
     **({_PART: number / 2} if number % 2 else {})} for number in range(_ITEMS)
)  # fmt: skip
"""Fields of each item beside its number, of which no document knows: a text or null, any value, a number or nothing."""
_WHERE = (
    ({NUMBER: 3}, [3]), ({NUMBER: {"ne": 3}}, [0, 1, 2, 4, 5, 6]), ({NUMBER: {"gt": 4}}, [5, 6]),
    ({NUMBER: {"gte": 5, "lt": 6}}, [5]), ({NUMBER: {"lte": 1}}, [0, 1]), ({NUMBER: {"in": [6, 2]}}, [2, 6]),
    ({_GROUP: None}, [2, 5]), ({_GROUP: {"contains": "nn"}, NUMBER: {"gt": 0}}, [3, 6]),
    ({_GROUP: {"startswith": "b"}}, [1, 4]), ({_PART: 1.5}, [3]),
)  # fmt: skip
"""Conditions, each with the numbers of the items that meet it."""
_ORDERS = ((f"-{NUMBER}", [6, 5, 4, 3, 2, 1, 0]), (_PART, [1, 3, 5, 0, 2, 4, 6]), (f"-{_PART}", [5, 3, 1, 0, 2, 4, 6]))
_NUMBERS = (
    ({"count": True}, _ITEMS), ({"sum": NUMBER}, 21), ({"avg": _PART}, 1.5), ({"avg": _MIXED}, 3),
    ({"sum": _MIXED}, 9), ({"min": _PART, "max": NUMBER},
    {"min": 0.5, "max": 6}), ({"group_by": _GROUP, "count": True}, {"Anna": 3, "Bo": 2, "null": 2}),
)  # fmt: skip

_QUERIES: list[tuple[dict[str, Any], Any]] = [
    *(({"where": condition}, numbers) for condition, numbers in _WHERE),
    *(({"order_by": order}, numbers) for order, numbers in _ORDERS),
    *(({"aggregate": {"it": request}}, result) for request, result in _NUMBERS),
]


@check("L2-3", "A list pages to its end in both directions, each item once, by its own cursors only",
       Category.LEVEL_2, "R-SEL-3")  # fmt: skip
async def pages(run: Run) -> None:
    """Page through a list of numbered items, and with cursors that were never given."""
    for operation in run.callable:
        paging = operation.row.paging
        if paging is None or "first" not in operation.row.shown_parameters:
            continue
        params = {**operation.params, "first": _SIZE, **operation.in_full}
        if paging.location is None and paging.item_cursor is None and operation.row.method == "GET":
            for size in (None, _LARGER) if paging.size_param is not None else (None,):
                with run.api.behaving(_paged_list(run, operation, size).reply):
                    cursor = await _paged(run, operation, params)
                    if cursor is not None and size is None:
                        await _misused(run, operation, params, cursor)
            if "last" in operation.row.adapter_parameters:
                with run.api.behaving(_paged_list(run, operation).reply):
                    await _backwards(run, operation, without(params, "first"))
            if paging.style in ("page", "offset") and paging.size_param is not None:
                await _repeated(run, operation, params)
        forged = {**params, "after": "bm90LWEtY3Vyc29y"}
        await run.refused(operation, forged, "a cursor that it never gave", "VALIDATION_INVALID_VALUE")


def without(params: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return parameters without one."""
    return {key: value for key, value in params.items() if key != name}


def _paged_list(run: Run, operation: Operation, size: int | None = None) -> PagedList:
    """Return the list of the model. Where nothing tells the size of a page, pages of a usual size show the end."""
    paging = operation.row.paging
    assert paging is not None  # noqa: S101 - asked of lists that page
    return PagedList(operation.row, paging, run.api.data_of(operation.row), _FIELDS, size)


def _filter_of(operation: Operation) -> str:
    """Return an optional parameter of the query that takes any text, "" for none."""
    names = (name for name, parameter in operation.row.shown_parameters.items() if not parameter.required
             and parameter.location == "query" and name not in operation.params
             and operation.takes_any_text(parameter))  # fmt: skip
    return next(names, "")


async def _pages(
    run: Run, operation: Operation, params: dict[str, Any], step: str = "after"
) -> AsyncIterator[tuple[Answer, list[Any], dict[str, Any]]]:
    """Yield the answers of a list with the numbers of their items and their `pageInfo`, as far as each leads on."""
    name, key = ("endCursor", "hasNextPage") if step == "after" else ("startCursor", "hasPreviousPage")
    for _ in range(_MOST_PAGES):
        answer = await run.call(operation, params)
        data: Any = answer.data if isinstance(answer.data, dict) else {}
        info, items = data.get("pageInfo") or {}, data.get("items")
        yield answer, [item.get(NUMBER) for item in items or () if isinstance(item, dict)], info
        if info.get(key) is not True or not items:
            break
        params = {**params, step: info.get(name)}


async def _paged(run: Run, operation: Operation, params: dict[str, Any]) -> str | None:
    """Page to the end, and compare each `pageInfo` and what is asked for; returns the cursor of the first page."""
    numbers, cursors, name = list[Any](), list[Any](), _filter_of(operation)
    params, total = {**params, **({name: "kept"} if name else {})}, operation.row.paging and operation.row.paging.total
    async for answer, items, info in _pages(run, operation, params):
        if (
            not run.expect(answer.ok and len(items) <= _SIZE, operation, "gives no page")
            or "truncated_count" in answer.warned
        ):
            return None  # where it warns, the items are too large for a page of so many
        expected = {"hasPreviousPage": bool(cursors), **({"totalCount": _ITEMS} if total else {})}
        shown = {key: info.get(key) for key in expected}
        cursors.append(info.get("endCursor"))
        run.expect(shown == expected, operation, f"page {len(cursors)} says {shown}, not {expected}")
        right = bool(info.get("hasNextPage")) is ("endCursor" in info)
        run.expect(right, operation, f"page {len(cursors)} has a wrong end: {info}")
        kept = [request for request in run.arrived if "kept" in dict(request.query).values()]
        run.expect(not name or kept == run.arrived, operation, f"page {len(cursors)} is asked for without {name}")
        numbers += items
    run.expect(numbers == list(range(_ITEMS)), operation, f"its pages hold the items {numbers} of {_ITEMS}")
    return next(iter(cursors), None)


async def _backwards(run: Run, operation: Operation, params: dict[str, Any]) -> None:
    """Page from the end to the beginning."""
    parts = [items async for _, items, _ in _pages(run, operation, {**params, "last": _SIZE}, "before")]
    numbers = [number for part in reversed(parts) for number in part]
    run.expect(numbers == list(range(_ITEMS)), operation, f"backwards its pages hold {numbers} of {_ITEMS}")


async def _repeated(run: Run, operation: Operation, params: dict[str, Any]) -> None:
    """Let the API give its first page whatever is asked for: the list must end, and no item come twice."""
    listed = _paged_list(run, operation)
    with run.api.behaving(lambda request: listed.reply(Arrived("GET", request.path, (), {}, b"", request.base))):
        numbers = [number async for _, items, _ in _pages(run, operation, params) for number in items]
    run.expect(len(numbers) == len(set(numbers)), operation, f"of an API that does not page it gives {numbers}")


async def _misused(run: Run, operation: Operation, params: dict[str, Any], cursor: str) -> None:
    """Use a cursor for what it was not given for."""
    changed = cursor[:-3] + ("AAA" if not cursor.endswith("AAA") else "BBB")
    cases = {"a changed cursor": {**params, "after": changed}}
    backward = {"a cursor without last": without(params, "first") | {"before": cursor}}
    cases |= backward if "before" in operation.row.adapter_parameters else {}
    name = _filter_of(operation)
    cases |= {f"a cursor for another {name}": {**params, "after": cursor, name: "another"}} if name else {}
    for what, case in cases.items():
        await run.refused(operation, case, what, "VALIDATION_INVALID_")


@check("L2-7", "Conditions, orders and aggregates cover the whole list", Category.LEVEL_2, "R-SEL-3, R-SEL-4")
async def queries(run: Run) -> None:
    """Ask for some items by each operator, for an order, and for numbers; compare the whole answer."""
    lists = [item for item in run.callable if item.is_safe_read and "where" in item.row.adapter_parameters]
    paged = [item for item in lists if (paging := item.row.paging) and not (paging.location or paging.item_cursor)]
    whole = [item for item in lists if item.row.paging is None and isinstance(run.api.data_of(item.row), list)]
    for operation in [*paged[:1], *whole[:1]]:
        items = [{NUMBER: number, **fields} for number, fields in enumerate(_FIELDS)]
        paging = operation.row.paging
        size = _LARGER if paging is not None and (paging.total or paging.has_more or paging.next) else None
        reply: Any = Reply.of(200, items) if paging is None else _paged_list(run, operation, size).reply
        with run.api.behaving(reply):
            for option, expected in _QUERIES:
                if not option.keys().isdisjoint(operation.row.adapter_parameters):  # else the API has that parameter
                    shown, is_cut = await _queried(run, operation, option)
                    right = shown == (expected[: len(shown)] if is_cut else expected)
                    run.expect(right, operation, f"gives {shown} for {option}, not {expected}")


async def _queried(run: Run, operation: Operation, option: Mapping[str, Any]) -> tuple[Any, bool]:
    """Return the numbers of the items that an option leaves, or the aggregate, and whether the answer is cut."""
    more = {} if "aggregate" in option else operation.in_full
    answer = await run.call(operation, {**operation.params, **option, **more})
    data: Any = answer.data
    data = data.get("items", data) if isinstance(data, dict) else data
    if isinstance(data, list):
        return [item.get(NUMBER) for item in data if isinstance(item, dict)], "truncated_count" in answer.warned
    return data.get("aggregations", {}).get("it") if isinstance(data, dict) else data, False
