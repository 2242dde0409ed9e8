from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tiny_zoo import ADAPTER, OPERATIONS, TYPES, write_package

from aqlgen.runtime.introspection import protocol
from aqlgen.runtime.introspection.fields import parameter_info, type_details
from aqlgen.runtime.introspection.introspect import Introspection
from aqlgen.runtime.introspection.postings import Postings, index_text, plain_entry
from aqlgen.runtime.introspection.ranking import Ranking
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Parameter, Table
from tests.cases import each

PARAMETER = {
    "type": "object",
    "required": ["name", "type", "required"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "type": {"type": "string"},
        "required": {"type": "boolean"},
        "description": {"type": "string", "minLength": 1},
        "default": {},
        "enum": {"type": "array"},
        "minimum": {"type": "number"},
        "maximum": {"type": "number"},
        "minLength": {"type": "integer"},
        "maxLength": {"type": "integer"},
        "pattern": {"type": "string"},
        "format": {"type": "string"},
        "items": {"type": "object", "required": ["type"]},
        "sensitive": {"const": True},
    },
}
OPERATION = {
    "type": "object",
    "required": [
        "name", "semantic_category", "endpoint", "mcpTool", "description", "permissions", "parameters", "returns",
    ],
    "additionalProperties": False,
    "properties": {
        "name": {"pattern": "^[a-z][a-z0-9_]*$"},
        "semantic_category": {"enum": list(protocol.CATEGORIES)},
        "endpoint": {"enum": ["create", "read", "update", "delete", "execute"]},
        "mcpTool": {"type": "string"},
        "description": {"type": "string"},
        "permissions": {"required": ["readOnly", "destructive"]},
        "parameters": {"type": "array", "items": PARAMETER},
        "returns": {"required": ["name", "kind"]},
        "examples": {"type": "array", "items": {"required": ["request"]}},
    },
}  # fmt: skip
KIND = {"enum": "values", "object": "fields", "union": "members"}


def make(folder: Path, **settings: Any) -> Introspection:
    return Introspection(Adapter.load(folder), Table(folder), Config(**settings))


@pytest.fixture
def ask(package: Path) -> Callable[..., Any]:
    introspection = make(package)

    def answer(query: str, **params: Any) -> Any:
        envelope = introspection.answer({"query": query, **params}, "session_1")
        assert set(envelope) == {"success", "data"}, envelope
        return envelope["data"]

    return answer


def names(data: Mapping[str, Any]) -> list[str]:
    return [operation["name"] for operation in data["operations"]]


def test_the_list_holds_every_operation_and_introspect(ask: Callable[..., Any]) -> None:
    """R-INT-2"""
    data = ask("operations")
    brought = ["introspect", "confirm_operation", "run_steps"]
    assert names(data) == [*brought, *(name for rows in OPERATIONS.values() for name in rows)]
    assert data["operations"][3] == {
        "name": "create_animal",
        "semantic_category": "CREATE",
        "endpoint": "create",
        "description": "Take an animal into the zoo",
    }


def test_the_list_says_what_the_adapter_can_do(ask: Callable[..., Any]) -> None:
    """R-INT-3, R-REQ-9"""
    about = ask("operations")["_protocol"]
    assert about["version"] == "1.0.0-draft"
    assert about["mode"] == "semantic"
    assert about["capabilities"] == protocol.CAPABILITIES
    assert about["limits"]["max_nesting_depth"] == 32
    assert about["concurrency"] == "fully-concurrent"
    assert about["session_id"] == "session_1"
    extensions = about["extensions"]
    assert {"search", "danger", "quota_status"} <= set(extensions["queries"])
    assert extensions["operations"] == ["run_steps"]
    assert "page" not in about


@pytest.mark.parametrize("name", ["introspect", *(name for rows in OPERATIONS.values() for name in rows)])
def test_every_operation_is_shown_in_full(ask: Callable[..., Any], name: str) -> None:
    """R-INT-4, R-INT-1"""
    details = ask("operations", name=name)["operation"]
    jsonschema_rs.validate(OPERATION, details)
    assert details["name"] == name
    assert details["mcpTool"] == f"mcp_aql_{details['endpoint']}"
    assert details["permissions"]["readOnly"] is (details["endpoint"] == "read")
    assert details["permissions"]["destructive"] is (details["endpoint"] in ("update", "delete", "execute"))
    assert details["examples"][0]["request"]["operation"] == name


def test_parameters_carry_every_constraint_that_validation_knows(ask: Callable[..., Any]) -> None:
    """R-INT-4"""
    parameters = ask("operations", name="create_animal")["operation"]["parameters"]
    shown = {parameter["name"]: parameter for parameter in parameters}
    assert shown["name"] == {"name": "name", "type": "string", "required": True, "minLength": 1, "maxLength": 40}
    assert shown["species"] == {"name": "species", "type": "Species", "required": True, "enum": ["lion", "newt"]}
    assert shown["keeper"] == {
        "name": "keeper",
        "type": "Keeper",
        "required": False,
        "description": "May be null. Fields (* required): {full_name*: string}.",
    }
    assert shown["tags"]["items"] == {"type": "string", "pattern": "^[a-z]+$"}
    assert shown["tags"]["description"] == "Items: 0 to 5."
    assert shown["notes"]["type"] == "object"
    assert shown["secret_word"]["sensitive"] is True
    (limit, born) = ask("operations", name="list_animals")["operation"]["parameters"]
    assert limit == {
        "name": "limit",
        "type": "integer",
        "required": False,
        "minimum": 1,
        "maximum": 100,
        "default": 20,
        "description": "How many",
    }
    assert born["format"] == "date"
    update = ask("operations", name="update_animal")["operation"]["parameters"]
    assert [parameter["type"] for parameter in update] == ["integer", "NewAnimal"]


def test_tool_names_follow_mode_and_prefix(package: Path) -> None:
    """R-REQ-7"""
    for settings, tool in (
        ({"mode": "single"}, "mcp_aql"),
        ({"mode": "all", "tool_prefix": "zoo_"}, "zoo_mcp_aql_read"),
        ({"mode": "single", "tool_prefix": "zoo_"}, "zoo_mcp_aql"),
    ):
        data = make(package, **settings).answer({"query": "operations", "name": "get_animal"}, None)["data"]
        assert data["operation"]["mcpTool"] == tool


@pytest.mark.parametrize(("query", "key"), [("operations", "operation"), ("types", "type")])
def test_an_unknown_name_gives_null(ask: Callable[..., Any], query: str, key: str) -> None:
    """R-INT-2, R-ENV-2"""
    assert ask(query, name="nonsense") == {key: None}


def test_the_protocols_own_types_are_there(ask: Callable[..., Any]) -> None:
    """R-INT-5"""
    listed = {info["name"] for info in ask("types")["types"]}
    assert listed >= {
        "SemanticCategory", "OperationInput", "OperationResult", "OperationSuccess", "OperationFailure",
        "EndpointPermissions", "FieldSelection",
    }  # fmt: skip
    assert listed >= set(TYPES)


def test_list_and_details_of_a_type_agree_and_each_kind_has_its_key(ask: Callable[..., Any]) -> None:
    """R-INT-5, R-INT-1"""
    for listed in ask("types")["types"]:
        details = ask("types", name=listed["name"])["type"]
        assert details["name"] == listed["name"]
        assert details["kind"] == listed["kind"]
        extra = set(details) - {"name", "kind", "description"}
        assert extra == ({KIND[details["kind"]]} if details["kind"] in KIND else set())
        for field in details.get("fields", ()):
            jsonschema_rs.validate(PARAMETER, field)


def test_the_parameters_of_an_operation_are_shown_in_full_as_a_type(ask: Callable[..., Any]) -> None:
    """R-INT-4, R-INT-5"""
    shown = ask("types", name="create_animal.params")["type"]
    parameters = ask("operations", name="create_animal")["operation"]["parameters"]
    assert (shown["name"], shown["kind"]) == ("create_animal.params", "object")
    assert [field["name"] for field in shown["fields"]] == [parameter["name"] for parameter in parameters]
    assert ask("types", name="nothing.params") == {"type": None}


def test_every_type_that_is_mentioned_can_be_shown(ask: Callable[..., Any]) -> None:
    """R-INT-4, R-INT-5"""

    def mentioned(value: Any) -> set[str]:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        names = {name for each in inner for name in mentioned(each)}
        if isinstance(value, dict):
            names |= {name for name in (value.get("type"), *value.get("members", ())) if isinstance(name, str)}
        return names

    wanted: set[str] = set()
    for name in names(ask("operations")):
        details = ask("operations", name=name)["operation"]
        wanted |= mentioned(details["parameters"]) | {details["returns"]["name"]}
    for listed in ask("types")["types"]:
        wanted |= mentioned(ask("types", name=listed["name"])["type"])
    for name in wanted:
        assert ask("types", name=name)["type"] is not None, name


@pytest.mark.parametrize(
    ("name", "details"),
    [
        ("Species", {"kind": "enum", "values": ["lion", "newt"], "description": "What kind of animal"}),
        ("Weight", {"kind": "scalar", "description": "In kilograms"}),
        ("Herd", {"kind": "scalar", "description": "Is [Animal]."}),
        ("Anyone", {"kind": "union", "members": ["Animal", "Keeper"]}),
        ("Resident", {"kind": "union", "members": ["Animal", "Keeper"]}),
        (
            "MaybeKeeper",
            {
                "kind": "object",
                "fields": [{"name": "full_name", "type": "string", "required": True}],
                "description": "Feeds animals",
            },
        ),
        ("Loop", {"kind": "scalar", "description": "Is any."}),
        ("Labels", {"kind": "object", "fields": [], "description": "Keys of any other name hold string."}),
    ],
)
def test_types_are_shown_by_kind(ask: Callable[..., Any], name: str, details: Mapping[str, Any]) -> None:
    """R-INT-5"""
    assert ask("types", name=name)["type"] == {"name": name, **details}
    assert ask("operations", name="delete_animal")["operation"]["returns"] == {"name": "Anyone", "kind": "union"}


def test_an_object_composed_by_all_of_shows_all_its_fields_and_nothing_internal(ask: Callable[..., Any]) -> None:
    """R-INT-5, R-SEL-1"""
    shown = ask("types", name="Animal")["type"]
    fields = {field["name"]: field for field in shown["fields"]}
    assert list(fields) == ["name", "species", "id", "mother", "age", "weights", "lair"]
    assert fields["id"]["required"] is True
    assert fields["id"]["minimum"] == 1
    assert fields["age"] == {"name": "age", "type": "integer", "required": False, "description": "May be null."}
    assert fields["weights"]["items"] == {"type": "Weight"}
    assert fields["lair"] == {
        "name": "lair",
        "type": "any",
        "required": False,
        "description": "One of: string, Keeper.",
    }
    assert "x-" not in json.dumps(shown)


@pytest.mark.parametrize(
    ("params", "code", "part"),
    [
        ({}, "VALIDATION_MISSING_PARAM", "'query'"),
        ({"query": "danger!"}, "VALIDATION_INVALID_VALUE", "'operations', 'types'"),
        ({"query": 1}, "VALIDATION_INVALID_TYPE", "expected 'string', got 'integer'"),
        ({"query": "types", "first": True}, "VALIDATION_INVALID_TYPE", "got 'boolean'"),
        ({"query": "types", "first": 0}, "VALIDATION_INVALID_VALUE", "minimum of 1"),
        ({"query": "types", "nam": "x"}, "VALIDATION_UNKNOWN_PARAM", "nam"),
        ({"query": "types", "nam": None}, "VALIDATION_UNKNOWN_PARAM", "nam"),
        ({"query": "operations", "category": "reading"}, "VALIDATION_INVALID_VALUE", "READ"),
        ({"query": "operations", "after": "nonsense"}, "VALIDATION_INVALID_VALUE", "next"),
    ],
)
def test_a_failure_has_a_code_and_a_message_only(package: Path, params: Any, code: str, part: str) -> None:
    """R-INT-1, R-ENV-5"""
    envelope = make(package).answer(params, None)
    assert set(envelope) == {"success", "error"}
    assert set(envelope["error"]) == {"code", "message"}
    assert envelope["error"]["code"] == code
    assert part in envelope["error"]["message"]


def test_search_puts_the_best_match_first(ask: Callable[..., Any]) -> None:
    """R-INT-6"""
    for words, first in (("remove animals", "delete_animal"), ("ANIMALS list", "list_animals")):
        assert names(ask("operations", search=words))[0] == first


def test_a_search_without_a_match_says_so_and_what_there_is(ask: Callable[..., Any]) -> None:
    """R-INT-6: nothing that has no word of it; a map of the resources."""
    for words, unknown in (("", []), ("the", ["the"]), ("xylophone", ["xylophone"]), ("動物園", ["動物園"])):
        data = ask("operations", search=words)
        assert data["operations"] == []
        resources = {"animal": 5, "keeper": 1}
        assert data["_protocol"]["search"] == {"match": "nothing", "resources": resources, "unknown": unknown}
    assert "search" not in ask("operations", search="list animals")["_protocol"]


def test_the_list_can_be_narrowed_by_category_and_resource(ask: Callable[..., Any]) -> None:
    """R-INT-6"""
    assert names(ask("operations", category="DELETE")) == ["delete_animal"]
    assert names(ask("operations", resource="keepers")) == ["list_keepers"]
    assert names(ask("operations", resource="Animal", category="READ")) == ["list_animals", "get_animal"]


@pytest.mark.parametrize("forms", ["policy policies", "branch Branches", "box boxes", "movie movies", "key keys"])
def test_a_resource_is_found_by_its_plural(tmp_path: Path, forms: str) -> None:
    """R-INT-6"""
    operations = copy.deepcopy(OPERATIONS)
    operations["read"]["list_keepers"]["resource"], plural = forms.split()
    introspection = make(write_package(tmp_path / "a", ADAPTER, operations, TYPES))
    assert names(introspection.answer({"query": "operations", "resource": plural}, None)["data"]) == ["list_keepers"]


def test_a_list_past_the_bound_is_cut_and_says_how_to_go_on(tmp_path: Path) -> None:
    """R-INT-6"""
    operations = copy.deepcopy(OPERATIONS)
    model = operations["read"]["list_keepers"]
    operations["read"].update({f"list_thing_{index:03}": model for index in range(40)})
    types = {**TYPES, **{f"Thing{index:03}": {"type": "string", "description": "A"} for index in range(40)}}
    introspection = make(write_package(tmp_path / "a", ADAPTER, operations, types), max_list=10)
    seen: list[str] = []
    after: dict[str, Any] = {}
    while True:
        data = introspection.answer({"query": "operations", **after}, None)["data"]
        seen += names(data)
        page = data["_protocol"]["page"]
        assert page["total"] == 49
        assert len(data["operations"]) <= 10
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert len(seen) == len(set(seen)) == 49
    data = introspection.answer({"query": "operations", "first": 3, "after": "introspect"}, None)["data"]
    assert len(names(data)) == 3
    assert len(introspection.answer({"query": "operations", "all": True}, None)["data"]["operations"]) == 49


def many_types(folder: Path, **settings: Any) -> Introspection:
    types = {**TYPES, **{f"Thing{index:03}": {"type": "string", "description": "A"} for index in range(400)}}
    return make(write_package(folder / "package", ADAPTER, OPERATIONS, types), **settings)


@pytest.mark.parametrize("settings", [{}, {"max_list": 10}, {"max_answer_tokens": 500}, {"max_list": 10_000}])
def test_the_list_of_types_is_bounded_and_its_last_entry_says_how_to_go_on(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    """R-INT-6: the protocol's answer has no room for a page's bounds."""
    introspection = many_types(tmp_path, **settings)
    whole = introspection.answer({"query": "types", "all": True}, None)["data"]["types"]
    assert len({info["name"] for info in whole}) == len(whole) > 400
    listed: list[dict[str, Any]] = []
    while not listed or "more follow" in listed[-1].get("description", ""):
        after = {"after": listed[-1]["name"]} if listed else {}
        data = introspection.answer({"query": "types", **after}, None)["data"]
        assert set(data) == {"types"}
        assert all(set(info) <= {"name", "kind", "description"} for info in data["types"])
        assert len(json.dumps(data)) <= 4 * settings.get("max_answer_tokens", 10_000)
        listed += data["types"]
    assert [info["name"] for info in listed] == [info["name"] for info in whole]


def test_a_list_of_operations_is_bounded_in_tokens_unless_a_client_says_how_many_it_takes(tmp_path: Path) -> None:
    """R-INT-6: `first` is the protocol's own way to ask for more, and `search` is for agents."""
    operations = copy.deepcopy(OPERATIONS)
    model = {**operations["read"]["list_keepers"], "summary": "Words of a summary. " * 9}
    operations["read"].update({f"list_thing_{index:03}": model for index in range(240)})
    introspection = make(write_package(tmp_path / "a", ADAPTER, operations, TYPES), max_answer_tokens=3000)
    whole = introspection.answer({"query": "operations", "all": True}, None)["data"]["operations"]
    for first in (len(whole), 5000):
        assert introspection.answer({"query": "operations", "first": first}, None)["data"]["operations"] == whole
    for params in ({}, {"search": "thing", "first": 250}, {"category": "READ"}):
        data = introspection.answer({"query": "operations", **params}, None)["data"]
        assert len(json.dumps(data)) < 16_000
        assert data["_protocol"]["page"]["next"] == names(data)[-1]
    data = introspection.answer({"query": "search", "search": "thing", "first": 250}, None)["data"]
    assert len(json.dumps(data)) < 16_000
    assert "more" not in data


@pytest.mark.parametrize(
    ("schema", "key"),
    [
        (
            {
                "type": "object",
                "properties": {f"f{n}": {"type": "string", "description": "x " * 200} for n in range(300)},
            },
            "fields",
        ),
        ({"type": "string", "enum": [f"value_{n}_{'x' * 90}" for n in range(2000)]}, "values"),
        ({"oneOf": [{"$ref": f"#/$defs/Type{n}"} for n in range(5000)]}, "members"),
    ],
    ids=["fields", "values", "members"],
)
def test_a_long_type_is_shown_in_pages(tmp_path: Path, schema: Any, key: str) -> None:
    """R-INT-5, R-INT-6"""
    introspection = make(write_package(tmp_path / "a", ADAPTER, OPERATIONS, {**TYPES, "Long": schema}))

    def shown(**params: Any) -> dict[str, Any]:
        details: dict[str, Any] = introspection.answer({"query": "types", "name": "Long", **params}, None)["data"][
            "type"
        ]
        return details

    whole = shown(all=True)[key]
    entries: list[Any] = []
    details = shown()
    while True:
        assert set(details) <= {"name", "kind", "description", key}
        assert len(json.dumps(details)) < 50_000
        entries += details[key]
        if "more follow" not in details.get("description", ""):
            break
        details = shown(after=entries[-1]["name"] if key == "fields" else entries[-1])
    assert entries == whole


# The query of our own


def test_a_search_answers_words_with_the_description_of_what_they_mean(ask: Callable[..., Any]) -> None:
    """R-INT-6: one call from words to a call."""
    data = ask("search", search="take an animal into the zoo")
    assert data["operations"] == [
        {
            "name": "create_animal",
            "tool": "mcp_aql_create",
            "description": "Take an animal into the zoo",
            "params": {
                "name*": "string(1..40)",
                "species*": "'lion'|'newt'",
                "keeper": "Keeper. May be null. Fields (* required): {full_name*: string}.",
                "tags": "[string /^[a-z]+$/]. Items: 0 to 5.",
                **{
                    name: text
                    for name, text in data["operations"][0]["params"].items()
                    if name.rstrip("*") not in ("name", "species", "keeper", "tags")
                },
            },
            "returns": data["operations"][0]["returns"],
            "danger": "reversible",
        }
    ]
    assert data["operations"][0]["params"]["secret_word"].startswith("string, sensitive")
    assert data["operations"][0]["returns"].startswith("Animal: name, id, species, ")
    assert "create_animal" not in data["others"]
    assert len(data["others"]) <= 4


@pytest.mark.parametrize("name", ["introspect", "run_steps", *(name for rows in OPERATIONS.values() for name in rows)])
def test_a_description_by_search_says_what_the_details_say(ask: Callable[..., Any], name: str) -> None:
    """R-INT-4: the same parameters, and which of them are required."""
    details = ask("operations", name=name)["operation"]
    (described,) = ask("search", name=[name])["operations"]
    assert (described["name"], described["tool"]) == (details["name"], details["mcpTool"])
    explained = ask("options")["options"]
    options = [parameter for parameter in details["parameters"] if parameter["name"] in described.get("options", "")]
    assert [entry["description"] for entry in options] == [explained[entry["name"]] for entry in options]
    if described.get("danger", "").endswith(", asks first"):
        options += [entry for entry in details["parameters"] if entry["name"] == "confirmation_token"]
    details["parameters"] = [parameter for parameter in details["parameters"] if parameter not in options]
    assert set(described["params"]) == {
        f"{parameter['name']}{'*' if parameter['required'] else ''}" for parameter in details["parameters"]
    }
    if name in ("introspect", "run_steps"):
        assert described["example"] == details["examples"][0]["request"]["params"]
    for parameter in details["parameters"]:
        text = next(text for key, text in described["params"].items() if key.rstrip("*") == parameter["name"])
        assert parameter.get("description", "") in text
        assert all(str(value) in text for value in parameter.get("enum", ()))
        assert all(
            str(parameter[key]) in text for key in ("minimum", "maximum", "pattern", "format") if key in parameter
        )


def test_a_description_names_the_parameters_of_the_adapter_and_a_query_explains_them_once(tmp_path: Path) -> None:
    operations = copy.deepcopy(OPERATIONS)
    operations["read"]["get_animal"]["parameters"] |= {
        "fields": {"in": "adapter", "schema": {"$ref": "#/types/FieldSelection", "default": "full"}},
        "dry_run": {"in": "query", "schema": {"type": "boolean"}},
        "as": {"in": "adapter", "schema": {"enum": ["json", "csv"]}},
    }
    introspection = make(write_package(tmp_path / "a", ADAPTER, operations, TYPES))
    answer = introspection.answer({"query": "search", "name": ["get_animal", "delete_animal"]}, None)["data"]
    read, delete = answer["operations"]
    assert (read["options"], delete["danger"]) == ("fields=full, as='json'|'csv'", "destructive, asks first")
    assert "options" not in delete
    assert list(read["params"]) == ["animal_id*", "dry_run"], "those of the API alone are described"


def test_a_search_leaves_out_what_nearly_all_operations_have_and_the_details_show_it(tmp_path: Path) -> None:
    """R-INT-4, R-INT-6"""
    operations = copy.deepcopy(OPERATIONS)
    for name, place in (("alt", "query"), ("version", "header")):
        operations["read"]["get_animal"]["parameters"][name] = {"in": place, "schema": {"type": "string"}}
    folder = write_package(
        tmp_path / "a",
        {**ADAPTER, "common": {"alt": "How it is written", "version": "", "animal_id": "Whose answers"}},
        operations,
        TYPES,
    )
    introspection = make(folder)

    def ask(query: str, **params: Any) -> Any:
        return introspection.answer({"query": query, **params}, None)["data"]

    params = ask("search", name=["get_animal"])["operations"][0]["params"]
    assert list(params) == ["animal_id*"], "a parameter of the path is shown, though others have its name in the query"
    assert "alt" in [entry["name"] for entry in ask("operations", name="get_animal")["operation"]["parameters"]]
    assert ask("options")["options"]["alt"] == "How it is written"


def test_an_outline_says_the_form_of_a_patch(tmp_path: Path) -> None:
    """R-INT-6"""
    operations = copy.deepcopy(OPERATIONS)
    row = operations["update"]["update_animal"]
    sends = []
    for form in ("application/json", "application/merge-patch+json"):
        row |= {"method": "PATCH", "body": {**row["body"], "content_type": form}}
        introspection = make(write_package(tmp_path / form.replace("/", "-"), ADAPTER, operations, TYPES))
        answer = introspection.answer({"query": "search", "name": ["update_animal"]}, None)
        sends.append(answer["data"]["operations"][0].get("sends"))
    assert sends == [None, "application/merge-patch+json"]


def test_operations_of_one_summary_that_are_called_alike_need_no_second_look(tmp_path: Path) -> None:
    operations = copy.deepcopy(OPERATIONS)
    model = operations["read"]["list_keepers"]
    parameters = {"pole": {"in": "query", "schema": {"type": "string"}}}
    operations["read"] |= {
        "list_gates": {**model, "summary": "List the gates"},
        "list_gates_v1beta1": {**model, "summary": "List the gates"},
        "list_gates_v2alpha1": {
            **model,
            "summary": "List the gates",
            "parameters": {**model["parameters"], **parameters},
        },
        "list_gate_poles": {**model, "summary": "List the poles of gates"},
        "list_gate_keys": {**model, "summary": "List the keys of gates"},
    }
    introspection = make(write_package(tmp_path / "a", ADAPTER, operations, TYPES))
    data = introspection.answer({"query": "search", "search": "list the gates"}, None)["data"]
    assert data["operations"][0]["name"] == "list_gates"
    assert data["others"]["list_gates_v1beta1"] == "Same tool and parameters as list_gates"
    assert data["others"]["list_gates_v2alpha1"] == "List the gates"
    clear = introspection.answer({"query": "search", "search": "list the poles of gates"}, None)["data"]
    assert (clear["operations"][0]["name"], len(clear["others"])) == ("list_gate_poles", 2)


def test_the_best_of_operations_that_a_search_finds_alike_is_described(tmp_path: Path) -> None:
    operations = copy.deepcopy(OPERATIONS)
    model = operations["read"]["list_keepers"]
    operations["read"] |= {
        f"list_{kind}_gates": {**model, "resource": "gate", "summary": f"List {kind} gates"}
        for kind in ("big", "small", "open", "shut", "red", "blue", "wide", "high", "low", "old", "new", "dry")
    }
    introspection = make(write_package(tmp_path / "a", ADAPTER, operations, TYPES))

    def search(**params: Any) -> dict[str, Any]:
        data: dict[str, Any] = introspection.answer({"query": "search", **params}, None)["data"]
        return data

    data = search(search="gates")
    assert len(data["operations"]) == 1
    assert len(data["others"]) == 4
    short = list(data["others"].values())
    assert all("(mcp_aql_read)" in text for text in short), "enough for a call"
    following = search(search="gates", after=list(data["others"])[-1])
    assert not following["others"].keys() & data["others"].keys()
    assert following["operations"] == []
    for words in ("list red gates", "list_red_gates", "the red gate"):
        assert search(search=words)["operations"][0]["name"] == "list_red_gates"
    assert len(search(search="list red gates", first=7)["others"]) == 7


def test_a_search_says_what_the_best_destroys_and_whether_it_probably_is_not_meant(ask: Callable[..., Any]) -> None:
    """R-INT-6"""
    data = ask("search", search="animals", category="DELETE")
    assert [(operation["name"], operation["danger"]) for operation in data["operations"]] == [
        ("delete_animal", "destructive, asks first")
    ]
    assert "danger" not in ask("search", search="list animals")["operations"][0]
    weak = ask("search", search="refund the invoice of a keeper")
    assert (weak["match"], weak["unknown"]) == ("weak", ["refund", "invoice"])
    assert not ask("search", search="animals", resource="keeper")["others"].keys() & {"list_animals"}


@pytest.mark.parametrize(
    "name",
    [
        ["get_animal", "delete_animal", "Species"],
        " get_animal, 'delete_animal' ,Species,",
        '["get_animal", "delete_animal", "Species"]',
        ["get_animal", "GetAnimal", "delete_animal", "Species"],
    ],
)
def test_several_names_are_described_in_one_call(ask: Callable[..., Any], name: Any) -> None:
    """R-INT-6: operations and types."""
    data = ask("search", name=name)
    assert [operation["name"] for operation in data["operations"]][:1] == ["get_animal"]
    assert "delete_animal" in [operation["name"] for operation in data["operations"]]
    assert data["types"] == [ask("types", name="Species")["type"]]
    assert set(data) == {"operations", "types"}


def test_a_list_of_names_is_understood_by_the_protocols_queries_too(ask: Callable[..., Any]) -> None:
    """R-INT-1: a name of the protocol is a text, and a text is answered as the protocol says."""
    assert ask("operations", name=["get_animal"]) == ask("search", name=["get_animal"])
    assert ask("operations", name="get_animal,delete_animal") == {"operation": None}


def test_an_unknown_name_is_answered_with_those_near_it(ask: Callable[..., Any]) -> None:
    data = ask("search", name=["remove_animal", "get_animal", "x" * 500])
    assert [operation["name"] for operation in data["operations"]] == ["get_animal"]
    assert data["unknown"]["remove_animal"][0] == "delete_animal"
    assert max(map(len, data["unknown"])) <= 64


def test_names_for_which_an_answer_has_no_room_are_left(package: Path) -> None:
    """R-INT-6"""
    names = ["introspect", "run_steps", "create_animal", "get_animal", "list_animals", "update_animal"]
    introspection = make(package, max_answer_tokens=500)
    data = introspection.answer({"query": "search", "name": ["nonsense", "introspect"]}, None)["data"]
    assert [operation["name"] for operation in data["operations"]] == ["introspect"]
    data = introspection.answer({"query": "search", "name": names}, None)["data"]
    described = [operation["name"] for operation in data["operations"]]
    assert described
    assert described + data["left"] == names
    assert len(json.dumps(data)) < 4000


@pytest.mark.parametrize(
    ("params", "code", "part"),
    [
        ({}, "VALIDATION_MISSING_PARAM", "words to find"),
        ({"name": ","}, "VALIDATION_INVALID_VALUE", "1 to 10 names"),
        ({"name": [f"name_{index}" for index in range(11)]}, "VALIDATION_INVALID_VALUE", "it has 11"),
        ({"name": "a," * 100_000}, "VALIDATION_INVALID_VALUE", "it has"),
        ({"name": ["a", 1]}, "VALIDATION_INVALID_TYPE", "a list of them"),
        ({"name": {"a": 1}}, "VALIDATION_INVALID_TYPE", "expected 'string or array', got 'object'"),
        ({"search": ["a"]}, "VALIDATION_INVALID_TYPE", "expected 'string', got 'array'"),
        ({"search": "a", "all": "yes"}, "VALIDATION_INVALID_TYPE", "expected 'boolean', got 'string'"),
        ({"search": "animals", "after": "nonsense"}, "VALIDATION_INVALID_VALUE", "not an entry"),
    ],
)
def test_what_the_query_of_our_own_cannot_answer_is_refused(package: Path, params: Any, code: str, part: str) -> None:
    envelope = make(package).answer({"query": "search", **params}, None)
    assert envelope["error"]["code"] == code
    assert part in envelope["error"]["message"]


def test_the_description_of_a_verb_that_is_not_canonical_names_the_one_that_it_is_a_kind_of(tmp_path: Path) -> None:
    """R-NAME-2: in the details, which cost nothing until they are asked for, and not in the list."""
    rows = copy.deepcopy(OPERATIONS)
    rows["read"]["list_keepers"] |= {"verb": "search", "relative": "list"}
    introspection = make(write_package(tmp_path / "package", ADAPTER, rows, TYPES))
    operation = introspection.answer({"query": "operations", "name": "list_keepers"}, None)["data"]["operation"]
    assert operation["description"] == "List the people who feed animals (a kind of list)"
    other = introspection.answer({"query": "operations", "name": "list_animals"}, None)["data"]["operation"]
    assert "a kind of" not in other["description"]
    assert "a kind of" not in json.dumps(introspection.answer({"query": "operations"}, None))


WAGES = (
    ("delete_crew", "delete", "crew", "Delete a crew"),
    ("delete_crew_member", "delete", "member", "Delete a person of a crew"),
    ("get_crew", "read", "crew", "Get a crew"),
    ("get_wage", "read", "wage", "Get the wage"),
    ("set_wage", "update", "wage", "Set the wage"),
)


@each(
    ("text", "first"),
    [
        ("kick Ann out of the crew", "delete_crew_member"),
        ("delete the crew", "delete_crew"),
        ("her wage is 19 dollars now", "set_wage"),
        ("could you tell me what her wage is", "get_wage"),
        ("how many wages do we have", "get_wage"),
        ("what changed in her wage", "get_wage"),
        ("wage", "get_wage"),
    ],
)
def test_a_search_tells_a_part_from_its_whole_and_a_statement_from_a_question(text: str, first: str) -> None:
    """R-INT-6: what stands behind `of` is not what is deleted, and a sentence that does not ask is for a change."""
    entries = (plain_entry(name, family, "safe", resource, summary) for name, family, resource, summary in WAGES)
    assert Ranking(Postings(index_text(entries))).search(text).hits[0].name == first


@each(
    ("schema", "sentence"),
    [
        (
            {"anyOf": [{"enum": ["s", "m"], "type": "string"}, {"type": "integer", "minimum": 1}]},
            "One of: 's'|'m', int≥1.",
        ),
        (
            {"anyOf": [{"type": "string", "pattern": "^P[0-9]+$"}, {"type": "integer", "maximum": 5}]},
            "string /^P[0-9]+$/",
        ),
        (
            {"type": "array", "items": {}, "prefixItems": [{"type": "number", "minimum": 0, "maximum": 1}]},
            "number 0..1",
        ),
    ],
)
def test_what_alternatives_admit_is_told(schema: Any, sentence: str) -> None:
    """R-INT-4"""
    parameter = Parameter(name="size", wire="size", location="query", schema=schema)
    assert sentence in parameter_info(parameter, {})["description"]


def test_which_fields_have_to_be_given_is_told() -> None:
    """R-INT-5"""
    either = {
        "type": "object",
        "properties": {"url": {}, "id": {}},
        "anyOf": [{"required": ["url"]}, {"required": ["id"]}],
    }
    assert type_details("Image", either, {})["description"] == "Give one of: url; or id."


NAMES = (
    ("create_issue_assignees", "issue_assignee", "Add assignees to an issue"),
    ("create_repo_issue", "issue", "Create an issue"),
    ("list_org_members", "member", "List members"),
    ("list_custom_fields", "custom_field", "List fields"),
    ("list_usergroups", "usergroup", "List groups of people"),
)


@each(
    ("text", "first"),
    [
        ("create an issue in a repository", "create_repo_issue"),
        ("members of an organization", "list_org_members"),
        ("open a ticket", "create_repo_issue"),
        ("Create an issue", "create_repo_issue"),
        ("list_custom_fields", "list_custom_fields"),
        ("lsit custm fields", "list_custom_fields"),
        ("user groups", "list_usergroups"),
        ("please list the members with id 'create_repo_issue'", "list_org_members"),
    ],
)
def test_a_search_knows_other_words_slips_and_run_together_words(text: str, first: str) -> None:
    """R-INT-6: people say repository and organization where names say repo and org."""
    entries = (plain_entry(name, "read", "safe", resource, summary) for name, resource, summary in NAMES)
    search = Ranking(Postings(index_text(entries)))
    assert search.search(text).hits[0].name == first
