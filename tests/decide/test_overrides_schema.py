"""The JSON Schema that editors complete overrides by accepts and refuses what the parser does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from aqlgen.decide.overrides import parse
from aqlgen.decide.overrides.entry import FIELDS, PARAMETER, SINGLE, STYLES
from aqlgen.decide.spelling import RESERVED
from aqlgen.decisions import Category, Danger

FILE = Path(__file__).parents[2] / "templates/project/schema/overrides.schema.json"
SCHEMA: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
VALIDATOR = jsonschema_rs.Draft7Validator(SCHEMA)

ACCEPTED = (
    "",
    "# nothing yet",
    "GET /pets: {}",
    "get /pets: {hidden: true}",
    "GET  /pets: {hidden: false}",
    "GET /pets: {name: my_pets, category: read, danger: SAFE, description: Mine., confirmation: Sure.}",
    "GET /pets: {aliases: []}",
    "GET /pets: {aliases: [all_pets, {name: fetch_pets}, {name: read_pets, until: '2027-01-31'}]}",
    "GET /pets: {category: Execute}",
    "GET /pets: {pagination: false}",
    "GET /pets: {pagination: {style: page, page_param: p, size_param: n, size_max: 50, items: '', total: /total}}",
    "GET /pets: {pagination: {style: offset, offset_param: o, has_more: /more}}",
    "GET /pets: {pagination: {style: cursor, cursor_param: c, next: /meta/next, before_param: b, item_cursor: /id}}",
    "GET /pets: {pagination: {style: token, cursor_param: c, in: body, within: /options}}",
    "GET /pets: {pagination: {style: link, next: Link}}",
    "GET /pets: {pagination: {style: next_url, next: /next}}",
    "GET /pets: {pagination: {style: next_url, next: X-Next, next_in: header}}",
    "GET /pets: {parameters: {}}",
    "GET /pets: {parameters: {petId: {name: pet, description: Which., example: 7, hidden: true, sensitive: false}}}",
    "GET /pets: {parameters: {'query:a b': {example: [1, {a: null}]}}}",
    "GET /pets: {example: {}}",
    "POST /pets: {example: {name: Rosa}, body: {content_type: application/json}}",
    "POST /pets: {body: {}}",
    "tag:internal: {hidden: true}",
    "'tag: two words': {danger: dangerous, parameters: {a: {description: A.}}}",
    "adapter: {}",
    "adapter: {field_case: preserve}",
)
REFUSED = (
    "[]",
    "pets",
    "GET: {}",
    "pets: {}",
    "GET pets: {}",
    "'tag:': {}",
    "GET /pets:",
    "GET /pets: yes",
    "GET /pets: [hidden]",
    "GET /pets: {nmae: my_pets}",
    "GET /pets: {name: My-Pets}",
    "GET /pets: {name: 7}",
    "GET /pets: {name: class}",
    "GET /pets: {name: match}",
    "GET /pets: {name: introspect}",
    f"GET /pets: {{name: {'a' * 65}}}",
    "GET /pets: {aliases: all_pets}",
    "GET /pets: {aliases: [All-Pets]}",
    "GET /pets: {aliases: [introspect]}",
    "GET /pets: {aliases: [{until: '2027-01-31'}]}",
    "GET /pets: {aliases: [{name: all_pets, until: soon}]}",
    "GET /pets: {aliases: [{name: all_pets, since: '2027-01-31'}]}",
    "GET /pets: {category: REED}",
    "GET /pets: {category: [READ]}",
    "GET /pets: {danger: mortal}",
    "GET /pets: {hidden: perhaps}",
    "GET /pets: {hidden: 1}",
    "GET /pets: {hidden: }",
    "GET /pets: {description: ''}",
    "GET /pets: {description: 5}",
    "GET /pets: {confirmation: [a]}",
    "GET /pets: {parameters: []}",
    "GET /pets: {parameters: {a: b}}",
    "GET /pets: {parameters: {a: {nam: b}}}",
    "GET /pets: {parameters: {a: {name: B}}}",
    "GET /pets: {parameters: {a: {name: input}}}",
    "GET /pets: {parameters: {a: {hidden: no thanks}}}",
    "GET /pets: {parameters: {a: {sensitive: 1}}}",
    "GET /pets: {pagination: true}",
    "GET /pets: {pagination: page}",
    "GET /pets: {pagination: {}}",
    "GET /pets: {pagination: {style: pages}}",
    "GET /pets: {pagination: {style: page}}",
    "GET /pets: {pagination: {style: offset, page_param: p}}",
    "GET /pets: {pagination: {style: cursor, next: /next}}",
    "GET /pets: {pagination: {style: link}}",
    "GET /pets: {pagination: {style: next_url, next: next}}",
    "GET /pets: {pagination: {style: page, page_param: p, items: data}}",
    "GET /pets: {pagination: {style: page, page_param: p, size_max: 0}}",
    "GET /pets: {pagination: {style: page, page_param: p, size_max: many}}",
    "GET /pets: {pagination: {style: page, page_param: p, in: header}}",
    "GET /pets: {pagination: {style: page, page_param: p, next: /n, next_in: trailer}}",
    "GET /pets: {pagination: {style: page, page_param: p, nxt: /n}}",
    "GET /pets: {example: 7}",
    "GET /pets: {body: application/json}",
    "GET /pets: {body: {type: application/json}}",
    "GET /pets: {body: {content_type: 7}}",
    "tag:pets: {name: pets}",
    "tag:pets: {aliases: [all_pets]}",
    "tag:pets: {example: {}}",
    "tag:pets: yes",
    "adapter: snake",
    "adapter: {field_case: camel}",
    "adapter: {name: x}",
)


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_the_parser_takes_the_schema_takes(text: str) -> None:
    assert not parse(text).found
    VALIDATOR.validate(yaml.safe_load(text))


@pytest.mark.parametrize("text", REFUSED)
def test_what_the_parser_refuses_the_schema_refuses(text: str) -> None:
    assert parse(text).found
    assert not VALIDATOR.is_valid(yaml.safe_load(text))


def test_the_schema_completes_every_key_and_every_choice() -> None:
    definitions = SCHEMA["$defs"]
    assert set(definitions["operation"]["properties"]) == set(FIELDS)
    assert set(definitions["tag"]["properties"]) == set(FIELDS) - SINGLE
    assert set(definitions["parameter"]["properties"]) == set(PARAMETER)
    shared = definitions["operation"]["properties"]
    assert shared["category"]["anyOf"][0]["enum"] == [one.value for one in Category]
    assert shared["danger"]["anyOf"][0]["enum"] == [one.value for one in Danger]
    assert definitions["pagination"]["properties"]["style"]["enum"] == list(STYLES)
    assert all(not VALIDATOR.is_valid({"GET /a": {"name": one}}) for one in RESERVED)
