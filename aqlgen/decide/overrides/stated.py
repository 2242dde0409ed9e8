"""The owner's word of a hand-written adapter element, beside the overrides: each entry of the file wins over it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aqlgen.decide.decision import STATED, Category, Danger, Override, ParameterOverride

from .model import Overrides

if TYPE_CHECKING:
    from aqlgen.document.element.model import Stated, Word

__all__ = ["with_stated"]


def with_stated(overrides: Overrides, stated: Stated | None) -> Overrides:
    """Return overrides with what an element states; None states nothing."""
    if stated is None:
        return overrides
    adapter = overrides.adapter
    variables = {**stated.variables, **adapter.variables}
    places = {**{f"variables.{name}": (0, 0) for name in stated.variables}, **adapter.places}
    return replace(
        overrides,
        adapter=replace(adapter, variables=variables, places=places),
        file=overrides.file or stated.file,
        stated={key: _override(word) for key, word in stated.operations.items()},
    )


def _override(word: Word) -> Override:
    """Return the override that a word is."""
    key = f"{STATED}:{word.written}"
    names = {wire: ParameterOverride(name=name, places={"name": (0, 0)}) for wire, name in word.parameters.items()}
    chosen = {"danger": word.danger, "pagination": word.pagination}
    fields = ("name", "category", *(field for field, value in chosen.items() if value is not None))
    return Override(
        name=word.name,
        category=Category(word.category),
        danger=None if word.danger is None else Danger(word.danger),
        parameters=names,
        pagination=word.pagination,
        places=dict.fromkeys(fields, (0, 0)),
        key=key,
        sources=dict.fromkeys((*fields, *(f"parameters.{wire}" for wire in names)), key),
    )
