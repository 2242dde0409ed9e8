"""Every function of the runtime that takes plain values, called with many of them: a digest of what each returns.

The values of a parameter are chosen by its annotation, then by its name, always the same ones. What a function returns
is a value of parameters with its type as their annotation. A method is a function of its object.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from io import StringIO
from itertools import chain, cycle, islice
from pathlib import Path
from types import FunctionType
from typing import Any
from zlib import crc32

_PACKAGE = __name__.rpartition(".")[0]
_CALLS, _ROUNDS = 40, 4
_MOST_OF_ONE, _LONGEST, _DEEPEST = 60, 200, 6
_METHODS = FunctionType, classmethod, staticmethod, property, cached_property
_SKIPPED = re.compile(
    r"^logs[.:]|^(cli|start|testing|server\.(stdio|http|mcp)|operator\.serve|telemetry\.tracing|assembly|auth\.tls)\b"
    r"|^(learn|logs|client\.transport|state\.redis|state\.sqlite)$|state\.custody:(open_|state_file)"
    r"|decode\.files:(FileWriter|_open)|safety\.audit:_end_of|learn\.things:rows_of|learn:"
    r"|(client\.transport|state\.redis|state\.sqlite):"
    r"|[.:](main|run|serve|write|exception|close|commit|handle|emit|put)$|random|secrets?_key|token_hex"
)
"""Modules and functions that do something beside returning a value."""
_LIST = re.compile(r"(Sequence|Iterable|Collection|list|tuple|set|frozenset|Iterator)\[(.*?)(?:, \.\.\.)?\]")
_MAP = re.compile(r"(?:Mapping|dict)\[str, (.*)\]")
_KINDS: Mapping[str, Callable[[Any], Any]] = {"tuple": tuple, "Collection": tuple, "set": set, "frozenset": frozenset}


class NoValue(Exception):
    """A function takes what there is none of."""


class Sweep:
    """The functions of the runtime, and the values for their parameters by annotations."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        wire, tables, config = _module("wire"), _module("table"), _module("settings.config").Config()
        folder = Path(import_module(_PACKAGE).__file__ or "").parent
        table, adapter = tables.Table(folder), tables.Adapter.load(folder)
        names = (
            (name, family) for family in ("create", "read", "update", "delete", "execute") for name in table.raw(family)
        )
        self.rows = [table.find(*each) for each in names]
        self._texts, self._data, self._by_name = values["texts"], values["data"], values["by_name"]
        bodies = [*map(_encoded, self._data), *(text.encode("latin-1") for text in values["bodies"])]
        stated = zip(cycle(values["statuses"]), cycle(values["headers"]), bodies, strict=False)
        sent = (("Accept", "*/*"), ("X-Key", "secret-0123"))
        self.pools: dict[str, list[Any]] = {
            "str": self._texts,
            "int": [0, 1, 2, 3, 7, 20, 60, 404, 3600, -1],
            "float": [0.0, 0.5, 1.0, 60.0, 1.7e9, -1.0],
            "bool": [False, True],
            "bytes": bodies,
            "Any": self._data,
            "object": self._data,
            "Mapping[str, Any]": [item for item in self._data if isinstance(item, dict)],
            "Mapping[str, str]": values["headers"],
            "JsonSchema": values["schemas"],
            "Types": [table.types],
            "Table": [table],
            "Row": self.rows,
            "Parameter": [item for row in self.rows for item in row.parameters.values()],
            "Adapter": [adapter],
            "Config": [config, config._replace(read_only=True, mode="single", max_list=3)],
            "ApiResponse": [wire.ApiResponse(*each) for each in stated],
            "ApiRequest": [
                wire.ApiRequest(row.method, f"https://a.b{row.path}?x=1", sent, body)
                for row, body in zip(self.rows, bodies, strict=False)
            ],
            "re.Match[str]": [match for text in self._texts if (match := re.search(r"(\w)(\w)?", text))],
            "Callable[[str], str]": [str.upper],
            "Callable[[Any], Any]": [str],
            "Callable[[str], bool]": [str.isalnum],
        }

    def digests(self, but: list[str]) -> dict[str, dict[str, str]]:
        """Return the digests of all functions but some by module, each once there are values for it."""
        names, modules = [name for name in _functions() if name not in but], dict[str, dict[str, str]]()
        for _ in range(_ROUNDS):
            for name in [*names]:
                try:
                    digest = sha256(_encoded(self._results(name))).hexdigest()[:8]
                except NoValue:
                    continue
                names.remove(name)
                module, _, function = name.partition(":")
                modules.setdefault(module, {})[function] = digest
        return {module: dict(sorted(digests.items())) for module, digests in sorted(modules.items())}

    def _results(self, name: str) -> list[Any]:
        """Return what a function returns, as JSON. Raises NoValue."""
        module, _, path = name.partition(":")
        holder, _, member = path.rpartition(".")
        owner = getattr(_module(module), holder) if holder else _module(module)
        kept = inspect.getattr_static(owner, member)
        if holder and not isinstance(kept, classmethod | staticmethod):
            objects = [each for each in self.pools.get(holder, []) if owner in type(each).__mro__]
            return [self._of_object(objects, kept, member, f"{name}{number}") for number in range(_CALLS)]
        function = getattr(owner, member)
        return [self._called(function, _parameters(function), f"{name}{number}") for number in range(_CALLS)]

    def _of_object(self, objects: list[Any], kept: Any, member: str, seed: str) -> Any:
        subject = self._one(objects, crc32(seed.encode()))
        if not isinstance(kept, FunctionType):
            return self._result(lambda: getattr(subject, member))
        function = getattr(subject, member)
        return self._called(function, _parameters(function, is_method=True), seed)

    def _called(self, function: Any, parameters: list[inspect.Parameter], seed: str) -> Any:
        arguments, keywords, row = list[Any](), dict[str, Any](), None
        for parameter in parameters:
            try:
                value = self._value(parameter, crc32(f"{seed}.{parameter.name}".encode()), row)
            except NoValue:
                if parameter.default is parameter.empty:
                    raise
                continue
            row = value if type(value).__name__ == "Row" else row
            if parameter.kind is parameter.KEYWORD_ONLY:
                keywords[parameter.name] = value
            else:
                arguments.append(value)
        return self._result(lambda: function(*arguments, **keywords))

    def _value(self, parameter: inspect.Parameter, number: int, row: Any) -> Any:
        """Return a value for a parameter: parameters of a call are mostly those of its operation's example."""
        annotation = str(parameter.annotation).strip("'\"")
        if row is not None and parameter.name == "params" and number % 4:
            example = deepcopy(dict(row.example or {}))
            if number % 4 == 1 and example:
                example[self._one([*example], number)] = self._one(self._data, number)
            return example
        if parameter.name == "operation" and annotation == "str" and number % 3:
            return self._one(self.rows, number).name
        return self._of(annotation, parameter.name, number)

    def _of(self, annotation: str, name: str, number: int) -> Any:
        if annotation.endswith(" | None"):
            return self._of(annotation.removesuffix(" | None"), name, number) if number % 5 else None
        if " | " in annotation and "[" not in annotation:
            return self._of(self._one(annotation.split(" | "), number), name, number // 7)
        pool = self.pools.get(annotation, [])
        if annotation == "str" and number % 4:
            pool = next((texts for word, texts in self._by_name.items() if word in name), pool)
        if pool:
            value = self._one(pool, number // 5)
            return deepcopy(value) if isinstance(value, dict | list) and annotation != "Types" else value
        return self._several(annotation, name, number)

    def _several(self, annotation: str, name: str, number: int) -> Any:
        """Return a list or a mapping of values by its annotation. Raises NoValue."""
        numbers = (number // 3 + 7919 * index for index in range(number % 4))
        match = _LIST.fullmatch(annotation)
        if match is not None:
            self._of(match[2], name, 1)
            return _KINDS.get(match[1], list)(self._of(match[2], name, each) for each in numbers)
        match = _MAP.fullmatch(annotation)
        if match is None:
            raise NoValue
        self._of(match[1], name, 1)
        return {self._texts[each % 12]: self._of(match[1], name, each) for each in numbers}

    def _one(self, pool: list[Any], number: int) -> Any:
        if not pool:
            raise NoValue
        return pool[number % len(pool)]

    def _result(self, call: Callable[[], Any]) -> Any:
        """Return the result of a call as JSON, and keep objects in it as values of parameters."""
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                value = call()
                value = [*islice(value, _LONGEST)] if isinstance(value, Iterator) else value
        except Exception as problem:  # noqa: BLE001 - which is a result
            return [type(problem).__name__, _shown(vars(problem)) if hasattr(problem, "code") else ""]
        for item in value if type(value) in (list, tuple) else (value,):
            pool = (
                self.pools.setdefault(type(item).__name__, []) if type(item).__module__.startswith(_PACKAGE) else None
            )
            if pool is not None and len(pool) < _MOST_OF_ONE:
                pool.append(item)
        return _shown(value)


def _module(name: str) -> Any:
    return import_module(f"{_PACKAGE}.runtime.{name}")


def _functions() -> Iterator[str]:
    """Yield the names of the functions, classes and methods of the runtime."""
    root = import_module(f"{_PACKAGE}.runtime")
    for module in sorted(each.name for each in pkgutil.walk_packages(root.__path__, f"{_PACKAGE}.runtime.")):
        short = module.partition(".runtime.")[2]
        for name, member in vars(import_module(module)).items() if not _SKIPPED.search(short) else ():
            if getattr(member, "__module__", "") == module and callable(member):
                kept = vars(member).items() if inspect.isclass(member) else ()
                methods = (f".{each}" for each, value in kept if isinstance(value, _METHODS) and each[:2] != "__")
                names = (f"{short}:{name}{method}" for method in chain([""], methods))
                yield from (each for each in names if not _SKIPPED.search(each))


def _parameters(function: Any, *, is_method: bool = False) -> list[inspect.Parameter]:
    """Return the parameters of a function that returns at once. Raises NoValue for another one."""
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (ValueError, TypeError):
        raise NoValue from None
    if not (parameters or is_method) or inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise NoValue
    return [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _shown(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON: objects by their fields, what else there is by its type."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | bytes):
        return repr(value)
    if depth > _DEEPEST:
        return "…"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (_shown(getattr(value, each.name, None), depth + 1) for each in dataclasses.fields(value))
        return [type(value).__name__, *fields]
    if isinstance(value, Mapping):
        return {str(key)[:_LONGEST]: _shown(inner, depth + 1) for key, inner in islice(value.items(), _LONGEST)}
    if isinstance(value, set | frozenset):
        return sorted(json.dumps(_shown(item, depth + 1)) for item in value)
    if isinstance(value, list | tuple):
        return [_shown(item, depth + 1) for item in value[:_LONGEST]]
    return type(value).__name__
