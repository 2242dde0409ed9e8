"""What `adapter.json` says (identity, servers, security, operations of each family), and the row of one call.

Where a request or an answer has several kinds of content, a call chooses (RFC 9110, 12; OpenAPI, Media Type Object).
"""

import json
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, Self, TypedDict

from .codec import column, decode
from .parts import ADAPTER
from .row import Choice, Kind, Response, Row, Server

_PAGES = frozenset({"first", "after", "last", "before"})


def chosen(row: Row, params: Mapping[str, Any]) -> Row:
    """Return the row of a call with the kinds that it chooses; the row itself if there is no choice.

    A choice that is left out is the default, unless the call has parameters that only one other kind has, or is a list
    of operations, which is a JSON Patch. One that names no kind is taken as left out: validation refuses or
    understands it.
    """
    if not row.choices:
        return row
    names = {row.wire_names.get(name, name) for name in params}
    lists = {row.wire_names.get(name, name) for name, value in params.items() if isinstance(value, list)}
    scripts = row.body is not None and row.body.parameter in lists
    return _row(
        row,
        tuple(_kind(choice, params.get(parameter), names, scripts) for parameter, choice in row.choices.items()),
    )


def _kind(choice: Choice, stated: Any, names: Set[str], scripts: bool) -> str:
    """Return the kind that is stated, else the default, or the one that alone has all parameters of a call."""
    if isinstance(stated, str) and stated in choice.kinds:
        return stated
    if stated is None and scripts:
        return next((name for name, kind in choice.kinds.items() if kind.strategy == "json-patch"), choice.default)
    if not names.isdisjoint(choice.kinds[choice.default].without):
        fitting = [name for name, kind in choice.kinds.items() if names.isdisjoint(kind.without)]
        if len(fitting) == 1:
            return fitting[0]
    return choice.default


def _row(row: Row, kinds: tuple[str, ...]) -> Row:
    known = row.rows_by_kinds.get(kinds)
    if known is None:
        pairs = zip(row.choices.values(), kinds, strict=True)
        variant = reduce(_with_kind, ((choice.kinds[kind], kind != choice.default) for choice, kind in pairs), row)
        known = row.rows_by_kinds[kinds] = replace(variant, kinds=kinds)
    return known


def _with_kind(row: Row, kind_and_other: tuple[Kind, bool]) -> Row:
    """Return a row with one kind; `other` says that it is not the default."""
    kind, other = kind_and_other
    shown = {name: parameter for name, parameter in row.shown_parameters.items() if name not in kind.without}
    row = replace(row, shown_parameters={**shown, **kind.parameters}, body=kind.body or row.body)
    if kind.body is not None and row.update is not None:
        strategy = kind.strategy or ("patch" if row.update.is_partial else row.update.strategy)
        row = replace(row, update=replace(row.update, strategy=strategy, fills=False))
    return _with_responses(row, kind.responses) if other and kind.responses else row


def _with_responses(row: Row, others: Mapping[str, Response]) -> Row:
    responses = {**row.responses, **others}
    types = dict.fromkeys(response.get("content_type", "") for response in others.values())
    headers = {name: value for name, value in row.headers.items() if name.lower() != "accept"}
    row = replace(row, responses=responses, headers={**headers, "Accept": ", ".join(filter(None, types))})
    if row.paging is None:
        return row
    # The adapter pages through the default kind; another is asked for by the API's own parameters.
    shown = {name: item for name, item in row.parameters.items() if name not in _PAGES or item.location != ADAPTER}
    return replace(row, shown_parameters=shown, pagination=None)


FORMAT = 1
"""The format of the table's files that this code reads and writes."""

FAMILIES = ("create", "read", "update", "delete", "execute")


class FormatError(ValueError):
    """The table is of another format than this code reads, or a file of it is missing or damaged."""


class Flow(TypedDict, total=False):
    """An OAuth flow (OpenAPI, OAuth Flow Object)."""

    authorization_url: str
    """Authorization URL."""
    token_url: str
    """Token URL."""
    refresh_url: str
    """URL to refresh tokens, if different."""
    scopes: Sequence[str]
    """Available scopes."""


_Placed = TypedDict("_Placed", {"in": str}, total=False)
"""Where an API key is sent: header, query, cookie, path or body."""


class SecurityScheme(_Placed, total=False):
    """A credential (OpenAPI, Security Scheme Object) with its environment variables."""

    type: str
    """Type: apiKey, http, oauth2, openIdConnect, mutualTLS, or awsSigv4 for requests that hooks.py signs."""
    name: str
    """The name of the header, parameter, cookie or field of an API key."""
    format: str
    """Format of the API key, such as `Token {key}`; default: the key alone."""
    scheme: str
    """The HTTP authentication scheme, such as `bearer`."""
    flows: Mapping[str, Flow]
    """OAuth flows, by grant."""
    discovery_url: str
    """URL of the OpenID configuration."""
    variables: Sequence[str]
    """Required variables."""
    optional_variables: Mapping[str, str]
    """Optional variables, by role."""
    description: str
    """The document's description."""


class Accepted(TypedDict, total=False):
    """Accepted origins: only these receive requests and credentials."""

    api: Sequence[str]
    """The API's origin, accepted by generating; `{name=default}` is a variable of its server."""
    oauth: Sequence[str]
    """Origins of token endpoints, accepted by generating; not for operations."""
    hosts: Sequence[str]
    """Origins listed by the owner under `adapter: {hosts: […]}` in `overrides.yaml`."""


def scheme_of(api: str, name: str) -> str:
    """Return the name of an API's security scheme among those of several APIs, the same name where there is one."""
    return f"{api}:{name}" if api else name


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSection:
    """One of several APIs: the adapter's keys for a single API, without security schemes."""

    name: str = column(outside=True)
    """What owners and agents call it."""
    title: str
    """The title of the API."""
    description: str
    """The API's description."""
    api_version: str
    """The version of the API's document."""
    servers: tuple[Server, ...]
    """The API's servers; the first one is the default."""
    accepted: Accepted | None = None
    """Origins of requests to this API; default: those accepted by generating."""
    security: tuple[tuple[str, ...], ...]
    """Alternatives of security schemes for its operations without their own; all schemes of an alternative apply."""
    scopes: Mapping[str, Sequence[str]] = column(factory=dict)
    """Scopes of these schemes."""
    headers: Mapping[str, str] = column(factory=dict)
    """The owner's headers of every request to it."""
    counts: Mapping[str, int]
    """Number of its operations by family."""
    prefix: str = ""
    """Prefix of names that another API also has; default: the API's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The adapter."""

    schema_file: str = column("", key="$schema")
    """The JSON Schema of this file, for editors."""
    format: int = column(FORMAT, always=True)
    """The format of the table's files; a table of another format is refused."""
    name: str
    """The adapter's name."""
    package: str
    """The adapter's Python package."""
    title: str
    """The title of the API."""
    description: str
    """The API's description."""
    version: str
    """The version of the adapter."""
    api_version: str
    """The version of the API's document."""
    spec_version: str
    """The version of the MCP-AQL specification."""
    generator: str = column("", always=True)
    """The aqlgen that wrote the table."""
    field_case: str
    """The spelling of fields for agents: `snake`, or `preserve` for the API's."""
    servers: tuple[Server, ...]
    """The API's servers; the first one is the default."""
    accepted: Accepted | None = None
    """Origins of requests; default: those accepted by generating."""
    security: tuple[tuple[str, ...], ...]
    """Alternatives of security schemes for operations without their own; all schemes of an alternative apply."""
    scopes: Mapping[str, Sequence[str]] = column(factory=dict)
    """Scopes of these schemes."""
    security_schemes: Mapping[str, SecurityScheme]
    """The security schemes by name."""
    headers: Mapping[str, str] = column(factory=dict)
    """The owner's headers of every request."""
    counts: Mapping[str, int]
    """Number of operations by family."""
    idempotent: Sequence[str] = column(())
    """Families of writes in which all operations are idempotent (RFC 9110, 9.2.2)."""
    quick_start: Mapping[str, str]
    """An example operation for each family."""
    executions: bool = False
    """True if some operation answers before its work ends."""
    common: Mapping[str, str] = column(factory=dict)
    """Optional query parameters shared by nearly all operations, with their texts; searches omit them."""
    apis: Mapping[str, ApiSection] = column(factory=dict)
    """With several APIs: each API by name, with its servers, origins, security and headers."""
    api: str = column("", outside=True)
    """The API that this is the part of, of an adapter of several; "" in the table."""

    def of_each_api(self) -> dict[str, Self]:
        """Return the adapter as it is for each of its APIs, by name; for one API itself, by ""."""
        return {name: self.of_api(name) for name in self.apis} if self.apis else {"": self}

    def of_api(self, api: str) -> Self:
        """Return the adapter as it is for an API: with the hosts and credentials of no other. Raises KeyError."""
        if not api and not self.apis:
            return self
        section = self.apis[api]
        return replace(
            self,
            title=section.title,
            description=section.description,
            api_version=section.api_version,
            servers=section.servers,
            accepted=section.accepted,
            security=section.security,
            scopes=section.scopes,
            headers=section.headers,
            counts=section.counts,
            security_schemes={
                name: scheme for name, scheme in self.security_schemes.items() if name.startswith(f"{api}:")
            },
            apis={},
            api=api,
        )

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Read what `adapter.json` holds. Raises FormatError for another format, TypeError when a key is missing."""
        check_format(entry)
        return decode(cls, entry)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read `adapter.json` of a package folder. Raises FormatError, KeyError or TypeError when it is damaged."""
        return cls.of(read_data(folder / "adapter.json"))

    def restricted_to(self, reads: Collection[str]) -> Self:
        """Return the adapter of a table that holds only these operations, all of them of the family read."""
        shown = self.quick_start.get("read")
        return replace(
            self,
            counts={family: 0 if family != "read" else len(reads) for family in FAMILIES},
            quick_start={"read": shown} if shown is not None and shown in reads else {},
            executions=False,
        )


def read_data(path: Path) -> Any:
    """Return the data of a generated file. Raises FormatError for one that is missing or damaged."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as problem:
        state = "missing" if isinstance(problem, FileNotFoundError) else "damaged"
        raise FormatError(f"{path} is {state}; `aqlgen update` or `git checkout` restores it") from None


def check_format(entry: Mapping[str, Any]) -> None:
    """Raise FormatError for another format of `adapter.json` than this code reads, TypeError for other values."""
    if not isinstance(entry, Mapping):
        raise TypeError("adapter.json is not an object")
    stated = entry.get("format", FORMAT)
    if stated != FORMAT:
        raise FormatError(
            f"the operation table is of format {stated!s:.20}, and this code reads format {FORMAT}; "
            "run `aqlgen update` with the newest aqlgen"
        )
