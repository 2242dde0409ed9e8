# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a row tells of how its operation behaves: paging, updating, keys of repeated calls, long work, deprecation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .codec import column
from .parameters import Parameter

__all__ = ["Deprecation", "Idempotency", "LongRunning", "Pagination", "PagingStyle", "Strategy", "Update"]

PagingStyle: TypeAlias = Literal["page", "offset", "cursor", "token", "link", "next_url"]
Strategy: TypeAlias = Literal["patch", "merge-patch", "json-patch", "post", "put", "put-merge", "query"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pagination:
    """How a list is paged through, by wire names of parameters and JSON pointers (RFC 6901)."""

    style: PagingStyle
    """What asks for the next page: its number, the count of items before it, a cursor or token, or an address."""
    page_param: str | None = None
    """The parameter that takes the number of a page."""
    offset_param: str | None = None
    """The parameter that takes the number of items to skip."""
    cursor_param: str | None = None
    """The parameter that takes a cursor or token."""
    before_param: str | None = None
    """The parameter that takes the cursor to page backwards from."""
    next: str | None = None
    """Pointer to the next cursor, address or page in the answer; with `next_in` the name of a header."""
    next_in: Literal["header"] | None = None
    """Where `next` stands, if not in the body of the answer."""
    item_cursor: str | None = None
    """Pointer to the cursor within the last item, where the answer has no other."""
    location: Literal["body"] | None = column(None, key="in")
    """Where the parameters are sent, if not in the query."""
    within: str | None = None
    """Pointer to the object of the body that holds the parameters."""
    size_param: str | None = None
    """The parameter that takes the number of items of a page."""
    size_max: int | None = None
    """The most items of a page, where the document says it."""
    items: str | None = None
    """Pointer to the list in the answer; "" for the answer itself."""
    has_more: str | None = None
    """Pointer to the flag that tells whether there is a next page."""
    total: str | None = None
    """Pointer to the count of all items."""
    demanded: tuple[str, ...] = ()
    """Those of `parameters` that the API requires, by the agent's names."""
    parameters: Mapping[str, Parameter] | None = None
    """The API's own parameters that the adapter pages with, accepted and not shown; absent where it does not page."""

    @property
    def roles(self) -> Iterator[tuple[str, str]]:
        """The parameters that page, each behind the name of its role."""
        for role in ("page_param", "offset_param", "cursor_param", "before_param", "size_param"):
            wire = getattr(self, role)
            if wire is not None:
                yield role, wire

    @property
    def lead_param(self) -> str | None:
        """The parameter that asks for the next page; None where its address does."""
        if self.style in ("page", "offset"):
            return self.page_param if self.style == "page" else self.offset_param
        return self.cursor_param


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """How an update reaches the API (R-UPD-2)."""

    strategy: Strategy
    """What is sent: a change of some kind, or the whole, `put-merge` what was read with the change merged into it;
    with `query` there is no body, and the fields are sent in the query.
    """
    read: str | None = None
    """The operation that reads the same resource."""
    etag: bool = False
    """Whether the API can notice that the resource changed in between."""
    read_at: str = ""
    """Pointer to the resource in what is read; "" where the answer is the resource."""
    write_at: str = ""
    """Pointer to the resource in the body of the update; "" where the body is the resource."""
    undeclared: bool = False
    """Whether the document does not declare the fields: the resource is the object with the most fields in common."""

    parameters: Mapping[str, Parameter] | None = None
    """The query parameters that `input` holds where there is no body, accepted beside it and not shown."""

    @property
    def replaces(self) -> bool:
        """True if what is sent replaces the whole resource."""
        return self.strategy in ("put", "put-merge")

    @property
    def reads_first(self) -> bool:
        """True if the resource is read before it is written."""
        return self.strategy == "put-merge" or (self.strategy == "json-patch" and self.read is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """What carries the key by which the API knows a call that is made twice: a header, or a parameter."""

    header: str | None = None
    """The header that carries it."""
    parameter: str | None = None
    """The parameter or field that carries it, by the API's name."""
    location: Literal["query", "body"] | None = column(None, key="in")
    """Where the parameter is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongRunning:
    """An operation that answers before its work has ended (R-LOOP-1)."""

    status: str = column("202", always=True)
    """The status of the answer that says so."""
    monitor: str | None = None
    """The operation that tells how far the work is."""
    arguments: Mapping[str, str] | None = None
    """What the monitor is asked with, beside what it shares with the operation: pointers into the answer by the API's
    names of the monitor's parameters. Left out where nothing says how to ask it.
    """
    state: str | None = None
    """Pointer to the state in the answer."""
    monitor_state: str | None = None
    """Pointer to the state, or to the flag that it is done, in what the monitor answers."""
    cancel: str | None = None
    """The operation that cancels the work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation:
    """What the document tells of a deprecated operation."""

    replacement: str | None = None
    """The operation to use instead."""
    removal_date: str | None = None
    """The day from which on it may be gone (ISO 8601)."""
    migration_guide: str | None = None
    """The address of what to do."""
