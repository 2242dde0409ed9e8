"""The action at a path's end (`/cancel`, `/chat.postMessage`): which last segments are verbs, and which are nouns."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.naming.noun import IDS, Noun, Words, is_plural
from aqlgen.decide.naming.verbs import Verb, leading_verb
from aqlgen.words import singular

__all__ = ["split_action"]

_ACTION_FOLDERS: Final = frozenset({"action", "actions", "command", "commands", "lifecycle"})
"""Segments behind which actions stand (`/runs/{id}/actions/cancel`)."""
_AT_END: Final = frozenset("delete purge destroy search lookup query".split())
"""Verbs that stand last: a web search, `gdpr-delete`."""
_ALWAYS_VERBS: Final = frozenset(
    "get list fetch retrieve describe find delete remove create update set regenerate generate validate evaluate enable"
    " disable send add enumerate sync synchronize populate purge rotate renew reset count manage terminate hide unhide"
    " approve reject revoke rename activate deactivate publish unpublish assign unassign attach detach submit calculate"
    " compute".split()
)
"""Verbs that take a plural behind them as their object (`listKeys`): no compound (`transferLimits`, `check-runs`)."""
_THINGS: Final = frozenset("url urls uri uris link chain click clicks".split())
"""Behind a verb they are what it is about: `download-url` is a URL, nothing is downloaded."""


def split_action(
    method: str, nouns: list[Noun], action: Words, *, dotted: bool, camel: bool
) -> tuple[list[Noun], Words]:
    """Split a path's nouns into the nouns before the action, and the words of the action.

    `action` are the words behind a colon, if there are any. `dotted` and `camel` say how the last segment is written.
    """
    if not action and nouns and not nouns[-1].parameters:
        action = _procedure(method, nouns[-1].words) if dotted else _last_segment(method, nouns, camel=camel)
        nouns = nouns[:-1] if action else nouns
    if not action and method in ("POST", "PUT") and len(nouns) > 1 and _acts_before_item(*nouns[-2:]):
        *others, before, last = nouns
        nouns, action = [*others, replace(before, parameters=last.parameters)], last.words
    if action and nouns and nouns[-1].words[-1] in _ACTION_FOLDERS and not nouns[-1].parameters:
        nouns = nouns[:-1]
    return nouns, action


def _procedure(method: str, words: Words) -> Words:
    """Return the last part of a dotted name if it is a verb: `chat.postMessage`, and the unknown `chat.unfurl`."""
    match = leading_verb(words)
    if match is not None and (match[0].strong if len(words) > match[1] else not is_plural(words)):
        return words
    return words if method == "POST" and len(words) == 1 and not is_plural(words) else ()


def _last_segment(method: str, nouns: list[Noun], *, camel: bool) -> Words:
    """Return the words of the last segment if it is an action, verb first; () if it is a noun."""
    words, alone = nouns[-1].words, len(nouns) == 1
    match = None if words[0].endswith("ed") else leading_verb(words)
    if match is not None and not _is_compound(method, words, *match, alone=alone and not camel):
        verb, used = match
        if _suits_method(method, words, verb, whole=len(words) == used, alone=alone, camel=camel):
            return words
    return _verb_first(words, nouns[:-1]) if method == "POST" else ()


def _verb_first(words: Words, before: list[Noun]) -> Words:
    """Return the words of an action in a folder of actions, or with its verb at the end (`gdpr-delete`), verb first."""
    folder = bool(before) and before[-1].words[-1] in _ACTION_FOLDERS and not before[-1].parameters
    last = len(words) == 2 and words[-1] in _AT_END and not words[0].endswith("ed")
    if not (folder or last):
        return ()
    ordered = (words[-1], *words[:-1]) if leading_verb(words[-1:]) else words
    return ordered if leading_verb(ordered) and not is_plural(ordered[:1]) else ()


def _acts_before_item(noun: Noun, last: Noun) -> bool:
    """Return True if a verb stands before the parameter of the noun before it: `/deployment/pause/{deploymentID}`."""
    known = leading_verb(last.words)
    if noun.parameters or len(last.parameters) != 1 or len(last.words) != 1 or known is None or not known[0].strong:
        return False
    named = {singular(word) for word in last.parameters[0]}
    return not is_plural(last.words) and (singular(noun.words[-1]) in named or named <= IDS)


def _is_compound(method: str, words: Words, verb: Verb, used: int, *, alone: bool) -> bool:
    """Return True if a verb is part of a noun: upload-url, pull-requests, check-runs, transferLimits."""
    if len(words) == used + 1 and words[-1] in _THINGS and verb.word not in _ALWAYS_VERBS:
        return True
    if not is_plural(words) or len(words) == used:
        return is_plural(words)
    if verb.word in _ALWAYS_VERBS or (method == "POST" and verb.word == "search"):
        return False
    return len(words) == used + 1 or alone  # but …/{id}/submit_tool_outputs


def _suits_method(method: str, words: Words, verb: Verb, *, whole: bool, alone: bool, camel: bool) -> bool:
    """Return True if an action with this verb is called by the path's method."""
    if method in ("GET", "HEAD", "OPTIONS"):
        changing = camel and not whole and (alone or not is_plural(words))
        return verb.strong and (verb.category is Category.READ or changing)
    if method == "DELETE":
        return verb.strong and (verb.category is Category.DELETE or verb.word in ("cancel", "stop", "abort"))
    return verb.strong or (method == "POST" and verb.category is not Category.READ and not alone and whole)
