"""Sessions with the probe that were recorded and reviewed: each answer, request, question and record as a whole.

`probe/sessions.jsonl` has the head of a session, the adapter's introduction, then a line for each step: its call, the
answers of API and person, and every result. A restart and the end have all that the adapter has written. Texts that
differ in each run have names (`opaque`). A repeated value has a line before its first use: `{"@": its name, "is": …}`.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from threading import Barrier, BrokenBarrierError
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import anyio

from aqlgen.check.client import LEGACY, MODERN, Person, post
from aqlgen.check.connection import NotStarted, output_of, served_over_http
from aqlgen.check.forks import HOOKS, TABLE
from aqlgen.check.opaque import Names, steady
from aqlgen.check.run import Run
from aqlgen.check.stand_in import Arrived, Reply, data_of

FILE = Path(__file__).with_name("probe") / "sessions.jsonl"
SETTINGS = {"WARN_SLOW_MS": "3600000", "POLICY": "standard", "HTTP_METRICS": "1"}
INPUTS = (
    "by", "call", "send", "ask", "raw", "together", "run", "post", "file", "pause", "put", "restart", "waits",
    "api", "person",
)  # fmt: skip
"""The parts of a step that are its input; the others are results."""
_CREDENTIALS = {"check-key-0123456789": "KEY", "check-session-0123456789": "SESSION"}
_USUAL = {
    "host", "accept-encoding", "connection", "content-length", "user-agent=probe-adapter/0.1.0",
    "accept=application/json", "content-type=application/json", "cookie=check_session=SESSION",
}  # fmt: skip
"""Headers of requests that say nothing, all or with this value."""
_PADDED = re.compile(r"(?<=\S) {2,}|(?<!\d)\d{1,7}(?= ms\b)")
"""Spaces between columns, and times, in the output of commands."""
_TIMES = "python", "process", "info"
"""Words of the lines of metrics that are different each time."""
_TIMED = re.compile(r'\b(\w+_seconds_(?:sum|bucket))(?:[^\n]*?(le="[^"\n]*"))?[^\n]*')
"""A sum or a bucket of times, of which only its limit is the same each time."""
_EARLY = 0.05
"""Seconds that clocks differ by."""
_OF_OTHERS = ("mcp", "asyncio", "httpx", "httpcore", "uvicorn")
"""Loggers of libraries, whose records are theirs."""
_LATEST = 10
"""Seconds after which a line is in a log that a thread writes."""
_APART = re.compile(r"audit|^address$|\.toml$|-(?:shm|wal|journal)$")
"""Files that are compared otherwise, or not at all."""
_LONGEST = 2000
"""Bytes of a file that are compared."""
_HEADERS = {"date", "content-length", "mcp-session-id"}
"""Headers of answers over HTTP that are different each time."""


class Session(NamedTuple):
    """A session: its name with its settings, and its steps."""

    head: Mapping[str, Any]
    steps: list[dict[str, Any]]


def recorded() -> Iterator[Session]:
    """Yield the sessions of the file."""
    session: Session | None = None
    shared: dict[str, Any] = {}

    def whole(part: dict[str, Any]) -> Any:
        return shared[part["@"]] if part.keys() == {"@"} else part

    for line in FILE.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line, object_hook=whole)
        if "is" in entry:
            shared[entry["@"]] = entry["is"]
        elif "session" in entry:
            if session is not None:
                yield session
            session = Session(entry, [])
        elif session is not None:
            session.steps.append(entry)
    if session is not None:
        yield session


def difference(expected: Any, shown: Any, path: str = "") -> str:
    """Return the first difference of two values, "" if they are equal; true is not 1."""
    if type(expected) is type(shown) and isinstance(expected, dict):
        keys = [*expected, *(shown.keys() - expected.keys())]
        inner = (difference(expected.get(key, ...), shown.get(key, ...), f"{path}.{key}") for key in keys)
        return next(filter(None, inner), "")
    if type(expected) is type(shown) and isinstance(expected, list) and len(expected) == len(shown):
        pairs = enumerate(zip(expected, shown, strict=True))
        return next(filter(None, (difference(*pair, f"{path}[{index}]") for index, pair in pairs)), "")
    if type(expected) is type(shown) and expected == shown:
        return ""
    texts = ["nothing" if value is ... else json.dumps(value, ensure_ascii=False)[:400] for value in (expected, shown)]
    return f"{path.lstrip('.')} is {texts[1]}, not {texts[0]}"


async def _connected(
    stack: AsyncExitStack, run: Run, head: Mapping[str, Any], person: Person, names: Names
) -> list[Run]:
    """Start the adapter of a session, and connect as often as that says."""
    era, who = MODERN if head.get("modern") else LEGACY, person if head.get("person") else None
    callers = head.get("callers", 0)
    url, log = await stack.enter_async_context(run.served()) if callers else ("", None)
    headers = [*head.get("headers", ()), *[{}] * callers] if callers else [{}]
    runs = [
        await stack.enter_async_context(run.connected(era, url or None, who, headers=each))
        for each in headers[: callers or 1]
    ]
    for number, each in enumerate(runs):
        each.adapter.url, each.adapter.log = url, log or each.adapter.log
        names.known |= {each.adapter.client.session: f"<connection-{number}>"} if each.adapter.client.session else {}
    if "page" in head:
        file = Path(run.launch.variables["MCP_AQL_AUDIT_PATH"]).with_name("address")
        page = urlsplit((await stack.enter_async_context(served_over_http(run.launch, head["page"], file)))[0])
        texts = {page.fragment or page.netloc: "<entry>", page.netloc: "<page>", f"operator_{page.port}": "<cookie>"}
        names.known = {text: name for text, name in names.known.items() if name not in texts.values()} | texts
        names.fixed += texts.items()
    return runs


def _folders_of(head: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables by which a session has the probe's hooks, or its table of several APIs."""
    folders = {"hooks": (HOOKS, "hooks"), "several": (TABLE, "several/src")}
    return {variable: str(FILE.parent / folder) for name, (variable, folder) in folders.items() if head.get(name)}


async def played(run: Run, session: Session) -> list[dict[str, Any]]:
    """Play a session, and return its steps as they are now."""
    replies, asked, steps, names = list[str](), list[str](), list[dict[str, Any]](), Names("moving" in session.head)
    folder = Path(run.launch.variables["MCP_AQL_AUDIT_PATH"]).parent
    audit = Path(mkdtemp(prefix=f"tmp{session.head['session']}", dir=folder)) / "audit.jsonl"
    settings = str(shutil.copy(run.launch.variables["MCP_AQL_CONFIG"], audit.parent))
    (audit.parent / "unknown.toml").write_text("[http]\nporte = 1\n", encoding="utf-8")
    port = run.launch.variables["MCP_AQL_SERVER_VARIABLES"].removeprefix("port=")
    names.known |= {
        f"127.0.0.1:{port}": "<address>", str(audit.parent): "<folder>", f'"{port}"': '"<port>"',
        "x" * 65_536: "<long>", "x" * 1024: "<k>", "word " * 64: "<chatter>",
    }  # fmt: skip
    names.fixed = [*names.known.items(), *_CREDENTIALS.items()]
    names.known[shlex.join((sys.executable, str(FILE.with_name("hooks") / "browser.py"))) + " %s"] = "<browser>"
    head = names.meant(session.head)
    run = run.with_settings({**SETTINGS, "AUDIT_PATH": str(audit), "CONFIG": settings, **head.get("settings", {})})
    run = replace(run, launch=run.launch.with_variables(**_folders_of(head), **head.get("variables", {})))

    def person(question: str) -> str:
        asked.append(question)
        return replies.pop(0) if replies else "decline"

    async with AsyncExitStack() as stack:
        runs = await _connected(stack, run, head, person, names)
        steps.append({"began": names.named(_began(runs))})
        for step in session.steps:
            inputs = {name: step[name] for name in INPUTS if name in step}
            if not inputs:
                continue
            asked[:], replies[:] = [], inputs.get("person", [])
            meant, shown = names.meant(inputs), dict[str, Any]()
            if "restart" in step:
                shown |= {"left": await _left(stack, runs, head, audit, step.get("left", {}))}
                run = run.with_settings(meant["restart"])
                try:
                    runs = await _connected(stack, run, head, person, names)
                    shown |= {"began": _began(runs)}
                except NotStarted as problem:
                    shown |= {"answer": str(problem)}
            caller = runs[inputs.get("by", 0)]
            caller.adapter.client.notices.clear()
            caller.api.forget()
            api = [
                Reply.of(status, data, **headers)
                if not isinstance(data, str)
                else Reply(status, b64decode(data[7:]) if data.startswith("base64,") else data.encode(), headers)
                for status, data, headers in meant.get("api", ())
            ]
            with caller.api.behaving(lambda _, api=api, at=caller: _filled(api.pop(0), at.arrived) if api else None):
                shown |= await _step(caller, meant, audit, runs, len(step.get("lines", ())))
            requests = [_request(request) for request in caller.arrived]
            requests = sorted(requests, key=str) if "together" in inputs else requests
            notices = caller.adapter.client.notices
            more = {"requests": requests, "asked": asked, "notices": notices}
            steps.append(inputs | names.named(shown | {name: value for name, value in more.items() if value}))
        left = await _left(stack, runs, head, audit, session.steps[-1].get("left", {}))
        steps.append({"left": names.named(left | _files(audit))})
    return steps


def _began(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the introduction of an adapter: its answer to the handshake, and its tools."""
    adapter = runs[0].adapter
    return {"server": adapter.client.introduced, "tools": [*adapter.tools.values()]}


async def _left(
    stack: AsyncExitStack, runs: Sequence[Run], head: Mapping[str, Any], audit: Path, expected: Mapping[str, Any]
) -> dict[str, Any]:
    """End an adapter, and return its metrics, and its log and the audit log, once they have the expected lines."""
    names = [name for name in ("log", "audits") if name not in head.get("unseen", ())]  # of calls at once, or a crash
    shown = dict[str, Any]()
    if head.get("callers"):
        shown["metrics"] = (await _posted(runs[0], "/metrics", None, "GET", dict(*head.get("headers", ())[:1])))["body"]
    if head.get("callers") or "page" in head:  # it is killed, and what a thread writes is lost
        for name in names:
            await _lines(runs[0], name, audit, len(expected.get(name, ())), 2)
        shown |= {name: _written(runs[0], name, audit) for name in names}
    await stack.aclose()
    return {name: _written(runs[0], name, audit) for name in names} | shown


def _files(audit: Path) -> dict[str, Any]:
    """Return the files of a session without its logs and settings, each with its text; a database has none."""
    paths = [path for path in sorted(audit.parent.rglob("*")) if path.is_file() and not _APART.search(path.name)]
    texts = {path.relative_to(audit.parent).as_posix(): path.read_bytes()[:_LONGEST] for path in paths}
    return {"files": {name: "" if name.endswith(".sqlite3") else text.decode("utf-8", "replace")
                      for name, text in texts.items()}}  # fmt: skip


def _filled(reply: Reply, arrived: Sequence[Arrived]) -> Reply:
    """Return a reply with the members of the last object that was sent in place of `<sent>`."""
    return replace(
        reply,
        body=reply.body.replace(
            b"<sent>", next((request.body[1:-1] for request in reversed(arrived) if request.body[:1] == b"{"), b"")
        ),
    )


async def _step(run: Run, step: Mapping[str, Any], audit: Path, runs: Sequence[Run], expected: int) -> dict[str, Any]:
    """Make a step; returns what came of it."""
    if "file" in step:
        return {"lines": await _lines(run, step["file"], audit, expected)}
    if "pause" in step:
        await anyio.sleep(step["pause"])
    if "put" in step:
        audit.with_name(step["put"][0]).write_text(step["put"][1], encoding="utf-8")
    if {"pause", "put", "restart"} & step.keys():
        return {}
    if "run" in step:
        code, output, errors = await output_of(run.launch, *step["run"])
        return {
            "code": code,
            "output": data_of(output) or [_PADDED.sub("  ", line) for line in output.splitlines()],
            "errors": [data_of(line) or line for line in errors.splitlines()],
        }
    if "post" in step:
        return await _posted(run, *step["post"])
    if "together" in step:
        return await _together(runs, *step["together"])
    try:
        if "raw" in step:
            return {"answer": await run.adapter.client.exchange(*step["raw"])}
        if "ask" in step:
            return {"answer": await run.adapter.client.request(step["ask"][0], **step["ask"][1])}
        return await _call(run, step)
    except (ConnectionError, RuntimeError) as problem:  # an error of the protocol, or it has not started
        return {"answer": str(problem)}


async def _posted(run: Run, path: str, content: Any, method: str, headers: dict[str, str]) -> dict[str, Any]:
    """Send a request to an adapter over HTTP."""
    status, body, shown = await post(urljoin(run.adapter.url, path), content, method, **headers)
    lines = [
        _TIMED.sub(r"\1\2", line)
        for line in body.decode("utf-8", "replace").splitlines(keepends=True)
        if not any(word in line for word in _TIMES)
    ]
    steady = (line for number, line in enumerate(lines) if "_seconds_" not in line or line not in lines[:number])
    shown = {name: value for name, value in shown.items() if name not in _HEADERS}
    data = data_of(body) or data_of(body.partition(b"data: ")[2]) or "".join(steady)
    return {"status": status, "headers": shown, "body": data}


async def _lines(run: Run, name: str, audit: Path, expected: int, most: float = _LATEST) -> list[dict[str, Any]]:
    """Return the lines of a log, once as many as expected are in it: a thread writes them."""
    ends = monotonic() + (most if expected else 1)
    lines = _written(run, name, audit)
    while not 0 < expected <= len(lines) and monotonic() < ends:
        await anyio.sleep(0.02)
        lines = _written(run, name, audit)
    return lines


async def _together(runs: Sequence[Run], seconds: float, calls: list[list[Any]]) -> dict[str, Any]:
    """Make calls at once, each by its caller; the API answers when all have arrived, or after some seconds."""
    meeting, answers = Barrier(len(calls)), dict[int, Any]()

    def wait(_: Arrived) -> None:
        with suppress(BrokenBarrierError):
            meeting.wait(seconds)

    async def call(number: int, by: int, *parts: Any) -> None:
        answers[number] = dict(await runs[by].adapter.send(*_sent(runs[by], parts)))

    with runs[0].api.behaving(wait):
        async with anyio.create_task_group() as group:
            for number, parts in enumerate(calls):
                group.start_soon(call, number, *parts)
    return {"met": not meeting.broken, "answers": [answer for _, answer in sorted(answers.items())]}


def _sent(run: Run, call: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments of a call in short: a family, an operation, parameters, and what is beside."""
    family, operation, params, *beside = call
    return run.adapter.tool(family), {"operation": operation, "params": params, **(beside[0] if beside else {})}


async def _call(run: Run, step: Mapping[str, Any]) -> dict[str, Any]:
    """Call a tool; a call in short has family, operation and parameters."""
    sent = _sent(run, step["call"]) if "call" in step else (run.adapter.tool(step["send"][0]), step["send"][1])
    answer = await run.adapter.send(*sent)
    shown: dict[str, Any] = {"answer": dict(answer), **({"blocks": answer.blocks} if answer.blocks else {})}
    took, times = (answer.get("_meta") or {}).get("duration_ms", 0), [request.seconds for request in run.arrived]
    if not 0 <= took <= answer.seconds * 1000:
        shown["took"] = [took, answer.seconds]
    if "waits" in step:
        shown["waited"] = times[-1] - times[0] >= step["waits"] - _EARLY
    return shown


def _written(run: Run, name: str, audit: Path) -> list[dict[str, Any]]:
    """Return the lines of the audit log or of the log, each as it differs from the one before it, with nulls."""
    files = sorted(audit.parent.glob(f"{audit.stem}*.jsonl")) if name == "audits" else [audit][: audit.exists()]
    text = run.adapter.log() if name == "log" else "".join(file.read_text(encoding="utf-8") for file in files)
    lines = [data_of(line) or {"text": line} for line in text.splitlines()]
    ours = [steady(line) for line in lines if line.get("message") != "started"
            and not str(line.get("logger", "")).startswith(_OF_OTHERS)]  # fmt: skip
    return [
        {key: line.get(key) for key in [*line, *sorted(old.keys() - line.keys())] if line.get(key) != old.get(key)}
        for old, line in zip([{}, *ours], ours, strict=False)
    ]


def _request(request: Arrived) -> list[Any]:
    headers = {name: value for name, value in request.headers.items()
               if name not in _USUAL and not (name == "user-agent" and value.startswith("python-"))}  # fmt: skip
    for secret, name in _CREDENTIALS.items():
        headers = {key: value.replace(secret, name) for key, value in headers.items()}
    headers = {name: value for name, value in headers.items() if f"{name}={value}" not in _USUAL}
    query = request.raw_query.replace("check_key=check-key-0123456789", "KEY")
    body = request.data if request.data is not None else request.body.decode("utf-8", "replace")
    whole = [f"{request.method} {request.path}?{query}", headers, body]
    return whole if body else whole[:2] if headers else whole[:1]
