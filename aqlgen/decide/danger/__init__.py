"""The danger of an operation (R-SAFE-1): named rules over its method, name, shape and text; the highest level wins."""

from __future__ import annotations

from aqlgen.decide.danger.change import Change
from aqlgen.decide.danger.money import moves_money
from aqlgen.decide.danger.rules import RULES, Rule, danger, with_loss

__all__ = ["RULES", "Change", "Rule", "danger", "moves_money", "with_loss"]
