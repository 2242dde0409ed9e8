"""The name that people gave an operation: verb, object and namespace of its operationId, or of an SDK's extension.

Styles read: `listPets`, `list-pets`, `issues/list-for-repo`, `compute.instances.list`, `Sites_Get`, `GET_DescribeVpcs`,
`read_item_items__item_id__get`, `getUserUsingGET`, `UserController_findOne`, `users_list`, `aws-write-role-tag`.
An operationId that a generator made of the method and the path says nothing more, and gives no phrase.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.extensions import method_name
from aqlgen.decide.naming.noun import PREPOSITIONS, Words, is_plural, singulars
from aqlgen.decide.naming.shape import shape
from aqlgen.decide.naming.verbs import Verb, leading_verb
from aqlgen.ir import Operation
from aqlgen.words import plural, singular, split

__all__ = ["Phrase", "phrase"]

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
_SHORTEST: Final = 3
"""A shorter verb stands at the head only."""


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


def phrase(operation: Operation, sdk_name: str | None = None) -> Phrase | None:
    """Read the name that people gave the operation, None if nobody named it; `sdk_name` is a name from elsewhere."""
    name = (sdk_name or method_name(operation) or operation.operation_id or "")[:_LONGEST]
    method, path = operation.method.upper(), operation.path
    tag = operation.tags[0] if operation.tags else ""
    if name == operation.operation_id and (function := _function_name(name, path, tag)):
        return _of_function(_without_noise(split(function), _literal_words(method, path)), method, path)
    return _read(name, method, path, split(operation.summary[:40])[:1]) if name else None


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
    before = tuple(word for space in namespaces for word in space) if "{" in text else namespace
    if not (namespace or words) or _repeats_path((*before, *words), method, path):
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
    place = _verb_place(words, method, path, opening, namespaced=bool(namespace))
    if place is None:
        head = leading_verb(namespace)
        if head and head[0].strong and head[1] == len(namespace):
            return Phrase(head[0], namespace, words, (), whole)
        return Phrase(None, (), words, namespace, whole)
    verb, start, end = place
    if words[end : end + 1] in (("or",), ("and",)) and (other := leading_verb(words[end + 1 :])):
        end += 1 + other[1]
        verb = other[0] if other[0].category is Category.DELETE else verb
    lead = (verb.word,) if verb.word in ("get", "list") else words[start:end]
    if lead == ("update", "or", "create"):
        lead = ("create", "or", "update")  # its name says first what it does to what is new
    return Phrase(verb, lead, words[end:], (*namespace, *words[:start]), whole)


def _verb_place(
    words: Words, method: str, path: str, opening: Words, *, namespaced: bool
) -> tuple[Verb, int, int] | None:
    """Return a name's verb, and from where to where it stands: at the head, or behind a prefix; a weak one is last."""
    sentence = len(words) > 1 and opening == words[:1]
    nouns = frozenset() if sentence else frozenset(singular(noun.words[0]) for noun in shape(method, path).nouns)
    head = leading_verb(words)
    doubtful = head is not None and len(words) > 1 and singular(words[0]) in nouns
    reading = method == "GET" and opening != words[:1] and opening[:1] and opening[0] in words[1:]  # notifyGetThread
    if head is not None and not doubtful and not reading:
        alone = namespaced and len(words) == head[1]
        if head[0].strong or sentence or alone:
            return head[0], 0, head[1]
    action = shape(method, path).action
    held = {
        singular(noun.words[-1])
        for noun in shape(method, path).nouns
        if len(noun.words) > 1 or (noun.parameters and is_plural(noun.words))
    }
    segments = split(path)
    glued = {word for word in words if any(each != word and each.endswith(word) for each in segments if len(word) > 3)}
    behind = [
        (match[0], start, start + match[1])
        for start in range(1, len(words))
        if words[start] not in glued and len(words[start]) >= _SHORTEST and (match := leading_verb(words[start:]))
    ]
    strong = [place for place in behind if place[0].strong]
    free = [place for place in strong if singular(words[place[1]]) not in nouns]
    changes = method != "GET"
    places = (
        *(place for place in behind if action in (words[place[1] :], (words[place[1]],))),
        *(place for place in strong if words[place[1]] in _COMMON or (words[place[1]],) == opening),
        *(place for place in strong if place[1] + 1 == len(words) and singular(words[-1]) not in held),
        *(place for place in (*free, *strong) if place[2] < len(words) and changes),
    )
    if places or head is None:
        return places[0] if places else None
    reads = changes or head[0].category is Category.READ  # `issueSubscriptions` is a noun
    return (head[0], 0, head[1]) if (doubtful and head[0].strong) or (reads and len(words) > head[1]) else None


def _apart(word: str, path: str) -> Words:
    """Split a run-together word into a verb and words of the path: updateprojectspendlimit."""
    if len(word) <= _LONG_WORD or word in (segments := split(path)):
        return (word,)
    known = {form for each in segments for form in (each, singular(each))}
    if word in known or not word.startswith(tuple(_COMMON)):
        return (word,)
    nouns = "|".join(sorted(known, key=len, reverse=True))
    match = re.fullmatch(f"({'|'.join(sorted(_COMMON))})((?:{nouns})+)", word)
    return (match[1], *re.findall(nouns, match[2])) if match else (word,)


def _without_noise(words: Words, path: Words) -> Words:
    """Leave out versions and words that say nothing, unless the path's nouns have them too."""
    kept = tuple(
        word
        for word in words
        if not (word in _NOISE and not (len(word) > 2 and (word in path or plural(word) in path)))
        and not _VERSION.match(word)
    )
    return kept or words


def _literal_words(method: str, path: str) -> Words:
    """Return the words of a path's nouns and of its action, without its parameters."""
    path_shape = shape(method, path)
    return tuple(word for noun in path_shape.nouns for word in noun.words) + path_shape.action


def _repeats_path(words: Words, method: str, path: str) -> bool:
    """Return True if a generator made the name of method and path (`get_files_id_comments`)."""
    verb, action = method.lower(), shape(method, path).action
    match = leading_verb(action)
    thing = match is not None and match[0].category is Category.READ and len(action) > 1  # a `checkItem` is a thing
    if method == "POST" and words[0] in ("create", "add") and action and not thing:
        spoken = singulars(words[1 : words.index("by") if "by" in words else None])  # createUserChangePassword
        return spoken in (singulars(_literal_words(method, path)), singulars(action))
    if verb not in (words[0], words[-1]):
        return False
    rest = words[1:] if words[0] == verb else words[:-1]
    literals = {singular(word) for word in _literal_words(method, path)}
    allowed = literals | {singular(word) for word in split(path)} | {"by", "id", "params", "s"}
    if not rest or not literals <= set(singulars(rest)) <= allowed:
        return False
    return verb in ("post", "put") or len(literals) + (verb == words[-1]) > 1
