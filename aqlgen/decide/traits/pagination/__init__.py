"""How a list is paged through (R-SEL-3): by page, offset, cursor or token, by the Link header, or by the next URL.

What the document declares for generators of client libraries comes first; else the parameters are read by their names
and the answer by its shape.
"""

from __future__ import annotations

from aqlgen.decide.decision import Category, Trait
from aqlgen.runtime.table import Pagination

from ..around import Around, Subject
from .envelope import envelope, leads_on
from .metadata import declared, may_be_declared
from .parameters import roles_of
from .styles import decide

__all__ = ["pagination"]


def pagination(subject: Subject, around: Around) -> Trait[Pagination] | None:
    """Decide how the operation pages; None when it does not."""
    roles = roles_of(subject, around)
    if not roles and subject.category is not Category.READ:
        return None
    if not roles and not leads_on(subject, around) and not may_be_declared(subject):
        return None
    answer = envelope(subject, around)
    declared_trait = declared(subject, roles, answer)
    if declared_trait is not None:
        return declared_trait
    if subject.category is not Category.READ:
        return None
    return decide(roles, answer)
