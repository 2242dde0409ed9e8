# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The single faults that an error of the API lists, each with the parameter or field that it is about.

They are known by their shape: lists of objects with a name, a path or a pointer (RFC 9457, `invalid-params`; JSON:API,
`source`; `loc`, `fieldViolations` and their kin), objects with the names as keys (`{"errors": {"name": ["…"]}}`), and
a name beside the message (`{"error": {"param": "…"}}`). Keys are compared without case and signs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from ..text import folded

__all__ = [
    "CODE_KEYS",
    "FAULT_KEYS",
    "PLACES",
    "WRAPPERS",
    "Fault",
    "by_folded_key",
    "faults_of",
    "is_list_of_texts",
    "steps_of_name",
]

_NAME_KEYS = (
    "param",
    "parameter",
    "parametername",
    "field",
    "fieldname",
    "loc",
    "propertypath",
    "instancepath",
    "path",
    "pointer",
    "name",
    "property",
    "attribute",
    "location",
    "target",
)
_TOP_NAME_KEYS = ("param", "parameter", "field")
_SOURCE_KEYS = ("pointer", "parameter", "header", *_NAME_KEYS)
_FAULT_MAP_KEYS = ("errors", "fielderrors", "validationerrors", "modelstate")
"""Keys of an object that has the names of parameters as keys."""
FAULT_KEYS = (
    *_FAULT_MAP_KEYS,
    "invalidparams",
    "invalidparameters",
    "detail",
    "details",
    "violations",
    "fieldviolations",
    "constraintviolations",
    "issues",
    "suberrors",
    "elements",
)
"""Keys of the single faults."""
_NAME_LIST_KEYS = ("fields", "parameters", "params", "membernames")
"""Keys of a list of names."""
_WORD_KEYS = ("detail", "message", "msg", "description", "reason", "error", "title", "defaultmessage", "text")
CODE_KEYS = ("code", "errorcode", "errcode", "type", "reason", "rule", "keyword", "name")
"""Keys of what tells the kind of a fault."""
_MESSAGE_LIST_KEYS = ("message", "messages", "errormessages")
_FRAMES = frozenset({*FAULT_KEYS, *_MESSAGE_LIST_KEYS, "error"})
"""Keys around the single faults, which are no names of parameters."""
_LACKING_KEYS = ("missingproperty", "additionalproperty", "unevaluatedproperty")
"""Keys of a property that a validator of JSON Schema misses or refuses within the place that it names."""
PLACES = ("body", "query", "path", "header", "cookie")
WRAPPERS = (*PLACES, "data", "attributes", "params", "relationships")
"""Steps that lead into the request or into its envelope and may be no names themselves."""
_MAX_DEPTH = 6
_MAX_FAULTS = 50
_MAX_ITEMS = 20
_MAX_STEPS = 20
_MAX_STEP = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in the API's own words. `steps` lead to what it is about; there are none if it names nothing.

    `place` is the part of the request where the API says so: body, query, path, header or cookie. `listed` says that
    it stands in a list of faults, so that its name surely is one.
    """

    steps: tuple[str, ...] = ()
    place: str = ""
    message: str = ""
    code: str = ""
    listed: bool = True

    @property
    def name(self) -> str:
        """The steps as one text, without those that only lead into the request."""
        steps = self.steps
        while len(steps) > 1 and steps[0] in WRAPPERS:
            steps = steps[1:]
        return ".".join(steps)[:_MAX_STEP]


def faults_of(body: Any) -> list[Fault]:
    """Return the single faults of an error, in their order, each once; at most 50."""
    faults: dict[Fault, None] = {}
    for fault in _walk(body, 0, ()):
        faults.setdefault(fault)
        if len(faults) >= _MAX_FAULTS:
            break
    return list(faults)


def by_folded_key(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object by its keys without what spellings differ in."""
    return {folded(str(key)): value for key, value in body.items()}


def is_list_of_texts(value: Any) -> bool:
    """Return True for a list of texts that is not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def steps_of_name(value: Any) -> tuple[str, ...]:
    """Return the steps in `petId`, `/data/petId`, `items[0][price]`, `$.items.0.price` or `["body", "petId"]`."""
    if isinstance(value, list):
        parts = [str(item) for item in value if isinstance(item, str | int)]
    elif not isinstance(value, str) or len(value) > _MAX_STEPS * _MAX_STEP:
        return ()
    elif value.startswith(("/", "#/")):
        parts = [unquote(part).replace("~1", "/").replace("~0", "~") for part in value.split("/")[1:]]
    else:
        for sign in "[]/":
            value = value.replace(sign, ".")
        parts = value.removeprefix("#").split(".")
    steps = (part.strip().strip("'\"")[:_MAX_STEP] for part in parts[: 2 * _MAX_STEPS])
    return tuple(step for step in steps if step not in ("", "$"))[:_MAX_STEPS]


def _walk(body: Any, depth: int, within: tuple[str, ...], *, listed: bool = False) -> Iterator[Fault]:
    """Yield the faults of a value; `listed` says that it stands in a list of them, `within` where that is about."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(body, list):
        for item in body[:_MAX_ITEMS]:
            if isinstance(item, str):
                yield Fault(within, message=item)
            else:
                yield from _walk(item, depth + 1, within, listed=True)
    elif isinstance(body, Mapping):
        fields = by_folded_key(body)
        if not depth and body and all(map(is_list_of_texts, body.values())) and not fields.keys() & _FRAMES:
            yield from _by_name(body, depth, within)
            return
        direct = list(_direct(fields, within, _NAME_KEYS if depth else _TOP_NAME_KEYS, listed=listed))
        nested = list(_nested(fields, depth, within))
        yield from direct
        yield from nested
        if listed and not direct and not nested:
            yield Fault(within, _place(fields), _word(fields), _code(fields))


def _direct(
    fields: Mapping[str, Any], within: tuple[str, ...], keys: tuple[str, ...], *, listed: bool
) -> Iterator[Fault]:
    """Yield the faults of the names that an object has itself, and of those that it lists."""
    source = fields.get("source")
    place = _place(fields)
    steps: tuple[str, ...] = ()
    if isinstance(source, Mapping):
        sources = by_folded_key(source)
        key = next((key for key in _SOURCE_KEYS if steps_of_name(sources.get(key))), "")
        steps = steps_of_name(sources.get(key))
        place = {"parameter": "query", "header": "header", "pointer": "body"}.get(key, place)
    names = [fields.get(key) for key in keys if not (key == "location" and fields.get(key) in PLACES)]
    steps = steps or next((steps for name in names if (steps := steps_of_name(name))), ())
    if not place and steps and steps == steps_of_name(fields.get("pointer")):
        place = "body"  # RFC 9457, 3: it points into the content of the request
    arguments = fields.get("params")
    if isinstance(arguments, Mapping):
        lacking = by_folded_key(arguments)
        steps += next((steps_of_name([lacking[key]]) for key in _LACKING_KEYS if key in lacking), ())
    message, code = _word(fields), _code(fields)
    if steps:
        yield Fault(within + steps, place, message, code, listed)
    for key in _NAME_LIST_KEYS:
        if is_list_of_texts(fields.get(key)):
            for name in fields[key][:_MAX_ITEMS]:
                if steps := steps_of_name(name):
                    yield Fault(within + steps, place, message, code, listed)


def _nested(fields: Mapping[str, Any], depth: int, within: tuple[str, ...]) -> Iterator[Fault]:
    """Yield the faults in the lists and objects of an error that hold some."""
    for key in _MESSAGE_LIST_KEYS:
        if is_list_of_texts(fields.get(key)):
            yield from _walk(fields[key], depth + 1, within)
    for key in ("error", *FAULT_KEYS):
        value = fields.get(key)
        if isinstance(value, list):
            yield from _walk(value, depth + 1, within)
        elif isinstance(value, Mapping):
            if key != "error" and value and _is_by_name(key, value):
                yield from _by_name(value, depth, within)
            else:
                yield from _walk(value, depth + 1, within)


def _is_by_name(key: str, value: Mapping[str, Any]) -> bool:
    """Return True if the keys of an object are names of parameters and not those of one fault."""
    if all(isinstance(inner, list) for inner in value.values()):
        return not any(folded(str(name)) in FAULT_KEYS for name in value)
    return key in _FAULT_MAP_KEYS and not any(
        isinstance(inner, str) and folded(str(name)) in _WORD_KEYS for name, inner in value.items()
    )


def _by_name(body: Mapping[str, Any], depth: int, within: tuple[str, ...]) -> Iterator[Fault]:
    """Yield the faults of an object that has the names of parameters as keys."""
    for name, item in list(body.items())[:_MAX_ITEMS]:
        steps = within + steps_of_name(str(name))
        if isinstance(item, Mapping):
            fields = by_folded_key(item)
            word = _word(fields)
            if word or depth >= _MAX_DEPTH:
                yield Fault(steps, "", word, _code(fields))
            else:
                yield from _by_name(item, depth + 1, steps)
        elif isinstance(item, list) and not all(isinstance(inner, str) for inner in item):
            for inner in item[:_MAX_ITEMS]:
                fields = by_folded_key(inner) if isinstance(inner, Mapping) else {}
                yield Fault(steps, "", _word(fields) or (inner if isinstance(inner, str) else ""), _code(fields))
        else:
            words = item if isinstance(item, list) else [item]
            yield Fault(steps, "", "; ".join(str(word) for word in words[:_MAX_ITEMS] if word is not None))


def _place(fields: Mapping[str, Any]) -> str:
    """Return the part of the request that a fault names beside the parameter."""
    for key in ("in", "location"):
        value = fields.get(key)
        if isinstance(value, str) and value.lower() in PLACES:
            return value.lower()
    return ""


def _word(fields: Mapping[str, Any]) -> str:
    """Return the message of one fault."""
    message = next((fields[key] for key in _WORD_KEYS if isinstance(fields.get(key), str) and fields[key]), "")
    constraints = fields.get("constraints")
    if not message and isinstance(constraints, Mapping):
        message = "; ".join(str(text) for text in list(constraints.values())[:_MAX_ITEMS])
    return message


def _code(fields: Mapping[str, Any]) -> str:
    """Return the code of one fault: what tells its kind and is not its name."""
    for key in CODE_KEYS[:-1]:
        value = fields.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value):
            return str(value)
    return ""
