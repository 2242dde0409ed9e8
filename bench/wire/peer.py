"""Call the cases of `tests/wire_cases` through FastMCP, in a Python that has it; `record` runs this module.

What differs between two generators by design does not count: parameters are found by their names without case and
separators, `input` and `body` are also given as the fields that they hold, names within values are those of the API, a
target may encode what needs no encoding, JSON may be spaced, and any error is a refusal. An answer counts if its data
come as structured content or as text, under either spelling, or, for a failure, as an error.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from bench.wire.record import TABLES, Received, Recorder, Table, differences
from tests.wire_cases import HOST, Answer, Case


def folded(name: str) -> str:
    """Return a name without what naming conventions differ in."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def names(schema: Any) -> Iterator[str]:
    """Yield the names of all properties within a case."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, Mapping) else ()
        for value in schema.values():
            yield from names(value)
    elif isinstance(schema, list | tuple):
        for value in schema:
            yield from names(value)


def spelled(value: Any, known: Mapping[str, str]) -> Any:
    """Return a value whose names are those of the API."""
    if isinstance(value, Mapping):
        return {known.get(folded(name), name): spelled(item, known) for name, item in value.items()}
    return [spelled(item, known) for item in value] if isinstance(value, list) else value


def call_of(case: Case, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool for a case."""
    known: dict[str, str] = {}
    several = set()
    for name in names(case.content):
        if known.setdefault(folded(name), name) != name:
            several.add(folded(name))
    known = {name: wire for name, wire in known.items() if name not in several}
    by_fold = {folded(name): name for name in properties}
    arguments: dict[str, Any] = {}
    for name, argument in case.call.items():
        value = spelled(argument, known)
        if name in properties:
            arguments[name] = value
        elif folded(name) in by_fold:
            arguments[by_fold[folded(name)]] = value
        elif name in ("input", "body", "additional_properties") and isinstance(value, Mapping):
            arguments.update(value)
        else:
            arguments[name] = value
    return arguments


def alike(data: Any) -> Any:
    """Return data under names without case and separators."""
    if isinstance(data, Mapping):
        return {folded(name) or name: alike(item) for name, item in data.items()}
    return [alike(item) for item in data] if isinstance(data, list) else data


def normalized(target: str) -> str:
    """Return a target with nothing encoded that needs not be (RFC 3986, 6.2.2.2), and blanks of a query as `%20`."""
    path, mark, query = target.partition("?")
    plain = re.compile("%(2[Dd]|2[Ee]|5[Ff]|7[Ee])")
    joined = f"{path}{mark}{query.replace('+', '%20')}"
    return plain.sub(lambda match: chr(int(match[1], 16)), joined)


def meant(number: int, case: Case, received: Received | None) -> Received | None:
    """Return a request as the case spells it where both mean the same: escapes of a target, blanks of JSON."""
    if received is None:
        return None
    wanted = f"{urlsplit(case.base.replace(HOST, 'http://host')).path}/c{number}{case.target}"
    target = wanted if normalized(received.target) == normalized(wanted) else received.target
    body = received.body
    with suppress(ValueError):
        body = case.body if json.loads(body) == json.loads(case.body) else body
    return Received(received.method, target, received.headers, body)


def schema_of(tool: Any) -> Mapping[str, Any]:
    """Return the input schema of a tool, under either name that the MCP SDK has had for it."""
    schema: Mapping[str, Any] = getattr(tool, "input_schema", None) or getattr(tool, "inputSchema", None) or {}
    return schema


def is_read(answer: Answer, result: Any) -> bool:
    """Return True if a tool's result holds the data of an answer."""
    if answer.refused:
        return bool(result.is_error)
    if result.is_error:
        return False
    readings = [getattr(result, "structured_content", None)]
    if isinstance(readings[0], Mapping) and set(readings[0]) == {"result"}:
        readings.append(readings[0]["result"])
    for block in result.content:
        text = getattr(block, "text", None)
        if text is not None:
            readings.append(text)
            with suppress(ValueError):
                readings.append(json.loads(text))
    if answer.data is None and not answer.content:
        return True
    return any(json.dumps(alike(data), sort_keys=True) == json.dumps(alike(answer.data), sort_keys=True)
               for data in readings)  # fmt: skip


async def run(table: Table) -> tuple[int, int]:
    """Call the cases of a table; return how many were called and how many differ."""
    import httpx2
    from fastmcp import Client, FastMCP

    recorder = Recorder()
    listener, base = await recorder.opened()
    tools: dict[int, Any] = {}
    called = differing = 0
    document = table.document(base)
    if str(document.get("openapi", "")).startswith("3.2"):
        document["openapi"] = "3.1.1"  # it reads no later version
    for number, case in table.numbered(""):
        called += 1
        recorder.requests.clear()
        kind = "a" if isinstance(case, Answer) else "c"
        paths = {path: item for path, item in document["paths"].items() if re.match(rf"/{kind}{number}(?!\d)", path)}
        try:  # one document a case: what stops one does not stop the others
            server = FastMCP.from_openapi({**document, "paths": paths}, client=httpx2.AsyncClient(base_url=base))
            async with Client(server) as client:
                tools = {tool.name: tool for tool in await client.list_tools()}
                name = next(iter(tools))
                properties = schema_of(tools[name]).get("properties", {})
                arguments = {} if isinstance(case, Answer) else call_of(case, properties)
                result = await asyncio.wait_for(client.call_tool(name, arguments, raise_on_error=False), 20)
        except Exception as error:  # noqa: BLE001 - whatever it is, the case fails
            result, refusal = None, f"{type(error).__name__}: {error}"
        else:
            refusal = str(result.content)[:200] if result.is_error else ""
        received = recorder.requests[0] if recorder.requests else None
        if isinstance(case, Answer):
            fails = result is None or not is_read(case, result)
        else:
            received = meant(number, case, received)
            fails = bool(differences(number, case, received, case.refused if refusal and case.refused else refusal))
        if fails:
            differing += 1
            print(f"{table.name} {number} {case.title}: {refusal or received or result}"[:400], file=sys.stderr)
    listener.close()
    return called, differing


def main() -> int:
    """Print the numbers of called and of differing cases by table, as the last line."""
    logging.disable(logging.CRITICAL)
    print(json.dumps([[table.name, *asyncio.run(run(table))] for table in TABLES]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
