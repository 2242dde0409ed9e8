"""The effects of each write, and what follows from them: danger, and when a person is asked (R-EFF-1, R-EFF-2).

- `reading`: one operation as the rules read it, with its acts, fields and answer
- `reversal`: the structure that proves that a write can be taken back
- `rules`: the rules, each of which finds an effect with its evidence
- `stage`: effects, evidence and danger of an operation
"""

from __future__ import annotations

from aqlgen.decide.effects.reading import Reading
from aqlgen.decide.effects.reversal import Reversal
from aqlgen.decide.effects.rules import RULES, Rule
from aqlgen.decide.effects.stage import Effects, effects_of, with_loss

__all__ = ["RULES", "Effects", "Reading", "Reversal", "Rule", "effects_of", "with_loss"]
