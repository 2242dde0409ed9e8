"""The schemas of a document, of any version of OpenAPI: what they require of requests, and what they are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any
from urllib.parse import quote, unquote

import jsonschema_rs

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_DATA = ("enum", "const", "required")
_ANNOTATIONS = ("format", "discriminator", "example", "examples", "default", "xml", "externalDocs", "$schema", "$id",
                "id", "$anchor", "title", "description", "deprecated", "writeOnly", "nullable")  # fmt: skip
_KINDS = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))
_PARTS = ("allOf", "anyOf", "oneOf")
_OPEN = frozenset((
    "anyOf", "oneOf", "required", "additionalProperties", "patternProperties", "unevaluatedProperties",
    "propertyNames", "dependentRequired",
))  # fmt: skip
"""Keywords by which an object has fields beside its properties, or must have one of them."""
_JOINED = ("allOf", "properties", "required")
_FIELDS = frozenset(("properties", "additionalProperties"))
_OWN = _FIELDS | {"required", "anyOf", "oneOf"}
_DEEPEST = 8
_MOST_VALIDATORS = 500
_MOST_SUBTYPES = 200
"""The number of subtypes and of their fields up to which a base is offered with them."""


@cache
def compiles(pattern: str) -> bool:
    """Return True if a pattern can be judged by: not one between the slashes of another language."""
    try:
        jsonschema_rs.Draft202012Validator(_modern({"pattern": pattern}))
    except ValueError:
        return False
    return re.fullmatch(r"/.+/[a-z]*", pattern, re.DOTALL) is None


class _Beside(dict[str, Any]):
    """Schemas that stand side by side for one value: none of them extends another."""


class Schemas:
    """The schemas of a document, by references from its root."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self._registry: Any = None
        self._subtypes: dict[int, list[dict[str, str]]] | None = None
        self.discriminators: dict[int, Any] = {}
        """Those of bases with subtypes, by identity; a subtype that has others inherits that of its base."""
        self._merged: dict[int, tuple[Any, Any]] = {}
        self._is_modern = re.match(r"3\.[1-9]", str(root.get("openapi"))) is not None
        self._known: dict[str, Any] = {}
        self._properties: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._validators: dict[int, tuple[Any, Any]] = {}
        self._marks: dict[tuple[int, str, int], tuple[Any, bool]] = {}
        self.flat: dict[tuple[int, int], tuple[Any, Mapping[str, Any]]] = {}
        """Schemas with the properties of their parts, by schema and turn."""
        self.samples: dict[tuple[Any, ...], tuple[Any, Any]] = {}
        """Samples by schema, turn, name and mark; each with its schema, so that its identity stays in use."""

    def deref(self, node: Any) -> Any:
        """Follow the references at the top of a node; what stands beside a reference wins, except the type."""
        for _ in range(2 * _DEEPEST):
            if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
                return node
            if id(node) not in self._merged:
                self._merged[id(node)] = node, self._with(self._target(node["$ref"]), node)
            node = self._merged[id(node)][1]
        return {}

    def _target(self, reference: str) -> Any:
        target: Any = self.root
        for step in unquote(reference).lstrip("#/").split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            try:
                target = target[int(step) if isinstance(target, list) else step]
            except (LookupError, TypeError, ValueError):
                target = {}
        return target

    def _with(self, target: Any, node: Mapping[str, Any]) -> Any:
        """Return what a reference names, with what stands beside it."""
        beside = {key: value for key, value in node.items() if self._stands_beside(key)}
        if not beside or not isinstance(target, dict) or ("in" in target and "type" not in beside):
            return target
        if not {"in", "content"} & target.keys() and not beside.keys().isdisjoint(_JOINED):
            return {**beside, "allOf": [target, *(beside.get("allOf") or ())]}
        return {**target, **beside, **{key: target[key] for key in ("type",) if key in target}}

    def _stands_beside(self, key: str) -> bool:
        """Return True for a keyword that counts beside a reference: before 3.1 only one that constrains nothing."""
        return key != "$ref" and (self._is_modern or key in (*_ANNOTATIONS, "readOnly") or key[:2] == "x-")

    def at(self, node: Any, *steps: str) -> Any:
        """Return the object below a node, references followed; an empty one where there is none."""
        for step in steps:
            node = self.deref(node)
            node = node.get(step) if isinstance(node, dict) else None
        node = self.deref(node)
        return node if isinstance(node, dict) else {}

    def _strict(self, schema: Any, *, is_map: bool = False) -> Any:
        """Return a schema as one for requests: nothing read-only is required, and what is null may be null."""
        if isinstance(schema, list):
            return [self._strict(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        if is_map:
            return {key: self._strict(value) for key, value in schema.items()}
        kept = {key: value for key, value in schema.items() if not _is_left_aside(key, value, schema)
                and ("$ref" not in schema or key == "$ref" or self._stands_beside(key))}  # fmt: skip
        if isinstance(schema.get("discriminator"), dict):
            kept |= {word: [self._tagged(schema["discriminator"], each) for each in kept.get(word) or ()]
                     for word in _PARTS[1:] if word in kept}  # fmt: skip
        strict = {key: value if key in _DATA else self._strict(value, is_map=key in _MAPS)
                  for key, value in kept.items()}  # fmt: skip
        if isinstance(strict.get("$ref"), str):
            strict["$ref"] = f"urn:document{self._reference(strict['$ref'])}"
        if "required" in strict:
            known = schema.get("properties") or {}
            strict["required"] = sorted({name for name in strict["required"] if not self.is_marked(known.get(name))})
        is_nullable = True in (schema.get("nullable"), schema.get("x-nullable"))
        return {"anyOf": [{"type": "null"}, _modern(strict)]} if is_nullable else _modern(strict)

    def _tagged(self, discriminator: Mapping[str, Any], option: Any) -> Any:
        """Return an alternative with only those values of its tag by which it is known, if it has also others."""
        reference = str(option.get("$ref")) if isinstance(option, dict) else ""
        field = str(discriminator.get("propertyName"))
        targets = (reference, reference.rpartition("/")[2])
        tags = [tag for tag, target in self.at(discriminator, "mapping").items() if target in targets]
        members = self.members(self.properties(option).get(field))
        is_known = bool(tags) and (not members or all(tag in members for tag in tags))
        return {"allOf": [option, {"properties": {field: {"enum": tags}}}]} if is_known else option

    def is_marked(self, schema: Any, mark: str = "readOnly", depth: int = 0) -> bool:
        """Return True for a property that is `readOnly` or `writeOnly`."""
        key = id(schema), mark, depth
        if key not in self._marks:
            marks = (part[mark] for part in self.parts(schema, _PARTS[:1]) if mark in part)
            is_marked = next(marks, False) is True or (mark == "readOnly" and self._is_server_set(schema, depth))
            self._marks[key] = schema, is_marked
        return self._marks[key][1]

    def _is_server_set(self, schema: Any, depth: int) -> bool:
        """Return True for an object of which each field is read-only, and none has to be there."""
        nodes = list(self.parts(schema, _PARTS[:1])) if depth < _DEEPEST // 2 else []
        fields = [each for node in nodes for each in (node.get("properties") or {}).values()]
        is_whole = bool(fields) and all(node.keys().isdisjoint(_OPEN) for node in nodes)
        return is_whole and all(self.is_marked(each, depth=depth + 1) for each in fields)

    def problems(self, schema: Any, value: Any) -> list[str]:
        """Return the problems of a value; nothing for a schema that cannot be judged by."""
        schema = self.deref(schema)
        if id(schema) not in self._validators:
            if len(self._validators) >= _MOST_VALIDATORS:
                self._validators.clear()
            self._validators[id(schema)] = schema, self._compiled(schema)
        validator = self._validators[id(schema)][1]
        errors = [] if validator is None else list(validator.iter_errors(value))[:2]
        pairs = [(f"{''.join(f'/{step}' for step in error.instance_path)} ", error.message) for error in errors]
        return [at + (text if len(text) < 150 else f"{text[:70]} … {text[-70:]}") for at, text in pairs]

    def _reference(self, reference: str) -> str:
        """Return a reference into the registry, which gets a copy of a schema that stands elsewhere."""
        if reference.startswith(("#/definitions/", "#/components/schemas/")):
            return quote(unquote(reference), safe="#/~")
        copies = self._known.setdefault("copies", {})
        if reference not in copies:
            self._registry = copies[reference] = None
            copies[reference] = self._strict(self.deref({"$ref": reference}))
        return f"#/copies/{quote(reference.replace('~', '~0').replace('/', '~1'), safe='~')}"

    def _compiled(self, schema: Any) -> Any:
        if not self._known:
            definitions, schemas = self.at(self.root, "definitions"), self.at(self.root, "components", "schemas")
            self._known["definitions"] = self._strict(definitions, is_map=True)
            self._known["components"] = {"schemas": self._strict(schemas, is_map=True)}
        strict = self._strict(schema)
        self._registry = self._registry or jsonschema_rs.Registry([("urn:document", self._known)])
        try:
            return jsonschema_rs.Draft202012Validator(strict, registry=self._registry)
        except (ValueError, jsonschema_rs.ReferencingError):
            return None

    def subtypes(self, schema: Any) -> list[dict[str, str]]:
        """Return references to what stands for a base with a discriminator: its mapping, and all that extend it."""
        if self._subtypes is None:
            self._subtypes = {}
            direct: dict[int, list[str]] = {}
            for reference, each in self._components.items():
                for base in self.deref(each).get("allOf") or ():
                    direct.setdefault(id(self.deref(base)), []).append(reference)
            bases = [(each, each["discriminator"]) for each in self._bases]
            for each, discriminator in bases:
                if each.keys().isdisjoint(_PARTS[1:]) and id(each) not in self.discriminators:
                    self.discriminators[id(each)] = discriminator
                    self._subtypes[id(each)] = subtypes = self._of_base(each, direct)
                    bases += [(self.deref(subtype), discriminator) for subtype in subtypes]
        return self._subtypes.get(id(schema), [])

    @cached_property
    def _bases(self) -> list[dict[str, Any]]:
        return [each for each in self._components.values() if "discriminator" in each]

    @cached_property
    def _components(self) -> dict[str, dict[str, Any]]:
        """Return the named schemas by the references to them."""
        ways = {way: self.at(self.root, *way.split("/")) for way in ("definitions", "components/schemas")}
        names = {f"#/{way}/{name.replace('~', '~0').replace('/', '~1')}": each
                 for way, schemas in ways.items() for name, each in schemas.items()}  # fmt: skip
        return {name: each for name, each in names.items() if isinstance(each, dict)}

    def _of_base(self, base: Any, direct: Mapping[int, list[str]]) -> list[dict[str, str]]:
        names, mapping = self._components, self.at(base, "discriminator", "mapping").values()
        mapped = [name for each in mapping for name in (str(each), f"#/components/schemas/{each}") if name in names]
        extending = list(direct.get(id(base), ()))
        for reference in extending:
            extending += [each for each in direct.get(id(names[reference]), ()) if each not in extending]
        subtypes = [each for each in dict.fromkeys((*mapped, *extending)) if names[each] is not base]
        size = sum(1 + _fields(names[each]) for each in subtypes)
        return [{"$ref": each} for each in subtypes] if size <= _MOST_SUBTYPES else []

    def parts(self, schema: Any, words: Sequence[str] = _PARTS) -> Iterator[Mapping[str, Any]]:
        """Yield a schema and the alternatives and parts that it is made of, each once, references followed."""
        todo, known = [(schema, words == _PARTS)], dict[int, Any]()
        while todo:
            raw, is_whole = todo.pop()
            part = self.deref(raw)
            if isinstance(part, dict) and id(part) not in known:
                known[id(part)] = part
                yield part
                todo += [(each, True) for each in reversed(self.subtypes(part))] if is_whole and self._bases else []
                is_one = self.joins(part)
                todo += [(each, is_whole and (is_one or word != "allOf")) for word in reversed(words)
                         for each in reversed(part.get(word) or ())]  # fmt: skip

    def joins(self, part: Mapping[str, Any]) -> bool:
        """Return True if `allOf` has schemas of one value, and no base that a subtype extends.

        So does 3.0 write a reference with something beside it; a named schema of this form is a subtype.
        """
        is_wrapped = len(part.get("allOf") or ()) == 1 and part.keys().isdisjoint(_OWN)
        return isinstance(part, _Beside) or (is_wrapped and id(part) not in self._named)

    @cached_property
    def _named(self) -> frozenset[int]:
        return frozenset(map(id, self._components.values()))

    def is_plain(self, schema: Any) -> bool:
        """Return True for a schema without parts and alternatives."""
        return len(list(self.parts(schema))) == 1

    def is_one(self, schema: Any) -> bool:
        """Return True for a schema without alternatives."""
        return len(list(self.parts(schema))) == len(list(self.parts(schema, _PARTS[:1])))

    def kinds(self, schema: Any) -> set[str]:
        """Return the JSON types that a schema allows; none: all."""
        kinds: set[str] = set()
        for part in self.parts(schema):
            kind = part.get("type", "any" if part.keys().isdisjoint(_FIELDS) else "object")
            kinds |= _KINDS & set(kind if isinstance(kind, list) else [kind])
            if all(isinstance(each, str) for each in part.get("enum") or [None]):  # whatever type stands beside
                kinds = kinds and kinds | {"string"}
        return kinds

    def properties(self, schema: Any, beside: str = "") -> dict[str, Any]:
        """Return the properties of all parts of a schema, beside those with a mark.

        A part that requires a property and declares it without `readOnly` takes the mark of another part back, and so
        does an alternative.
        """
        schema = self.deref(schema)
        if id(schema) not in self._properties:
            schemas: dict[str, list[Any]] = {}
            self._properties[id(schema)] = schema, {}
            sent, parts = self._sent(schema), list(self.parts(schema))
            for part in parts:
                for name, each in (part.get("properties") or {}).items():
                    schemas[name] = schemas.get(name, []) + [each] * (each not in schemas.get(name, ()))
                    if name in (part.get("required") or ()) and each.get("readOnly", "$ref" in each) is False:
                        sent.add(name)
            known = {name: each[0] if len(each) == 1 else _Beside(allOf=each) for name, each in schemas.items()}
            marked = [name for name in sent if self.is_marked(known[name])]
            known |= {name: _Beside(readOnly=False, allOf=[known[name]]) for name in marked}
            known |= {tag: {"allOf": [known.get(tag, {})]} for tag in _tags(parts) & known.keys()}
            self._properties[id(schema)] = schema, known
        known = self._properties[id(schema)][1]
        return {name: each for name, each in known.items() if not (beside and self.is_marked(each, beside))}

    def _sent(self, schema: Any) -> set[str]:
        """Return the properties that not all alternatives that have them mark, and nothing beside them declares."""
        parts = list(self.parts(schema, _PARTS[:1]))
        options = [option for part in parts for word in _PARTS[1:] for option in part.get(word) or ()]
        declared = {name for part in parts for name in part.get("properties") or ()}
        return {name for option in options for name in self.properties(option, "readOnly")} - declared

    def required(self, schema: Any, beside: str = "readOnly") -> set[str]:
        """Return the properties that every value must have, beside those with a mark."""
        names = {name for part in self.parts(schema, _PARTS[:1]) for name in part.get("required") or ()}
        return {name for name in names if not self.is_marked(self.properties(schema).get(name), beside)}

    def is_nullable(self, schema: Any) -> bool:
        """Return True if a schema of stated types allows null; without, `nullable` has no effect (3.0.4, 4.7.24)."""
        kinds, words = self.kinds(schema), ("nullable", "x-nullable")
        return "null" in kinds or (bool(kinds) and any(part.get(word) for part in self.parts(schema) for word in words))

    def is_fixed(self, schema: Any) -> bool:
        """Return True for what can be one value alone, which an adapter need not ask for."""
        return any("const" in part or len(part.get("enum") or ()) == 1 for part in self.parts(schema))

    def members(self, schema: Any) -> list[Any]:
        """Return the values of an enumeration beside null."""
        stated = self.at(schema)
        return [each for each in stated.get("enum") or [stated.get("const")] if each is not None]

    def is_other(self, schema: Any, there: Mapping[str, Any], named: Mapping[str, Any]) -> bool:
        """Return True if the named fields choose another alternative by its discriminator than those that are there."""
        return any(named[tag] != there.get(tag) for tag in _tags(self.parts(schema)) & named.keys())

    def items(self, schema: Any) -> Any:
        """Return the schema of the items of a list."""
        schemas = [part["items"] for part in self.parts(schema) if isinstance(part.get("items"), dict)]
        return _Beside(allOf=schemas) if len(schemas) > 1 else next(iter(schemas), {})


def _tags(parts: Iterable[Mapping[str, Any]]) -> set[Any]:
    """Return the properties by which alternatives and subtypes are known."""
    stated: list[Any] = [part.get("discriminator") for part in parts]
    return {each.get("propertyName") if isinstance(each, dict) else each for each in stated}


def _fields(schema: Mapping[str, Any]) -> int:
    parts = (schema, *(schema.get("allOf") or ()))
    return sum(len(part.get("properties") or ()) for part in parts)


def _modern(schema: dict[str, Any]) -> dict[str, Any]:
    r"""Return a schema with bounds as they are since 3.1, and `oneOf` as APIs mean it: one of them at least.

    The end of a text may be written as in Python: `\Z`.
    """
    if "pattern" in schema:
        schema["pattern"] = re.sub(r"\\[zZ]", "$", str(schema["pattern"]))
    if "oneOf" in schema:
        schema["allOf"] = [*(schema.get("allOf") or ()), {"anyOf": schema.pop("oneOf")}]
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)
    return schema


def _is_left_aside(key: str, value: Any, schema: Mapping[str, Any]) -> bool:
    """Return True for a keyword that nothing can be judged by."""
    if key == "type":
        return isinstance(value, str) and value not in _KINDS
    if key == "enum":  # of a list it is meant of the items
        return schema.get("type") == "array" and not any(isinstance(each, list) for each in value)
    if key == "required":
        return not isinstance(value, list)
    return key in _ANNOTATIONS or key[:2] == "x-" or (key == "pattern" and not compiles(str(value)))
