"""What the owner decided about requests stays decided: no document and no agent puts another value in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from forms import FORMS, Formed

from aqlgen.runtime.errors import Failure
from tests.cases import each
from tests.documents import TEXT, body_of, object_of, parameter, replies
from tests.generator.commands import api, tabulate
from tests.in_process import StandIn, dispatcher_of

FREE = {"type": "object", "additionalProperties": True}
FIXED = "GET /pets: {parameters: {shop: {value: mine}}}"


def documented(*parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    get = {"operationId": "listPets", "parameters": list(parameters), "responses": replies()}
    return api({"GET /pets": get}, servers=[{"url": "https://pets.example"}], **more)


def open_query(place: str = "query") -> dict[str, Any]:
    """Return a document of a parameter that the owner will fix, and of one beside it that takes any name."""
    return documented(parameter("shop", place), parameter("filter", place, FREE, style="form", explode=True))


@pytest.mark.parametrize("name", ["X-Tenant", "x-tenant", "X_Tenant"])
@pytest.mark.parametrize("value", ["{env: TENANT}", "mine"])
def test_a_document_makes_no_parameter_and_no_scheme_of_the_owners_header(
    tmp_path: Path, name: str, value: str
) -> None:
    declared = parameter(name, "header", {**TEXT, "default": "theirs"}, required=True)
    schemes = {"theirs": {"type": "apiKey", "in": "header", "name": name}}
    document = documented(declared, components={"securitySchemes": schemes}, security=[{"theirs": []}])
    table = tabulate(tmp_path, document, overrides=f"adapter: {{headers: {{X-Tenant: {value}}}}}")
    assert not [entry for entry in table.rows["list_pets"]["parameters"].values() if entry["in"] == "header"]
    headers = table.request(tmp_path, "list_pets", TENANT="mine", SHOP_THEIRS="theirs").headers
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
    request = table.request(tmp_path, "list_pets", SHOP_PETS_TOKEN="secret")
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
    package = tabulate(tmp_path, open_query(), overrides=FIXED).write(tmp_path / "package")
    server = StandIn(lambda _request: {})
    dispatcher = Formed(dispatcher_of(package, server), form)
    answer = await dispatcher.handle(None, {"operation": "list_pets", "params": params})
    assert not answer["success"]
    assert server.sent == []


@pytest.mark.parametrize("place", ["query", "cookie"])
def test_an_agent_puts_nothing_in_the_place_of_a_fixed_value(tmp_path: Path, place: str) -> None:
    table = tabulate(tmp_path, open_query(place), overrides=FIXED)
    request = table.request(tmp_path, "list_pets", {"filter": {"a": "b"}})
    assert f"{request.url} {dict(request.headers).get('Cookie')}".count("shop=mine") == 1
    for params in ({"shop": "x"}, {"Shop": "x"}, {"filter": {"shop": "x"}}, {"filter": "x&shop=x"}):
        with pytest.raises(Failure):
            table.request(tmp_path, "list_pets", params)


def test_an_agent_puts_nothing_in_the_place_of_a_fixed_field_of_the_body(tmp_path: Path) -> None:
    body = body_of(object_of(shop=TEXT, name=TEXT) | {"additionalProperties": True})
    post = {"operationId": "listPets", "requestBody": body, "responses": replies()}
    document = api({"POST /pets/add": post}, servers=[{"url": "https://pets.example"}])
    text = "POST /pets/add: {name: list_pets, parameters: {shop: {value: mine}}}"
    table = tabulate(tmp_path, document, overrides=text)
    rest = [name for name, entry in table.rows["list_pets"]["parameters"].items() if entry["in"] == "body_rest"]
    assert rest
    for name in rest:
        content = table.request(tmp_path, "list_pets", {"name": "Rosa", name: {"shop": "theirs"}}).content
        assert content is not None
        assert b"theirs" not in content
        assert b'"shop":"mine"' in content
