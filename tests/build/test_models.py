"""The models of openapi-pydantic are those of the document's version, and the library stays whole for others."""

from __future__ import annotations

import sys

from aqlgen.build.models import INFO, OPERATION, validate

INFO_OBJECT = {"title": "Shop", "version": "1"}


def test_each_version_has_its_own_models_and_the_library_can_be_imported_whole_afterwards() -> None:
    dropped: list[str] = []
    for openapi, package in (("3.0", "v3_0"), ("3.1", "v3_1"), ("3.2", "v3_1"), ("3.0", "v3_0")):
        info = validate(INFO, INFO_OBJECT, openapi, lambda key, _reason: dropped.append(key))
        operation = validate(OPERATION, {"tags": 7}, openapi, lambda key, _reason: dropped.append(key))
        assert (info.title, operation.tags) == ("Shop", None)
        assert type(operation).__module__ == f"openapi_pydantic.v3.{package}.operation"
    assert dropped == ["tags"] * 4
    from openapi_pydantic import parse_obj

    assert parse_obj({"openapi": "3.1.0", "info": INFO_OBJECT, "paths": {}}).info.title == "Shop"
    assert sys.modules["openapi_pydantic"].__file__
