"""What the answer of a list is made of: the items, the way to the next page, whether there is more, how many in all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from aqlgen.document.positions import escape
from aqlgen.ir import Json
from aqlgen.words import plural, singular, split

from ..around import Around, Subject
from ..look import Schemas
from .parameters import joined

__all__ = ["Envelope", "envelope", "leads_on"]

LISTS: Final = frozenset(
    "data items results result value values entries records list elements objects content contents rows hits resources"
    " documents docs members edges nodes collection page".split()
)
ASIDE: Final = frozenset(
    "errors error warnings warning links link messages facets aggregations sort columns included meta filters scopes"
    " fields notices sorting headers schema tags".split()
)
"""Lists that stand beside what was asked for, unless they are called as the path says."""

WRAPPERS: Final = frozenset(
    "data result results response payload embedded body page list meta metadata pagination paging pageinfo links link"
    " responsemetadata cursors cursor next nextpage paginginfo listmetadata resultinfo pagemetadata paginationmetadata"
    " responsecontext pageable searchmetadata pagininginformation pages collection".split()
)
"""Objects worth looking into."""

NEXT_URL: Final = frozenset(
    "nextlink nexturl nexturi nextpageuri nextpageurl nextpagelink nexthref odatanextlink".split()
)
NEXT_TOKEN: Final = frozenset(
    "nextcursor nextpagetoken nexttoken nextpagecursor continuationtoken nextmarker nextpagekey nextbatch nextstartkey"
    " lastevaluatedkey endcursor scrollid cursornext nextpageid pagetoken nextid nextkey continue continuation"
    " aftercursor nextcontinuationtoken nextoffset nextpage lastid pagestate nextpagestate paginationtoken".split()
)
NEXT_PLAIN: Final = ("next", "after", "cursor", "marker", "offset")
"""What is the next cursor only where nothing says it better: within a wrapper, or `next` and `cursor` at the top."""

MORE: Final = frozenset(
    "hasmore hasnext hasnextpage more moreavailable hasmorepages hasmoreresults moreresults truncated istruncated"
    " morerecords hasmoreitems hasadditionalresults hasmoredata".split()
)
TOTAL: Final = (
    "total totalcount totalitems totalresults totalentries totalrecords totalrows totalelements totalhits totalsize"
    " totalobjects totalnumber itemstotal totalmatches numfound found recordstotal resultcount totalnumberofresults"
    " totalcountofrecords count".split()
)
BESIDE: Final = frozenset("limit offset next total totalcount nextcursor nextmarker pagesize perpage".split())
"""What stands beside the list in an object that is a page."""

TELLING: Final = ("id", "token", "uuid", "guid", "sid", "gid")
"""What the field of an item is called that tells it from the others."""

_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Envelope:
    """Pointers into the answer. `known` tells whether the document says what the answer is at all."""

    known: bool
    items: str | None = None
    sure: bool = True
    """Whether the list is plainly the one that was asked for."""
    nested: bool = False
    """Whether the list is a part of something else that was asked for."""
    next_url: str | None = None
    next_token: str | None = None
    has_more: str | None = None
    total: str | None = None
    link: str | None = None
    """The name of the Link header."""
    item_cursor: str | None = None
    after: Mapping[str, str] = field(default_factory=dict)
    """Pointers of the next ones that no usual name has, by what the name says beyond `next`."""
    within: Mapping[str, str] = field(default_factory=dict)
    """Pointers into an item of what may tell it from the others, by name."""


@dataclass(frozen=True, slots=True)
class _Field:
    pointer: str
    key: str
    wire: str
    schema: Json
    depth: int
    within: str


def envelope(subject: Subject, around: Around) -> Envelope:
    """Look at the answer."""
    schemas, answer = around.schemas, subject.answer
    headers = subject.success.headers if subject.success is not None else ()
    link = next((header for header in headers if header.lower() == "link"), None)
    kinds = schemas.kinds(answer)
    if "array" in kinds and not schemas.properties(answer):
        told = _telling(schemas, answer, subject.resource)
        return Envelope(known=True, items="", link=link, item_cursor=_item_cursor(told, subject.resource), within=told)
    fields = list(schemas.once("fields", answer, lambda: tuple(_fields(schemas, answer, "", "", 0))))
    if not fields:
        return Envelope(known=bool(kinds), link=link)
    items, sure = _items(subject, schemas, fields)
    told = _telling(schemas, items.schema, subject.resource) if items else {}
    if items is not None:  # what stands beside the list speaks of it before all else
        beside = items.pointer.rpartition("/")[0] + "/"
        fields.sort(key=lambda one: not one.pointer.startswith(beside))
    return Envelope(
        known=True,
        items=items.pointer if items else None,
        sure=sure,
        nested=items is not None and bool(items.within) and items.within not in WRAPPERS,
        next_url=_next_url(schemas, fields),
        next_token=_next_token(schemas, fields),
        has_more=_pointer(one for one in fields if one.key in MORE and schemas.kinds(one.schema) <= {"boolean"}),
        total=_total(schemas, fields),
        link=link,
        item_cursor=_item_cursor(told, subject.resource),
        after={
            one.key.removeprefix("next"): one.pointer
            for one in fields
            if one.key.startswith("next") and schemas.kinds(one.schema) <= {"string", "integer", "number"}
        },
        within=told,
    )


def leads_on(subject: Subject, around: Around) -> bool:
    """Whether a field of the answer may be the address of the next page."""
    schemas, answer = around.schemas, subject.answer
    fields = schemas.once("fields", answer, lambda: tuple(_fields(schemas, answer, "", "", 0)))
    return any(one.key in NEXT_URL or one.key in ("next", "nextpage") for one in fields)


def _fields(schemas: Schemas, schema: Json, pointer: str, within: str, depth: int) -> Iterator[_Field]:
    """Give the fields of an object, then those of the wrappers within it, level by level."""
    deeper: list[_Field] = []
    for wire, one in sorted(schemas.properties(schema).items()):  # whatever the order in which they stand
        found = _Field(f"{pointer}/{escape(wire)}", joined(wire), wire, one, depth, within)
        yield found
        if depth + 1 < _DEPTH and "array" not in schemas.kinds(one) and (found.key in WRAPPERS or _pages(schemas, one)):
            deeper.append(found)
    for outer in deeper:
        yield from _fields(schemas, outer.schema, outer.pointer, outer.key, depth + 1)


def _pages(schemas: Schemas, schema: Json) -> bool:
    """Whether an object is a page: a list with a count or a way on beside it."""
    keys = {joined(wire) for wire in schemas.properties(schema)}
    return bool(keys & LISTS) and bool(keys & BESIDE)


def _items(subject: Subject, schemas: Schemas, fields: list[_Field]) -> tuple[_Field | None, bool]:
    """Give the list that was asked for: the one called as the path's end, or as lists are called, or the only one."""
    fixed = [part for part in subject.operation.path.split("/") if part and "{" not in part]
    called = [_spellings(word.partition(".")[0]) for word in (*fixed[:-3:-1], subject.resource)]
    every = [one for one in fields if "array" in schemas.kinds(one.schema)]
    lists = [one for one in every if one.key not in ASIDE or (not one.within and one.key in called[0] | called[-1])]
    if not lists:
        return None, True
    ranked = (
        *([one for one in lists if one.key in words] for words in called),
        [one for one in lists if one.key in LISTS],
        [one for one in lists if schemas.kinds(schemas.items(one.schema)) & {"object"}],
        lists,
    )
    for rank, some in enumerate(ranked):
        if some:
            apart = {one.pointer.rpartition("/")[0] for one in some}  # several pages in one answer
            said = {singular(each) for part in (*fixed[:-3:-1], subject.resource) for each in split(part)}
            best = min(some, key=lambda one: _standing(schemas, one, said))
            return best, (rank < len(ranked) - 2 and len(apart) == 1) or len(lists) == 1
    return None, True


def _standing(schemas: Schemas, one: _Field, said: set[str]) -> tuple[int, int, bool, int, str]:
    """Rank lists: the outermost, called by the words of the path, of objects, whose items say most."""
    item = schemas.items(one.schema)
    alike = sum(singular(each) in said for each in split(one.wire))
    return one.depth, -alike, "object" not in schemas.kinds(item), -len(schemas.properties(item)), one.pointer


def _spellings(noun: str) -> set[str]:
    """Give a noun as the fields of answers are called: as it stands, and for many."""
    words = split(noun)
    return {"".join(words), "".join((*words[:-1], plural(words[-1])))} if words else set()


def _next_url(schemas: Schemas, fields: list[_Field]) -> str | None:
    for one in fields:
        kinds = schemas.kinds(one.schema)
        if one.key in NEXT_URL and kinds <= {"string"}:
            return one.pointer
        if one.key in ("next", "nextpage"):
            inner = schemas.properties(one.schema)
            reference = next((wire for wire in ("href", "url", "uri") if wire in inner), None)
            if reference is not None and one.key == "next":
                return f"{one.pointer}/{reference}"
            if kinds <= {"string"} and (one.within in ("links", "link") or _is_url(schemas, one.schema)):
                return one.pointer
    return None


def _next_token(schemas: Schemas, fields: list[_Field]) -> str | None:
    scalar = [one for one in fields if schemas.kinds(one.schema) <= {"string", "integer", "number"}]
    best = _pointer(one for one in scalar if _is_next(one.key) and not _is_url(schemas, one.schema))
    if best is not None:
        return best
    plain = [
        one
        for one in scalar
        if one.key in NEXT_PLAIN
        and (one.depth > 0 or one.key in ("next", "cursor"))
        and (one.key != "offset" or one.within in ("next", "nextpage"))
        and one.within not in ("links", "link")
        and not _is_url(schemas, one.schema)
    ]
    return _pointer(iter(sorted(plain, key=lambda one: (one.depth, NEXT_PLAIN.index(one.key)))))


def _is_next(key: str) -> bool:
    return key in NEXT_TOKEN or (
        key.startswith("next") and key.endswith(("id", "cursor", "pagetoken", "marker", "offset"))
    )


def _total(schemas: Schemas, fields: list[_Field]) -> str | None:
    numbers = [one for one in fields if schemas.kinds(one.schema) <= {"integer", "number"}]
    for key in TOTAL:
        if (found := _pointer(one for one in numbers if one.key == key)) is not None:
            return found
    return None


def _telling(schemas: Schemas, array: Json, resource: str) -> dict[str, str]:
    """Give the fields of an item that may tell it from the others, the surest first."""
    fields = schemas.properties(schemas.items(array))
    scalar = {
        joined(wire): f"/{escape(wire)}"
        for wire, one in fields.items()
        if schemas.kinds(one) and schemas.kinds(one) <= {"string", "integer", "number"}
    }
    return {key: scalar[key] for key in (*_telling_names(resource), *scalar) if key in scalar}


def _telling_names(resource: str) -> tuple[str, ...]:
    own = "".join(split(resource))
    return ("id", *(f"{own}{one}" for one in TELLING if own), *TELLING[1:])


def _item_cursor(told: Mapping[str, str], resource: str) -> str | None:
    """Give the field of an item that tells it from the others, where it is called as such fields are."""
    first = next(iter(told), "")
    return told[first] if first in _telling_names(resource) else None


def _is_url(schemas: Schemas, schema: Json) -> bool:
    if schemas.word(schema, "format") in ("uri", "url", "uri-reference"):
        return True
    shown = schemas.word(schema, "example")
    if isinstance(shown, str) and shown.startswith(("http://", "https://", "/")):
        return True
    said: Mapping[str, Json] = schemas.resolve(schema)
    return "url" in split(str(said.get("description", ""))[:120])


def _pointer(found: Iterator[_Field]) -> str | None:
    first = next(found, None)
    return first.pointer if first is not None else None
