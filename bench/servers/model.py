"""A real server as data, read from a YAML file: how it is installed and started, and calls with what must be true."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import yaml


@dataclass(frozen=True)
class Call:
    """A call of the adapter and what must be true of it.

    `call` is the method and the path of the document, a name of the adapter's own, or `batch`. Parameters of the path
    that `params` lack come from the server's `names`. `data` is what the answer must hold, or `error` a regular
    expression for its code, and `says` one for the whole answer. `look` has requests to the server itself, and what
    they must find afterwards; `asked` says whether a confirmation must come first, before which they must not find it,
    and is None if either is right. `keep` names values of the data that later calls use as `$name`. `fault` is the
    reason why the document is wrong here; the server's `overrides` cure it.
    """

    call: str
    params: Mapping[str, Any] = field(default_factory=dict)
    data: Any = "<any>"
    error: str = ""
    says: str = ""
    look: Mapping[str, Any] = field(default_factory=dict)
    asked: bool | None = None
    keep: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True)
class Server:
    """A server that starts on loopback with its own document.

    In its texts `{home}` is the folder that it is installed in, `{folder}` a new one for its data, in which it runs,
    `{port}` its port and `{spare}` another. `document` is the path at which it serves the document, or a pattern below
    `{home}`; `base` is what the document's paths are relative to. `variables` are the adapter's settings, `headers`
    what the suite's own requests carry, `sqlite` databases and the schemas that they begin with. `learn` has the
    options that an owner gives to `learn` beside the resources that calls have named.
    """

    command: Sequence[str]
    document: str
    calls: Sequence[Call]
    pip: Sequence[str] = ()
    npm: Mapping[str, str] = field(default_factory=dict)
    apt: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    sqlite: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)
    learn: Sequence[str] = ()


def load(name: str) -> Server:
    """Read the file of a server."""
    fields = yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"))
    return Server(**fields | {"calls": tuple(Call(**row) for row in fields["calls"])})


def filled(value: Any, names: Mapping[str, Any]) -> Any:
    """Fill values into `$name` in texts; a text that is only `$name` becomes the value itself."""
    if isinstance(value, str):
        if value[:1] == "$" and value[1:] in names:
            return filled(names[value[1:]], names)
        text = Template(value).safe_substitute(names)
        return text if text == value else filled(text, names)
    if isinstance(value, Mapping):
        return {filled(key, names): filled(item, names) for key, item in value.items()}
    return [filled(item, names) for item in value] if isinstance(value, list) else value


def unmet(expected: Any, actual: Any, place: str = "") -> str:
    """Return what differs from what was expected, or nothing: objects may have further fields, lists no further items.

    `<any>` is any value, `<absent>` no field, `{<some>: […]}` a list with these among its items, `{<like>: …}` a text
    that a regular expression finds something in.
    """
    if expected == "<any>":
        return ""
    if not isinstance(expected, dict | list):
        return "" if expected == actual else f"{place}: {expected!r} expected: {_short(actual)}"
    if "<like>" in expected and isinstance(expected, dict):
        return "" if re.search(expected["<like>"], str(actual)) else f"{place}: not like {expected}: {_short(actual)}"
    if "<some>" in expected and isinstance(expected, dict):
        items = actual if isinstance(actual, list) else []
        missing = [item for item in expected["<some>"] if all(unmet(item, other) for other in items)]
        return f"{place}: no item is like {missing[0]}: {_short(actual)}" if missing else ""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return f"{place}: no object: {_short(actual)}"
        return next(filter(None, (_differs(key, value, actual, place) for key, value in expected.items())), "")
    if not isinstance(actual, list) or len(actual) != len(expected):
        return f"{place}: {len(expected)} items expected: {_short(actual)}"
    pairs = enumerate(zip(expected, actual, strict=True))
    return next(filter(None, (unmet(item, other, f"{place}[{i}]") for i, (item, other) in pairs)), "")


def _differs(key: str, value: Any, actual: Mapping[str, Any], place: str) -> str:
    if value == "<absent>":
        return f"{place}.{key}: must not be there" if key in actual else ""
    return unmet(value, actual[key], f"{place}.{key}") if key in actual else f"{place}.{key}: missing"


def _short(value: Any) -> str:
    return repr(value)[:300]
