"""What else can be done at a path: that its GET reads what is written there, that items lie below it.

Neighbours never decide, so that no operation changes its category when others come or go; they only confirm.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from aqlgen.decisions import Category
from aqlgen.ir import Operation

from .facts import Facts
from .shape import is_plural

__all__ = ["Neighbours"]

_PARAMETER: Final = re.compile(r"\{[^{}]*\}")
_TAIL: Final = re.compile(r"(?:\.(?:json|xml))?/?$")


class Neighbours:
    """The methods of every path of a document, read when the first operation asks for them."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)

    @cached_property
    def _methods(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for one in self._operations:
            found[_template(one.path)].add(one.method.upper())
        return found

    def confirm(self, facts: Facts, category: Category) -> bool:
        """Whether they bear out what the method and the path alone say.

        A POST creates where GET reads the collection, and where that is no plural, items lie below; a PUT updates the
        item that GET reads.
        """
        path = _template(facts.operation.path)
        if "GET" not in self._methods.get(path, ()):
            return False
        if category is Category.UPDATE:
            return facts.shape.item
        last = facts.shape.nouns[-1].words if facts.shape.nouns else ()
        below = is_plural(last) or f"{path}/{{}}" in self._methods
        return category is Category.CREATE and not facts.shape.item and below


def _template(path: str) -> str:
    """Give a path without the names of its parameters, which differ between `/pets/{id}` and `/pets/{petId}`."""
    return _TAIL.sub("", _PARAMETER.sub("{}", path))
