# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Redaction: removes credentials from text and data, in every form in which they are sent or come back."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

__all__ = ["Secrets", "forms", "redact", "redacted"]

_TRIPLET = re.compile("%[0-9A-F]{2}")
_SHORTEST_SECRET = 4  # replacing every 'a' in an answer would hide nothing and spoil the text
_SHORTEST_IN_DATA = 8
"""The shortest secret that is masked within data: shorter ones are part of ordinary words."""
_MAX_OTHERS = 4096

_CALL: ContextVar[frozenset[str]] = ContextVar("secrets_of_the_call", default=frozenset())


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return a text with every secret replaced by `***`, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET and secret in text:
            text = text.replace(secret, "***")
    return text


def redacted(value: Any, secrets: Iterable[str]) -> Any:
    """Return JSON data with every secret in its texts and keys replaced by `***`."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, dict):
        return {redact(key, secrets): redacted(item, secrets) for key, item in value.items()}
    return [redacted(item, secrets) for item in value] if isinstance(value, list) else value


@lru_cache(1024)
def forms(value: str) -> frozenset[str]:
    """Return a secret as it is, and as it is written in a query, a form, base64, JSON and XML."""
    raw = value.encode("utf-8", "surrogatepass")
    misread = raw.decode("latin-1")  # as servers read a header
    spellings = {value, base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("=")}
    encoded = {quote(raw, safe=safe) for safe in ("", "/", "!'()*")} | {quote_plus(raw)}
    spellings |= encoded | {_TRIPLET.sub(lambda triplet: triplet[0].lower(), text) for text in encoded}
    spellings |= {
        misread,
        *(json.dumps(text, ensure_ascii=escaped)[1:-1] for text in (value, misread) for escaped in (True, False)),
    }
    spellings |= {text.replace("/", "\\/") for text in spellings}  # some write JSON so
    spellings.add(value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return frozenset(spellings - {""})


class Secrets:
    """The secrets seen so far: the owner's, which stay, and those of tokens and callers.

    Of the latter thousands are remembered, the oldest forgotten first; within data, those of the current call are
    looked for.
    """

    def __init__(self) -> None:
        self._own: dict[str, bool] = {}
        self._others: dict[str, bool] = {}
        self._all: frozenset[str] | None = None

    def own(self, values: Iterable[str], *, common: bool = False) -> frozenset[str]:
        """Add values of the owner and return all their forms. `common` ones, such as user names, stay in data."""
        added = _all_forms(values)
        for form in added:
            known = self._own.get(form)
            self._own[form] = common if known is None else common and known
            if known is None:
                self._all = None
        return frozenset(added)

    def add(self, values: Iterable[str], *, common: bool = False) -> frozenset[str]:
        """Add values that the current call is sent with and return all their forms."""
        added = _all_forms(values)
        for form in added - self._own.keys():
            known = self._others.pop(form, None)
            self._others[form] = common if known is None else common and known
            if known is None:
                self._all = None
        while len(self._others) > _MAX_OTHERS:
            del self._others[next(iter(self._others))]
            self._all = None
        in_data = frozenset(
            form for form in added if len(form) >= _SHORTEST_IN_DATA and not self._others.get(form, True)
        )
        if not in_data <= _CALL.get():
            _CALL.set(_CALL.get() | in_data)
        return frozenset(added)

    @property
    def all(self) -> frozenset[str]:
        """All secrets, in each of their forms."""
        if self._all is None:
            self._all = frozenset(self._own) | frozenset(self._others)
        return self._all

    def occur_in(self, content: bytes) -> bool:
        """Return True if bytes hold a secret that must not be shown within data."""
        return any(_encoded(secret) in content for secret in self._masked_in_data())

    def masked(self, data: Any) -> Any:
        """Return JSON data with every secret in its texts replaced by `***`; the same object if there is none."""
        secrets = self._masked_in_data()
        return _masked(data, secrets) if secrets else data

    def _masked_in_data(self) -> tuple[str, ...]:
        forms = (form for form, common in self._own.items() if not common and len(form) >= _SHORTEST_IN_DATA)
        return (*forms, *_CALL.get())


@lru_cache(4096)
def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _all_forms(values: Iterable[str]) -> set[str]:
    return {form for value in values if value for form in forms(value)}


def _masked(data: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(data, str):
        return redact(data, secrets) if any(secret in data for secret in secrets) else data
    if isinstance(data, dict):
        changed = {_masked(key, secrets): _masked(value, secrets) for key, value in data.items()}
        same = all(new is data.get(key, data) for key, new in changed.items())
        return data if same else changed
    if isinstance(data, list):
        items = [_masked(item, secrets) for item in data]
        return data if all(new is old for new, old in zip(items, data, strict=True)) else items
    return data
