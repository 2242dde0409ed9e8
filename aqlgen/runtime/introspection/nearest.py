# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The order of the operations that an unknown name may mean: by its words and by the parameters of the call.

A name from elsewhere has a verb, a thing, and perhaps whose it is. An operation costs what it lacks of them, what it is
about besides, and the parameters that it needs or does not have. A search has found the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import islice

from ..table import Row
from ..validation.problems import near_names
from .vocabulary import CREATING, plain_words, stem, synonyms, terms, verb_class

__all__ = ["fits", "ordered"]

_LACKING, _NEAR, _MORE, _SAME_VERB, _OTHER_VERB, _OTHER_THING, _UNFIT = 2.0, 0.5, 1.0, 0.2, 2.0, 2.0, 1.0
_RANK = 0.1
"""What a place further down costs in the order that the search gave."""
_SHORT, _MOST_PARAMS = 2, 40
_BESIDE = re.compile("_(?:by|for|via)_")
"""The prepositions that part a thing from its filter, its owner, or one of several ways to it."""
_OTHERS = 2
"""How many parameters may differ before they are those of another operation."""


def ordered(name: str, param_names: Collection[str], rows: Sequence[Row]) -> list[Row]:
    """Return the operations, the likeliest first; a write stands first only if its verb is the one of the name."""
    words, param_names = plain_words(name), list(islice(param_names, _MOST_PARAMS))
    asked, scope = list(map(stem, words)), {stem(word) for key in param_names for word in plain_words(key)}
    costs = {
        row.name: place * _RANK + _wording(words, asked, scope, row) + _UNFIT * _unfit(param_names, row)
        for place, row in enumerate(rows)
    }
    best = sorted(rows, key=lambda row: costs[row.name])
    if best and best[0].family != "read" and not _is_asked(words, scope, best[0], param_names):
        reads = [row for row in best if row.family == "read" and not _words_of(row).isdisjoint(asked)][:1]
        best = [*reads, *(row for row in best if row not in reads)]
    return best


def _is_asked(words: Sequence[str], scope: Collection[str], row: Row, param_names: Collection[str]) -> bool:
    """Return True if a name asks for what a write does, to the thing that it does it to; not to all for one."""
    verb, thing = _parts(row)
    stems, asked = list(map(stem, thing)), list(map(stem, words))
    are_all = row.family != "create" and "".join(thing[-1:]).endswith("s") and _is_other_number(words, thing[-1])
    is_done = not are_all and _does(asked, verb, stems) and fits(param_names, row)
    return is_done and stems[-1:] != _extra(stems, asked, scope)[-1:]


def fits(param_names: Collection[str], row: Row) -> bool:
    """Return True unless the parameters of a call are those of another operation."""
    return _unfit(list(islice(param_names, _MOST_PARAMS)), row) < _OTHERS


def _unfit(param_names: Collection[str], row: Row) -> float:
    """Return how many parameters of a call an operation does not have, and how many parts of its path are not given."""
    if not param_names:
        return 0
    taken = {key: name for key in param_names if (name := row.wire_names.get(key) or _meant(key, row)) is not None}
    needed = {name for name, parameter in row.parameters.items() if parameter.location == "path"}
    loose = row.body is not None and row.body.shape != "fields"
    lacking, strange = len(needed.difference(taken.values())), len(param_names) - len(taken)
    if lacking == strange == 1:
        return _NEAR  # the one is probably the other
    return lacking + strange * (_NEAR if loose else 1)


def _meant(key: str, row: Row) -> str | None:
    near, words = near_names(key, row.parameters), {*terms(key)}
    same = (
        name for name in row.parameters if stem(name) in synonyms(stem(key)) or words.issuperset(terms(name) or "?")
    )
    return near[0] if near else next(same, None)


def _parts(row: Row) -> tuple[str, list[str]]:
    """Return the verb of an operation's name and the words of its thing."""
    verb, *thing = plain_words(_BESIDE.split(row.name, 1)[0]) or [""]
    return verb, thing


def _wording(words: Sequence[str], asked: Sequence[str], scope: Collection[str], row: Row) -> float:
    verb, thing = _parts(row)
    stems = list(map(stem, thing))
    row_words = {*_words_of(row), "".join(stems)}
    covered = {word: _closeness(word, row_words) for word in asked if not _does([word], verb)}
    extra = _extra(stems, asked, scope)
    cost = sum(covered.values()) + _MORE * len(extra)
    cost += 0 if stem(verb) in asked else _SAME_VERB if _does(asked, verb, stems) else _OTHER_VERB
    cost += _OTHER_THING if stems and stems[-1] in extra else 0
    return cost + (_NEAR if row.family == "read" and thing and _is_other_number(words, thing[-1]) else 0)


def _words_of(row: Row) -> set[str]:
    return {*terms(row.name), *terms(row.summary), *terms(row.path)}


def _extra(stems: Sequence[str], asked: Sequence[str], scope: Collection[str]) -> list[str]:
    """Return the words of an operation's thing that neither the name nor the parameters have."""
    known, others = {*asked, *scope}, set(asked).difference(stems)
    return [word for word in stems if word not in known and not synonyms(word) & others and not _is_part(word, asked)]


def _closeness(word: str, row_words: Collection[str]) -> float:
    if word in row_words:
        return 0
    return _NEAR if synonyms(word) & set(row_words) else _LACKING


def _is_part(word: str, asked: Collection[str]) -> bool:
    """Return True for a word of a compound that the name has in one: `map` of `configmap`."""
    return len(word) > _SHORT and any(len(other) > len(word) and word in other for other in asked)


def _does(asked: Sequence[str], verb: str, thing: Sequence[str] = ()) -> bool:
    """Return True if a word of the name means what a verb does; `fork` without a verb makes a thing that is a fork."""
    meant = verb_class(stem(verb))
    is_made = meant & CREATING and asked[:1] == thing[-1:] and not any(map(verb_class, asked))
    return bool(is_made) or any(word == stem(verb) or meant & verb_class(word) for word in asked)


def _is_other_number(words: Sequence[str], thing: str) -> bool:
    """Return True if a name asks for one thing and the operation has several, or the reverse; `list`: several."""
    are_listed = "list" in words
    return any(
        stem(word) == stem(thing) and (are_listed or word.endswith("s")) != thing.endswith("s") for word in words
    )
