"""Make the calls of WAPIIBench, one each, and compare what arrives with what the benchmark says should arrive.

The folder holds `tasks.jsonl` and the documents beside it, which the lines of the sets `WAPII-…` name. For each line
the operation of its path is called over MCP: parameters by the names that introspection gives (a page's size is
`first`), values as introspection types them. A stand-in for the network notes the last request; before an update it
answers with an earlier state, the expected body with other values, so that a merge has to bring exactly what was asked.

Compared are the method, the URL with its host, the query and the body. These are no differences: the order of the query
and of fields, a list in a query or form that is repeated or joined by commas, how JSON within a form is spaced, a form
where the document offers no JSON, and headers. A refusal, or another request, is right if the document itself forbids
the expected request: its schemas refuse a value, it has no such parameter or body, or it demands what is missing.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import jsonschema_rs

from bench.support.arguments import parser
from bench.support.documents import package_of
from bench.support.processes import generate
from bench.support.runtime import load_generated
from bench.wire.calling import text_of
from bench.wire.refusals import fields, resolved
from bench.wire.values import SCALARS

SETTINGS = {
    "MCP_AQL_CONFIG": os.devnull,
    "MCP_AQL_STATE_URL": "memory:",
    "MCP_AQL_POLICY": "open",
    "MCP_AQL_LOG_LEVEL": "error",
}
JSON = "application/json"


@dataclass(frozen=True)
class Expected:
    """A request that should arrive; `path` is the template of the document."""

    method: str
    path: str
    url: str
    query: Mapping[str, Any]
    body: Any

    @classmethod
    def of(cls, task: Mapping[str, Any]) -> Expected:
        """Return the request of a line of the benchmark."""
        method, path = task["gold"][0].split(" ", 1)
        config = task["config"]
        return cls(method, path, config["url"], config.get("params") or {}, config.get("data"))

    def templated(self, base: str) -> dict[str, str]:
        """Return the values of the path's templates. `base` is the server's URL."""
        pieces = re.split(r"\{([^{}]*)\}", self.path)
        pattern = "".join(re.escape(piece) if index % 2 == 0 else "([^/]+?)" for index, piece in enumerate(pieces))
        match = re.fullmatch(pattern, unquote(self.url.removeprefix(base.rstrip("/"))))
        return dict(zip(pieces[1::2], match.groups(), strict=True)) if match else {}


def folded(name: str) -> str:
    """Return a name without what naming conventions differ in."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


class Call:
    """A call's parameters, from an expected request and what introspection shows of the operation and its types."""

    def __init__(self, parameters: Sequence[Mapping[str, Any]], row: Any, types: Mapping[str, Any]) -> None:
        self._row = row
        self._types = types
        self._shown = {parameter["name"]: parameter for parameter in parameters}
        size = row.paging and row.paging.size_param
        self._paged = {folded(size): "first"} if size and "first" in self._shown else {}
        self.unknown: list[str] = []

    def params(self, expected: Expected, base: str) -> dict[str, Any]:
        """Return the parameters; what has none of its name is noted in `unknown`."""
        params = {}
        for name, value in expected.templated(base).items():
            params |= self._parameter(name, value, ("path",))
        for name, value in expected.query.items():
            params |= self._parameter(name, value, ("query", "header", "body"))
        if "input" in self._shown and isinstance(expected.body, Mapping):
            params["input"] = self._value(expected.body, self._shown["input"]["type"])
        elif isinstance(expected.body, Mapping):
            for name, value in expected.body.items():
                params |= self._parameter(name, value, ("body", "query"))
        elif expected.body is not None:
            params["body"] = expected.body
        return params

    def _parameter(self, name: str, value: Any, places: Sequence[str]) -> dict[str, Any]:
        for place in places:
            for known, parameter in self._row.parameters.items():
                if known in self._shown and parameter.location == place and folded(parameter.wire) == folded(name):
                    return {known: self._value(value, str(self._shown[known]["type"]))}
        if folded(name) in self._paged:
            return {self._paged[folded(name)]: value}
        self.unknown.append(name)
        return {}

    def _value(self, value: Any, kind: str) -> Any:
        """Return a value as introspection types it, fields of a type included."""
        if not isinstance(value, Mapping) or kind not in self._types:
            return typed(value, kind)
        kinds = {folded(field["name"]): str(field["type"]) for field in self._types[kind].get("fields", ())}
        return {name: self._value(item, kinds.get(folded(name), "any")) for name, item in value.items()}


def typed(value: Any, kind: str) -> Any:
    """Return a value as introspection types its parameter."""
    if kind == "FileInput" and isinstance(value, str):
        return {"content": base64.b64encode(value.encode()).decode()}
    if kind == "array" and isinstance(value, str):
        return value.split(",")
    if kind in ("integer", "number", "boolean") and isinstance(value, str):
        try:
            data = json.loads(value)
        except ValueError:
            return value
        return data if json.dumps(data) == value else value  # a number that loses digits is given as text
    return value if kind != "string" or isinstance(value, str) else json.dumps(value)


def earlier(value: Any) -> Any:
    """Return a state that an update changes: the same fields and items with other values."""
    if isinstance(value, Mapping):
        return {name: earlier(item) for name, item in value.items()}
    if isinstance(value, list):
        return [earlier(item) for item in value]
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"was {value}" if isinstance(value, str) else value


class Adapter:
    """The adapter of one document, and the requests that leave it."""

    def __init__(self, document: Path, project: Path) -> None:
        generate(document, project)
        self.document = json.loads(document.read_bytes())
        package = package_of(project)
        about = json.loads((package / "adapter.json").read_bytes())
        schemes = about["security_schemes"].values()
        bearing = [scheme for scheme in schemes if scheme.get("type") != "apiKey"]  # as all expected requests do
        secrets = {name: "secret" for scheme in bearing for name in scheme["variables"]}
        self._parts = load_generated("assembly", package).assemble(package, environ={**secrets, **SETTINGS})
        self._server = load_generated("server", package).build_server(self._parts.dispatcher)
        self._requests: list[Any] = []
        self._state: Any = None
        self._watch(load_generated("client", package).HttpTransport, package)
        self.base = self.document["servers"][0]["url"]
        self._rows = {(row.method, row.path): row for name, _ in self._parts.table.names()
                      if (row := self._parts.table.find(name)) is not None}  # fmt: skip

    def _watch(self, transport: Any, package: Path) -> None:
        import importlib

        response = importlib.import_module(f"{package.name}.runtime.wire").ApiResponse

        async def send(_self: Any, request: Any, _row: Any) -> Any:
            self._requests.append(request)
            state = self._state if request.method == "GET" else {}
            return response(200, {"content-type": JSON}, json.dumps(state or {}).encode())

        transport.send = send

    async def call(self, expected: Expected) -> tuple[list[str], Any, Mapping[str, Any]]:
        """Call an operation; return names without a parameter, the last request (or None), and the envelope."""
        from mcp import Client

        row = self._rows[expected.method, expected.path]
        async with Client(self._server, mode="auto") as client:
            arguments = {"operation": "introspect", "params": {"query": "operations", "name": row.name}}
            shown = json.loads(text_of(await client.call_tool("mcp_aql_read", arguments)))["data"]["operation"]
            call = Call(shown["parameters"], row, await self._types(client, shown["parameters"]))
            params = call.params(expected, self.base)
            self._requests.clear()
            self._state = earlier(expected.body)
            result = await client.call_tool(shown["mcpTool"], {"operation": row.name, "params": params})
        envelope = json.loads(text_of(result))
        return call.unknown, self._requests[-1] if self._requests else None, envelope

    async def _types(self, client: Any, shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the details of the types that are shown, and of those of their fields."""
        types: dict[str, Any] = {}
        waiting = [str(parameter["type"]) for parameter in shown]
        while waiting:
            name = waiting.pop()
            if name in types or name in SCALARS or len(types) > 100:
                continue
            arguments = {"operation": "introspect", "params": {"query": "types", "name": name}}
            answer = json.loads(text_of(await client.call_tool("mcp_aql_read", arguments)))
            types[name] = (answer.get("data") or {}).get("type") or {}
            waiting += [str(field["type"]) for field in types[name].get("fields", ())]
        return types

    def operation(self, expected: Expected) -> Mapping[str, Any]:
        """Return the operation of the document."""
        operation: Mapping[str, Any] = self.document["paths"][expected.path][expected.method.lower()]
        return operation


def plain(value: Any) -> str:
    """Return a value as it may stand in a query or a form: lists joined by commas, JSON without blanks."""
    if isinstance(value, list):
        return ",".join(map(plain, value))
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _plain(values: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: plain(value) for name, value in (values or {}).items()}


def _arrived(url: str) -> dict[str, str]:
    lists: dict[str, list[str]] = {}
    for name, value in parse_qsl(urlsplit(url).query, keep_blank_values=True):
        lists.setdefault(name, []).append(value)
    return _plain(lists)


def differences(expected: Expected, request: Any) -> Iterator[str]:
    """Yield what differs between the expected request and the one that left the adapter."""
    if request.method != expected.method:
        yield f"method {request.method}"
    url = request.url.partition("?")[0]
    if unquote(url) != unquote(expected.url):
        yield f"URL {url}"
    if _arrived(request.url) != _plain(expected.query):
        yield f"query {_arrived(request.url)}"
    headers = {name.lower(): value for name, value in request.headers}
    kind = headers.get("content-type", "").partition(";")[0]
    if kind == JSON:
        body: Any = json.loads(request.content)
        wanted = expected.body
    else:
        exchange = {"headers": headers, "body": (request.content or b"").decode("latin-1")}
        body, wanted = _plain(fields(kind, exchange)), _plain(expected.body)
    if (body or None) != (wanted or None):
        yield f"{kind} {json.dumps(body)[:300]}, not {json.dumps(wanted)[:300]}"


def forbidden(adapter: Adapter, expected: Expected) -> Iterator[str]:
    """Yield why the document itself does not admit an expected request."""
    operation, document = adapter.operation(expected), adapter.document
    shared = document["paths"][expected.path].get("parameters", ())
    known = {**expected.templated(adapter.base), **expected.query}
    for parameter in (resolved(document, item) for item in (*shared, *operation.get("parameters", ()))):
        name, schema = parameter["name"], parameter.get("schema", {})
        if parameter["in"] in ("query", "path") and name in known:
            problem = mismatch(document, schema, typed(known[name], str(schema.get("type", ""))))
            if problem:
                yield f"{name}: {problem}"
        elif parameter.get("required") and parameter["in"] == "query":
            yield f"{name} is required in the query"
    content = resolved(document, operation.get("requestBody", {})).get("content", {})
    if expected.body is not None and not content:
        yield "the document has no body"
    for kind, media in content.items():
        if expected.body is not None and kind == JSON:
            problem = mismatch(document, media.get("schema", {}), expected.body)
            if problem:
                yield problem
        elif expected.body is not None:
            missing = set(resolved(document, media.get("schema", {})).get("required", ())) - set(expected.body)
            if missing:
                yield f"{', '.join(sorted(missing))} required in the body"


def mismatch(document: Mapping[str, Any], schema: Mapping[str, Any], value: Any) -> str:
    """Return why a value does not fit a schema of the document; '' if it does."""
    whole = {**schema, "components": document.get("components", {})}
    try:
        jsonschema_rs.validate(whole, value)
    except jsonschema_rs.ValidationError as error:
        return error.message.splitlines()[0]
    return ""


def outcome(adapter: Adapter, expected: Expected) -> tuple[str, str]:
    """Return the outcome of a task (exact, refused, wrong) and its reason."""
    unknown, request, envelope = asyncio.run(adapter.call(expected))
    faults = list(forbidden(adapter, expected))
    if unknown:
        faults.append(f"the document has no {', '.join(unknown)}")
    if request is None or not envelope["success"]:
        message = envelope.get("error", {}).get("message", "")
        return ("refused" if faults else "wrong"), f"{message} [{'; '.join(faults)}]"
    differing = list(differences(expected, request))
    if not differing:
        return "exact", ""
    return ("refused" if faults else "wrong"), "; ".join([*differing, *faults])


def main(argv: Sequence[str]) -> int:
    """Print what is not exact, then the counts; return 1 if a request is wrong."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("folder", type=Path, help="the folder of tasks.jsonl and its documents")
    arguments.add_argument("--only", default="", metavar="TEXT", help="tasks whose set, path or query holds TEXT")
    options = arguments.parse_args(argv)
    counts: dict[str, Counter[str]] = {}
    adapters: dict[str, Adapter] = {}
    lines = map(json.loads, (options.folder / "tasks.jsonl").read_text("utf-8").splitlines())
    with tempfile.TemporaryDirectory() as scratch:
        for task in lines:
            if (
                not task["set"].startswith("WAPII")
                or options.only not in f"{task['set']} {task['gold']} {task['query']}"
            ):
                continue
            name = task["doc"]
            if name not in adapters:
                adapters[name] = Adapter(options.folder / f"{name}.json", Path(scratch) / name)
            result, reason = outcome(adapters[name], Expected.of(task))
            counts.setdefault(task["set"], Counter())[result] += 1
            if result != "exact":
                print(f"{result}\t{task['set']}\t{task['gold'][0]}\t{reason}", flush=True)
    total: Counter[str] = Counter()
    print("\nset\texact\trightly refused or sent otherwise\twrong")
    for name, count in counts.items():
        total += count
        print(name, count["exact"], count["refused"], count["wrong"], sep="\t")
    print("all", total["exact"], total["refused"], total["wrong"], sep="\t")
    return 1 if total["wrong"] else 0
