"""Parameters that hold the caller's own credential, by name, location and description, and the places of schemes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from aqlgen.ir import SIGNATURE, Location, Operation, Parameter, SecurityScheme
from aqlgen.words import split


class Likeness(IntEnum):
    """The likelihood that a parameter is the caller's credential."""

    NONE = 0
    POSSIBLE = 1
    """Its name could mean it and nothing else is said of it; nearly all operations have to agree."""
    LIKELY = 2
    """Its name usually means it, or the description says so; most operations have to agree."""
    CERTAIN = 3
    """It is called as nothing else is."""


_KEYS: Final = re.compile(
    r"(^|_)(api|app|application|access|auth|authentication|subscription|consumer|sdk|service|user|account)_?key$"
    r"|^(x_)?(apikey|appkey|authkey|sdkkey)$|_(apikey|sdkkey)$"
    r"|(^|_)(api|app|access|auth|authentication|authorization|bearer|oauth|private|service|session|user|vault|bot|acl|cli)"
    r"_?token$|^(x_)?(accesstoken|authtoken|apitoken)$"
    r"|(^|_)(api|app|application|auth|client|access|account)_?secret$"
    r"|^(x_)?authorization$|_(authorization|authentication|auth)$|^x_auth$"
)
"""The name of a key, a token, a secret or an authorization."""
_POSSIBLE: Final = re.compile(r"^(x_)?(key|token|auth|secret|appid|app_id|apikeyid)$")
_TAIL: Final = re.compile(r"(^|_)(?<!idempotency_)(?<!idempotent_)(key|token|secret)$")

_DESCRIBED: Final = re.compile(
    r"(?i)\b(api|app(lication)?|access|auth\w*|personal|private|registered|secret|subscription)[\s_`-]*(key|token|secret)"
    r"|\bauthenticat|\bauthoriz(e|ation)\b|\bbearer\b|\bcredential|\boauth|\byour (\w+ ){0,2}(key|token)\b"
)
_APPLICATION_KEY: Final = re.compile(r"(?i)\bapp(lication)?[\s_-]?key\b")
"""The key of the caller's application, or of the application that is asked about."""
_ABOUT: Final = re.compile(
    r"(?i)\b(to (be )?(revoke|delete|inspect|introspect|verify|validate|refresh|exchange|renew|remove|look ?up)d?"
    r"|received|sent (to|by) (the )?(user|e-?mail)|associated with|of the (user|item|device|account) to)\b"
)
COMPANIONS: Final = frozenset("username user id login email account name key secret token sid".split())
"""Last words of the names that go together: `Api-Key` and `Api-Username`, `app_id` and `app_key`."""

CLIENT_SECRET: Final = "client_secret"  # noqa: S105 - the name of a parameter
"""The secret of the caller's own application at an authorization server (RFC 6749, 2.3.1).

Of one thing, and without a `client_id`, it is that thing's: `GET /payments/{id}?client_secret=…`.
"""

_SIGNING: Final = frozenset(
    "x-amz-content-sha256 x-amz-date x-amz-algorithm x-amz-credential x-amz-security-token x-amz-signature"
    " x-amz-signedheaders x-amz-expires".split()
)
"""The headers or query parameters that Signature Version 4 adds to a request."""

_AUTHORIZING: Final = frozenset("oauth oauth2 token revoke revocation introspect introspection oidc".split())
_GRANTED: Final = re.compile(r"(^|_)(grant_type|code|token|assertion)$")


def likeness(parameter: Parameter) -> Likeness:
    """Return how much a parameter or a field looks like the caller's credential."""
    name = "_".join(split(parameter.name))
    in_header = parameter.location is Location.HEADER
    is_key, is_possible = _KEYS.search(name), _POSSIBLE.search(name)
    if not (is_key or is_possible or (in_header and _TAIL.search(name))):
        return Likeness.NONE
    described = bool(_DESCRIBED.search(parameter.description)) and not _ABOUT.search(parameter.description)
    if is_key:
        described &= bool(_DESCRIBED.search(_APPLICATION_KEY.sub("", parameter.description)))
        return Likeness.CERTAIN if described or in_header else Likeness.LIKELY
    if described:
        return Likeness.LIKELY
    if name != "key" and ((in_header and parameter.required) or (is_possible and not parameter.description)):
        return Likeness.POSSIBLE
    return Likeness.NONE


def stem(name: str) -> str:
    """Return the common stem of credentials that go together: `api` of `Api-Key` and `Api-Username`."""
    words = split(name)
    return "_".join(words[:-1]) if len(words) > 1 and words[-1] in COMPANIONS else "_".join(words)


def is_token_endpoint(operation: Operation, fields: Iterable[str]) -> bool:
    """Return True if an authorization server gives, shows or revokes tokens by an operation (RFC 6749, 7009, 7662).

    `fields` are those of its body: setting up an OAuth client takes a secret, too, and neither a grant nor a token.
    """
    if operation.method != "post" or _AUTHORIZING.isdisjoint(split(operation.path)):
        return False
    return any(map(is_proof, fields))


def is_proof(name: str) -> bool:
    """Return True if a field holds what an authorization server gives a token for, or says its kind."""
    return bool(_GRANTED.search("_".join(split(name))))


TOKENS = frozenset({"oauth2", "openIdConnect"})
"""Kinds of schemes whose credential is a token in the header Authorization."""


def sends(scheme: SecurityScheme) -> tuple[str, str]:
    """Return location and name of what a scheme sends; names of headers are in lower case."""
    if scheme.kind == "apiKey":
        name = scheme.parameter.lower() if scheme.location == Location.HEADER else scheme.parameter
        return scheme.location, name
    return ("", scheme.name) if scheme.kind == "mutualTLS" else (Location.HEADER.value, "authorization")


def sends_parameter(scheme: SecurityScheme, parameter: Parameter) -> bool:
    """Return True if a parameter stands where a scheme puts its credential, or a part of it."""
    is_signature = parameter.location in (Location.HEADER, Location.QUERY) and parameter.name.lower() in _SIGNING
    return (scheme.kind == SIGNATURE and is_signature) or sends(scheme) == parameter.key
