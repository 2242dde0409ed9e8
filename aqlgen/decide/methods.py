"""Rules for the category that start from what is declared, from the method, and from names of remote procedures.

Each is a pure function of an operation's facts and gives category, evidence, confidence and a note, or None where it
does not apply (R-NAME-1).
"""

from __future__ import annotations

from typing import Final, TypeAlias

from aqlgen.decisions import Category, Evidence
from aqlgen.words import split

from . import declared
from .facts import Facts
from .shape import is_plural
from .verbs import Verb

__all__ = ["Verdict", "delete", "patch", "procedure", "put", "read_only", "safe", "stated"]

Verdict: TypeAlias = tuple[Category, Evidence, float, str]

_VAGUE: Final = frozenset("create update get set post put add".split())
_CHANGES: Final = frozenset("create delete update remove insert set add patch revoke".split())
_ACTS: Final = frozenset("connect login logout send trigger".split())
_LISTING: Final = frozenset("list search find check describe query count".split())
"""What a GET is called that changes nothing, whatever its summary begins with."""
_LETTING_GO: Final = frozenset(
    (
        "detach disassociate untag unassign unlink unfollow unstar unlike unmark unblock unlock unpin unmute"
        " unhide disable deactivate reset untrash restore cancel stop abort leave unban unpublish archive"
        " unsuspend suspend decline dismiss reject close end abandon terminate disconnect unbind deauthorize"
        " logout unshare unlist unset release"
    ).split()
)
"""What a DELETE does that deletes no stored thing: it only lets go, hides, or ends something that runs."""


def stated(facts: Facts) -> Verdict | None:
    """Believe an extension that states the category."""
    found = declared.category(facts.operation)
    return (found[0], Evidence.METADATA, found[1], found[2]) if found else None


def read_only(facts: Facts) -> Verdict | None:
    """Take for a READ what an extension calls read-only, and what has pages though it is a POST."""
    if facts.method != "POST":
        return None
    extension = declared.reads(facts.operation)
    spoken = [verb for verb in (facts.action, facts.named) if verb and verb.strong]
    if any(verb.category is not Category.READ and verb.word not in _COMPUTING for verb in spoken):
        return None  # `x-readonly` on `send-template`: a mistake that would make the worst of errors
    return (Category.READ, Evidence.METADATA, 0.95, extension) if extension else None


_COMPUTING: Final = frozenset("render evaluate predict detect classify convert transform translate test".split())
"""What may leave everything as it was."""


def procedure(facts: Facts) -> Verdict | None:
    """Read the verb of a remote procedure: its path is a name, and its method says nothing."""
    if facts.method not in ("GET", "POST") or not (facts.shape.procedure or _is_dotted(facts)):
        return None
    verb, named = facts.action or facts.named, facts.named
    if verb is None or not (verb.strong or facts.method == "POST" or facts.shape.queried):
        return None
    alone = not (facts.shape.queried or _is_dotted(facts))  # /sendMessage, and not ?Action=Send or chat.send
    if alone and named and named.strong and named.category is not verb.category and named.word not in _VAGUE:
        return None
    sure = 0.9 if verb.strong else 0.6
    if alone and facts.method == "GET" and verb.category is not Category.READ:
        sure = 0.65
    if alone and not (named or facts.summary):
        return verb.category, Evidence.RULE, min(sure, 0.66), f"the path says {verb.word}, and nothing else speaks"
    return verb.category, Evidence.RULE, sure, f"the procedure is called {verb.word}"


def _is_dotted(facts: Facts) -> bool:
    """Whether the path ends in a dotted name (`chat.postMessage`), not in a file's ending."""
    last = facts.operation.path.rsplit("/", 1)[-1].split("{")[0]
    return "." in last and bool(facts.shape.action) and split(last.rsplit(".", 1)[-1]) == facts.shape.action


def safe(facts: Facts) -> Verdict | None:
    """Take GET and the like for a READ, unless its very name says that it changes something."""
    if facts.method in ("HEAD", "OPTIONS", "TRACE"):
        return Category.READ, Evidence.RULE, 0.99, f"{facts.method} changes nothing"
    if facts.method not in ("GET", "QUERY"):
        return None
    verb = facts.named
    if verb and verb.strong and verb.category is not Category.READ:
        if verb.word in _CHANGES or verb.word in _ACTS:
            return verb.category, Evidence.HEURISTIC, 0.55, f"GET, but called {verb.word}"
        return Category.READ, Evidence.HEURISTIC, 0.65, f"GET, but called {verb.word}"
    told = facts.summary
    changing = told is not None and (told.word in _ACTS or (told.word in _CHANGES and verb is None))
    if told is not None and changing and not (verb and verb.word in _LISTING):
        return Category.READ, Evidence.HEURISTIC, 0.66, f"GET, but its summary says {told.word}"
    verb = facts.action
    if verb and verb.category is not Category.READ and _is_dotted(facts):
        return Category.READ, Evidence.HEURISTIC, 0.65, f"GET, but its path says {verb.word}"
    return Category.READ, Evidence.RULE, 0.98, "GET"


def delete(facts: Facts) -> Verdict | None:
    """Judge a DELETE by its effect: what only lets go or ends something running deletes nothing."""
    if facts.method != "DELETE":
        return None
    for verb in (facts.action, facts.named):
        if verb and verb.word in _LETTING_GO:
            return _effect(verb), Evidence.RULE, 0.68, f"DELETE that only does {verb.word}"
    if facts.summary and facts.summary.word in _LETTING_GO and not facts.named:
        return _effect(facts.summary), Evidence.HEURISTIC, 0.66, f"DELETE, but its summary says {facts.summary.word}"
    if not (facts.named or facts.summary or facts.shape.item or _is_many(facts)):
        return Category.DELETE, Evidence.RULE, 0.69, "DELETE of what has no id, and nothing else speaks"
    return Category.DELETE, Evidence.RULE, 0.97, "DELETE"


def _is_many(facts: Facts) -> bool:
    return bool(facts.shape.nouns) and is_plural(facts.shape.nouns[-1].words)


def _effect(verb: Verb) -> Category:
    return Category.EXECUTE if verb.category is Category.DELETE else verb.category


def patch(facts: Facts) -> Verdict | None:
    """Take a PATCH for an UPDATE, unless it is called by what it sets in motion."""
    if facts.method != "PATCH":
        return None
    for verb in (facts.action, facts.named):
        if verb and verb.strong and verb.category in (Category.EXECUTE, Category.DELETE):
            return verb.category, Evidence.RULE, 0.75, f"PATCH, but called {verb.word}"
    verb = facts.summary
    if verb and facts.named is None and verb.category is Category.EXECUTE:
        return verb.category, Evidence.HEURISTIC, 0.72, f"PATCH, but its summary says {verb.word}"
    return Category.UPDATE, Evidence.RULE, 0.97, "PATCH"


def put(facts: Facts) -> Verdict | None:
    """Take a PUT for an UPDATE, unless its name says more or it can only put two things together."""
    if facts.method != "PUT":
        return None
    verb = facts.named
    if verb and verb.strong:
        if verb.category is Category.READ:
            told = facts.summary
            if told and told.category is not Category.READ:
                return told.category, Evidence.HEURISTIC, 0.6, f"called {verb.word}, but its summary says {told.word}"
            return Category.READ, Evidence.HEURISTIC, 0.66, f"PUT, but called {verb.word}"
        return verb.category, Evidence.RULE, 0.92, f"called {verb.word}"
    if verb is None and facts.operation.body is None and _attaches(facts):
        return Category.CREATE, Evidence.HEURISTIC, 0.68, "PUT of a member, with nothing to send"
    verb = facts.summary
    if verb and facts.named is None and verb.category in (Category.CREATE, Category.EXECUTE):
        return verb.category, Evidence.HEURISTIC, 0.68, f"its summary says {verb.word}"
    return Category.UPDATE, Evidence.RULE, 0.93, "PUT"


def _attaches(facts: Facts) -> bool:
    """Whether a PUT names a member of a collection and sends nothing: it can only put the two together."""
    return facts.shape.item and len(facts.shape.nouns) > 1 and facts.nothing
