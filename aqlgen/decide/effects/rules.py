"""The rules of effects and of danger (R-EFF-1, R-SAFE-1): each finds an effect with its evidence; the highest wins.

What the document claims can raise the level and never lower it: only the owner's overrides do. Words may raise a doubt;
that nothing need be asked is proven by structure (`reversal`). The defaults and the patterns of names are those of the
protocol's danger levels (sections 3.3 and 6).
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from aqlgen.decide.category.method_rules import doubted_get
from aqlgen.decide.category.reads import changes, sent_act
from aqlgen.decide.decision import Category, Danger, Effect
from aqlgen.decide.effects import meantime, money, outward
from aqlgen.decide.effects.reading import Finding, Reading, answer_fields
from aqlgen.decide.effects.removal import adder, removing
from aqlgen.decide.naming.noun import AREAS, head_size, is_plural
from aqlgen.decide.naming.verbs import find_verb
from aqlgen.decide.payloads import is_sent_as_list, sends_list
from aqlgen.decide.sentences import Act, Words, irreversible
from aqlgen.ir import Location
from aqlgen.runtime.wire import SAFE_METHODS, admits_json
from aqlgen.words import is_english, singular, split

__all__ = ["CARRIES", "REPLACES", "RULES", "Finding", "Rule"]

CARRIES: Final = "carries-operations"
REPLACES: Final = "replaces-whole"
_DOUBT: Final = 0.65
"""The confidence of rules that only doubt that an operation is harmless."""


class Rule(NamedTuple):
    """A named rule: `apply` returns what it finds, None where it does not apply."""

    name: str
    confidence: float
    apply: Callable[[Reading], Finding | None]
    of_reads: bool = False
    """Whether it looks at READs, too: it rests on what is sent, or on the document's own word."""
    unless_proven: bool = False
    """Whether structure that takes the operation back refutes it."""


_DEFAULTS: Final = {Category.READ: Danger.SAFE, Category.DELETE: Danger.DESTRUCTIVE}
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
_EMPTYING: Final = frozenset({"reset_*", "truncate_*"})
_DESTROYING: Final = frozenset("delete destroy purge wipe erase truncate".split())
_ENDING: Final = frozenset(
    "cancel close terminate restore revert rollback rebuild reinstall regenerate rotate reset expire clear flush"
    " empty overwrite discard remove drop reject decline".split()
)
"""Verbs after which something is gone, unless structure proves that it comes back."""
_OF_ITSELF: Final = frozenset({"rejected", "declined", "expires"})
"""Forms that tell what happens to a thing, not what a call does."""
_NOUN_ENDS: Final = (("ion", "e"), ("lation", ""), ("cation", "ke"), ("ure", "e"), ("al", "e"))
"""Ends of nouns and of their verbs: deletion, cancellation, revocation, erasure, removal."""
_RESTARTING: Final = frozenset("logout unsubscribe rotate restart reboot uninstall".split())
"""Changes by a GET after which nothing stored is gone."""
_FETCHING: Final = frozenset("get list lookup look search find query fetch read retrieve show count".split())
_CALLED_BACK: Final = frozenset({"callback", "webhook"})
_ADDRESSES: Final = (("url",), ("uri",))
_AVERTING: Final = frozenset("cancel stop abort pause undo restore recover disable".split())
_QUEUED: Final = "it answers before it is done"
_REPLACING: Final = frozenset("update replace set put overwrite write change edit modify manage".split())


def _by_category(reading: Reading) -> Finding:
    level = _DEFAULTS.get(reading.category, Danger.REVERSIBLE)
    effect = {Category.READ: Effect.NONE, Category.DELETE: Effect.ENDS}.get(reading.category, Effect.DATA)
    if reading.category is Category.DELETE and adder(reading) is not None:
        level = Danger.REVERSIBLE
    return Finding(effect, level, reading.category.value)


def _by_method(reading: Reading) -> Finding | None:
    """Return the effect of the method, which is sent whatever the operation is called."""
    method = reading.facts.method
    return Finding(Effect.DATA, Danger.REVERSIBLE, method) if method in ("PUT", "PATCH") else None


def _by_act(reading: Reading) -> Finding | None:
    """Find a change by a method that ought to be safe (`GET /users/delete/{id}`), or a GET that is said to act."""
    if reading.facts.method not in SAFE_METHODS:
        return None
    act = sent_act(reading.facts)
    if act is None:
        doubt = doubted_get(reading.facts)
        return Finding(Effect.UNKNOWN, Danger.REVERSIBLE, doubt.note) if doubt else None
    says = f"{reading.facts.method}, but {act.note}"
    if act.verb.word in _RESTARTING:
        return Finding(Effect.DATA, Danger.REVERSIBLE, says)
    return Finding(Effect.ENDS, Danger.DESTRUCTIVE, says)


def _by_reading(reading: Reading) -> Finding | None:
    """Find a READ by an unsafe method that is doubted, or of which a clause says that it does something."""
    if reading.category is not Category.READ or reading.facts.method in SAFE_METHODS:
        return None
    clauses = enumerate(act for act in reading.acts if act.kind == "sentence")
    act = next((act for place, act in clauses if outward.reaches(act) or (place < 2 and changes(act))), None)
    reached = outward.people_chosen(reading)
    reason = act.says if act else _called_back(reading) or _addressed(reading) or (reached.says if reached else "")
    is_sure = not reading.is_doubted and _is_borne_out(reading)
    if not reason and (is_sure or _answers_otherwise(reading)):
        return None
    says = f"it counts as a READ, but {reason}" if reason else "no other evidence for a READ"
    return Finding(Effect.UNKNOWN, Danger.REVERSIBLE, says, "sentence" if act else "structure")


def _called_back(reading: Reading) -> str:
    """Return the evidence that the API calls an address of the request."""
    addresses = ("_".join(name) for name in reading.fields if name[-1:] in _ADDRESSES and _CALLED_BACK & {*name})
    sent = reading.sends(_CALLED_BACK) or next(addresses, "")
    return f"its request has {sent}" if sent else ""


def _addressed(reading: Reading) -> str:
    """Return the evidence that somebody may get the answer: an address in a request that no list answers."""
    sent = "" if reading.facts.answers_list else outward.addresses(reading)
    return f"its request has {sent}" if sent else ""


def _is_borne_out(reading: Reading) -> bool:
    """Return True if a list in the answer, a verb of fetching, or a summary that reads bears a READ out.

    The summary suffices with an answer that is described, and no word of money, access or messages.
    """
    facts = reading.facts
    verbs = [verb for verb in (facts.named_verb, facts.action_verb) if verb is not None]
    if facts.answers_list or any(verb.word in _FETCHING for verb in verbs):
        return True
    is_read = facts.summary_verb is not None and facts.summary_verb.category is Category.READ
    is_harmless = reading.subject.answer is not None and not _may_harm(reading)
    return is_read and (is_harmless or any(verb.category is Category.READ for verb in verbs))


def _answers_otherwise(reading: Reading) -> bool:
    """Return True if the answer has other fields than were sent, and no id: it was computed, and nothing was made."""
    answered = set(map(split, answer_fields(reading.subject.answer, reading.around.schemas, depth=0)))
    is_made = ("id",) in answered or not answered.isdisjoint(reading.fields)
    return bool(answered) and not is_made and _successes(reading) == {"200"} and not _may_harm(reading)


def _may_harm(reading: Reading) -> bool:
    """Return True if its words are about money, access or messages."""
    return bool(money.beside(reading) or outward.access_beside(reading) or outward.people_beside(reading))


def _by_pattern(reading: Reading) -> Finding | None:
    """Return the highest level of the protocol's patterns that a name or the path's action matches."""
    matches = [
        _matched(reading, level, pattern, words)
        for words in reading.names
        for level, pattern in _PATTERNS
        if (words is reading.words or pattern not in _OF_NAMES)
        and (fnmatchcase("_".join(words), pattern) or "_".join(words) == pattern.removesuffix("_*"))
    ]
    return max(matches, key=lambda finding: finding.level.rank, default=None)


def _matched(reading: Reading, level: Danger, pattern: str, words: Words) -> Finding:
    """Read a pattern by what it says that it is for: `reset_*` is "reset to empty or factory state"."""
    last = singular(words[head_size(words, 2) - 1])
    if pattern in _EMPTYING and len(words) > 1 and (reading.part or last in outward.MEANS):
        return Finding(Effect.ENDS, Danger.DESTRUCTIVE, f"a {words[0]} loses the previous {last}")
    return Finding(Effect.ENDS, level, f"the name matches {pattern}")


def _by_collection(reading: Reading) -> Finding | None:
    """Find a request for a whole collection, or a deletion named after all (`deleteAllReactions`, `/delete-all`)."""
    facts = reading.facts
    spoken = (*(facts.phrase.object[:1] if facts.phrase else ()), *facts.shape.action[1:2])
    if reading.category is Category.DELETE and "all" in spoken:
        return Finding(Effect.ENDS, Danger.DANGEROUS, "its name says all")
    if not _asks_for_whole(reading):
        return None
    if facts.method == "PUT" and not _is_collection(reading) and is_sent_as_list(facts.operation, facts.schemas):
        return Finding(Effect.ENDS, Danger.REVERSIBLE, "PUT of a list: omitted items are deleted")
    if facts.operation.extensions.get("x-kubernetes-action") != "deletecollection" and not _is_collection(reading):
        return None
    finding = Finding(Effect.ENDS, Danger.DANGEROUS, f"{facts.method} on a collection")
    return _of_list(reading, finding) if facts.method == "PUT" else finding


def _of_list(reading: Reading, unread: Finding) -> Finding | None:
    """Judge a PUT of a list by the GET that shows it, of its path or of the whole around: the same PUT puts it back."""
    path, is_part = reading.facts.operation.path, any(noun.parameters for noun in reading.facts.shape.nouns[:-1])
    is_read = reading.lists.get(path, False) is not False
    if is_read and not _has_items(reading):
        return None
    around = reading.others.get(f"GET {path.rstrip('/').rpartition('/')[0]}")
    names = () if around is None else answer_fields(around.subject.answer, reading.around.schemas, depth=1)
    is_shown = is_read or reading.path_nouns[-1] in map(split, names)
    return (
        unread._replace(level=Danger.REVERSIBLE, says="PUT of a list, which a GET reads")
        if is_part and is_shown
        else unread
    )


def _asks_for_whole(reading: Reading) -> bool:
    """Return True if a DELETE deletes, a PUT replaces, or a PATCH without a list changes all that its path names."""
    facts = reading.facts
    if facts.shape.action:
        return False
    if facts.method == "PATCH":
        is_list = reading.category is Category.UPDATE and bool(reading.lists.get(facts.operation.path))
        return is_list and _has_items(reading) and not sends_list(facts.operation, facts.schemas)
    if facts.method == "PUT":
        return reading.category is Category.UPDATE and reading.words[0] in _REPLACING
    return facts.method == "DELETE" and reading.category is Category.DELETE


def _has_items(reading: Reading) -> bool:
    """Return True if the items of a collection have paths of their own: omitted ones are deleted, and get new ids."""
    return f"{reading.template}/{{}}" in reading.around.once(
        "templates", lambda: {other.template for other in reading.others.values()}
    )


def _is_collection(reading: Reading) -> bool:
    """Return True if the path is a collection, and neither a parameter nor the body picks anything from it."""
    facts, last = reading.facts, reading.facts.last_noun
    if last is None or last.parameters or (reading.category is Category.DELETE and _picks(reading)):
        return False
    if facts.method == "PUT" and sends_list(facts.operation, facts.schemas) is False:
        return False
    spoken = facts.phrase.object if facts.phrase else ()
    if spoken and not is_plural(spoken) and not is_plural(last.words):
        return False
    listed = reading.lists.get(facts.operation.path)
    return listed if listed is not None else is_plural(last.words) and last.words[-1] not in AREAS


def _picks(reading: Reading) -> bool:
    """Return True if the request must say what is deleted."""
    operation = reading.facts.operation
    body, places = operation.body, (Location.QUERY, Location.COOKIE)
    required = any(parameter.required and parameter.location in places for parameter in operation.parameters)
    return required or (body is not None and body.required is not False and bool(body.media))


def _by_destroying_word(reading: Reading) -> Finding | None:
    """Find a statement of destruction: a word of any name (`submit_delete_job`), or a clause."""
    if reading.category is Category.DELETE:
        return None
    for words in reading.names:
        word = next((word for word in words if word in _DESTROYING), "")
        if word and words[0] not in _AVERTING:
            return Finding(Effect.ENDS, Danger.DESTRUCTIVE, f"its name speaks of {word}")
    return _said(reading, lambda act: act.kind == "sentence" and bool(act.verbs & _DESTROYING))


def _by_ending_thing(reading: Reading) -> Finding | None:
    """Find a new thing that stands for an end (`/erasures`), or for an act on an item (`/vms/{id}/reboots`).

    Deleting its record undoes nothing.
    """
    noun, act = reading.noun, find_verb(reading.noun)
    is_act = act is not None and act.category in (Category.EXECUTE, Category.DELETE) and bool(reading.part)
    verbs = {noun, *(noun.removesuffix(end) + verb_end for end, verb_end in _NOUN_ENDS if noun.endswith(end))}
    if reading.category is not Category.CREATE or not (is_act or verbs & (_DESTROYING | _ENDING - _RESTARTING)):
        return None
    return Finding(Effect.UNKNOWN, Danger.REVERSIBLE, f"a new {noun}")


def _by_ending(reading: Reading) -> Finding | None:
    """Find a statement that the operation ends or overwrites something."""
    return _said(reading, lambda act: bool(act.verbs & _ENDING) and act.verbs.isdisjoint(_OF_ITSELF))


def _said(reading: Reading, tells: Callable[[Act], bool]) -> Finding | None:
    """Return the destruction that an act tells of; what is denied tells nothing here."""
    act = next((act for act in reading.acts if not act.is_denied and tells(act)), None)
    return None if act is None else Finding(Effect.ENDS, Danger.DESTRUCTIVE, act.says, act.kind)


def _by_text(reading: Reading) -> Finding | None:
    """Find the sentence that says that it cannot be undone; a text about what a GET reads says nothing of the GET."""
    if reading.facts.method in SAFE_METHODS and reading.category is Category.READ:
        return None
    sentence = irreversible(reading.facts.operation)
    return Finding(Effect.ENDS, Danger.DESTRUCTIVE, f"“{sentence}”", "sentence") if sentence else None


def _by_replacement(reading: Reading) -> Finding | None:
    """Find a replacement of what cannot be read, and so not be kept, with fields that a call may leave out."""
    return Finding(Effect.ENDS, Danger.REVERSIBLE, reading.loss) if reading.loss else None


def _by_overwriting(reading: Reading) -> Finding | None:
    """Find a PUT that is said to make something, and replaces what is there: a file, or what there is one of."""
    facts, last, body = reading.facts, reading.facts.last_noun, reading.facts.operation.body
    verbs = (facts.action_verb, facts.named_verb, facts.summary_verb)
    makes = any(verb is not None and verb.category is Category.CREATE for verb in verbs)
    if facts.method != "PUT" or body is None or not makes:
        return None
    if reading.category is Category.UPDATE:
        is_file = bool(body.media) and not any(admits_json(media.content_type) for media in body.media)
        return Finding(Effect.ENDS, Danger.DESTRUCTIVE, "it may replace a file that is there") if is_file else None
    listed = reading.lists.get(facts.operation.path)
    many = listed if listed is not None else last is not None and is_plural(last.words)
    if reading.category is not Category.CREATE or many:
        return None
    return Finding(Effect.ENDS, Danger.DESTRUCTIVE, "a PUT of a single resource may replace it")


def _by_carried(reading: Reading) -> Finding | None:
    """Find the worst of the operations that it can carry; a detail of a read or of a new thing is a doubt."""
    carrying = reading.facts.carrying
    if carrying is None:
        return None
    if not carrying.is_batch and reading.category in (Category.READ, Category.CREATE):
        return None  # a detail of a filter or of a new thing: the gate looks at each call
    return Finding(Effect.ENDS, Danger.DANGEROUS if carrying.takes_requests else Danger.DESTRUCTIVE, carrying.note)


def _by_outside(reading: Reading) -> Finding | None:
    """Find an effect outside of the data, which nothing beside it takes back: what is executed, or queued (202)."""
    is_executed = reading.category is Category.EXECUTE
    says = "it may act outside the API's data" if is_executed else _QUEUED
    is_queued = reading.category is not Category.UPDATE and _is_queued(reading)
    return Finding(Effect.UNKNOWN, Danger.REVERSIBLE, says) if is_executed or is_queued else None


def _by_queue(reading: Reading) -> Finding | None:
    """Find an update that is queued (202): a GET that reads what it changes proves what the old values were."""
    is_update = reading.category is Category.UPDATE
    return Finding(Effect.UNKNOWN, Danger.REVERSIBLE, _QUEUED) if is_update and _is_queued(reading) else None


def _is_queued(reading: Reading) -> bool:
    return _successes(reading) == {"202"}


def _by_language(reading: Reading) -> Finding | None:
    """Find that nobody has read the document, whose words are not English."""
    around = reading.around
    is_read = around.once("english", lambda: is_english(other.operation.opening for other in around.subjects))
    return None if is_read else Finding(Effect.UNKNOWN, Danger.REVERSIBLE, "its document is not in English")


def _successes(reading: Reading) -> set[str]:
    return {response.status for response in reading.facts.operation.responses if response.status.startswith("2")}


RULES: Final = (
    Rule("category", 0.9, _by_category, of_reads=True),
    Rule("method", 0.9, _by_method, of_reads=True),
    Rule("removal", 0.9, removing, of_reads=True),
    Rule("unsafe-get", 0.65, _by_act, of_reads=True),
    Rule("unsafe-read", 0.65, _by_reading, of_reads=True, unless_proven=True),
    Rule("name-pattern", 0.8, _by_pattern),
    Rule("whole-collection", 0.8, _by_collection),
    Rule("irreversible", 0.85, _by_text, of_reads=True),
    Rule("names-destruction", 0.75, _by_destroying_word),
    Rule("ends", 0.75, _by_ending, unless_proven=True),
    Rule("ending-thing", _DOUBT, _by_ending_thing),
    Rule("access", 0.75, outward.access),
    *(Rule(name, 0.75, money.moving(find)) for name, find in money.SIGNS.items()),
    Rule("money-item", 0.75, money.of_item),
    Rule("money-record", 0.75, money.of_record),
    Rule("people", 0.75, outward.people, unless_proven=True),
    Rule("access-beside", _DOUBT, outward.access_beside),
    Rule("access-answer", _DOUBT, outward.access_answered),
    Rule("money-beside", _DOUBT, money.beside, unless_proven=True),
    Rule("sum", _DOUBT, money.cost),
    Rule("chosen", 0.75, outward.chosen),
    Rule("people-beside", _DOUBT, outward.people_beside),
    Rule("people-chosen", _DOUBT, outward.people_chosen),
    Rule("outside", _DOUBT, _by_outside),
    Rule("queued", _DOUBT, _by_queue, unless_proven=True),
    Rule("language", _DOUBT, _by_language),
    Rule("address", _DOUBT, meantime.address),
    Rule("switch", _DOUBT, meantime.switch),
    Rule("guard", _DOUBT, meantime.guard),
    Rule("may-overwrite", 0.75, _by_overwriting),
    Rule(CARRIES, 0.8, _by_carried, of_reads=True),
    Rule(REPLACES, _DOUBT, _by_replacement, unless_proven=True),
)
"""All of them are asked; of equal levels the first one's counts."""
