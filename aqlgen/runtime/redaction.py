"""Redaction: removes credentials from text and data, in the forms in which they are sent or come back as a rule.

A text is searched for a secret as it is, within JSON and in percent-encoding, also several times over, and in base64
and hexadecimal, within longer ones too. What an API writes in any other way is not found: there is no end of such ways.
All of it is linear in the size of the text.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from .session import request_secrets

MASK = "***"
SECRET_NAME = re.compile(
    r"passw|passphrase|secret|token|api_?key|credential|authori[sz]ation|private_?key|^pin$|cvv", re.IGNORECASE
)
"""A name whose value is shown to nobody and kept nowhere, whatever the document says of it."""
_SHORTEST = 4  # replacing every 'a' in an answer would hide nothing and spoil the text
_SHORTEST_IN_DATA = 8
"""The shortest secret that is masked within data, and in base64: shorter ones are part of ordinary words."""
_MAX_OTHERS = 4096
_MAX_LAYERS = 5
_MAX_MINIMISED = 400
_LONGEST_PATTERN = 1000
"""Characters of a secret that is masked in every spelling; with a longer one in another, all of the text is masked."""
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|[\"\\/bfnrt])")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})++")
_BACKSLASH = "\\"
_BREAK = r"(?:\s|\\[nr])*+"
"""What may divide base64 and hexadecimal: white space, and line breaks as JSON writes them."""
_USERINFO = re.compile(r"(?<=://)[^/?#\s@]{1,2000}@")
_CREDENTIAL_HEADER = re.compile(
    r"authori[sz]ation|cookie|api-?key|subscription-key|access-?key|token|secret|passw|credential|signature|session"
)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return a text with every secret replaced by `***`."""
    return _redactor(_values(secrets), _SHORTEST).text(text)


def redacted(value: Any, secrets: Iterable[str]) -> Any:
    """Return JSON data with every secret in its texts and keys replaced by `***`; the same object if there is none."""
    return _redactor(_values(secrets), _SHORTEST).data(value)


def occurs(text: str, secrets: Iterable[str]) -> bool:
    """Return True if a text holds a secret in any form."""
    return _redactor(_values(secrets), _SHORTEST).occurs(text)


def is_credential_header(name: str) -> bool:
    """Return True if a header's value is a credential by its name, such as Authorization, Cookie and X-Api-Key."""
    return _CREDENTIAL_HEADER.search(name.lower().replace("_", "-")) is not None


def without_userinfo(text: str) -> str:
    """Return a text with user names and passwords in its URLs replaced by `***`."""
    return _USERINFO.sub(f"{MASK}@", text)


def url_secrets(url: str) -> list[str]:
    """Return the password in a URL, as it is written and as it is sent, alone and behind its user name."""
    userinfo = _USERINFO.search(url)
    if userinfo is None:
        return []
    pair = userinfo[0][:-1]
    pairs = (pair, unquote(pair))
    return [text for pair in pairs for text in (pair, pair.partition(":")[2]) if text]


class Secrets:
    """The secrets seen so far: the owner's, which stay, and those of tokens and callers.

    Of the latter thousands are remembered, the oldest forgotten first; within data, those of the current call are
    looked for.
    """

    def __init__(self) -> None:
        self._own: dict[str, bool] = {}
        self._others: dict[str, bool] = {}
        self._all: frozenset[str] | None = None
        self._own_in_data: frozenset[str] = frozenset()

    def own(self, values: Iterable[str], *, common: bool = False) -> frozenset[str]:
        """Add values of the owner and return them. `common` ones, such as user names, stay in data."""
        added = frozenset(filter(None, values))
        for value in added:
            known = self._own.get(value)
            self._own[value] = common if known is None else common and known
        if added:
            self._all = None
            self._own_in_data = frozenset(value for value, is_common in self._own.items() if not is_common)
        return added

    def add(self, values: Iterable[str], *, common: bool = False) -> frozenset[str]:
        """Add values that the current call is sent with and return them."""
        added = frozenset(filter(None, values))
        for value in added - self._own.keys():
            known = self._others.pop(value, None)
            self._others[value] = common if known is None else common and known
            if known is None:
                self._all = None
        while len(self._others) > _MAX_OTHERS:
            del self._others[next(iter(self._others))]
            self._all = None
        request_secrets().update(value for value in added if not self._others.get(value, True))
        return added

    @property
    def of_owner(self) -> frozenset[str]:
        """The owner's secrets."""
        return frozenset(self._own)

    @property
    def all(self) -> frozenset[str]:
        """All secrets."""
        if self._all is None:
            self._all = frozenset(self._own) | frozenset(self._others)
        return self._all

    def masked(self, data: Any) -> Any:
        """Return JSON data with every secret in it replaced by `***`; the same object if there is none."""
        of_request = request_secrets()
        values = self._own_in_data.union(of_request) if of_request else self._own_in_data
        return _redactor(values, _SHORTEST_IN_DATA).data(data) if values else data


class _Redactor:
    """The search for a set of secrets, prepared once. `few` finds what `needles` finds, with fewer of them.

    `encoded` are those in base64 and hexadecimal, which line breaks may divide.
    """

    def __init__(self, values: Iterable[str], shortest: int) -> None:
        forms = [_forms_of(value) for value in values if len(value) >= shortest]
        self._encoded = frozenset(form for _, encoded in forms for form in encoded)
        self._needles = self._encoded.union(form for plain, _ in forms for form in plain if len(form) >= shortest)
        self._few = _minimised(self._needles)
        self._few_encoded = _minimised(self._encoded)

    def occurs(self, text: str) -> bool:
        """Return True if a text holds a secret."""
        if not self._few:
            return False
        for reading in _readings(text):
            for needle in self._few:
                if needle in reading:
                    return True
            if "\n" in reading:
                joined = _joined(reading)
                for needle in self._few_encoded:
                    if needle in joined:
                        return True
        return False

    def text(self, text: str) -> str:
        """Return a text without secrets; the same object if there is none."""
        if not self.occurs(text):
            return text
        readings = list(_readings(text))
        joined = [_joined(reading) for reading in readings]
        masked = text
        for needle in sorted(self._needles, key=len, reverse=True):
            is_encoded = needle in self._encoded
            if any(needle in reading for reading in (joined if is_encoded else readings)):
                masked = _pattern(needle, _BREAK if is_encoded else "").sub(MASK, masked.replace(needle, MASK))
        return MASK if self.occurs(masked) else masked

    def data(self, data: Any) -> Any:
        """Return JSON data without secrets; the same object if there is none."""
        if not self._few:
            return data
        if isinstance(data, str):
            return self.text(data)
        try:
            text = _encode(data)
        except (ValueError, TypeError, RecursionError):
            return self._masked(data)
        return self._masked(data) if '"base64"' in text or self.occurs(text) else data

    def _masked(self, data: Any) -> Any:
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, dict):
            if data.get("encoding") == "base64" and isinstance(data.get("content"), str):
                data = self._with_masked_bytes(data)
            changed = {self._masked(key): self._masked(value) for key, value in data.items()}
            same = all(new is data.get(key, data) for key, new in changed.items())
            return data if same else changed
        if isinstance(data, (list, tuple)):
            items = [self._masked(item) for item in data]
            return data if all(new is old for new, old in zip(items, data, strict=True)) else items
        if data is None or isinstance(data, bool):
            return data
        return MASK if self.occurs(str(data)) else data

    def _with_masked_bytes(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return bytes that the adapter wrote in base64 without the secrets within them."""
        try:
            content = base64.b64decode(data["content"], validate=True).decode("latin-1")
        except (binascii.Error, ValueError):
            return data
        masked = self.text(content)
        if masked is content:
            return data
        return {**data, "content": base64.b64encode(masked.encode("latin-1")).decode("ascii")}


def _values(secrets: Iterable[str]) -> frozenset[str]:
    return secrets if isinstance(secrets, frozenset) else frozenset(filter(None, secrets))


@lru_cache(256)
def _redactor(values: frozenset[str], shortest: int) -> _Redactor:
    return _Redactor(values, shortest)


@lru_cache(8192)
def _forms_of(value: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the forms of a secret: as it is, as servers read a header, and in base64 and hexadecimal."""
    raw = value.encode("utf-8", "surrogatepass")
    plain = {value, raw.decode("latin-1"), value.replace(" ", "+")}
    if len(value) < _SHORTEST_IN_DATA:
        return frozenset(plain), frozenset()
    aligned = [base64.b64encode(b"\0" * shift + raw).decode("ascii") for shift in range(3)]
    bounds = [(begin, (shift + len(raw)) * 8 // 6) for shift, begin in enumerate((0, 2, 3))]  # of the value alone
    encoded = {raw.hex(), raw.hex().upper(), *(text[slice(*of)] for text, of in zip(aligned, bounds, strict=True))}
    encoded |= {text.replace("+", "-").replace("/", "_") for text in encoded}
    return frozenset(plain), frozenset(encoded)


def _minimised(needles: frozenset[str]) -> tuple[str, ...]:
    """Return the needles that hold no other, for a few of them; of many all."""
    if len(needles) > _MAX_MINIMISED:
        return tuple(needles)
    kept: list[str] = []
    for needle in sorted(needles, key=len):
        if not any(shorter in needle for shorter in kept):
            kept.append(needle)
    return tuple(kept)


def _readings(text: str) -> Iterator[str]:
    """Yield a text, and what it means once JSON and percent-encoding are decoded, layer by layer."""
    yield text
    for _ in range(_MAX_LAYERS):
        before = text
        if "\\" in text:
            text = _ESCAPE.sub(lambda match: _character(match[0]), text)
        if text != before:
            yield text
        decoded = _PERCENT.sub(lambda match: bytes.fromhex(match[0].replace("%", "")).decode("latin-1"), text)
        if decoded != text:
            yield decoded
        if decoded == before:
            return
        text = decoded


@lru_cache(4096)
def _character(escape: str) -> str:
    character: str = json.loads(f'"{escape}"')
    return character


def _joined(text: str) -> str:
    return "".join(text.split())


@lru_cache(1024)
def _pattern(needle: str, between: str) -> re.Pattern[str]:
    """Return the pattern of a needle with any of its characters encoded once. It never looks back: it is linear."""
    return re.compile(between.join(map(_ways, needle)) if len(needle) <= _LONGEST_PATTERN else re.escape(needle))


def _ways(character: str) -> str:
    """Return the pattern of a character, in percent-encoding, in JSON, or as it is."""
    octets = character.encode("latin-1" if ord(character) < 256 else "utf-8", "surrogatepass")
    encoded = "".join(f"%(?:25)*(?i:{octet:02x})" for octet in octets)
    in_json = "" if character.isalnum() else rf"|\\{re.escape(json.dumps(character)[1:-1].removeprefix(_BACKSLASH))}"
    return rf"(?>{encoded}|\\u(?i:{ord(character):04x}){in_json}|{re.escape(character)})"
