"""Names that tell the effect: what the texts say where the path says less, and no longer than needed."""

from __future__ import annotations

from operations import decide_one, names

from tests.cases import each


@each(
    ("key", "called", "summary", "name"),
    [
        ("POST /payouts/{id}", "instructPayout", "Instructs a payout", "instruct_payout"),
        ("PUT /zones/{id}/rectify", "rectifyZone", "Rectify the zone data", "rectify_zone"),
        ("POST /attest/k8s", "attestK8s", "Attest a token", "attest_k8s"),
        ("POST /invoices", "invoiceCreation", "Invoice creation", "create_invoice"),
        ("DELETE /zones/{id}", "rectifyZone", "Rectify the zone data", "delete_zone"),
    ],
)
def test_an_unknown_verb_is_heard_where_name_and_summary_begin_with_it(
    key: str, called: str, summary: str, name: str
) -> None:
    """R-NAME-2, R-SAFE-1"""
    assert decide_one(key, called, summary=summary).name == name


@each(
    ("key", "called", "summary", "name"),
    [
        ("PATCH /hooks/{id}", "updateWebhook", "Change it", "update_hook"),  # the summary does not say it
        ("DELETE /series/{id}/progress", "markSeriesAsUnread", "Mark series as unread", "delete_series_progress"),
        ("DELETE /groups/{id}/schedule", "unscheduleGroup", "Unschedule a group", "delete_group_schedule"),
    ],
)
def test_one_text_alone_and_a_milder_one_of_a_deletion_take_nothing_from_the_path(
    key: str, called: str, summary: str, name: str
) -> None:
    """R-NAME-2, R-SAFE-1"""
    assert decide_one(key, called, summary=summary).name == name


def test_a_name_over_40_characters_is_taken_only_where_no_shorter_one_is_free() -> None:
    """R-NAME-3"""
    plans = "GET /finance/financial-goals/{id}/contribution-plans"
    assert names(plans)[plans] == "list_financial_goal_contribution_plans"
    other = "GET /health/financial-goals/{id}/contribution-plans"
    both = names(plans, other)
    assert both[plans] == "list_finance_financial_goal_contribution_plans"
    assert both[other] == "list_health_financial_goal_contribution_plans"


def test_a_name_is_not_shortened_to_where_its_thing_is_found() -> None:
    """R-NAME-3, R-SAFE-1"""
    called = "disable_public_interface_of_load_balancer"
    decision = decide_one("POST /load_balancers/{id}/actions/disable_public_interface", called)
    assert decision.name == called


def test_what_nearly_all_paths_begin_with_is_no_part_of_a_name() -> None:
    """R-NAME-3"""
    keys = [f"GET /{{realm}}/things{index}/{{id}}/parts" for index in range(30)]
    api = names(*keys, "GET /{realm}", "GET /health", ("GET /{realm}/users", "listRealmUsers"))
    assert api[keys[0]] == "list_things0_parts"
    assert api["GET /{realm}"] == "get_realm"
    assert api["GET /{realm}/users"] == "list_realm_users"  # people say it
    few = names(*keys[:10], *(f"GET /{{area}}/others{index}" for index in range(10)))
    assert few[keys[0]] == "list_realm_things0_parts"


def test_an_api_before_the_version_is_residue() -> None:
    assert decide_one("GET /shop/api/v1/users").name == "list_shop_users"
    assert decide_one("GET /shop/api/keys").name == "list_shop_api_keys"
