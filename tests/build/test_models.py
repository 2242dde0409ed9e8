"""Members of OpenAPI objects: what the models of openapi-pydantic say of them, whether they are asked or not."""

from __future__ import annotations

import sys
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aqlgen.build import models
from aqlgen.build.models import (
    INFO,
    OPERATION,
    PARAMETER,
    REQUEST_BODY,
    RESPONSE,
    SECURITY_SCHEME,
    InvalidObjectError,
    ObjectKind,
    validate,
)

INFO_OBJECT = {"title": "Shop", "version": "1"}
KINDS = (OPERATION, PARAMETER, REQUEST_BODY, RESPONSE, SECURITY_SCHEME, INFO)
MEMBERS = sorted({name for kind in KINDS for name in kind.members})
PLAIN = st.sampled_from(["", "a", "path", "query", "é", "\ud800", None, True, False])
VALUES = st.one_of(PLAIN, PLAIN, st.sampled_from([0, 1, 1.5, "true", "no", [], ["a"], ["a", 1], ["\udfff"], {}]))
OBJECTS = st.dictionaries(st.sampled_from([*MEMBERS, "x-own", "more", "\udc80"]), VALUES)


def validated(kind: ObjectKind, raw: Any, openapi: str) -> tuple[Any, list[str]]:
    """Return the members or the refusal, and the keys that were dropped."""
    dropped: list[str] = []
    try:
        return validate(kind, raw, openapi, lambda key, _reason: dropped.append(key)), sorted(dropped)
    except InvalidObjectError as error:
        return str(error), sorted(dropped)


@pytest.mark.parametrize("openapi", ["3.0", "3.1"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@given(raw=OBJECTS)
@example(raw={"name": "a", "in": "path", "type": "apiKey", "title": "a", "version": "1", "description": "a"})
@example(raw={"name": "a", "in": "body", "type": None, "title": None, "description": "\ud800"})
def test_what_needs_no_model_is_what_the_models_accept_unchanged(
    kind: ObjectKind, openapi: str, raw: dict[str, Any]
) -> None:
    with patch.object(models, "_is_plainly_valid", return_value=False):
        by_models = validated(kind, raw, openapi)
    assert validated(kind, raw, openapi) == by_models


def test_each_version_has_its_own_models_and_the_library_can_be_imported_whole_afterwards() -> None:
    for openapi in ("3.0", "3.1", "3.2", "3.0"):
        assert validated(INFO, INFO_OBJECT, openapi) == (INFO_OBJECT, [])
        assert validated(OPERATION, {"tags": 7, "summary": "a"}, openapi) == ({"summary": "a"}, ["tags"])
    assert {"openapi_pydantic.v3.v3_0.operation", "openapi_pydantic.v3.v3_1.operation"} <= sys.modules.keys()
    from openapi_pydantic import parse_obj

    assert parse_obj({"openapi": "3.1.0", "info": INFO_OBJECT, "paths": {}}).info.title == "Shop"
    assert sys.modules["openapi_pydantic"].__file__
