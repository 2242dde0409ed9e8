"""Members of OpenAPI objects, validated: the only module that imports openapi-pydantic.

The models are all-or-nothing and real documents are not. So each object is validated by itself, without the schemas and
objects within it (those are read by themselves), and an optional key that does not validate is dropped with a
diagnostic instead of rejecting the object. The import of the models takes a quarter of a small run, so they are asked
about an object only when a member is not plainly of the type that its models declare.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Final, TypeAlias

from aqlgen.ir import Json

MAX_REPAIRS = 8
Check: TypeAlias = Callable[[Json], bool]


class InvalidObjectError(Exception):
    """An object lacks a required member."""


def _is_text(value: Json) -> bool:
    """Return True for a string that UTF-8 can express: the models refuse single surrogates."""
    if not isinstance(value, str):
        return False
    try:
        return value.isascii() or bool(value.encode())
    except UnicodeEncodeError:
        return False


def _is_optional_text(value: Json) -> bool:
    return value is None or _is_text(value)


def _is_optional_texts(value: Json) -> bool:
    return value is None or (isinstance(value, list) and all(map(_is_text, value)))


def _is_flag(value: Json) -> bool:
    return isinstance(value, bool)


def _is_optional_flag(value: Json) -> bool:
    return value is None or _is_flag(value)


def _is_location(value: Json) -> bool:
    return value in ("query", "header", "path", "cookie")


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """The name of the models of one OpenAPI object, its members, and the keys that are not validated here.

    A member whose check passes is plainly valid; `required` are those without which an object is not. `defaults` stand
    in for invalid members.
    """

    name: str
    members: Mapping[str, Check]
    nested: frozenset[str]
    required: frozenset[str] = frozenset()
    defaults: Mapping[str, Json] = field(default_factory=dict)


OPERATION: Final = ObjectKind(
    "Operation",
    {
        "tags": _is_optional_texts,
        "summary": _is_optional_text,
        "description": _is_optional_text,
        "operationId": _is_optional_text,
        "deprecated": _is_flag,
    },
    nested=frozenset({"parameters", "requestBody", "responses", "callbacks", "servers", "externalDocs", "security"}),
    defaults={"responses": {}},
)
PARAMETER: Final = ObjectKind(
    "Parameter",
    {
        "name": _is_text,
        "in": _is_location,
        "description": _is_optional_text,
        "required": _is_flag,
        "deprecated": _is_flag,
        "allowEmptyValue": _is_flag,
        "style": _is_optional_text,
        "explode": _is_optional_flag,
        "allowReserved": _is_flag,
    },
    nested=frozenset({"schema", "content", "example", "examples"}),
    required=frozenset({"name", "in"}),
)
REQUEST_BODY: Final = ObjectKind(
    "RequestBody",
    {"description": _is_optional_text, "required": _is_flag},
    nested=frozenset({"content"}),
    defaults={"content": {}},
)
RESPONSE: Final = ObjectKind(
    "Response",
    {"description": _is_text},
    nested=frozenset({"content", "headers", "links"}),
    required=frozenset({"description"}),
    defaults={"description": ""},
)
SECURITY_SCHEME: Final = ObjectKind(
    "SecurityScheme",
    {
        "type": _is_text,
        "description": _is_optional_text,
        "name": _is_optional_text,
        "in": _is_optional_text,
        "scheme": _is_optional_text,
        "bearerFormat": _is_optional_text,
        "openIdConnectUrl": _is_optional_text,
    },
    nested=frozenset({"flows"}),
    required=frozenset({"type"}),
)
INFO: Final = ObjectKind(
    "Info",
    {
        "title": _is_text,
        "summary": _is_optional_text,
        "description": _is_optional_text,
        "termsOfService": _is_optional_text,
        "version": _is_text,
    },
    nested=frozenset({"contact", "license"}),
    required=frozenset({"title", "version"}),
    defaults={"title": "", "version": ""},
)


@cache
def _version(openapi: str) -> ModuleType:
    """Import the models of 3.0, or those of 3.1, which also read 3.2; to import both takes twice as long."""
    with _not_run("openapi_pydantic", "openapi_pydantic.v3"):
        if openapi == "3.0":
            from openapi_pydantic.v3 import v3_0

            return v3_0
        from openapi_pydantic.v3 import v3_1

        return v3_1


@contextmanager
def _not_run(*packages: str) -> Iterator[None]:
    """Let modules within packages be imported without running the packages' own code, which imports all the rest."""
    entered = [name for name in packages if name not in sys.modules]
    try:
        for name in entered:
            spec = find_spec(name)
            if spec is not None:
                sys.modules[name] = module_from_spec(spec)
        yield
    finally:
        for name in entered:
            sys.modules.pop(name, None)


def validate(kind: ObjectKind, raw: Json, openapi: str, drop: Callable[[str, str], None]) -> dict[str, Json]:
    """Validate one object and return its members; call `drop(key, reason)` for each optional key left out.

    The models of 3.0 and 3.1 have the same members. Raises InvalidObjectError.
    """
    if not isinstance(raw, dict):
        raise InvalidObjectError(f"expected an object, found {type(raw).__name__}")
    data = dict(kind.defaults)
    data.update((key, value) for key, value in raw.items() if key not in kind.nested and not key.startswith("x-"))
    if not _is_plainly_valid(kind, data):
        data = _validated_by_model(kind, data, openapi, drop)
    return {key: value for key, value in data.items() if key in kind.members}


def _is_plainly_valid(kind: ObjectKind, data: Mapping[str, Json]) -> bool:
    return kind.required <= data.keys() and all(
        _is_text(key) and ((check := kind.members.get(key)) is None or check(value)) for key, value in data.items()
    )


def _validated_by_model(
    kind: ObjectKind, data: dict[str, Json], openapi: str, drop: Callable[[str, str], None]
) -> dict[str, Json]:
    from pydantic import BaseModel, ValidationError

    model: type[BaseModel] = getattr(_version(openapi), kind.name)
    for _ in range(MAX_REPAIRS):
        try:
            return model.model_validate(data).model_dump(by_alias=True, exclude_unset=True)
        except ValidationError as error:
            keys = {str(item["loc"][0]): item for item in error.errors(include_url=False) if item["loc"]}
            bad = [key for key in keys if key in data]
            if not bad:
                missing = ", ".join(sorted(keys)) or "unknown"
                raise InvalidObjectError(f"required: {missing}") from None
            for key in bad:
                if key in kind.defaults:
                    data[key] = kind.defaults[key]
                else:
                    del data[key]
                drop(key, keys[key]["msg"])
    raise InvalidObjectError("could not be repaired")
