"""The user's decisions, read from `overrides.yaml`: strict, every finding with line and column, all at once.

POST /pets/{petId}/adopt:
  name: adopt_pet
  aliases: [take_pet]
  category: EXECUTE
  danger: destructive
  description: Gives the pet to its new owner.
tag:internal:
  hidden: true
"""

from __future__ import annotations

from aqlgen.decisions import Override, ParameterOverride

from .aliases import EXPIRED, check_aliases
from .file import load, parse
from .findings import UNMATCHED, Report, finding, nearest, unmatched
from .model import Overrides, check

__all__ = [
    "EXPIRED",
    "UNMATCHED",
    "Override",
    "Overrides",
    "ParameterOverride",
    "Report",
    "check",
    "check_aliases",
    "finding",
    "load",
    "nearest",
    "parse",
    "unmatched",
]
