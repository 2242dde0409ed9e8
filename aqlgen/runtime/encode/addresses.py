"""Addresses that look like placeholders, such as `your-domain.atlassian.net`, by rules over their words.

A document's author writes them for the reader to replace; nothing there answers, or a stranger does. The names that are
reserved for documentation and tests are those of RFC 2606 and RFC 6761.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from ..text import folded, shown
from .urls import placeholders, server_url

_MOST = 2000
_BLANK = re.compile(
    r"\{[^{}]{0,64}\}?|<[^<>]{0,64}>?|%7b.{0,64}?%7d|%3c.{0,64}?%3e|\[[a-z_][\w -]{0,64}\]", re.IGNORECASE
)
_YOURS = re.compile(
    r"your(?:[-_].+|(?:api|account|company|domain|host|instance|name|org|server|site|tenant)\w*)?", re.I
)
_EXAMPLE = re.compile(r"(?:.*[-_])?(?:example|placeholder)(?:[-_].*)?|my[-_]?(?:company|domain|instance|team)", re.I)
_RESERVED = frozenset({"test", "example", "invalid"})
_EXAMPLE_DOMAINS = frozenset({"example.com", "example.net", "example.org", "example.edu"})
_PRIVATE = frozenset({"local", "localhost", "internal", "lan"})
_PRIVATE_ADDRESS = re.compile(r"(?:0|10|127|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]+", re.ASCII)
_ORDINARY = frozenset({"api", "app", "www"})
"""Values that a server's variable of the same name may well have."""
_ANOTHER = "a.aqlgen.dev"
"""A value that no rule is about, to see if another one would do."""


class AddressProblem(NamedTuple):
    """Why an address is hardly that of the API. `variables` are those of the server that put it right, if any do.

    It is not `certain` where the address may be right: on the adapter's own machine or network, or as a default.
    """

    rule: str
    reason: str
    variables: tuple[str, ...] = ()
    certain: bool = True

    @property
    def judgement(self) -> str:
        """The predicate of a sentence about the address."""
        if self.certain:
            return "looks like a placeholder"
        return "is local" if self.rule == "local" else "is only a default"

    @property
    def setting(self) -> str:
        """The environment variable that puts it right."""
        return "MCP_AQL_SERVER_VARIABLES" if self.variables else "MCP_AQL_BASE_URL"

    @property
    def remedy(self) -> str:
        """The end of a sentence that says what to set."""
        return f"set {self.setting}{'=' if self.variables else ''}{', '.join(f'{name}=…' for name in self.variables)}"


def address_problem(url: str, *, of_owner: bool = False) -> AddressProblem | None:
    """Return the problem of an address, None if it may be one of an API.

    An owner's own address may be local, or in any network.
    """
    blank = _BLANK.search(url[:_MOST])
    if blank is not None:
        return AddressProblem("blank", f"{shown(blank[0])} is to be filled in")
    try:
        parts = urlsplit(url.strip()[:_MOST])
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        host = ""
    if not host or parts.scheme.lower() not in ("http", "https"):
        return AddressProblem("incomplete", "it is not a complete URL")
    labels = host.split(".")
    names, last = labels[:-1] or labels, labels[-1]
    word = next((word for word in (*names, *parts.path.split("/")) if _YOURS.fullmatch(word)), None)
    if word is not None:
        return AddressProblem("yours", f"{shown(word)} is a placeholder for your name")
    domain = ".".join(labels[-2:])
    if domain in _EXAMPLE_DOMAINS:
        return AddressProblem("example", f"{domain} is reserved for documentation (RFC 2606)")
    return None if of_owner else _not_of_owner(host, names, last)


def _not_of_owner(host: str, names: Sequence[str], last: str) -> AddressProblem | None:
    """Return the problem of a host that only an owner would name, by its labels and the `last` of them."""
    if last in _RESERVED:
        return AddressProblem(
            "reserved", f"names that end in .{last} are reserved for documentation and tests (RFC 2606)"
        )
    word = next(filter(_EXAMPLE.fullmatch, names), None)
    if word is not None:
        return AddressProblem("stand-in", f"{shown(word)} is a placeholder")
    if "." not in host or last in _PRIVATE or _PRIVATE_ADDRESS.fullmatch(host):
        return AddressProblem("local", f"{host} is known on one machine or network only", certain=False)
    return None


def server_problem(server: Mapping[str, Any], chosen: Mapping[str, str] | None = None) -> AddressProblem | None:
    """Return the problem of the address of a document's server, `chosen` being the owner's values."""
    names = [name for name in dict.fromkeys(placeholders(server["url"])) if name not in (chosen or {})]
    unfilled = [name for name in names if _repeats_name(name, server.get("variables", {}).get(name, {}))]
    if unfilled:
        return AddressProblem("blank", f"{shown('{' + unfilled[0] + '}')} is to be filled in", tuple(unfilled))
    problem = address_problem(server_url(server, chosen))
    if problem is None:
        return _unchosen(server, names)
    if not names:
        return problem
    curing = [name for name in names if address_problem(server_url(server, {**(chosen or {}), name: _ANOTHER})) is None]
    return problem._replace(variables=tuple(curing))


def _unchosen(server: Mapping[str, Any], names: Sequence[str]) -> AddressProblem | None:
    """Return that variables of the host are left to their defaults, without an enum that has all there are.

    Such a default may be a host that belongs to somebody else.
    """
    host = server["url"].rpartition("//")[2].partition("/")[0].partition(":")[0]
    variables = {name: server["variables"][name] for name in placeholders(host) if name in names}
    defaults = {name: str(variable["default"]) for name, variable in variables.items() if not variable.get("enum")}
    free = [name for name, default in defaults.items() if default.lower() not in _ORDINARY]
    if not free:
        return None
    reason = f"{shown(defaults[free[0]])} is the default of {shown('{' + free[0] + '}')}"
    return AddressProblem("default", reason, tuple(free), certain=False)


def _repeats_name(name: str, variable: Mapping[str, Any]) -> bool:
    """Return True if a variable's default is its own name, as in `{store_hash}` with `store_hash`."""
    default = str(variable.get("default", ""))
    choices = map(str, variable.get("enum") or ())
    return folded(default) == folded(name) and default.lower() not in _ORDINARY and default not in choices


def operation_problem(
    main: Sequence[Mapping[str, Any]],
    servers: Sequence[Mapping[str, Any]],
    base_url: str | None,
    chosen: Mapping[str, str],
) -> AddressProblem | None:
    """Return the problem of the address of an operation: the owner's, or that of its own or the `main` server."""
    if base_url:
        return address_problem(base_url, of_owner=True)
    if not main and not servers:
        return AddressProblem("incomplete", "the document names none")
    if not servers:
        return server_problem(main[0], chosen)
    problem = server_problem(servers[0], chosen)
    if problem is None or problem.rule != "incomplete" or not main:
        return problem
    try:
        joined = urljoin(server_url(main[0], chosen), server_url(servers[0], chosen))
    except ValueError:
        return problem
    return None if address_problem(joined) is None else server_problem(main[0], chosen) or problem
