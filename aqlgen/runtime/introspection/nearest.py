"""The order of the operations that an unknown name may mean: by its words, its tool, and the parameters of the call.

A name from elsewhere has a verb, a thing, and perhaps whose it is. An operation costs what it lacks of them, what it is
about besides, and the parameters that it needs or does not have. A search has found the candidates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import islice, pairwise

from ..schema import Types, declared_types, union_of
from ..table import JsonSchema, Row
from ..text import alike
from ..validation.problems import near_params
from .vocabulary import CREATING, ENDING, SAME, plain_words, stem, synonyms, terms, verb_class, words_of

COSTS = {
    "place": 0.05,
    "lacking word": 2.0,
    "other word": 0.5,
    "more words": 1.0,
    "verb": 2.0,
    "thing": 2.0,
    "number": 0.5,
    "parameters": 1.0,
}
"""The cost of each difference of an operation: of its place in the search, of its words, and of its parameters."""
_NEAR = 0.5  # what one of two that probably mean the same costs
_MOST, _OPENING, _DEEPEST = 40, 80, 2
_CHANGING = ("update", "execute")
_MAKING = {stem("create"), *SAME[stem("create")]}
_OTHERS = 2  # how many parameters may differ before they are those of another operation


class _Candidate:
    """An operation as its name, texts, path and fields describe it."""

    def __init__(self, row: Row, types: Types) -> None:
        verb, *thing = plain_words(row.name) or [""]
        self.row, self.verb, self.thing, self._types = row, stem(verb), list(map(stem, thing)), types
        words = terms(row.name)
        initials = "".join(word[0] for word in self.thing)
        acronyms = (initials[at:] for at in range(len(initials) - 1))  # such as `pr` of `pull_request`
        self.words = {*words, "".join(words[1:]), *terms(row.summary), *terms(row.path), *acronyms}
        self.is_plural = "".join(thing[-1:]).endswith("s")

    @cached_property
    def fields(self) -> dict[str, JsonSchema]:
        """Return the fields of its body by name, and those of objects and lists in it."""
        level = {name: item.schema for name, item in self.row.parameters.items() if item.location == "body"}
        fields = dict(level)
        for _ in range(_DEEPEST):
            shapes = [union_of(self._types, schema) for schema in islice(level.values(), _MOST)]
            shapes += [union_of(self._types, item) for shape in shapes for item in shape.items]
            level = {name: schema for shape in shapes for name, (_, schema) in shape.properties.items()}
            fields = level | fields
        return fields

    @cached_property
    def verbs(self) -> set[str]:
        """Return the verbs of its document: what it switches or does to its thing."""
        if self.row.family not in _CHANGING:
            return set()
        switches = [item for item in islice(self.fields.items(), _MOST) if "boolean" in declared_types(item[1])]
        words = " ".join(f"{name} {str(schema.get('description', ''))[:_OPENING]}" for name, schema in switches)
        pairs = pairwise(terms(self.row.description))
        verbs = {verb for verb, thing in pairs if [thing] == self.thing[-1:] and verb_class(verb)}
        return verbs.union(terms(words), _listed(self.fields.values())).difference(self.thing)


class Unknown:
    """A call of a name that no operation has."""

    def __init__(self, name: str, param_names: Collection[str], family: str | None) -> None:
        """Take a name, the names of the call's parameters, and the family of the called tool, if it has one."""
        self._words, self._params, self._family = plain_words(name), [*islice(param_names, _MOST)], family
        self._asked = list(map(stem, self._words))
        self._places: set[tuple[str, ...]] = set()
        self._scope = {stem(word) for key in self._params for word in plain_words(key)}
        self.owner = ("user", *synonyms("user")) if "my" in words_of(name) else ()
        self._states = {stem(word) for word in self._words[-2:-1] if word.endswith(("ed", "ing"))}
        last, self._last = "".join(self._words[-1:]), self._asked[-1:]
        self._are_many = "list" in self._words or (last.endswith("s") and [last] != self._last)

    def ordered(self, rows: Sequence[Row], types: Types) -> list[Row]:
        """Return the operations, the likeliest first; a write stands first only if the name asks for what it does."""
        candidates = [_Candidate(row, types) for row in rows]
        places = (item for row in rows for item in row.parameters.values() if item.location == "path")
        self._places = {terms(item.name) for item in places}
        self._are_many &= not any(
            {*self._last} <= {*it.thing} and len({*self._asked} & it.words) > 1 for it in candidates
        )
        costs = {}
        for place, it in enumerate(candidates):
            costs[it.row.name] = sum(COSTS[name] * size for name, size in self._differences(it, place).items())
        candidates.sort(key=lambda it: costs[it.row.name])
        slips = [it for it in candidates if self._is_slip(it)]
        return [it.row for it in dict.fromkeys([*slips, *self._carefully(candidates)])]

    def _is_slip(self, candidate: _Candidate) -> bool:
        """Return True for a misspelt name of an operation. A misspelt verb of a write, or another word, is none."""
        names = plain_words(candidate.row.name)
        if not alike("".join(self._words), "".join(names)) or not self._lacking(candidate):
            return False
        pairs = zip(self._words, names, strict=False) if len(self._words) == len(names) else ()
        is_other = any(word[0] != name[0] and not alike(word, name) for word, name in pairs)  # post, list
        return not is_other and (candidate.row.family == "read" or self._does(candidate))

    def _carefully(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """Return the candidates with a read first if the likeliest is a write that the name does not ask for."""
        if not candidates or candidates[0].row.family == "read" or self._asks_for(candidates[0]):
            return candidates
        reads = [it for it in candidates if it.row.family == "read"]
        reads.sort(key=lambda it: it.words.isdisjoint(self._asked))
        if self._lacking(candidates[0]) or (reads and not reads[0].words.isdisjoint(self._asked)):
            return [*reads[:1], *(it for it in candidates if it not in reads[:1])] if reads else []
        return candidates

    def fits(self, row: Row, types: Types) -> bool:
        """Return True unless the parameters of the call are those of another operation."""
        return self._unfit(_Candidate(row, types)) < _OTHERS

    def _asks_for(self, candidate: _Candidate) -> bool:
        """Return True if the name asks for the act of a write, on the thing of the write."""
        return (
            self._does(candidate)
            and self._unfit(candidate) < _OTHERS
            and not self._is_all_for_one(candidate)
            and self._is_for_tool(candidate)
            and self._knows_nouns(candidate)
            and candidate.thing[-1:] != self._extra(candidate)[-1:]
        )

    def _is_all_for_one(self, candidate: _Candidate) -> bool:
        """Return True for a write to all things if the name has one; a create of several does no harm."""
        makes = not {candidate.row.family, candidate.verb}.isdisjoint(("create", *_MAKING))
        return not makes and candidate.is_plural and self._is_other_number(candidate)

    def _is_for_tool(self, candidate: _Candidate) -> bool:
        """Return True for an operation of the called tool, or of another if the name has its very verb."""
        family, verbs = candidate.row.family, {candidate.verb, *SAME.get(candidate.verb, ())}
        if (self._family, self._asked[:1]) == ("execute", candidate.thing[-1:]):
            verbs.update(candidate.thing[-1:])  # such as `fork_repo`, which creates a fork
        if {self._family, family}.issubset(_CHANGING):
            verbs.update(_listed(candidate.fields.values()).difference(candidate.thing))
        return self._family in (None, family) or not verbs.isdisjoint(self._asked)

    def _knows_nouns(self, candidate: _Candidate) -> bool:
        """Return True if an operation has all nouns of the name, perhaps under other words; a delete, no others."""
        nouns = [word for word in self._lacking(candidate) if word != self._asked[0] and not verb_class(word)]
        if nouns and candidate.row.family == "delete" and self._extra(candidate):
            return False  # `delete_photos` is not about a profile image
        return not any(synonyms(word).isdisjoint(candidate.words) for word in nouns)

    def _unfit(self, candidate: _Candidate) -> float:
        """Return how many parameters of the call are unknown, and how many parts of the path are not given."""
        row = candidate.row
        needed = {name for name, parameter in row.parameters.items() if parameter.location == "path"}
        required = {name for name, parameter in row.parameters.items() if parameter.required}
        names = [*row.parameters, *candidate.fields]
        meant = {key: row.wire_names.get(key) or _meant(key, names) for key in self._params}
        taken, elsewhere = {*meant.values()} - {None}, {key for key, name in meant.items() if name is None}
        lacking = len(needed.difference(taken)) if self._params else 0
        strange = len(self._params) - len(taken)
        open_count = lacking or len(required.difference(taken))
        if open_count == 1 and 0 < strange <= _OTHERS and self._places.isdisjoint(map(terms, elsewhere)):
            return _NEAR + strange - 1  # one of them is probably the other
        return lacking + strange

    def _differences(self, candidate: _Candidate, place: int) -> dict[str, float]:
        """Return how much an operation differs from the call, by the names of `COSTS`."""
        extra, lacking = self._extra(candidate), self._lacking(candidate)
        near = sum(not synonyms(word).isdisjoint(candidate.words) for word in lacking)
        is_other, are_same = candidate.thing[-1:] == extra[-1:] != [], self._are_many and candidate.is_plural
        return {
            "place": place,
            "lacking word": len(lacking) - near,
            "other word": near,
            "more words": len(extra),
            "verb": 0.0 if candidate.verb in self._asked else 0.1 if self._does(candidate) else 1.0,
            "thing": -0.75 if is_other and are_same else is_other,  # each may have its own word for the same
            "number": self._is_other_number(candidate),
            "parameters": self._unfit(candidate),
        }

    def _lacking(self, candidate: _Candidate) -> list[str]:
        """Return the words of the name that an operation lacks; states, as in `stop_running_task`, do not count."""
        known = self._states | candidate.words
        return [word for word in self._asked if word not in known and not _is_same(word, candidate.verb)]

    def _does(self, candidate: _Candidate) -> bool:
        """Return True if a word of the name is what an operation does; the tool says it for a name without a verb."""
        if any(_is_same(word, candidate.verb) or word in candidate.verbs for word in self._asked):
            return True
        verbs = [word for word in self._asked if verb_class(word) and word not in candidate.thing]
        if not verbs and verb_class(candidate.verb) & CREATING and self._asked[:1] == candidate.thing[-1:]:
            return True
        return self._is_by_tool(candidate, verbs)

    def _is_by_tool(self, candidate: _Candidate, verbs: Sequence[str]) -> bool:
        """Return True if the called tool says it: of no verb, of one that ends, or of the fields of a create."""
        if self._family != candidate.row.family or not _is_same(stem(self._family), candidate.verb):
            return False
        if any(word not in verbs for word in self._lacking(candidate)):
            return False
        is_ended = self._family == "delete" and any(verb_class(word) & ENDING for word in verbs)
        is_made = self._family == "create" and self._params and not self._unfit(candidate)
        return bool(is_ended or is_made or not verbs)

    def _extra(self, candidate: _Candidate) -> list[str]:
        """Return the words of an operation's thing that neither the name nor the parameters have."""
        words, others = {*self._asked, *self._scope}, set(self._asked).difference(candidate.thing)
        words |= {*self.owner}.difference(candidate.thing[-1:])
        has_verb = any(_is_same(word, candidate.verb) for word in self._asked)
        takes_verbs = [*terms(candidate.row.path.rpartition("}")[2])] == candidate.thing[-1:]  # such as `actions`
        if candidate.verbs & others and takes_verbs and not has_verb:
            words.update(candidate.thing[-1:])
        words.update(word for word in candidate.thing[-1:] if synonyms(word) & others.intersection(self._last))
        return [word for word in candidate.thing if word not in words]

    def _is_other_number(self, candidate: _Candidate) -> bool:
        """Return True if the name asks for one thing and an operation has several, or the reverse; `list`: several."""
        same = [word for word in self._words if [stem(word)] == candidate.thing[-1:]]
        return any(("list" in self._words or word.endswith("s")) != candidate.is_plural for word in same)


def _listed(schemas: Iterable[JsonSchema]) -> set[str]:
    """Return the words of the values that schemas list, such as the states that an update puts its thing into."""
    listed = (schema.get("enum", ()) for schema in islice(schemas, _MOST))
    return {word for values in listed for value in islice(values, _MOST) for word in terms(str(value)[:_OPENING])}


def _is_same(word: str, verb: str) -> bool:
    return word == verb or not verb_class(word).isdisjoint(verb_class(verb))


def _meant(key: str, names: Collection[str]) -> str | None:
    near, words = near_params(key, names), {*terms(key)}
    same = (name for name in names if words.issuperset(terms(name) or "?"))
    return near[0] if near else next(same, None)
