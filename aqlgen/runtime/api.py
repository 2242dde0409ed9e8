# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The API's side of an adapter: validate, build, send, decode. Everything the dispatcher needs of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from . import bodies
from .credentials import Credentials
from .decode import declared, decode
from .names import Names
from .request import RequestBuilder
from .schemas import Schemas
from .servers import base_of
from .table import Adapter, Row, Table
from .uploads import Files
from .validation import Validation
from .wire import ApiRequest, ApiResponse, Transport

if TYPE_CHECKING:
    from .authorization import Authorization

__all__ = ["Api"]

_NOWHERE = "https://mock.invalid"


class Api:
    """The parts that stand between validated calls and the API, each prepared for an operation at its first call."""

    def __init__(
        self,
        adapter: Adapter,
        table: Table,
        transport: Transport,
        *,
        base_url: str | None,
        environ: Mapping[str, str],
        credentials: Credentials | None = None,
        timeout: float = 30.0,
        clock: Callable[[], float] = monotonic,
        variables: Mapping[str, str] | None = None,
        files_folder: str = "",
    ) -> None:
        mock = getattr(transport, "offline", False)  # the mock asks for no credential and stands nowhere
        self._names = Names(table)
        self._credentials = credentials or Credentials(adapter, environ, demanded=not mock)
        self._authorization: Authorization | None = None
        self._timeout = timeout
        self._clock = clock
        self._base: Callable[[Row], str] = lambda row: base_of(adapter, row, base_url)
        self._validation = Validation(table, Schemas(table), self._names, self._body)
        self._builder = RequestBuilder(
            adapter,
            self._names,
            self._credentials.for_row,
            base_url or (_NOWHERE if mock else None),
            variables=variables,
            files=Files(files_folder),
        )
        self._transport = transport

    def validate(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        """Give the parameters under the agent's names. Raises Failure that tells every problem (R-ENV-5)."""
        return self._validation.validate(row, params)

    def build(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Make the request of validated parameters. Raises Failure when a credential or the base URL is missing."""
        return self._builder.build(row, params)

    async def authorize(self, request: ApiRequest, row: Row) -> ApiRequest:
        """Put in the credentials that must be asked for first, where `build` left a mark. Raises Failure."""
        return await self._authorized().authorize(request, row) if self._credentials.marks else request

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Send it with its credentials and read the answer, once more after a 401 that a renewed one may cure.

        Raises Failure when the API cannot be reached or answers too much, and when no token can be had.
        """
        sent = await self.authorize(request, row)
        response = await self._transport.send(sent, row)
        if sent is not request:
            again = None
            if response.status == 401:
                again = await self._authorized().renewed(request, sent, response, row)
            if again is not None:
                response = await self._transport.send(again, row)
            self._authorized().answered(request, response)
        return response

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any], *, masked: bool = True) -> Any:
        """Give the answer's data under the agent's names. Raises Failure for an error of the API (R-ERR-2).

        A credential of ours within it is masked, unless it is not for the agent but to be sent back.
        """
        data = decode(response, row, params, self._names, self._credentials.secrets)
        return (
            self._credentials.seen.masked(data)
            if masked and self._credentials.seen.stand_in(response.content)
            else data
        )

    def told(self, response: ApiResponse, row: Row) -> dict[str, str]:
        """Give the headers of an answer that the document declares and that tell something, credentials masked."""
        names = declared(row, response.status).get("headers")
        if not names:
            return {}
        from .heads import told

        return told(response, names, self._credentials.secrets)

    def secrets(self) -> frozenset[str]:
        """Give the values that no log may show."""
        return self._credentials.secrets

    def _authorized(self) -> Authorization:
        if self._authorization is None:
            from .authorization import Authorization  # here, since most credentials are sent as they are
            from .fetching import Fetch
            from .grants import Grants

            mine = self._credentials
            fetch = Fetch(self._timeout, verify=mine.verify)
            grants = Grants(mine.adapter.name, mine.ways, mine.seen, fetch, clock=self._clock)
            self._authorization = Authorization(mine, grants, self._base)
        return self._authorization

    def _body(self, row: Row, params: Mapping[str, Any]) -> Any:
        """Give the body of a call as its own schema names its fields, to be validated as a whole."""
        body = bodies.assemble(row, params, self._names)
        return None if row.body is None or body is None else self._names.to_agent(body, row.body.schema)
