"""The one form of an observation: a fact of the server, the evidence for it, and the overrides that it proposes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

CHALLENGES: Final = {"bearer": "token", "basic": "login"}
"""The HTTP authentication schemes that may be proposed as an API names them, each with its name in overrides.yaml."""


class Fact(StrEnum):
    """A fact of the server that the document may lack, or have wrong."""

    ADDRESS = "address"
    CREDENTIAL = "credential"
    PAGES = "pages"
    TYPES = "types"
    READ_OF_UPDATE = "read_of_update"
    UPDATE = "update"
    MEDIA_TYPE = "media_type"
    REVERSAL = "reversal"
    REPETITION = "repetition"
    HEADERS = "headers"


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact of one operation, or of the whole adapter where `key` is "".

    `key` is the key of overrides.yaml (`GET /pets`), `says` one sentence of ours about what was seen, with names from
    the document but nothing of an answer's content. `override` holds the fields that it proposes at the key, none for
    what is only to be known. `certain` proposals are taken by default; others want a person's look. What is `settled`
    the adapter does already: it is proposed to nobody, and confirms what an earlier observation wrote.
    """

    key: str
    fact: Fact
    says: str
    override: Mapping[str, Any] = field(default_factory=dict)
    certain: bool = True
    settled: bool = False


class Spent(Exception):
    """No further request is made, for the reason that it gives; what was observed until then is kept."""
