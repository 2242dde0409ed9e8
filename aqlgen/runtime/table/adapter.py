# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
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
from .row import Choice, Kind, Row, Server

__all__ = [
    "FAMILIES", "FORMAT", "Accepted", "Adapter", "ApiSection", "Flow", "FormatError", "SecurityScheme",
    "check_format", "chosen", "scheme_of",
]  # fmt: skip


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
    if kind.strategy is not None and row.update is not None:
        row = replace(row, update=replace(row.update, strategy=kind.strategy))
    if not (other and kind.responses):
        return row
    responses = {**row.responses, **kind.responses}
    types = dict.fromkeys(response.get("content_type", "") for response in kind.responses.values())
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
    """The table is of another format than this code reads."""


class Flow(TypedDict, total=False):
    """A way to a token (OpenAPI, OAuth Flow Object)."""

    authorization_url: str
    """Where a person agrees."""
    token_url: str
    """Where a token is asked for."""
    refresh_url: str
    """Where a token is renewed, if elsewhere."""
    device_url: str
    """Where a login on another device begins (RFC 8628)."""
    scopes: Sequence[str]
    """The scopes that there are."""


_Placed = TypedDict("_Placed", {"in": str}, total=False)
"""Where an API key is sent: header, query, cookie, path or body."""


class SecurityScheme(_Placed, total=False):
    """What is sent to be let in (OpenAPI, Security Scheme Object), and the environment variables that hold it."""

    type: str
    """The kind of the scheme: apiKey, http, oauth2, openIdConnect, mutualTLS, or awsSigv4 for signed requests."""
    name: str
    """The name of the header, parameter, cookie or field of an API key."""
    format: str
    """How the API key is written, with `{key}` for it, such as `Token {key}`; else it stands alone."""
    scheme: str
    """The HTTP authentication scheme, such as `bearer`."""
    service: str
    """The AWS service that signatures are for, if its address does not say it."""
    flows: Mapping[str, Flow]
    """The ways to a token, by grant."""
    discovery_url: str
    """The address of the OpenID configuration."""
    variables: Sequence[str]
    """The variables that are set first, all of them."""
    optional_variables: Mapping[str, str]
    """What else there is to set, by its role."""
    description: str
    """What the document says of it."""


class Accepted(TypedDict, total=False):
    """The origins to which requests and credentials may go; no other is called."""

    api: Sequence[str]
    """The origin of the API, accepted by generating; `{name=default}` stands for a variable of its server."""
    oauth: Sequence[str]
    """The origins by which tokens are had, accepted by generating; operations are not called there."""
    hosts: Sequence[str]
    """The origins that the owner listed under `adapter: {hosts: […]}` in `overrides.yaml`."""


def scheme_of(api: str, name: str) -> str:
    """Return the name of an API's security scheme among those of several APIs, the same name where there is one."""
    return f"{api}:{name}" if api else name


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSection:
    """One of several APIs: what the adapter says of itself where there is one, without the security schemes."""

    name: str = column(outside=True)
    """What owners and agents call it."""
    title: str
    """The title of the API."""
    description: str
    """What the API says of itself."""
    api_version: str
    """The version of the API's document."""
    servers: tuple[Server, ...]
    """Where the API is, the first one unless another is set."""
    accepted: Accepted | None = None
    """Where requests of this API may go; without it, what generating accepts."""
    security: tuple[tuple[str, ...], ...]
    """The alternatives of security schemes of all its operations that name none; each is given whole."""
    scopes: Mapping[str, Sequence[str]] = column(factory=dict)
    """The scopes that the operations ask of these schemes."""
    headers: Mapping[str, str] = column(factory=dict)
    """Headers that are sent with every request to it, as the owner set them."""
    counts: Mapping[str, int]
    """How many operations each family has of it."""
    prefix: str = ""
    """The word before names that another API has too, if it is not the API's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The adapter as a whole."""

    schema_file: str = column("", key="$schema")
    """The JSON Schema of this file, for editors."""
    format: int = column(FORMAT, always=True)
    """The format of the table's files; a table of another format is refused."""
    name: str
    """The adapter's name."""
    package: str
    """The Python package that it is."""
    title: str
    """The title of the API."""
    description: str
    """What the API says of itself."""
    version: str
    """The version of the adapter."""
    api_version: str
    """The version of the API's document."""
    spec_version: str
    """The version of the MCP-AQL specification."""
    generator: str = column("", always=True)
    """The aqlgen that wrote the table."""
    field_case: str
    """How fields are spelled for agents: `snake`, or `preserve` for the API's own spelling."""
    servers: tuple[Server, ...]
    """Where the API is, the first one unless another is set."""
    accepted: Accepted | None = None
    """Where requests may go; without it, what generating accepts."""
    security: tuple[tuple[str, ...], ...]
    """The alternatives of security schemes of all operations that name none; each is given whole."""
    scopes: Mapping[str, Sequence[str]] = column(factory=dict)
    """The scopes that the operations ask of these schemes."""
    security_schemes: Mapping[str, SecurityScheme]
    """The security schemes by name."""
    headers: Mapping[str, str] = column(factory=dict)
    """Headers that are sent with every request, as the owner set them."""
    counts: Mapping[str, int]
    """How many operations each family has."""
    idempotent: Sequence[str] = column(())
    """The families of writes whose every operation has the same effect however often it is called (RFC 9110, 9.2.2)."""
    quick_start: Mapping[str, str]
    """The operation that shows a family best."""
    executions: bool = False
    """Whether any operation answers before its work has ended."""
    common: Mapping[str, str] = column(factory=dict)
    """Optional parameters of the query that nearly all operations have, with their texts; a search leaves them out."""
    apis: Mapping[str, ApiSection] = column(factory=dict)
    """The APIs by name, where there are several: each with its own servers, origins, security and headers."""
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
        """Read `adapter.json` of a package folder. Raises OSError, ValueError or TypeError when it is damaged."""
        return cls.of(json.loads((folder / "adapter.json").read_bytes()))

    def restricted_to(self, reads: Collection[str]) -> Self:
        """Return the adapter of a table that holds only these operations, all of them of the family read."""
        shown = self.quick_start.get("read")
        return replace(
            self,
            counts={family: 0 if family != "read" else len(reads) for family in FAMILIES},
            quick_start={"read": shown} if shown is not None and shown in reads else {},
            executions=False,
        )


def check_format(entry: Mapping[str, Any]) -> None:
    """Raise FormatError unless `adapter.json` is of the format that this code reads, TypeError if it is no object."""
    if not isinstance(entry, Mapping):
        raise TypeError("adapter.json is not an object")
    stated = entry.get("format", FORMAT)
    if stated != FORMAT:
        raise FormatError(
            f"the operation table is of format {stated!s:.20}, and this code reads format {FORMAT}; "
            "run `aqlgen update` with the newest aqlgen"
        )
