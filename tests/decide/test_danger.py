from __future__ import annotations

import pytest
from operations import one

from aqlgen.decisions import Danger


@pytest.mark.parametrize(
    ("key", "level"),
    [
        ("GET /pets", "safe"),
        ("POST /pets", "reversible"),
        ("PATCH /pets/{petId}", "reversible"),
        ("POST /pets/{petId}/publish", "reversible"),
        ("DELETE /pets/{petId}", "destructive"),
    ],
)
def test_each_category_has_its_default(key: str, level: str) -> None:
    """R-SAFE-1"""
    assert one(key).danger == level


@pytest.mark.parametrize(
    ("key", "called", "level"),
    [
        ("POST /caches/{id}/purge", "purgeCache", "dangerous"),
        ("POST /branches/{id}/force-push", "forcePush", "dangerous"),
        ("POST /disks/{id}/wipe", "wipeDisk", "forbidden"),
        ("POST /databases/{id}/reset", "resetDatabase", "forbidden"),
    ],
)
def test_patterns_in_the_name_raise_it(key: str, called: str, level: str) -> None:
    """R-SAFE-1"""
    assert one(key, called).danger == level


@pytest.mark.parametrize("key", ["DELETE /pets", "PUT /pets"])
def test_a_whole_collection_at_once_is_dangerous(key: str) -> None:
    """R-SAFE-1"""
    decision = one(key)
    assert decision.danger is Danger.DANGEROUS
    assert decision.danger_reason.rule == "whole-collection"


def test_settings_are_one_thing_though_they_are_called_by_a_plural() -> None:
    """R-SAFE-1"""
    assert one("PUT /users/{id}/settings").danger is Danger.REVERSIBLE


def test_the_document_may_say_it_itself() -> None:
    """R-SAFE-1"""
    assert one("DELETE /drafts/{id}", extensions={"x-mcpaql-danger": "reversible"}).danger is Danger.REVERSIBLE
