"""How a list is paged through (R-SEL-3): by page, offset, cursor or token, by the Link header, or by the next URL.

The parameters are read by their names and the answer by its shape.
"""

from __future__ import annotations

from aqlgen.decide.decision import Category, Trait
from aqlgen.runtime.table import Pagination

from ..around import Around, Subject
from .envelope import envelope, leads_on
from .parameters import roles_of
from .styles import decide


def pagination(subject: Subject, around: Around) -> Trait[Pagination] | None:
    """Decide how the operation pages; None when it does not."""
    roles = roles_of(subject, around)
    if subject.category is not Category.READ or not (roles or leads_on(subject, around)):
        return None
    return decide(roles, envelope(subject, around))
