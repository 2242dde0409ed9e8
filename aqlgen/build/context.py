"""The context of the build stage: resolver, version, diagnostics, and lenient access to objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aqlgen.build.models import ObjectKind, validate
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import MISSING, Json

T = TypeVar("T")

_TYPE_NAMES: Mapping[type, str] = {dict: "an object", list: "a list"}


class SkipError(Exception):
    """The operation being built cannot be served; `diagnostic` says why."""

    def __init__(self, code: str, message: str, pointer: str) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, Severity.WARNING, message, pointer=pointer)


@dataclass(slots=True)
class Context:
    """The document's resolver and version, and the diagnostics so far."""

    resolver: Resolver
    openapi: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _shared: dict[tuple[str, str], Any] = field(default_factory=dict)

    def once(self, raw: Json, make: Callable[[], T], kind: str) -> T:
        """Return the object that `make` reads, once for all that refer to the same, unless it has diagnostics."""
        reference = raw.get("$ref") if isinstance(raw, dict) else None
        if not isinstance(reference, str):
            return make()
        shared: T | None = self._shared.get((kind, reference))
        if shared is None:
            count = len(self.diagnostics)
            shared = make()
            if len(self.diagnostics) == count:
                self._shared[kind, reference] = shared
        return shared

    def warn(self, code: str, message: str, pointer: str, help: str = "") -> None:
        """Add a warning about something that was left out or repaired."""
        self.diagnostics.append(Diagnostic(code, Severity.WARNING, message, pointer=pointer, help=help))

    def note(self, code: str, message: str, pointer: str, help: str = "") -> None:
        """Add a note."""
        self.diagnostics.append(Diagnostic(code, Severity.NOTE, message, pointer=pointer, help=help))

    def get_list(self, node: Json, key: str, pointer: str) -> list[Json]:
        """Return the list under a key, empty if there is none; warn of any other value."""
        return self._value_of_type(node, key, list, pointer) or []

    def get_object(self, node: Json, key: str, pointer: str) -> dict[str, Json]:
        """Return the object under a key, empty if there is none; warn of any other value."""
        return self._value_of_type(node, key, dict, pointer) or {}

    def schema(self, node: Json, pointer: str, default: Json = True) -> Json:
        """Return the schema of a parameter or media type, else `default`; warn of any other value."""
        value = node.get("schema") if isinstance(node, dict) else None
        if isinstance(value, dict | bool):
            return value
        if value is not None:
            self.warn("bad-schema", "'schema' must be a schema; any value is allowed", f"{pointer}/schema")
        return default

    def _value_of_type(self, node: Json, key: str, kind: type, pointer: str) -> Json:
        value = node.get(key) if isinstance(node, dict) else None
        if value is None or isinstance(value, kind):
            return value
        expected, actual = _TYPE_NAMES[kind], _TYPE_NAMES.get(type(value), "a single value")
        self.warn("invalid-component", f"{key!r} is ignored: it must be {expected}, not {actual}", f"{pointer}/{key}")
        return None

    def validate(self, kind: ObjectKind, raw: Json, pointer: str) -> dict[str, Json]:
        """Return the members of an object; keys that do not validate are dropped with a warning.

        Raises InvalidObjectError.
        """

        def drop(key: str, why: str) -> None:
            self.warn("invalid-component", f"{key!r} is ignored: {why.lower()}", f"{pointer}/{key}")

        return validate(kind, raw, self.openapi, drop)


def entries(node: Json) -> list[tuple[str, Json]]:
    """Return the entries of a mapping without specification extensions, none if there is no mapping."""
    if not isinstance(node, dict):
        return []
    return [(key, value) for key, value in node.items() if not key.startswith("x-")]


def text(node: Json) -> str:
    """Return a string without white space around it, "" for any other value."""
    return node.strip() if isinstance(node, str) else ""


def example_of(context: Context, node: Json) -> Json:
    """Return the `example` of an object, or the first value of its `examples`; MISSING if there is none.

    A serialized (`serializedValue`) or external (`externalValue`) example does not count, nor does a reference that
    linking left, since its file is not there.
    """
    if not isinstance(node, dict):
        return MISSING
    if "example" in node:
        return MISSING if _is_reference(node["example"]) else node["example"]
    examples = node.get("examples")
    for name, raw in examples.items() if isinstance(examples, dict) else ():
        try:
            example, _ = context.resolver.follow(raw, f"/examples/{name}")
        except UnresolvedError:
            continue
        for key in ("value", "dataValue") if isinstance(example, dict) else ():
            if key in example and not _is_reference(example[key]):
                return example[key]
    return MISSING


def _is_reference(example: Json) -> bool:
    return isinstance(example, dict) and example.keys() == {"$ref"} and isinstance(example["$ref"], str)
