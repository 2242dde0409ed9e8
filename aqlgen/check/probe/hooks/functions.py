"""Functions of the runtime, called as no agent reaches them: what they return or raise."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime, tzinfo
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch
from warnings import catch_warnings

_PACKAGE = __name__.rpartition(".")[0]
_FROM = "at 0x"
"""The beginning of a memory address at the end of a text."""
_LONGEST = 200
"""Characters of a constant or a value that is shown."""
_BEGINNING = 60
"""Characters that are shown of a longer value."""
_SETTINGS = {
    "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_SERVER_VARIABLES": "port=80", "PROBE_KEY": "check-key-0123456789",
    "PROBE_SESSION": "check-session-0123456789", "MCP_AQL_LOG_LEVEL": "emergency",
}  # fmt: skip


async def called(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of expressions by their modules, in whose names they are; a definition adds a name.

    Behind a tilde stands an expression whose variants are tried too, of which a number before it takes one: `_varied`.
    """
    shown = dict[str, Any]()
    for module, texts in order.items():
        names = {**vars(_module(module)), **_NAMES, "probe": _probe()}
        shown[module] = [await _value(text, names) for text in texts]
    return shown


def _module(name: str) -> Any:
    return import_module(f"{_PACKAGE}.runtime.{name}")


@cache
def _modules() -> list[str]:
    """Return the names of the modules that serve, all of which are imported then."""
    return [name for name in _all_modules() if not _OTHERS.search(f".{name}") and _module(name)]


def _all_modules() -> Iterator[str]:
    """Yield the names of the modules of the runtime."""
    root = import_module(f"{_PACKAGE}.runtime")
    for each in walk_packages(root.__path__, f"{root.__name__}."):
        yield each.name.removeprefix(f"{root.__name__}.")


def _constants() -> dict[str, Any]:
    """Return the limits, tables and defaults of every module by their names, as far as they are short."""
    names = (name for name in _all_modules() if ".testing" not in f".{name}")
    values = {name: _constants_of(_module(name)) for name in names}
    return {name: {key: value for key, value in each.items() if _is_constant(value)} for name, each in values.items()}


def _constants_of(module: Any) -> dict[str, Any]:
    """Return the short values of a module's names in capitals, and the defaults of its functions and classes."""
    values = {name: vars(module).get(name) for name in _assigned(module) if name.isupper()}
    values = {name: value for name, value in values.items() if len(repr(value)) < _LONGEST} | _defaults(module, module)
    for name, item in vars(module).items():
        if inspect.isclass(item) and item.__module__ == module.__name__:
            values |= {f"{name}.{key}": value for key, value in _defaults(item, module).items()}
    return values


def _assigned(module: Any) -> Iterator[str]:
    """Yield the names that a module itself assigns."""
    for statement in ast.parse(inspect.getsource(module)).body:
        for node in ast.walk(statement) if isinstance(statement, ast.Assign | ast.AnnAssign) else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _defaults(owner: Any, module: Any) -> dict[str, Any]:
    """Return the default values of the fields and functions of a class, or of a module's functions."""
    defaults = {"fields": getattr(owner, "_field_defaults", {}).values()}
    for name, item in vars(owner).items():
        if inspect.isfunction(item) and item.__module__ == module.__name__:
            defaults[f"{name}()"] = (*(item.__defaults__ or ()), *(item.__kwdefaults__ or {}).values())
    return {name: tuple(value for value in values if _is_constant(value)) for name, values in defaults.items()}


def _is_constant(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_constant, value.values()))
    if type(value) in (tuple, list, set, frozenset):
        return bool(value) and all(map(_is_constant, value))
    return isinstance(value, str | int | float | re.Pattern) and value != ""


@cache
def _probe() -> Any:
    """Return an adapter of the probe's table, by its parts; nobody answers its requests."""
    folder = Path(import_module(_PACKAGE).__file__ or "").parent
    assembled = _module("assembly").assemble(folder, environ=_SETTINGS)
    return SimpleNamespace(
        assembled=assembled, table=assembled.table, adapter=assembled.adapter, row=assembled.table.find,
        settings=_SETTINGS,
    )  # fmt: skip


@contextmanager
def _clock(*modules: str) -> Iterator[Any]:
    """Stand in for the clock of modules of the runtime; it stands until a sequence sets its `now`."""
    clock: Any = SimpleNamespace(now=1e9)

    class _Datetime(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.fromtimestamp(clock.now, tz)

    def now() -> Any:
        return clock.now

    clock.time = clock.monotonic = now
    stands = {"time": clock, "monotonic": now, "perf_counter": now, "datetime": _Datetime}
    with ExitStack() as stack:
        for module in map(_module, modules):
            for name in stands.keys() & vars(module).keys():
                stack.enter_context(patch.object(module, name, stands[name]))
        yield clock


async def _tried(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return the result of one of several steps, or the error that it raises, with its details."""
    try:
        value = call(*arguments, **named)
        return await value if inspect.isawaitable(value) else value
    except Exception as problem:  # noqa: BLE001 - which is what the step shows
        details = getattr(problem, "details", None)
        return [f"{type(problem).__name__}: {str(problem).partition(_FROM)[0]}", *([details] if details else [])]


class _Adapter:
    """An adapter of its own, whose API and persons answer what a call says; `shown` has all that comes of its calls."""

    def __init__(self, settings: Mapping[str, Any], clock: Any) -> None:
        self.replies, self.shown, self._known, self._clock = deque[Any](), list[Any](), dict[str, str](), clock
        self._sessions: dict[str, Any] = {}
        names = {name: name if name.startswith("PROBE_") else f"MCP_AQL_{name}" for name in settings}
        environ = {**_SETTINGS, **{names[name]: value for name, value in settings.items()}}
        self.network = import_module("httpx2").MockTransport(self._respond)
        self.parts = _module("assembly").assemble(_probe().table._folder, environ=environ, network=self.network)
        timing = _module("client.retries").Timing(lambda: clock.now, self._pause, lambda: 0.5)
        vars(self.parts.transport)["_timing"] = timing
        self.asking = self.parts.dispatcher.gatekeeper.asking
        self.asking.decisions.audit.write = lambda event, **details: self.shown.append([event, details])

    async def _pause(self, seconds: float) -> None:
        self.shown.append(["waits", seconds])
        self._clock.now += seconds

    def _respond(self, request: Any) -> Any:
        headers = [f"{name}: {value}" for name, value in request.headers.items() if name not in _USUAL]
        content = request.content.decode("utf-8", "replace")
        self.shown.append([request.method, str(request.url), content, *headers])
        status, data, *more = self.replies.popleft() if self.replies else (200, {"id": "b-1", "title": "T"})
        httpx = import_module("httpx2")
        if not status:
            raise vars(httpx)[str(data)]("not reached")
        content = data if isinstance(data, str) else json.dumps(data)
        return httpx.Response(status, content=content.encode(), headers={**_JSON, **(more[0] if more else {})})

    async def call(self, operation: str, params: Any, *parts: Any) -> None:
        """Make a call; see `_flow`."""
        session_of = _module("session")
        self.replies = deque(part for part in parts if isinstance(part, tuple))
        answer = next((part for part in parts if isinstance(part, bool)), None)
        beside = next((dict(part) for part in parts if isinstance(part, dict)), {})
        by, headers = beside.pop("by", "a"), beside.pop("headers", None)

        async def ask(question: str) -> Any:
            self.shown.append(["asked", question])
            return answer

        person = None if answer is None else SimpleNamespace(reachable=True, ask=ask, batched=False)
        sent = json.dumps({"operation": operation, "params": params, **beside} if operation else params)
        sent = _PLACE.sub(lambda match: self._known.get(match[1], match[0]), sent)
        with session_of.with_caller(headers, by or None, by or None):
            session = self._sessions.setdefault(by, session_of.Session(by or None))
            envelope = await self.parts.dispatcher.handle(None, json.loads(sent), session, person)
        text = json.dumps(envelope, default=str)
        self._known |= {
            match[1] or match[3] or "token": match[2] or match[4] or match[0] for match in _KNOWN.finditer(text)
        }
        self.shown.append(json.loads(text))


async def _flow(settings: Mapping[str, Any], *steps: Any) -> Any:
    """Return what comes of calls to an adapter of its own: answers, requests, pauses, and entries of its audit log.

    A number moves the clock; a text is the error that the audit log raises from there on. A call is its operation
    (without one, all of it is in its parameters) and parameters, then in any order: a person's answer, what stands
    beside the parameters (or `by`, the caller, and its `headers`), and the answers of the API, each its status, data
    and headers, or 0 and the name of an error of the network.
    """
    defaults = _module("state.tickets").Tokens.__init__.__kwdefaults__
    direct = import_module("httpx2").AsyncHTTPTransport  # by which authorization servers are asked
    with _clock(*_modules()) as at, patch.dict(defaults, clock=lambda: at.now):
        adapter = _Adapter(settings, at)
        asking = adapter.asking
        asking.questions.shared.clock = asking.questions._local.clock = lambda: at.now
        with patch.object(direct, "handle_async_request", lambda _, sent: adapter.network.handle_async_request(sent)):
            for step in steps:
                if isinstance(step, int | float):
                    at.now += step
                elif isinstance(step, str):
                    asking.decisions.audit.write = Mock(side_effect=vars(builtins)[step]("it is full"))
                else:
                    await adapter.call(*step)
            await adapter.parts.close()
    return _steady(json.loads(json.dumps(adapter.shown, default=str)))


def _steady(value: Any) -> Any:
    """Return data without values that are new each time; a long text becomes its beginning and a hash."""
    if isinstance(value, dict):
        return {
            _steady(key): "*" if inner and key.endswith("Cursor") else _steady(inner)
            for key, inner in value.items()
            if key not in _FRESH
        }
    if isinstance(value, list):
        return list(map(_steady, value))
    if not isinstance(value, str):
        return value
    text = _RANDOM.sub("*", value)
    return text if len(text) < _LONGEST else f"{text[:_BEGINNING]}… {sha256(text.encode()).hexdigest()[:4]}"


_OTHERS = re.compile(r"\.(?:testing|witness|learn|state\.redis)\b")
"""Modules that do not serve, or that need a library of their own."""
_PLACE = re.compile(r"<(\w+)>")
_KNOWN = re.compile(r'conf_[\w-]{40,}|plan_\w{32}|"(start|end)Cursor": "([^"]+)"|"(execution_id)": "([^"]+)"')
"""Values of answers to which later calls refer, as <token>, <start>, <end> and <execution_id>."""
_IMPORTS = "runtime", "__import__"
_JSON = {"content-type": "application/json"}
_USUAL = "host", "accept", "accept-encoding", "connection", "content-length", "user-agent"
"""Headers of requests that are the same each time."""
_FRESH = "duration_ms", "request_id"
_RANDOM = re.compile(r"(?:req|conf|plan)_[\w-]+|[0-9a-f]{8}-[\w-]{27}|(?<![\w-])(?=[\w-]*\d)[\w-]{16,}")
"""Values that are new each time."""
_SET = re.compile(r"(?<=frozenset\(){([^{}]+)}")
_MARKS = "abcdefghijklmnopqrstuvwxyz!#$%&()*+,./:;=?@[]^{|}~"
_MOST = 60
"""Variants of an expression."""
_VARIED = re.compile(r"(\d*)~(.*)", re.DOTALL)
_STEPS = 1, 5, 17
"""Distances of other operations from one, in the order of their names."""


async def _value(text: str, names: dict[str, Any]) -> Any:
    if varied := _VARIED.fullmatch(text):
        return await _varied(varied[1], varied[2], names)
    if text.startswith(("def ", "async def ")):
        exec(text, names)  # noqa: S102 - the definitions are ours
        return None
    try:
        with catch_warnings(action="ignore"):
            value = eval(text, names)  # noqa: S307 - the expressions are ours
        return _shown(await value if inspect.isawaitable(value) else value)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - which is what the step shows
        return _shown(f"{type(problem).__name__}: {str(problem).partition(_FROM)[0]}")


async def _varied(number: str, text: str, names: dict[str, Any]) -> list[Any]:
    """Return the value of an expression, or the beginning of it, and a mark of that and of each variant's value.

    With a number, return the variant that has it and its value.
    """
    variants = [text, *_variants(text)]
    if number:
        return [variants[int(number)], await _value(variants[int(number)], names)]
    values = [await _value(variant, names) for variant in variants]
    shown = json.dumps(values[0], ensure_ascii=False)
    return [values[0] if len(shown) < _BEGINNING else shown[:_BEGINNING], "".join(map(_mark, values))]


def _mark(value: Any) -> str:
    """Return a character for a value; an error of the language counts by its kind alone."""
    text = json.dumps(value, ensure_ascii=False)
    kind = text[1:].partition(":")[0]
    text = kind if isinstance(vars(builtins).get(kind), type) else text
    return _MARKS[int.from_bytes(sha256(text.encode("utf-8", "replace")).digest()[:4], "big") % len(_MARKS)]


def _marks(value: Any) -> Any:
    """Return a mark for each value of a list, or by the keys of a mapping: a long table in short."""
    value = _shown(value)
    if isinstance(value, Mapping):
        return {key: _marks(inner) for key, inner in value.items()}
    return "".join(map(_mark, value)) if isinstance(value, list) else _mark(value)


def _variants(text: str) -> list[str]:
    """Return an expression with each part changed to a neighbour: a bound's other side, one less, one more, nothing."""
    source = text.encode()
    variants = dict.fromkeys(
        source[:start] + other + source[end:]
        for node in _nodes(ast.parse(text, mode="eval"))
        for start, end, other in _others(node, source)
    )
    return [variant.decode() for variant in list(variants)[:: -(-len(variants) // _MOST) or 1]]


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of an expression, without the names of modules."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _IMPORTS):
        yield node
        for inner in ast.iter_child_nodes(node):
            yield from _nodes(inner)


def _others(node: Any, source: bytes) -> Iterator[tuple[Any, Any, bytes]]:
    """Yield what stands in for a constant, or for the parts of a display or call, and where these begin and end."""
    if isinstance(node, ast.Constant):
        for other in _neighbours(node.value):
            yield node.col_offset, node.end_col_offset, repr(other).encode()
        return
    items = [*node.args, *node.keywords] if isinstance(node, ast.Call) else getattr(node, "elts", [])
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else zip(items, items, strict=True)
    places = [((key or value).col_offset, value.end_col_offset) for key, value in pairs]
    parts = [source[start:end] for start, end in places]
    for at in range(len(parts)):
        for some in (parts[at : at + 1] * 2, parts[at : at + 2][::-1], []):  # twice, in the other order, not at all
            yield places[0][0], places[-1][1], b", ".join([*parts[:at], *some, *parts[at + max(len(set(some)), 1) :]])


def _neighbours(value: Any) -> list[Any]:
    """Return the values beside a constant; for an operation's name, other operations."""
    if isinstance(value, bool | None):
        return [not value, "", 1]
    if isinstance(value, int | float):
        return [value + 1, value - 1, 0, -value, None]
    if not isinstance(value, str):
        return []
    names = sorted({name for name, _ in _probe().table.names()})
    if value in names:
        return [names[(names.index(value) + step) % len(names)] for step in _STEPS]
    near = f"x{value}", f"{value}x", value.swapcase(), f" {value}\u0627", f"{value},{value}"
    return ["", value[:-1], value[1:], *near, None]


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _shown(inner) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if inspect.isgenerator(value) or type(value) in (list, tuple):
        return [_shown(inner) for inner in value]
    if isinstance(value, int | float | None):
        return value
    text = str(value) if isinstance(value, str) else str(value).partition(_FROM)[0]
    text = text.replace(f"{_PACKAGE}.", "")  # which every project has another of
    return text if isinstance(value, str) else _SET.sub(_in_order, text)


def _in_order(match: re.Match[str]) -> str:
    return f"{{{', '.join(sorted(match[1].split(', ')))}}}"


_NAMES = {
    "runtime": _module, "clock": _clock, "tried": _tried, "constants": _constants, "flow": _flow,
    "mark": _mark, "marks": _marks,
}  # fmt: skip
"""Names of ours in an expression, beside those of its module."""
