"""Credentials in the place where the API wants them (OpenAPI 3.1, Security Scheme and Security Requirement Object).

A known credential is put into the request as it is built. For one that must be requested first (a token, the answer to
a challenge) a mark is put in, which `auth/grants` replaces before the request is sent. A request whose mark was
removed, by a hook, goes out without it.
"""

from __future__ import annotations

import base64
import secrets as random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..encode import check_header
from ..encode.request import path_credential
from ..errors import Code, Failure
from ..redaction import Secrets
from ..settings.load import Variables
from ..table import Adapter, Row
from ..wire import NO_CREDENTIALS, Account, Applied
from . import BARE, KEY, by_doctor
from .sources import Source, Sources, without_scheme

if TYPE_CHECKING:
    import ssl

    from .logins import Logins, PerUser
    from .tls import ClientTls
    from .tokens import SharedTokens

_NO_CREDENTIAL = "none"
"""The value of MCP_AQL_AUTH for an API that wants no credential."""
_COOKIE_SAFE = "!#$%&'()*+,/:<=>?@[]^`{|}\"\\"
_PUBLIC = frozenset({"client_id", "scopes", "audience", "token_url", "discovery_url", "username"})


class Credentials:
    """The credentials of an adapter. `demanded` is false if none are needed or sent, as in mock mode.

    `seen` are the secrets to mask that it shares with others.
    """

    def __init__(
        self,
        adapter: Adapter,
        environ: Mapping[str, str],
        *,
        demanded: bool = True,
        per_user: PerUser | None = None,
        logins: Logins | None = None,
        tls: ClientTls | None = None,
        shared_tokens: SharedTokens | None = None,
        seen: Secrets | None = None,
    ) -> None:
        self.adapter = adapter
        self.variables = Variables(environ)
        more = {} if per_user is None else {"per_user": per_user}
        self.sources = Sources(adapter, self.variables, logins=logins, **more)
        self.seen = Secrets() if seen is None else seen
        self.marks: dict[str, str] = {}
        self._demanded = demanded
        self.shared_tokens = shared_tokens
        self._tls = tls
        self._applied: dict[tuple[tuple[str, ...], ...], Applied] = {}
        self._last: tuple[str | None, ...] | None = None
        self._secret_settings = self.variables.secret_settings()

    def for_row(self, row: Row) -> Applied:
        """Return the credentials of an operation's request. Raises Failure that names the missing variables."""
        if not self._demanded:
            return NO_CREDENTIALS
        alternatives = self.adapter.security if row.security is None else row.security
        applied = self._applied.get(alternatives)
        if applied is None:
            self.update_secrets()
            applied, lasting = self._choose(alternatives, row)
            applied = replace(applied, secrets=applied.secrets | self.seen.of_owner)  # a hook may send any of them
            if lasting:
                self._applied[alternatives] = applied
        return applied

    @property
    def verify(self) -> ssl.SSLContext | bool:
        """The TLS context with the client's certificate, True if there is none."""
        return True if self._tls is None else self._tls.context

    @property
    def secrets(self) -> frozenset[str]:
        """Every secret that is set or was seen."""
        self.update_secrets()
        return self.seen.all

    def update_secrets(self) -> None:
        """Register the secrets among the variables as they are now."""
        schemes = self.adapter.security_schemes.values()
        names = [(name, scheme) for scheme in schemes for name in _secret_names(scheme)]
        values = tuple(self.variables.value(name) for name, _ in names)
        settings = tuple(self.variables.value(name) for name in self._secret_settings)
        if (*values, *settings) == self._last:
            return
        self._last = (*values, *settings)
        for (name, scheme), value in zip(names, values, strict=True):
            self.seen.own([value] if value else (), common=_is_common(scheme, name, self.variables))
        for setting in filter(None, settings):
            self.seen.own(map(str.strip, setting.splitlines()))  # several tokens stand one a line
        self._own_forms()

    def _own_forms(self) -> None:
        """Register the other forms of secrets: the lines of private keys, and names with their passwords."""
        for scheme in self.adapter.security_schemes.values():
            if scheme.get("type") == "mutualTLS":
                from .tls import key_lines

                self.seen.own(key_lines(self.variables, scheme["variables"]))
            if scheme.get("type") == "http" and len(scheme["variables"]) > 1:
                pair = ":".join(self.variables.value(name) or "" for name in scheme["variables"])
                self.seen.own([pair] if len(pair) > 1 else ())

    def mark(self, scheme: str) -> str:
        """Return the mark that stands in a request for a scheme's credential until it is sent."""
        for mark, marked in self.marks.items():
            if marked == scheme:
                return mark
        mark = f"pending-{random.token_hex(12)}"
        self.marks[mark] = scheme
        return mark

    def _choose(self, alternatives: tuple[tuple[str, ...], ...], row: Row) -> tuple[Applied, bool]:
        """Apply the first complete alternative; also return True if that holds until the process ends.

        Where callers send their own credential, no alternative is chosen that has only the owner's.
        """
        of_caller = tuple(schemes for schemes in alternatives if any(map(self.sources.is_per_user, schemes)))
        for schemes in of_caller or alternatives:
            sources = [source for source in map(self.sources.of, schemes) if source is not None]
            if schemes and len(sources) == len(schemes):
                return self._apply(sources), self._lasting(alternatives, sources)
        if not alternatives or () in alternatives:
            return NO_CREDENTIALS, not alternatives
        raise self._denied(of_caller or alternatives, row)

    def _lasting(self, alternatives: tuple[tuple[str, ...], ...], sources: list[Source]) -> bool:
        per_user = self.sources.per_user
        if per_user or any(source.grant in ("login", "certificate") for source in sources):
            return False
        schemes = [self.adapter.security_schemes.get(name, {}) for schemes in alternatives for name in schemes]
        return all(
            self.variables.steady((*scheme.get("variables", ()), *scheme.get("optional_variables", {}).values()))
            for scheme in schemes
        )

    def _apply(self, sources: list[Source]) -> Applied:
        headers: dict[str, str] = {}
        query: list[str] = []
        cookies: list[str] = []
        path: dict[str, str] = {}
        body: dict[str, str] = {}
        variables: list[str] = []
        hidden: set[str] = set()
        for source in sources:
            scheme = self.adapter.security_schemes[source.scheme]
            variables += self.sources.origins(source)
            if source.grant == "certificate":
                if self._tls is None:
                    raise self._certificate_too_late(scheme)
                self._tls.refresh()
                continue
            if source.grant:
                mark = self.mark(source.scheme)
                headers["Authorization"] = f"{'Digest' if source.grant == 'digest' else 'Bearer'} {mark}"
                hidden.add(mark)
                continue
            place, key, text = _placed(scheme, source.values)
            if any(not (character.isprintable() or character == "\t") for character in text):
                names = " or ".join(scheme["variables"])
                raise Failure(
                    Code.PERMISSION_DENIED,
                    f"Permission denied: {names} holds a line break or a control character.",
                    {"reason": "a credential cannot be sent as it is set", "missing": []},
                )
            register = self.seen.add if source.private else self.seen.own
            hidden |= register(source.values[:1], common=len("".join(source.values[1:])) > 1)  # a user name, or a key
            hidden |= register([*source.values[1:], text, text.rpartition(" ")[2]])
            if place == "header":
                check_header(key)
                headers[key] = text
            elif place == "path":
                path[path_credential(key)] = text
            elif place == "body":
                body[key] = text
            else:
                pair = f"{quote(key, safe='')}={quote(text, safe='' if place == 'query' else _COOKIE_SAFE)}"
                (query if place == "query" else cookies).append(pair)
        origins = tuple(dict.fromkeys(variables))
        return Applied(tuple(headers.items()), tuple(query), tuple(cookies), frozenset(hidden), path, body, origins)

    def account(self, row: Row, status: int) -> Account | None:
        """Return the account of the credential of an operation whose request the API answered with a status.

        There is one of a 401, and of a 403 to a key alone in `Authorization`, which may lack a scheme before it.
        """
        if status not in (401, 403):
            return None
        try:
            applied = self.for_row(row)
        except Failure:
            applied = NO_CREDENTIALS
        text = f"A credential was sent, from {' and '.join(applied.variables) or 'the caller'}"
        if any(name.lower() == "authorization" and " " not in value for name, value in applied.headers):
            return Account(True, f"{text}, {BARE}")
        if status == 403:
            return None
        return (
            Account(True, text) if applied.is_sent else Account(False, f"No credential was sent: {self._remedy(row)}")
        )

    def _remedy(self, row: Row) -> str:
        """Return how the credential that an operation goes without can be supplied, as the end of a sentence."""
        if not self._demanded:
            return "MCP_AQL_AUTH is none"
        alternatives = self.adapter.security if row.security is None else row.security
        schemes = dict.fromkeys(name for schemes in alternatives for name in schemes if self._is_supported(name))
        advice = "; or ".join(dict.fromkeys(map(self._advice, schemes or self.adapter.security_schemes)))
        if not advice:
            served = "start 'aqlgen serve' with --auth (bearer, basic, header:NAME or query:NAME) to send one"
            return f"the API's document names none, {by_doctor(self.adapter.name, 'how to add one', served)}"
        return advice if schemes else "the API's document requires none here"

    def _denied(self, alternatives: tuple[tuple[str, ...], ...], row: Row) -> Failure:
        supported = [schemes for schemes in alternatives if all(map(self._is_supported, schemes))]
        if not supported:
            return self._not_served(alternatives, row)
        lacking = [[name for name in schemes if self.sources.of(name) is None] for schemes in supported]
        wanted = [scheme for schemes in lacking for scheme in schemes if not self.sources.is_per_user(scheme)]
        variables = [name for scheme in wanted for name in self.sources.missing(scheme)]
        reason = f"no credential is set for operation '{row.name}'"
        for name in self.sources.unreadable(*wanted)[:1]:
            reason = f"the file of {name} cannot be read"
        advice = "; or ".join(dict.fromkeys(" and ".join(map(self._advice, schemes)) for schemes in lacking))
        seen = by_doctor(self.adapter.name, "which ones are set", "'aqlgen serve' names the missing when it starts")
        message = (
            f"Permission denied: {reason}. {advice[:1].upper()}{advice[1:]}. "
            f"NAME_FILE may name a file with the value of NAME; {seen}. "
            f"If the API needs no credential: MCP_AQL_AUTH={_NO_CREDENTIAL}."
        )
        return Failure(Code.PERMISSION_DENIED, message, {"reason": reason, "missing": list(dict.fromkeys(variables))})

    def _not_served(self, alternatives: tuple[tuple[str, ...], ...], row: Row) -> Failure:
        kinds = sorted({name for schemes in alternatives for name in schemes if not self._is_supported(name)})
        reason = f"the operation '{row.name}' needs a credential of a kind not served yet: {', '.join(kinds)}"
        return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}.", {"reason": reason, "missing": []})

    def _certificate_too_late(self, scheme: Mapping[str, Any]) -> Failure:
        names = " and ".join(scheme["variables"])
        reason = "the client's certificate was set after the adapter had begun"
        message = f"Permission denied: {reason}. Start it again with {names}."
        return Failure(Code.PERMISSION_DENIED, message, {"reason": reason, "missing": []})

    def _is_supported(self, scheme: str) -> bool:
        return bool(self.adapter.security_schemes.get(scheme, {}).get("variables"))

    def _advice(self, scheme: str) -> str:
        """Return how a scheme's credential can be supplied, as the end of a sentence."""
        if self.sources.is_per_user(scheme):
            return f"let your client send your own credential in the header '{self.sources.per_user[scheme]}'"
        choices = [f"set {' and '.join(self.sources.missing(scheme))}"]
        for option in self.sources.options(scheme):
            if option.grant == "login":
                choices.append(f"set {option.variables[0]} and run '{self.adapter.name}-adapter login'")
            elif option.grant != "refresh_token":
                choices.append(f"set {' and '.join(option.variables)}")
        return ", or ".join(choices)


def _placed(scheme: Mapping[str, Any], values: tuple[str, ...]) -> tuple[str, str, str]:
    """Return place (header, query, cookie, path, body), name and value of a scheme's credential as it is sent."""
    if scheme["type"] == "apiKey":
        return scheme["in"], scheme["name"], _formatted(scheme, values[0])
    kind = scheme.get("scheme", "") if scheme["type"] == "http" else "bearer"
    if kind.lower() == "basic":
        pair = ":".join(values) if len(values) > 1 else values[0]
        return "header", "Authorization", "Basic " + base64.b64encode(pair.encode("utf-8", "surrogatepass")).decode()
    kind = "Bearer" if kind.lower() == "bearer" else kind
    return "header", "Authorization", f"{kind} {without_scheme(kind, values[0])}"


def _formatted(scheme: Mapping[str, Any], value: str) -> str:
    """Return an API key as it is sent; one that has an HTTP authentication scheme before it stands as it is."""
    written = scheme.get("format", "")
    kind, space, rest = value.partition(" ")
    if not written or (space and rest and kind.replace("-", "").isalnum()):
        return value
    return str(written).replace(KEY, value)


def _secret_names(scheme: Mapping[str, Any]) -> list[str]:
    """Return the variables of a scheme that hold secrets."""
    optional = [name for role, name in scheme.get("optional_variables", {}).items() if role not in _PUBLIC]
    return optional if scheme.get("type") == "mutualTLS" else [*scheme.get("variables", ()), *optional]


def _is_common(scheme: Mapping[str, Any], name: str, variables: Variables) -> bool:
    """Return True if a value is a user name, which may stand in data; one without a password is a key itself."""
    names = scheme.get("variables", ())
    return len(names) > 1 and name == names[0] and len(variables.value(names[1]) or "") > 1
