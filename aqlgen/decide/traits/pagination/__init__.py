"""How a list is paged through (R-SEL-3): by page, offset, cursor or token, by the Link header, or by the next URL.

What the document declares for generators of client libraries comes first; else the parameters are read by their names
and the answer by its shape. The value of the trait:

    style         page, offset, cursor, token, link or next_url
    page_param, offset_param, cursor_param, before_param, size_param
                  wire names; with `in: body` fields of the body, `within` the object in it that this points to
    size_max      the most items of a page, where the document says it
    items         JSON pointer of the list in the answer, "" for the answer itself
    next          JSON pointer of the next cursor, URL or page in the answer; the header's name with `next_in: header`
    item_cursor   JSON pointer of the cursor within the last item, where the answer has none
    has_more, total   JSON pointers of a flag and of a count
"""

from __future__ import annotations

from aqlgen.decide.decision import Category, Trait

from ..around import Around, Subject
from .envelope import envelope, leads_on
from .metadata import declared, may_be_declared
from .parameters import roles
from .styles import decide

__all__ = ["pagination"]


def pagination(subject: Subject, around: Around) -> Trait | None:
    """Decide how the operation pages; None when it does not."""
    given = roles(subject, around)
    if not given and subject.category is not Category.READ:
        return None
    if not given and not leads_on(subject, around) and not may_be_declared(subject, around):
        return None
    answer = envelope(subject, around)
    stated = declared(subject, around, given, answer)
    if stated is not None:
        return stated
    if subject.category is not Category.READ:
        return None
    return decide(given, answer)
