"""The evidence for a category: a rule's verdict, the verbs that speak for or against it, and sibling operations.

Siblings never decide, so that no operation changes its category when others come or go; they only confirm.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category, Doubt, Evidence
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import is_plural
from aqlgen.decide.naming.verbs import Verb
from aqlgen.ir import Operation
from aqlgen.runtime.encode.urls import without_names

_TAIL: Final = re.compile(r"(?:\.(?:json|xml))?/?$")


class Verdict(NamedTuple):
    """The category that a rule decides on."""

    category: Category
    evidence: Evidence
    confidence: float
    note: str
    doubt: Doubt = Doubt.WEAK


def witnesses(facts: Facts) -> tuple[tuple[str, Verb], ...]:
    """Return every strong verb that speaks about the operation, with where it stands."""
    verbs = (
        ("its name in the document", facts.named_verb),
        ("its path", facts.action_verb),
        ("its summary", facts.summary_verb),
    )
    return tuple((place, verb) for place, verb in verbs if verb is not None and verb.strong)


class Siblings:
    """The methods of every path of a document, read when the first operation asks for them."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)

    @cached_property
    def _methods(self) -> dict[str, set[str]]:
        methods: dict[str, set[str]] = defaultdict(set)
        for operation in self._operations:
            methods[_template(operation.path)].add(operation.method.upper())
        return methods

    @cached_property
    def _reads(self) -> dict[str, Operation]:
        return {_template(operation.path): operation for operation in self._operations if operation.method == "get"}

    def read_what_it_puts(self, facts: Facts) -> bool:
        """Return True for a PUT whose body has the schema of the answer to a GET of its path."""
        read, body = self._reads.get(_template(facts.operation.path)), facts.operation.body
        if facts.method != "PUT" or read is None or body is None:
            return False
        answered = [
            media.schema for response in read.responses if response.status[:1] == "2" for media in response.media
        ]
        return any(media.schema in answered for media in body.media if media.schema)

    def confirm(self, facts: Facts, category: Category) -> bool:
        """Return True if the siblings bear out the category that method and path alone suggest.

        A POST creates where GET reads the collection, and where its name is no plural, items lie below it; a PUT
        updates the item that GET reads.
        """
        path = _template(facts.operation.path)
        if "GET" not in self._methods.get(path, ()):
            return False
        if category is Category.UPDATE:
            return facts.shape.item
        has_items = is_plural(facts.last_noun.words if facts.last_noun else ()) or f"{path}/{{}}" in self._methods
        return category is Category.CREATE and not facts.shape.item and has_items


def _template(path: str) -> str:
    """Return a path without the names of its parameters, which differ between `/pets/{id}` and `/pets/{petId}`."""
    return _TAIL.sub("", without_names(path))
