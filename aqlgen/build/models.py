"""Members of OpenAPI objects, judged by the models of openapi-pydantic: the only module that imports them.

The models are all-or-nothing and real documents are not. So each object is judged by itself, without the schemas and
objects within it (those are read by themselves), and an optional key that is refused is dropped with a diagnostic
instead of rejecting the object.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any, Final

from aqlgen.ir import Json
from aqlgen.words import split

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_REPAIRS = 8


class InvalidObjectError(Exception):
    """An object lacks a required member."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectKind:
    """An OpenAPI object by the name of its models, with the keys that are read elsewhere.

    `defaults` stand in for members that are missing or refused.
    """

    name: str
    nested: frozenset[str]
    defaults: Mapping[str, Json] = field(default_factory=dict)


def _kind(name: str, nested: str, **defaults: Json) -> ObjectKind:
    return ObjectKind(name, frozenset(nested.split()), defaults)


OPERATION: Final = _kind(
    "Operation", "parameters requestBody responses callbacks servers externalDocs security", responses={}
)
PARAMETER: Final = _kind("Parameter", "schema content example examples")
REQUEST_BODY: Final = _kind("RequestBody", "content", content={})
RESPONSE: Final = _kind("Response", "content headers links", description="")
SECURITY_SCHEME: Final = _kind("SecurityScheme", "flows")
INFO: Final = _kind("Info", "contact license", title="", version="")


@cache
def _model(kind: ObjectKind, openapi: str) -> tuple[type[BaseModel], frozenset[str]]:
    """Return a model of 3.0, or of 3.1, which also reads 3.2, with the keys that it judges.

    It holds anything where it would hold other models: to build those takes longer than to read a small document.
    """
    from pydantic import ConfigDict, create_model

    parts = ("", ".v3", ".v3.v3_0", ".v3.v3_1")
    with _not_run(*(f"openapi_pydantic{part}" for part in parts)), _not_built():
        from openapi_pydantic.v3 import v3_0, v3_1

        package = v3_0 if openapi == "3.0" else v3_1
        module = import_module(f"{package.__name__}.{'_'.join(split(kind.name))}")
    whole: type[BaseModel] = getattr(module, kind.name)
    keys = {name: field.alias or name for name, field in whole.model_fields.items()}
    fields: dict[str, Any] = {
        name: (Any if keys[name] in kind.nested else field.annotation, copy(field))
        for name, field in whole.model_fields.items()
    }
    config = ConfigDict(**{**whole.model_config, "defer_build": False})
    return create_model(kind.name, __config__=config, **fields), frozenset(keys.values()) - kind.nested


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


@contextmanager
def _not_built() -> Iterator[None]:
    """Let models that are imported be built at their first use."""
    from pydantic import BaseModel, ConfigDict

    config, BaseModel.model_config = BaseModel.model_config, ConfigDict(defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = config


def validate(kind: ObjectKind, raw: Json, openapi: str, drop: Callable[[str, str], None]) -> dict[str, Json]:
    """Return the members of one object; call `drop(key, reason)` for each optional key left out.

    Raises InvalidObjectError.
    """
    from pydantic import ValidationError

    if not isinstance(raw, dict):
        raise InvalidObjectError(f"expected an object, found {type(raw).__name__}")
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
