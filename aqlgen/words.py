"""Words out of names and names out of words: camelCase, PascalCase, kebab-case, snake_case, dots, slashes and acronyms.

Everything here is a pure function of its arguments. Nothing that a document says can leave `^[a-z][a-z0-9_]*$`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pluralizer import Pluralizer

__all__ = ["pascal", "plural", "singular", "snake", "split"]

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
"""Names whose capitals are no word boundaries. Written so, and only so, they are one word."""

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


@lru_cache(maxsize=65536)
def split(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words of `[a-z0-9]`; letters without a Latin form are dropped.

    `getDNSRecords` is get, dns, records; `OAuth2Token` is oauth2, token; `IDs` is ids; `/repos/{owner}` is
    repos, owner; the sign of `-1` and the comparison of `DateCreated<` are words too, since the API tells parameters
    apart by them.
    """
    if not name.isascii():
        decomposed = unicodedata.normalize("NFKD", name.translate(_LETTERS))
        name = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    else:
        name = name.replace("'", "")
    name = _SIGN.sub(lambda match: _SIGNS[match[1]], name)
    name = _COMPARISON.sub(lambda match: _COMPARISONS[match[1]], name)
    name = _BRAND.sub(lambda match: f" {match[0].lower().capitalize()} ".removesuffix(" "), name)
    name = _TWO_FACTOR.sub(" ", name)
    return tuple(word.lower() for word in _WORD.findall(name))


def snake(name: str) -> str:
    """Write a name in snake_case, `^[a-z][a-z0-9_]*$`, or give "" when it has no usable letter or digit.

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
        " media metadata minus mms ms nas news nexus nfs odds os paas pandas plus pos postgres progress prometheus"
        " qos rds redis rls rss saas sas series ses sms sns software species sqs ssl sts sys this tls traffic tts"
        " us vps vs was windows wireless wms xss yes"
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
_SINGULARS: Final = {many: one for one, many in _IRREGULAR.items()} | {"indices": "index", "persons": "person"}


@cache
def _pluralizer() -> Pluralizer:
    from pluralizer import Pluralizer  # 40 ms that most commands never need

    make: Callable[[], Pluralizer] = Pluralizer
    return make()


def _countable(word: str) -> bool:
    return len(word) > 1 and word not in _UNCOUNTABLE and not word.endswith(("data", "ics", "ware"))


@lru_cache(maxsize=16384)
def singular(word: str) -> str:
    """Give the noun for one: policies is policy, statuses is status, metadata and dns stay as they are."""
    if word in _SINGULARS:
        return _SINGULARS[word]
    if word in _IRREGULAR or len(word) < 3 or not _countable(word):
        return word
    return str(_pluralizer().singular(word)) or word


@lru_cache(maxsize=16384)
def plural(word: str) -> str:
    """Give the noun for many: policy is policies, status is statuses, metadata and dns stay as they are."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _SINGULARS or not _countable(word):
        return word
    return str(_pluralizer().plural(word)) or word
