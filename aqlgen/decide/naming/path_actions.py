"""The action at a path's end (`/cancel`, `/chat.postMessage`): which last segments are verbs, and which are nouns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.naming.noun import IDS, Noun, Words, is_plural
from aqlgen.decide.naming.verbs import Verb, leading_verb
from aqlgen.words import singular

__all__ = ["split_action"]

_ACTION_FOLDERS: Final = frozenset({"action", "actions", "command", "commands", "lifecycle"})
"""Segments behind which actions stand (`/runs/{id}/actions/cancel`)."""
_CONTROLS: Final = frozenset({"start", "stop", "pause", "resume", "cancel"})
"""Verbs that take the verb before them as a noun: `gather_stop` stops gathering."""
_ALWAYS_VERBS: Final = frozenset(
    "get list fetch retrieve describe find delete remove create update set regenerate generate validate evaluate enable"
    " disable send add enumerate sync synchronize populate purge rotate renew reset count manage terminate hide unhide"
    " approve reject revoke rename activate deactivate publish unpublish assign unassign attach detach submit calculate"
    " compute".split()
)
"""Verbs that take a plural behind them as their object (`listKeys`): no compound (`transferLimits`, `check-runs`)."""

_BEFORE_OBJECTS: Final = frozenset("validate verify calculate evaluate generate search delete remove".split())
"""Verbs that are a segment of their own before that of their object."""

_MAKES_THINGS: Final = frozenset(
    "upload download export import share invite login preview install click search view".split()
)
_THINGS: Final = frozenset("url urls uri uris link chain click clicks".split())
"""With the verbs before: `download-url` is a URL, nothing is downloaded."""


@dataclass(frozen=True, slots=True)
class _Ending:
    """The end of a path: its method and nouns, whether the last segment is dotted, and whether it is camelCase."""

    method: str
    nouns: tuple[Noun, ...]
    dotted: bool
    camel: bool

    @property
    def words(self) -> Words:
        return self.nouns[-1].words

    @property
    def before(self) -> Noun | None:
        return self.nouns[-2] if len(self.nouns) > 1 else None

    @property
    def alone(self) -> bool:
        return len(self.nouns) == 1


def split_action(
    method: str, nouns: list[Noun], action: Words, *, dotted: bool, camel: bool
) -> tuple[list[Noun], Words]:
    """Split a path's nouns into the nouns before the action, and the words of the action.

    `action` are the words behind a colon, if there are any. `dotted` and `camel` say how the last segment is written.
    """
    if not action and nouns and not nouns[-1].parameters:
        action = _last_segment(_Ending(method, tuple(nouns), dotted, camel))
        nouns = nouns[:-1] if action else nouns
    if not action and method in ("POST", "PUT") and len(nouns) > 1:
        nouns, action = _verb_before(nouns)
    if _is_controlled(action):
        action = _verb_first(action)
    if action and nouns and nouns[-1].words[-1] in _ACTION_FOLDERS and not nouns[-1].parameters:
        nouns = nouns[:-1]
    return nouns, action


def _last_segment(ending: _Ending) -> Words:
    """Return the words of the last segment if it is an action, verb first; () if it is a noun."""
    for rule in _SEGMENT_RULES:
        action = rule(ending)
        if action is not None:
            return action
    return ()


def _dotted_procedure(ending: _Ending) -> Words | None:
    """Read the last part of a dotted name: `chat.postMessage`, and the unknown verb of `chat.unfurl`."""
    if not ending.dotted:
        return None
    unknown = ending.method == "POST" and len(ending.words) == 1 and not is_plural(ending.words)
    return ending.words if unknown or _is_procedure(ending.words) else ()


def _list_of_item(ending: _Ending) -> Words | None:
    """Take the `list` of one item for a noun: a card's list is no list of cards."""
    item = ending.before is not None and bool(ending.before.parameters)
    return () if item and (ending.method, ending.words) == ("GET", ("list",)) else None


def _verb_with_object(ending: _Ending) -> Words | None:
    return ending.words if _is_action(ending) else None


def _in_action_folder(ending: _Ending) -> Words | None:
    """Read what follows `/actions/`, where the verb may stand last."""
    before = ending.before
    if before is None or before.words[-1] not in _ACTION_FOLDERS or before.parameters or ending.method != "POST":
        return None
    ordered = _verb_first(ending.words)
    return ordered if leading_verb(ordered) and not is_plural(ordered[:1]) else ()


def _verb_at_end(ending: _Ending) -> Words | None:
    asked = ending.method == "POST" and (_is_query(ending.words) or _is_controlled(ending.words))
    return _verb_first(ending.words) if asked else None


_SEGMENT_RULES: Final[tuple[Callable[[_Ending], Words | None], ...]] = (
    _dotted_procedure,
    _list_of_item,
    _verb_with_object,
    _in_action_folder,
    _verb_at_end,
)
"""Each returns the action's words, () for a noun, or None where it does not know."""


def _verb_before(nouns: list[Noun]) -> tuple[list[Noun], Words]:
    """Find a verb before the last parameter (`/deployment/pause/{id}`) or the object (`/validate/job`)."""
    *others, before, last = nouns
    if _acts_before_item(before, last):
        return [*others, replace(before, parameters=last.parameters)], last.words
    if _acts_on_next(before, last):
        return others, (*before.words, *last.words)
    return nouns, ()


def _acts_before_item(noun: Noun, last: Noun) -> bool:
    """Return True if a verb stands before the parameter of the noun before it: `/deployment/pause/{deploymentID}`."""
    if len(last.words) != 1 or noun.parameters or len(last.parameters) != 1:
        return False
    known = leading_verb(last.words)
    if known is None or not known[0].strong or is_plural(last.words):
        return False
    named = {singular(word) for word in last.parameters[0]}
    return singular(noun.words[-1]) in named or named <= IDS


def _acts_on_next(noun: Noun, last: Noun) -> bool:
    """Return True if a verb stands before its object: `/validate/job`."""
    return not (noun.parameters or last.parameters) and len(noun.words) == 1 and noun.words[0] in _BEFORE_OBJECTS


def _verb_first(words: Words) -> Words:
    """Put a verb that stands last in front: (record, pause) is (pause, record)."""
    return (words[-1], *words[:-1]) if len(words) > 1 and leading_verb(words[-1:]) else words


def _is_controlled(words: Words) -> bool:
    """Return True if the second of two verbs is the action: gather stop, tidy cancel."""
    return len(words) == 2 and words[1] in _CONTROLS and leading_verb(words[:1]) is not None


def _is_query(words: Words) -> bool:
    """Return True if words end in what is done: a web search, a number lookup, `gdpr-delete`; not a saved search."""
    if len(words) == 2 and words[-1] in ("delete", "purge", "destroy"):
        return True
    return len(words) > 1 and words[-1] in ("search", "lookup", "query") and not words[0].endswith("ed")


def _is_procedure(words: Words) -> bool:
    """Return True if the last part of a dotted name (`chat.postMessage`) is a verb with or without its object."""
    match = leading_verb(words)
    if match is None:
        return False
    return not is_plural(words) if len(words) == match[1] else match[0].strong


def _is_action(ending: _Ending) -> bool:
    """Return True if the words of a last segment say what is done, and not what it is done to."""
    words = ending.words
    match = leading_verb(words)
    if match is None or words[0].endswith("ed"):
        return False
    verb, used = match
    return not _is_compound(ending, verb, used) and _suits_method(ending, verb, used)


def _is_compound(ending: _Ending, verb: Verb, used: int) -> bool:
    """Return True if a verb is part of a noun: upload-url, pull-requests, check-runs, transferLimits."""
    words = ending.words
    compound = len(words) == used + 1
    if compound and words[-1] in _THINGS and verb.word in _MAKES_THINGS:
        return True
    if not is_plural(words):
        return False
    if len(words) == used:
        return True
    if verb.word in _ALWAYS_VERBS or (ending.method == "POST" and verb.word == "search"):
        return False
    return compound or (ending.alone and not ending.camel)  # but …/{id}/submit_tool_outputs


def _suits_method(ending: _Ending, verb: Verb, used: int) -> bool:
    """Return True if an action with this verb is called by the path's method."""
    words = ending.words
    if ending.method in ("GET", "HEAD", "OPTIONS"):
        changing = ending.camel and len(words) > used and (ending.alone or not is_plural(words))
        return verb.strong and (verb.category is Category.READ or changing)
    if ending.method == "DELETE":
        return verb.strong and (verb.category is Category.DELETE or verb.word in ("cancel", "stop", "abort"))
    weak = ending.method == "POST" and verb.category is not Category.READ and not ending.alone
    return verb.strong or (weak and len(words) == used)
