"""Typed models of OpenAPI objects: the only module that imports openapi-pydantic.

The models are all-or-nothing and real documents are not. So each object is validated by itself, without the schemas and
objects within it (those are read by themselves), and an optional key that does not validate is dropped with a
diagnostic instead of rejecting the object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from openapi_pydantic.v3 import v3_0, v3_1
from pydantic import BaseModel, ValidationError

from aqlgen.ir import Json

Model = TypeVar("Model", bound=BaseModel)
MAX_REPAIRS = 8


class InvalidObjectError(Exception):
    """An object lacks a required member."""


@dataclass(frozen=True, slots=True)
class ObjectModels(Generic[Model]):
    """The models of one OpenAPI object, the keys not validated here, and defaults for invalid members."""

    v30: type[BaseModel]
    v31: type[Model]
    nested: frozenset[str]
    defaults: Mapping[str, Json]


OPERATION = ObjectModels(
    v3_0.Operation,
    v3_1.Operation,
    frozenset({"parameters", "requestBody", "responses", "callbacks", "servers", "externalDocs", "security"}),
    {"responses": {}},
)
PARAMETER = ObjectModels(
    v3_0.Parameter,
    v3_1.Parameter,
    frozenset({"schema", "content", "example", "examples"}),
    {},
)
REQUEST_BODY = ObjectModels(v3_0.RequestBody, v3_1.RequestBody, frozenset({"content"}), {"content": {}})
RESPONSE = ObjectModels(
    v3_0.Response,
    v3_1.Response,
    frozenset({"content", "headers", "links"}),
    {"description": ""},
)
SECURITY_SCHEME = ObjectModels(v3_0.SecurityScheme, v3_1.SecurityScheme, frozenset({"flows"}), {})
INFO = ObjectModels(v3_0.Info, v3_1.Info, frozenset({"contact", "license"}), {"title": "", "version": ""})


def validate(kind: ObjectModels[Model], raw: Json, openapi: str, drop: Callable[[str, str], None]) -> Model:
    """Validate one object and return its model; call `drop(key, reason)` for each optional key left out.

    The models of 3.0 and 3.1 have the same fields, so one type serves both; those of 3.1 also read 3.2.
    Raises InvalidObjectError.
    """
    if not isinstance(raw, dict):
        raise InvalidObjectError(f"expected an object, found {type(raw).__name__}")
    data = dict(kind.defaults)
    data.update((key, value) for key, value in raw.items() if key not in kind.nested and not key.startswith("x-"))
    model = kind.v30 if openapi == "3.0" else kind.v31
    for _ in range(MAX_REPAIRS):
        try:
            return model.model_validate(data)  # type: ignore[return-value]
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
