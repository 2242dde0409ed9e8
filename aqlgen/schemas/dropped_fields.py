"""The schema of a body without fields that agents may neither see nor give, and with those that the owner corrects."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_not
from typing import Final

from aqlgen.document.positions import escape
from aqlgen.document.resolve import Resolver, UnresolvedError
from aqlgen.ir import Json
from aqlgen.runtime.schema import DEMANDED

MAX_BRANCHES: Final = 200
"""Parts of allOf, anyOf and oneOf in which fields of a body are looked for."""


class FieldDropper:
    """Takes fields out of objects, and out of the parts that they are made of, behind references too.

    `dropped` tells the names of the fields, `report` hears the name and the pointer of each. `corrected` gives the
    schemas that take the place of those of other fields, and `optional` tells which are no longer required.
    """

    def __init__(
        self,
        resolver: Resolver,
        dropped: Callable[[str], bool],
        report: Callable[[str, str], object] = lambda name, pointer: None,  # noqa: ARG005 - nothing hears of them
        corrected: Callable[[str, Json], Json] = lambda name, raw: raw,  # noqa: ARG005 - they stay
        optional: Callable[[str], bool] | None = None,
    ) -> None:
        self._resolver = resolver
        self._dropped = dropped
        self._report = report
        self._corrected = corrected
        self._optional = optional or dropped
        self._seen: set[str] = set()
        self._changed: dict[str, Json] = {}
        """The schemas without their fields, by the pointers of those that were seen and had some."""

    def without(self, schema: Json, pointer: str, *, is_alternative: bool = False) -> Json:
        """Return the schema without the fields; the same object if it has none of them.

        An alternative keeps the names of those that it requires: a request of it needs them, and others do not.
        """
        try:
            node, origin = self._resolver.follow(schema, pointer)
        except UnresolvedError:
            return schema
        if not isinstance(node, dict) or origin in self._seen or len(self._seen) >= MAX_BRANCHES:
            return self._changed.get(origin, schema)
        self._seen.add(origin)
        changed = self._fields(node, origin) | self._required(node, is_alternative=is_alternative)
        for key in ("allOf", "anyOf", "oneOf"):
            branches = node.get(key)
            if isinstance(branches, list):
                places = [(branch, f"{origin}/{key}/{index}") for index, branch in enumerate(branches)]
                kept = [self.without(*place, is_alternative=key != "allOf") for place in places]
                changed |= {key: kept} if any(map(is_not, kept, branches)) else {}
        if changed:
            self._changed[origin] = {**node, **changed}
        return self._changed.get(origin, schema)

    def _required(self, node: dict[str, Json], *, is_alternative: bool) -> dict[str, Json]:
        """Return the required fields if they change, and those that only an alternative demands."""
        required = node.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        kept, demanded = [name for name in names if not self._optional(name)], list(filter(self._dropped, names))
        changed = {"required": kept} if len(kept) < len(names) else {}
        return {**changed, DEMANDED: demanded} if is_alternative and demanded else changed

    def _fields(self, node: dict[str, Json], origin: str) -> dict[str, Json]:
        """Return the properties and examples of an object that change."""
        properties = node.get("properties")
        if not isinstance(properties, dict):
            return {}
        changed: dict[str, Json] = {}
        names = [name for name in properties if self._dropped(name)]
        for name in names:
            self._report(name, f"{origin}/properties/{escape(name)}")
        for key in ("properties", "example", "examples") if names else ():
            if isinstance(node.get(key), dict):
                changed[key] = {name: value for name, value in node[key].items() if name not in names}
        fields = {name: self._corrected(name, raw) for name, raw in changed.get("properties", properties).items()}
        return changed | ({"properties": fields} if fields != properties else {})
