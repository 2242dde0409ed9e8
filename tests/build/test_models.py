"""Members of OpenAPI objects: what the models of openapi-pydantic say of them."""

from __future__ import annotations

import sys
from typing import Any

from aqlgen.build.models import (
    INFO,
    OPERATION,
    PARAMETER,
    RESPONSE,
    SECURITY_SCHEME,
    InvalidObjectError,
    ObjectKind,
    validate,
)
from tests.cases import each

INFO_OBJECT = {"title": "Shop", "version": "1"}


def validated(kind: ObjectKind, raw: Any, openapi: str) -> tuple[Any, list[str]]:
    """Return the members or the refusal, and the keys that were dropped."""
    dropped: list[str] = []
    try:
        return validate(kind, raw, openapi, lambda key, _reason: dropped.append(key)), sorted(dropped)
    except InvalidObjectError as error:
        return str(error), sorted(dropped)


@each("openapi", ["3.0", "3.1"])
def test_a_refused_member_is_dropped_and_the_rest_of_the_object_stays(openapi: str) -> None:
    hostile = {"more": {"deep": [{}]}, "x-own": 1, "\udc80": 1}
    parameter = {"name": "a", "in": "path"}
    mistaken = {"required": 7, "description": ["a"], "allowReserved": []}
    assert validated(PARAMETER, parameter | {"deprecated": "true"}, openapi) == (parameter | {"deprecated": True}, [])
    assert validated(PARAMETER, parameter | hostile | mistaken, openapi) == (parameter, sorted(mistaken))
    assert validated(RESPONSE, {"description": 7}, openapi) == ({"description": ""}, ["description"])
    assert validated(INFO, {"summary": "a"}, openapi)[0] | {"summary": ""} == {
        "title": "",
        "version": "",
        "summary": "",
    }


def test_an_object_without_a_required_member_is_refused() -> None:
    assert validated(PARAMETER, {"name": "a"}, "3.0") == ("required: in", [])
    assert validated(PARAMETER, {"name": None, "in": "query"}, "3.0") == ("required: name", ["name"])
    assert validated(SECURITY_SCHEME, ["apiKey"], "3.0") == ("expected an object, found list", [])


def test_each_version_has_its_own_models_and_the_library_can_be_imported_whole_afterwards() -> None:
    for openapi in ("3.0", "3.1", "3.2", "3.0"):
        assert validated(INFO, INFO_OBJECT, openapi) == (INFO_OBJECT, [])
        assert validated(OPERATION, {"tags": 7, "summary": "a"}, openapi) == (
            {"summary": "a", "responses": {}},
            ["tags"],
        )
    assert {"openapi_pydantic.v3.v3_0.operation", "openapi_pydantic.v3.v3_1.operation"} <= sys.modules.keys()
    from openapi_pydantic import parse_obj

    assert parse_obj({"openapi": "3.1.0", "info": INFO_OBJECT, "paths": {}}).info.title == "Shop"
    assert sys.modules["openapi_pydantic"].__file__
