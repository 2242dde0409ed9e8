"""Typed models of OpenAPI objects: the only module that imports openapi-pydantic.

The models are all-or-nothing and real documents are not. So each object is validated by itself, without the schemas and
objects within it (those are read by themselves), and an optional key that does not validate is dropped with a
diagnostic instead of rejecting the object.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from aqlgen.ir import Json

if TYPE_CHECKING:
    from openapi_pydantic.v3 import v3_1

Model = TypeVar("Model", bound=BaseModel)
MAX_REPAIRS = 8


class InvalidObjectError(Exception):
    """An object lacks a required member."""


@dataclass(frozen=True, slots=True)
class ObjectModels(Generic[Model]):
    """The name of the models of one OpenAPI object, the keys not validated here, and defaults for invalid members."""

    name: str
    nested: frozenset[str]
    defaults: Mapping[str, Json]


OPERATION: ObjectModels[v3_1.Operation] = ObjectModels(
    "Operation",
    frozenset({"parameters", "requestBody", "responses", "callbacks", "servers", "externalDocs", "security"}),
    {"responses": {}},
)
PARAMETER: ObjectModels[v3_1.Parameter] = ObjectModels(
    "Parameter", frozenset({"schema", "content", "example", "examples"}), {}
)
REQUEST_BODY: ObjectModels[v3_1.RequestBody] = ObjectModels("RequestBody", frozenset({"content"}), {"content": {}})
RESPONSE: ObjectModels[v3_1.Response] = ObjectModels(
    "Response", frozenset({"content", "headers", "links"}), {"description": ""}
)
SECURITY_SCHEME: ObjectModels[v3_1.SecurityScheme] = ObjectModels("SecurityScheme", frozenset({"flows"}), {})
INFO: ObjectModels[v3_1.Info] = ObjectModels("Info", frozenset({"contact", "license"}), {"title": "", "version": ""})


@cache
def _version(openapi: str) -> ModuleType:
    """Import the models of one version of OpenAPI: those of both take twice as long, a tenth of a small run."""
    with _not_run("openapi_pydantic", "openapi_pydantic.v3"):
        return import_module(f"openapi_pydantic.v3.v{openapi.replace('.', '_')}")


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


def validate(kind: ObjectModels[Model], raw: Json, openapi: str, drop: Callable[[str, str], None]) -> Model:
    """Validate one object and return its model; call `drop(key, reason)` for each optional key left out.

    The models of 3.0 and 3.1 have the same fields, so one type serves both; those of 3.1 also read 3.2.
    Raises InvalidObjectError.
    """
    if not isinstance(raw, dict):
        raise InvalidObjectError(f"expected an object, found {type(raw).__name__}")
    data = dict(kind.defaults)
    data.update((key, value) for key, value in raw.items() if key not in kind.nested and not key.startswith("x-"))
    model: type[Model] = getattr(_version("3.0" if openapi == "3.0" else "3.1"), kind.name)
    for _ in range(MAX_REPAIRS):
        try:
            return model.model_validate(data)
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
