# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Credentials put where the API wants them (OpenAPI 3.1, Security Scheme Object and Security Requirement Object).

What is known is put into the request as it is built. What must be asked for first (a token, the answer to a challenge)
gets a mark in its place, which is filled in before the request is sent (see `authorization`). A request whose mark was
taken away goes out without it.
"""

from __future__ import annotations

import base64
import secrets as random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .errors import Code, Failure
from .secrecy import Secrets
from .table import Adapter, Row
from .variables import Variables
from .ways import Way, Ways, bare

if TYPE_CHECKING:
    import ssl

    from .client_tls import ClientTls
    from .logins import Logins
    from .per_user import PerUser

__all__ = ["NO_CREDENTIALS", "Applied", "Credentials"]

_COOKIE_SAFE = "!#$%&'()*+,/:<=>?@[]^`{|}\"\\"
_PUBLIC = frozenset({"client_id", "scopes", "audience", "token_url", "discovery_url", "username"})


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

    def __init__(
        self,
        adapter: Adapter,
        environ: Mapping[str, str],
        *,
        demanded: bool = True,
        per_user: PerUser | None = None,
        logins: Logins | None = None,
        tls: ClientTls | None = None,
    ) -> None:
        self.adapter = adapter
        self.variables = Variables(environ)
        more = {} if per_user is None else {"per_user": per_user}
        self.ways = Ways(adapter, self.variables, logins=logins, **more)
        self.seen = Secrets()
        self.marks: dict[str, str] = {}
        self._demanded = demanded
        self._tls = tls
        self._applied: dict[tuple[tuple[str, ...], ...], Applied] = {}
        self._last: tuple[str | None, ...] | None = None

    def for_row(self, row: Row) -> Applied:
        """Give what an operation's request carries. Raises Failure (PERMISSION_DENIED) that names what is missing."""
        if not self._demanded:
            return NO_CREDENTIALS
        alternatives = self.adapter.security if row.security is None else row.security
        applied = self._applied.get(alternatives)
        if applied is None:
            applied, lasting = self._choose(alternatives, row)
            if lasting:
                self._applied[alternatives] = applied
        return applied

    @property
    def verify(self) -> ssl.SSLContext | bool:
        """What TLS connections are made with: the client's certificate, where there is one."""
        return True if self._tls is None else self._tls.context

    @property
    def secrets(self) -> frozenset[str]:
        """Every secret that is set or was seen, in each form in which it is sent."""
        self.take_up()
        return self.seen.all

    def take_up(self) -> None:
        """See the secrets among the variables as they are now."""
        schemes = self.adapter.security_schemes.values()
        names = [(one, scheme) for scheme in schemes for one in _secret_names(scheme)]
        values = tuple(self.variables.value(one) for one, _ in names)
        if values == self._last:
            return
        self._last = values
        for (name, scheme), value in zip(names, values, strict=True):
            self.seen.own([value] if value else (), common=_is_common(scheme, name, self.variables))
        for scheme in schemes:
            if scheme.get("type") == "http" and len(scheme["variables"]) > 1:
                pair = ":".join(self.variables.value(one) or "" for one in scheme["variables"])
                self.seen.own([pair] if len(pair) > 1 else ())

    def mark(self, scheme: str) -> str:
        """Give what stands in a request for a scheme's credential until it is sent."""
        for mark, marked in self.marks.items():
            if marked == scheme:
                return mark
        mark = f"pending-{random.token_hex(12)}"
        self.marks[mark] = scheme
        return mark

    def _choose(self, alternatives: tuple[tuple[str, ...], ...], row: Row) -> tuple[Applied, bool]:
        """Apply the first alternative that is complete; tell whether it stays so until the process ends."""
        for schemes in alternatives:
            ways = [way for way in map(self.ways.of, schemes) if way is not None]
            if schemes and len(ways) == len(schemes):
                return self._apply(ways), self._lasting(alternatives, ways)
        if not alternatives or () in alternatives:
            return NO_CREDENTIALS, not alternatives
        raise self._denied(alternatives, row)

    def _lasting(self, alternatives: tuple[tuple[str, ...], ...], ways: list[Way]) -> bool:
        per_user = self.ways.per_user
        if per_user.forward or per_user.exchange or any(way.grant in ("login", "certificate") for way in ways):
            return False
        schemes = [self.adapter.security_schemes.get(name, {}) for schemes in alternatives for name in schemes]
        return all(
            self.variables.steady((*one.get("variables", ()), *one.get("optional_variables", {}).values()))
            for one in schemes
        )

    def _apply(self, ways: list[Way]) -> Applied:
        self.take_up()
        headers: dict[str, str] = {}
        query: list[str] = []
        cookies: list[str] = []
        found: set[str] = set()
        for way in ways:
            scheme = self.adapter.security_schemes[way.scheme]
            if way.grant == "certificate":
                if self._tls is None:
                    raise self._late(scheme)
                self._tls.refresh()
                continue
            if way.grant:
                mark = self.mark(way.scheme)
                headers["Authorization"] = f"{'Digest' if way.grant == 'digest' else 'Bearer'} {mark}"
                found.add(mark)
                continue
            place, key, sent = _placed(scheme, way.values)
            if any(not (character.isprintable() or character == "\t") for character in sent):
                named = " or ".join(scheme["variables"])
                raise Failure(
                    Code.PERMISSION_DENIED,
                    f"Permission denied: {named} holds a line break or a control character.",
                    {"reason": "a credential cannot be sent as it is set", "missing": []},
                )
            see = self.seen.add if way.private else self.seen.own
            found |= see(way.values[:1], common=len("".join(way.values[1:])) > 1)  # a user name, or a key
            found |= see([*way.values[1:], sent, sent.rpartition(" ")[2]])
            if place == "header":
                headers[key] = sent
            else:
                pair = f"{quote(key, safe='')}={quote(sent, safe='' if place == 'query' else _COOKIE_SAFE)}"
                (query if place == "query" else cookies).append(pair)
        return Applied(tuple(headers.items()), tuple(query), tuple(cookies), frozenset(found))

    def _denied(self, alternatives: tuple[tuple[str, ...], ...], row: Row) -> Failure:
        served = [schemes for schemes in alternatives if all(map(self._is_served, schemes))]
        if not served:
            kinds = sorted({one for schemes in alternatives for one in schemes if not self._is_served(one)})
            reason = f"the operation '{row.name}' needs a credential of a kind not served yet: {', '.join(kinds)}"
            return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}.", {"reason": reason, "missing": []})
        lacking = [[one for one in schemes if self.ways.of(one) is None] for schemes in served]
        names = [name for schemes in lacking for scheme in schemes for name in self._lacks(scheme)]
        reason = f"no credential is set for operation '{row.name}'"
        told = "; or ".join(dict.fromkeys(" and ".join(map(self._advice, schemes)) for schemes in lacking))
        message = (
            f"Permission denied: {reason}. {told[:1].upper()}{told[1:]}. "
            f"A variable may also be named with _FILE behind it, for a file; "
            f"'{self.adapter.name}-adapter doctor' shows which ones are set."
        )
        return Failure(Code.PERMISSION_DENIED, message, {"reason": reason, "missing": list(dict.fromkeys(names))})

    def _late(self, scheme: Mapping[str, Any]) -> Failure:
        named = " and ".join(scheme["variables"])
        reason = "the client's certificate was set after the adapter had begun"
        message = f"Permission denied: {reason}. Start it again with {named}."
        return Failure(Code.PERMISSION_DENIED, message, {"reason": reason, "missing": []})

    def _is_served(self, scheme: str) -> bool:
        return bool(self.adapter.security_schemes.get(scheme, {}).get("variables"))

    def _lacks(self, scheme: str) -> list[str]:
        return [] if self.ways.is_per_user(scheme) else self.ways.missing(scheme)

    def _advice(self, scheme: str) -> str:
        """Say how a scheme's credential could be had, as the end of a sentence."""
        if self.ways.is_per_user(scheme):
            header = self.ways.per_user.forward.get(scheme)
            if header is not None:
                return f"let your client send your own credential in the header '{header}'"
            return "let your client send your own token in the header 'Authorization', as a Bearer token"
        found = [f"set {' and '.join(self.ways.missing(scheme))}"]
        for option in self.ways.options(scheme):
            if option.grant == "login":
                found.append(f"set {option.variables[0]} and run '{self.adapter.name}-adapter login'")
            elif option.grant != "refresh_token":
                found.append(f"set {' and '.join(option.variables)}")
        return ", or ".join(found)


def _placed(scheme: Mapping[str, Any], values: tuple[str, ...]) -> tuple[str, str, str]:
    """Give the place (header, query or cookie), the name and the value under which a scheme's credential is sent."""
    if scheme["type"] == "apiKey":
        return scheme["in"], scheme["name"], values[0]
    kind = scheme.get("scheme", "") if scheme["type"] == "http" else "bearer"
    if kind.lower() == "basic":
        pair = ":".join(values) if len(values) > 1 else values[0]
        return "header", "Authorization", "Basic " + base64.b64encode(pair.encode("utf-8", "surrogatepass")).decode()
    kind = "Bearer" if kind.lower() == "bearer" else kind
    return "header", "Authorization", f"{kind} {bare(kind, values[0])}"


def _secret_names(scheme: Mapping[str, Any]) -> list[str]:
    """Give the variables of a scheme that hold what nothing may show."""
    optional = [name for role, name in scheme.get("optional_variables", {}).items() if role not in _PUBLIC]
    return optional if scheme.get("type") == "mutualTLS" else [*scheme.get("variables", ()), *optional]


def _is_common(scheme: Mapping[str, Any], name: str, variables: Variables) -> bool:
    """Whether a value is a user name, which may stand in data; one without a password is a key itself."""
    names = scheme.get("variables", ())
    return len(names) > 1 and name == names[0] and len(variables.value(names[1]) or "") > 1
