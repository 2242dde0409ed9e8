"""The envelope of a list: pointers to the items, the next page, the has-more flag and the total in an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from aqlgen.decide.schemas import Schemas
from aqlgen.document.positions import escape
from aqlgen.ir import Json
from aqlgen.runtime.calls.selection import names_page
from aqlgen.words import plural, singular, split

from ..around import Around, Subject
from .parameters import CURSOR, TOKEN, joined

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
"""Weak names of the next cursor: they count within a wrapper, `next` and `cursor` also at the top."""

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
"""Keys that stand beside the list in an object that is a page."""

TELLING: Final = ("id", "token", "uuid", "guid", "sid", "gid")
"""Names of the field that identifies an item."""

_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Envelope:
    """Pointers into the answer. `known` tells whether the document says what the answer is at all."""

    known: bool
    items: str | None = None
    sure: bool = True
    """Whether the list is plainly the one that was asked for."""
    several: bool = False
    """Whether several objects of the answer are each a page of a list, so that none is the page of the answer."""
    nested: bool = False
    """Whether the list is a part of something else that was asked for."""
    next_url: str | None = None
    next_token: str | None = None
    has_more: str | None = None
    total: str | None = None
    header: str | None = None
    """The name of the header with the next one: Link, or one that is called so, as `X-Next-Page`."""
    item_cursor: str | None = None


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
    header = _next_header(subject)
    kinds = schemas.kinds(answer)
    if "array" in kinds and not schemas.properties(answer):
        item_cursor = _item_cursor(schemas, answer, subject.resource)
        return Envelope(known=True, items="", header=header, item_cursor=item_cursor)
    fields = list(schemas.once("fields", answer, lambda: tuple(_fields(schemas, answer, "", "", 0))))
    if not fields:
        return Envelope(known=bool(kinds), header=header)
    items, sure = _items(subject, schemas, fields)
    if items is not None:
        # what stands beside the list speaks of it before all else
        beside = f"{_parent(items)}/"
        fields.sort(key=lambda entry: not entry.pointer.startswith(beside))
    return Envelope(
        known=True,
        items=items.pointer if items else None,
        sure=sure,
        several=items is not None and _is_among_pages(schemas, fields, items),
        nested=items is not None and items.within not in {"", *WRAPPERS} and not names_page(items.within, items.key),
        next_url=_next_url(schemas, fields),
        next_token=_next_token(schemas, fields),
        has_more=_pointer(
            entry for entry in fields if entry.key in MORE and schemas.kinds(entry.schema) <= {"boolean"}
        ),
        total=_total(schemas, fields),
        header=header,
        item_cursor=_item_cursor(schemas, items.schema, subject.resource) if items else None,
    )


def leads_on(subject: Subject, around: Around) -> bool:
    """Return True if a field or a header of the answer may be the address of the next page."""
    if (_next_header(subject) or "link").lower() != "link":
        return True
    schemas, answer = around.schemas, subject.answer
    fields = schemas.once("fields", answer, lambda: tuple(_fields(schemas, answer, "", "", 0)))
    return any(entry.key in NEXT_URL or entry.key in ("next", "nextpage") for entry in fields)


def _fields(schemas: Schemas, schema: Json, pointer: str, within: str, depth: int) -> Iterator[_Field]:
    """Yield the fields of an object, then those of the wrappers within it, level by level."""
    deeper: list[_Field] = []
    for wire, inner in sorted(schemas.properties(schema).items()):  # whatever the order in which they stand
        entry = _Field(f"{pointer}/{escape(wire)}", joined(wire), wire, inner, depth, within)
        yield entry
        if (
            depth + 1 < _DEPTH
            and "array" not in schemas.kinds(inner)
            and (entry.key in WRAPPERS or _pages(schemas, entry))
        ):
            deeper.append(entry)
    for outer in deeper:
        yield from _fields(schemas, outer.schema, outer.pointer, outer.key, depth + 1)


def _pages(schemas: Schemas, entry: _Field) -> bool:
    """Return True if an object is a page: named after the list in it, or with a count or a way on beside a list."""
    keys = {joined(wire) for wire in schemas.properties(entry.schema)}
    return (bool(keys & LISTS) and bool(keys & BESIDE)) or any(names_page(entry.key, key) for key in keys)


def _is_among_pages(schemas: Schemas, fields: list[_Field], items: _Field) -> bool:
    """Return True if a list stands in one of several objects that are pages: artists beside albums, each with a total.

    A page that wraps all else (`data`, `result`) is the answer's own.
    """
    if not items.within or items.within in WRAPPERS:
        return False
    pages = [entry for entry in fields if "array" not in schemas.kinds(entry.schema) and _pages(schemas, entry)]
    return sum(entry.depth == items.depth - 1 and entry.key not in WRAPPERS for entry in pages) > 1


def _items(subject: Subject, schemas: Schemas, fields: list[_Field]) -> tuple[_Field | None, bool]:
    """Return the list that was asked for: the one called as the path's end, or as lists are called, or the only one."""
    fixed = [part for part in subject.operation.path.split("/") if part and "{" not in part]
    nouns = (*fixed[:-3:-1], subject.resource)
    called = [_spellings(noun.partition(".")[0]) for noun in nouns]
    lists = _lists(schemas, fields, called)
    if not lists:
        return None, True
    ranked = _ranked(schemas, lists, called)
    rank = list(map(bool, ranked)).index(True)
    candidates = ranked[rank]
    path_words = set(map(singular, chain.from_iterable(map(split, nouns))))
    best = min(candidates, key=lambda entry: _standing(schemas, entry, path_words))
    if rank >= len(called) and _is_column(schemas, best, lists, fields, path_words):
        return None, True
    # several parents are several pages in one answer
    is_one = len({_parent(entry) for entry in candidates}) == 1
    return best, (rank < len(ranked) - 2 and is_one) or len(lists) == 1


def _lists(schemas: Schemas, fields: list[_Field], called: Sequence[set[str]]) -> list[_Field]:
    """Return the lists without those that stand beside another, such as the one that a page is named after."""
    lists = [entry for entry in fields if "array" in schemas.kinds(entry.schema)]
    aside = ASIDE - called[0] - called[-1]
    lists = [entry for entry in lists if entry.key not in (ASIDE if entry.within else aside)]
    paged = {_parent(entry): entry for entry in lists if names_page(entry.within, entry.key)}
    return [entry for entry in lists if paged.get(_parent(entry), entry) is entry]


def _parent(entry: _Field) -> str:
    return entry.pointer.rpartition("/")[0]


def _ranked(schemas: Schemas, lists: list[_Field], called: Sequence[set[str]]) -> list[list[_Field]]:
    """Return the lists by how surely they are the one that was asked for: by name, by their items, all."""
    return [
        *([entry for entry in lists if entry.key in words] for words in called),
        [entry for entry in lists if names_page(entry.within, entry.key)],
        [entry for entry in lists if entry.key in LISTS],
        [entry for entry in lists if schemas.kinds(schemas.items(entry.schema)) & {"object"}],
        lists,
    ]


def _is_column(schemas: Schemas, best: _Field, lists: list[_Field], fields: list[_Field], path_words: set[str]) -> bool:
    """Return True if a list is one of several, and nothing tells that it is the one that was asked for.

    Such an object is a table in columns (`ids`, `documents`), or a result of several parts (`added`, `modified`). What
    tells is a word of the path, or the items: objects of declared fields, and of more than those of the other lists,
    which may stand in an object beside it: their items may refer to those of the list (`users`). Of many lists of such
    objects (`removed_posts`, `locked_posts`, `bans`) the items tell nothing.
    """
    if any(singular(each) in path_words for each in split(best.wire)):
        return False
    columns, within = _sizes_beside(schemas, best, lists, fields)
    most, size = max([*within, *(1 + size for size in columns), 0]), _size(schemas, best.schema)
    is_plain = size >= most and sum(count > 1 for count in (size, *columns)) < 4
    return not is_plain and (best.key not in LISTS or (bool(columns) and not size))


def _sizes_beside(
    schemas: Schemas, best: _Field, lists: list[_Field], fields: list[_Field]
) -> tuple[list[int], list[int]]:
    """Return how many fields the items of the lists beside a list have, and those of lists in objects beside it."""
    others = [each for each in fields if each is not best and each.key not in WRAPPERS]
    beside = [each for each in others if _parent(each) == _parent(best)]
    columns = [_size(schemas, each.schema) for each in beside if each in lists]
    return columns, [_size(schemas, inner) for each in beside for inner in schemas.properties(each.schema).values()]


def _size(schemas: Schemas, array: Json) -> int:
    return len(schemas.properties(schemas.items(array)))


def _standing(schemas: Schemas, entry: _Field, path_words: set[str]) -> tuple[int, int, bool, int, str]:
    """Rank lists: the outermost, called by the words of the path, of objects, whose items say most."""
    item = schemas.items(entry.schema)
    alike = sum(singular(each) in path_words for each in split(entry.wire))
    return entry.depth, -alike, "object" not in schemas.kinds(item), -_size(schemas, entry.schema), entry.pointer


def _spellings(noun: str) -> set[str]:
    """Return the spellings of a noun as a field's name: as it stands, and in the plural."""
    words = split(noun)
    return {"".join(words), "".join((*words[:-1], plural(words[-1])))} if words else set()


def _next_header(subject: Subject) -> str | None:
    """Return the header that leads on: Link, else one whose last words name the next page."""
    headers = subject.success.headers if subject.success is not None else ()
    link = next((header for header in headers if header.lower() == "link"), None)
    return link or next((header for header in headers if _names_next(split(header))), None)


def _names_next(words: Sequence[str]) -> bool:
    """Return True if the last words of a header's name, one or more of them, name the next page."""
    return any("".join(words[index:]) in NEXT_TOKEN | NEXT_URL | {"next"} for index in range(len(words)))


def _next_url(schemas: Schemas, fields: list[_Field]) -> str | None:
    for entry in fields:
        kinds = schemas.kinds(entry.schema)
        if entry.key in NEXT_URL and kinds <= {"string"}:
            return entry.pointer
        if entry.key in ("next", "nextpage"):
            inner = schemas.properties(entry.schema)
            reference = next((wire for wire in ("href", "url", "uri") if wire in inner), None)
            if reference is not None and entry.key == "next":
                return f"{entry.pointer}/{reference}"
            if kinds <= {"string"} and (entry.within in ("links", "link") or _is_url(schemas, entry.schema)):
                return entry.pointer
    return None


def _next_token(schemas: Schemas, fields: list[_Field]) -> str | None:
    scalar = [entry for entry in fields if schemas.kinds(entry.schema) <= {"string", "integer", "number"}]
    best = _pointer(entry for entry in scalar if _is_next(entry) and not _is_url(schemas, entry.schema))
    if best is not None:
        return best
    plain = [
        entry
        for entry in scalar
        if entry.key in NEXT_PLAIN
        and (entry.depth > 0 or entry.key in ("next", "cursor"))
        and (entry.key != "offset" or entry.within in ("next", "nextpage"))
        and entry.within not in ("links", "link")
        and not _is_url(schemas, entry.schema)
    ]
    return _pointer(iter(sorted(plain, key=lambda entry: (entry.depth, NEXT_PLAIN.index(entry.key)))))


def _is_next(entry: _Field) -> bool:
    """Return True for what names the next page, or the place behind this one in what does: `next.starting_after`."""
    is_named = entry.key.startswith("next") and entry.key.endswith(("id", "cursor", "pagetoken", "marker", "offset"))
    return entry.key in NEXT_TOKEN or is_named or (entry.within in ("next", "nextpage") and entry.key in CURSOR | TOKEN)


def _total(schemas: Schemas, fields: list[_Field]) -> str | None:
    numbers = [entry for entry in fields if schemas.kinds(entry.schema) <= {"integer", "number"}]
    return _pointer(entry for key in TOTAL for entry in numbers if entry.key == key)


def _item_cursor(schemas: Schemas, array: Json, resource: str) -> str | None:
    """Return the field that identifies an item, if it has the name of one, the surest first."""
    fields = schemas.properties(schemas.items(array))
    scalar = {
        joined(wire): f"/{escape(wire)}"
        for wire, schema in fields.items()
        if schemas.kinds(schema) and schemas.kinds(schema) <= {"string", "integer", "number"}
    }
    noun = "".join(split(resource))
    names = ("id", *(f"{noun}{suffix}" for suffix in TELLING if noun), *TELLING[1:])
    return next((scalar[name] for name in names if name in scalar), None)


def _is_url(schemas: Schemas, schema: Json) -> bool:
    if schemas.word(schema, "format") in ("uri", "url", "uri-reference"):
        return True
    shown = schemas.word(schema, "example")
    if isinstance(shown, str) and shown.startswith(("http://", "https://", "/")):
        return True
    resolved: Mapping[str, Json] = schemas.resolve(schema)
    return "url" in split(str(resolved.get("description", ""))[:120])


def _pointer(fields: Iterator[_Field]) -> str | None:
    return next((entry.pointer for entry in fields), None)
