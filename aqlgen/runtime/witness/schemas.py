# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The schemas of a document, of any version of OpenAPI: what they require of requests, and what they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

__all__ = ["Schemas", "compiles", "without_place"]

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_DATA = ("enum", "const")
_ANNOTATIONS = ("format", "discriminator", "example", "examples", "default", "xml", "externalDocs", "$schema", "$id",
                "id", "$anchor", "title", "description", "deprecated", "writeOnly")  # fmt: skip
_DEEPEST = 8


class Schemas:
    """The schemas of a document, by references from its root."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.is_swagger = "swagger" in root
        self._old = str(root.get("openapi", "2")) < "3.1"
        components = root.get("components")
        self.components: Mapping[str, Any] = components if isinstance(components, dict) else {}
        self._schemas = {
            "components": {"schemas": self._strict(self.components.get("schemas") or {}, is_map=True)},
            "definitions": self._strict(root.get("definitions") or {}, is_map=True),
        }
        self._registry: Any = None
        self._validators: dict[int, tuple[Any, Any]] = {}

    def deref(self, node: Any) -> Any:
        """Follow the references at the top of a node; what stands beside a reference wins."""
        for _ in range(_DEEPEST * 2):
            if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
                return node
            target: Any = self.root
            for step in node["$ref"].lstrip("#").strip("/").split("/"):
                step = unquote(step).replace("~1", "/").replace("~0", "~")
                if isinstance(target, list) and step.isdigit() and int(step) < len(target):
                    target = target[int(step)]
                else:
                    target = target.get(step) if isinstance(target, dict) else None
            beside = {key: value for key, value in node.items() if key != "$ref"}
            if isinstance(target, dict) and {"name", "in"} <= target.keys():  # nothing stands beside such a reference
                beside = {}
            node = {**target, **beside} if isinstance(target, dict) else target if target is not None else beside
        return {}

    def _strict(self, schema: Any, *, is_map: bool = False) -> Any:
        """Return a schema of any version as one of 2020-12 for requests, in which nothing read-only is required."""
        if isinstance(schema, list):
            return [self._strict(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        if is_map:
            return {key: self._strict(value) for key, value in schema.items()}
        strict = {
            key: value if key in _DATA else self._strict(value, is_map=key in _MAPS)
            for key, value in schema.items()
            if key not in _ANNOTATIONS and key[:2] != "x-"
        }
        if "$ref" in strict:
            reference = str(strict["$ref"]).replace("#/", "urn:document#/", 1)
            strict = ({"nullable": strict.get("nullable")} if self._old else strict) | {"$ref": reference}
        if isinstance(strict.get("oneOf"), list):
            parts = strict.get("allOf")
            strict["allOf"] = [*(parts if isinstance(parts, list) else []), {"anyOf": strict.pop("oneOf")}]
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if isinstance(strict.get(exclusive), bool) and strict.pop(exclusive) and bound in strict:
                strict[exclusive] = strict.pop(bound)
        required, properties = strict.pop("required", None), schema.get("properties")
        if isinstance(required, list):
            known = properties if isinstance(properties, dict) else {}
            strict["required"] = sorted({each for each in required if not self.is_marked(known.get(each), "readOnly")})
        members = strict.get("enum")
        if (
            strict.get("type") == "array"
            and isinstance(members, list)
            and not any(isinstance(each, list) for each in members)
        ):
            del strict["enum"]  # meant of the items
        if strict.get("type") in ("file", "any", None):
            strict.pop("type", None)
        if isinstance(strict.get("pattern"), str) and not compiles(strict["pattern"]):
            del strict["pattern"]
        is_nullable = strict.pop("nullable", None) is True or schema.get("x-nullable") is True
        return {"anyOf": [{"type": "null"}, strict]} if is_nullable else strict

    def is_marked(self, schema: Any, mark: str) -> bool:
        """Return True for a property that is `readOnly` or `writeOnly`."""
        schema = self.deref(schema)
        return isinstance(schema, dict) and schema.get(mark) is True

    def problems(self, schema: Any, value: Any) -> list[str]:
        """Return what is wrong with a value; nothing for a schema that cannot be judged by."""
        known = self._validators.get(id(schema))
        if known is None:
            if self._registry is None:
                self._registry = jsonschema_rs.Registry([("urn:document", self._schemas)])
            try:
                strict = self._strict(without_place(schema) if isinstance(schema, dict) else schema)
                known = schema, jsonschema_rs.Draft202012Validator(strict, registry=self._registry)
            except (ValueError, jsonschema_rs.ReferencingError):
                known = schema, None
            self._validators[id(schema)] = known
        errors = [] if known[1] is None else list(known[1].iter_errors(value))[:2]
        return [f"{''.join(f'/{step}' for step in error.instance_path)} {error.message[:140]}" for error in errors]

    def parts(self, schema: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
        """Yield a schema and the alternatives and parts that it is made of, references followed."""
        schema = self.deref(schema)
        if isinstance(schema, dict) and depth < _DEEPEST:
            yield schema
            for key in ("allOf", "anyOf", "oneOf"):
                for part in schema.get(key) or []:
                    yield from self.parts(part, depth + 1)

    def kinds(self, schema: Any) -> set[str]:
        """Return the JSON types that a schema allows; none: all."""
        kinds: set[str] = set()
        for part in self.parts(schema):
            kind = part.get("type")
            kinds |= {each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str)} - {
                "any",
                "file",
            }
            if kind is None and "properties" in part:
                kinds.add("object")
        return kinds

    def properties(self, schema: Any) -> dict[str, Any]:
        """Return the properties of all parts of a schema."""
        return {name: each for part in self.parts(schema) for name, each in (part.get("properties") or {}).items()}

    def required(self, schema: Any, *, answers: bool = False) -> set[str]:
        """Return the properties that every value of a request must have, or every answer."""
        schema = self.deref(schema)
        parts = [schema, *map(self.deref, schema.get("allOf") or [])] if isinstance(schema, dict) else []
        names = {name for part in parts if isinstance(part.get("required"), list) for name in part["required"]}
        properties = self.properties(schema)
        hidden = "writeOnly" if answers else "readOnly"
        return {name for name in names if not self.is_marked(properties.get(name), hidden)}

    def writable(self, schema: Any) -> dict[str, Any]:
        """Return the properties that a request may carry."""
        return {name: each for name, each in self.properties(schema).items() if not self.is_marked(each, "readOnly")}

    def items(self, schema: Any) -> Any:
        """Return the schema of the items of a list."""
        return next((part["items"] for part in self.parts(schema) if "items" in part), {})


def without_place(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter or form field of Swagger 2.0, which stands among its other keys."""
    beside = ("name", "in", "description", "collectionFormat")
    return {
        key: each
        for key, each in parameter.items()
        if key not in beside and not (key == "required" and each in (True, False))
    }


def compiles(pattern: str) -> bool:
    """Return True if a pattern can be judged by."""
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except ValueError:
        return False
    return True
