"""The tests, each in the list of `run.TESTS` once its module is imported."""

from aqlgen.conformance.checks import (
    connections,
    constraints,
    errors,
    introspection,
    level2,
    live,
    pages,
    parameters,
    round_trip,
    running,
    safety,
    supervision,
    transport,
    warnings,
)

__all__ = [
    "connections", "constraints", "errors", "introspection", "level2", "live", "pages", "parameters", "round_trip",
    "running", "safety", "supervision", "transport", "warnings",
]  # fmt: skip
