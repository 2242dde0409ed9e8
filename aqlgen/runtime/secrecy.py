# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What nothing may show: credentials in every form in which they are sent or come back."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from .speech import redact

__all__ = ["Secrets", "forms"]

_TRIPLET = re.compile("%[0-9A-F]{2}")
_MOST = 4096
_TELLING = 8
"""The shortest secret that is masked within data: shorter ones stand in ordinary words."""

_CALL: ContextVar[frozenset[str]] = ContextVar("secrets_of_the_call", default=frozenset())


@lru_cache(1024)
def forms(value: str) -> frozenset[str]:
    """Give a secret as it is, and as it stands in a query, a form, base64, JSON and XML."""
    raw = value.encode("utf-8", "surrogatepass")
    misread = raw.decode("latin-1")  # as servers read a header
    found = {value, base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("=")}
    encoded = {quote(raw, safe=safe) for safe in ("", "/", "!'()*")} | {quote_plus(raw)}
    found |= encoded | {_TRIPLET.sub(lambda one: one[0].lower(), one) for one in encoded}
    found |= {
        misread,
        *(json.dumps(one, ensure_ascii=escaped)[1:-1] for one in (value, misread) for escaped in (True, False)),
    }
    found |= {one.replace("/", "\\/") for one in found}  # some write JSON so
    found.add(value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return frozenset(found - {""})


class Secrets:
    """The secrets that were seen so far: the owner's, which stay, and those of tokens and callers.

    Of the latter thousands are known, the oldest forgotten first; within data those of the call at hand are looked for.
    """

    def __init__(self) -> None:
        self._own: dict[str, bool] = {}
        self._others: dict[str, bool] = {}
        self._all: frozenset[str] | None = None

    def own(self, values: Iterable[str], *, common: bool = False) -> frozenset[str]:
        """Take up values of the owner, and give all their forms. `common` ones, such as user names, stand in data."""
        given = _forms(values)
        for one in given:
            known = self._own.get(one)
            self._own[one] = common if known is None else common and known
            if known is None:
                self._all = None
        return frozenset(given)

    def add(self, values: Iterable[str], *, common: bool = False) -> frozenset[str]:
        """Take up values that the call at hand goes with, and give all their forms."""
        given = _forms(values)
        for one in given - self._own.keys():
            known = self._others.pop(one, None)
            self._others[one] = common if known is None else common and known
            if known is None:
                self._all = None
        while len(self._others) > _MOST:
            del self._others[next(iter(self._others))]
            self._all = None
        telling = frozenset(one for one in given if len(one) >= _TELLING and not self._others.get(one, True))
        if not telling <= _CALL.get():
            _CALL.set(_CALL.get() | telling)
        return frozenset(given)

    @property
    def all(self) -> frozenset[str]:
        """Every one, in each of its forms."""
        if self._all is None:
            self._all = frozenset(self._own) | frozenset(self._others)
        return self._all

    def stand_in(self, content: bytes) -> bool:
        """Whether bytes hold a secret that must not be shown within data."""
        return any(_encoded(one) in content for one in self._telling())

    def masked(self, data: Any) -> Any:
        """Give JSON data with every secret in its texts replaced by `***`; the same object when there is none."""
        telling = self._telling()
        return _masked(data, telling) if telling else data

    def _telling(self) -> tuple[str, ...]:
        own = (one for one, common in self._own.items() if not common and len(one) >= _TELLING)
        return (*own, *_CALL.get())


@lru_cache(4096)
def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _forms(values: Iterable[str]) -> set[str]:
    return {form for value in values if value for form in forms(value)}


def _masked(data: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(data, str):
        return redact(data, secrets) if any(one in data for one in secrets) else data
    if isinstance(data, dict):
        changed = {_masked(key, secrets): _masked(value, secrets) for key, value in data.items()}
        same = all(new is data.get(key, data) for key, new in changed.items())
        return data if same else changed
    if isinstance(data, list):
        items = [_masked(one, secrets) for one in data]
        return data if all(new is old for new, old in zip(items, data, strict=True)) else items
    return data
