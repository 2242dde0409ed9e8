"""The tests, all of which are in the list once this is imported."""

from aqlgen.check.checks import answers, errors, introspection, lists, parameters, probe, programs, safety, updates
from aqlgen.check.run import TESTS

__all__ = ["TESTS", "answers", "errors", "introspection", "lists", "parameters", "probe", "programs", "safety",
           "updates"]  # fmt: skip
