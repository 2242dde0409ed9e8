# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Parsers of settings: text or a TOML value in, the setting's value out; ValueError says what the value must be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..logs import LEVELS

TRUST_LEVELS = ("untested", "generated", "validated", "community_reviewed", "certified")
_NOT_FORWARDED = frozenset({"authorization", "proxy-authorization", "cookie", "host", "content-type", "mcp-session-id"})
_SWITCH = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
_NO_FILE = frozenset({"off", "none", *(word for word, is_on in _SWITCH.items() if not is_on)})
_MODES = {"semantic": "semantic", "crude": "semantic", "single": "single", "all": "all"}


class Whole:
    """A parser of whole numbers within bounds. `allowed` says in words which."""

    def __init__(self, least: int, most: int) -> None:
        self.least = least
        self.most = most
        self.allowed = f"{least} to {most}"

    def __call__(self, value: Any) -> int:
        """Return the number."""
        text = str(value).strip()
        if not isinstance(value, (bool, float)) and re.fullmatch(r"[0-9]{1,12}", text):
            number = int(text)
            if self.least <= number <= self.most:
                return number
        raise ValueError(f"must be a whole number from {self.allowed}")


class Choice:
    """A parser of one of several words, in any case; an empty text stands for `empty`. `allowed` lists the words."""

    def __init__(self, words: tuple[str, ...], empty: str = "") -> None:
        self.words = words
        self.empty = empty
        self.allowed = ", ".join(words)

    def __call__(self, value: Any) -> str:
        """Return the word in lower case."""
        word = str(value).strip().lower() or self.empty
        if word not in self.words:
            raise ValueError(f"must be one of {self.allowed}")
        return word


level = Choice(LEVELS)
trust = Choice(TRUST_LEVELS, empty=TRUST_LEVELS[0])
credentials = Choice(("document", "none"))
policy = Choice(("standard", "strict", "open"))


def switch(value: Any) -> bool:
    """Return True or False."""
    word = str(value).strip().lower()
    if word not in _SWITCH:
        raise ValueError("must be true or false")
    return _SWITCH[word]


def seconds(value: Any) -> float:
    """Return a number of seconds, 3600 or less."""
    message = "must be a number of seconds above 0, 3600 or less"
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if isinstance(value, bool) or not 0 < seconds <= 3600:
        raise ValueError(message)
    return seconds


def mode(value: Any) -> str:
    """Return an endpoint mode; `crude` is another name of semantic."""
    mode = _MODES.get(str(value).strip().lower())
    if mode is None:
        raise ValueError("must be semantic, single or all")
    return mode


def prefix(value: Any) -> str:
    """Return the prefix of every tool name (R-REQ-7)."""
    if value == "":
        return ""
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9_]{1,19}_", value):
        raise ValueError("must be 1 to 19 lower-case letters, digits or underscores, followed by an underscore")
    return value


_NAMED_URLS = re.compile(
    r"[a-z][a-z0-9]{0,23}=https?://[^\s/?#,][^\s?#,]*+(?:\s*+,\s*+[a-z][a-z0-9]{0,23}=https?://[^\s/?#,][^\s?#,]*+)*+"
)


def base_url(value: Any) -> str | None:
    """Return the API's address, or those of several APIs by their names, None for an empty one."""
    if value == "":
        return None
    if isinstance(value, str) and _NAMED_URLS.fullmatch(value.strip()):
        return value.strip()
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s/?#][^\s?#]*", value):
        raise ValueError("must be an http or https address without a query, such as https://api.example.com/v1")
    return value


def codes(value: Any) -> tuple[str, ...]:
    """Return codes of warnings, from a list or from text."""
    codes = tuple(value) if isinstance(value, list) else tuple(str(value).replace(",", " ").split())
    if not all(isinstance(code, str) and re.fullmatch(r"[A-Z][A-Z0-9_]{1,63}", code) for code in codes):
        raise ValueError("must be codes such as DEPRECATION_WARNING, or categories such as PERFORMANCE_")
    return codes


def marks(value: Any) -> tuple[str, ...]:
    """Return marks of a failure, `key.key=value` or `off`, from a list or from text."""
    items = value if isinstance(value, list) else str(value).split(";")
    marks = tuple(item.strip() for item in items if isinstance(item, str) and item.strip())
    if not all(mark == "off" or re.fullmatch(r"[^\s=]{1,100}=[^\r\n]{1,100}", mark) for mark in marks):
        raise ValueError("must be keys and their value, such as success=false or result.code=ERR, or off")
    return marks


def state_url(value: Any) -> str:
    """Return the place of durable state."""
    if not isinstance(value, str) or not re.fullmatch(r"|memory:|sqlite:///.+|rediss?://[^/?#]+(/\d*)?", value):
        raise ValueError(
            "must be sqlite:/// and a file, such as sqlite:////var/lib/adapter.sqlite3, memory:, or the address of a "
            "server of Redis, such as redis://:password@host:6379/0"
        )
    return value


def variables(value: Any) -> dict[str, str]:
    """Return values by name, from a table or from text such as `region=eu, tenant=acme`."""
    if isinstance(value, str) and value.strip() != "{}":
        pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
        if not all(name.strip() and equals for name, equals, _ in pairs):
            raise ValueError("must be NAME=VALUE, several of them with commas between")
        value = {name.strip(): text.strip() for name, _, text in pairs}
    elif isinstance(value, str):
        value = {}
    if not isinstance(value, dict) or not all(isinstance(item, str | int) for item in value.values()):
        raise ValueError("must be a table of texts")
    texts = {str(name): str(item) for name, item in value.items()}
    if any(re.search(r"[\s?#]", text) for text in texts.values()):
        raise ValueError("must not hold blanks, '?' or '#'")
    return texts


def path(value: Any) -> str:
    """Return the path of a file."""
    if not isinstance(value, str) or "\x00" in value:
        raise ValueError("must be the path of a file")
    return value


def audit_path(value: Any) -> str:
    """Return the path of a file, or `off` for none."""
    is_off = value is False or (isinstance(value, str) and value.strip().lower() in _NO_FILE)
    return "off" if is_off else path(value)


def forwarded(value: Any) -> tuple[tuple[str, str], ...]:
    """Return headers with the security schemes that they fill ('' if none is named), from a list or from text."""
    items = value if isinstance(value, list) else str(value).split(";")
    pairs = [tuple(part.strip() for part in str(item).partition("=")[::2]) for item in items if str(item).strip()]
    for header, _ in pairs:
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", header):
            raise ValueError("must be the name of a header, or header=scheme, divided by ;")
        if header.lower() in _NOT_FORWARDED:
            raise ValueError(
                "must name a header of its own, such as X-Target-Authorization: what a client shows to the "
                "adapter itself is never sent on"
            )
    return tuple((header, scheme) for header, scheme in pairs)


def endpoint(value: Any) -> str:
    """Return the address of an endpoint; http is for networks of the owner."""
    if value == "":
        return ""
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s#]*)?", value):
        raise ValueError("must be an http or https address, such as https://login.example.com/oauth2/token")
    return value


def word(value: Any) -> str:
    """Return a text of one line."""
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError("must be a text of one line")
    return value.strip()


# The adapter's own HTTP endpoint.

_AUTH_KINDS = Choice(("token", "oauth", "none"))
_HOST = r"(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?)"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def http_auth(value: Any) -> str:
    """Return the kind of authentication over HTTP, '' if none is chosen."""
    return "" if value == "" else _AUTH_KINDS(value)


def hosts(value: Any) -> tuple[str, ...]:
    """Return hosts, each with its port if one is meant, from a list or from text."""
    names = tuple(name.removesuffix(":*") for name in _listed(value))
    if not all(re.fullmatch(_HOST + r"(:[0-9]{1,5})?", name) for name in names):
        raise ValueError("must be hosts such as mcp.example.com or mcp.example.com:8443, each by its full name")
    return names


def origins(value: Any) -> tuple[str, ...]:
    """Return web origins, from a list or from text; the port may be `*`."""
    names = tuple(name.removesuffix("/") for name in _listed(value))
    if not all(re.fullmatch(r"[a-z][a-z0-9+.-]*://" + _HOST + r"(:([0-9]{1,5}|\*))?", name) for name in names):
        raise ValueError("must be origins such as https://app.example.com, without a path")
    return names


def _listed(value: Any) -> tuple[str, ...]:
    """Return the names of a list, or of a text that commas divide, in lower case."""
    names = value if isinstance(value, list) else str(value).split(",")
    if not all(isinstance(name, str) for name in names):
        raise ValueError("must be a list of texts")
    return tuple(name.strip().lower() for name in names if name.strip())


def http_url(value: Any) -> str:
    """Return the address at which clients reach the adapter."""
    if value == "":
        return ""
    if not isinstance(value, str) or not re.fullmatch(rf"(?i)https?://{_HOST}(:[0-9]{{1,5}})?(/[\x21-\x7e]*)?", value):
        raise ValueError("must be an http or https address, such as https://mcp.example.com/mcp")
    if "?" in value or "#" in value:
        raise ValueError("must be an address without a query or fragment, such as https://mcp.example.com/mcp")
    return value


def https_url(value: Any) -> str:
    """Return an address that is trusted for keys; http is for this machine."""
    url = http_url(value)
    host = re.match(rf"(?i)http://{_HOST}", url)
    if host is not None and host[1].lower() not in _LOOPBACK:
        raise ValueError("must be an https address: over http the network could give keys of its own")
    return url


def scopes(value: Any) -> tuple[str, ...]:
    """Return scopes (RFC 6749, 3.3), from a list or from text."""
    names = tuple(value) if isinstance(value, list) else tuple(str(value).replace(",", " ").split())
    if not all(isinstance(name, str) and re.fullmatch(r"[\x21\x23-\x5b\x5d-\x7e]+", name) for name in names):
        raise ValueError("must be scopes such as 'tools.read tools.write'")
    return names


# The safety loop (specification, 8.7.4; R-LOOP-3).

tolerance = Choice(("conservative", "moderate", "aggressive"))
_NOT_IN_A_FILE = "is a secret and never stands here: set MCP_AQL_{0}, or MCP_AQL_{0}_FILE for a file"
REFUSED: Mapping[str, str] = {
    "http.token": _NOT_IN_A_FILE.format("HTTP_TOKEN"),
    "http.token_file": _NOT_IN_A_FILE.format("HTTP_TOKEN"),
    "state.key": _NOT_IN_A_FILE.format("STATE_KEY"),
    "state.key_file": _NOT_IN_A_FILE.format("STATE_KEY"),
}
"""Keys of adapter.toml that are not served, and why."""


def patterns(value: Any) -> tuple[str, ...]:
    """Return a list of globs, which the environment divides by line breaks or semicolons."""
    globs = value.replace(";", "\n").splitlines() if isinstance(value, str) else value
    if not isinstance(globs, (list, tuple)) or not all(isinstance(glob, str) for glob in globs) or len(globs) > 200:
        raise ValueError("must be a list of patterns such as 'delete_*', 200 or fewer")
    patterns = tuple(glob.strip() for glob in globs if glob.strip())
    if any(len(pattern) > 200 for pattern in patterns):
        raise ValueError("must be a list of patterns of 200 characters or fewer")
    return patterns


STEPS = Whole(1, 10_000)
_AGENT_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "max_autonomous_steps": STEPS,
    "requires_approval": patterns,
    "auto_approve": patterns,
    "deny": patterns,
    "risk_tolerance": tolerance,
}


def agents(value: Any) -> Mapping[str, Mapping[str, Any]]:
    """Return the tables of single agents; the environment gives them as JSON."""
    value = from_json(value, "must be a JSON object of agents")
    if not isinstance(value, Mapping) or not all(isinstance(table, Mapping) for table in value.values()):
        raise ValueError("must hold a table for each agent, such as [safety_loop.agents.researcher]")
    return {str(name): _agent(str(name), table) for name, table in value.items()}


def _agent(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    return parsed_table(table, _AGENT_KEYS, "setting", f" for agent '{name}'", f"for agent '{name}': ")


def from_json(value: Any, message: str) -> Any:
    """Return a value of `adapter.toml` as it is, and text of the environment as the JSON that it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError(message) from None


def parsed_table(
    table: Mapping[str, Any], parsers: Mapping[str, Callable[[Any], Any]], noun: str, behind: str = "", before: str = ""
) -> dict[str, Any]:
    """Return the parsed values of a table within a setting.

    `noun` is what a key is called; `behind` ends the name of an unknown one, `before` begins what is said of a value.
    """
    values = {}
    for key, raw in table.items():
        parse = parsers.get(key)
        if parse is None:
            raise ValueError(f"has no {noun} '{key}'{behind}; there are {', '.join(parsers)}")
        try:
            values[key] = parse(raw)
        except ValueError as problem:
            raise ValueError(f"{before}'{key}' {problem}") from None
    return values
