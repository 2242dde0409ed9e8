# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Several APIs behind one object for the dispatcher: a call goes to the side of the API that its row names.

Each side has its own credentials, accepted hosts and connections; none of them knows of another's. What is shared is
what has to be masked in answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..table import Row, Table
from ..wire import ApiRequest, ApiResponse
from .api import Api

if TYPE_CHECKING:
    from ..validation.understood import Understood
    from ..wire import Transport
    from .quotas import KnownLimit

__all__ = ["Apis", "Transports"]


class Apis:
    """The sides of several APIs by name; each method does what that of `Api` does."""

    def __init__(self, table: Table, sides: Mapping[str, Api]) -> None:
        self.table = table
        self._sides = sides

    def validate(
        self, row: Row, params: Mapping[str, Any], understood: list[Understood] | None = None
    ) -> dict[str, Any]:
        """Return the parameters under the agent's names. Raises Failure."""
        return self._sides[row.api].validate(row, params, understood)

    def build(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Build the request of validated parameters. Raises Failure."""
        return self._sides[row.api].build(row, params)

    async def authorize(self, request: ApiRequest, row: Row) -> ApiRequest:
        """Fill in the credentials that must be asked for first. Raises Failure."""
        return await self._sides[row.api].authorize(request, row)

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Send a request with the credentials of its API. Raises Failure."""
        return await self._sides[row.api].send(request, row)

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any], *, masked: bool = True) -> Any:
        """Return the response's data under the agent's names. Raises Failure."""
        return self._sides[row.api].decode(response, row, params, masked=masked)

    def told_headers(self, response: ApiResponse, row: Row, data: Any) -> dict[str, str]:
        """Return the headers of a response that agents are told."""
        return self._sides[row.api].told_headers(response, row, data)

    def masked(self, data: Any) -> Any:
        """Return data for an agent or a person with every credential of every API in it masked."""
        self.secrets()
        return next(iter(self._sides.values())).masked(data)

    def secrets(self) -> frozenset[str]:
        """Return the values of all credentials of all APIs."""
        return frozenset().union(*(side.secrets() for side in self._sides.values()))


class Transports:
    """The connections of several APIs by name, each with its own rate limits, circuits and budget of retries."""

    def __init__(self, transports: Mapping[str, Transport]) -> None:
        self._transports = transports

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Send a request over the connections of its API. Raises Failure."""
        return await self._transports[row.api].send(request, row)

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in self._transports.values():
            await transport.aclose()

    def known_limits(self, *, of_caller: bool) -> Iterator[KnownLimit]:
        """Yield the APIs' limits as they told of them."""
        for transport in self._transports.values():
            limits = getattr(transport, "known_limits", None)
            yield from () if limits is None else limits(of_caller=of_caller)

    def unreachable(self) -> list[str]:
        """Return the origins that no connection can be made to, as far as was tried."""
        unreachable: list[str] = []
        for transport in self._transports.values():
            unreachable += getattr(transport, "unreachable", list)()
        return unreachable
