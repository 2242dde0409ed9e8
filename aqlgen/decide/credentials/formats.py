"""How a key is written in the header Authorization: `Token {key}`, where the document says so in words only.

OpenAPI has no way to say it of a key (Security Scheme Object, type `apiKey`), so that documents describe it: "Use
`Authorization: Token <API_KEY>`", "must be prepended with 'token' followed by a space", "JWT Bearer token".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from aqlgen.decide.credentials.names import sends_parameter
from aqlgen.ir import Document, Parameter, SecurityScheme
from aqlgen.runtime.auth import KEY
from aqlgen.words import split

_HEADER: Final = "authorization"
_LONGEST: Final = 20_000
_MOST_USERS: Final = 20
_WRITTEN: Final = re.compile(
    r"""(?i:(?P<header>authorization["'`]{0,2}\s{0,2}[:=]\s{0,2})|(?P<quoted>["'`“])|[:-]\s|format\s|(?P<start>\A\s?))"""
    r"""(?P<word>[A-Za-z][A-Za-z0-9-]{1,30})[ ](?P<field>[a-z_]{1,20}=)?(?P<quote>"?)"""
    r"""(?P<value>[<{\[]{1,2}[^<>{}\[\]\n]{1,60}[>}\]]{1,2}|[^\s"'`,;<>{}\[\]()]{3,200})(?P<more>"?,)?"""
)
"""A header's value as people write it down: a word, a space, and what stands for the key."""
_QUOTED: Final = re.compile(r"""["'`“](?P<word>[A-Za-z][A-Za-z0-9-]{1,30}) ?["'`”]""")
_BEFORE: Final = re.compile(r"(?i)prefix|prepend|preced|\bword\b|\bstring\b|\bstart|\bbegin|\benter\b")
_AFTER: Final = re.compile(r"(?i)\bfollowed|\bprefix|\bspace\b")
_KEY_LIKE: Final = re.compile(r"(?i)token|key|jwt|secret|credential|hash|value|pass")
_DOTS: Final = re.compile(r"[xX*.…]{3,}")
_BASIC: Final = re.compile(r"(?i)\bbasic\b")
_BEARER: Final = re.compile(r"(?i)\bbearer\b")

_KNOWN: Final = frozenset("bearer token oauth jwt apikey bot dpop".split())
_MADE: Final = frozenset("basic digest negotiate ntlm mutual hmac signature aws4-hmac-sha256".split())
"""Authentication schemes that need more than a key put behind their name."""
_NO_SCHEMES: Final = frozenset(
    "use replace pass send provide enter put insert paste set include add your the an is are header authorization value"
    " example with as http https to of in and or for see get api this that has have be must it".split()
)


def with_format(scheme: SecurityScheme, document: Document) -> SecurityScheme:
    """Return a scheme with the format of its key, if it goes into a header Authorization and something tells one."""
    is_key = scheme.kind == "apiKey" and scheme.location == "header" and scheme.parameter.lower().endswith(_HEADER)
    if scheme.format or not is_key:
        return scheme
    parameters = (
        parameter
        for operation in document.operations
        for parameter in operation.parameters
        if sends_parameter(scheme, parameter)
    )
    texts = [scheme.description, *dict.fromkeys(text for parameter in parameters for text in texts_of(parameter))]
    users = [
        each for each in document.operations if each.security and all(scheme.name in names for names in each.security)
    ]
    about = (document.description, *(operation.description for operation in users[:_MOST_USERS]))
    return replace(scheme, format=key_format(texts, about, scheme.name))


def texts_of(parameter: Parameter) -> Iterator[str]:
    """Yield the texts that say how the value of a parameter is written."""
    schema = parameter.schema if isinstance(parameter.schema, dict) else {}
    for text in (parameter.description, parameter.example, *map(schema.get, ("default", "example", "pattern"))):
        if isinstance(text, str):
            yield text


def key_format(texts: Iterable[str], about: Iterable[str] = (), name: str = "") -> str:
    """Return how a key is written, "" if it stands alone.

    `texts` are about the credential, `about` are texts about the API and its operations, `name` is that of the scheme.
    """
    texts = [text[:_LONGEST] for text in texts]
    shown = (_written(text[:_LONGEST], header_only=True) for text in about)
    tellings = chain(map(_written, texts), shown)
    written = next((written for written in tellings if written is not None), None)
    if written is not None:
        return written
    words = " ".join((*split(name), *texts))
    return f"Bearer {KEY}" if _BEARER.search(words) and not _BASIC.search(words) else ""


def _written(text: str, *, header_only: bool = False) -> str | None:
    """Return the format that a text tells, "" if the key is not all there is to it, None if it tells none."""
    for match in _WRITTEN.finditer(text):
        word = match["word"]
        if (header_only and not match["header"]) or word.lower() in _NO_SCHEMES or not _stands_for_key(match):
            continue
        if word.lower() in _MADE or match["more"]:
            return ""
        return f"{word} {match['field'] or ''}{match['quote']}{KEY}{match['quote']}"
    for match in () if header_only else _QUOTED.finditer(text):
        word, start, end = match["word"], match.start(), match.end()
        if word.lower() not in _NO_SCHEMES and (
            _BEFORE.search(text, max(0, start - 40), start) or _AFTER.search(text, end, end + 25)
        ):
            return "" if word.lower() in _MADE else f"{word} {KEY}"
    return None


def _stands_for_key(match: re.Match[str]) -> bool:
    """Return True if what follows a word stands for a key: `<API_KEY>`, `YOUR_TOKEN`, `xxxx`, or a sample of one."""
    value = match["value"].rstrip(".")
    if match["start"] is not None and match["word"].lower() not in _KNOWN:
        return False
    if value[0] in "<{[":
        return bool(match["header"] or _KEY_LIKE.search(value))
    if not match["header"] and not match["quoted"]:
        return False
    if _DOTS.fullmatch(value):
        return True
    if _KEY_LIKE.search(value) and (value.isupper() or value[0] in "$%" or "_" in value or "-" in value):
        return True
    return len(value) >= 8 and any(map(str.isdigit, value))
