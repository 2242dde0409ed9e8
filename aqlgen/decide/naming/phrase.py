"""The name that people gave an operation: verb, object and namespace of its operationId, or of an SDK's extension.

Styles read: `listPets`, `list-pets`, `issues/list-for-repo`, `compute.instances.list`, `Sites_Get`, `GET_DescribeVpcs`,
`read_item_items__item_id__get`, `getUserUsingGET`, `UserController_findOne`, `users_list`, `aws-write-role-tag`.
An operationId that a generator made of the method and the path says nothing more, and gives no phrase.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category
from aqlgen.decide.naming.noun import PREPOSITIONS, Words, is_plural, singulars
from aqlgen.decide.naming.shape import Shape, shape
from aqlgen.decide.naming.verbs import Verb, leading_verb
from aqlgen.ir import Operation
from aqlgen.words import plural, singular, split

_NAMING: Final = re.compile(
    r"x-(?:[a-z0-9]+-)*(?:method-?name|operation-?name|function-?name|name-override|client-name|stainless-name)",
    re.IGNORECASE,
)
_METHODS: Final = "get put post delete patch head options trace".split()
"""All of them, since a route of several methods has one operationId, with the method that came first."""
_SIGNS: Final = re.compile(r"\W")
_FUNCTION: Final = re.compile(r"[a-z_][a-z0-9]*_[a-z0-9_]+")
_RESIDUE: Final = re.compile(r"v\d+|apis?")
_LONGEST: Final = 400
"""How many characters of a name are read; no name that anybody gave is longer."""
_NAMESPACES: Final = 2
"""How many parts of a dotted chain before its verb count as its namespace (`projects.locations.models.list`)."""
_ADDED: Final = re.compile(r"^(GET|POST)_(?=[A-Z])|[-_]\d+$|Using(GET|POST|PUT|PATCH|DELETE|HEAD)(_\d+)?$")
"""What generators add to the operation's own name."""
_DOTS: Final = re.compile(r"[/.]+")
_DOTTED: Final = re.compile(r"\w[/.]\w")
_CLASS: Final = re.compile(r"([A-Za-z][A-Za-z0-9]*)_([A-Za-z][A-Za-z0-9]*)")
_VERSION: Final = re.compile(r"v\d+((alpha|beta)\d*)?$")
_NOISE: Final = frozenset("a an the api controller endpoint route async operation func handler".split())
_COMMON: Final = frozenset(
    "get list create update delete read write add remove retrieve fetch patch put post set enable disable".split()
)
"""Verbs that are hardly ever nouns behind the head of a name."""
_LONG_WORD: Final = 8
"""A word of more letters may be several that are run together."""


@dataclass(frozen=True)
class Phrase:
    """A name given by people, read. `verb` is None where none is found; `lead` keeps its adverb (bulk delete).

    `of_function` is True for the name of a function in the API's own code.
    """

    verb: Verb | None
    lead: Words
    object: Words
    namespace: Words
    words: Words
    of_function: bool = False

    @cached_property
    def evidence(self) -> frozenset[str]:
        """All words in the singular, to be compared with those of a path."""
        return frozenset(map(singular, (*self.namespace, *self.object)))


def phrase(operation: Operation) -> Phrase | None:
    """Read the name that people gave the operation, None if nobody named it.

    An SDK's name says less than an operationId where it has no verb (`all`), or fewer words for the same object.
    """
    in_sdk, identified = (_phrase(operation, name) for name in (_method_name(operation), operation.operation_id))
    if in_sdk is None or identified is None:
        return in_sdk or identified
    has_less = bool(in_sdk.object) and {*in_sdk.object} < {*identified.object}
    return identified if in_sdk.verb is None or has_less else in_sdk


def _phrase(operation: Operation, name: str | None) -> Phrase | None:
    name = (name or "")[:_LONGEST]
    method, path = operation.method.upper(), operation.path
    tag = operation.tags[0] if operation.tags else ""
    if name == operation.operation_id and (function := _function_name(name, path, tag)):
        words = _without_noise(split(function), _literal_words(method, path))
        known = {*split(path), *split(operation.summary[:40])[:1]}
        named = len(words) > 1 or leading_verb(words) or not known.isdisjoint(words)
        return _of_function(words, method, path) if named else None  # else the name of a package, rather
    return _read(name, method, path, split(operation.summary[:40])[:1]) if name and "{" not in name else None


def _of_function(words: Words, method: str, path: str) -> Phrase:
    """Read the name of a function, whose verb is at its head; a weak one may be a noun (`chat_completion`)."""
    verb, used = leading_verb(words) or (None, 0)
    rest = words[used:]
    is_noun = verb is not None and not verb.strong and PREPOSITIONS.isdisjoint(rest[:1])
    if verb is None or (is_noun and words[:used] in [noun.words for noun in shape(method, path).nouns]):
        return Phrase(None, (), words, (), words, of_function=True)
    lead = (verb.word,) if verb.word in ("get", "list") else words[:used]
    return Phrase(verb, lead, rest, (), words, of_function=True)


def _function_name(operation_id: str, path: str, tag: str) -> str:
    """Return the name of a function to which FastAPI appended the path and the method, or put the first tag before.

    The suffix is recognised by writing it again (`fastapi.utils.generate_unique_id`). A gateway may have put segments
    before the path since: then its end is enough, unless what stands before that is only more of the path.
    """
    tagged = operation_id.removeprefix(f"{tag}-")
    if tagged != operation_id and _FUNCTION.fullmatch(tagged):
        return tagged
    body, _, method = operation_id.rpartition("_")
    if method not in _METHODS or _SIGNS.search(body):
        return ""
    route = set(split(path))
    for slash in re.finditer("/", path):
        name = body.removesuffix(_SIGNS.sub("_", path[slash.start() :]))
        if name not in ("", body) and (words := split(name)):
            more = any(word not in route and not _RESIDUE.fullmatch(word) for word in words)
            return name if more or not slash.start() else ""
    return ""


def _read(text: str, method: str, path: str, opening: Words) -> Phrase | None:
    text = _ADDED.sub("", text)
    *spaces, last = _DOTS.split(text) if _DOTTED.search(text) else _class_and_method(text)
    literals = _literal_words(method, path)
    namespaces = [_without_noise(split(space), literals) for space in spaces]
    words = _without_noise(split(last), literals)
    namespace = tuple(word for space in namespaces[-_NAMESPACES:] for word in space)
    if not (namespace or words) or _repeats_path((*namespace, *words), method, path):
        return None
    return _with_verb(words, namespace, method, path, opening)


def _class_and_method(text: str) -> list[str]:
    """Split `Sites_CreateOrUpdate` and `pets_list` at the underscore where a namespace stands before it."""
    match = _CLASS.fullmatch(text)
    if match and leading_verb(split(match[2])) and (match[1][0].isupper() or not leading_verb(split(match[1]))):
        return [match[1], match[2]]
    return [text]


def _with_verb(words: Words, namespace: Words, method: str, path: str, opening: Words) -> Phrase:
    """Find the verb of a name, and take the name apart there."""
    whole = (*namespace, *words)
    words = tuple(piece for word in words for piece in _apart(word, path))
    place = _verb_place(_Name(words, shape(method, path), method, opening), namespaced=bool(namespace))
    if place is None:
        return Phrase(None, (), words, namespace, whole)
    verb, start, end = place
    if words[end : end + 1] in (("or",), ("and",)) and (other := leading_verb(words[end + 1 :])):
        end += 1 + other[1]
        verb = other[0] if other[0].category is Category.DELETE else verb
    lead = (verb.word,) if verb.word in ("get", "list") else words[start:end]
    return Phrase(verb, lead, words[end:], (*namespace, *words[:start]), whole)


class _Name(NamedTuple):
    """The words of a name, the path and the method that it is of, and the first word of the summary."""

    words: Words
    path: Shape
    method: str
    opening: Words


class _Place(NamedTuple):
    """A verb, and from where to where it stands among the words of a name."""

    verb: Verb
    start: int
    end: int


def _verb_place(name: _Name, *, namespaced: bool) -> _Place | None:
    """Return a name's verb: at the head where it is no noun of the path, else behind a prefix; a weak one is last."""
    words, head, behind = name.words, leading_verb(name.words), _place_behind(name)
    if head is None:
        return behind
    place = _Place(head[0], 0, head[1])
    if _is_head(place, name, namespaced=namespaced):
        return place
    return behind or (place if len(words) > place.end or place.verb.strong else None)


def _is_head(place: _Place, name: _Name, *, namespaced: bool) -> bool:
    """Return True if a name begins with its verb, and the path has no such noun."""
    is_noun = singular(name.words[0]) in {singular(noun.words[0]) for noun in name.path.nouns}
    return (place.verb.strong or namespaced) and (len(name.words) == 1 or not is_noun)


def _place_behind(name: _Name) -> _Place | None:
    """Return the verb behind a prefix that the first rule to find one finds."""
    segments = {word for noun in name.path.nouns for word in noun.words} | {*name.path.action}
    behind = [at for at in range(1, len(name.words)) if not _glued(name.words[at], segments)]
    matches = [(at, leading_verb(name.words[at:])) for at in behind]
    places = [_Place(match[0], at, at + match[1]) for at, match in matches if match]
    if name.method == "GET":  # behind a verb that reads stands its object: patch of `repoDownloadPatch`
        read = next((index for index, place in enumerate(places) if place.verb.category is Category.READ), len(places))
        places = places[: read + 1]
    return next((place for rule in _PLACES for place in places if rule(place, name)), None)


def _is_action(place: _Place, name: _Name) -> bool:
    return name.path.action in (name.words[place.start :], (name.words[place.start],))


def _is_common(place: _Place, name: _Name) -> bool:
    word = name.words[place.start]
    return place.verb.strong and (word in _COMMON or (word,) == name.opening)


def _is_last(place: _Place, name: _Name) -> bool:
    things = [noun for noun in name.path.nouns if len(noun.words) > 1 or (noun.parameters and is_plural(noun.words))]
    is_noun = singular(name.words[-1]) in {singular(noun.words[-1]) for noun in things}
    return place.verb.strong and place.start + 1 == len(name.words) and not is_noun


def _has_object(place: _Place, name: _Name) -> bool:
    return place.verb.strong and place.end < len(name.words) and name.method != "GET"


_PLACES: Final = (_is_action, _is_common, _is_last, _has_object)


def _glued(word: str, segments: Collection[str]) -> bool:
    """Return True if the path writes a word together with the one before: deny, list of `denylist`."""
    return len(word) > 3 and any(segment != word and segment.endswith(word) for segment in segments)


def _apart(word: str, path: str) -> Words:
    """Split a run-together word into a verb and words of the path: updateprojectspendlimit."""
    if len(word) <= _LONG_WORD or not word.startswith(tuple(_COMMON)) or word in (segments := split(path)):
        return (word,)
    nouns = "|".join(sorted({form for each in segments for form in (each, singular(each))}, key=len, reverse=True))
    match = re.fullmatch(f"({'|'.join(sorted(_COMMON))})((?:{nouns})+)", word)
    return (match[1], *re.findall(nouns, match[2])) if match else (word,)


def _without_noise(words: Words, path: Words) -> Words:
    """Leave out versions and words that say nothing, unless the path's nouns have them too."""
    kept = {word for word in words if word not in _NOISE or word in path or plural(word) in path}
    return tuple(word for word in words if word in kept and not _VERSION.match(word))


def _literal_words(method: str, path: str) -> Words:
    """Return the words of a path's nouns and of its action, without its parameters."""
    path_shape = shape(method, path)
    return tuple(word for noun in path_shape.nouns for word in noun.words) + path_shape.action


def _repeats_path(words: Words, method: str, path: str) -> bool:
    """Return True if a generator made the name of method and path (`get_files_id_comments`)."""
    verb, path_shape = method.lower(), shape(method, path)
    action = path_shape.action
    if method == "POST" and words[0] in ("create", "add") and action and not _speaks_of_thing(words, path_shape):
        end = words.index("by") if "by" in words else None  # createUserChangePassword
        return singulars(words[1:end]) in (singulars(_literal_words(method, path)), singulars(action))
    if verb not in (words[0], words[-1]):
        return False
    literals = singulars(_literal_words(method, path))
    allowed = {*literals, *singulars(split(path)), "by", "id", "params", "s"}
    spoken = singulars(words[1:] if words[0] == verb else words[:-1])
    turned = len(literals) > 1 and spoken == literals[::-1]  # `getOpenSettlement` of `/settlements/open`
    if turned or not {*literals} <= {*spoken} <= allowed:
        return False
    return verb in ("post", "put") or len({*literals}) + (verb == words[-1]) > 1


def _speaks_of_thing(words: Words, path_shape: Shape) -> bool:
    """Return True if what looks like an action is a thing: a `checkItem`, an `addOn` of `/add_ons`."""
    action = path_shape.action
    match = leading_verb(action) if len(action) > 1 else None
    reads = match is not None and match[0].category is Category.READ
    return reads or (path_shape.procedure and is_plural(action) and not is_plural(words))


def _method_name(operation: Operation) -> str | None:
    """Return the name of the operation's method in an SDK, None if no extension has one."""
    for key, value in operation.extensions.items():
        if isinstance(value, str) and "name" in key.lower() and _NAMING.fullmatch(key) and split(value):
            return value
    return None
