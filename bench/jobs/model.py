"""What a job is: the operations that an agent performs for it, in the form of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    """One operation: `words` are what is searched for, `shown` are the fields of the answer that the agent needs."""

    operation: str
    words: str
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    id: str = ""
    foreach: Any = None
    where: Mapping[str, Any] | None = None
    shown: Sequence[str] = ()
    aggregate: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Job:
    """A job for one API. Its answer is what the last steps show, or `answer`, an object of references."""

    api: str
    task: str
    steps: Sequence[Step]
    answer: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Api:
    """A document of the corpus, the things of the stand-in by collection, and paths that lead to the same things."""

    document: str
    secret: str
    things: Mapping[str, Sequence[dict[str, Any]]]
    aliases: Mapping[str, str] = field(default_factory=dict)
    overrides: str = ""
    """The owner's word on what the document only says in a sentence, as YAML."""


def ref(text: str) -> dict[str, str]:
    """Return a reference."""
    return {"$ref": text}


def changed(step: Step, **changes: Any) -> Step:
    """Return a step with changes; `params` are added."""
    values = {name: getattr(step, name) for name in step.__dataclass_fields__}
    return Step(**{**values, **changes, "params": {**step.params, **changes.get("params", {})}})
