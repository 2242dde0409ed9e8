"""The category of an operation (R-NAME-1): named rules in order of trust, and the evidence for them."""

from __future__ import annotations

from aqlgen.decide.category.evidence import Siblings
from aqlgen.decide.category.rules import RULES, Rule, by_effect, classify

__all__ = ["RULES", "Rule", "Siblings", "by_effect", "classify"]
