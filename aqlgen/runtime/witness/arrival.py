"""What a call gave, found again in the request that it made; an update keeps what it read and does not name."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .answers import LEADS, SIZES, Answer
from .document import Operation, is_filled, is_secret, normal
from .judge import Judgement, read_json
from .samples import ABSENT

_PAGES = (*SIZES, *LEADS, "after", "ifmatch", "useragent")  # ends of names that are the adapter's business


def lost(
    operation: Operation,
    values: Mapping[tuple[str, str], Any],
    main: Judgement,
    answers: list[Answer],
    family: str,
    names: Collection[tuple[str, str]],
) -> Iterator[str]:
    """Yield the given values that are sent otherwise. `answers` are of the reads before it, `names` can be given."""
    fixed = {each.key: each.owner[word] for each in operation.parameters for word in ("default", "value")
             if word in each.owner}  # fmt: skip
    wanted = {**fixed, **values}
    owned = {each.key for each in operation.parameters if _is_own(each.name, each.text)}
    filled = [key for key in main.values if key not in wanted and (key not in names or key in owned)]
    for key in sorted((wanted.keys() | main.values.keys()) - {("body", ""), *filled}):
        value, sent = wanted.get(key, ABSENT), main.values.get(key, ABSENT)
        if _texts(sent) not in (_texts(value), _texts([value])):  # a list of one
            yield f"{' '.join(key)} is {_shown(value)}, and sent as {_shown(sent)}"
    for each in (each for each in operation.parameters if is_filled(each.name) and each.shown):
        if family != "READ" and each.key not in main.values:
            yield f"no {each.name} is sent, by which the API knows a call that is made again"
    if any("etag" in answer.headers for answer in answers) and "if-match" not in main.headers:
        yield "it writes the read resource without If-Match"
    if ("body", "") in values:
        adds = family != "UPDATE" and operation.has_items
        yield from _of_body(operation, values["body", ""], main, answers, adds=adds)


def _of_body(operation: Operation, wanted: Any, main: Judgement, answers: list[Answer], *, adds: bool) -> Iterator[str]:
    sent = main.values.get(("body", ""), ABSENT)
    if "xml" in main.media or (isinstance(sent, list) and not isinstance(wanted, list)):  # text, or a JSON Patch
        return
    pair = (wanted, sent) if main.media.endswith("json") else (_texts(wanted), _texts(sent))
    body = operation.body(main.media)
    at, fields = operation.document.at, operation.document.properties(body.schema if body else {})
    owned = frozenset(name for name, each in fields.items() if _is_own(name, at(each).get("description")))
    if not _is_same(*pair, owned, is_merged=bool(answers)):
        yield f"the body is {_shown(wanted)}, and sent as {_shown(sent)}"
    if operation.method == "PUT" and isinstance(wanted, dict) and not adds and "form" not in main.media:
        yield from _not_kept(operation, wanted, sent, answers)


def unanswered(sent: Answer, envelope: Mapping[str, Any], field: str | None) -> Iterator[str]:
    """Yield the parts of the API's answer that an adapter's lacks: values, and headers that matter to a caller.

    `field` has the list of an API's page. What a warning or `_meta` tells of is not lost.
    """
    answered, text = envelope.get("data"), json.dumps(envelope, ensure_ascii=False)
    if not ((envelope.get("_meta") or {}).get("fields") or envelope.get("warnings")):
        data, answered = _compared(sent.data, answered, field)
        shown = [(name, json.dumps(value)) for name, value in _leaves(answered)]
        leaves = [((name, json.dumps(value)), (name, json.dumps(_decoded(value)))) for name, value in _leaves(data)]
        wanted = [leaf if leaf in shown else decoded for leaf, decoded in leaves]
        lost, known = Counter(wanted) - Counter(shown), set(wanted)
        if lost:
            yield f"{_shown(list(lost))} of its answer is lost"
        elif [leaf for leaf in shown if leaf in known] != wanted:
            yield f"its answer comes in another order, or twice: {_shown(shown)}"
    for name in ("etag", "location"):
        if name in sent.headers and json.dumps(sent.headers[name])[1:-1] not in text:
            yield f"the {name} of its answer is lost"


def _compared(data: Any, answered: Any, field: str | None) -> tuple[Any, Any]:
    """Return the data of an answer that an adapter has to give, and those that it gives: of a page the items."""
    if isinstance(answered, dict) and "pageInfo" in answered:
        answered = answered.get("items")
        data = data if field == "" else data.get(field) if field and isinstance(data, dict) else None
    if isinstance(answered, dict) and isinstance(data, dict):  # `_etag` and `_execution` are the adapter's
        answered = {name: each for name, each in answered.items() if name[:1] != "_" or name in data}
    return {} if data is None else data, answered


def _decoded(value: Any) -> Any:
    """Return the text that a value has in base64."""
    try:
        return base64.b64decode(value, validate=True).decode() if isinstance(value, str) else value
    except ValueError:
        return value


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values within data, each with the normal name of its field; of text that was base64 the text."""
    if isinstance(value, dict) and value.keys() == {"text", "was"}:
        value = value["text"]
    for key, each in value.items() if isinstance(value, dict) else ():
        yield from _leaves(each, normal(key))
    for each in value if isinstance(value, list) else ():
        yield from _leaves(each, name)
    if not isinstance(value, dict | list):
        yield name, value


def _not_kept(operation: Operation, named: Mapping[str, Any], sent: Any, answers: list[Answer]) -> Iterator[str]:
    """Yield the fields that a PUT takes away, that the call does not name and a GET of the same path reads."""
    document, body = operation.document, next(iter(operation.bodies.values()))
    fields = document.properties(body.schema, "readOnly")
    if not answers:
        held = {name for name, each in fields.items() if not document.is_marked(each, "writeOnly")}
        if held - named.keys() and operation.owner.get("send") != "named" and _is_read(operation, held):
            yield "it replaces the whole resource without reading it first"
        return
    resource = _resource(answers[-1].data, fields)
    if document.is_other(body.schema, resource, named):
        return
    for name in resource.keys() & fields.keys() - named.keys():
        there = sent.get(name, ABSENT) if isinstance(sent, dict) else ABSENT
        fits = not document.problems(fields[name], resource[name])  # what a body may not have, nobody can send back
        is_other = there is ABSENT or (isinstance(there, str | int) and there != resource[name])
        if fits and is_other and not is_secret(name):
            yield f"the body's {name} was read, not named, and is not sent as it was"


def _is_read(operation: Operation, fields: set[str]) -> bool:
    """Return True if a GET of the same path, which a call can make, answers the fields, and never a list."""
    known, document = {each.key for each in operation.parameters}, operation.document
    reads = [each for each in document.operations if (each.method, each.path) == ("GET", operation.path)
             and {needed.key for needed in each.parameters if needed.required} <= known]  # fmt: skip
    answers = [each.success[2] for each in reads]
    return any(fields <= document.properties(each).keys() and "array" not in document.kinds(each) for each in answers)


def _texts(value: Any) -> Any:
    """Return a value with texts as leaves, JSON as its data; as it is where nothing says what they are.

    What is empty within an object has no pair.
    """
    value = read_json(value) if isinstance(value, str) and value[:1] in ("{", "[") else value
    if isinstance(value, dict):
        texts = {name: _texts(each) for name, each in value.items()}
        return {name: text for name, text in texts.items() if text not in ({}, [])}
    if isinstance(value, list):
        return [_texts(each) for each in value]
    return value if isinstance(value, str) or value is ABSENT else json.dumps(value)


def _is_same(value: Any, sent: Any, owned: frozenset[str] = frozenset(), *, is_merged: bool = False) -> bool:
    """Return True if what was sent stands for what was given; merged: beside what was there before.

    `owned` has the fields that are the adapter's business: credentials, keys of repeated calls and places of pages.
    """
    if isinstance(value, dict) and isinstance(sent, dict):
        is_alone = is_merged or sent.keys() - value.keys() <= owned
        pairs = ((each, sent.get(name, ABSENT)) for name, each in value.items())
        return is_alone and all(_is_same(*pair, is_merged=is_merged) for pair in pairs)
    if isinstance(value, list) and isinstance(sent, list):
        return len(value) == len(sent) and all(map(_is_same, value, sent))
    if isinstance(value, str) and isinstance(sent, str):
        return value == sent or base64.b64encode(sent.encode("latin-1", "replace")).decode() == value
    return value == sent and isinstance(value, bool) is isinstance(sent, bool)


def _is_own(name: str, text: object = "") -> bool:
    return is_secret(name) or is_filled(name, text) or normal(name).endswith(_PAGES)


def _resource(data: Any, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object of an answer that has the most of these fields: the answer itself, or one within it."""
    objects = [data] if isinstance(data, dict) else []
    for each in objects:
        objects += [inner for inner in each.values() if isinstance(inner, dict)]
    return max(objects, key=lambda each: len(each.keys() & fields.keys()), default={})


def _shown(value: Any) -> str:
    return "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)[:400]
