"""The fixed policies of an agent that plays a job over an adapter: call by call, or as a plan.

Call by call, it searches for each operation, has it described if the search does not, and calls it, for the fields that
the job needs where the description names them or leaves fields out; loops, conditions and sums are the model's own. As
a plan, it searches for all operations in one request, has those described that it does not know yet in another, and
sends the whole job as `run_steps`, or as a call where that is all. No model takes part.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import anyio.to_thread
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult

from aqlgen.render.template import render_template
from aqlgen.runtime.calls.conditions import compile_condition, values_at
from aqlgen.runtime.cli import main as run_command
from aqlgen.runtime.cli.operations import Declared, declared
from aqlgen.runtime.steps.references import Reference, pick, resolve
from aqlgen.runtime.table import Table
from bench.jobs.context import Context
from bench.jobs.model import Job, Step
from bench.support.documents import package_of
from bench.tokens import compact, count, server

__all__ = ["Adapter", "Shell", "play_as_plan", "play_by_calls", "tokens_of_tools"]

FIRST = 5
"""How many hits the agent asks a search for."""
_FAMILIES = ("create", "read", "update", "delete", "execute")


class Adapter:
    """A generated adapter, run for the stand-in at `base`, and what its table says of operations."""

    def __init__(self, project: Path, base: str, secret: str, *, asks_agent: bool = False) -> None:
        self._confirm = None if asks_agent else _confirm
        self._variables = {
            "MCP_AQL_BASE_URL": base,
            secret: "secret",
            "MCP_AQL_LOG_LEVEL": "error",
            "MCP_AQL_STATE_URL": "memory:",
            "MCP_AQL_WARN_SLOW_MS": "60000",
        }
        self._project = project
        self._names: dict[str, str] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        for family in _FAMILIES:
            rows = json.loads((package_of(project) / "operations" / f"{family}.json").read_bytes())
            for name, row in rows.items():
                self.rows[name] = {**row, "family": family}
                self._names[f"{row['method']} {_plain(row['path'])}"] = name

    def name(self, step: Step) -> str:
        """Return the adapter's name of a step's operation."""
        method, path = step.operation.split(" ")
        return self._names[f"{method} {_plain(path)}"]

    def params(self, step: Step) -> dict[str, Any]:
        """Return a step's parameters as the operation is described: the body as its fields, or as `input`."""
        row = self.rows[self.name(step)]
        wires: dict[bool, dict[str, str]] = {True: {}, False: {}}
        for name, parameter in row["parameters"].items():
            wires[parameter["in"] == "body"][parameter.get("name", name)] = name
        params = {wires[False].get(name, name): value for name, value in step.params.items()}
        if step.body is not None and "input" in row["parameters"]:
            params["input"] = dict(step.body)
        elif step.body is not None:
            params |= {wires[True].get(name, name): value for name, value in step.body.items()}
        return {name: value for name, value in params.items() if name != "first" or name in row["parameters"]}

    @asynccontextmanager
    async def session(self) -> AsyncIterator[_Session]:
        """Yield a session of a client of the adapter, with a person who confirms everything."""
        async with self._client() as client:
            yield _Session(client, self, Context(await tokens_of_tools(client)), describes=await _describes(client))

    def _client(self) -> Client:
        parameters = server(self._project, **self._variables)
        arguments = [argument for argument in parameters.args if argument != "--mock"]
        parameters = parameters.model_copy(update={"args": arguments})
        return Client(parameters, elicitation_callback=self._confirm)


class Shell(Adapter):
    """The command of an adapter, as an agent in a shell uses it; what it is told first is the skill.

    Each command is run as a process of its own would, on the same state; the agent confirms by tokens.
    """

    def __init__(self, project: Path, base: str, secret: str) -> None:
        super().__init__(project, base, secret)
        self.package = package_of(project)
        self.declared = {name: Declared({}, {}) for name in self.rows}
        table = Table(self.package)
        for name in self.rows:
            row = table.find(name)
            assert row is not None
            self.declared[name] = declared(row, table.types)
        self.command = f"{json.loads((self.package / 'adapter.json').read_bytes())['name']}-adapter"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[_Session]:
        """Yield the session, with a state that lasts as long."""
        name = self.command.removesuffix("-adapter")
        tree = render_template({"name": name, "package": "adapter", "parts": "skill", "runtime": "sealed"})
        skill = tree[f"skills/{name}/SKILL.md"].decode()
        with TemporaryDirectory() as folder:
            self.variables = {**self._variables, "MCP_AQL_STATE_URL": f"sqlite:///{folder}/state.sqlite3"}
            self.variables["MCP_AQL_AUDIT_PATH"] = f"{folder}/audit.jsonl"
            yield _ShellSession(self, Context(count(skill)))

    def words(self, request: Mapping[str, Any]) -> list[str]:
        """Return the words of the command for a request to a tool."""
        operation, params = request["operation"], dict(request.get("params", {}))
        if operation == "introspect" and params.keys() <= {"query", "search"} and "search" in params:
            return ["search", *map(shlex.quote, params["search"].split())]
        if operation == "introspect" and params.keys() <= {"query", "name"} and "name" in params:
            names = [params["name"]] if isinstance(params["name"], str) else params["name"]
            if len(names) == 1:
                return ["describe", *names]
        known = self.declared.get(operation, Declared({}, {}))
        return ["call", operation, *([] if not params else _words_of(params, known))]

    def run(self, words: Sequence[str]) -> str:
        """Run the command and return what it prints."""
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        unquoted = shlex.split(" ".join(words))
        with patch.dict(os.environ, self.variables), redirect_stdout(out):
            run_command(self.package, None, unquoted)
        return out.buffer.getvalue().decode()  # type: ignore[attr-defined]


async def _confirm(_: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    schema = getattr(params, "requested_schema", None) or {}
    names = list(schema.get("properties", {}))
    return ElicitResult(action="accept", content=dict.fromkeys(names, True))


def _words_of(params: Mapping[str, Any], known: Declared) -> list[str]:
    """Return parameters as words of a command line: NAME=VALUE if that is read back as it is, else one JSON object."""
    pairs = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in params.items()]
    is_plain = not any(isinstance(value, (list, dict)) for value in params.values()) and known.read(pairs) == params
    words = pairs if is_plain else [json.dumps(params, ensure_ascii=False, separators=(",", ":"))]
    return list(map(shlex.quote, words))


def _plain(path: str) -> str:
    return re.sub(r"\{[^{}]*\}", "{}", path)


async def tokens_of_tools(client: Client) -> int:
    """Return the tokens of the list of tools."""
    tools = (await client.list_tools()).tools
    return count(compact([tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]))


class _Session:
    """A client session whose calls are counted; with `describes` a search describes what it finds."""

    def __init__(self, client: Client | None, adapter: Adapter, context: Context, *, describes: bool) -> None:
        self._client = client
        self.describes = describes
        self.adapter = adapter
        self.context = context
        self.returned: dict[str, str] = {}

    async def ask(self, family: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return its envelope."""
        assert self._client is not None
        answer = await self._client.call_tool(f"mcp_aql_{family}", dict(arguments))
        text = answer.content[0].text  # type: ignore[union-attr]
        self.context.call(compact(arguments), text)
        envelope: dict[str, Any] = json.loads(text)
        return envelope

    async def data(self, family: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool and return the data; a question is answered with its token. Raises RuntimeError if it fails."""
        envelope = await self.ask(family, arguments)
        while "confirmation" in envelope:
            halted = envelope["error"]["details"].get("plan", {})
            params = {"continue": halted["continue"]} if "continue" in halted else arguments["params"]
            token = {"confirmation_token": envelope["confirmation"]["token"]}
            envelope = await self.ask(family, {**arguments, "params": {**params, **token}})
        if not envelope.get("success"):
            raise RuntimeError(f"{compact(arguments)}: {compact(envelope)}")
        return envelope["data"]


class _ShellSession(_Session):
    """The commands of a shell, counted as the calls of a tool that takes a `command`."""

    def __init__(self, shell: Shell, context: Context) -> None:
        super().__init__(None, shell, context, describes=True)
        self._shell = shell

    async def ask(self, family: str, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Run a command, or several in one line, and return the envelope."""
        requests = arguments.get("operations", [arguments])
        lines = [self._shell.words(request) for request in requests]
        command = "; ".join(" ".join((self._shell.command, *words)) for words in lines)
        printed = [await anyio.to_thread.run_sync(self._shell.run, words) for words in lines]
        self.context.call(compact({"command": command}), "".join(printed))
        envelopes = [json.loads(text) for text in printed]
        if "operations" in arguments:
            return {"results": [{"result": envelope} for envelope in envelopes]}
        return dict(envelopes[0])


def _introspection(**params: Any) -> dict[str, Any]:
    return {"operation": "introspect", "params": {"query": "operations"} | params}


def _distinct(job: Job) -> Iterator[Step]:
    """Yield a step for each operation of a job."""
    seen = set()
    for step in job.steps:
        if step.operation not in seen:
            seen.add(step.operation)
            yield step


# As a plan


async def play_as_plan(adapter: Adapter, job: Job) -> Context:
    """Play a job with as few calls as an adapter of today needs."""
    async with adapter.session() as session:
        steps = list(_distinct(job))
        describes = session.describes
        search = {"query": "search"} if describes else {"first": FIRST}
        asked = [_introspection(search=step.words, **search) for step in steps]
        asked.append(_introspection(name="run_steps"))
        answers = await _several(session, asked)
        known = {"run_steps"}
        for step, answer in zip(steps, answers, strict=False):
            name = adapter.name(step)
            if name not in _names_in(answer):
                hits = await session.data("read", _introspection(search=step.words, **search | {"first": FIRST * 5}))
                assert name in _names_in(hits), f"{step.words}: {name} is not found"
            known.update(_described(answer))
        unknown = [adapter.name(step) for step in steps if adapter.name(step) not in known]
        if unknown and describes:
            await session.data("read", _introspection(query="search", name=unknown))
        elif unknown:
            await _several(session, [_introspection(name=name) for name in unknown])
        await session.data("execute", {"operation": "run_steps", "params": _plan(adapter, job)})
    return session.context


async def _several(session: _Session, requests: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the data of several reads, in one request."""
    if len(requests) == 1:
        return [await session.data("read", requests[0])]
    envelope = await session.ask("read", {"operations": list(requests)})
    return [entry["result"]["data"] for entry in envelope["results"]]


async def _describes(client: Client) -> bool:
    """Return True for an adapter whose searches describe what they find; not counted, since its tools say so."""
    answer = await client.call_tool("mcp_aql_read", _introspection(query="search", search="list"))
    return bool(json.loads(answer.content[0].text)["success"])  # type: ignore[union-attr]


def _names_in(answer: Mapping[str, Any]) -> set[str]:
    """Return the operations that a search names."""
    return {operation["name"] for operation in answer["operations"]} | set(answer.get("others", ()))


def _described(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the operations that a search describes whole."""
    for operation in answer.get("operations", ()):
        if "params" in operation:
            yield operation["name"]


def _plan(adapter: Adapter, job: Job) -> dict[str, Any]:
    steps = []
    for step in job.steps:
        row = adapter.rows[adapter.name(step)]
        params = adapter.params(step)
        written: dict[str, Any] = {"id": step.id} if step.id else {}
        written["operation"] = adapter.name(step)
        if step.shown and "fields" in row["parameters"] and step.aggregate is None:
            params["fields"] = list(step.shown)
        if step.where is not None and "where" in row["parameters"]:
            params["where"] = dict(step.where)
        elif step.where is not None:
            written["where"] = dict(step.where)
        if step.aggregate is not None:
            params["aggregate"] = dict(step.aggregate)
            params.pop("first", None)
        if step.foreach is not None:
            written["foreach"] = step.foreach
        if params:
            written["params"] = params
        steps.append(written)
    return {"steps": steps, **({} if job.answer is None else {"return": dict(job.answer)})}


# Call by call


async def play_by_calls(adapter: Adapter, job: Job) -> Context:
    """Play a job with one operation in each call, and answers as they come."""
    async with adapter.session() as session:
        describes = {"query": "search"} if session.describes else {}
        for step in _distinct(job):
            name = adapter.name(step)
            for more in ({}, {"first": 50}, {"first": 250}):
                answer = await session.data("read", _introspection(search=step.words, **describes, **more))
                if name in _names_in(answer):
                    break
            else:
                raise RuntimeError(f"{step.words}: {name} is not found")
            if describes and name not in _described(answer):
                answer = await session.data("read", _introspection(**describes, name=[name]))
            elif not describes:
                await session.data("read", _introspection(name=name))
            outlines = [entry for entry in answer["operations"] if entry["name"] == name]
            session.returned[name] = str(outlines[0].get("returns", "")) if outlines else ""
        results: dict[str, Any] = {}
        for number, step in enumerate(job.steps, 1):
            results[step.id or str(number)] = await _perform(session, step, results)
    return session.context


async def _perform(session: _Session, step: Step, results: Mapping[str, Any]) -> Any:
    """Perform a step as a model does: an item after the other, with what it reads in the answers."""
    if step.foreach is None:
        returned = session.returned.get(session.adapter.name(step), "")
        sums = [value for value in (step.aggregate or {}).values() if isinstance(value, str)]
        needed = list(dict.fromkeys((*step.shown, *(step.where or ()), *sums)))
        is_named = "…" in returned or all(field.partition(".")[0] in returned for field in needed)
        data = await _call(
            session, step, results, None, **({"fields": needed} if returned and needed and is_named else {})
        )
        if not _has(data, step.shown):
            data = await _call(session, step, results, None, fields="full")
        if step.where is not None:
            matcher = compile_condition(step.where)
            data = {**data, "items": [item for item in data["items"] if matcher(item)]}
        return data
    items = resolve(step.foreach, lambda reference: _value(reference, results, None))
    return [await _call(session, step, results, item) for item in items]


def _value(reference: Reference, results: Mapping[str, Any], item: Any) -> Any:
    return pick(item if reference.root == "item" else results[reference.root], reference)


def _has(data: Any, fields: Sequence[str]) -> bool:
    """Return True if the first item of a list has the fields that the job is about."""
    items = data.get("items") if isinstance(data, dict) else None
    return not items or all(values_at(items[0], tuple(field.split("."))) for field in fields)


async def _call(session: _Session, step: Step, results: Mapping[str, Any], item: Any, **more: Any) -> Any:
    adapter = session.adapter
    name = adapter.name(step)
    row = adapter.rows[name]
    params = resolve(adapter.params(step), lambda reference: _value(reference, results, item))
    if more and "fields" in row["parameters"]:
        params |= more
    request = {"operation": name, "params": params}
    data = await session.data(row["family"], request)
    pages = [data]
    while isinstance(data, dict) and data.get("pageInfo", {}).get("hasNextPage"):
        data = await session.data(
            row["family"], {**request, "params": {**params, "after": data["pageInfo"]["endCursor"]}}
        )
        pages.append(data)
    if isinstance(data, dict) and "items" not in data and step.operation.startswith("GET"):
        lists = [value for value in data.values() if isinstance(value, list)]
        if step.where is not None and len(lists) == 1:
            return {**data, "items": lists[0]}  # of an adapter to which it is no page
    return pages[0] if len(pages) == 1 else {**pages[0], "items": [item for page in pages for item in page["items"]]}
