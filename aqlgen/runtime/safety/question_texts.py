r"""The texts of a question to a person: its first line (R-SAFE-4), and foreign text in it.

Foreign text is a literal, so that it cannot imitate the question around it: JSON on one line. What could end its
quotes, act as markup, reorder the line, or be invisible is written as `\uXXXX`, decided by the character's Unicode
properties. Letters of every script stay as they are, except within a word that mixes Latin letters with those of a
script that looks like it. Secrets are known by the names of their fields, and by what the document declares of these,
at any depth of a call's parameters (R-SAFE-5).

The first line is the operation's name with the thing that the path ends with, and behind it what that is a part of:
"Delete label bug (repo acme/widgets)? This cannot be undone." The owner's text, with values for `{name}`, stands in its
place if it is a question, and behind it otherwise. Words of the document are names alone; values come from the agent.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ..calls import NAMES
from ..exact_json import write_json
from ..redaction import SECRET_NAME
from ..schema import follow, referred, union_of, without_null
from ..text import counted, folded
from .policy import GRAVE

if TYPE_CHECKING:
    from ..schema import Types
    from ..table import Row

CUT_NAME = "... (a name of"
"""The sign behind the beginning of a field's name that is too long to be shown."""

_LONGEST_KEY = 64
_MOST_MARKS = 2
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_AS_CODE = re.compile(r"(?! )[ !#-\[\]-_a-~]+(?<! )")
"""What a span of code shows as it is: printable ASCII without quotes, backslashes, backticks and blanks around it."""
_MARKUP = re.compile(
    r"""["\\*`]              # ends the quotes, or is emphasis or code
    | <(?=[A-Za-z/!?])       # HTML
    | &(?=\#?\w+;)           # a character reference
    | \](?=[(\[])            # a link
    | ~(?=~) | (?<=~)~       # struck through
    | (?<![^\W_])_ | _(?![^\W_])  # emphasis: not within a word
    """,
    re.VERBOSE,
)
_UNSEEN = re.compile(r"FILLER|SELECTOR|JOINER|INHERENT|BLANK|INVISIBLE")
_QUOTE = re.compile(
    r"DOUBLE[A-Z -]{0,80}(QUOTATION|PRIME|APOSTROPHE)|FULLWIDTH QUOTATION|DITTO|GERSHAYIM|PRIME QUOTATION"
)
_LOOKS_LATIN = re.compile(
    r"CYRILLIC|GREEK|ARMENIAN|CHEROKEE|COPTIC|LISU|MATHEMATICAL|FULLWIDTH|SCRIPT|DOUBLE-STRUCK|BLACK-LETTER|ROMAN"
)
_IN_URL = re.compile(r"""["\\*`<>\[\]|~^\s]""")


_encode = json.JSONEncoder(default=str).encode


def literal(value: Any) -> str:
    """Return a JSON value on one line; a text with plain markup, such as `*`, stands in backticks as it is."""
    if isinstance(value, str):
        return f"`{value}`" if _AS_CODE.fullmatch(value) and _MARKUP.search(value) else f'"{_escaped(value)}"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f'"{_ascii(str(key))}": {literal(inner)}' for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    return write_json(value, _encode)


def key_literal(key: str) -> str:
    """Return the name of a field: a plain word as it is, anything else as JSON in ASCII, bounded."""
    if _WORD.fullmatch(key) and len(key) <= _LONGEST_KEY:
        return key if "__" not in key and key.strip("_") == key else f'"{_escaped(key)}"'
    text = f'"{_ascii(key[:_LONGEST_KEY])}"'
    return text if len(key) <= _LONGEST_KEY else f"{text}{CUT_NAME} {len(key):,} characters)"


def prose(text: str, most: int) -> str:
    """Return a text of the document, the owner or the agent as one line without markup, at most `most` characters."""
    words = " ".join(text.split())
    return re.sub(
        r"\\u(?:0022|0060|201[cd])", "'", _escaped(words if len(words) <= most else words[: most - 1].rstrip() + "…")
    )


def url_text(url: str) -> str:
    """Return an address in printable ASCII; what could be markup is percent-encoded, which means the same."""
    text = _IN_URL.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)
    return json.dumps(text)[1:-1]


def has_right_to_left(value: Any) -> bool:
    """Return True if a value holds letters that are written from right to left, which reorder what is beside them."""
    if isinstance(value, str):
        return not value.isascii() and any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in value)
    if isinstance(value, Mapping):
        return any(has_right_to_left(str(key)) or has_right_to_left(inner) for key, inner in value.items())
    return isinstance(value, list | tuple) and any(map(has_right_to_left, value))


def _escaped(text: str) -> str:
    if _PRINTABLE.fullmatch(text):
        return _MARKUP.sub(_code, text)
    return "".join(_characters(text))


def _ascii(text: str) -> str:
    return "".join(char if char.isascii() else _code(char) for char in _escaped(text))


def _characters(text: str) -> list[str]:
    markup = {match.start() for match in _MARKUP.finditer(text)}
    mixed = _mixed_words(text)
    written: list[str] = []
    marks, base = 0, ""
    for position, char in enumerate(text):
        category = unicodedata.category(char)
        if category in ("Mn", "Me", "Mc"):
            marks += 1
            hidden = category == "Me" or marks > _MOST_MARKS or not base.isalpha() or _hides(char)
        else:
            marks, base = 0, char
            hidden = position in markup or _hides(char) or (position in mixed and _looks_latin(char))
        written.append(_code(char) if hidden else char)
    return written


def _mixed_words(text: str) -> set[int]:
    """Return the positions of words that hold both ASCII letters and letters that look like them."""
    positions: set[int] = set()
    for word in re.finditer(r"\S+", text):
        letters = word[0]
        if not letters.isascii() and re.search("[A-Za-z]", letters):
            positions.update(range(*word.span()))
    return positions


@lru_cache(4096)
def _hides(char: str) -> bool:
    """Return True for what is invisible, is no plain space, acts on the text around it, or looks like a quote."""
    if char.isascii():
        return not char.isprintable()
    name = unicodedata.name(char, "")
    return unicodedata.category(char)[0] in "CZ" or bool(_UNSEEN.search(name) or _QUOTE.search(name))


@lru_cache(4096)
def _looks_latin(char: str) -> bool:
    return not char.isascii() and bool(_LOOKS_LATIN.match(unicodedata.name(char, "")))


def _code(match: re.Match[str] | str) -> str:
    char = match if isinstance(match, str) else match[0]
    return "".join(f"\\u{ord(unit):04x}" for unit in _units(char))


def _units(char: str) -> list[str]:
    """Return the UTF-16 units of a character, as JSON writes one beyond the basic plane."""
    raw = char.encode("utf-16-be", "surrogatepass")
    return [chr(int.from_bytes(raw[index : index + 2], "big")) for index in range(0, len(raw), 2)]


@dataclass(frozen=True, slots=True)
class SecretNames:
    """The names of fields whose values are secrets: those that are `declared`, and all that sound so but `keys`."""

    declared: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()

    def __contains__(self, name: str) -> bool:
        """Return True for the name of a secret."""
        return name in self.declared or (SECRET_NAME.search(name) is not None and folded(name) not in self.keys)


_MOST_SCHEMAS = 500
"""The most schemas that are looked at; of what is behind them the names alone tell."""


def secret_names(row: Row, types: Types) -> SecretNames:
    """Return the names of the fields whose values are secrets (`format: password`), by the agent's and the API's."""
    names: set[str] = set()
    todo: list[Any] = [parameter.schema for parameter in row.parameters.values() if parameter.location != "adapter"]
    seen: set[str | int] = set()
    while todo and len(seen) < _MOST_SCHEMAS:
        schema = todo.pop()
        if not isinstance(schema, Mapping) or not schema:
            continue
        target = follow(schema, types)
        key = referred(without_null(schema)[0]) or id(schema)
        if key in seen:
            continue
        seen.add(key)
        shape = union_of(types, target)
        for name, (wire, inner) in shape.properties.items():
            if follow(inner, types).get("format") == "password":
                names.update((name, wire))
            todo.append(inner)
        todo += [*shape.items, *shape.extra]
    return SecretNames(frozenset(names), frozenset(row.keys))


_FIELDS = re.compile(r"^\w[\w-]{0,40}: its request has (\w+(?: and \w+)?)$")
"""The fields that a reason names."""
_OF_PATCHES = frozenset({"op", "path"})
"""The fields of every operation of a JSON Patch (RFC 6902)."""


def fields_of_reason(row: Row, params: Mapping[str, Any]) -> dict[str, bool]:
    """Return the fields of a request that the reason of an operation's danger names, and whether a call sends them.

    A JSON Patch names fields within the values of `path` and `from` (RFC 6901), so it counts as sending all of them.
    """
    match = _FIELDS.search(row.danger_reason)
    if match is None:
        return {}
    sent = {*_keys(params), *(folded(item.wire) for name, item in row.parameters.items() if name in params)}
    return {name: folded(name) in sent or sent >= _OF_PATCHES for name in match[1].split(" and ")}


def _keys(value: Any) -> Iterator[str]:
    """Yield the names of the fields of a value at any depth, folded."""
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        yield folded(str(key))
        yield from _keys(inner)
    for inner in value if isinstance(value, list | tuple) else ():
        yield from _keys(inner)


Called: TypeAlias = "tuple[Row, Mapping[str, Any]]"

_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_@+:-]|[.](?=[A-Za-z0-9])){0,47}")
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_PARAMETER = re.compile(r"\{([^{}]{1,100})\}")
_LONGEST_VALUE, _LONGEST_TEMPLATE, _LONGEST_TITLE = 60, 500, 400
_MOST_KINDS, _MOST_PARENTS, _MOST_NAMED = 3, 2, 3
_TAKEN_BACK = frozenset(
    (
        "archive", "block", "close", "deactivate", "disable", "disconnect", "dismiss", "hide", "lock", "mute", "pause",
        "stop", "suspend", "unassign", "unblock", "unfollow", "unlink", "unlock", "unstar", "unsubscribe", "unwatch",
    )
)  # fmt: skip
"""Verbs of which another call is the opposite."""
_CAPITALS = frozenset(("api", "dns", "gpg", "html", "http", "id", "ip", "pdf", "sms", "sql", "ssh", "tls", "url", "vm"))
_FOR_GOOD = "This cannot be undone."
_BY_RULE = {
    "money": "This moves money.",
    "access": "This changes access rights.",
    "replaces-whole": "Existing data may be lost.",
}


def title_of(row: Row, params: Mapping[str, Any], secrets: SecretNames | None = None) -> str:
    """Return the question whether a call may run, on one line; `secrets` are names of fields, where these are known."""
    template = _from_template(row, params) if row.confirmation else ""
    if "?" in row.confirmation:
        return template
    text = "".join(_phrase(row, params, secrets))
    if len(text) > _LONGEST_TITLE:
        text = prose(row.name.replace("_", " ").capitalize(), _LONGEST_TITLE)
    return f"{text}? {template or _consequence(row, params)}".rstrip()


def title_of_all(calls: Sequence[Called], names: Sequence[str] = ()) -> str:
    """Return the question whether several calls may run, on one line; `names` are those of the things, if known."""
    kinds: dict[str, list[tuple[Called, str]]] = {}
    for call, name in zip(calls, names or [""] * len(calls), strict=True):
        kinds.setdefault(call[0].name, []).append((call, name))
    sentences = [_together(each) for each in list(kinds.values())[:_MOST_KINDS]]
    if len(kinds) > _MOST_KINDS:
        sentences.append(f"And {len(kinds) - _MOST_KINDS} more operations")
    consequences = dict.fromkeys(filter(None, (_consequence(row, params) for row, params in calls)))
    return " ".join((f"Run all of these {len(calls)} calls?", *(f"{text}." for text in sentences), *consequences))


def _together(calls: Sequence[tuple[Called, str]]) -> str:
    """Return the text about calls of one operation: how many there are, the things, and what they share."""
    phrases = [_phrase(row, params) for (row, params), _ in calls]
    verb, _, about = phrases[0]
    if len(calls) == 1:
        return "".join(phrases[0])
    shared = about if all(phrase[2] == about for phrase in phrases) else ""
    named = list(dict.fromkeys(name or phrase[1].strip() for phrase, (_, name) in zip(phrases, calls, strict=True)))
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    things = f": {', '.join(named[:_MOST_NAMED])}{more}" if all(named) else ""
    return f"{verb}, {len(calls)} times{shared}{things}"


def name_of(thing: Any) -> str:
    """Return the name of a thing that an answer gave, as it may stand in a sentence; "" for one without a name."""
    fields = thing.items() if isinstance(thing, Mapping) else ()
    return next(
        (_quoted(value) for key, value in fields if folded(str(key)) in NAMES and value and type(value) is str), ""
    )


def _from_template(row: Row, params: Mapping[str, Any]) -> str:
    """Return the owner's text with the values of its parameters."""
    names = {item.wire: name for name, item in row.parameters.items()}

    def value(match: re.Match[str]) -> str:
        name = match[1] if match[1] in row.parameters else names.get(match[1], "")
        return match[0] if not name else _shown(row, name, params[name]) if name in params else "(none)"

    return _PARAMETER.sub(value, prose(row.confirmation, _LONGEST_TEMPLATE))


def _consequence(row: Row, params: Mapping[str, Any]) -> str:
    """Return the consequence that a person has to know, by the rule of the danger and the verb."""
    if row.danger not in GRAVE:
        return ""
    rule = row.danger_reason.partition(":")[0]
    if rule in _BY_RULE and row.family != "delete":
        return _BY_RULE[rule]
    if rule == "whole-collection" and row.family == "delete" and not any(_is_sent(row, name) for name in params):
        return f"This is about all of them. {_FOR_GOOD}"
    if row.update is not None and row.update.replaces and not row.update.reads_first:
        return _BY_RULE["replaces-whole"]
    return "" if row.danger == "destructive" and row.verb in _TAKEN_BACK else _FOR_GOOD


def _phrase(row: Row, params: Mapping[str, Any], secrets: SecretNames | None = None) -> tuple[str, str, str]:
    """Return the operation's name in words, the thing that its path names, and what that is a part of or gets."""
    words = (row.name.removeprefix(f"{row.api}_") if row.api else row.name).split("_")
    words = words[: words.index("by", 2)] if "by" in words[2:] else words
    groups = list(_groups(row, params))
    if len(words) == 1 and groups:
        words += groups[-1][0].split()
    text = " ".join(word.upper() if word in _CAPITALS else word for word in words)
    named = groups.pop()[1] if groups and groups[-1][1] else ""
    about = [f"{noun} {values}" for noun, values in reversed(groups) if values][:_MOST_PARENTS]
    about += [] if named else _values(row, params, secrets)
    behind = f" ({', '.join(about)})" if about else ""
    return prose(text[:1].upper() + text[1:], _LONGEST_TITLE), f" {named}" if named else "", behind


def _groups(row: Row, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the nouns of the path with their values; parameters that follow one another name one thing together."""
    names = {item.wire: name for name, item in row.parameters.items() if item.location == "path"}
    noun, values = "", list[str]()
    for segment in row.path.partition("?")[0].partition("#")[0].split("/"):
        wires = _PARAMETER.findall(segment)
        values += [_shown(row, names[wire], params[names[wire]]) for wire in wires if names.get(wire) in params]
        if segment and not wires:
            if values:
                yield noun, "/".join(values)
            noun, values = prose(" ".join(_WORDS.findall(segment)).lower(), 60), []
    if noun or values:
        yield noun, "/".join(values)


def _values(row: Row, params: Mapping[str, Any], secrets: SecretNames | None) -> list[str]:
    """Return the required values of a call, where the path names nothing."""
    names = [name for name, item in row.parameters.items() if item.required and name in params and _is_sent(row, name)]
    return [f"{key_literal(name)} {_shown(row, name, params[name], secrets)}" for name in names[:_MOST_NAMED]]


def _is_sent(row: Row, name: str) -> bool:
    return name in row.parameters and row.parameters[name].location in ("body", "query", "body_rest")


def _shown(row: Row, name: str, value: Any, secrets: SecretNames | None = None) -> str:
    """Return a value as it may stand in a sentence: a plain word or number as it is, anything else in quotes.

    The fields of a small object are shown where `secrets`, the names of those that are, is known.
    """
    known = SecretNames(keys=frozenset(row.keys)) if secrets is None else secrets
    if (name in row.parameters and row.parameters[name].sensitive) or name in known:
        return "(hidden)"
    if not isinstance(value, list | tuple | Mapping):
        return _quoted(value)
    if secrets is None or not isinstance(value, Mapping) or not 0 < len(value) <= _MOST_NAMED:
        return f"({counted(len(value), 'value')})"
    texts = ("(hidden)" if key in secrets else _shown(row, str(key), inner) for key, inner in value.items())
    return f"{{{', '.join(map(' '.join, zip(map(key_literal, map(str, value)), texts, strict=True)))}}}"


def _quoted(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return f"{literal(value[:_LONGEST_VALUE] + '…')} ({len(value):,} characters)"
    return literal(value)
