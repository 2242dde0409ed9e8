"""The rules of danger (R-SAFE-1): category, method, patterns of names, shape, money, access, text; the highest wins.

What the document claims can raise the level and never lower it: only the owner's overrides do. The defaults and the
patterns are those of the protocol's danger levels (sections 3.3 and 6), read by what they say they are for: `reset_*`
is "reset to empty or factory state", so it is about what holds data or runs things; resetting a token or a counter
loses one value, and is destructive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final, NamedTuple

from aqlgen.decide.category.method_rules import doubted_get
from aqlgen.decide.category.safe_methods import effect_of_safe_method
from aqlgen.decide.danger.access import moves_access
from aqlgen.decide.danger.change import Change
from aqlgen.decide.danger.money import moves_money
from aqlgen.decide.decision import Category, Danger, Doubt, Evidence, Reason
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import AREAS, head_size, is_plural
from aqlgen.decide.payloads import sends_list
from aqlgen.decide.sentences import irreversible
from aqlgen.ir import Location
from aqlgen.runtime.media import admits_json
from aqlgen.words import singular

__all__ = ["RULES", "Rule", "danger", "with_loss"]

CARRIES: Final = "carries-operations"
REPLACES: Final = "replaces-whole"
REPLACES_CONFIDENCE: Final = 0.65

_DEFAULTS: Final = {
    Category.READ: Danger.SAFE,
    Category.CREATE: Danger.REVERSIBLE,
    Category.UPDATE: Danger.REVERSIBLE,
    Category.DELETE: Danger.DESTRUCTIVE,
    Category.EXECUTE: Danger.REVERSIBLE,
}
_PATTERNS: Final = tuple(
    (level, pattern)
    for level, patterns in (
        (Danger.FORBIDDEN, "drop_* delete_all_* truncate_* reset_* destroy_* wipe_* *_production"),
        (Danger.DANGEROUS, "force_* *_permanently bulk_delete_* override_* bypass_* *_without_backup purge_*"),
    )
    for pattern in patterns.split()
)
_OF_NAMES: Final = frozenset({"destroy_*", "delete_all_*"})
"""Patterns that an operationId matches in other words for deleting one thing."""
_WHOLES: Final = frozenset(
    "all everything factory system database db data datum schema table store storage bucket disk volume filesystem"
    " device machine server instance node cluster host hub router network firewall environment sandbox production"
    " account organization org company tenant workspace project site app application repository repo branch service"
    " installation index cache queue topic stream application settings setting configuration config default defaults"
    " bmc phone terminal printer vm".split()
)
"""Things that go back to an empty or factory state when they are reset."""
_REBUILT: Final = frozenset(
    "index cache queue topic stream settings setting configuration config default defaults".split()
)
"""Those of them that are filled again from elsewhere, or hold no data of their own."""
_STORES: Final = _WHOLES - _REBUILT
_EMPTYING: Final = frozenset({"reset_*", "truncate_*"})
"""Patterns that a path bounds: a part of one item (`/instances/{id}/truncateLog`) is not everything there is."""
_REPLACING: Final = frozenset("update replace set put overwrite write change edit modify manage".split())
_DESTROYING: Final = frozenset("delete destroy purge wipe erase".split())
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
_DELETING: Final = frozenset("delete remove destroy purge wipe erase truncate drop".split())
_ENDING: Final = frozenset("logout unsubscribe rotate restart reboot uninstall".split())
"""Changes after which nothing stored is gone."""
_AVERTING: Final = frozenset("cancel stop abort pause undo restore recover disable".split())
_CLAIMED: Final = 0.6
"""The most confidence in a level where the document claims a lower one."""
_BY_METHOD: Final = {"DELETE": Danger.DESTRUCTIVE, "PUT": Danger.REVERSIBLE, "PATCH": Danger.REVERSIBLE}
_NO_LISTS: Final[Mapping[str, bool | None]] = MappingProxyType({})
_NOTHING_LOST: Final[Mapping[str, str]] = MappingProxyType({})


class Rule(NamedTuple):
    """A named rule: `apply` returns the level that it finds, and what it rests on; None where it does not apply."""

    name: str
    confidence: float
    apply: Callable[[Change], tuple[Danger, str] | None]
    of_reads: bool = False
    """Whether it looks at READs, too: it rests on what is sent, or on the document's own word."""


def danger(
    facts: Facts,
    category: Category,
    name: str,
    lists: Mapping[str, bool | None] = _NO_LISTS,
    losses: Mapping[str, str] = _NOTHING_LOST,
    *,
    carrying: bool = True,
) -> tuple[Danger, Reason]:
    """Return the level with what raised it. Names raise no READ: patterns are about changes.

    `lists` tells of paths whether a GET of them answers with a list, `losses` has notes on replacements whose prior
    state cannot be read, by `METHOD /path`. Without `carrying` the level is that of a call that carries nothing
    which destroys.
    """
    change = Change(facts, category, name, lists, losses.get(facts.operation.key, ""))
    levels = [
        (match[0], Reason(rule.name, Evidence.RULE, rule.confidence, match[1]))
        for rule in RULES
        if (rule.of_reads or category is not Category.READ)
        and (carrying or rule.name != CARRIES)
        and (match := rule.apply(change)) is not None
    ]
    level, reason = max(levels, key=lambda pair: pair[0].rank)
    declared = _declared(facts)
    if declared is None or declared is level:
        return level, reason
    if declared.rank > level.rank:
        return declared, Reason("declared", Evidence.METADATA, 1.0, "x-mcpaql-danger")
    note = f"{reason.note}; x-mcpaql-danger claims {declared}, and a document cannot lower it"
    return level, Reason(reason.rule, reason.evidence, min(reason.confidence, _CLAIMED), note, Doubt.CLAIMED)


def with_loss(level: Danger, reason: Reason, note: str) -> tuple[Danger, Reason]:
    """Return level and reason of an operation of which it turns out that it replaces what cannot be read."""
    if reason.evidence is Evidence.OVERRIDE or level.rank >= Danger.DESTRUCTIVE.rank:
        return level, reason
    return Danger.DESTRUCTIVE, Reason(REPLACES, Evidence.RULE, REPLACES_CONFIDENCE, note)


def _declared(facts: Facts) -> Danger | None:
    declared = facts.operation.extensions.get("x-mcpaql-danger")
    word = declared.strip().lower() if isinstance(declared, str) else ""
    return Danger(word) if word in list(Danger) else None


def _by_category(change: Change) -> tuple[Danger, str]:
    return _DEFAULTS[change.category], change.category.value


def _by_method(change: Change) -> tuple[Danger, str] | None:
    """Return what a method stands for, whatever the operation is called: that is what is sent."""
    level = _BY_METHOD.get(change.facts.method)
    return (level, change.facts.method) if level is not None else None


def _by_act(change: Change) -> tuple[Danger, str] | None:
    """Find a change by a method that ought to be safe (`GET /users/delete/{id}`), or a GET that is said to act."""
    if change.facts.method not in _SAFE:
        return None
    act = effect_of_safe_method(change.facts)
    if act is None:
        doubt = doubted_get(change.facts)
        return None if doubt is None else (Danger.REVERSIBLE, doubt.note)
    level = Danger.REVERSIBLE if act.verb.word in _ENDING else Danger.DESTRUCTIVE
    return level, f"{change.facts.method}, but {act.note}"


def _by_pattern(change: Change) -> tuple[Danger, str] | None:
    """Return the highest level of the protocol's patterns that a name or the path's action matches."""
    matches = [
        _matched(change, level, pattern, "_".join(words))
        for words in change.names
        for level, pattern in _PATTERNS
        if (words is change.words or pattern not in _OF_NAMES) and _matches("_".join(words), pattern)
    ]
    return max(matches, key=lambda pair: pair[0].rank, default=None)


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or (pattern.endswith("_*") and name == pattern[:-2])


def _matched(change: Change, level: Danger, pattern: str, name: str) -> tuple[Danger, str]:
    words = tuple(name.split("_"))
    last = words[head_size(words, 2) - 1]
    if pattern in _EMPTYING and len(words) > 1 and change.part and not _STORES & {singular(last), change.part[-1]}:
        return Danger.DESTRUCTIVE, f"the name matches {pattern}, for the {' '.join(change.part)} of one item"
    if pattern == "reset_*" and len(words) > 1 and not _WHOLES & {singular(last), last}:
        return Danger.DESTRUCTIVE, "a reset loses the value there was"
    return level, f"the name matches {pattern}"


def _by_collection(change: Change) -> tuple[Danger, str] | None:
    facts = change.facts
    if not _asks_for_whole(change):
        return None
    if facts.operation.extensions.get("x-kubernetes-action") != "deletecollection" and not _is_collection(change):
        return None
    return Danger.DANGEROUS, f"{facts.method} on a collection"


def _asks_for_whole(change: Change) -> bool:
    """Return True if a DELETE deletes, a PUT replaces, or a PATCH without a list changes all that its path names."""
    facts = change.facts
    if facts.shape.action:
        return False
    if facts.method == "PATCH":
        path = facts.operation.path
        if change.category is not Category.UPDATE or not change.lists.get(path):
            return False
        has_items = any(other.startswith(f"{path.rstrip('/')}/{{") for other in change.lists)
        return has_items and not sends_list(facts.operation, facts.resolver)
    if facts.method == "PUT":
        return change.category is Category.UPDATE and change.name.split("_")[0] in _REPLACING
    return facts.method == "DELETE" and change.category is Category.DELETE


def _is_collection(change: Change) -> bool:
    """Return True if the path is a collection, and neither a parameter nor the body picks anything from it."""
    facts, last = change.facts, change.facts.last_noun
    if last is None or last.parameters or (change.category is Category.DELETE and _picks(facts)):
        return False
    if facts.method == "PUT" and sends_list(facts.operation, facts.resolver) is False:
        return False
    spoken = facts.phrase.object if facts.phrase else ()
    if spoken and not is_plural(spoken) and not is_plural(last.words):
        return False
    listed = change.lists.get(facts.operation.path)
    return listed if listed is not None else is_plural(last.words) and last.words[-1] not in AREAS


def _picks(facts: Facts) -> bool:
    """Return True if the request must say what is deleted."""
    body = facts.operation.body
    places = (Location.QUERY, Location.COOKIE)
    required = any(parameter.required and parameter.location in places for parameter in facts.operation.parameters)
    return required or (body is not None and body.required is not False and bool(body.media))


def _by_destroying_word(change: Change) -> tuple[Danger, str] | None:
    """Find a word of destroying in the name of an operation that does something else (`submit_delete_job`)."""
    first, *rest = change.name.split("_")
    if change.category is Category.DELETE or first in _AVERTING:
        return None
    word = next((word for word in rest if word in _DESTROYING), "")
    return (Danger.DESTRUCTIVE, f"its name speaks of {word}") if word else None


def _by_all(change: Change) -> tuple[Danger, str] | None:
    """Find `all` right behind a verb of deleting: `deleteAllReactions`, `/delete-all`."""
    spoken = change.facts.phrase.object[:1] if change.facts.phrase else ()
    if change.category is not Category.DELETE or "all" not in (*spoken, *change.facts.shape.action[1:2]):
        return None
    return Danger.DANGEROUS, "people say that it takes all"


def _by_deleting_word(change: Change) -> tuple[Danger, str] | None:
    """Find a DELETE in the path's action or the operationId of what is said to be something else."""
    if change.category is Category.DELETE:
        return None
    verbs = [verb for verb in (change.facts.action_verb, change.facts.named_verb) if verb and verb.word in _DELETING]
    return (Danger.DESTRUCTIVE, f"its path or operationId says {verbs[0].word}") if verbs else None


def _by_money(change: Change) -> tuple[Danger, str] | None:
    note = moves_money(change)
    return (Danger.DANGEROUS, f"it moves money: {note}") if note else None


def _by_access(change: Change) -> tuple[Danger, str] | None:
    note = moves_access(change)
    return (Danger.DESTRUCTIVE, f"it decides about people's access: {note}") if note else None


def _by_text(change: Change) -> tuple[Danger, str] | None:
    """Find the sentence that says that it cannot be undone; a text about what a GET reads says nothing of the GET."""
    if change.facts.method in _SAFE and change.category is Category.READ:
        return None
    sentence = irreversible(change.facts.operation)
    return (Danger.DESTRUCTIVE, f"“{sentence}”") if sentence else None


def _by_replacement(change: Change) -> tuple[Danger, str] | None:
    """Find a replacement of what cannot be read, and so not be kept, with fields that a call may leave out."""
    return (Danger.DESTRUCTIVE, change.loss) if change.loss else None


def _by_overwriting(change: Change) -> tuple[Danger, str] | None:
    """Find a PUT that is said to make something, and replaces what is there: a file, or what there is one of."""
    facts, last, body = change.facts, change.facts.last_noun, change.facts.operation.body
    makes = any(verb.category is Category.CREATE for verb in change.verbs)
    if facts.method != "PUT" or body is None or not makes:
        return None
    if change.category is Category.UPDATE:
        is_file = bool(body.media) and not any(admits_json(media.content_type) for media in body.media)
        return (Danger.DESTRUCTIVE, "it may replace a file that is there") if is_file else None
    listed = change.lists.get(facts.operation.path)
    many = listed if listed is not None else last is not None and is_plural(last.words)
    if change.category is not Category.CREATE or many:
        return None
    return Danger.DESTRUCTIVE, "a PUT of what there is one of may replace it"


def _by_carried(change: Change) -> tuple[Danger, str] | None:
    """Find what can carry other operations: the worst that they can do."""
    carrying = change.facts.carrying
    if carrying is None:
        return None
    return (Danger.DANGEROUS if carrying.takes_requests else Danger.DESTRUCTIVE), carrying.note


RULES: Final = (
    Rule("category", 0.9, _by_category, of_reads=True),
    Rule("method", 0.9, _by_method, of_reads=True),
    Rule("unsafe-get", 0.65, _by_act, of_reads=True),
    Rule("name-pattern", 0.8, _by_pattern),
    Rule("whole-collection", 0.8, _by_collection),
    Rule("names-destruction", 0.75, _by_destroying_word),
    Rule("names-deletion", 0.75, _by_deleting_word),
    Rule("says-all", 0.8, _by_all),
    Rule("irreversible", 0.85, _by_text, of_reads=True),
    Rule("access", 0.75, _by_access),
    Rule("money", 0.75, _by_money),
    Rule("may-overwrite", 0.75, _by_overwriting),
    Rule(CARRIES, 0.8, _by_carried, of_reads=True),
    Rule(REPLACES, REPLACES_CONFIDENCE, _by_replacement),
)
"""All of them are asked; of equal levels the first one's counts."""
