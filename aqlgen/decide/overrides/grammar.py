"""The grammar of `overrides.yaml`: the JSON Schema that editors complete by, and what it refuses in plain words.

The schema holds the words too: `title` is what a mapping is called, `errorMessage` what a field "must be" or else what
is wrong with the text that stands there, and `examples` what to write instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import yaml

from aqlgen.decide.decision import Place
from aqlgen.decide.naming.spelling import LIMIT
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import OptionError
from aqlgen.diagnostics.plain import nearest
from aqlgen.ir import Json
from aqlgen.words import snake

from .model import finding

if TYPE_CHECKING:
    from jsonschema_rs import Draft7Validator, ValidationError

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from the root of the file to a value."""

_MAX_DEPTH: Final = 44
_MAX_NODES: Final = 100_000
"""Bounds of a file with its anchors followed, since a few of them can repeat each other without end."""

_TAG: Final = "tag:yaml.org,2002:"
_OTHER_KIND: Final = frozenset({"type", "const"})
"""Keywords by which a value is of another kind, and not just a bad one of its kind."""

_KEY: Final = "Write METHOD /path, as in: GET /pets/{petId}; operation:NAME; tag:NAME; or a pattern, as in: * /admin/**"


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of the file, as projects have it."""
    from aqlgen.resources import own_templates

    path = own_templates() / "templates/project/schema/overrides.schema.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


@cache
def field_cases() -> frozenset[str]:
    """Return the spellings of fields that an adapter can have."""
    return frozenset(schema()["properties"]["adapter"]["properties"]["field_case"]["enum"])


class Tree:
    """A composed YAML file as JSON data, with the places of keys and values by path.

    `data` is without what cannot be used; `findings` tells what that was. Raises OptionError for a file without end.
    """

    def __init__(self, root: yaml.Node, file: str) -> None:
        self.findings: list[Diagnostic] = []
        self.keys: dict[Path, Place] = {}
        self.values: dict[Path, Place] = {}
        self._file = file
        self._count = 0
        self.data: Any = self._read(root, ())
        self._validate()

    def refuse(self, place: Place, message: str, help: str = "") -> None:
        """Add a finding at a place."""
        self.findings.append(finding(self._file, place, message, help))

    def _read(self, node: yaml.Node, path: Path) -> Json:
        self.values[path] = _place(node)
        self._count += 1
        if len(path) > _MAX_DEPTH or self._count > _MAX_NODES:
            message = "the value is too large or nested too deeply"
            raise OptionError(finding(self._file, _place(node), message, "Shorten it."))
        if isinstance(node, yaml.SequenceNode):
            return [self._read(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return dict(self._members(node, path))
        return _scalar(node)

    def _members(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str, Json]]:
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.refuse(_place(key), "a key must be text", "Quote it if it is meant so.")
            elif (inner := (*path, key.value)) in self.keys:
                self.refuse(_place(key), f"`{key.value}` is here twice", "Keep one of them.")
            else:
                self.keys[inner] = _place(key)
                yield key.value, self._read(value, inner)

    def _validate(self) -> None:
        """Check the data against the schema, and leave out of it what is refused."""
        errors = list(_leaves(_validator().iter_errors(self.data)))
        explained: set[Path] = set()
        for error in sorted(errors, key=lambda error: error.kind.name != "type"):  # which makes others follow
            path: Path = tuple(error.instance_path)
            if error.kind.name == "additionalProperties":
                for key in getattr(error.kind, "unexpected", ()):
                    self.refuse(self.keys[*path, key], *_unknown_key(error, key))
                    _drop(self.data, (*path, key))
            elif path not in explained:
                explained.add(path)
                self.refuse(self.values[path], *_explained(error))
                if len(path) > 1:
                    _drop(self.data, path)
                elif path:
                    self.data[path[0]] = {}  # its key may still be checked
                else:
                    self.data = {}


def _drop(data: Any, path: Path) -> None:
    """Remove a value; an item of a list becomes None, so that the others keep their indexes."""
    for key in path[:-1]:
        data = data.get(key) if isinstance(data, dict) else data[key]
        if data is None:
            return  # with what held it
    if isinstance(data, dict):
        data.pop(path[-1], None)
    else:
        data[path[-1]] = None


@cache
def _validator(definition: str = "") -> Draft7Validator:
    from jsonschema_rs import Draft7Validator  # late: most runs have no overrides

    rules = {"$ref": f"#/$defs/{definition}", "$defs": schema()["$defs"]} if definition else schema()
    return Draft7Validator(rules, validate_formats=True)


def _leaves(errors: Iterable[ValidationError]) -> Iterator[ValidationError]:
    """Yield the errors, for an `anyOf` those of the alternative that is of the value's kind."""
    for error in errors:
        branches = getattr(error.kind, "context", ())
        fitting = [branch for branch in branches if not any(_is_of_other_kind(inner, error) for inner in branch)]
        if fitting and not _options(_rules(error)[-1]):
            yield from _leaves(fitting[0])
        else:
            yield error


def _is_of_other_kind(inner: ValidationError, error: ValidationError) -> bool:
    return inner.instance_path == error.instance_path and inner.schema_path[-1] in _OTHER_KIND


def _rules(error: ValidationError) -> list[dict[str, Any]]:
    """Return the schemas that an error lies in, from the whole one to that which holds the keyword."""
    rule: Any = schema()
    rules: list[dict[str, Any]] = [rule]
    for step in error.schema_path[:-1]:
        rule = rule[step]
        rules += [rule] if isinstance(rule, dict) else []
    return rules


def _options(rule: dict[str, Any]) -> list[str]:
    return next((each["enum"] for each in (rule, *rule.get("anyOf", ())) if "enum" in each), [])


def _subject(error: ValidationError) -> str:
    if not error.instance_path:
        return "the overrides"
    return str(_rules(error)[-1].get("title", f"`{error.instance_path[-1]}`"))


def _unknown_key(error: ValidationError, key: str) -> tuple[str, str]:
    if not error.instance_path:
        return f"`{key}` is not the key of an operation", _KEY
    return f"{_subject(error)} has no `{key}`", nearest(key, _rules(error)[-1]["properties"], "field")


def _explained(error: ValidationError) -> tuple[str, str]:
    """Return message and help for any other error."""
    rules, subject, value = _rules(error), _subject(error), error.instance
    if error.kind.name == "required":
        name = str(getattr(error.kind, "property", ""))
        rule = next(each["properties"][name] for each in reversed(rules) if name in each.get("properties", ()))
        options = _options(rule)
        return f"{subject} needs a `{name}`", nearest("", options, name) if options else rule["description"]
    field = str(error.instance_path[-1]) if error.instance_path else ""
    text = value if isinstance(value, str) else ""
    if options := _options(rules[-1]):
        message = (
            f"`{field}` cannot be `{value}`" if text else f"{subject} {rules[-1].get('errorMessage', 'must be text')}"
        )
        return message, nearest(str(value), options, field)
    rule = next((each for each in reversed(rules) if "errorMessage" in each), rules[0])
    if error.kind.name == "type" and "errorMessage" not in rules[-1]:
        return f"{subject} must be a mapping", "Write `key: value`, one a line."
    expected = str(rule.get("errorMessage", error.message))
    if not expected.startswith("must "):  # it is about a text
        if text.strip():
            subject = f"`{text.strip()}`"
        else:
            expected = "must be text"
    return f"{subject} {expected}", _instead(error, rules)


def _instead(error: ValidationError, rules: list[dict[str, Any]]) -> str:
    """Return a hint at what to write: the value in the spelling that is asked for, or an example."""
    value, key = error.instance, error.instance_path[-1]
    close = snake(value)[:LIMIT].rstrip("_") if isinstance(value, str) else ""
    definition = str(error.schema_path[1])
    if close and definition in schema()["$defs"] and _validator(definition).is_valid(close):
        return f"Did you mean `{close}`?"
    if error.kind.name == "not" and isinstance(value, str):
        return "Choose another name."
    examples: list[Json] = next((each["examples"] for each in reversed(rules) if "examples" in each), [])
    field = f"{key}: " if isinstance(key, str) else ""
    ways = " or ".join(f"`{field}{json.dumps(example)}`" for example in examples)
    return f"Write {ways}{'' if value else ', or leave the line out'}." if ways else ""


def _place(node: yaml.Node) -> Place:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _scalar(node: yaml.Node) -> Json:
    """Return the value of a scalar; dates and the like are the text that they are written as."""
    text, kind = str(node.value), node.tag.removeprefix(_TAG)
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    try:
        if kind == "int":
            return int(text.replace("_", ""), 0)
        if kind == "float":
            number = float(text.replace("_", ""))
            return number if number == number and abs(number) != float("inf") else text
    except ValueError:
        return text
    return text
