"""Parameters that hold the caller's own credential, by name, kind, location and description.

What only speaks of tokens and keys is none: cursors, keys of maps, keys for idempotency, tokens against forgery, and
the token or key that an operation is about (`DELETE /tokens/{token}`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import JsonSchema, Location, Operation, Parameter
from aqlgen.words import split

__all__ = [
    "CLIENT_SECRET",
    "COMPANIONS",
    "Likeness",
    "is_callers",
    "is_of_something_else",
    "is_proof",
    "is_signing_part",
    "is_text",
    "is_token_endpoint",
    "issues_credentials",
    "likeness",
    "stem",
]


class Likeness(IntEnum):
    """The likelihood that a parameter is the caller's credential."""

    NONE = 0
    POSSIBLE = 1
    """Its name could mean it and nothing else is said of it; nearly all operations have to agree."""
    LIKELY = 2
    """Its name usually means it, or the description says so; most operations have to agree."""
    CERTAIN = 3
    """It is called as nothing else is."""


_KEY: Final = re.compile(
    r"(^|_)(api|app|application|access|auth|authentication|subscription|consumer|sdk|service|user|account)_?key$"
    r"|^(x_)?(apikey|appkey|authkey|sdkkey)$|_(apikey|sdkkey)$"
)
_TOKEN: Final = re.compile(
    r"(^|_)(api|app|access|auth|authentication|authorization|bearer|oauth|private|service|session|user|vault|bot|acl|cli)"
    r"_?token$|^(x_)?(accesstoken|authtoken|apitoken)$"
)
_SECRET: Final = re.compile(r"(^|_)(api|app|application|auth|client|access|account)_?secret$")
_AUTHORIZATION: Final = re.compile(r"^(x_)?authorization$|_(authorization|authentication|auth)$|^x_auth$")
_POSSIBLE: Final = re.compile(r"^(x_)?(key|token|auth|secret|appid|app_id|apikeyid)$")
_TAIL: Final = re.compile(r"(^|_)(key|token|secret)$")

_OTHERS: Final = re.compile(
    r"(^|_)(csrf|xsrf|page|next|previous|prev|continuation|cursor|sync|start|end|last|resume|batch|scroll|delta|watch"
    r"|idempotency|idempotent|request|client_request|transaction|dedupe|deduplication|sort|order|partition|row|range"
    r"|group|public|encryption|customer|cache|object|storage|etag|lock|lease|device|push|fcm|apns|captcha|recaptcha"
    r"|hcaptcha|turnstile|otp|mfa|totp|invite|invitation|reset|verification|confirmation|confirm|activation|download"
    r"|upload|share|sharing|charge|payment|card|refresh|id|consent|unsubscribe|registration|webhook|hub|interaction)_?"
    r"(key|token|secret|password|code|auth|signature)$|(^|_)encryption_"
)
"""Keys and tokens of something else than the caller."""

_DESCRIBED: Final = re.compile(
    r"(?i)\b(api|app(lication)?|access|auth\w*|personal|private|registered|secret|subscription)[\s_`-]*(key|token|secret)"
    r"|\bauthenticat|\bauthoriz(e|ation)\b|\bbearer\b|\bcredential|\boauth|\byour (\w+ ){0,2}(key|token)\b"
)
_NEEDED_TO: Final = re.compile(
    r"(?i)\b(required|needed|necessary|used) (to|for) (run|call|access|execut|invok|perform|authenticat|authori[sz])"
)
"""Words about a token without which nobody may call an operation."""
_CALLERS: Final = re.compile(r"(^|_)token$|^secret_id$")
_APPLICATION_KEY: Final = re.compile(r"(?i)\bapp(lication)?[\s_-]?key\b")
"""The key of the caller's application, or of the application that is asked about."""
_ABOUT: Final = re.compile(
    r"(?i)\b(to (be )?(revoke|delete|inspect|introspect|verify|validate|refresh|exchange|renew|remove|look ?up)d?"
    r"|received|sent (to|by) (the )?(user|e-?mail)|associated with|of the (user|item|device|account) to)\b"
)
_SUBJECTS: Final = frozenset(
    "token tokens tokeninfo revoke introspect introspection apikey apikeys key keys secret secrets credential"
    " credentials verify validate".split()
)
"""Words of a path whose operation is about tokens and keys."""

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

_ISSUERS: Final = frozenset("token login signin logon oauth authenticate session sessions access_token auth".split())
_AUTHORIZING: Final = frozenset("oauth oauth2 token revoke revocation introspect introspection oidc".split())
_GRANTED: Final = re.compile(r"(^|_)(grant_type|code|token|assertion)$")
_OF_PEOPLE: Final = re.compile(r"(^|_)(password|passwd|client_secret|grant_type|refresh_token|code_verifier|api_?key)$")
_MAX_DEPTH: Final = 3
_MAX_OPTIONS: Final = 20


def likeness(parameter: Parameter, operation: Operation) -> Likeness:
    """Return how much a parameter of an operation looks like the caller's credential."""
    name = "_".join(split(parameter.name))
    if not is_text(parameter.schema) or is_of_something_else(name):
        return Likeness.NONE
    if name == CLIENT_SECRET and parameter.location in (Location.HEADER, Location.QUERY):
        beside = {"_".join(split(other.name)) for other in operation.parameters}
        is_of_item = "{" in operation.path and "client_id" not in beside
        return Likeness.NONE if is_of_item else Likeness.CERTAIN
    described = bool(_DESCRIBED.search(parameter.description)) and not _ABOUT.search(parameter.description)
    if parameter.location is Location.PATH:
        return _in_path(name, parameter, operation, described=described)
    if parameter.location is not Location.HEADER and not _SUBJECTS.isdisjoint(split(operation.path)):
        return Likeness.NONE
    named = any(pattern.search(name) for pattern in (_KEY, _TOKEN, _SECRET, _AUTHORIZATION))
    if named:
        described = described and bool(_DESCRIBED.search(_APPLICATION_KEY.sub("", parameter.description)))
        return Likeness.CERTAIN if described or parameter.location is Location.HEADER else Likeness.LIKELY
    if not _POSSIBLE.search(name) and not (parameter.location is Location.HEADER and _TAIL.search(name)):
        return Likeness.NONE
    if described:
        return Likeness.LIKELY
    is_needed = parameter.location is Location.HEADER and parameter.required
    return Likeness.NONE if (parameter.description and not is_needed) or name == "key" else Likeness.POSSIBLE


def _in_path(name: str, parameter: Parameter, operation: Operation, *, described: bool) -> Likeness:
    """Return the likeness of a path parameter: it stands before all others, and not behind what names a resource.

    One that is the only one, and is said to be needed for the call, is certain: `/cron/{cliToken}`.
    """
    before, _, after = operation.path.partition("{" + parameter.name + "}")
    words = split(before)
    if _TOKEN.search(name) and _NEEDED_TO.search(parameter.description) and "{" not in before + after:
        return Likeness.CERTAIN if _SUBJECTS.isdisjoint(words) else Likeness.NONE
    if "{" in before or before.count("/") > 2 or not _SUBJECTS.isdisjoint(words):
        return Likeness.NONE
    if any(pattern.search(name) for pattern in (_KEY, _TOKEN, _SECRET)):
        return Likeness.LIKELY
    return Likeness.POSSIBLE if described and _POSSIBLE.search(name) else Likeness.NONE


def is_callers(name: str) -> bool:
    """Return True if a field can hold the caller's credential, in an object that tells of the request; by its words."""
    return bool(_CALLERS.search(name)) and not is_of_something_else(name)


def is_of_something_else(name: str) -> bool:
    """Return True if a key or token is not the caller's by its words: of a page, a repetition, an invitation."""
    return bool(_OTHERS.search(name))


def is_text(schema: JsonSchema) -> bool:
    """Return True if a schema permits a text of any content."""
    if not isinstance(schema, dict):
        return schema is True
    if "enum" in schema or "const" in schema:
        return False
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list):
        return any(is_text(option) for option in options)
    kind = schema.get("type", "string")
    return kind == "string" or (isinstance(kind, list) and "string" in kind)


def stem(name: str) -> str:
    """Return what the names of credentials that go together have in common: `api` of `Api-Key` and `Api-Username`."""
    words = split(name)
    return "_".join(words[:-1]) if len(words) > 1 and words[-1] in COMPANIONS else "_".join(words)


def is_signing_part(parameter: Parameter) -> bool:
    """Return True if a parameter is a part of an AWS signature, which is made anew for each request."""
    return parameter.location in (Location.HEADER, Location.QUERY) and parameter.name.lower() in _SIGNING


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


def issues_credentials(operation: Operation, resolver: Resolver) -> bool:
    """Return True if an operation gives a credential for another one: a login, or a token endpoint (RFC 6749, 3.2)."""
    last = next((words for segment in reversed(operation.path.split("/")) if (words := split(segment))), ())
    if operation.method != "post" or _ISSUERS.isdisjoint((*last, "".join(last))):
        return False
    media = operation.body.media if operation.body is not None else ()
    names = [parameter.name for parameter in operation.parameters]
    for part in media:
        names += _properties(part.schema, resolver)
    return any(_OF_PEOPLE.search("_".join(split(name))) for name in names)


def _properties(schema: JsonSchema | None, resolver: Resolver, depth: int = 0) -> list[str]:
    """Return the names of an object's fields, those of the schemas that it is made of included."""
    try:
        node, _ = resolver.follow(schema, "")
    except UnresolvedError:
        return []
    if not isinstance(node, dict) or depth > _MAX_DEPTH:
        return []
    properties = node.get("properties")
    names = [str(name) for name in properties] if isinstance(properties, dict) else []
    for keyword in ("allOf", "anyOf", "oneOf"):
        options = node.get(keyword)
        for option in options[:_MAX_OPTIONS] if isinstance(options, list) else ():
            names += _properties(option, resolver, depth + 1)
    return names
