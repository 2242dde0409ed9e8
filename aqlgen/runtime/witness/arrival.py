# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a call gave, found again in the request that it made; an update keeps what it read and does not name."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .document import Operation, is_filled, is_secret, normal
from .judge import Judgement
from .samples import ABSENT, LEADS, SIZES

__all__ = ["lost"]


def lost(
    operation: Operation, values: Mapping[tuple[str, str], Any], main: Judgement, answers: list[Any]
) -> Iterator[str]:
    """Yield what was given, and is not sent as it was."""
    for (place, name), value in values.items():
        sent = main.values.get((place, name), ABSENT)
        if place != "body" and not (_is_same(value, sent) or _is_same([value], sent)):  # a list of one
            yield f"{place} {name} is {_text(value)}, and sent as {_text(sent)}"
    for parameter in operation.parameters:
        for word in ("value", "default"):
            key = (parameter.place, parameter.name)
            if (
                word in parameter.owner
                and key not in values
                and not _is_same(parameter.owner[word], main.values.get(key))
            ):
                yield f"{key[0]} {key[1]} is not sent as the owner fixed it"
    if ("body", "") not in values:
        return
    value, sent = values["body", ""], main.values.get(("body", ""), ABSENT)
    kept = _kept(operation, answers, value) if operation.method == "PUT" else None
    if kept is None and operation.method == "PUT" and _must_merge(operation, value):
        yield "it replaces the whole without reading first what it keeps"
    if isinstance(sent, list) and not isinstance(value, list):  # a JSON Patch
        return
    if not _is_same(value, sent, partly=kept is not None):
        yield f"the body is {_text(value)}, and sent as {_text(sent)}"
    for name in (kept or {}).keys() - (value.keys() if isinstance(value, dict) else set()):
        value = sent.get(name, ABSENT) if isinstance(sent, dict) else ABSENT
        if value is ABSENT or (isinstance(value, str | int) and value != (kept or {})[name]):
            yield f"the body's {name} was read, not named, and is not sent as it was"


def _is_same(values: Any, sent: Any, *, partly: bool = False) -> bool:
    """Return True if what was sent stands for what was given; `partly`: beside what was there before.

    Credentials, keys of repeated calls and places of pages beside it are the adapter's own business.
    """
    if isinstance(values, dict) and isinstance(sent, dict):
        beside = [] if partly else [name for name in sent.keys() - values.keys() if not _is_own(name)]
        return not beside and all(
            _is_same(each, sent.get(name, ABSENT), partly=partly) for name, each in values.items()
        )
    if isinstance(values, list) and isinstance(sent, list):
        return len(values) == len(sent) and all(map(_is_same, values, sent))
    if isinstance(values, str) and isinstance(sent, str) and values != sent:
        try:
            return base64.b64decode(values, validate=True).decode("latin-1") == sent
        except ValueError:
            return False
    return values == sent and isinstance(values, bool) is isinstance(sent, bool)


def _is_own(name: str) -> bool:
    words = (*SIZES, *(word for words in LEADS.values() for word in words))
    return is_secret(name) or is_filled(name) or normal(name).endswith(words)


def _resource(data: Any, names: Iterable[str]) -> Mapping[str, Any]:
    """Return the object of an answer that has the most of these fields: the answer itself, or one of its fields."""
    objects = [data, *(data.values() if isinstance(data, dict) else ())]
    known = [each for each in objects if isinstance(each, dict)]
    return max(known, key=lambda each: len(each.keys() & set(names)), default={})


def _kept(operation: Operation, answers: Iterable[Any], values: Any) -> dict[str, Any] | None:
    """Return the writable fields of what was read before; None if nothing was."""
    fields = operation.document.writable(next(iter(operation.bodies.values())).schema)
    resources = [_resource(answer, fields) for answer in answers]
    if not resources or not isinstance(values, dict):
        return None
    return {name: value for name, value in resources[-1].items() if name in fields and not is_secret(name)}


def _must_merge(operation: Operation, values: Any) -> bool:
    """Return True if a GET of the same path reads all that a body can replace, and the call does not name it all."""
    if operation.owner.get("send") == "named" or not isinstance(values, dict):
        return False
    document = operation.document
    reads = [each for each in document.operations if each.method == "GET" and each.path == operation.path]
    fields = document.writable(next(iter(operation.bodies.values())).schema)
    kept = {name for name, each in fields.items() if not (document.deref(each) or {}).get("writeOnly")}
    return bool(kept - values.keys()) and any(kept <= document.properties(read.response()[2]).keys() for read in reads)


def _text(value: Any) -> str:
    return "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)[:150]
