# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Redaction: removes credentials from text and data, in every form in which they are sent or come back.

A text is searched as it is and as what it means once it is decoded: escapes of JSON and JavaScript, percent-encoding,
HTML entities and zero bytes of UTF-16, in any mixture and several times over, and base64 and hexadecimal, within longer
ones too. All of it is linear in the size of the text.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

__all__ = ["MASK", "Secrets", "is_credential_header", "occurs", "redact", "redacted", "url_secrets", "without_userinfo"]

MASK = "***"
_SHORTEST = 4  # replacing every 'a' in an answer would hide nothing and spoil the text
_SHORTEST_IN_DATA = 8
"""The shortest secret that is masked within data, and in base64: shorter ones are part of ordinary words."""
_MAX_OTHERS = 4096
_MAX_LAYERS = 5
_MAX_MINIMISED = 400
_ESCAPE = re.compile(
    r"%[0-9A-Fa-f]{2}"
    r"|\\(?:u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|[\"\\/'bfnrt])"
    r"|&(?:#[0-9]{1,40};?|#[xX][0-9A-Fa-f]{1,40};?|[A-Za-z][A-Za-z0-9]{1,31};)"
    r"|\x00"
)
_SIMPLE_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")
_BLANKS = re.compile(r"\s+")
_USERINFO = re.compile(r"(?<=://)[^/?#\s@]{1,2000}@")
_CREDENTIAL_HEADER = re.compile(
    r"authori[sz]ation|cookie|api-?key|subscription-key|access-?key|token|secret|passw|credential|signature|session"
)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode

_CALL: ContextVar[frozenset[str]] = ContextVar("secrets_of_the_call", default=frozenset())


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
        in_data = frozenset(value for value in added if not self._others.get(value, True))
        if not in_data <= _CALL.get():
            _CALL.set(_CALL.get() | in_data)
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
        of_call = _CALL.get()
        values = self._own_in_data | of_call if of_call else self._own_in_data
        return _redactor(values, _SHORTEST_IN_DATA).data(data) if values else data


class _Needles(NamedTuple):
    """The texts to search for, and forms of base64 and hexadecimal, which line breaks may divide."""

    plain: frozenset[str]
    encoded: frozenset[str]


class _Redactor:
    """The search for a set of secrets, prepared once. `minimal` finds what `all` finds, with fewer needles."""

    def __init__(self, values: Iterable[str], shortest: int) -> None:
        needles = [_needles_of(value) for value in values if len(value) >= shortest]
        plain = frozenset(needle for plain, _ in needles for needle in plain if len(needle) >= shortest)
        encoded = frozenset(needle for _, encoded in needles for needle in encoded)
        self._all = _Needles(plain, encoded)
        self._minimal = _minimised(plain | encoded)
        self._minimal_encoded = _minimised(encoded)

    def occurs(self, text: str) -> bool:
        """Return True if a text holds a secret."""
        if not self._minimal:
            return False
        for needle in self._minimal:
            if needle in text:
                return True
        return self._is_wrapped_in(text) or (_is_escaped(text) and self._occurs_decoded(text))

    def text(self, text: str) -> str:
        """Return a text without secrets; the same object if there is none."""
        if not self.occurs(text):
            return text
        masked = _spliced(text, self._spans(text))
        return MASK if self.occurs(masked) else masked

    def data(self, data: Any) -> Any:
        """Return JSON data without secrets; the same object if there is none."""
        if not self._minimal:
            return data
        if isinstance(data, str):
            return self.text(data)
        try:
            text = _encode(data)
        except (ValueError, TypeError, RecursionError):
            return self._masked(data)
        return self._masked(data) if '"base64"' in text or self.occurs(text) else data

    def _occurs_decoded(self, text: str) -> bool:
        for _ in range(_MAX_LAYERS):
            decoded = _ESCAPE.sub(_unescaped, text)
            if decoded == text:
                return False
            text = decoded
            if any(needle in text for needle in self._minimal) or self._is_wrapped_in(text):
                return True
        return False

    def _is_wrapped_in(self, text: str) -> bool:
        """Return True if a text holds a secret in base64 or hexadecimal that is divided by line breaks."""
        if "\n" not in text and "\r" not in text:
            return False
        joined = "".join(text.split())
        return any(needle in joined for needle in self._minimal_encoded)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return where the secrets are in a text, in every layer of its encodings."""
        layers: list[_Layer] = []
        spans: list[tuple[int, int]] = []
        decoded = text
        for _ in range(_MAX_LAYERS + 1):
            spans += _located(decoded, (*self._all.plain, *self._all.encoded), layers)
            if "\n" in decoded or "\r" in decoded:
                joined = _Layer.of(decoded, _BLANKS, lambda _: "")
                spans += _located(joined.text, self._all.encoded, [*layers, joined])
            layer = _Layer.of(decoded, _ESCAPE, _unescaped)
            if layer.text == decoded:
                break
            layers.append(layer)
            decoded = layer.text
        return spans

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


class _Layer(NamedTuple):
    """A decoded text, and where each escape was: its place in the decoded text and in the source."""

    text: str
    begins: list[int]
    ends: list[int]
    source_begins: list[int]
    source_ends: list[int]

    @classmethod
    def of(cls, text: str, pattern: re.Pattern[str], decode: Callable[[re.Match[str]], str]) -> _Layer:
        """Decode a text."""
        pieces: list[str] = []
        layer = cls("", [], [], [], [])
        length = last = 0
        for match in pattern.finditer(text):
            character = decode(match)
            pieces += (text[last : match.start()], character)
            length += match.start() - last
            layer.begins.append(length)
            length += len(character)
            layer.ends.append(length)
            layer.source_begins.append(match.start())
            layer.source_ends.append(match.end())
            last = match.end()
        pieces.append(text[last:])
        return layer._replace(text="".join(pieces))

    def source(self, begin: int, end: int) -> tuple[int, int]:
        """Return the part of the source that a part of the decoded text comes from."""
        index = bisect_right(self.begins, begin) - 1
        if index >= 0:
            inside = begin < self.ends[index]
            begin = self.source_begins[index] if inside else self.source_ends[index] + begin - self.ends[index]
        index = bisect_right(self.begins, end - 1) - 1
        if index >= 0:
            inside = end - 1 < self.ends[index]
            end = self.source_ends[index] if inside else self.source_ends[index] + end - self.ends[index]
        return begin, end


def _values(secrets: Iterable[str]) -> frozenset[str]:
    return secrets if isinstance(secrets, frozenset) else frozenset(filter(None, secrets))


@lru_cache(256)
def _redactor(values: frozenset[str], shortest: int) -> _Redactor:
    return _Redactor(values, shortest)


@lru_cache(8192)
def _needles_of(value: str) -> _Needles:
    """Return what a secret looks like: as it is, as servers read a header, and in base64 and hexadecimal."""
    raw = value.encode("utf-8", "surrogatepass")
    spellings = {value, raw.decode("latin-1")}
    for spelling in tuple(spellings):
        for _ in range(_MAX_LAYERS):
            spelling = _ESCAPE.sub(_unescaped, spelling)
            spellings.add(spelling)
    spellings |= {spelling.replace(" ", "+") for spelling in spellings}
    if len(value) < _SHORTEST_IN_DATA:
        return _Needles(frozenset(spellings), frozenset())
    encoded = {raw.hex(), raw.hex().upper()}
    for encoding in _ENCODINGS:
        encoded.update(_in_base64(value.encode(encoding, "surrogatepass")))
    encoded |= {text.replace("+", "-").replace("/", "_") for text in encoded}
    return _Needles(frozenset(spellings), frozenset(encoded))


def _in_base64(content: bytes) -> Iterator[str]:
    """Yield the characters of base64 that depend on the content alone, for each of its three alignments."""
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + content).decode("ascii")
        yield text[(0, 2, 3)[shift] : (shift + len(content)) * 8 // 6]


def _minimised(needles: frozenset[str]) -> tuple[str, ...]:
    """Return the needles that hold no other, for a few of them; of many all."""
    if len(needles) > _MAX_MINIMISED:
        return tuple(needles)
    kept: list[str] = []
    for needle in sorted(needles, key=len):
        if not any(shorter in needle for shorter in kept):
            kept.append(needle)
    return tuple(kept)


def _is_escaped(text: str) -> bool:
    return "\\" in text or "%" in text or "&" in text or "\0" in text


def _unescaped(match: re.Match[str]) -> str:
    return _character(match[0])


@lru_cache(4096)
def _character(escape: str) -> str:
    """Return what an escape stands for."""
    kind = escape[0]
    if kind == "%":
        return chr(int(escape[1:], 16))
    if kind == "&":
        from html import unescape

        return unescape(escape)
    if kind == "\0":
        return ""
    letter = escape[1]
    if letter in "ux" and len(escape) > 2:
        code = int(escape[2:].strip("{}"), 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    return _SIMPLE_ESCAPES.get(letter, letter)


def _located(text: str, needles: Iterable[str], layers: list[_Layer]) -> Iterator[tuple[int, int]]:
    """Yield where needles stand, as parts of the text that the layers were decoded from."""
    for needle in needles:
        place = text.find(needle)
        while place >= 0:
            begin, end = place, place + len(needle)
            for layer in reversed(layers):
                begin, end = layer.source(begin, end)
            yield begin, end
            place = text.find(needle, place + len(needle))


def _spliced(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text with `***` in place of some parts; parts that overlap are one."""
    pieces: list[str] = []
    last = 0
    for begin, end in sorted(spans):
        if begin >= last and end > begin:
            pieces += (text[last:begin], MASK)
        last = max(last, end)
    return "".join((*pieces, text[last:]))
