"""What the tests of `aqlgen check` take for right although it looks as if something were lost."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from aqlgen.check.checks.answers import is_chosen_within
from aqlgen.check.checks.safety import _altered
from aqlgen.check.checks.updates import Updated, _is_filled, is_told, patched, replaced
from aqlgen.check.client import OverStdio, post
from aqlgen.check.envelope import HOSTILE, problems_of
from aqlgen.check.operations import Operation, scalars, unserved
from aqlgen.check.results import KnownError, read_known
from aqlgen.check.runner import prefix_of
from aqlgen.check.stand_in import Reply, StandIn, serve
from aqlgen.runtime.witness import Document
from aqlgen.runtime.witness.project import Owner
from tests.cases import each
from tests.generator.commands import api, tabulate


@each(
    ("answer", "is_right"),
    [
        ({"sha": "1", "url": "u", "tree": [{"sha": "2"}, {"sha": "3"}]}, True),
        ({"sha": "1", "url": "u", "tree": [{"sha": "2", "path": "p"}]}, False),
        ({"sha": "1", "url": "u", "tree": []}, False),
        ({"sha": "1", "url": "u"}, False),
        ({"url": "u", "result": {"sha": "1"}}, True),
        ({"url": "u", "result": {"sha": "1", "path": "p"}}, False),
        ("text", False),
    ],
)
def test_a_field_that_the_things_in_an_answer_have_too_may_be_chosen_in_them(answer: Any, is_right: bool) -> None:
    assert is_chosen_within(answer, "sha") is is_right


@each(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": "c"}, {"a": ["b", None]}, {"a": ["b", None]}),
        ({"a": {"b": "c", "d": 1}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d", "d": 1}}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": 1}, ["c"], ["c"]),
    ],
)
def test_the_model_of_updates_is_a_merge_patch(target: Any, patch: Any, result: Any) -> None:
    assert patched(target, patch) == result


def test_a_replacement_keeps_null_where_the_document_allows_it_and_leaves_the_field_out_elsewhere(
    tmp_path: Path,
) -> None:
    schema = {
        "properties": {
            "a": {"type": ["string", "null"]},
            "b": {"type": "string"},
            "c": {"type": "string", "nullable": True},
            "d": {"nullable": True},
            "e": {"allOf": [{"type": "object"}, {"nullable": True}]},
            "g": {"type": "string", "x-nullable": True},
        }
    }
    written = replaced(
        Document({}, Owner(tmp_path)),
        schema,
        {"a": "x", "b": "x", "d": 1, "f": 1},
        dict.fromkeys("abcdeg"),
    )
    assert written == {"a": None, "c": None, "e": None, "f": 1, "g": None}


@each(("kind", "kept"), [("b", {}), ("a", {"x": 1})])
def test_a_replacement_by_another_alternative_keeps_nothing_of_the_first(
    tmp_path: Path, kind: str, kept: dict[str, Any]
) -> None:
    schema = {
        "oneOf": [{"properties": {"x": {"type": "integer"}}}, {"properties": {"y": {"type": "integer"}}}],
        "discriminator": {"propertyName": "kind"},
    }
    written = replaced(Document({}, Owner(tmp_path)), schema, {"kind": "a", "x": 1}, {"kind": kind, "y": 2})
    assert written == {"kind": kind, "y": 2, **kept}


def test_a_patch_is_filled_with_what_was_there_and_with_nothing_else() -> None:
    state, patch = {"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 9}}
    assert _is_filled({"a": {"b": 9, "c": 2}}, patch, state)
    assert _is_filled({"a": {"b": 9}}, patch, state)
    for filled in ({"a": {"b": 1, "c": 2}}, {"a": {"b": 9, "c": 7}}, {}, {"a": {"b": 9}, "d": 4}):
        assert not _is_filled(filled, patch, state)


def test_a_resource_of_which_no_value_is_known_has_nothing_unwritten(tmp_path: Path) -> None:
    schema = {"required": ["id"], "properties": {"id": {"type": "string", "pattern": "^[0-9]{40}x$"}}}
    updated = Updated(Mock(), "patch", Document({}, Owner(tmp_path)), schema)
    assert updated.unwritten(1, {}) == {}


def test_a_call_differs_by_a_parameter_that_only_the_other_has() -> None:
    operation: Any = SimpleNamespace(row=SimpleNamespace(parameters={"id": SimpleNamespace(schema={"default": 1})}))
    assert [*_altered(operation, {"id": 1}, {"id": 2, "note": "n"})] == [
        ("id", {"id": 2}), ("note", {"id": 1, "note": "n"})]  # fmt: skip


@each(("params", "fields", "is_right"), [({}, ["name"], True), ({}, [], False), ({"if_match": '"v-1"'}, [], True)])
def test_what_somebody_else_changed_is_told_but_to_a_call_with_a_version(
    params: dict[str, Any], fields: list[str], is_right: bool
) -> None:
    answer: Any = SimpleNamespace(code="CONFLICT_VERSION_MISMATCH", details={"changed_fields": fields})
    assert is_told(answer, params) is is_right


def answered(envelope: Any, *, text: str | None = None, is_error: bool = False) -> list[str]:
    content = [{"type": "text", "text": json.dumps(envelope) if text is None else text}]
    result = {"structuredContent": envelope, "content": content, "isError": is_error}
    return list(problems_of(result, ["check-secret"]))


def test_lines_that_are_no_json_and_the_end_of_an_adapter_break_the_connection() -> None:
    async def received(line: bytes) -> dict[str, Any]:
        reader = asyncio.StreamReader()
        reader.feed_data(line)
        reader.feed_eof()
        return await OverStdio(reader, writer=None).receive()  # type: ignore[arg-type]

    assert asyncio.run(received(b'{"id": 1}\n{"id": 2}\n')) == {"id": 1}
    for line, problem in ((b'{"a": NaN}\n', "NaN is no number"), (b"{\n", "Expecting property name")):
        with pytest.raises(ValueError, match=problem):
            asyncio.run(received(line))
    with pytest.raises(ConnectionError, match="ended"):
        asyncio.run(received(b""))


def test_an_answer_over_http_that_has_no_end_breaks_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqlgen.check.client.LONGEST", 9)
    api = StandIn.__new__(StandIn)
    api.arrived, api.misbehaviour = [], lambda request: Reply(200, request.body)
    with serve(api) as url:
        assert asyncio.run(post(url, b"[1, 2, 3]"))[:2] == (200, b"[1, 2, 3]")
        with pytest.raises(ConnectionError, match="more than 9 bytes"):
            asyncio.run(post(url, b"[1, 2, 34]"))


WARNING = {"code": "QUOTA_WARNING", "message": "little is left of it", "severity": "low"}
ERROR = {"code": "NOT_FOUND_RESOURCE", "message": "there is no such thing", "details": {"api": HOSTILE}}
WRONG_ANSWERS: dict[str, tuple[Any, str]] = {
    "no envelope": ([], "no answer of the protocol"),
    "neither": ({"data": 1}, "no answer of the protocol"),
    "a success without data": ({"success": True}, "no answer of the protocol"),
    "a success with an error": ({"success": True, "data": 1, "error": ERROR}, "no answer of the protocol"),
    "no warnings": ({"success": True, "data": 1, "warnings": []}, "no answer of the protocol"),
    "a grave warning": ({"success": True, "data": 1, "warnings": [{**WARNING, "severity": "info"}]}, "severity"),
    "a failure with data": ({"success": False, "error": ERROR, "data": 1}, "no answer of the protocol"),
    "a failure with warnings": ({"success": False, "error": ERROR, "warnings": [WARNING]}, "no answer of the protocol"),
    "a code of its own": ({"success": False, "error": {**ERROR, "code": "OOPS"}}, "error/code"),
    "the API's words": (
        {"success": False, "error": {**ERROR, "message": f"it says: {HOSTILE}"}},
        "'previous instructions'",
    ),
    "the inside": ({"success": False, "error": {**ERROR, "message": "KeyError at 0x7f"}}, "'KeyError'"),
    "a credential": ({"success": True, "data": {"you": "check-secret"}}, "a credential"),
    "a credential in hexadecimal": ({"success": True, "data": b"check-secret".hex()}, "a credential"),
    **{
        f"a credential in base64 after {shift} bytes": (
            {"success": True, "data": b64encode(b"." * shift + b"check-secret, as it was sent").decode()},
            "a credential",
        )
        for shift in range(3)
    },
    "another wait in its message": (
        {
            "success": False,
            "error": {
                "code": "RATE_LIMIT_EXCEEDED",
                "message": "try again in 60 seconds",
                "details": {"retry_after_seconds": 3600},
            },
        },
        "its message says 60 seconds",
    ),
    "a batch with a wrong result": (
        {
            "success": True,
            "data": {},
            "results": [{"index": 0, "operation": "a", "result": {"success": False}}],
            "summary": {"total": 1, "succeeded": 0, "failed": 1},
        },
        "results/0/result",
    ),
}


@each("name", WRONG_ANSWERS)
def test_an_answer_that_is_not_of_the_protocol_is_found_whatever_was_asked(name: str) -> None:
    envelope, problem = WRONG_ANSWERS[name]
    assert problem in " ".join(answered(envelope))


def test_answers_of_the_protocol_are_right() -> None:
    assert answered({"success": True, "data": None, "warnings": [WARNING]}) == []
    assert answered({"success": False, "error": ERROR}) == []
    assert answered({"success": False, "error": {**ERROR, "code": "INTERNAL_ERROR"}}, is_error=True) == []
    assert answered({"success": True, "data": 1}, is_error=True) != []
    assert answered({"success": True, "data": 1}, text="{}") == ["its text and its data differ"]


KNOWN = '[[check.known]]\nrule = "PH-3"\noperation = "list_pets"\nreason = "asked upstream"\nuntil = 2999-01-31\n'


def test_what_adapter_toml_knows_of_is_left_out_until_its_day(tmp_path: Path) -> None:
    file = tmp_path / "adapter.toml"
    assert read_known(tmp_path) == []
    file.write_text(KNOWN + KNOWN.replace("2999", "1999"), encoding="utf-8")
    (known,) = read_known(tmp_path)
    assert (known.rule, known.operation, known.until.year) == ("PH-3", "list_pets", 2999)
    for text in (KNOWN.replace("2999-01-31", '"2999-01-31"'), KNOWN.replace("PH-3", ""), "[check]\nknown = 1\n",
                  KNOWN.partition("until")[0]):  # fmt: skip
        file.write_text(text, encoding="utf-8")
        with pytest.raises(KnownError, match=r"entry 1 of \[\[check.known\]\]"):
            read_known(tmp_path)


def test_a_number_of_a_body_arrives_in_any_of_its_forms() -> None:
    assert scalars({"a": 1.0, "b": [2.5, "1.0"]}) == scalars({"a": 1, "b": [2.5, "1.0"]})


@each(
    ("url", "prefix"),
    [
        ("https://x.example/v1/", "/v1"),
        ("https://x.example", ""),
        ("/api", "/api"),
        ("api/v1", "/api/v1"),
        ("xxx", "/xxx"),
        ("https://x.example/{tenant}", ""),
    ],
)
def test_the_stand_in_has_the_path_of_any_address_that_a_document_names(url: str, prefix: str) -> None:
    assert prefix_of([{"url": url}]) == prefix
    assert prefix_of([]) == ""


@each(
    ("general", "stated", "lacking"),
    [
        ((("key",),), None, []),
        ((("hmac",),), None, ["hmac"]),
        ((("hmac",), ("key",)), None, []),
        ((("hmac",), ()), None, []),
        ((("hmac",),), (), []),
        ((("key",),), (("key", "hmac"), ("hmac", "other")), ["hmac"]),
    ],
)
def test_an_operation_whose_every_credential_is_of_an_unknown_kind_cannot_be_called(
    general: Any, stated: Any, lacking: list[str]
) -> None:
    adapter = SimpleNamespace(security_schemes={"key": {"variables": ["KEY"]}, "hmac": {}}, security=general)
    adapter.of_api = lambda api: adapter
    assert unserved(adapter, SimpleNamespace(security=stated, api="")) == lacking  # type: ignore[arg-type]


def test_an_operation_that_is_as_grave_as_the_action_it_chooses_is_not_always_grave(tmp_path: Path) -> None:
    action = {"type": "object", "required": ["action"], "properties": {"action": {"enum": ["rename", "delete"]}}}
    whole = {"type": "object", "properties": {"actions": {"type": "array", "items": action}}}
    changes = {"requestBody": {"required": True, "content": {"application/json": {"schema": whole}}}}
    table = tabulate(tmp_path, api({"/changes": {"post": changes}, "/parts/{id}": {"delete": {}}})).table
    operations = [Operation(row, table) for names in table.names() if (row := table.find(*names)) is not None]
    levels = ("destructive", "dangerous")
    assert all(operation.row.danger in levels for operation in operations)
    assert {operation.row.path: operation.always_is(levels) for operation in operations} == {
        "/changes": False,
        "/parts/{id}": True,
    }
