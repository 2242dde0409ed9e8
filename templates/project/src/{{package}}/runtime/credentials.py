"""Credentials from the environment, put where the API wants them (OpenAPI 3.1, Security Scheme Object).

Each variable may also be given as `…_FILE`, the path of a file that holds it. They are read once, at the first request.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .errors import Code, Failure
from .styles import query_pairs
from .table import Adapter, Row

__all__ = ["NO_CREDENTIALS", "Applied", "Credentials", "report"]


@dataclass(frozen=True, slots=True)
class Applied:
    """What a request carries to be let in; `query` and `cookies` are encoded pairs."""

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    secrets: frozenset[str] = frozenset()


NO_CREDENTIALS = Applied()


class Credentials:
    """The credentials of an adapter. `demanded` is false where nobody asks for any, as in mock mode."""

    def __init__(self, adapter: Adapter, environ: Mapping[str, str], *, demanded: bool = True) -> None:
        self._adapter = adapter
        self._environ = environ
        self._demanded = demanded
        self._values: dict[str, str | None] = {}
        self._applied: dict[tuple[tuple[str, ...], ...], Applied] = {}

    def for_row(self, row: Row) -> Applied:
        """Give what an operation's request carries. Raises Failure (PERMISSION_DENIED) that names what is missing."""
        if not self._demanded:
            return NO_CREDENTIALS
        alternatives = self._adapter.security if row.security is None else row.security
        applied = self._applied.get(alternatives)
        if applied is None:
            applied = self._applied[alternatives] = self._choose(alternatives, row)
        return applied

    @cached_property
    def secrets(self) -> frozenset[str]:
        """Every secret that is set, in each form in which it is sent."""
        found: set[str] = set()
        for name in self._adapter.security_schemes:
            if not self.missing(name):
                found |= self._apply((name,)).secrets
        return frozenset(found)

    def missing(self, scheme: str) -> list[str]:
        """Give the variables of a scheme that are not set."""
        variables = self._adapter.security_schemes.get(scheme, {}).get("variables", ())
        return [name for index, name in enumerate(variables) if not self._is_set(name, may_be_empty=index > 0)]

    def _is_set(self, variable: str, *, may_be_empty: bool) -> bool:
        value = self.value(variable)
        return value is not None if may_be_empty else bool(value)  # a password may be empty, a key may not

    def value(self, variable: str) -> str | None:
        """Give a variable's value, or that of the file named by `…_FILE`; None when it is not set."""
        if variable not in self._values:
            self._values[variable] = self._read(variable)
        return self._values[variable]

    def _read(self, variable: str) -> str | None:
        value = self._environ.get(variable)
        path = self._environ.get(f"{variable}_FILE")
        if value is None and path:
            try:
                value = Path(path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError, ValueError):
                return None
        return None if value is None else value.rstrip("\r\n")

    def _choose(self, alternatives: tuple[tuple[str, ...], ...], row: Row) -> Applied:
        for schemes in alternatives:
            if schemes and all(self._served(scheme) and not self.missing(scheme) for scheme in schemes):
                return self._apply(schemes)
        if not alternatives or () in alternatives:
            return NO_CREDENTIALS
        raise self._denied(alternatives, row)

    def _served(self, scheme: str) -> bool:
        return bool(self._adapter.security_schemes.get(scheme, {}).get("variables"))

    def _denied(self, alternatives: tuple[tuple[str, ...], ...], row: Row) -> Failure:
        doctor = f"'{self._adapter.name}-adapter doctor' shows which ones are set."
        ways = [
            [name for scheme in schemes for name in self.missing(scheme)]
            for schemes in alternatives
            if all(map(self._served, schemes))
        ]
        if not ways:
            kinds = sorted({scheme for schemes in alternatives for scheme in schemes if not self._served(scheme)})
            reason = f"the operation '{row.name}' needs a credential of a kind not served yet: {', '.join(kinds)}"
            return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}.", {"reason": reason, "missing": []})
        missing = list(dict.fromkeys(name for way in ways for name in way))
        reason = f"no credential is set for operation '{row.name}'"
        told = ", or ".join(dict.fromkeys(" and ".join(way) for way in ways))
        message = f"Permission denied: {reason}. Set {told} (or the same name with _FILE, a file); {doctor}"
        return Failure(Code.PERMISSION_DENIED, message, {"reason": reason, "missing": missing})

    def _apply(self, schemes: tuple[str, ...]) -> Applied:
        headers: dict[str, str] = {}
        query: list[str] = []
        cookies: list[str] = []
        secrets: set[str] = set()
        for name in schemes:
            scheme = self._adapter.security_schemes[name]
            values = [self.value(variable) or "" for variable in scheme["variables"]]
            if not values:
                continue  # a kind not served yet, where nothing is demanded: the mock
            place, key, sent = _placed(scheme, values)
            if any(not (character.isprintable() or character == "\t") for character in sent):
                raise Failure(
                    Code.PERMISSION_DENIED,
                    f"Permission denied: {' or '.join(scheme['variables'])} holds a line break or a control character.",
                    {"reason": "a credential cannot be sent as it is set", "missing": []},
                )
            secrets.update(one for one in (*values, sent, sent.rpartition(" ")[2]) if one)
            if place == "header":
                headers[key] = sent
            else:
                pairs = query_pairs(quote(key, safe=""), sent)
                (query if place == "query" else cookies).extend(pairs)
                secrets.update(pair.partition("=")[2] for pair in pairs)
        return Applied(tuple(headers.items()), tuple(query), tuple(cookies), frozenset(secrets))


def _placed(scheme: Mapping[str, Any], values: list[str]) -> tuple[str, str, str]:
    """Give the place (header, query or cookie), the name and the value under which a scheme's credential is sent."""
    if scheme["type"] == "apiKey":
        return scheme["in"], scheme["name"], values[0]
    if scheme["type"] == "http" and scheme.get("scheme", "").lower() == "basic":
        pair = ":".join(values) if len(values) > 1 else values[0]
        return "header", "Authorization", "Basic " + base64.b64encode(pair.encode()).decode()
    token = values[0]
    return "header", "Authorization", "Bearer " + (token[7:] if token[:7].lower() == "bearer " else token).strip()


def report(adapter: Adapter, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    """Tell for each security scheme its type, its variables and whether they are set; never their values."""
    return list(_report(adapter, Credentials(adapter, environ)))


def _report(adapter: Adapter, credentials: Credentials) -> Iterator[dict[str, Any]]:
    for name, scheme in adapter.security_schemes.items():
        variables = list(scheme.get("variables", ()))
        is_set = bool(variables) and not credentials.missing(name)
        yield {"scheme": name, "type": scheme.get("type", ""), "variables": variables, "set": is_set}
