"""The owner's word beside the overrides, which win over it: the option `--auth`, and a hand-written adapter element."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from aqlgen.decide.decision import STATED, Category, Danger, Override, ParameterOverride, Requirements
from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Document, Json

from .model import Overrides

if TYPE_CHECKING:
    from aqlgen.document.element import Stated, Word

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
"""The name of a header (RFC 9110, 5.6.2)."""


def read_auth(text: str) -> tuple[str, Mapping[str, Json]]:
    """Return the name and the object of a scheme: basic, bearer, header:NAME or query:NAME. Raises OptionError."""
    kind, _, name = text.partition(":")
    if text in ("basic", "bearer"):
        return {"basic": "login", "bearer": "token"}[text], {"type": "http", "scheme": text}
    if kind in ("header", "query") and _TOKEN.fullmatch(name):
        return "key", {"type": "apiKey", "in": kind, "name": name}
    raise OptionError.of(
        "bad-option", f"--auth {text!r} is not a credential", help="Give basic, bearer, header:NAME or query:NAME."
    )


def with_auth(overrides: Overrides, auth: str | None, declared: Collection[str]) -> Overrides:
    """Return overrides with the scheme for operations that have none; requirements in the file win over it.

    `declared` are the document's schemes, none of which it replaces. Raises OptionError.
    """
    if auth is None:
        return overrides
    name, scheme = read_auth(auth)
    adapter = overrides.adapter
    if adapter.security is not None:
        return overrides
    taken = {*declared, *adapter.security_schemes}
    while name in taken:
        name = f"{name}_added"
    return replace(
        overrides,
        adapter=replace(
            adapter,
            security_schemes={**adapter.security_schemes, name: scheme},
            security=Requirements(((name,),)),
            places={"security": (0, 0), **adapter.places},
        ),
    )


def check_auth(auth: str | None, document: Document) -> None:
    """Raise OptionError where a document, before any override, requires a credential for each operation already."""
    is_covered = any(document.security) or all(any(operation.security or ()) for operation in document.operations)
    if auth is not None and is_covered:
        raise OptionError.of(
            "bad-option",
            f"--auth {auth} has no effect: the document declares its credentials",
            help="`aqlgen explain` shows it; `security_schemes` and `security` in overrides.yaml change it.",
        )


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
