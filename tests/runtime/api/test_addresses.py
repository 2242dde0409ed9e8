"""Addresses of documents that are hardly those of an API, told by their words."""

from __future__ import annotations

import time

from aqlgen.runtime.encode.addresses import address_problem, operation_problem, server_problem
from tests.cases import each

PLACEHOLDERS = {
    "https://{tenant}.auth0.com": "blank",
    "https://<host>/api": "blank",
    "https://api.acme.dev/%7Baccount%7D": "blank",
    "https://[your region].acme.dev": "blank",
    "https://your-domain.atlassian.net/rest": "yours",
    "https://yourcompany.freshdesk.com": "yours",
    "https://YOUR_DOMAIN.auth0.com": "yours",
    "https://api.acme.dev/YOUR_ACCOUNT/v1": "yours",
    "https://YOURHOST/api": "yours",
    "https://example.com": "example",
    "https://api.example.org/v1": "example",
    "http://api.server.test/v1": "reserved",
    "https://zoo.example": "reserved",
    "https://api.invalid": "reserved",
    "https://example.okta.com": "stand-in",
    "https://my-instance.service-now.com": "stand-in",
    "/v1": "incomplete",
    "": "incomplete",
    "https://": "incomplete",
    "ftp://files.acme.dev": "incomplete",
    "http://[": "incomplete",
}
LOCAL = ("http://localhost:8080", "http://127.0.0.1/v1", "http://[::1]:80", "http://192.168.1.4", "http://server/api")
REAL = (
    "https://api.github.com",
    "https://api.domain.com.au/v1",
    "https://account.docusign.com",
    "https://tenant.auth0.com",
    "https://acme.zerossl.com/v2",
    "https://todo-api.azurewebsites.net",
    "https://api.myanimelist.net/v2",
    "https://yourmechanic.com",
    "https://SLACK.COM/api",
    "https://api.acme.dev/v1/users",
)


@each(("url", "rule"), PLACEHOLDERS.items())
def test_a_placeholder_is_known_by_its_words(url: str, rule: str) -> None:
    problem = address_problem(url)
    assert problem is not None
    assert (problem.rule, problem.certain, problem.setting) == (rule, True, "MCP_AQL_BASE_URL")


@each("url", LOCAL)
def test_a_local_address_may_be_right(url: str) -> None:
    problem = address_problem(url)
    assert problem is not None
    assert (problem.rule, problem.certain) == ("local", False)
    assert address_problem(url, of_owner=True) is None


@each("url", REAL)
def test_a_real_address_is_believed(url: str) -> None:
    assert address_problem(url) is None


@each("url", ["https://api.example.com", "https://your-domain.atlassian.net", "https://<host>"])
def test_an_owner_who_sets_a_placeholder_is_told(url: str) -> None:
    assert address_problem(url, of_owner=True) is not None


@each("url", ["http://tenant.corp.dev", "https://my-shop.myshopify.com", "http://api.server.test"])
def test_an_owner_may_have_such_a_name(url: str) -> None:
    assert address_problem(url, of_owner=True) is None


def test_a_server_variable_that_cures_is_named() -> None:
    shop = {"url": "https://api.shop.dev/stores/{store_hash}", "variables": {"store_hash": {"default": "store_hash"}}}
    problem = server_problem(shop)
    assert problem is not None
    assert problem.remedy == "set MCP_AQL_SERVER_VARIABLES=store_hash=…"
    assert server_problem(shop, {"store_hash": "x1"}) is None
    desk = {"url": "https://{sub}.desk.dev/{v}", "variables": {"sub": {"default": "your-sub"}, "v": {"default": "v1"}}}
    problem = server_problem(desk)
    assert problem is not None
    assert problem.variables == ("sub",)


def test_a_value_that_the_document_offers_is_no_placeholder() -> None:
    api = {"url": "https://{region}.desk.dev", "variables": {"region": {"default": "region", "enum": ["region", "eu"]}}}
    assert server_problem(api) is None
    assert server_problem({"url": "https://{api}.desk.dev", "variables": {"api": {"default": "api"}}}) is None


def test_a_host_that_its_owner_has_not_chosen_is_a_default() -> None:
    tenant = {"url": "https://{tenant}.desk.dev:{port}/{v}", "variables": {
        "tenant": {"default": "acme"}, "port": {"default": "443"}, "v": {"default": "v1"}}}  # fmt: skip
    problem = server_problem(tenant)
    assert problem is not None
    assert (problem.rule, problem.certain, problem.variables) == ("default", False, ("tenant",))
    assert problem.reason == "'acme' is the default of '{tenant}'"
    assert server_problem(tenant, {"tenant": "mine"}) is None
    assert server_problem({"url": "{at}/v1", "variables": {"at": {"default": "https://api.desk.dev"}}}) is not None


def test_a_relative_server_of_an_operation_goes_on_from_the_main_one() -> None:
    main = [{"url": "https://api.desk.dev/v1"}]
    assert operation_problem(main, [{"url": "/upload"}], None, {}) is None
    assert operation_problem(main, [{"url": "https://{box}.desk.dev"}], None, {}) is not None
    assert operation_problem([{"url": "/v1"}], [{"url": "/upload"}], None, {}) is not None
    assert operation_problem([], [], None, {}) is not None
    assert operation_problem([], [{"url": "/upload"}], "https://api.desk.dev", {}) is None


@each("part", ["{", "<", "%7b", "[a", "your-", "example-", "-", "a.", "A_", "my"])
def test_an_address_of_any_length_is_read_in_linear_time(part: str) -> None:
    begin = time.perf_counter()
    for prefix in ("https://", "https://a.dev/", ""):
        address_problem(prefix + part * 100_000)
    assert time.perf_counter() - begin < 1
