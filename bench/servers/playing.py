"""Play the calls of a server: through the adapter, in a process over MCP stdio, and past it, by HTTP."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import yaml

from aqlgen.runtime.learn.model import Observation
from aqlgen.runtime.learn.report import observations_of
from aqlgen.runtime.table import Table
from bench.servers.model import Call, Server, filled, unmet
from bench.support.documents import package_of
from bench.support.processes import environment, free_port, generate, served
from bench.support.stdio import ERAS, RawClient

_FAMILIES = ("create", "read", "update", "delete", "execute")
_SETTINGS = {"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_LOG_LEVEL": "error", "MCP_AQL_CONFIRMATION_RATE": "10000"}
_JSON = {"Accept": "application/json"}


class Player:
    """An adapter and its server, with the values that calls kept for later ones."""

    def __init__(
        self, client: RawClient, project: Path, origin: str, server: Server, settings: Mapping[str, str]
    ) -> None:
        self._client, self._project, self._settings = client, project, settings
        self._origin, self._learn = origin, server.learn
        self._headers = _JSON | dict(server.headers)
        self._names: dict[str, Any] = dict(server.names)
        self._rows: dict[str, tuple[str, str, list[str]]] = {}
        self._paths: list[str] = []
        for family in _FAMILIES:
            rows = json.loads((package_of(project) / "operations" / f"{family}.json").read_bytes())
            for name, row in rows.items():
                self._paths.append(f"{row['method']} {row['path']}")
                places = [key for key, parameter in row["parameters"].items() if parameter["in"] == "path"]
                self._rows[name] = self._rows[f"{row['method']} {_plain(row['path'])}"] = (family, name, places)

    def problem(self, call: Call) -> tuple[str, dict[str, Any]]:
        """Make a call; return what is wrong, or nothing, and the answer."""
        family, arguments = self._arguments(call)
        shows = bool(call.look) and not call.error and bool(self._unseen(call))  # what is so before shows nothing
        answer = self._ask(family, arguments)
        asked = _code(answer) == "CONFIRMATION_REQUIRED" and "CONFIRMATION_REQUIRED" not in call.error
        if call.asked is not None and asked != call.asked:
            return ("not asked about" if call.asked else "needlessly asked about"), answer
        if asked:
            if shows and not self._unseen(call):
                return "done before it was confirmed", answer
            details = answer["error"]["details"]
            params = {"continue": details["plan"]["continue"]} if "plan" in details else arguments["params"]
            token = {"confirmation_token": details["confirmation_token"]}
            answer = self._ask(family, arguments | {"params": {**params, **token}})
        return self._unmet(call, answer) or self._unseen(call), answer

    def observations(self) -> list[Observation]:
        """Return what the adapter's `learn` sees, writes to the things that calls have named included."""
        file = self._project.parent / "seen.sqlite3"
        state = {"MCP_AQL_STATE_URL": f"sqlite:///{file}", "MCP_AQL_LOG_LEVEL": "error"}
        module, variables = package_of(self._project).name, environment(**self._settings | state)
        options = ["--allow-writes", *self._learn, *self._resources()]
        command = [sys.executable, "-m", module, "learn", *options]
        done = subprocess.run(command, check=True, capture_output=True, env=variables, timeout=300)
        return observations_of(json.loads(done.stdout), Table(package_of(self._project)))

    def _resources(self) -> Iterator[str]:
        """Yield the paths of items with the values that are known for them."""
        for path in {key.partition(" ")[2] for key in self._paths if key.startswith("GET ") and key.endswith("}")}:
            values = [str(filled(f"${place}", self._names)) for place in re.findall(r"\{([^{}]*)\}", path)]
            if not any("$" in value for value in values):
                yield f"--resource={path}={','.join(values)}"

    def _arguments(self, call: Call) -> tuple[str, dict[str, Any]]:
        """Return the family of a call and the arguments of its tool."""
        params = filled(call.params, self._names)
        for several in ("steps", "operations"):
            if several in params:
                named = [self._named(step["operation"], step["params"]) for step in params[several]]
                steps = [step | arguments for step, (_, arguments) in zip(params[several], named, strict=True)]
                params = params | {several: steps}
                if call.call == "batch":
                    return named[0][0], params
        return self._named(filled(call.call, self._names), params)

    def _named(self, operation: str, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the family of an operation, and its name with parameters for all of its path."""
        method, _, path = operation.partition(" ")
        family, name, places = self._rows.get(f"{method} {_plain(path)}" if path else method, ("execute", method, []))
        ids = {place: filled(f"${place}", self._names) for place in places if place in self._names}
        return family, {"operation": name, "params": ids | dict(params)}

    def _ask(self, family: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = self._client.ask("tools/call", {"name": f"mcp_aql_{family}", "arguments": arguments})
        if "result" not in result:
            return {"success": False, "error": {"code": "PROTOCOL", "message": str(result)}}
        envelope: dict[str, Any] = json.loads(result["result"]["content"][0]["text"])
        return envelope

    def _unmet(self, call: Call, answer: dict[str, Any]) -> str:
        """Return what is wrong with the answer, or nothing."""
        if call.error and not re.fullmatch(call.error, _code(answer)):
            return f"{call.error} expected: {json.dumps(answer)[:600]}"
        if not call.error and not answer.get("success"):
            return f"failed: {json.dumps(answer)[:600]}"
        for name, path in call.keep.items():
            self._names[name] = _at(answer["data"], path)
        if not call.error and (problem := unmet(filled(call.data, self._names), answer["data"], "data")):
            return problem
        says = re.search(filled(call.says, self._names), json.dumps(answer), re.IGNORECASE)
        return "" if says else f"does not say {call.says!r}: {json.dumps(answer)[:600]}"

    def _unseen(self, call: Call) -> str:
        """Look past the adapter; return what is not as it must be, or nothing."""
        for address, expected in filled(call.look, self._names).items():
            method, path, content = [*("GET " * (address[0] == "/") + address).split(" ", 2), ""][:3]
            status, body = self._fetch(method, path, content.encode() or None)
            wanted = expected if re.fullmatch(r"<\d+>", str(expected)) else "<200>"
            problem = f"{wanted} expected" if wanted != f"<{status}>" else ""
            if wanted != expected:
                problem = problem or unmet(expected, body)
            if problem:
                return f"{address}: {problem} ({status})"
        return ""

    def _fetch(self, method: str, path: str, content: bytes | None) -> tuple[int, Any]:
        """Send a request to the server itself; return its status and its body, as data where it is JSON."""
        request = Request(self._origin + path, content, filled(self._headers, self._names), method=method)
        if content:
            request.add_header("Content-Type", "application/json")
        try:
            with urlopen(request, timeout=30) as response:
                status, answer = response.status, response.read()
        except HTTPError as error:
            status, answer = error.code, error.read()
        try:
            return status, json.loads(answer)
        except ValueError:
            return status, answer.decode("utf-8", "replace")


def _plain(path: str) -> str:
    return re.sub(r"\{[^{}]*\}", "{}", path)


def _code(answer: Mapping[str, Any]) -> str:
    return "" if answer.get("success") else str(answer["error"]["code"])


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


@contextmanager
def playing(server: Server, home: Path, scratch: Path) -> Iterator[Player]:
    """Start a server, generate its adapter, and start that; yield what plays calls."""
    folder, project, overrides = scratch / "data", scratch / "adapter", scratch / "overrides.yaml"
    places = {"home": home, "folder": folder, "port": free_port(), "spare": free_port()}

    def placed(text: str) -> str:
        return re.sub(r"\{(home|folder|port|spare)\}", lambda match: str(places[match[1]]), text)

    for name, text in server.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(placed(text))
    folder.mkdir(exist_ok=True)
    for name, schema in server.sqlite.items():
        with closing(sqlite3.connect(folder / name)) as connection:
            connection.executescript(Path(placed(schema)).read_text())
    command = ["env", "-C", str(folder), *map(placed, server.command)]
    environment = {name: placed(value) for name, value in server.environment.items()}
    with served(command, int(str(places["port"])), scratch / "log", environment):
        origin = f"http://127.0.0.1:{places['port']}"
        overrides.write_text(yaml.safe_dump(dict(server.overrides)))
        generate(_document(server, home, scratch, origin), project, "--overrides", str(overrides))
        settings = {"PYTHONPATH": str(project / "src"), "MCP_AQL_BASE_URL": origin + server.base}
        adapter = [sys.executable, "-m", package_of(project).name]
        settings |= dict(server.variables)
        with RawClient(adapter, ERAS[0], _SETTINGS | settings) as client:
            yield Player(client, project, origin, server, settings)


def _document(server: Server, home: Path, scratch: Path, origin: str) -> Path:
    """Return the file of the server's document, after it was fetched if the server serves it."""
    if not server.document.startswith("/"):
        return next(home.glob(server.document))
    with urlopen(Request(origin + server.document, headers=_JSON | dict(server.headers)), timeout=60) as response:
        (scratch / "openapi.json").write_bytes(response.read())
    return scratch / "openapi.json"
