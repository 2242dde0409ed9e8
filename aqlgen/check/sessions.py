"""Sessions with the probe that were recorded and reviewed: each answer, request, question and record as a whole.

`probe/sessions.jsonl` has a session's head, then a line for each step: its call, the answers of API and person,
and every result. Texts that differ in each run have names by kind and order, so that later steps can refer to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

import anyio

from aqlgen.check.client import LEGACY, MODERN, post
from aqlgen.check.connection import output_of
from aqlgen.check.forks import HOOKS
from aqlgen.check.run import Run
from aqlgen.check.stand_in import Arrived, Reply, data_of

FILE = Path(__file__).with_name("probe") / "sessions.jsonl"
SETTINGS = {"WARN_SLOW_MS": "3600000", "POLICY": "standard"}
INPUTS = ("by", "call", "send", "ask", "run", "post", "file", "pause", "waits", "api", "person")
"""The parts of a step that are its input; the others are results."""
_OPAQUE = re.compile(
    r"(?P<token>conf_[\w-]{40,})|(?P<known>conf_[\w-]{7}(?=…))|(?P<session>session_[0-9a-f]{16})|"
    r"(?P<execution>exec_[0-9a-f]{16})|(?P<plan>plan_[0-9a-f]{32})|req_[0-9a-f]{8}_(?P<request>[0-9a-f]+)|"
    r"(?P<key>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b)|(?P<address>127\.0\.0\.1:\d+)|(?P<folder>(?<![\w/.-])/[\w/.-]*/tmp\w+)|"
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00))|(?P<cursor>(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z\d])[\w-]{30,})"
)
_NAMED = re.compile(r"<[a-z]+(?:-\d+)?>")
_NEAR, _ROUGHLY = 5_000, 20
"""Seconds from now within which a time is told by its distance, and those that a distance is rounded up to."""
_CREDENTIALS = {"check-key-0123456789": "KEY", "check-session-0123456789": "SESSION"}
_USUAL = {
    "host", "accept-encoding", "connection", "content-length", "user-agent=probe-adapter/0.1.0",
    "accept=application/json", "content-type=application/json", "cookie=check_session=SESSION",
}  # fmt: skip
"""Headers of requests that say nothing, all or with this value."""
_CHANGING = {"duration_ms", "ms", "process", "frames", "hash", "previous", "timestamp", "resets_in_seconds"}
_MOVING = re.compile(r"\b\d+(?= seconds?\b)|<now[+\d]*>|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""The rest of a time window, in sessions whose head says `moving`."""
_TIMES = "seconds", "python", "process", "info"
"""Words of the lines of metrics that are different each time."""
_EARLY = 0.05
"""Seconds that clocks differ by."""
_OF_OTHERS = ("mcp", "asyncio", "httpx", "httpcore", "uvicorn")
"""Loggers of libraries, whose records are theirs."""


class Session(NamedTuple):
    """A session: its name with its settings, and its steps."""

    head: Mapping[str, Any]
    steps: list[dict[str, Any]]


def recorded() -> Iterator[Session]:
    """Yield the sessions of the file."""
    session: Session | None = None
    for line in FILE.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "session" in entry:
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
    is_same = type(expected) is type(shown) and expected == shown
    texts = ["nothing" if value is ... else json.dumps(value, ensure_ascii=False)[:400] for value in (expected, shown)]
    return "" if is_same else f"{path.lstrip('.')} is {texts[1]}, not {texts[0]}"


@dataclass
class _Names:
    """The names of opaque texts, in the order in which these appeared."""

    is_moving: bool
    known: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def named(self, value: Any) -> Any:
        """Return data with names in place of opaque texts, without what is different each time."""
        more = {"retry_after_seconds"} if self.is_moving else set[str]()
        return _mapped(_steady(value, _CHANGING | more), self._text)

    def _text(self, text: str) -> str:
        for secret, name in _CREDENTIALS.items():
            text = text.replace(secret, name)
        text = _OPAQUE.sub(self._name, text)
        return _MOVING.sub("0", text) if self.is_moving else text

    def _name(self, match: re.Match[str]) -> str:
        kind, text = str(match.lastgroup), match[0]
        if kind == "request":
            return f"<request-{int(match['request'], 16)}>"
        if kind in ("address", "folder"):
            self.known.setdefault(text, f"<{kind}>")
        if kind == "time":
            seconds = (datetime.fromisoformat(text) - datetime.now(UTC)).total_seconds()
            rounded = ceil(seconds / _ROUGHLY) * _ROUGHLY  # it was told a moment ago
            return text if abs(seconds) > _NEAR else f"<now+{rounded}>" if rounded > 0 else "<now>"
        if kind == "known":
            return next((name for known, name in self.known.items() if known.startswith(text)), "<unknown>")
        if text not in self.known:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.known[text] = f"<{kind}-{self.counts[kind]}>"
        return self.known[text]

    def meant(self, value: Any) -> Any:
        """Return data with the opaque texts that their names stand for; without a number, the last one of its kind."""
        texts = {name: text for text, name in self.known.items()}
        texts |= {f"<{kind}>": texts[f"<{kind}-{count}>"] for kind, count in self.counts.items()}
        return _mapped(value, lambda text: _NAMED.sub(lambda match: texts.get(match[0], match[0]), text))


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return data with each text changed."""
    if isinstance(value, dict):
        return {change(key): _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def _steady(value: Any, names: Collection[str] = _CHANGING) -> Any:
    if isinstance(value, list):
        return [_steady(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _steady(inner, names) for key, inner in value.items() if key not in names}
    return value


@asynccontextmanager
async def _connections(
    run: Run, head: Mapping[str, Any], replies: list[str], asked: list[str]
) -> AsyncIterator[list[Run]]:
    """Start the adapter for a session, and connect as often as it says."""

    def person(question: str) -> str:
        asked.append(question)
        return replies.pop(0) if replies else "decline"

    era, who = MODERN if head.get("modern") else LEGACY, person if head.get("person") else None
    async with AsyncExitStack() as stack:
        callers = head.get("callers", 0)
        url, log = await stack.enter_async_context(run.served()) if callers else ("", None)
        runs = [await stack.enter_async_context(run.connected(era, url or None, who)) for _ in range(callers or 1)]
        for each in runs:
            each.adapter.url, each.adapter.log = url, log or each.adapter.log
        yield runs


async def played(run: Run, session: Session) -> list[dict[str, Any]]:
    """Play a session, and return its steps as they are now."""
    replies, asked, steps, names = list[str](), list[str](), list[dict[str, Any]](), _Names("moving" in session.head)
    audit = Path(run.launch.variables["MCP_AQL_AUDIT_PATH"]).with_name(f"{session.head['session']}.jsonl")
    run = run.with_settings({**SETTINGS, "AUDIT_PATH": str(audit), **session.head.get("settings", {})})
    if session.head.get("hooks"):
        run = replace(run, launch=run.launch.with_variables(**{HOOKS: str(FILE.with_name("hooks"))}))
    async with _connections(run, session.head, replies, asked) as runs:
        for step in session.steps:
            inputs = {name: step[name] for name in INPUTS if name in step}
            asked.clear()
            replies[:] = inputs.get("person", [])
            caller = runs[inputs.get("by", 0)]
            caller.adapter.client.notices.clear()
            caller.api.forget()
            shown = await _step(caller, names.meant(inputs), audit)
            requests = [_request(request) for request in caller.arrived] if "file" not in inputs else []
            notices = caller.adapter.client.notices
            more = {"requests": requests, "asked": asked, "notices": notices}
            steps.append(inputs | names.named(shown | {name: value for name, value in more.items() if value}))
    return steps


async def _step(run: Run, step: Mapping[str, Any], audit: Path) -> dict[str, Any]:
    """Make a step; returns what came of it."""
    if "file" in step:
        return {"lines": _written(run, step["file"], audit)}
    if "pause" in step:
        await anyio.sleep(step["pause"])
        return {}
    if "run" in step:
        code, output, errors = await output_of(run.launch, *step["run"])
        return {"code": code, "output": output.splitlines(), "errors": errors.splitlines()}
    if "post" in step:
        status, body, _ = await post(urljoin(run.adapter.url, step["post"][0]), *step["post"][1:3], **step["post"][3])
        lines = body.decode("utf-8", "replace").splitlines(keepends=True)
        steady = (line for line in lines if not any(word in line for word in _TIMES))
        return {"status": status, "body": data_of(body) or "".join(steady)}
    if "ask" in step:
        method, params = step["ask"]
        try:
            return {"answer": await run.adapter.client.request(method, **params)}
        except ConnectionError as problem:
            return {"answer": str(problem)}
    return await _call(run, step)


async def _call(run: Run, step: Mapping[str, Any]) -> dict[str, Any]:
    """Call a tool while the API answers as the step says; a call in short has family, operation and parameters."""
    replies = [Reply.of(status, data, **headers) if not isinstance(data, str) else Reply(status, data.encode(), headers)
               for status, data, headers in step.get("api", ())]  # fmt: skip
    family, *parts = step["send"] if "send" in step else step["call"]
    arguments = parts[0]
    if "call" in step:
        arguments = {"operation": parts[0], "params": parts[1], **(parts[2] if len(parts) > 2 else {})}
    with run.api.behaving(lambda _: replies.pop(0) if replies else None):
        answer = await run.send(run.adapter.tool(family), arguments)
    shown: dict[str, Any] = {"answer": dict(answer)}
    took, times = (answer.get("_meta") or {}).get("duration_ms", 0), [request.seconds for request in run.arrived]
    if not 0 <= took <= answer.seconds * 1000:
        shown["took"] = [took, answer.seconds]
    if "waits" in step:
        shown["waited"] = times[-1] - times[0] >= step["waits"] - _EARLY
    return shown


def _written(run: Run, name: str, audit: Path) -> list[dict[str, Any]]:
    """Return the lines of the audit log or of the log, each as it differs from the one before it."""
    text = run.adapter.log() if name == "log" else audit.read_text(encoding="utf-8") if audit.exists() else ""
    lines = [data_of(line) or {"text": line} for line in text.splitlines()]
    ours = [_steady(line) for line in lines if line.get("message") != "started"
            and not str(line.get("logger", "")).startswith(_OF_OTHERS)]  # fmt: skip
    return [_changes(*pair) for pair in zip([{}, *ours], ours, strict=False)]


def _changes(before: Mapping[str, Any], line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields in which a line differs from the one before it, null for those that it lacks."""
    keys = [*line, *sorted(before.keys() - line.keys())]
    return {key: line.get(key) for key in keys if line.get(key) != before.get(key)}


def _request(request: Arrived) -> list[Any]:
    headers = {name: value for name, value in request.headers.items() if name not in _USUAL}
    for secret, name in _CREDENTIALS.items():
        headers = {key: value.replace(secret, name) for key, value in headers.items()}
    headers = {name: value for name, value in headers.items() if f"{name}={value}" not in _USUAL}
    query = request.raw_query.replace("check_key=check-key-0123456789", "KEY")
    body = request.data if request.data is not None else request.body.decode("utf-8", "replace")
    whole = [f"{request.method} {request.path}?{query}", headers, body]
    return whole if body else whole[:2] if headers else whole[:1]
