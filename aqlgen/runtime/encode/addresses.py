# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Addresses that look like placeholders, such as `your-domain.atlassian.net`, by rules over their words.

A document's author writes them for the reader to replace; nothing there answers, or a stranger does. The names that are
reserved for documentation and tests are those of RFC 2606 and RFC 6761.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from ..text import folded, shown
from .urls import placeholders, server_url

_MOST = 2000
_BLANK = re.compile(
    r"\{[^{}]{0,64}\}?|<[^<>]{0,64}>?|%7b.{0,64}?%7d|%3c.{0,64}?%3e|\[[a-z_][\w -]{0,64}\]", re.IGNORECASE
)
_RESERVED = frozenset({"test", "example", "invalid"})
_EXAMPLE_DOMAINS = frozenset({"example.com", "example.net", "example.org", "example.edu"})
_PRIVATE = frozenset({"local", "internal", "intranet", "lan", "corp", "home", "localdomain"})
_PRIVATE_ADDRESS = re.compile(r"(?:0|10|127|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]+", re.ASCII)
_NOUNS = (
    "account|api|app|application|base|bucket|cluster|company|customer|deployment|domain|endpoint|environment|host|"
    "hostname|instance|name|org|organi[sz]ation|portal|project|realm|region|server|service|shop|site|store|subdomain|"
    "team|tenant|tenantid|url|user|username|website|workspace"
)
_YOURS = re.compile(rf"your(?:[-_.].+|(?:{_NOUNS})(?:[-_]?\w*)?)?", re.IGNORECASE)
_EXAMPLE = re.compile(r"(?:.*[-_])?(?:example|placeholder|changeme|replaceme)(?:[-_].*)?", re.IGNORECASE)
_STAND_IN = re.compile(
    r"(?:change|replace)[-_]me|x{3,}|foo|bar|foobar|dummy|some[-_]?(?:host|server|domain)"
    rf"|my[-_]?(?:{_NOUNS})(?:[-_]?(?:id|name|url))?|tenant|subdomain|domain|hostname|instance|server[-_]?(?:name|url)|(?:{_NOUNS})[-_](?:name|id)",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]+(?:[_-][A-Z0-9]+)*")
_CAPITALS_OF_A_PATH = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_ORDINARY = frozenset({"api", "app", "www", "demo", "sandbox", "production", "prod"})
"""Values that a server's variable of the same name may well have."""
_ANOTHER = "a.aqlgen.dev"
"""A value that no rule is about, to see if another one would do."""


class AddressProblem(NamedTuple):
    """Why an address is hardly that of the API. `variables` are those of the server that put it right, if any do.

    It is not `certain` where the address may be right on the adapter's own machine or network.
    """

    rule: str
    reason: str
    variables: tuple[str, ...] = ()
    certain: bool = True

    @property
    def judgement(self) -> str:
        """The predicate of a sentence about the address."""
        return "looks like a placeholder" if self.certain else "is local"

    @property
    def setting(self) -> str:
        """The environment variable that puts it right."""
        return "MCP_AQL_SERVER_VARIABLES" if self.variables else "MCP_AQL_BASE_URL"

    @property
    def remedy(self) -> str:
        """The end of a sentence that says what to set."""
        return f"set {self.setting}{'=' if self.variables else ''}{', '.join(f'{name}=…' for name in self.variables)}"


class _Address(NamedTuple):
    text: str
    host: str
    labels: tuple[str, ...]
    segments: tuple[str, ...]

    @classmethod
    def of(cls, url: str) -> _Address | None:
        """Split an absolute HTTP URL, the case of its host kept; None for anything else."""
        try:
            parts = urlsplit(url.strip()[:_MOST])
            if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
                return None
            start = parts.netloc.lower().rindex(parts.hostname)
        except ValueError:
            return None
        host = parts.netloc[start : start + len(parts.hostname)].rstrip(".")
        return cls(url[:_MOST], host, tuple(host.split(".")), tuple(filter(None, parts.path.split("/"))))


def _blank(address: _Address) -> str | None:
    match = _BLANK.search(address.text)
    return None if match is None else f"{shown(match[0])} is to be filled in"


def _yours(address: _Address) -> str | None:
    words = (*(address.labels[:-1] or address.labels), *address.segments)
    word = next((word for word in words if _YOURS.fullmatch(word)), None)
    return None if word is None else f"{shown(word)} is a placeholder for your name"


def _example(address: _Address) -> str | None:
    domain = ".".join(address.labels[-2:]).lower()
    return f"{domain} is reserved for documentation (RFC 2606)" if domain in _EXAMPLE_DOMAINS else None


def _reserved(address: _Address) -> str | None:
    last = address.labels[-1].lower()
    return (
        f"names that end in .{last} are reserved for documentation and tests (RFC 2606)" if last in _RESERVED else None
    )


def _stand_in(address: _Address) -> str | None:
    words = [word for word in address.labels[:-1] if _EXAMPLE.fullmatch(word)]
    words += [word for word in address.labels[:1] if _STAND_IN.fullmatch(word)]
    return f"{shown(words[0])} is a placeholder" if words else None


def _capitals(address: _Address) -> str | None:
    words = [word for word in address.labels[:-1] if _CAPITALS.fullmatch(word)] if not address.host.isupper() else []
    words += [word for word in address.segments if _CAPITALS_OF_A_PATH.fullmatch(word)]
    return f"{shown(words[0])}, in capitals, is a placeholder" if words else None


def _local(address: _Address) -> str | None:
    host, last = address.host.lower(), address.labels[-1].lower()
    if last == "localhost" or host in ("::1", "0.0.0.0", "host.docker.internal") or host.startswith("127."):  # noqa: S104
        return f"{host} is whatever machine the adapter runs on"
    is_private = (len(address.labels) == 1 and ":" not in host) or last in _PRIVATE or _PRIVATE_ADDRESS.fullmatch(host)
    return f"{host} is a name or number that only one network knows" if is_private else None


class _Rule(NamedTuple):
    name: str
    reason: Callable[[_Address], str | None]
    of_owner: bool = False
    """Whether it concerns an address that the adapter's owner has set, too."""
    certain: bool = True


_RULES = (
    _Rule("blank", _blank, of_owner=True),
    _Rule("yours", _yours, of_owner=True),
    _Rule("example", _example, of_owner=True),
    _Rule("reserved", _reserved),
    _Rule("stand-in", _stand_in),
    _Rule("capitals", _capitals),
    _Rule("local", _local, certain=False),
)


def address_problem(url: str, *, of_owner: bool = False) -> AddressProblem | None:
    """Return what is wrong with an address, None if it may be one of an API.

    An owner's own address may be local, or in any network.
    """
    address = _Address.of(url)
    if address is None:
        blank = _BLANK.search(url[:_MOST])
        if blank is None:
            return AddressProblem("incomplete", "it is not a complete URL")
        return AddressProblem("blank", f"{shown(blank[0])} is to be filled in")
    for rule in _RULES:
        reason = rule.reason(address) if rule.of_owner or not of_owner else None
        if reason:
            return AddressProblem(rule.name, reason, certain=rule.certain)
    return None


def server_problem(server: Mapping[str, Any], chosen: Mapping[str, str] | None = None) -> AddressProblem | None:
    """Return what is wrong with the address of a document's server, `chosen` being the owner's values."""
    names = [name for name in dict.fromkeys(placeholders(server["url"])) if name not in (chosen or {})]
    unfilled = [name for name in names if _repeats_name(name, server.get("variables", {}).get(name, {}))]
    if unfilled:
        return AddressProblem("blank", f"{shown('{' + unfilled[0] + '}')} is to be filled in", tuple(unfilled))
    problem = address_problem(server_url(server, chosen))
    if problem is None or not names:
        return problem
    curing = [name for name in names if address_problem(server_url(server, {**(chosen or {}), name: _ANOTHER})) is None]
    if not curing and address_problem(server_url(server, {**(chosen or {}), **dict.fromkeys(names, _ANOTHER)})) is None:
        curing = names
    return problem._replace(variables=tuple(curing))


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
    """Return what is wrong with the address of an operation: the owner's, or that of its own or the `main` server."""
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
