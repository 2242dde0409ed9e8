"""From what the parameters do and what the answer holds to a style of paging, with how sure that is."""

from __future__ import annotations

from typing import Final

from aqlgen.decide.decision import Evidence, Reason, Trait
from aqlgen.ir import Json

from .envelope import Envelope
from .parameters import Given

__all__ = ["decide", "shared"]


def decide(given: Given, answer: Envelope) -> Trait | None:
    """Choose the style, the surest first; None when nothing pages."""
    lists = answer.items is not None or not answer.known
    for rule in (_by_cursor, _by_page, _by_offset, _by_counterpart, _by_cursor_alone):
        found = rule(given, answer)
        if found is not None:
            return found if lists or found.reason.confidence >= 0.9 else None
    return _by_answer(given, answer) if lists and not given.before and not answer.nested else None


def shared(given: Given, answer: Envelope) -> dict[str, Json]:
    """Give what every style tells."""
    found = {
        "in": given.place if given.place != "query" and given else None,
        "within": given.within if given else None,
        "size_param": given.size,
        "size_max": given.size_max,
        "items": answer.items,
        "has_more": answer.has_more,
        "total": answer.total,
    }
    return {key: value for key, value in found.items() if value is not None}


def _by_cursor(given: Given, answer: Envelope) -> Trait | None:
    """Take the cursor, where the answer has the next one and it need not be switched on."""
    wire = given.cursor or given.token
    if wire is None or (given.switched and (given.page or given.offset)):
        return None
    style = "cursor" if given.cursor else "token"
    before = {"before_param": given.before} if given.before else {}
    if answer.next_token is not None:
        return _trait(style, given, answer, 0.95, {"cursor_param": wire, **before, "next": answer.next_token})
    if answer.next_url is not None and not given.offset:  # with a number of the page beside it, both are in the URL
        return _trait("next_url", given, answer, 0.9, {"cursor_param": wire, **before, "next": answer.next_url})
    if given.page or given.offset:
        return None
    if answer.link is not None:
        found = {"cursor_param": wire, **before, "next": answer.link, "next_in": "header"}
        return _trait("link", given, answer, 0.9, found)
    return None


def _by_page(given: Given, answer: Envelope) -> Trait | None:
    if given.page is None:
        return None
    return _counted("page", given.page, given, answer)


def _by_offset(given: Given, answer: Envelope) -> Trait | None:
    if given.offset is None:
        return None
    return _counted("offset", given.offset, given, answer)


def _counted(style: str, wire: str, given: Given, answer: Envelope) -> Trait:
    """Count pages or items; the answer may tell whether there is more."""
    found: dict[str, Json] = {f"{style}_param": wire}
    told = answer.next_token or answer.next_url
    if told is not None:
        found["next"] = told
    elif answer.link is not None:
        found |= {"next": answer.link, "next_in": "header"}
    ends = told or answer.link or answer.has_more or answer.total
    confidence = 0.95 if given.size and ends else 0.9 if given.size and answer.items is not None else 0.75
    return _trait(style, given, answer, confidence, found)


def _by_counterpart(given: Given, answer: Envelope) -> Trait | None:
    """Take a parameter of no usual name, whose next value the answer names after it: `last_doc` and `next_doc`.

    Or it is named after what tells an item from the others: `start_after_history_item_id`.
    """
    if given.pages or given.size is None:
        return None
    for key, wire in given.others:
        bare = next((key.removeprefix(one) for one in _LEADING if key.startswith(one) and key != one), key)
        found: dict[str, Json] = {"cursor_param": wire}
        if bare in answer.after:
            return _trait("cursor", given, answer, 0.85, {**found, "next": answer.after[bare]})
        if bare != key and bare in answer.within and answer.has_more is not None:
            return _trait("cursor", given, answer, 0.8, {**found, "item_cursor": answer.within[bare]})
    return None


_LEADING: Final = ("startingafter", "startafter", "exclusivestart", "after", "last", "start", "from", "previous")


def _by_cursor_alone(given: Given, answer: Envelope) -> Trait | None:
    """Take a cursor that the answer does not name: the last item's identifier, or it is not declared."""
    wire = given.cursor or given.token
    if wire is None or (answer.known and given.size is None and given.cursor):
        return None
    style = "cursor" if given.cursor else "token"
    found: dict[str, Json] = {"cursor_param": wire} | ({"before_param": given.before} if given.before else {})
    if style == "cursor" and answer.item_cursor is not None:
        confidence = 0.8 if given.size and answer.item_cursor == "/id" else 0.65
        return _trait(style, given, answer, confidence, {**found, "item_cursor": answer.item_cursor})
    return _trait(style, given, answer, 0.5 if answer.known else 0.6, found)


def _by_answer(given: Given, answer: Envelope) -> Trait | None:
    """Follow what the answer says, where no parameter asks for the next page."""
    if answer.next_url is not None:
        return _trait("next_url", given, answer, 0.85, {"next": answer.next_url})
    if answer.link is not None and given.size is not None:
        return _trait("link", given, answer, 0.8, {"next": answer.link, "next_in": "header"})
    return None


def _trait(style: str, given: Given, answer: Envelope, confidence: float, found: dict[str, Json]) -> Trait:
    if not answer.known:
        confidence -= 0.15
    elif not answer.sure:
        confidence = min(confidence, 0.65)
    value = {"style": style, **found, **shared(given, answer)}
    told = [str(value[key]) for key in ("page_param", "offset_param", "cursor_param", "size_param") if key in value]
    note = f"{given.place} {', '.join(told)}" if told else "the answer"
    if "next" in value:
        note += f"; next by {'header' if value.get('next_in') else 'field'} {value['next']}"
    evidence = Evidence.RULE if confidence >= 0.85 else Evidence.HEURISTIC
    return Trait(
        "pagination", value, Reason(f"paged-by-{style.replace('_', '-')}", evidence, round(confidence, 2), note)
    )
