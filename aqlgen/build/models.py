"""Members of OpenAPI objects, judged by the models of openapi-pydantic: the only module that imports them.

The models are all-or-nothing and real documents are not. So each object is judged by itself, without the schemas and
objects within it (those are read by themselves), and an optional key that is refused is dropped with a diagnostic
instead of rejecting the object. An object whose members all have the plainest form is not shown to them: importing them
takes as long as a small document.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Final

from aqlgen.ir import Json

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_REPAIRS = 8


class InvalidObjectError(Exception):
    """An object lacks a required member."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectKind:
    """An OpenAPI object by the name of its models, with the keys that are read elsewhere.

    `plain` tells for each other key whether its value has the plainest form. `defaults` stand in for members that are
    missing or refused.
    """

    name: str
    nested: frozenset[str]
    plain: Mapping[str, Callable[[Json], bool]]
    required: frozenset[str] = frozenset()
    defaults: Mapping[str, Json] = field(default_factory=dict)


def _is_text(value: Json) -> bool:
    return value.__class__ is str


def _is_flag(value: Json) -> bool:
    return value is True or value is False


def _are_texts(value: Json) -> bool:
    return value.__class__ is list and all(map(_is_text, value))


def _is_place(value: Json) -> bool:
    return value in ("path", "query", "header", "cookie")


def _kind(name: str, nested: str, texts: str, flags: str = "", *, required: str = "", **defaults: Json) -> ObjectKind:
    forms = {"tags": _are_texts} if name == "Operation" else {"in": _is_place} if name == "Parameter" else {}
    plain = dict.fromkeys(texts.split(), _is_text) | dict.fromkeys(flags.split(), _is_flag) | forms
    return ObjectKind(name, frozenset(nested.split()), plain, frozenset(required.split()), defaults)


OPERATION: Final = _kind(
    "Operation",
    "parameters requestBody responses callbacks servers externalDocs security",
    "summary description operationId",
    "deprecated",
    responses={},
)
PARAMETER: Final = _kind(
    "Parameter",
    "schema content example examples",
    "name description style",
    "required deprecated allowEmptyValue explode allowReserved",
    required="name in",
)
REQUEST_BODY: Final = _kind("RequestBody", "content", "description", "required", content={})
RESPONSE: Final = _kind("Response", "content headers links", "description", description="")
SECURITY_SCHEME: Final = _kind(
    "SecurityScheme", "flows", "type description name in scheme bearerFormat openIdConnectUrl", required="type"
)
INFO: Final = _kind("Info", "contact license", "title summary description termsOfService version", title="", version="")


@cache
def _model(kind: ObjectKind, openapi: str) -> tuple[type[BaseModel], frozenset[str]]:
    """Import a model of 3.0, or of 3.1, which also reads 3.2, and return it with the keys that it judges.

    To import both versions takes twice as long.
    """
    with _not_run("openapi_pydantic", "openapi_pydantic.v3"):
        if openapi == "3.0":
            from openapi_pydantic.v3 import v3_0 as version
        else:
            from openapi_pydantic.v3 import v3_1 as version  # type: ignore[no-redef]
    model: type[BaseModel] = getattr(version, kind.name)
    keys = (field.alias or name for name, field in model.model_fields.items())
    return model, frozenset(keys) - kind.nested


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
    """Return the members of one object; call `drop(key, reason)` for each optional key left out.

    Raises InvalidObjectError.
    """
    if not isinstance(raw, dict):
        raise InvalidObjectError(f"expected an object, found {type(raw).__name__}")
    members = {key: value for key, value in raw.items() if key in kind.plain}
    if kind.required <= members.keys() and all(kind.plain[key](value) for key, value in members.items()):
        return {**kind.defaults, **members}
    from pydantic import ValidationError

    model, keys = _model(kind, openapi)
    data = {**kind.defaults, **{key: value for key, value in raw.items() if key in keys}}
    for _ in range(MAX_REPAIRS):
        try:
            return model.model_validate(data).model_dump(by_alias=True, exclude_unset=True)
        except ValidationError as error:
            reasons = {str(item["loc"][0]): item["msg"] for item in error.errors(include_url=False) if item["loc"]}
            refused = [key for key in reasons if key in data]
            if not refused:
                missing = ", ".join(sorted(reasons)) or "unknown"
                raise InvalidObjectError(f"required: {missing}") from None
            for key in refused:
                if key in kind.defaults:
                    data[key] = kind.defaults[key]
                else:
                    del data[key]
                drop(key, reasons[key])
    raise InvalidObjectError("could not be repaired")
