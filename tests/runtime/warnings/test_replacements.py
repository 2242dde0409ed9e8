"""What a deprecated parameter or field is replaced by, as its description says (R-WARN-2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiny_zoo import ADAPTER, write_package
from users_api import QUERY, row

from aqlgen.runtime.table import Table
from aqlgen.runtime.warnings.deprecation import deprecations_of
from aqlgen.runtime.warnings.replacement import replacement
from tests.cases import each

NAMES = {"perPage": "per_page", "per_page": "per_page", "name": "name", "state": "state"}


@each(
    ("description", "expected"),
    [
        ("Use `state` instead.", "state"),
        ("How many. **Deprecated**: use `perPage`.", "per_page"),
        ("Deprecated in favor of per_page.", "per_page"),
        ("This has been replaced by the parameter 'state'.", "state"),
        ("Deprecated. Please use state.", "state"),
        ("Please use the query parameter state instead", "state"),
        ("Superseded by perPage, which is the same.", "per_page"),
        ("The state of it.", None),
        ("Use `/v2/users` instead to look up by name.", None),
        ("Use `kind` instead.", None),
        ("Use `state` or `name` instead.", None),
        ("Replaced by `state` and `name`. Use `state` instead to keep it.", None),
        ("Use this instead of `state`.", None),
        ("Will not be replaced by `state`.", None),
        ("", None),
    ],
)
def test_a_description_names_what_to_use_instead(description: str, expected: str | None) -> None:
    """R-WARN-2"""
    assert replacement(description, NAMES) == expected


def _warned(tmp_path: Path, parameters: dict[str, Any], params: dict[str, Any], **types: Any) -> dict[str, Any]:
    operation = row("/users", "POST", parameters=parameters)
    families: dict[str, Any] = {family: {} for family in ("create", "read", "update", "delete")}
    folder = write_package(tmp_path / "users", ADAPTER, {**families, "execute": {"find_users": operation}}, types)
    table = Table(folder)
    operation_row = table.find("find_users")
    assert operation_row is not None
    deprecations = deprecations_of(operation_row, table)
    assert deprecations is not None
    [warning] = deprecations.warnings(operation_row, params, table)
    return dict(warning.details or {})


def test_a_parameter_is_replaced_by_one_of_its_operation_under_the_agents_name(tmp_path: Path) -> None:
    """R-WARN-2"""
    old = {**QUERY, "deprecated": True, "description": "Use `pageSize` instead."}
    parameters = {"limit": old, "page_size": {**QUERY, "name": "pageSize"}}
    assert _warned(tmp_path, parameters, {"limit": "1"}) == {
        "type": "parameter",
        "deprecated_item": "limit",
        "replacement": "page_size",
    }


def test_what_is_deprecated_itself_replaces_nothing(tmp_path: Path) -> None:
    """R-WARN-2"""
    old = {**QUERY, "deprecated": True, "description": "Use `size` instead."}
    details = _warned(tmp_path, {"limit": old, "size": {**QUERY, "deprecated": True}}, {"limit": "1"})
    assert "replacement" not in details


def test_a_field_is_replaced_by_one_of_its_object_by_its_path(tmp_path: Path) -> None:
    """R-WARN-2"""
    text = {"type": "string"}
    fax = {**text, "deprecated": True, "description": "Deprecated, use phone instead."}
    home = {"type": "object", "properties": {"fax": fax, "phone": text}}
    parameters = {"homes": {"in": "body", "schema": {"type": "array", "items": {"$ref": "#/types/Home"}}}}
    assert _warned(tmp_path, parameters, {"homes": [{"fax": "1"}]}, Home=home) == {
        "type": "parameter",
        "deprecated_item": "homes.fax",
        "replacement": "homes.phone",
    }
