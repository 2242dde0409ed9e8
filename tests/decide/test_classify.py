from __future__ import annotations

import pytest
from operations import answer, one

from aqlgen.decisions import Category, Evidence


@pytest.mark.parametrize(
    ("key", "called", "category"),
    [
        ("GET /pets", None, "READ"),
        ("HEAD /pets/{petId}", None, "READ"),
        ("OPTIONS /pets", None, "READ"),
        ("POST /pets", None, "CREATE"),
        ("PUT /pets/{petId}", None, "UPDATE"),
        ("PATCH /pets/{petId}", None, "UPDATE"),
        ("DELETE /pets/{petId}", None, "DELETE"),
    ],
)
def test_plain_operations_follow_their_method(key: str, called: str | None, category: str) -> None:
    """R-NAME-1"""
    assert one(key, called).category == category


@pytest.mark.parametrize(
    ("key", "called"),
    [
        ("POST /pets/search", None),
        ("POST /v1/items:query", None),
        ("POST /indexes/{index}/_search", None),
        ("POST /reports", "searchReports"),
        ("POST /prices/calculate", "calculatePrice"),
        ("GET /executions/{id}/status", "getExecutionStatus"),
    ],
)
def test_what_only_asks_or_computes_is_a_read_whatever_its_method_and_subject(key: str, called: str | None) -> None:
    """R-NAME-1"""
    assert one(key, called).category is Category.READ


@pytest.mark.parametrize(
    ("key", "called"),
    [
        ("POST /pulls/{id}/merge", None),
        ("PUT /pulls/{id}/merge", "pulls/merge"),
        ("POST /orders/{id}/cancel", None),
        ("POST /posts/{id}/publish", "publishPost"),
        ("POST /v1/operations/{id}:cancel", None),
        ("POST /messages", "sendMessage"),
        ("POST /jobs/{id}/retry", "createRetry"),
        ("POST /calls/{id}/actions/record_start", None),
    ],
)
def test_actions_with_an_effect_outside_the_data_are_executed(key: str, called: str | None) -> None:
    """R-NAME-1"""
    assert one(key, called).category is Category.EXECUTE


@pytest.mark.parametrize(
    ("key", "called"),
    [
        ("PUT /user/starred/{owner}/{repo}", "activity/star-repo-for-authenticated-user"),
        ("PUT /users/{id}/following/{other}", "followUser"),
        ("PUT /teams/{id}/members/{user}", "addTeamMember"),
    ],
)
def test_a_put_that_attaches_creates(key: str, called: str) -> None:
    """R-NAME-1"""
    assert one(key, called).category is Category.CREATE


def test_a_put_of_a_member_with_nothing_to_send_attaches_but_wants_a_look() -> None:
    """R-NAME-1"""
    decision = one("PUT /teams/{id}/members/{user}", responses=(answer("204"),))
    assert decision.category is Category.CREATE
    assert decision.review_reasons


@pytest.mark.parametrize("called", ["Clusters_CreateOrUpdate", "upsertCluster", "addOrUpdateCluster"])
def test_an_upsert_is_a_create(called: str) -> None:
    """R-NAME-1"""
    assert one("PUT /clusters/{name}", called).category is Category.CREATE


@pytest.mark.parametrize(
    ("key", "called", "category"),
    [
        ("DELETE /jobs/{id}", "cancelJob", "EXECUTE"),
        ("DELETE /products/{id}/tags/{tag}", "Tag_DetachFromProduct", "UPDATE"),
        ("DELETE /users/{id}", "removeUser", "DELETE"),
    ],
)
def test_a_delete_is_judged_by_its_effect(key: str, called: str, category: str) -> None:
    """R-NAME-1"""
    assert one(key, called).category == category


@pytest.mark.parametrize(
    ("key", "category"),
    [
        ("POST /chat.postMessage", "CREATE"),
        ("GET /users.list", "READ"),
        ("POST /#X-Amz-Target=AWSGlue.DeleteTable", "DELETE"),
        ("GET /#Action=RebootInstances", "EXECUTE"),
        ("GET /#Action=DescribeVpcs", "READ"),
        ("POST /asset_report/get", "READ"),
        ("POST /deleteWebhook", "DELETE"),
    ],
)
def test_a_remote_procedure_is_read_from_the_verb_in_its_name(key: str, category: str) -> None:
    """R-NAME-1"""
    assert one(key).category == category


@pytest.mark.parametrize(
    ("called", "category"),
    [
        ("transferLedgerGet", "READ"),
        ("UpdateRuns_ListTopLevel", "READ"),
        ("registries_list_keys", "READ"),
        ("aws-write-role-tag", "UPDATE"),
    ],
)
def test_a_noun_that_looks_like_a_verb_does_not_mislead(called: str, category: str) -> None:
    """R-NAME-1"""
    assert one("POST /transfer/ledger/things", called).category == category


def test_the_document_may_say_it_itself() -> None:
    """R-NAME-1"""
    decision = one("POST /reports", extensions={"x-mcpaql-category": "execute"})
    assert (decision.category, decision.category_reason.evidence) == (Category.EXECUTE, Evidence.METADATA)


@pytest.mark.parametrize(
    ("action", "category"), [("deletecollection", "DELETE"), ("connect", "EXECUTE"), ("list", "READ")]
)
def test_kubernetes_says_what_it_does(action: str, category: str) -> None:
    """R-NAME-1"""
    assert one("POST /api/v1/pods", extensions={"x-kubernetes-action": action}).category == category


def test_a_decision_names_the_rule_it_rests_on() -> None:
    """R-NAME-4"""
    reason = one("POST /orders/{id}/cancel").category_reason
    assert (reason.rule, reason.note) == ("action-on-resource", "the path ends in cancel")


def test_a_get_that_is_called_like_a_change_wants_a_look() -> None:
    """R-NAME-4"""
    assert one("GET /cache", "flushCache").review_reasons
    assert not one("GET /cache", "getCache").review_reasons
