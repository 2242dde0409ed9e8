"""The run of a plan: its calls one by one, halted at a failure and where a confirmation is needed (R-STEP-2, R-STEP-3).

Before the first call that is no safe read, and again before a call whose parameters were not known then, every call
that is known by now is looked at, and what must be confirmed is asked about together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ..calls.absent import absent_fields, named_with_nearest
from ..calls.conditions import compile_condition
from ..envelope import CallWarning
from ..errors import UNKNOWN_OUTCOME, Code, Failure, invalid, too_large
from ..exact_json import size_of
from ..paging.listing import UNKNOWN_FIELD
from ..protocol_operations import MAX_CALLS
from ..schema import json_type
from ..steps.halted import SECONDS, advised, is_final
from ..steps.plan import LOCAL, Plan, Step
from ..steps.references import Budget, Reference, is_reference, pick, read_reference, resolve

if TYPE_CHECKING:
    from .step_calls import StepCalls


MAX_ITEMS = 100
MAX_SECONDS = 120.0
_MOST_KEPT = 8_000_000
_MOST_SHOWN = 20_000
_MOST_PREVIEWS = 20
_NOT_RESUMED = ("PERMISSION",)
CUT = "VALIDATION_TRUNCATED_WARNING"
NOWHERE = "VALIDATION_REFERENCE_WARNING"


@dataclass(slots=True)
class Progress:
    """How far a plan is.

    `results` are the data of steps by number; `items`, `index` and `each` are of the current step; `counts` are calls.
    """

    position: int = 0
    results: dict[str, Any] = field(default_factory=dict)
    items: list[Any] | None = None
    index: int = 0
    each: list[Any] = field(default_factory=list)
    calls: int = 0
    unknown: bool = False
    """True if the call to go on with may have been carried out, and must not be made twice."""
    counts: dict[str, int] = field(default_factory=dict)
    key: str = ""
    """The idempotency key of that call, which is made again with the same."""


class _Key(NamedTuple):
    position: int
    item: int


class Run:
    """One run of a plan, from where its progress is."""

    def __init__(self, plan: Plan, progress: Progress, calls: StepCalls) -> None:
        self._plan = plan
        self._progress = progress
        self._calls = calls
        self._made = 0
        self._size = 0
        self._begin = monotonic()
        self._foreseen: set[_Key] = set()

    async def run(self) -> Any:
        """Perform what is left of the plan and return its answer. Raises Failure where it halts."""
        steps, progress = self._plan.steps, self._progress
        try:
            while progress.position < len(steps):
                await self._step(steps[progress.position])
        except Failure as failure:
            raise await self._halted(failure) from None
        finally:
            self._calls.report_end()
        if self._plan.returns is not None:
            budget = Budget(size_of(self._progress.results, _MOST_KEPT) + self._calls.budget)
            return resolve(self._plan.returns, lambda reference: self._value_or_null(reference, budget))
        return {"steps": [self._entry(step) for step in steps]}

    def summary(self) -> dict[str, int]:
        """Return the counts of a run: steps of the plan, steps done, calls made."""
        return {"steps": len(self._plan.steps), "done": self._progress.position, "calls": self._progress.calls}

    async def preview(self) -> dict[str, Any]:
        """Return the plan with its requests, as far as they are known; nothing is sent."""
        requests: dict[int, list[dict[str, Any]]] = {}
        shown = 0
        for key, step, params, _ in self._known():
            entries = requests.setdefault(key.position, [])
            if shown >= _MOST_PREVIEWS:
                continue
            shown += 1
            try:
                entries.append(await self._calls.preview(step.operation, params))
            except Failure as failure:
                entries.append(failure.envelope()["error"])
        entries_of_steps = []
        for position, step in enumerate(self._plan.steps[self._progress.position :], self._progress.position):
            entry = step.label
            if position in requests:
                entry["requests"] = requests[position]
            else:
                roots = (self._plan.step_of(reference) for reference in step.references())
                waits = {root.number: root.id or root.number for root in roots if root is not None}
                entry |= {"waits_for": list(waits.values()), "params": step.params}
            entries_of_steps.append(entry)
        return {"dry_run": True, "steps": entries_of_steps}

    # The steps

    async def _step(self, step: Step) -> None:
        progress = self._progress
        if progress.items is None:
            progress.items, progress.index, progress.each = self._items(step, warn=True), 0, []
        while progress.index < len(progress.items):
            self._check_bounds()
            params = self._params(step, progress.items[progress.index], progress.index)
            await self._confirm(step)
            self._calls.report(step, progress.index, len(progress.items))
            self._made += 1
            progress.calls += 1
            progress.counts[str(step.number)] = progress.counts.get(str(step.number), 0) + 1
            envelope = await self._calls.perform(step.operation, params)
            if not envelope["success"]:
                failure = Failure.of(envelope)
                unknown = failure.details.get("outcome") == UNKNOWN_OUTCOME
                progress.unknown = unknown and self._calls.rows[step.number].method in ("POST", "PATCH")
                progress.key = failure.details.get("idempotency_key", progress.key)
                raise failure
            progress.key = ""
            self._calls.add_warnings(envelope.get("warnings", ()), step.number)
            for warning in envelope.get("warnings", ()):  # a list filtered or counted by a field that no item has
                if warning["code"] == UNKNOWN_FIELD and "undeclared" in warning.get("details", {}):
                    raise _unknown(warning["details"]["undeclared"])
            total = envelope.get("_meta", {}).get("totalCount")
            if total is not None:
                self._calls.warn(CallWarning(CUT, f"'first' cut a list of {total} items", "medium"), step.number)
            data = envelope["data"]
            self._size += size_of(data, _MOST_KEPT)
            progress.each.append(data)
            progress.index += 1
        self._finish(step)

    def decide(self, choice: str | None) -> None:
        """Make the call of unknown outcome again, or take it for carried out. Raises Failure if nothing was chosen."""
        progress = self._progress
        step = self._plan.steps[min(progress.position, len(self._plan.steps) - 1)]
        if not progress.unknown:
            if choice is not None:
                raise invalid("unknown", "Parameter 'unknown' has no meaning here: the outcome of no call is unknown")
            return
        if choice is None:
            raise Failure(
                Code.MISSING_PARAM,
                f"Missing required parameter 'unknown': step {step.number} may have run. Find out, then give 'skip' "
                "if it did, 'repeat' if not",
                {"missing_params": ["unknown"], "step": step.number},
            )
        progress.unknown = False
        if choice == "skip":
            progress.key = ""
            progress.each.append(None)
            progress.index += 1
            if progress.index >= len(progress.items or ()):
                self._finish(step)

    def _matching(self, step: Step, items: list[Any], source: Step | None, path: Sequence[str] = ()) -> list[Any]:
        """Return the items that meet a step's conditions; they are at a path of what `source` answered, if it is known.

        Raises Failure where none has a field of them: such a condition holds for every item or for none, and what a
        plan does next would be done to all of them (R-STEP-1).
        """
        condition = self._named(self._resolved(step.where, None, 0), source, path)
        matcher = compile_condition(condition)
        absent = self._absent(items, condition, source, path)
        if absent:
            raise _unknown(absent)
        return list(filter(matcher, items))

    def _named(self, condition: Mapping[str, Any], source: Step | None, path: Sequence[str] = ()) -> Mapping[str, Any]:
        """Return a condition on what a step answers with by the agent's names of fields."""
        if source is None:
            return condition
        names = (self._calls.agent_path(source, ".".join((*path, field))) for field in condition)
        named = dict(zip((name.split(".", len(path))[-1] for name in names), condition.values(), strict=True))
        return named if len(named) == len(condition) else condition

    def _absent(
        self, items: Sequence[Any], condition: Mapping[str, Any], source: Step | None, path: Sequence[str] = ()
    ) -> dict[str, str | None]:
        """Return the undeclared fields of a condition that no item has, each with the nearest."""
        return {
            field: near
            for field, near in absent_fields(items, condition).items()
            if source is None or not self._calls.declares(source, ".".join((*path, field)))
        }

    def _finish(self, step: Step) -> None:
        """Keep the data of a step whose calls are made, and go to the next one."""
        progress = self._progress
        data = progress.each if step.foreach is not None else self._filtered(step, progress.each[0])
        progress.results[str(step.number)] = data
        progress.items, progress.index, progress.each = None, 0, []
        progress.position += 1

    def _check_bounds(self) -> None:
        """Raise Failure where a request has made enough calls, or lasts too long, or holds too much."""
        for name, limit, actual, unit in (
            ("calls", MAX_CALLS, self._made, "calls"),
            ("time", MAX_SECONDS, monotonic() - self._begin, "seconds"),
            ("data", _MOST_KEPT, self._size, "characters"),
        ):
            if actual >= limit:
                raise too_large(f"One request has no more than {limit:g} {unit} of a plan.", name, limit, unit)

    def _items(self, step: Step, *, warn: bool = False) -> list[Any]:
        """Return the items that a step is repeated for, bounded; of a step without foreach a single None."""
        if step.foreach is None:
            return [None]
        items = self._resolved(step.foreach, None, 0)
        if not isinstance(items, list):
            hint = ": give the list in it, such as .items" if isinstance(items, dict) else ""
            raise Failure(
                Code.INVALID_TYPE,
                f"foreach expected 'array', got '{json_type(items)}'{hint}",
                {"param_name": "foreach", "expected_type": "array", "actual_type": json_type(items)},
            )
        if step.where is not None:
            items = self._matching(step, items, *self._source(step))
        if warn:
            self._warn_of_cut(step, items)
        return list(items[:MAX_ITEMS])

    def _source(self, step: Step) -> tuple[Step | None, tuple[str, ...]]:
        """Return the step whose answer a foreach takes its list from, with its path there; None for another list."""
        if not is_reference(step.foreach):
            return None, ()
        reference = read_reference(step.foreach)
        path = tuple(part for part in reference.path if isinstance(part, str))
        return self._plan.step_of(reference), path[1:] if path[:1] == ("items",) else path

    def _warn_of_cut(self, step: Step, items: Sequence[Any]) -> None:
        if len(items) > MAX_ITEMS:
            message = f"foreach took the first {MAX_ITEMS} of {len(items)} items; the rest is left out"
            details = {"limit": MAX_ITEMS, "items": len(items)}
            self._calls.warn(CallWarning(CUT, message, "high", details), step.number)
        if not is_reference(step.foreach):
            return
        reference = read_reference(step.foreach)
        path = reference.path[: reference.path.index(None)] if None in reference.path else reference.path
        if path[-1:] == ("items",):
            page = self._value(Reference(reference.text, reference.root, path[:-1]), None, 0)
            info = page.get("pageInfo") if isinstance(page, dict) else None
            if isinstance(info, Mapping) and info.get("hasNextPage") is True:
                message = "foreach took one page of a list; it has more pages"
                self._calls.warn(CallWarning(CUT, message, "medium"), step.number)

    def _params(self, step: Step, item: Any, index: int) -> dict[str, Any]:
        params: dict[str, Any] = self._resolved(step.params, item, index)
        key = self._progress.key
        return self._calls.with_key(step, params, key) if key and self._here == (step.number - 1, index) else params

    def _resolved(self, value: Any, item: Any, index: int) -> Any:
        budget = Budget(self._calls.budget)
        return resolve(value, lambda reference: budget.spend(self._value(reference, item, index)))

    def _value(self, reference: Reference, item: Any, index: int) -> Any:
        if reference.root in LOCAL:
            return pick(item if reference.root == "item" else index, reference)
        step = self._plan.step_of(reference)
        if step is None or str(step.number) not in self._progress.results:
            raise invalid("$ref", f"'{reference.text}' is not known yet")
        return pick(self._progress.results[str(step.number)], reference)

    def _value_or_null(self, reference: Reference, budget: Budget) -> Any:
        """Return a value of the answer, or null with a warning if there is none or it is too long: the plan is done."""
        try:
            return budget.spend(self._value(reference, None, 0))
        except Failure as failure:
            warning = CallWarning(NOWHERE, f"return: {failure.message}", "medium", failure.details)
            self._calls.warn(warning, len(self._plan.steps))
            return None

    def _filtered(self, step: Step, data: Any) -> Any:
        """Return an answer with the items that meet the step's conditions: its list, or the only list in it."""
        if step.where is None or data is None:
            return data
        if isinstance(data, list):
            return self._matching(step, data, step)
        lists = [name for name, value in data.items() if isinstance(value, list)] if isinstance(data, dict) else []
        name = "items" if "items" in lists else lists[0] if len(lists) == 1 else None
        if name is None:
            raise invalid("where", "where selects items of a list; this answer holds no list, or several")
        return {**data, name: self._matching(step, data[name], step)}

    # Confirmation

    async def _confirm(self, step: Step) -> None:
        """Have every call confirmed that is known by now and must be. Raises Failure if they are not."""
        if self._calls.is_safe_read(step.operation) or self._here in self._foreseen:
            return
        keys, pending, unknown = [], [], set(range(step.number, len(self._plan.steps)))
        for key, other, params, item in self._known():
            unknown.discard(key.position)
            if key in self._foreseen and self._calls.asks_person:
                continue  # confirmed by that person before
            keys.append(key)
            confirmation = await self._calls.foresee(other.operation, params, item)
            if confirmation is not None:
                pending.append((key, confirmation))
        known = {confirmation.row.name for _, confirmation in pending}
        for operation in dict.fromkeys(other.operation for other in self._plan.steps[step.number :]):
            first_use = None if operation in known else await self._calls.foresee_first_use(operation)
            if first_use is not None:
                pending.append((_Key(len(self._plan.steps), 0), first_use))
        begin = monotonic()
        confirmed = await self._calls.confirm([held for _, held in pending], unknown) if pending else 0
        self._begin += monotonic() - begin  # while a person reads
        self._foreseen.update(keys)
        self._foreseen.difference_update(key for key, _ in pending[confirmed:])

    @property
    def _here(self) -> _Key:
        return _Key(self._progress.position, self._progress.index)

    def _known(self) -> Iterator[tuple[_Key, Step, dict[str, Any], Any]]:
        """Yield the calls that are left and whose parameters are known, at most as many as a request may make.

        With each is the item that it is about, if it is one of several.
        """
        progress, count = self._progress, 0
        for position, step in enumerate(self._plan.steps[progress.position :], progress.position):
            current = position == progress.position and progress.items is not None
            try:
                items = progress.items if current else self._items(step)
            except Failure:
                continue
            for index in range(progress.index if current else 0, len(items or ())):
                if count >= MAX_CALLS:
                    return
                try:
                    params = self._params(step, (items or [])[index], index)
                except Failure:
                    continue
                count += 1
                yield _Key(position, index), step, params, (items or [])[index]

    # Halting

    def _entry(self, step: Step, data: Any = None) -> dict[str, Any]:
        """Return a step that is done with what it shows."""
        entry = step.label
        if step.foreach is not None:
            entry["calls"] = self._progress.counts.get(str(step.number), 0)
        result = self._progress.results.get(str(step.number)) if data is None else data
        if step.foreach is not None and isinstance(result, list):
            return {**entry, "data": [self._calls.shown(step, item) for item in result]}
        return {**entry, "data": self._calls.shown(step, result)}

    def _done(self, halted: Step) -> list[dict[str, Any]]:
        """Return the entries of the steps done, without their data where that is much."""
        progress = self._progress
        done = [self._entry(step) for step in self._plan.steps[: progress.position]]
        if halted.foreach is not None and progress.items is not None and progress.each:
            done.append({**self._entry(halted, progress.each), "calls": len(progress.each), "of": len(progress.items)})
        if size_of(done, _MOST_SHOWN) > _MOST_SHOWN:
            done = [{key: value for key, value in entry.items() if key != "data"} for entry in done]
        return done

    async def _halted(self, failure: Failure) -> Failure:
        """Return the failure that halted the plan, with what is done, what is not, and how to go on."""
        progress, steps = self._progress, self._plan.steps
        step = steps[min(progress.position, len(steps) - 1)]
        where = step.label
        if step.foreach is not None and progress.items is not None:
            where |= {"item": progress.index, "of": len(progress.items)}
        token = None
        is_resumed = not (failure.code.value.startswith(_NOT_RESUMED) or is_final(failure))
        if is_resumed and self._size < _MOST_KEPT:
            token = await self._calls.keep({name: getattr(progress, name) for name in progress.__slots__})
        plan: dict[str, Any] = {
            "halted_at": where,
            "done": self._done(step),
            "not_done": [other.label for other in steps[progress.position :]],
            "summary": self.summary(),
        }
        if self._calls.shown_warnings:
            plan["warnings"] = self._calls.shown_warnings
        if token is not None:
            plan |= {"continue": token, "continue_within_seconds": SECONDS}
        return Failure(
            failure.code,
            f"Step {step.number}{f', item {progress.index}' if 'item' in where else ''}: "
            f"{advised(failure, token, self._calls.later)}",
            {**failure.details, "plan": plan},
            failure.confirmation,
        )


def _unknown(fields: Mapping[str, str | None]) -> Failure:
    return invalid(
        "where",
        f"No item has the field {named_with_nearest(fields)}, so the condition would hold for every item, or never. "
        "Correct the name, or leave the condition out",
        fields=list(fields),
    )
