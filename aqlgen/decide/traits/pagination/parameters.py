"""The roles of parameters in paging, by their names and kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from aqlgen.document.positions import escape
from aqlgen.ir import Json, Location
from aqlgen.words import split

from ..around import Around, Subject

SIZE: Final = frozenset(
    "perpage pagesize pagelimit limit maxresults maxitems itemsperpage resultsperpage recordsperpage entriesperpage top"
    " size count numresults numberofresults first take rows rpp max maxkeys listsize maxrecords batchsize numitems"
    " maxcount pagecount resultsize fetchsize numrows hitsperpage results maxpagesize resultlimit amount length".split()
)
PAGE: Final = frozenset("page pagenumber pageno pagenum pageindex currentpage pageidx pagenr".split())
OFFSET: Final = frozenset(
    "offset skip startindex startat firstresult pageoffset startrow startingindex startitem startoffset startposition"
    " resultoffset firstitem startrecord".split()
)
RANGE_START: Final = frozenset({"start", "from"})
"""An offset only where nothing says to what end."""

RANGE_END: Final = frozenset({"end", "to", "until", "stop", "endtime", "enddate"})
CURSOR: Final = frozenset(
    "cursor after startingafter nextcursor pagecursor afterid startcursor maxid startafter pageafter marker bookmark"
    " next lastid startingid startkey exclusivestartkey lastevaluatedkey startid aftercursor nextid nextmarker"
    " searchafter pageid nextkey lastkey lastitem".split()
)
TOKEN: Final = frozenset(
    "pagetoken nexttoken continuationtoken nextpagetoken continue continuation startingtoken paginationtoken scrollid"
    " skiptoken resumetoken paginationkey pagekey pagingtoken nextpage nextpagecursor pagestate".split()
)
BEFORE: Final = frozenset("before endingbefore beforeid pagebefore beforecursor previouscursor prevcursor".split())
_NAMES: Final = SIZE | PAGE | OFFSET | RANGE_START | CURSOR | TOKEN | BEFORE
NESTS: Final = frozenset("options pagination paging page search query paginationoptions pageinfo listoptions".split())
"""Objects of a body that hold what pages."""

PREFIXES: Final = ("pagination", "paging", "page", "odata", "query", "list", "filter")

_CALENDAR: Final = frozenset({"date", "date-time", "time", "unix-time", "timestamp"})
_TIME: Final = re.compile(r"\b(timestamp|iso.?8601|rfc.?3339|unix|epoch|datetime|date)\b", re.IGNORECASE)
_PAGING: Final = re.compile(r"\b(cursor|pag(e|es|ing|inat\w+)|next set|opaque|token)\b", re.IGNORECASE)
_OFFSET: Final = re.compile(r"\boffset\b", re.IGNORECASE)
_MOST: Final = (
    re.compile(r"\bmax(?:imum)?\b[^.\d\n]{0,40}?(\d{1,6})\b", re.IGNORECASE),
    re.compile(r"\b(?:up to|at most|no more than|cannot exceed|not exceed)\s+(\d{1,6})\b", re.IGNORECASE),
    re.compile(r"\b(?:between|from|range)\s+\d+\s*(?:and|to|-)\s*(\d{1,6})\b", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class Roles:
    """The parameter of each role by its wire name; `size_max` is the most that the document allows."""

    place: str = "query"
    within: str | None = None
    """JSON pointer of the object in the body that holds them."""
    page: str | None = None
    offset: str | None = None
    cursor: str | None = None
    token: str | None = None
    before: str | None = None
    size: str | None = None
    size_max: int | None = None
    switched: bool = False
    """Whether the cursor has to be asked for by a flag."""

    def __bool__(self) -> bool:
        return bool(self.pages or self.before or self.size)

    @property
    def pages(self) -> bool:
        """Return True if one of them leads to the next page."""
        return bool(self.page or self.offset or self.cursor or self.token)


@dataclass(frozen=True, slots=True)
class _Candidate:
    wire: str
    key: str
    kinds: frozenset[str]
    schema: Mapping[str, Json]
    description: str

    @property
    def number(self) -> bool:
        return not self.kinds or bool(self.kinds & {"integer", "number"})

    @property
    def text(self) -> bool:
        return not self.kinds or "string" in self.kinds

    @property
    def calendar(self) -> bool:
        """Return True if it is a point in time, which filters and does not page."""
        if "cursor" in self.key:
            return False
        if str(self.schema.get("format")) in _CALENDAR:
            return True
        return bool(_TIME.search(self.description)) and not _PAGING.search(self.description)


@lru_cache(maxsize=16384)
def joined(wire: str) -> str:
    """Return a name as one run of letters, whatever its spelling: `page[size]` is pagesize."""
    return "".join(split(wire))


def roles_of(subject: Subject, around: Around) -> Roles:
    """Return the parameters that page: those of the query, else those of the body or of an object in it."""
    found_roles = _roles(list(_plain(subject, around)), "query")
    if found_roles or subject.body is None:
        return found_roles
    fields = around.schemas.properties(subject.body)
    if not any(_pages(joined(wire)) or joined(wire) in NESTS for wire in fields):
        return found_roles
    found_roles = _roles(list(_fields(fields, around)), "body")
    if found_roles.pages:
        return found_roles
    for wire, schema in fields.items():
        if joined(wire) in NESTS:
            nested = _roles(list(_fields(around.schemas.properties(schema), around)), "body")
            if nested.pages:
                return replace(nested, within=f"/{escape(wire)}")
    return found_roles


def bounds(parameters: Iterable[tuple[str, Mapping[str, Json], str]]) -> tuple[str, ...]:
    """Return the parameters by which an API gives a part of a list: the size of a page, else what leads to one.

    Each parameter has its wire name, its schema and its description.
    """
    roles = _roles([_candidate(*parameter) for parameter in parameters], "query")
    leads = (roles.page, roles.offset, roles.cursor, roles.token)
    return (roles.size,) if roles.size else tuple(wire for wire in leads if wire)


def _candidate(wire: str, schema: Mapping[str, Json], description: str) -> _Candidate:
    kind = schema.get("type")
    kinds = frozenset(map(str, kind if isinstance(kind, list) else [kind] if kind else []))
    return _Candidate(wire, joined(wire), kinds - {"null"}, schema, description)


def _plain(subject: Subject, around: Around) -> Iterator[_Candidate]:
    for parameter in subject.operation.parameters:
        if parameter.location is Location.QUERY:
            schema = around.schemas.resolve(parameter.schema)
            yield _Candidate(
                parameter.name,
                joined(parameter.name),
                around.schemas.kinds(parameter.schema),
                schema,
                parameter.description,
            )


def _fields(fields: Mapping[str, Json], around: Around) -> Iterator[_Candidate]:
    for wire, schema in fields.items():
        resolved = around.schemas.resolve(schema)
        described = resolved.get("description")
        kinds = around.schemas.kinds(schema)
        yield _Candidate(wire, joined(wire), kinds, resolved, described if isinstance(described, str) else "")


@lru_cache(maxsize=16384)
def _pages(key: str) -> bool:
    """Return True if a name pages, with a prefix of paging or without."""
    return key in _NAMES or (
        key.startswith(PREFIXES)
        and any(key.startswith(prefix) and key.removeprefix(prefix) in _NAMES for prefix in PREFIXES)
    )


def _roles(candidates: list[_Candidate], place: str) -> Roles:
    keys = {candidate.key for candidate in candidates}
    if not any(map(_pages, keys)):
        return Roles(place)
    size = _first(candidates, SIZE, _counts)
    offset = _first(candidates, OFFSET, _counts)
    if offset is None and size is not None and not keys & RANGE_END:
        offset = _first(candidates, RANGE_START, _is_start)
    offset = offset or _first(
        candidates, CURSOR, lambda it: it.kinds == {"integer"} and _OFFSET.search(it.description) is not None
    )
    cursor = _first([candidate for candidate in candidates if candidate is not offset], CURSOR, _is_cursor)
    token = next(filter(None, (_first(candidates, names, test) for names, test in _TOKENS)), None)
    paged = cursor or token
    return Roles(
        place=place,
        page=_wire(_first(candidates, PAGE, _counts)),
        offset=_wire(offset),
        cursor=_wire(cursor),
        token=_wire(token),
        before=_wire(_first(candidates, BEFORE, _is_cursor)),
        size=_wire(size),
        size_max=_most(size) if size else None,
        switched=paged is not None and any(_switches(candidate, paged) for candidate in candidates),
    )


def _wire(candidate: _Candidate | None) -> str | None:
    return candidate.wire if candidate is not None else None


def _first(
    candidates: list[_Candidate], names: frozenset[str], test: Callable[[_Candidate], bool]
) -> _Candidate | None:
    """Return the first parameter of such a name, with a prefix of paging or without."""
    for candidate in candidates:
        if candidate.key in names and test(candidate):
            return candidate
    for candidate in candidates:
        if not candidate.key.startswith(PREFIXES):
            continue
        bare = next(candidate.key.removeprefix(prefix) for prefix in PREFIXES if candidate.key.startswith(prefix))
        if bare in names and test(candidate):
            return candidate
    return None


def _digits(candidate: _Candidate) -> bool:
    """Return True if a text is a number after all, by its pattern, format, default or example."""
    if "string" not in candidate.kinds:
        return False
    values = (candidate.schema.get("default"), candidate.schema.get("example"))
    shaped = str(candidate.schema.get("pattern", "")).replace("[0-9]", r"\d")
    return (
        candidate.schema.get("format") in ("int32", "int64")
        or re.fullmatch(r"\^?\(?(?:\[1-9\])?\\d[*+]\)?\$?", shaped) is not None
        or any(isinstance(value, str) and value.isdigit() for value in values)
    )


def _counts(candidate: _Candidate) -> bool:
    return candidate.number or _digits(candidate)


def _is_start(candidate: _Candidate) -> bool:
    return not candidate.calendar and not candidate.kinds.isdisjoint({"integer", "number"})


def _is_cursor(candidate: _Candidate) -> bool:
    return not candidate.calendar and "boolean" not in candidate.kinds


def _switches(candidate: _Candidate, paged: _Candidate) -> bool:
    is_flag = candidate.kinds == {"boolean"} and candidate.key not in (paged.key, "cursor")
    return is_flag and candidate.key.endswith((paged.key, "cursor"))


_TOKENS: Final[tuple[tuple[frozenset[str], Callable[[_Candidate], bool]], ...]] = (
    (TOKEN, lambda candidate: not candidate.calendar and candidate.text),
    (PAGE | OFFSET, lambda candidate: candidate.text and not (candidate.calendar or _counts(candidate))),
    (OFFSET, lambda candidate: "string" in candidate.kinds and candidate.number),
)
"""What is a token: a page or an offset that is a text, whatever its name, and an offset that may be one."""


def _most(candidate: _Candidate) -> int | None:
    """Return the most items of a page, from the schema or from the description."""
    most = candidate.schema.get("maximum")
    if isinstance(most, int) and not isinstance(most, bool) and most > 0:
        return most
    usual = candidate.schema.get("default")
    for pattern in _MOST:
        match = pattern.search(candidate.description)
        if match and int(match[1]) >= max(1, usual if isinstance(usual, int) else 1):
            return int(match[1])
    return None
