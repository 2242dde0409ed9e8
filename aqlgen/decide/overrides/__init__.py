"""The user's decisions, read from `overrides.yaml`: strict, every finding with line and column, all at once.

POST /pets/{petId}/adopt:
  name: adopt_pet
  aliases: [take_pet]
  category: EXECUTE
  danger: destructive
  description: Gives the pet to its new owner.
"* /admin/**":
  danger: dangerous
tag:internal:
  hidden: true

What the file may hold is in one place, the JSON Schema `templates/project/schema/overrides.schema.json` (`grammar`);
`reading` builds an `Override` for each entry, `selectors` says which operations it is for, `model` combines the entries
of an operation, and `adapter` reads what holds for all.

Where an override is applied:

- `aqlgen.decide`: name, category, danger, description, confirmation, and whether the operation is hidden
- `aqlgen.decide.traits`: pagination, and the content type that other traits depend on
- `aqlgen.decide.owned`: security schemes, requirements and headers, put into the document that all stages read
- `aqlgen.table.overrides`: what needs the rows, which is parameters, the content type of the body, and examples
- `aqlgen.table`: the texts of a row, from summary and description, and its aliases
- `aqlgen.pipeline`: `field_case` and `hosts`, which are the adapter's, and the check of aliases against decided names
"""

from __future__ import annotations

from aqlgen.decide.decision import Override, ParameterOverride
from aqlgen.diagnostics.plain import nearest

from .grammar import field_cases
from .model import (
    UNMATCHED,
    AdapterOverride,
    HeaderOverride,
    Overrides,
    Report,
    check,
    check_aliases,
    check_asked,
    check_requirements,
    finding,
    name_collisions,
    unmatched,
)
from .reading import load, parse
from .selectors import AcceptEntry, is_broad

__all__ = [
    "UNMATCHED",
    "AcceptEntry",
    "AdapterOverride",
    "HeaderOverride",
    "Override",
    "Overrides",
    "ParameterOverride",
    "Report",
    "check",
    "check_aliases",
    "check_asked",
    "check_requirements",
    "field_cases",
    "finding",
    "is_broad",
    "load",
    "name_collisions",
    "nearest",
    "parse",
    "unmatched",
]
