"""The tests, all of which are in the list once this is imported."""

from aqlgen.check.checks import (
    connections,
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
)
from aqlgen.check.run import TESTS

__all__ = [
    "TESTS", "connections", "errors", "introspection", "level2", "live", "pages", "parameters",
    "round_trip", "running", "safety", "supervision", "transport",
]  # fmt: skip
