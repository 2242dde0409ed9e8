"""Play jobs as code over FastMCP's code mode; `bench.jobs` runs this file in a Python that has FastMCP.

The first line of the input has the document, the base URL and the field of each operation's answer that holds its list;
each further line is a job. For each job a line comes back: the list of tools, the requests with their answers as the
model writes and reads them, and an error if there is one. The code is what a model writes for the same plan.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_SIGNS = {"eq": "==", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "in": "in"}
_PART = re.compile(r"\.([^.\[\]]+)|\[(-?\d+|\*)\]")
_MORE = 100
"""How many hits a second search asks for, where the first did not find the operation."""


class Code:
    """The code of a job; `tools` are the tools by operation, `lists` the fields of lists by operation."""

    def __init__(self, job: Mapping[str, Any], tools: Mapping[str, Any], lists: Mapping[str, str | None]) -> None:
        self._job = job
        self._tools = tools
        self._lists = lists
        self._steps = {step["id"]: step for step in job["steps"] if step["id"]}

    def text(self) -> str:
        """Return the code."""
        lines: list[str] = []
        shown: dict[str, str] = {}
        for number, step in enumerate(self._job["steps"], 1):
            name = step["id"] or f"r{number}"
            if step["foreach"] is None:
                lines += self._single(step, name)
            else:
                used = step["id"] and self._is_used(step["id"])
                lines += [f"{name} = []"] if used else []
                call = self._call(step)
                lines += [
                    f"for item in {self._expression(step['foreach'])}:",
                    f"    {name}.append({self._listed(step, call)})" if used else f"    {call}",
                ]
            if step["shown"] or step["aggregate"]:
                shown[name] = name if step["aggregate"] else _projected(name, step["shown"], self._is_list(step))
        answer = self._job["answer"]
        values = shown if answer is None else {key: self._answer(value) for key, value in answer.items()}
        lines.append("return {" + ", ".join(f"{key!r}: {value}" for key, value in values.items()) + "}")
        return "\n".join(lines)

    def _is_used(self, name: str) -> bool:
        return (
            f'"{name}.' in json.dumps(self._job)
            or f'"{name}[' in json.dumps(self._job)
            or f'"{name}"}}' in json.dumps(self._job)
        )

    def _is_list(self, step: Mapping[str, Any]) -> bool:
        return step["operation"] in self._lists

    def _listed(self, step: Mapping[str, Any], call: str) -> str:
        """Return the list that a call answers with, or what else it answers with."""
        wrapped = (self._tools[step["operation"]].output_schema or {}).get("x-fastmcp-wrap-result")
        keys = ["result"] if wrapped else []
        if self._is_list(step) and self._lists[step["operation"]]:
            keys.append(self._lists[step["operation"]])
        return f"({call})" + "".join(f"[{key!r}]" for key in keys)

    def _single(self, step: Mapping[str, Any], name: str) -> list[str]:
        call = self._listed(step, self._call(step))
        if step["aggregate"]:
            return _counting(name, call, step["aggregate"])
        if step["where"]:
            condition = " and ".join(_condition(field, wanted) for field, wanted in step["where"].items())
            return [f"{name} = [x for x in {call} if {condition}]"]
        needed = bool(step["shown"]) or (step["id"] and self._is_used(step["id"]))
        return [f"{name} = {call}" if needed else self._call(step)]

    def _call(self, step: Mapping[str, Any]) -> str:
        tool = self._tools[step["operation"]]
        properties = tool.parameters.get("properties", {})
        arguments = {**step["params"], **(step["body"] or {})}
        first = arguments.pop("first", None)
        size = next((name for name in ("per_page", "limit") if name in properties), None)
        if first is not None and size is not None:
            arguments[size] = first
        named = {
            next((known for known in (name, f"{name}__path") if known in properties), name): value
            for name, value in arguments.items()
        }
        return f"await call_tool({tool.name!r}, {self._expression(named)})"

    def _expression(self, value: Any) -> str:
        """Return a value as code, in which references are expressions."""
        if isinstance(value, Mapping) and set(value) == {"$ref"}:
            return self._reference(value["$ref"])
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{key!r}: {self._expression(inner)}" for key, inner in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self._expression, value)) + "]"
        return repr(value)

    def _parts(self, text: str) -> tuple[str, list[str]]:
        root = re.match(r"\w+", text)
        assert root is not None
        parts = [name or index for name, index in _PART.findall(text[root.end() :])]
        step = self._steps.get(root[0])
        if step is not None and self._is_list(step) and "items" in parts:
            parts.remove("items")  # the variable is the list itself
        return root[0], parts

    def _reference(self, text: str) -> str:
        root, parts = self._parts(text)
        return _path(root, parts)

    def _answer(self, value: Any) -> str:
        """Return what the job answers with: of whole things the fields that are needed."""
        root, parts = self._parts(value["$ref"])
        step = self._steps.get(root)
        if step is None or not step["shown"] or any(part != "*" for part in parts):
            return _path(root, parts)
        if step["foreach"] is not None:
            return f"[{_projected('y', step['shown'], self._is_list(step))} for y in {root}]"
        return _projected(root, step["shown"], self._is_list(step))


def _path(name: str, parts: Sequence[str]) -> str:
    for index, part in enumerate(parts):
        if part == "*":
            rest = parts[index + 1 :]
            return f"[{_path('y', rest)} for y in {name}]" if rest else name
        name += f"[{part}]" if part.lstrip("-").isdigit() else f"[{part!r}]"
    return name


def _field(path: str, name: str = "x") -> str:
    return name + "".join(f"[{part!r}]" for part in path.split("."))


def _projected(name: str, fields: Sequence[str], is_list: bool) -> str:
    shown = ", ".join(f"{field.rpartition('.')[2]!r}: {_field(field, 'x' if is_list else name)}" for field in fields)
    return f"[{{{shown}}} for x in {name}]" if is_list else f"{{{shown}}}"


def _condition(field: str, wanted: Any) -> str:
    if wanted is None:
        return f"{_field(field)} is None"
    if not isinstance(wanted, Mapping):
        return f"{_field(field)} == {wanted!r}"
    return " and ".join(
        f"{value!r} in {_field(field)}" if sign == "contains" else f"{_field(field)} {_SIGNS[sign]} {value!r}"
        for sign, value in wanted.items()
    )


def _counting(name: str, call: str, aggregate: Mapping[str, Any]) -> list[str]:
    group = f"str({_field(aggregate['group_by'])})" if "group_by" in aggregate else "'all'"
    lines = [f"{name} = {{}}", f"for x in {call}:", f"    g = {name}.setdefault({group}, {{'count': 0, 'sum': 0}})"]
    lines.append("    g['count'] += 1")
    return [*lines, f"    g['sum'] += {_field(aggregate['sum'])}"] if "sum" in aggregate else lines


class Peer:
    """A FastMCP server in code mode for one document, and its client."""

    def __init__(self, start: Mapping[str, Any]) -> None:
        import httpx2
        from fastmcp import FastMCP
        from fastmcp.experimental.transforms.code_mode import CodeMode

        text = Path(start["document"]).read_text(encoding="utf-8")
        if start["document"].endswith("json"):
            document = json.loads(text)
        else:
            import yaml

            document = json.loads(json.dumps(yaml.load(text, yaml.CSafeLoader), default=str))
        client = httpx2.AsyncClient(base_url=start["base"])
        self._plain = FastMCP.from_openapi(document, client=client, validate_output=False)
        self.server = FastMCP.from_openapi(document, client=client, validate_output=False, transforms=[CodeMode()])
        self._lists = start["lists"]

    async def tools(self) -> dict[str, Any]:
        """Return the tools that the code can call, by operation."""
        return {f"{tool._route.method} {tool._route.path}": tool for tool in await self._plain.list_tools()}  # type: ignore[attr-defined]

    async def play(self, job: Mapping[str, Any], tools: Mapping[str, Any]) -> dict[str, Any]:
        """Play a job and return its requests and answers."""
        from fastmcp import Client

        exchanges: list[tuple[str, str]] = []
        async with Client(self.server) as client:
            listed = [
                tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in await client.list_tools()
            ]

            async def ask(tool: str, arguments: Mapping[str, Any]) -> str:
                answer = await client.call_tool(tool, dict(arguments), raise_on_error=False)
                text = "\n".join(part.text for part in answer.content)
                exchanges.append((json.dumps(arguments, separators=(",", ":")), text))
                if answer.is_error:
                    raise RuntimeError(text)
                return text

            error = None
            try:
                names = []
                for operation, words in {step["operation"]: step["words"] for step in job["steps"]}.items():
                    names.append(tools[operation].name)
                    hits = await ask("search", {"query": words})
                    if f"- {names[-1]}:" not in hits and f"### {names[-1]}" not in hits:
                        await ask("search", {"query": words, "limit": _MORE})
                await ask("get_schema", {"tools": names})
                await ask("execute", {"code": Code(job, tools, self._lists).text()})
            except Exception as problem:  # noqa: BLE001 - shown in the line of the job
                error = f"{type(problem).__name__}: {problem}"
        return {"tools": json.dumps(listed, separators=(",", ":")), "exchanges": exchanges, "error": error}


async def main() -> None:
    """Answer each line of the input with a line."""
    logging.disable(logging.CRITICAL)
    peer = Peer(json.loads(sys.stdin.readline()))
    tools = await peer.tools()
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await peer.play(json.loads(line), tools)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
