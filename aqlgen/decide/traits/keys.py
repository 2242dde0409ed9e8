"""Keys of things that sound like secrets, such as `card_token` of `/cards/{card_token}`: the API lists them itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from aqlgen.decide.decision import Category, Decision
from aqlgen.decide.schemas import Schemas
from aqlgen.runtime.redaction import SECRET_NAME
from aqlgen.runtime.text import folded
from aqlgen.words import singular, split

from .around import Subject, template

_VARIABLE = re.compile(r"(?<=[^/{}])/\{([^{}]+)\}(?=/|$)")


def listed_keys(subjects: Iterable[Subject | Decision], schemas: Schemas) -> frozenset[str]:
    """Return the names, folded, of path variables that sound like secrets, and begin with the name of their thing.

    The thing has a list, and each item there has the key: by the whole name, or by what follows the thing's name.
    A key that is called as the thing, such as `api_key` of `/api_keys/{api_key}`, may be the secret itself.
    """
    reads = [each for each in subjects if each.operation.method.upper() == "GET" and each.category is Category.READ]
    places = {place for each in reads for place in _sounding(each.operation.path)}
    parents = {template(parent) for parent, _ in places}
    lists = {path: each for each in reads if parents and (path := template(each.operation.path)) in parents}
    fields = {path: frozenset(_fields_of_items(read, schemas)) for path, read in lists.items()}
    keys = set[str]()
    for parent, variable in places:
        thing, key = _thing(parent), folded(variable)
        if key.startswith(thing) and key != thing:
            keys.update({key} if fields.get(template(parent), frozenset()) & {key, key.removeprefix(thing)} else ())
    return frozenset(keys)


def _sounding(path: str) -> Iterator[tuple[str, str]]:
    """Yield the variables that sound like secrets, and are a whole segment behind a fixed one, with the path before."""
    for match in _VARIABLE.finditer(path):
        if SECRET_NAME.search(match[1]):
            yield path[: match.start()], match[1]


def _thing(path: str) -> str:
    """Return the name of the things of a list, folded."""
    *before, last = split(path.rpartition("/")[2]) or [""]
    return folded("".join((*before, singular(last))))


def _fields_of_items(read: Subject | Decision, schemas: Schemas) -> Iterator[str]:
    """Yield the fields, folded, of the items of a list, or of the lists in the object that an operation answers."""
    for response in read.operation.responses:
        for media in response.media if response.status.startswith("2") else ():
            fields: Mapping[str, object] = schemas.properties(media.schema)
            for schema in (media.schema, *fields.values()):
                yield from map(folded, schemas.properties(schemas.items(schema)))
