# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The first line of a question to a person: what a call does, in words, and what cannot be taken back (R-SAFE-4).

It is made of the operation's name, the path with its parameters, and the danger: "Delete label bug from repo
acme/widgets? This cannot be undone." The owner's text, with values for `{name}`, stands in its place if it is a
question, and behind it otherwise. Words of the document
are names alone; values come from the agent, and stand there as literals, bounded: none looks like the sentence around.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from .literals import SECRET_NAME, key_literal, literal, prose
from .policy import GRAVE

if TYPE_CHECKING:
    from ..table import Row

    Called: TypeAlias = tuple[Row, Mapping[str, Any]]

__all__ = ["title_of", "title_of_all"]

_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_@+:-]|[.](?=[A-Za-z0-9])){0,47}")
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_PARAMETER = re.compile(r"\{([^{}]{1,100})\}")
_LONGEST_VALUE, _LONGEST_TEMPLATE, _LONGEST_TITLE = 60, 500, 400
_MOST_KINDS, _MOST_PARENTS, _MOST_NAMED = 3, 2, 3
_RELATIONS = frozenset(("from", "to", "in", "of", "for", "with", "on", "as", "at", "into", "and", "or"))
_LINKS = {
    **dict.fromkeys(("delete", "remove", "detach", "unassign", "revoke", "clear", "dismiss", "purge"), "from"),
    **dict.fromkeys(("add", "attach", "assign", "invite", "send", "post"), "to"),
}
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
    "access": "This decides who may do what.",
    "replaces-whole": "What is there now may be lost.",
}


@dataclass(frozen=True, slots=True)
class _Phrase:
    """The parts of a sentence such as "Delete all labels from repo acme/widgets"."""

    verb: str
    noun: str = ""
    identity: str = ""
    tail: str = ""
    link: str = "of"
    parents: tuple[str, ...] = ()
    extras: str = ""

    def text(self) -> str:
        """Return the sentence without its end."""
        above = f"{self.link} {' of '.join(self.parents)}" if self.parents else ""
        words = (self.verb, self.noun, self.identity, self.tail, above, self.extras)
        return " ".join(word for word in words if word)


def _spelled(word: str) -> str:
    """Return a word of a name as people write it."""
    return word.upper() if word in _CAPITALS else prose(word, 60)


@dataclass(slots=True)
class _Group:
    """A part of a path: words that do not vary, and the parameters behind them."""

    nouns: list[list[str]]
    values: list[str]

    @property
    def identity(self) -> str:
        return "/".join(self.values)


def title_of(row: Row, params: Mapping[str, Any]) -> str:
    """Return the question whether a call may run, on one line."""
    template = _from_template(row, params) if row.confirmation else ""
    if "?" in row.confirmation:
        return template
    text = _phrase(row, params).text()
    if len(text) > _LONGEST_TITLE:
        text = prose(row.name.replace("_", " ").capitalize(), _LONGEST_TITLE)
    return f"{text}? {template or _consequence(row)}".rstrip()


def title_of_all(calls: Sequence[Called]) -> str:
    """Return the question whether several calls may run, on one line."""
    kinds: dict[str, list[Called]] = {}
    for call in calls:
        kinds.setdefault(call[0].name, []).append(call)
    sentences = [_together(each) for each in list(kinds.values())[:_MOST_KINDS]]
    if len(kinds) > _MOST_KINDS:
        sentences.append(f"And {len(kinds) - _MOST_KINDS} more operations")
    consequences = dict.fromkeys(filter(None, (_consequence(row) for row, _ in calls)))
    return " ".join(
        (f"Run these {len(calls)} calls, and all of them?", *(f"{text}." for text in sentences), *consequences)
    )


def _together(calls: Sequence[Called]) -> str:
    """Return what calls of one operation do: how many things there are, and what they share."""
    phrases = [_phrase(row, params) for row, params in calls]
    first = phrases[0]
    if len(calls) == 1 or all(phrase == first for phrase in phrases):
        return first.text() if len(calls) == 1 else f"{first.text()}, {len(calls)} times"
    alike = all(phrase.parents == first.parents for phrase in phrases)
    noun = f"{len(calls)} {_plural(first.noun)}" if first.identity else f"{first.noun}, {len(calls)} times"
    return replace(first, noun=noun, identity="", extras="", parents=first.parents if alike else ()).text()


def _from_template(row: Row, params: Mapping[str, Any]) -> str:
    """Return the owner's text with the values of its parameters."""
    names = {item.wire: name for name, item in row.parameters.items()}

    def value(match: re.Match[str]) -> str:
        name = match[1] if match[1] in row.parameters else names.get(match[1], "")
        return match[0] if not name else _shown(row, name, params[name]) if name in params else "(none)"

    return _PARAMETER.sub(value, prose(row.confirmation, _LONGEST_TEMPLATE))


def _consequence(row: Row) -> str:
    """Return what a person has to know of the end, by the rule of the danger and the verb."""
    if row.danger not in GRAVE:
        return ""
    rule = row.danger_reason.partition(":")[0]
    if rule in _BY_RULE and row.family != "delete":
        return _BY_RULE[rule]
    if row.update is not None and row.update.replaces and not row.update.reads_first:
        return _BY_RULE["replaces-whole"]
    return "" if row.danger == "destructive" and row.verb in _TAKEN_BACK else _FOR_GOOD


def _phrase(row: Row, params: Mapping[str, Any]) -> _Phrase:
    verb, words = _verb(row)
    groups = list(_groups(row, params))
    named = bool(groups) and bool(groups[-1].values)  # the path ends with what names the thing itself
    words, parents = _without_parents(words, groups[:-1] if named else groups)
    above = tuple(f"{noun} {group.identity}".strip() for noun, group in reversed(parents) if group.values)
    identity = groups[-1].identity if named else ""
    noun, tail = _split(words)
    if above and not identity and (not noun or above[0].startswith(f"{noun} ")):
        noun, above = above[0], above[1:]  # "Remove server 7 from placement group"
    elif not (noun or identity) and groups and row.family == "delete":
        noun = " ".join(map(_spelled, groups[-1].nouns[-1]))
    link = _LINKS.get(row.verb, "of") if not tail else "of"
    phrase = _Phrase(verb, noun, identity, tail, link, above[:_MOST_PARENTS])
    return phrase if identity else _with_values(phrase, row, params)


def _verb(row: Row) -> tuple[str, list[str]]:
    """Return the verb as a sentence begins with it, and the words of the name behind it."""
    words, verb = row.name.split("_"), (row.verb or row.name.partition("_")[0]).split("_")
    if row.api and words[1 : len(verb) + 1] == verb:  # behind the prefix of its API
        words = words[1:]
    if words[: len(verb)] != verb:
        verb = words[:1]
    rest = words[len(verb) :]
    if "by" in rest[1:]:
        rest = rest[: rest.index("by", 1)]
    return prose(" ".join(verb).capitalize(), 60), [word for word in rest if word]


def _groups(row: Row, params: Mapping[str, Any]) -> Iterator[_Group]:
    """Yield the parts of the path; parameters that follow one another name one thing together."""
    names = {item.wire: name for name, item in row.parameters.items() if item.location == "path"}
    group = _Group([], [])
    for segment in row.path.partition("?")[0].partition("#")[0].split("/"):
        wires = _PARAMETER.findall(segment)
        if wires:
            shown = [_shown(row, names[wire], params[names[wire]]) for wire in wires if names.get(wire) in params]
            group.values += shown
        elif segment:
            if group.values:
                yield group
                group = _Group([], [])
            group.nouns.append([word.lower() for word in _WORDS.findall(segment)])
    if group.nouns or group.values:
        yield group


def _without_parents(words: list[str], groups: Sequence[_Group]) -> tuple[list[str], list[tuple[str, _Group]]]:
    """Take what the name says of the things above out of it, and return those with their nouns."""
    parents: list[tuple[str, _Group]] = []
    for group in groups:
        taken: list[str] = []
        for noun in group.nouns if group.values else ():
            size = len(noun)
            if _same(words[:size], noun) and not (len(words) > size and words[size] in _RELATIONS):
                taken, words = [*taken, *_one(words[:size])], words[size:]
            elif _same(words[-size:], noun) and words[-size - 1 : -size] == ["of"]:
                taken, words = _one(words[-size:]), words[: -size - 1]
        last = _one(group.nouns[-1]) if group.nouns else []
        parents.append((" ".join(map(_spelled, taken or last)), group))
    if words[:1] == ["id"] and len(words) > 1:
        words = words[1:]
    return words, parents


def _split(words: Sequence[str]) -> tuple[str, str]:
    """Return the noun, and what stands behind it from a preposition on."""
    place = next((index for index, word in enumerate(words) if index and word in _RELATIONS), len(words))
    return " ".join(map(_spelled, words[:place])), " ".join(map(_spelled, words[place:]))


def _with_values(phrase: _Phrase, row: Row, params: Mapping[str, Any]) -> _Phrase:
    """Add of how many things a call is, or of which, where the path does not name it."""
    sent = {name: params[name] for name, item in row.parameters.items() if name in params and _is_value(item.location)}
    lists = [value for value in sent.values() if isinstance(value, list | tuple)]
    if len(lists) == 1 and lists[0] and phrase.noun:
        count = len(lists[0])
        noun = _plural(phrase.noun) if count > 1 else " ".join(_one(phrase.noun.split()))
        return replace(phrase, noun=f"{count:,} {noun}")
    if row.danger_reason.startswith("whole-collection") and row.family == "delete" and not sent:
        return replace(phrase, noun=f"all {_plural(phrase.noun)}")
    simple = [
        (name, value)
        for name, value in sent.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool) and row.parameters[name].required
    ]
    shown = ", ".join(f"{key_literal(name)} {_shown(row, name, value)}" for name, value in simple[:_MOST_NAMED])
    return replace(phrase, extras=f"({shown})") if shown else phrase


def _is_value(location: str) -> bool:
    return location in ("body", "query", "body_rest")


def _shown(row: Row, name: str, value: Any) -> str:
    """Return a value as it may stand in a sentence: a plain word or number as it is, anything else in quotes."""
    if (name in row.parameters and row.parameters[name].sensitive) or SECRET_NAME.search(name):
        return "(hidden)"
    if isinstance(value, list | tuple | Mapping):
        return f"({len(value):,} values)"
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return f"{literal(value[:_LONGEST_VALUE] + '…')} ({len(value):,} characters)"
    return literal(value)


def _same(words: Sequence[str], noun: Sequence[str]) -> bool:
    return bool(noun) and _one(words) == _one(noun)


def _one(words: Sequence[str]) -> list[str]:
    return [*words[:-1], _singular(words[-1])] if words else []


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _plural(noun: str) -> str:
    singular = _singular(noun)
    if singular != noun or not noun:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"
