# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The types of an observation: what was seen of an operation, what it proposes, and how requests are made for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from ..table import Row
    from ..wire import ApiRequest, ApiResponse

__all__ = ["CHALLENGES", "Fact", "Observation", "Requests", "Spent"]


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


class Requests(Protocol):
    """The requests of one observation: counted, bounded, and through the adapter's own client, hosts and hooks."""

    async def send(
        self,
        row: Row,
        params: Mapping[str, Any],
        *,
        carries: bool = True,
        change: Callable[[ApiRequest], ApiRequest] | None = None,
    ) -> ApiResponse | None:
        """Send the request of an operation and return the answer, None for none; without `carries` no credential.

        Raises Spent before a request beyond the budget, and ValueError for a write that the owner has not allowed.
        """
        ...
