"""The API's side of an adapter: validate, build, send, decode. Everything the dispatcher needs of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import bodies
from .credentials import Credentials
from .decode import decode
from .names import Names
from .request import RequestBuilder
from .schemas import Schemas
from .table import Adapter, Row, Table
from .validation import Validation
from .wire import ApiRequest, ApiResponse, Transport

__all__ = ["Api"]

_NOWHERE = "https://mock.invalid"


class Api:
    """The parts that stand between validated calls and the API, each prepared for an operation at its first call."""

    def __init__(
        self, adapter: Adapter, table: Table, transport: Transport, *, base_url: str | None, environ: Mapping[str, str]
    ) -> None:
        mock = getattr(transport, "offline", False)  # the mock asks for no credential and stands nowhere
        self._names = Names(table)
        self._credentials = Credentials(adapter, environ, demanded=not mock)
        self._validation = Validation(table, Schemas(table), self._names, self._body)
        self._builder = RequestBuilder(
            adapter, self._names, self._credentials.for_row, base_url or (_NOWHERE if mock else None)
        )
        self._transport = transport

    def validate(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        """Give the parameters under the agent's names. Raises Failure that tells every problem (R-ENV-5)."""
        return self._validation.validate(row, params)

    def build(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Make the request of validated parameters. Raises Failure when a credential or the base URL is missing."""
        return self._builder.build(row, params)

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Send it and read the answer. Raises Failure when the API cannot be reached or answers too much."""
        return await self._transport.send(request, row)

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any]) -> Any:
        """Give the answer's data under the agent's names. Raises Failure for an error of the API (R-ERR-2)."""
        return decode(response, row, params, self._names, self._credentials.secrets)

    def secrets(self) -> frozenset[str]:
        """Give the values that no log may show."""
        return self._credentials.secrets

    def _body(self, row: Row, params: Mapping[str, Any]) -> Any:
        """Give the body of a call as its own schema names its fields, to be validated as a whole."""
        body = bodies.assemble(row, params, self._names)
        return None if row.body is None or body is None else self._names.to_agent(body, row.body.schema)
