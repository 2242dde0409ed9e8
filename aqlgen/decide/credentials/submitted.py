"""The fields of a request's body, at any depth, in which the caller's own credential travels a second time.

Some APIs repeat in the body what each of their requests says of itself (`region`, `namespace`), the token among it;
others take the header of a key as a field. A token that stands among the fields of a thing is that thing's own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from aqlgen.decide.credentials.names import is_callers, is_text
from aqlgen.document.positions import escape
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import Document, Json, JsonSchema, Location, Operation
from aqlgen.words import split

__all__ = ["SubmittedField", "submitted_fields"]

_LEAST_REPEATED: Final = 2
"""The common parameters that an object of the body repeats at least, if it tells of the request."""
_COMMON: Final = 0.5
"""The share of operations that have a common parameter."""
_TOLD: Final = (Location.QUERY, Location.HEADER, Location.COOKIE)
_MAX_DEPTH: Final = 5
_MAX_OBJECTS: Final = 500
_API_TOKEN: Final = re.compile(r"^((x_)?(access|api|auth|user|acl)_)?(token|key|secret|secret_id)$")


@dataclass(frozen=True, slots=True)
class SubmittedField:
    """A field that holds a credential of the caller."""

    pointer: str
    """The JSON pointer of its schema in the document."""
    path: tuple[str, ...]
    """The names of the fields that lead to it from the body; `*` for an item of a list or of a map."""
    schema: JsonSchema
    is_required: bool

    @property
    def is_for_this_api(self) -> bool:
        """True if it is the API's own credential, which a scheme sends, and not one for another system."""
        name = "_".join(split(self.path[-1]))
        return bool(_API_TOKEN.search(name)) or name.startswith("x_")

    @property
    def place(self) -> str | None:
        """The field of the body by its name, or by its JSON pointer if it is deeper; None within lists and maps."""
        if "*" in self.path:
            return None
        is_plain = len(self.path) == 1 and not self.path[0].startswith("/")
        return self.path[0] if is_plain else "".join(f"/{escape(name)}" for name in self.path)


def submitted_fields(
    document: Document, headers: frozenset[str], resolver: Resolver
) -> Iterator[tuple[Operation, SubmittedField]]:
    """Yield the fields of bodies that are credentials of the caller, each with its operation.

    `headers` are the headers in which schemes send credentials, in lower case.
    """
    counts = Counter(chain.from_iterable(map(_told, document.operations)))
    least = max(_LEAST_REPEATED, len(document.operations) * _COMMON)
    common = {name for name, count in counts.items() if count >= least}
    headers = frozenset(name for name in headers if "-" in name)
    for operation in document.operations:
        parameters = _told(operation) & common
        if len(parameters) < _LEAST_REPEATED and not headers:
            continue
        walk = _Walk(resolver, parameters, headers)
        for media in operation.body.media if operation.body is not None else ():
            walk.schema(media.schema, f"{media.origin.pointer}/schema", ())
        for submitted in walk.fields.values():
            yield operation, submitted


def _told(operation: Operation) -> frozenset[str]:
    """Return the parameters by which an operation's request tells of itself, without those of its path."""
    return frozenset(
        "_".join(split(parameter.name)) for parameter in operation.parameters if parameter.location in _TOLD
    )


class _Walk:
    def __init__(self, resolver: Resolver, parameters: Set[str], headers: frozenset[str]) -> None:
        self._resolver = resolver
        self._parameters = parameters
        self._headers = headers
        self._seen: set[str] = set()
        self.fields: dict[str, SubmittedField] = {}
        """The fields by their pointers."""

    def schema(self, raw: Json, pointer: str, path: tuple[str, ...]) -> None:
        """Look for fields in a schema, in the parts that it is made of, and in the objects that it holds."""
        try:
            node, origin = self._resolver.follow(raw, pointer)
        except UnresolvedError:
            return
        if not isinstance(node, dict) or origin in self._seen or len(self._seen) >= _MAX_OBJECTS:
            return
        self._seen.add(origin)
        self._object(node, origin, path)
        for keyword in ("allOf", "anyOf", "oneOf"):
            parts = node.get(keyword)
            for index, part in enumerate(parts if isinstance(parts, list) else ()):
                self.schema(part, f"{origin}/{keyword}/{index}", path)
        if len(path) < _MAX_DEPTH:
            for inner, inner_pointer, inner_path in _within(node, origin, path):
                self.schema(inner, inner_pointer, inner_path)

    def _object(self, node: dict[str, Json], origin: str, path: tuple[str, ...]) -> None:
        properties = node.get("properties")
        if not isinstance(properties, dict):
            return
        words = {name: "_".join(split(name)) for name in properties if isinstance(name, str)}
        tells_of_request = len(self._parameters & set(words.values())) >= _LEAST_REPEATED
        required = node.get("required")
        for name, folded in words.items():
            is_header = name.lower() in self._headers
            if not is_header and not (tells_of_request and folded not in self._parameters and is_callers(folded)):
                continue
            schema = properties[name]
            if is_text(schema):
                pointer = f"{origin}/properties/{escape(name)}"
                is_required = isinstance(required, list) and name in required
                self.fields.setdefault(pointer, SubmittedField(pointer, (*path, name), schema, is_required))


def _within(node: dict[str, Json], origin: str, path: tuple[str, ...]) -> Iterator[tuple[Json, str, tuple[str, ...]]]:
    properties = node.get("properties")
    if isinstance(properties, dict):
        for name, value in islice(properties.items(), _MAX_OBJECTS):
            if isinstance(name, str):
                yield value, f"{origin}/properties/{escape(name)}", (*path, name)
    for keyword in ("items", "additionalProperties"):
        yield node.get(keyword), f"{origin}/{keyword}", (*path, "*")
