# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a call gave, found again in the request that it made; an update keeps what it read and does not name."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from .answers import LEADS, SIZES, Answer
from .document import Operation, is_filled, is_secret, normal
from .judge import Judgement
from .samples import ABSENT

__all__ = ["lost"]


def lost(
    operation: Operation, values: Mapping[tuple[str, str], Any], main: Judgement, answers: list[Answer], family: str
) -> Iterator[str]:
    """Yield what was given, and is not sent as it was. `answers` are of the reads before it."""
    fixed = {each.key: each.owner[word] for each in operation.parameters for word in ("default", "value")
             if word in each.owner}  # fmt: skip
    for key, value in {**fixed, **values}.items():
        sent = main.values.get(key, ABSENT)
        if key[0] != "body" and _texts(sent) not in (_texts(value), _texts([value])):  # a list of one
            yield f"{' '.join(key)} is {_shown(value)}, and sent as {_shown(sent)}"
    for name in (each.name for each in operation.parameters if is_filled(each.name) and each.shown):
        if family != "READ" and name.lower() not in main.headers:
            yield f"no {name} is sent, by which the API knows a call that is made again"
    if any("etag" in answer.headers for answer in answers) and "if-match" not in main.headers:
        yield "it writes the read resource without If-Match"
    if ("body", "") in values:
        wanted, sent = values["body", ""], main.values.get(("body", ""), ABSENT)
        is_patch = isinstance(sent, list) and not isinstance(wanted, list)  # a JSON Patch
        pair = (wanted, sent) if main.media.endswith("json") else (_texts(wanted), _texts(sent))
        if not is_patch and not _is_same(*pair, bool(answers)):
            yield f"the body is {_shown(wanted)}, and sent as {_shown(sent)}"
        if operation.method == "PUT" and isinstance(wanted, dict) and not is_patch:
            yield from _not_kept(operation, wanted, sent, answers)


def _not_kept(operation: Operation, named: Mapping[str, Any], sent: Any, answers: list[Answer]) -> Iterator[str]:
    """Yield what a PUT takes away that the call does not name and a GET of the same path reads."""
    document = operation.document
    fields = document.properties(next(iter(operation.bodies.values())).schema, "readOnly")
    reads = [each for each in document.operations if (each.method, each.path) == ("GET", operation.path)]
    held = {name for name, each in fields.items() if not document.is_marked(each, "writeOnly")}
    is_read = any(held <= document.properties(each.success[2]).keys() for each in reads)
    if not answers and is_read and held - named.keys() and operation.owner.get("send") != "named":
        yield "it replaces the whole resource without reading it first"
    resource = _resource(answers[-1].data, fields) if answers else {}
    for name in resource.keys() & fields.keys() - named.keys():
        there = sent.get(name, ABSENT) if isinstance(sent, dict) else ABSENT
        if not is_secret(name) and (there is ABSENT or (isinstance(there, str | int) and there != resource[name])):
            yield f"the body's {name} was read, not named, and is not sent as it was"


def _texts(value: Any) -> Any:
    """Return a value with texts as leaves, as it is where nothing says what they are."""
    if isinstance(value, dict):
        return {name: _texts(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_texts(each) for each in value]
    return value if isinstance(value, str) or value is ABSENT else json.dumps(value)


def _is_same(value: Any, sent: Any, is_merged: bool) -> bool:
    """Return True if what was sent stands for what was given; merged: beside what was there before.

    Credentials, keys of repeated calls and places of pages beside it are the adapter's own business.
    """
    if isinstance(value, dict) and isinstance(sent, dict):
        beside = [] if is_merged else [name for name in sent.keys() - value.keys() if not _is_own(name)]
        return not beside and all(_is_same(each, sent.get(name, ABSENT), is_merged) for name, each in value.items())
    if isinstance(value, list) and isinstance(sent, list):
        return len(value) == len(sent) and all(_is_same(*pair, False) for pair in zip(value, sent, strict=True))
    if isinstance(value, str) and isinstance(sent, str):
        return value == sent or base64.b64encode(sent.encode("latin-1", "replace")).decode() == value
    return value == sent and isinstance(value, bool) is isinstance(sent, bool)


def _is_own(name: str) -> bool:
    return is_secret(name) or is_filled(name) or normal(name).endswith((*SIZES, *LEADS, "after"))


def _resource(data: Any, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object of an answer that has the most of these fields: the answer itself, or one of its fields."""
    objects = [each for each in (data, *(data.values() if isinstance(data, dict) else ())) if isinstance(each, dict)]
    return max(objects, key=lambda each: len(each.keys() & fields.keys()), default={})


def _shown(value: Any) -> str:
    return "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)[:150]
