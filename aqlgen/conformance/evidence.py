"""The evidence bundle, in the shape of the protocol's own examples, every field of it from a live call (R-CONF-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aqlgen.conformance.results import Report

__all__ = ["EMPTY", "bundle", "missing_parts"]

_PARAMETER_TESTS = ("missing_required", "unknown_parameter", "optional_defaults")
_LISTS = ("error_tests", "round_trip_tests", "update_preservation_tests", "constraint_tests")
_MODES = {"semantic": "crude"}
EMPTY = (*_PARAMETER_TESTS[:2], "error_tests", "round_trip_tests", "operation_details", "endpoint_modes")
"""The parts that an adapter of any API has; without one of them a bundle is no evidence."""


def bundle(report: Report, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bundle of what tests have kept."""
    listed = (kept.get("operations_list") or {}).get("data") or {}
    capabilities = (listed.get("_protocol") or {}).get("capabilities") or {}
    details = [item for item in kept.get("operation_details", ()) if item]
    accepted = {item["name"]: [entry["name"] for entry in item.get("parameters", ())] for item in details}
    return {
        "implementation": report.adapter,
        "version": report.version,
        "spec_version": report.spec_version,
        "expected_level": report.level,
        "expected_exit_code": 0 if report.level else 1,
        "endpoint_modes": _modes(report),
        "capabilities": {
            "field_selection": capabilities.get("field_selection"),
            "batch_operations": capabilities.get("batch"),
        },
        "introspection": {
            "operations_list": kept.get("operations_list"),
            "types_list": kept.get("types_list"),
            "operation_details": details,
        },
        "accepted_parameters": accepted,
        "parameter_tests": {name: kept.get(name, []) for name in _PARAMETER_TESTS},
        **{name: kept.get(name, []) for name in _LISTS},
        "batch_example": kept.get("batch_example"),
        "semantic_tests": [],
    }


def _modes(report: Report) -> list[str]:
    """Return the modes of tools in which the adapter was connected to and listed them, by the protocol's names."""
    settings = [result.setting.split(", ") for result in report.results if result.setting and result.cases]
    modes = {_MODES.get(setting[1], setting[1]) for setting in settings if len(setting) > 1}
    return sorted(modes)


def missing_parts(evidence: Mapping[str, Any]) -> list[str]:
    """Return the parts that hold nothing though every adapter has them."""
    parts = {**evidence, **evidence["parameter_tests"], **evidence["introspection"]}
    return [name for name in EMPTY if not parts.get(name)]
