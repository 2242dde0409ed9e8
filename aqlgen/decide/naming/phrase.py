"""The name that people gave an operation: verb, object and namespace of its operationId, or of an SDK's extension.

Styles read: `listPets`, `list-pets`, `issues/list-for-repo`, `compute.instances.list`, `Sites_Get`, `GET_DescribeVpcs`,
`read_item_items__item_id__get`, `getUserUsingGET`, `UserController_findOne`, `users_list`, `aws-write-role-tag`.
An operationId that a generator made of the method and the path says nothing more, and gives no phrase.

FastAPI appends the path and the method to the name of the author's function.
`fastapi.utils.generate_unique_id` writes the function's name and the path with `_` for every sign, then `_` and the
method in lower case. The suffix is recognised by writing it again, so no list of paths or prefixes is needed. FastAPI's
documentation on generating clients has another form: the first tag, `-` and the function's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.extensions import method_name
from aqlgen.decide.naming.noun import PREPOSITIONS, Words, singulars
from aqlgen.decide.naming.phrase_verb import COMMON_VERBS, VerbPlace, find_phrase_verb
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


@lru_cache(maxsize=16384)
def function_name(operation_id: str, path: str, tag: str) -> str:
    """Return the name of the function; "" if the operationId has no such suffix, and not the first tag before it.

    A gateway may have put segments before the path since: then its end is enough, unless what stands before that is
    only more of the path.
    """
    tagged = operation_id.removeprefix(f"{tag}-")
    if tagged != operation_id and _FUNCTION.fullmatch(tagged):
        return tagged
    body, _, method = operation_id.rpartition("_")
    if method not in _METHODS or _SIGNS.search(body):
        return ""
    route = set(split(path))
    for suffix in _suffixes(path):
        name = body.removesuffix(suffix)
        if name in ("", body) or not split(name):
            continue
        more = any(word not in route and not _RESIDUE.fullmatch(word) for word in split(name))
        return name if more or len(suffix) == len(path) else ""
    return ""


def _suffixes(path: str) -> Iterator[str]:
    """Yield a path and its ends from each literal segment on, with `_` for their signs, the longest first."""
    for slash in re.finditer("/", path):
        end = path[slash.start() :]
        if slash.start() == 0 or re.match(r"/\w", end):
            yield _SIGNS.sub("_", end)


@dataclass(frozen=True, slots=True)
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

    @property
    def evidence(self) -> frozenset[str]:
        """All words in the singular, to be compared with those of a path."""
        return _singular_set((*self.namespace, *self.object))

    def evidence_for(self, nouns: Iterable[Words]) -> frozenset[str]:
        """Return the evidence for a path's nouns: a weak verb (`reportTelephone`) that is one of them counts too."""
        verb = self.verb
        if verb is None or verb.strong or (verb.word,) not in nouns:
            return self.evidence
        return self.evidence | {verb.word}


@lru_cache(maxsize=16384)
def _singular_set(words: Words) -> frozenset[str]:
    return frozenset(singular(word) for word in words)


_LONGEST: Final = 400
"""How many characters of a name are read; no name that anybody gave is longer."""
_SENTENCE: Final = 120
_RUN: Final = 7
"""A name of fewer letters is one word."""
_LONG_WORD: Final = 8
"""A word of more letters may be several that are run together."""
_NAMESPACES: Final = 2
"""How many parts of a dotted chain before its verb count as its namespace (`projects.locations.models.list`)."""
_BROKEN: Final = re.compile(r"[-_]([a-z]{1,3})[-_]([a-z]s)(?![a-z])")
_USING: Final = re.compile(r"Using(GET|POST|PUT|PATCH|DELETE|HEAD)(_\d+)?$")
_NUMBERED: Final = re.compile(r"[-_]\d+$")
_POSTMAN: Final = re.compile(r"(GET|POST)_[A-Z]")
_DOTS: Final = re.compile(r"[/.]+")
_DOTTED: Final = re.compile(r"\w[/.]\w")
_VERSION: Final = re.compile(r"v\d+((alpha|beta)\d*)?$")
_NOISE: Final = frozenset("a an the api controller endpoint route async operation func handler".split())


def phrase(operation: Operation, sdk_name: str | None = None) -> Phrase | None:
    """Read the name that people gave the operation, None if nobody named it; `sdk_name` is a name from elsewhere."""
    name = sdk_name or method_name(operation) or operation.operation_id
    if not name:
        return None
    summary = operation.summary[:_SENTENCE]
    function = ""
    if name == operation.operation_id:
        function = function_name(name[:_LONGEST], operation.path, operation.tags[0] if operation.tags else "")
    if function:
        return _read_function(function, operation.method.upper(), operation.path, split(summary))
    name = _spelled_out(_rejoined(name[:_LONGEST], split(summary)), summary)
    spaces = tuple(split(tag) for tag in operation.tags[:1])
    return _read(name, operation.method.upper(), operation.path, split(summary[:40])[:1], *spaces)


@lru_cache(maxsize=16384)
def _read_function(name: str, method: str, path: str, summary: Words) -> Phrase:
    """Read the name of a function; a summary that is the name once more shows nothing of its verb."""
    literals = _literal_words(method, path)
    words = _without_noise(split(name), literals)
    phrase = _with_verb(words, (), method, path, () if summary == split(name) else summary[:1])
    weak = phrase.verb is not None and not phrase.verb.strong and phrase.object and phrase.object[0] not in PREPOSITIONS
    if weak and phrase.lead in [noun.words for noun in shape(method, path).nouns]:
        phrase = Phrase(None, (), words, (), words)  # chat_completion of `/chat/completions`
    return replace(phrase, of_function=True)


def _rejoined(name: str, summary: Words) -> str:
    """Join what a generator of kebab-case broke, where the summary has it whole (`via-ur-ls`, "via URLs")."""
    for match in _BROKEN.finditer(name):
        whole = match[1] + match[2]
        if whole in summary:
            name = name.replace(match[0], f"{match[0][0]}{whole}")
    return name


def _spelled_out(name: str, summary: str) -> str:
    """Take a name that is one run of letters apart if the summary has its words (deleteshortcut, Delete shortcut).

    A summary that only repeats the name shows nothing.
    """
    if len(name) < _RUN or not (name.isalpha() and name.islower()):
        return name
    words = split(summary)
    runs = (words[start:end] for start in range(len(words)) for end in range(start + 2, min(start + 5, len(words)) + 1))
    return next((" ".join(run) for run in runs if "".join(run) == name), name)


@lru_cache(maxsize=16384)
def _read(text: str, method: str, path: str, opening: Words, tag: Words = ()) -> Phrase | None:
    text = _USING.sub("", _NUMBERED.sub("", text))
    if _POSTMAN.match(text):
        text = text.partition("_")[2]
    *spaces, last = _DOTS.split(text) if _DOTTED.search(text) else _tagged_parts(text, tag) or _azure_parts(text)
    literals = _literal_words(method, path)
    namespaces = [_without_noise(split(space), literals) for space in spaces]
    namespace = tuple(word for space in namespaces[-_NAMESPACES:] for word in space)
    words = _without_method(_without_noise(split(last), literals), method, opening)
    compared = tuple(word for space in namespaces for word in space) if "{" in text else namespace
    if not (namespace or words) or _repeats_path((*compared, *words), method, path):
        return None
    return _with_verb(words, namespace, method, path, opening)


def _with_verb(words: Words, namespace: Words, method: str, path: str, opening: Words) -> Phrase:
    """Find the verb of a name, and take the name apart there."""
    whole = (*namespace, *words)
    known = split(path)
    pieces = [_apart(word, known) if len(word) > _LONG_WORD else (word,) for word in _without_path(words, method, path)]
    words = tuple(word for piece in pieces for word in piece)
    place = find_phrase_verb(words, method, path, opening, namespaced=bool(namespace))
    if place is not None:
        verb, lead, end = _lead(words, place)
        return Phrase(verb, lead, words[end:], (*namespace, *words[: place.start]), whole)
    head = leading_verb(namespace)
    if head and head[0].strong and head[1] == len(namespace):
        return Phrase(head[0], namespace, words, (), whole)
    return Phrase(None, (), words, namespace, whole)


def _lead(words: Words, place: VerbPlace) -> tuple[Verb, Words, int]:
    """Return the verb, its words with a second verb (`start or stop`), and where they end."""
    verb, start, end = place
    if words[end : end + 1] in (("or",), ("and",)) and (other := leading_verb(words[end + 1 :])):
        end += 1 + other[1]
        verb = other[0] if other[0].category is Category.DELETE else verb
    lead = (verb.word,) if verb.word in ("get", "list") else words[start:end]
    if lead == ("update", "or", "create"):
        lead = ("create", "or", "update")  # its name says first what it does to what is new
    return verb, lead, end


def _azure_parts(text: str) -> list[str]:
    """Split `Sites_CreateOrUpdate` and `pets_list` at the underscore where a namespace stands before it."""
    match = re.fullmatch(r"([A-Z][A-Za-z0-9]*|[a-z][A-Za-z0-9]*)_([A-Za-z][A-Za-z0-9]*)(_\d+)?", text)
    if match and leading_verb(split(match[2])) and (match[1][0].isupper() or not leading_verb(split(match[1]))):
        return [match[1], match[2]]
    return [text]


def _tagged_parts(text: str, tag: Words) -> list[str]:
    """Split a name before its verb where the operation's tag of several words stands there; [] where it does not."""
    words, size = split(text), len(tag)
    if size < 2 or words[:size] != tag:
        return []
    match = leading_verb(words[size:])
    return ["_".join(tag), "_".join(words[size:])] if match and match[0].strong else []


def _without_noise(words: Words, path: Words) -> Words:
    """Leave out versions and words that say nothing, unless the path's nouns have them too."""
    kept = tuple(
        word
        for word in words
        if not (word in _NOISE and not (len(word) > 2 and (word in path or plural(word) in path)))
        and not (word[0] == "v" and _VERSION.match(word))
    )
    return kept or words


def _without_method(words: Words, method: str, opening: Words) -> Words:
    """Leave out the method before the summary's verb: `postSimulateVoid`, "Simulate a void"."""
    if len(words) < 3 or words[0] != method.lower() or opening != words[1:2]:
        return words
    match = leading_verb(opening)
    return words[1:] if match and match[0].strong else words


def _apart(word: str, known: Words) -> Words:
    """Split a run-together word into verbs and words of the path: updateprojectspendlimit, getorders."""
    if word in known:
        return (word,)
    pieces = {*known, *(singular(part) for part in known)} | COMMON_VERBS
    ways: dict[int, Words] = {0: ()}
    for end in range(1, len(word) + 1):
        for start in sorted(ways):
            if word[start:end] in pieces and end - start > 2:
                ways[end] = (*ways[start], word[start:end])
                break
    return ways.get(len(word), (word,))


def _literal_words(method: str, path: str) -> Words:
    """Return the words of a path's nouns and of its action, without its parameters."""
    path_shape = shape(method, path)
    return tuple(word for noun in path_shape.nouns for word in noun.words) + path_shape.action


def _repeats_path(words: Words, method: str, path: str) -> bool:
    """Return True if a generator made the name of method and path (`get_files_id_comments`)."""
    verb = method.lower()
    if verb not in (words[0], words[-1]):
        return _adds_path(words, method, path)
    rest = words[1:] if words[0] == verb else words[:-1]
    literals = {singular(word) for word in _literal_words(method, path)}
    if rest == split(path) and len(rest) > len(literals):
        return True  # its parameters too, each in its place
    allowed = literals | {singular(word) for word in split(path)} | {"by", "id", "params", "s"}
    if not rest or not literals <= set(singulars(rest)) <= allowed:
        return False
    return verb in ("post", "put") or len(literals) + (verb == words[-1]) > 1


def _adds_path(words: Words, method: str, path: str) -> bool:
    """Return True if `create` or `add` stands for POST before the path: `createUserChangePassword`.

    It says nothing where the path ends in an action (`/user/change-password`).
    """
    action = shape(method, path).action
    match = leading_verb(action)
    if method != "POST" or match is None or words[0] not in ("create", "add"):
        return False
    if match[0].category is Category.READ and len(action) > 1:
        return False  # a `checkItem` is a thing
    literals = _literal_words(method, path)
    by = next((at for at, word in enumerate(words) if word == "by"), len(words))
    return words[1:by] in (literals, action) or singulars(words[1:by]) == singulars(literals)


def _without_path(words: Words, method: str, path: str) -> Words:
    """Cut the path and the method that a generator appended in words of its own (`SystemPingHead` of `/_ping`)."""
    if words[-1:] != (method.lower(),) or len(words) < 3:
        return words
    inside = split(path)
    for size in range(len(inside), 0, -1):
        if words[-1 - size : -1] == inside[-size:] and len(words) - 1 - size >= 1:
            return words[: -1 - size]
    return words
