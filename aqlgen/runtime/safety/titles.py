# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The first line of a question to a person: what a call does, in words, and what cannot be taken back (R-SAFE-4).

It is the operation's name with the thing that the path ends with, and behind it what that is a part of: "Delete label
bug (repo acme/widgets)? This cannot be undone." The owner's text, with values for `{name}`, stands in its place if it
is a question, and behind it otherwise. Words of the document are names alone; values come from the agent, and stand
there as literals, bounded: none looks like the sentence around.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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


def title_of(row: Row, params: Mapping[str, Any]) -> str:
    """Return the question whether a call may run, on one line."""
    template = _from_template(row, params) if row.confirmation else ""
    if "?" in row.confirmation:
        return template
    text = "".join(_phrase(row, params))
    if len(text) > _LONGEST_TITLE:
        text = prose(row.name.replace("_", " ").capitalize(), _LONGEST_TITLE)
    return f"{text}? {template or _consequence(row, params)}".rstrip()


def title_of_all(calls: Sequence[Called]) -> str:
    """Return the question whether several calls may run, on one line."""
    kinds: dict[str, list[Called]] = {}
    for call in calls:
        kinds.setdefault(call[0].name, []).append(call)
    sentences = [_together(each) for each in list(kinds.values())[:_MOST_KINDS]]
    if len(kinds) > _MOST_KINDS:
        sentences.append(f"And {len(kinds) - _MOST_KINDS} more operations")
    consequences = dict.fromkeys(filter(None, (_consequence(row, params) for row, params in calls)))
    return " ".join(
        (f"Run these {len(calls)} calls, and all of them?", *(f"{text}." for text in sentences), *consequences)
    )


def _together(calls: Sequence[Called]) -> str:
    """Return what calls of one operation do: how many there are, and what they share."""
    phrases = [_phrase(row, params) for row, params in calls]
    verb, _, about = phrases[0]
    if len(calls) == 1:
        return "".join(phrases[0])
    shared = about if all(phrase[2] == about for phrase in phrases) else ""
    first, _, noun = verb.partition(" ")
    plural = noun if noun.endswith("s") else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    if noun.isalpha():
        return f"{first} {len(calls)} {plural}{shared}"
    return f"{verb}, {len(calls)} times{shared}"  # which of several words is the noun is not known


def _from_template(row: Row, params: Mapping[str, Any]) -> str:
    """Return the owner's text with the values of its parameters."""
    names = {item.wire: name for name, item in row.parameters.items()}

    def value(match: re.Match[str]) -> str:
        name = match[1] if match[1] in row.parameters else names.get(match[1], "")
        return match[0] if not name else _shown(row, name, params[name]) if name in params else "(none)"

    return _PARAMETER.sub(value, prose(row.confirmation, _LONGEST_TEMPLATE))


def _consequence(row: Row, params: Mapping[str, Any]) -> str:
    """Return what a person has to know of the end, by the rule of the danger and the verb."""
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


def _phrase(row: Row, params: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the operation's name in words, the thing that its path names, and what that is a part of or gets."""
    words = (row.name.removeprefix(f"{row.api}_") if row.api else row.name).split("_")
    words = words[: words.index("by", 2)] if "by" in words[2:] else words
    groups = list(_groups(row, params))
    if len(words) == 1 and groups:
        words += groups[-1][0].split()
    text = " ".join(word.upper() if word in _CAPITALS else word for word in words)
    named = groups.pop()[1] if groups and groups[-1][1] else ""
    about = [f"{noun} {values}" for noun, values in reversed(groups) if values][:_MOST_PARENTS]
    about += [] if named else _values(row, params)
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


def _values(row: Row, params: Mapping[str, Any]) -> list[str]:
    """Return the required values of a call, where the path names nothing."""
    names = [name for name, item in row.parameters.items() if item.required and name in params and _is_sent(row, name)]
    return [f"{key_literal(name)} {_shown(row, name, params[name])}" for name in names[:_MOST_NAMED]]


def _is_sent(row: Row, name: str) -> bool:
    return name in row.parameters and row.parameters[name].location in ("body", "query", "body_rest")


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
