"""Update real resources over PUT, one field at a time, and see whether anything else changes.

For each document the operation table is made, and each update that merges what it reads is called against an API of its
own in this process: it keeps a sample of the schema that its GET answers with, and loses every writable field that a
PUT lacks. Each call names one field. Then somebody else writes another field between the reading and the writing, once
without ETags and once with them. An update that asks for further fields is called again with these.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.runtime.calls.update_plan import Plan
from aqlgen.runtime.calls.update_plan import prepare as plan_of
from aqlgen.runtime.client.api import Api
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.schema.reader import at, declared_types, fixed_values, follow, steps_of, union_of
from aqlgen.runtime.schema.samples import sample
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Row, Table
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from aqlgen.table.model import table_files
from bench.support.arguments import add_corpus, add_only, parser
from bench.support.documents import entries

KEPT, LOST, CONFLICT, OVERWRITTEN = "only the field changed", "LOST", "conflict", "OVERWRITTEN"
_MOST_FIELDS = 4
_DEEPEST = 20


class Resource:
    """The API of one resource: `answer` is what its GET gives, of which a PUT replaces the writable fields."""

    offline = True

    def __init__(self, plan: Plan, answer: Any) -> None:
        update = plan.row.update
        assert update is not None
        self._read, self._written = steps_of(update.read_at), steps_of(update.write_at)
        shape = union_of(plan.table.types, plan.target)
        self.fields = dict(shape.properties.values())
        self.first = json.dumps(answer)
        self.between: Callable[[], None] | None = None
        self.tagged = False
        self.reset()

    @property
    def beginning(self) -> dict[str, Any]:
        """The resource at the beginning."""
        state: dict[str, Any] = at(json.loads(self.first), self._read)
        return state

    def reset(self) -> None:
        """Be as at the beginning."""
        self.answer: Any = json.loads(self.first)
        self.version = 0

    @property
    def state(self) -> dict[str, Any]:
        """The resource."""
        state: dict[str, Any] = at(self.answer, self._read)
        return state

    async def send(self, request: ApiRequest, _row: Row) -> ApiResponse:
        """Answer a request."""
        if request.method == "GET":
            answer = self._response()
            if self.between is not None:
                between, self.between = self.between, None
                between()
            return answer
        tag = next((value for name, value in request.headers if name.lower() == "if-match"), None)
        if self.tagged and tag != f'"{self.version}"':
            return ApiResponse(412, {"content-type": "application/json"}, b"{}")
        body = at(json.loads(request.content or b"null"), self._written)
        for name in self.fields:
            self.state.pop(name, None)
        self.state.update(body)
        self.version += 1
        return ApiResponse(204, {}, b"")

    def _response(self) -> ApiResponse:
        headers = {"content-type": "application/json"} | ({"etag": f'"{self.version}"'} if self.tagged else {})
        return ApiResponse(200, headers, json.dumps(self.answer).encode())

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""


@dataclass
class Count:
    """The results of a document: pairs, and what became of the calls."""

    pairs: int = 0
    updates: Counter[str] = field(default_factory=Counter)
    races: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    strategies: Counter[str] = field(default_factory=Counter)

    def gather(self, other: Count) -> None:
        """Add another's numbers."""
        self.pairs += other.pairs
        self.updates += other.updates
        self.races += other.races
        self.strategies += other.strategies


def others(value: Any, schema: Mapping[str, Any], types: Mapping[str, Any]) -> Iterator[Any]:
    """Yield values that a field may be changed to."""
    target = follow(schema, types)
    yield from (choice for choice in fixed_values(target, types) or () if choice not in (value, None))
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, value - 1)
    elif isinstance(value, str):
        yield from (f"{value}x", value[:-1] + "0", "https://example.com/other", "2027-01-31T12:00:00Z")
    elif isinstance(value, list):
        yield from ([], value * 2)
    elif isinstance(value, dict):
        known = dict(union_of(types, target).properties.values())
        for key, inner in value.items():
            if key in known or not known:
                yield from ({key: other} for other in others(inner, known.get(key, {}), types) if other != inner)


def writable(value: Any, schema: Mapping[str, Any], types: Mapping[str, Any], depth: int = 0) -> Any:
    """Return a value without what the API computes in it: fields that the schema of the request does not declare."""
    shape = union_of(types, schema)
    if depth > _DEEPEST:
        return value
    if isinstance(value, list) and shape.items:
        return [writable(item, shape.items[0], types, depth + 1) for item in value]
    known = dict(shape.properties.values())
    if isinstance(value, dict) and not known and {"string", "integer"} & {*declared_types(follow(schema, types))}:
        return next((value[key] for key in ("id", "gid", "uuid") if key in value), value)  # written by its identifier
    if not isinstance(value, dict) or not known:
        return value
    return {key: writable(inner, known[key], types, depth + 1) for key, inner in value.items() if key in known}


def merged(value: Any, change: Any) -> Any:
    """Return a value with a change that removes nothing."""
    if not isinstance(value, dict) or not isinstance(change, dict):
        return change
    return {**value, **{key: merged(value.get(key), inner) for key, inner in change.items()}}


class Pair:
    """A PUT and its GET in a dispatcher of their own."""

    def __init__(self, plan: Plan, adapter: Adapter, resource: Resource) -> None:
        self.plan, self.resource = plan, resource
        side = Api(adapter, plan.table, resource, base_url="https://api.example", environ={})
        self.dispatcher = Dispatcher(adapter, plan.table, side, Config(policy="open"))
        self.api = side

    def params(self, change: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a call: the example's, and the change."""
        update, row = self.plan.row.update, self.plan.row
        assert update is not None
        inside: Any = dict(change)
        for step in reversed(steps_of(update.write_at)):
            inside = {step: inside}
        example = {key: value for key, value in (row.example or {}).items() if key != "input"}
        for name, parameter in row.parameters.items():
            if parameter.required and name not in example and name != "input":
                example[name] = sample(self.plan.table, parameter.schema)
        return {**example, "input": inside}

    async def update(self, change: dict[str, Any]) -> Any:
        """Call the update, once more with what it asks for."""
        params = self.params(change)
        answer = await self.call(params)
        asked = answer.get("error", {}).get("details", {}).get("missing_params", ())
        if not answer["success"] and asked and all(name.count(".") == 1 for name in asked):
            shape = union_of(self.plan.table.types, self.plan.written)
            for name in (path.partition(".")[2] for path in asked):
                params["input"][name] = sample(self.plan.table, shape.properties[name][1])
                change[shape.properties[name][0]] = params["input"][name]
            answer = await self.call(params)
        return answer

    async def call(self, params: Mapping[str, Any]) -> Any:
        """Call the update."""
        return await self.dispatcher.handle("update", {"operation": self.plan.row.name, "params": params})

    def changes(self) -> Iterator[dict[str, Any]]:
        """Yield a valid change of each of the first fields."""
        count = 0
        for name, value in list(self.resource.state.items()):
            schema = self.resource.fields.get(name)
            if schema is None or value is None or count >= _MOST_FIELDS:
                continue
            for other in others(value, schema, self.plan.table.types):
                if other == value:
                    continue
                change = {name: other}
                try:
                    self.api.validate(self.plan.row, self.params(change))
                except Failure:
                    continue
                count += 1
                yield change
                break


async def measure(pair: Pair, count: Count) -> None:
    """Make the changes of one pair, and the same ones with somebody else's between reading and writing."""
    resource, name = pair.resource, pair.plan.row.key
    changes = list(pair.changes())
    if not changes:
        count.updates["no field to change"] += 1
        return
    count.pairs += 1
    for change in changes:
        resource.reset()
        resource.tagged = False
        named = dict(change)
        answer = await pair.update(named)
        if not answer["success"]:
            count.updates[f"refused: {answer['error']['code']}"] += 1
            count.examples.append(f"{name} {sorted(change)}: {answer['error']['message'][:200]}")
            continue
        expected = merged(resource.beginning, named)
        before, after = (
            writable(state, pair.plan.target, pair.plan.table.types) for state in (expected, resource.state)
        )
        differing = [key for key in {*before, *after} if before.get(key) != after.get(key)]
        count.updates[LOST if differing else KEPT] += 1
        if differing:
            count.examples.append(f"{name} {sorted(change)}: {sorted(differing)[:5]} changed as well")
        for tagged in (False, True):
            await race(pair, named, changes[0], count, tagged=tagged)


async def race(pair: Pair, change: Mapping[str, Any], other: Mapping[str, Any], count: Count, *, tagged: bool) -> None:
    """Make a change while somebody else makes another one."""
    resource = pair.resource
    resource.reset()
    resource.tagged = tagged

    def write() -> None:
        resource.state.update(merged(resource.state, dict(other)))
        resource.version += 1

    resource.between = write
    answer = await pair.call(pair.params(change))
    kept = all(merged(resource.state.get(key), value) == resource.state.get(key) for key, value in other.items())
    kind = "with ETags" if tagged else "without ETags"
    if answer["success"]:
        count.races[f"{OVERWRITTEN} {kind}"] += 1
        count.examples.append(f"{pair.plan.row.key} {sorted(change)}: {sorted(other)} overwritten {kind}")
    elif answer["error"]["code"] == "CONFLICT_VERSION_MISMATCH" and kept:
        count.races[f"{CONFLICT} {kind}"] += 1
    else:
        count.races[f"refused: {answer['error']['code']} {kind}"] += 1


async def document(path: Path, most: int) -> Count:
    """Measure the updates of one document. Raises AqlgenError."""
    prepared = prepare(Options(Request(str(path))), lambda _stage: None)
    count = Count()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, text in table_files(prepared.table).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        adapter, table = Adapter.load(folder), Table(folder)
        for name, family in table.names():
            row = table.find(name, family)
            if row is None or row.update is None:
                continue
            count.strategies[row.update.strategy] += 1
            plan = plan_of(row, table)
            if row.update.strategy != "put-merge" or row.update.undeclared or plan.reader is None:
                continue
            good = min((status for status in plan.reader.responses if status.startswith("2")), default="")
            answer = sample(table, plan.reader.responses.get(good, {}).get("schema", {}))
            if not isinstance(at(answer, steps_of(row.update.read_at)), dict) or count.pairs >= most:
                continue
            await measure(Pair(plan, adapter, Resource(plan, answer)), count)
    return count


def main(argv: Sequence[str]) -> int:
    """Print a line for each document and the sums; the exit code is 1 if anything was lost or overwritten."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    arguments.add_argument("--most", type=int, default=12, metavar="N", help="at most N pairs of a document")
    arguments.add_argument("--examples", type=int, default=20, metavar="N", help="show N calls that did not go well")
    options = arguments.parse_args(argv)
    total, examples = Count(), list[str]()
    for entry in entries(options.corpus, options.only):
        try:
            count = asyncio.run(document(entry.path, options.most))
        except AqlgenError as error:
            print(f"{entry.name}: {error}")
            continue
        total.gather(count)
        examples += (f"{entry.name} {example}" for example in count.examples)
        if count.pairs:
            print(f"{entry.name}: {count.pairs} pairs, {dict(count.updates)}, {dict(count.races)}", flush=True)
    print("\n".join(examples[: options.examples]))
    print(f"strategies: {dict(total.strategies)}")
    print(f"{total.pairs} pairs, one field at a time: {dict(total.updates)}")
    print(f"somebody else in between: {dict(total.races)}")
    bad = total.updates[LOST] + sum(number for kind, number in total.races.items() if kind.startswith(OVERWRITTEN))
    return 1 if bad else 0
