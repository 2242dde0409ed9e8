"""From the roles of the parameters and the shape of the answer to a style of paging, with its confidence."""

from __future__ import annotations

from dataclasses import replace

from aqlgen.decide.decision import Evidence, Reason, Trait
from aqlgen.runtime.table import Pagination

from .envelope import Envelope
from .parameters import Roles


def decide(roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    """Choose the style, the surest first; None when nothing pages."""
    if answer.several:
        return None  # one page for all would show one list and pass over the others
    lists = answer.items is not None or not answer.known
    for rule in (_by_cursor, _by_page, _by_offset, _by_cursor_alone):
        trait = rule(roles, answer)
        if trait is not None:
            return trait if lists or trait.reason.confidence >= 0.9 else None
    return _by_answer(roles, answer) if lists and not roles.before and not answer.nested else None


def _by_cursor(roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    """Take the cursor, where the answer has the next one and it need not be switched on."""
    wire = roles.cursor or roles.token
    if wire is None or (roles.switched and (roles.page or roles.offset)):
        return None
    paging = _from_cursor(wire, roles)
    if answer.next_token is not None:
        return _trait(replace(paging, next=answer.next_token), roles, answer, 0.95)
    if answer.next_url is not None and not roles.offset:  # with a number of the page beside it, both are in the URL
        return _trait(replace(paging, style="next_url", next=answer.next_url), roles, answer, 0.9)
    if roles.page or roles.offset:
        return None
    if answer.header is not None:
        style = "link" if answer.header.lower() == "link" else paging.style
        return _trait(replace(paging, style=style, next=answer.header, next_in="header"), roles, answer, 0.9)
    return None


def _from_cursor(wire: str, roles: Roles) -> Pagination:
    return Pagination(style="cursor" if roles.cursor else "token", cursor_param=wire, before_param=roles.before or None)


def _by_page(roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    if roles.page is None:
        return None
    return _counted(Pagination(style="page", page_param=roles.page), roles, answer)


def _by_offset(roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    if roles.offset is None:
        return None
    return _counted(Pagination(style="offset", offset_param=roles.offset), roles, answer)


def _counted(paging: Pagination, roles: Roles, answer: Envelope) -> Trait[Pagination]:
    """Count pages or items; the answer may tell whether there is more."""
    pointer = answer.next_token or answer.next_url
    if pointer is not None:
        paging = replace(paging, next=pointer)
    elif answer.header is not None:
        paging = replace(paging, next=answer.header, next_in="header")
    ends = pointer or answer.header or answer.has_more or answer.total
    confidence = 0.95 if roles.size and ends else 0.9 if roles.size and answer.items is not None else 0.75
    return _trait(paging, roles, answer, confidence)


def _by_cursor_alone(roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    """Take a cursor that the answer does not name: the last item's identifier, or it is not declared."""
    wire = roles.cursor or roles.token
    if wire is None or (answer.known and roles.size is None and roles.cursor):
        return None
    paging = _from_cursor(wire, roles)
    if paging.style == "cursor" and answer.item_cursor is not None:
        confidence = 0.8 if roles.size and answer.item_cursor == "/id" else 0.65
        return _trait(replace(paging, item_cursor=answer.item_cursor), roles, answer, confidence)
    return _trait(paging, roles, answer, 0.5 if answer.known else 0.6)


def _by_answer(roles: Roles, answer: Envelope) -> Trait[Pagination] | None:
    """Follow what the answer says, where no parameter asks for the next page."""
    if answer.next_url is not None:
        return _trait(Pagination(style="next_url", next=answer.next_url), roles, answer, 0.85)
    if answer.header is None:
        return None
    if answer.header.lower() != "link":
        return _trait(Pagination(style="next_url", next=answer.header, next_in="header"), roles, answer, 0.8)
    if roles.size is not None:
        return _trait(Pagination(style="link", next=answer.header, next_in="header"), roles, answer, 0.8)
    return None


def _trait(paging: Pagination, roles: Roles, answer: Envelope, confidence: float) -> Trait[Pagination]:
    """Complete a pagination with what every style tells, and say how sure it is."""
    if not answer.known:
        confidence -= 0.15
    elif not answer.sure:
        confidence = min(confidence, 0.65)
    paging = replace(
        paging,
        location="body" if roles and roles.place == "body" else None,
        within=roles.within if roles else None,
        size_param=roles.size,
        size_max=roles.size_max,
        items=answer.items,
        has_more=answer.has_more,
        total=answer.total,
    )
    wires = [wire for role, wire in paging.roles if role != "before_param"]
    note = f"{roles.place} {', '.join(wires)}" if wires else "the answer"
    if paging.next is not None:
        note += f"; next by {'header' if paging.next_in else 'field'} {paging.next}"
    evidence = Evidence.RULE if confidence >= 0.85 else Evidence.HEURISTIC
    rule = f"paged-by-{paging.style.replace('_', '-')}"
    return Trait(paging, Reason(rule, evidence, round(confidence, 2), note))
