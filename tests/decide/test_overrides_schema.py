"""The JSON Schema of the overrides is the grammar of the file, and agrees with the model that is read from it."""

from __future__ import annotations

import json
import keyword
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import pytest
import yaml

from aqlgen.decide.decision import Alias, Category, Danger, Override, ParameterOverride
from aqlgen.decide.naming.spelling import RESERVED
from aqlgen.decide.overrides import parse
from aqlgen.diagnostics.errors import OptionError
from aqlgen.runtime.table import PagingStyle
from tests.cases import each

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
    "GET /v1/*: {danger: safe}",
    "'* /admin/**': {hidden: true}",
    "'operation:delete_*': {danger: destructive, confirmation: Sure.}",
    "operation:get_pet: {name: read_pet}",
    "'tag:*': {security: []}",
    "GET /pets: {security: []}",
    "GET /pets: {security: [token, {oauth: [read], key: []}, {}]}",
    "GET /pets: {parameters: {a: {value: 1}, b: {default: [x]}, c: {value: {d: false}}}}",
    "adapter: {security_schemes: {t: {type: http, scheme: bearer, bearerFormat: JWT, x-a: 1}}, security: [t]}",
    "adapter: {security_schemes: {k: {type: apiKey, in: query, name: key}, m: {type: mutualTLS}}}",
    "adapter: {security_schemes: {o: {type: openIdConnect, openIdConnectUrl: 'https://a/b'}}}",
    "adapter: {security_schemes: {o: {type: oauth2, flows: {clientCredentials: {tokenUrl: /t, scopes: {a: b}}}}}}",
    "adapter: {headers: {Notion-Version: '2026-03-11', X-Tenant: {env: TENANT}}}",
    "adapter: {variables: {token: NOTION_TOKEN, basic: {username: A, password: B}}}",
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
    "operation:: {name: x}",
    "tag:*: {name: x}",
    "GET /pets: {security: token}",
    "GET /pets: {security: [7]}",
    "GET /pets: {security: [{oauth: read}]}",
    "GET /pets: {parameters: {a: {value: 1, default: 2}}}",
    "adapter: {security_schemes: {t: {type: htp}}}",
    "adapter: {security_schemes: {t: {scheme: bearer}}}",
    "adapter: {security_schemes: {t: {type: http}}}",
    "adapter: {security_schemes: {t: {type: apiKey, name: a, in: body}}}",
    "adapter: {security_schemes: {t: {type: apiKey, name: a}}}",
    "adapter: {security_schemes: {t: {type: oauth2}}}",
    "adapter: {security_schemes: {t: {type: oauth2, flows: {code: {}}}}}",
    "adapter: {security_schemes: {t: {type: openIdConnect}}}",
    "adapter: {security_schemes: [token]}",
    "adapter: {headers: {X-Version: 7}}",
    'adapter: {headers: {X-Version: "a\\nb"}}',
    "adapter: {headers: {X-Tenant: {env: tenant}}}",
    "adapter: {headers: {X-Tenant: {env: MCP_AQL_POLICY}}}",
    "adapter: {headers: {X-Tenant: {env: TENANT_FILE}}}",
    "adapter: {headers: {X-Tenant: {evn: TENANT}}}",
    "adapter: {variables: {token: notion}}",
    "adapter: {variables: {token: MCP_AQL_TOKEN}}",
    "adapter: {variables: {token: [A]}}",
)


@each("text", ACCEPTED)
def test_what_the_schema_takes_is_read(text: str) -> None:
    VALIDATOR.validate(yaml.safe_load(text))
    assert not parse(text).diagnostics


@each("text", REFUSED)
def test_what_the_schema_refuses_is_a_finding_that_says_what_to_write(text: str) -> None:
    assert not VALIDATOR.is_valid(yaml.safe_load(text))
    assert parse(text).diagnostics
    assert all(diagnostic.line and diagnostic.column and diagnostic.help for diagnostic in parse(text).diagnostics)


def properties(definition: str) -> set[str]:
    return set(SCHEMA["$defs"][definition]["properties"])


def field_names(model: type) -> set[str]:
    return {field.name for field in fields(model)} - {"place", "places", "key", "sources"}


def test_the_fields_of_the_schema_are_those_of_the_model() -> None:
    body = SCHEMA["$defs"]["operation"]["properties"]["body"]["properties"]
    assert (properties("operation") - {"body"}) | set(body) == field_names(Override)
    assert properties("parameter") == field_names(ParameterOverride)
    assert properties("alias") == field_names(Alias)
    assert properties("operation") - properties("tag") == {"name", "aliases", "example"}


def test_the_choices_and_reserved_names_of_the_schema_are_those_of_the_model() -> None:
    definitions = SCHEMA["$defs"]
    assert definitions["category"]["anyOf"][0]["enum"] == [category.value for category in Category]
    assert definitions["danger"]["anyOf"][0]["enum"] == [danger.value for danger in Danger]
    assert definitions["pagination"]["properties"]["style"]["enum"] == list(get_args(PagingStyle))
    reserved = RESERVED | {word for word in keyword.kwlist if word.islower()}
    assert not [name for name in reserved if VALIDATOR.is_valid({"GET /a": {"name": name}})]


def test_every_rule_for_a_value_says_what_the_value_must_be() -> None:
    values = [rule for rule in SCHEMA["$defs"].values() if "properties" not in rule and "anyOf" not in rule]
    assert len(values) == 11
    assert all({"errorMessage", "examples"} <= set(rule) for rule in values)


@each("text", ["GET /p: &a {example: {x: *a}}", f"GET /p: {{example: {{x: {'[' * 60}{']' * 60}}}}}"])
def test_values_without_end_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="too large or nested too deeply"):
        parse(text)
