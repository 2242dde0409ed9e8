"""Splitting names into words and joining words to names: camelCase, kebab-case, dots, slashes, acronyms, plurals.

Every function is pure. Whatever a document says, the names stay within `^[a-z][a-z0-9_]*$`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pluralizer import Pluralizer

RESERVED_VARIABLES: Final = (
    "AWS_", "GIT_", "LD_", "MCP_AQL_", "PIP_", "PYTHON", "SSH_", "SSL_", "UV_", "XDG_",
)  # fmt: skip
"""Beginnings of variables that other programs keep their own secrets in: no document's title makes one a credential."""

_LETTERS: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ł": "l", "Ł": "L"}
    | {"ı": "i", "þ": "th", "Þ": "Th", "ð": "d", "Ð": "D", "'": "", "\u2019": ""}
)
"""Letters that have no decomposition in Unicode, and apostrophes, which join (`user's` is `users`)."""

_BRANDS: Final = (
    "AppSec CosmosDB DevOps DocuSign DynamoDB eBay eSIM FaaS GitHub GitLab GraphQL IaaS IDPs IoT iOS iPad iPhone"
    " IPsec IPv4 IPv6 JavaScript KeyVault LinkedIn macOS MariaDB MongoDB MySQL NoSQL NodeJS OAuth OAuth1 OAuth2"
    " OpenAI OpenAPI OpenID PaaS PayPal PostgreSQL PowerShell QoS SaaS TypeScript VoIP WebSocket WhatsApp WiFi"
    " WordPress YouTube"
).split()
"""Names whose capitals are no word boundaries. In exactly this spelling they are one word."""

_BRAND: Final = re.compile(rf"(?<![A-Z])(?:{'|'.join(sorted(_BRANDS, key=len, reverse=True))})(?:s(?![a-z]))?(?![a-z])")
_WORD: Final = re.compile(
    r"[A-Z]{2,}s(?![a-z0-9])"  # IDs, URLs
    r"|\d+[A-Z]{1,3}(?=[A-Z][a-z]|[^A-Za-z]|$)"  # 2FA
    r"|[A-Z]+\d+[a-z]?(?![a-z])"  # EC2, MD5, K8s
    r"|[A-Z]+(?=[A-Z][a-z])"  # DNS of DNSRecords
    r"|[A-Z]?[a-z0-9]+"
    r"|[A-Z]+"
)
_TWO_FACTOR: Final = re.compile(r"(?<=[a-z])(?=\d(?:FA|D)(?![a-z]))")
_SIGNS: Final = {"+": "plus ", "-": "minus "}
_SIGN: Final = re.compile(r"^\s*([+-])(?=\d)")
_COMPARISONS: Final = {"<": " lt", ">": " gt", "<=": " lte", ">=": " gte"}
_COMPARISON: Final = re.compile(r"(?<=\w)([<>]=?)$")


_MARKED: Final = re.compile(r"[A-Z'<>]|^\s*[+-]")
"""Signs that a name is more than runs of lower-case letters and digits."""
_INNER: Final = re.compile(r"[A-Za-z0-9][A-Z]|[A-Z]\d|['<>]|^\s*[+-]")
"""Signs that capitals are more than the first letters of words (`Get a user`)."""
_LOWER: Final = re.compile(r"[a-z0-9]+")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]+")


_SPOKEN: Final = re.compile(r"[^\W\d_]+")
_BINDING: Final = frozenset(
    "the of and to for with by from this that is are all an be will or on as it if not your".split()
)
"""Words that bind English sentences, whatever these are about. Texts of other languages have next to none of them."""


def is_english(texts: Iterable[str]) -> bool:
    """Return False for texts of another language: they lack binding words, and have other letters, or sentences.

    Few words, and titles such as `List Pets`, are no evidence of another language.
    """
    listed = list(texts)
    words = _SPOKEN.findall(" ".join(listed).lower())
    binding = len([word for word in words if word in _BINDING])
    if 20 * binding >= len(words):
        return True
    if 50 * len([word for word in words if not word.isascii()]) >= len(words):
        return False
    return 50 * binding >= len(words) or len(words) < max(100, 6 * len(listed))


def _latin(name: str) -> str:
    """Write a name in ASCII: accents are dropped, other scripts transliterated; signs and pictures are boundaries."""
    return _FOREIGN.sub(_transliterated, "".join(map(_plain, unicodedata.normalize("NFC", name.translate(_LETTERS)))))


def _plain(letter: str) -> str:
    """Drop a Latin letter's accents; leave other letters to be transliterated."""
    folded = "".join(part for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part))
    if folded.isascii() and folded:
        return folded
    return letter if unicodedata.category(letter)[0] in "LNM" else " "


def _transliterated(match: re.Match[str]) -> str:
    from anyascii import anyascii  # its tables are read only for documents that need them

    return f" {anyascii(match[0])} "


@lru_cache(maxsize=65536)
def split(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words of `[a-z0-9]`; other scripts become Latin letters (名前: ming, qian).

    `getDNSRecords` is get, dns, records; `OAuth2Token` is oauth2, token; `IDs` is ids; `/repos/{owner}` is
    repos, owner; the sign of `-1` and the comparison of `DateCreated<` are words too, since parameters of an API may
    differ in them alone.
    """
    if name.isascii():  # most names: nothing of what follows could match
        if _MARKED.search(name) is None:
            return tuple(_LOWER.findall(name))
        if _INNER.search(name) is None:
            return tuple(_LOWER.findall(name.lower()))
    name = (name if name.isascii() else _latin(name)).replace("'", "")
    name = _SIGN.sub(lambda match: _SIGNS[match[1]], name)
    name = _COMPARISON.sub(lambda match: _COMPARISONS[match[1]], name)
    name = _BRAND.sub(lambda match: f" {match[0].lower().capitalize()} ".removesuffix(" "), name)
    name = _TWO_FACTOR.sub(" ", name)
    return tuple(word.lower() for word in _WORD.findall(name))


def snake(name: str) -> str:
    """Write a name in snake_case, `^[a-z][a-z0-9_]*$`; "" if it has no usable letter or digit.

    A name that starts with a digit gets an `n`: `404` is `n404`.
    """
    text = "_".join(split(name))
    return f"n{text}" if text[:1].isdigit() else text


def pascal(words: Iterable[str]) -> str:
    """Join words to a type name: (dns, record) is `DnsRecord`; a digit in front gets an `N`."""
    text = "".join(word.capitalize() for word in words)
    return f"N{text}" if text[:1].isdigit() else text


_UNCOUNTABLE: Final = frozenset(
    (
        "access always analytics apns as aws bios bypass cas chaos cms cors css data ddos diagnostics dns dos ebs"
        " ecs efs eks ems feedback firmware fps gas gps graphics hardware has hls https iaas information ins iops"
        " ios is its jenkins js jwks k8s kinesis kms kubernetes kvs less lfs logistics loss lts luis macos mars"
        " media metadata minus mms ms nas news nexus nfs odds one os paas pandas plus pos postgres progress prometheus"
        " qos rcs rds redis rls rss saas sas series ses sms sns software species sqs ssl sts sys this tls traffic tts"
        " us voip vps vs was windows wireless wms xss yes"
    ).split()
)
"""Words that are the same for one and for many, or no nouns at all."""

_IRREGULAR: Final = {
    "appendix": "appendices",
    "axis": "axes",
    "cache": "caches",
    "canvas": "canvases",
    "cpu": "cpus",
    "gpu": "gpus",
    "index": "indexes",
    "leaf": "leaves",
    "lens": "lenses",
    "menu": "menus",
    "movie": "movies",
    "radius": "radii",
    "schema": "schemas",
    "sku": "skus",
    "status": "statuses",
    "vpc": "vpcs",
}
_SINGULARS: Final = {many: single for single, many in _IRREGULAR.items()} | {
    "indices": "index",
    "people": "person",
    "persons": "person",
}


@cache
def _pluralizer() -> Pluralizer:
    from pluralizer import Pluralizer  # 40 ms that most commands never need

    make: Callable[[], Pluralizer] = Pluralizer
    return make()


_COUNTED_ICS: Final = frozenset(
    "characteristics clinics comics critics epics fabrics medics metrics mosaics pics relics topics".split()
)
"""Plurals in -ics that are no fields of knowledge."""


_COUNTED_ING: Final = frozenset(
    "binding booking briefing building ceiling coding drawing embedding encoding ending evening"
    " filing finding hearing heading holding landing listing mailing mapping marking meaning meeting morning offering"
    " opening painting pairing posting ranking rating reading recording ruling saving screening setting"
    " sibling spelling spring standing string training vetting viewing warning wedding".split()
)
"""Words in -ing that are counted; the others (following, messaging, billing) have no plural."""


def _countable(word: str) -> bool:
    return (
        len(word) > 1
        and word not in _UNCOUNTABLE
        and (not word.endswith(("data", "dns", "ics", "kms", "ware")) or word in _COUNTED_ICS)
    )


_SINGULAR_ENDINGS: Final = frozenset("bcdfgjklmopqruvwyz0123456789")
"""Letters that no plural ends in, neither `policies` nor `people`: such words need no rules."""


@lru_cache(maxsize=16384)
def singular(word: str) -> str:
    """Return the singular of a noun: policies is policy, statuses is status, metadata and dns stay as they are."""
    if word in _SINGULARS:
        return _SINGULARS[word]
    if word in _IRREGULAR or len(word) < 3 or word[-1] in _SINGULAR_ENDINGS or not _countable(word):
        return word
    return str(_pluralizer().singular(word)) or word


@lru_cache(maxsize=16384)
def plural(word: str) -> str:
    """Return the plural of a noun: policy is policies, status is statuses, metadata and dns stay as they are."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _SINGULARS or not _countable(word):
        return word
    if word.endswith("ing") and len(word) > 5 and word not in _COUNTED_ING:
        return word
    return str(_pluralizer().plural(word)) or word
