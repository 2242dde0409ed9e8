"""What the owner decided about requests stays decided: no document and no agent puts another value in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from forms import FORMS, Formed

from aqlgen.runtime.client import Api
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from aqlgen.runtime.wire import ApiRequest
from tests.cases import each
from tests.generator.commands import Tabulation, api, tabulate
from tests.runtime.api.hand_made import Recorder

TEXT = {"type": "string"}
FREE = {"type": "object", "additionalProperties": True}
OK = {"200": {"description": "ok"}}


def documented(*parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    get = {"operationId": "listPets", "parameters": list(parameters), "responses": OK}
    return api({"/pets": {"get": get}}, servers=[{"url": "https://pets.example"}], **more)


def sent(table: Tabulation, folder: Path, params: Any = None, **environ: str) -> ApiRequest:
    table.write(folder)
    rows = Table(folder)
    side = Api(Adapter.load(folder), rows, Recorder(), Config(), environ=environ)
    row = rows.find("list_pets")
    assert row is not None
    return side.build(row, side.validate(row, params or {}))


@pytest.mark.parametrize("name", ["X-Tenant", "x-tenant", "X_Tenant"])
@pytest.mark.parametrize("value", ["{env: TENANT}", "mine"])
def test_a_document_makes_no_parameter_and_no_scheme_of_the_owners_header(
    tmp_path: Path, name: str, value: str
) -> None:
    declared = {"name": name, "in": "header", "required": True, "schema": {**TEXT, "default": "theirs"}}
    schemes = {"theirs": {"type": "apiKey", "in": "header", "name": name}}
    document = documented(declared, components={"securitySchemes": schemes}, security=[{"theirs": []}])
    table = tabulate(tmp_path, document, overrides=f"adapter: {{headers: {{X-Tenant: {value}}}}}")
    assert not [entry for entry in table.rows["list_pets"]["parameters"].values() if entry["in"] == "header"]
    headers = sent(table, tmp_path, TENANT="mine", SHOP_THEIRS="theirs").headers
    assert [text for header, text in headers if header.lower().replace("_", "-") == "x-tenant"] == ["mine"]


def test_a_document_has_no_say_in_the_variables_and_schemes_that_the_owner_names(tmp_path: Path) -> None:
    """A scheme of the document whose variable would be the owner's gets another one."""
    theirs = {"pets_token": {"type": "apiKey", "in": "query", "name": "q"}, "it": {"type": "http", "scheme": "digest"}}
    document = documented(components={"securitySchemes": theirs}, security=[{"pets_token": []}])
    text = """
    adapter:
      security_schemes: {it: {type: http, scheme: bearer}}
      security: [it]
      variables: {it: SHOP_PETS_TOKEN}
    """
    table = tabulate(tmp_path, document, overrides=text)
    request = sent(table, tmp_path, SHOP_PETS_TOKEN="secret")
    assert dict(request.headers)["Authorization"] == "Bearer secret"
    assert "secret" not in request.url
    variables = {name: scheme["variables"] for name, scheme in table.adapter["security_schemes"].items()}
    assert variables["it"] == ["SHOP_PETS_TOKEN"]
    assert variables["pets_token"] != variables["it"]


@pytest.mark.anyio
@each("form", FORMS)
@each("params", [{"shop": "x"}, {"Shop": "x"}, {"filter": {"shop": "x"}}, {"filter": "x&shop=x"}])
async def test_no_form_of_a_call_puts_anything_in_the_place_of_a_fixed_value(
    tmp_path: Path, params: Any, form: str
) -> None:
    """R-STEP-2: nor do a batch, a step, and values that are references."""
    fixed = {"name": "shop", "in": "query", "schema": TEXT}
    free = {"name": "filter", "in": "query", "style": "form", "explode": True, "schema": FREE}
    table = tabulate(tmp_path, documented(fixed, free), overrides="GET /pets: {parameters: {shop: {value: mine}}}")
    table.write(tmp_path)
    rows, adapter, recorder = Table(tmp_path), Adapter.load(tmp_path), Recorder()
    side = Api(adapter, rows, recorder, Config(), environ={})
    dispatcher = Formed(Dispatcher(adapter, rows, side, Config()), form)
    answer = await dispatcher.handle(None, {"operation": "list_pets", "params": params})
    assert not answer["success"]
    assert recorder.sent == []


@pytest.mark.parametrize("place", ["query", "cookie"])
def test_an_agent_puts_nothing_in_the_place_of_a_fixed_value(tmp_path: Path, place: str) -> None:
    fixed = {"name": "shop", "in": place, "schema": TEXT}
    free = {"name": "filter", "in": place, "style": "form", "explode": True, "schema": FREE}
    table = tabulate(tmp_path, documented(fixed, free), overrides="GET /pets: {parameters: {shop: {value: mine}}}")
    request = sent(table, tmp_path, {"filter": {"a": "b"}})
    assert f"{request.url} {dict(request.headers).get('Cookie')}".count("shop=mine") == 1
    for params in ({"shop": "x"}, {"Shop": "x"}, {"filter": {"shop": "x"}}, {"filter": "x&shop=x"}):
        with pytest.raises(Failure):
            sent(table, tmp_path, params)


def test_an_agent_puts_nothing_in_the_place_of_a_fixed_field_of_the_body(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"shop": TEXT, "name": TEXT}, "additionalProperties": True}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    post = {"operationId": "listPets", "requestBody": body, "responses": OK}
    document = api({"/pets/add": {"post": post}}, servers=[{"url": "https://pets.example"}])
    text = "POST /pets/add: {name: list_pets, parameters: {shop: {value: mine}}}"
    table = tabulate(tmp_path, document, overrides=text)
    rest = [name for name, entry in table.rows["list_pets"]["parameters"].items() if entry["in"] == "body_rest"]
    assert rest
    for name in rest:
        content = sent(table, tmp_path, {"name": "Rosa", name: {"shop": "theirs"}}).content
        assert content is not None
        assert b"theirs" not in content
        assert b'"shop":"mine"' in content
