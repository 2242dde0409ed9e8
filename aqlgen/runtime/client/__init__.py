"""The API behind one object for the dispatcher: validate a call, build its request, send it, decode the response.

Several APIs stand behind one object, too: a call goes to the side of the API that its row names. Each side has its own
credentials, accepted hosts and connections; none of them knows of another's. What is shared is what has to be masked in
answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from ..auth.credentials import Credentials
from ..decode import declared_response, decode_response
from ..decode.attachments import collected
from ..decode.encoded_fields import EncodedFields
from ..encode.body import assemble_body
from ..encode.request import RequestBuilder
from ..encode.uploads import Files
from ..encode.urls import resolve_base_url
from ..errors import Failure
from ..schema.field_names import Names
from ..schema.validators import Schemas
from ..table import Adapter, Row, Table
from ..validation import Validation
from ..wire import ApiRequest, ApiResponse, Transport

if TYPE_CHECKING:
    from ..auth.grants import Authorization
    from ..hosts.gate import Hosts
    from ..settings.config import Config
    from ..validation.repair import Repaired

_MOCK_URL = "https://mock.invalid"


class Api:
    """The parts between a call and the API, each prepared for an operation at its first call."""

    def __init__(
        self,
        adapter: Adapter,
        table: Table,
        transport: Transport,
        config: Config,
        *,
        environ: Mapping[str, str],
        credentials: Credentials | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        def in_clear(url: str) -> bool:
            from ..hosts.gate import is_listed

            return config.auth_allow_http or is_listed(adapter, url)

        base_url, variables = config.base_url, config.server_variables
        mock = getattr(transport, "offline", False)  # the mock asks for no credential and has no address
        self._names = Names(table)
        self._credentials = credentials or Credentials(adapter, environ, demanded=not mock)
        self._authorization: Authorization | None = None
        self._timeout = config.timeout
        self._clock = clock
        self._base_url: Callable[[Row], str] = lambda row: resolve_base_url(adapter, row, base_url, variables)
        self._settings = (base_url, variables)
        self._mock = mock
        self._admitted: set[str] = set()
        self._validation = Validation(table, Schemas(table), self._names, self._body)
        self._builder = RequestBuilder(
            adapter,
            self._names,
            self._credentials.for_row,
            base_url or (_MOCK_URL if mock else None),
            variables=variables,
            files=Files(config.files_folder),
            in_clear=in_clear,
        )
        self._transport = transport
        self._encoded = EncodedFields(table)

    def of(self, _: Row) -> Api:
        """Return the side of an operation's API: this one."""
        return self

    def validate(
        self, row: Row, params: Mapping[str, Any], understood: list[Repaired] | None = None, *, explain: bool = True
    ) -> dict[str, Any]:
        """Return the parameters under the agent's names. Raises Failure with all problems (R-ENV-5).

        With `understood`, to which every change is added, a call that can mean one thing only is so read (R-REQ-4).
        An operation at a host that the owner has not accepted is refused at once: nobody is asked to confirm it.
        """
        validated = self._validation.validate(row, params, understood, explain=explain)
        if row.name not in self._admitted:
            self._admit(row)
        return {**row.presets, **validated} if row.presets else validated

    def build(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Build the request of validated parameters. Raises Failure when a credential or the base URL is missing."""
        return self._builder.build(row, params)

    async def authorize(self, request: ApiRequest, row: Row) -> ApiRequest:
        """Fill in the credentials that must be asked for first, where `build` left a mark. Raises Failure."""
        return await self._authorized().authorize(request, row) if self._credentials.marks else request

    def send(self, request: ApiRequest, row: Row) -> Awaitable[ApiResponse]:
        """Send a request with its credentials. Raises Failure when it would go to a host that is not accepted.

        What is awaited raises Failure when the API cannot be reached, when its response is too long, and when there is
        no token.
        """
        if self._hosts is not None:
            self._hosts.admit(request.url)
        return (self._send_marked if self._credentials.marks else self._transport.send)(request, row)

    async def _send_marked(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Fill in credentials that must be asked for first; after a 401 that a renewed one may cure, send once more."""
        sent = await self.authorize(request, row)
        response = await self._transport.send(sent, row)
        if sent is not request:
            renewed = None
            if response.status == 401:
                renewed = await self._authorized().renewed(request, sent, response, row)
            if renewed is not None:
                response = await self._transport.send(renewed, row)
        return response

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any], *, masked: bool = True) -> Any:
        """Return the response's data under the agent's names. Raises Failure for an error of the API (R-ERR-2).

        The adapter's credentials within it are masked, unless it is not for the agent but to be sent back. Files in
        it are beside it from then on, if the call collects them.
        """
        data = decode_response(
            response,
            row,
            params,
            self._names,
            self._credentials.secrets,
            account=self._credentials.account(row, response.status),
            encoded=self._encoded if masked else None,
        )
        if not masked:
            return data
        seen, attachments = self._credentials.seen, collected()
        data = seen.masked(data)
        return data if attachments is None or not attachments.pending else attachments.lift(data)

    def told_headers(self, response: ApiResponse, row: Row, data: Any) -> dict[str, str]:
        """Return the headers of a response that agents are told, credentials masked, and that its data do not hold.

        They are those that the table names and, of a write, those that say where its result is.
        """
        names = declared_response(row, response.status).get("headers") if row.has_header_metadata else None
        if not names and row.family == "read":
            return {}
        from ..decode.headers import declared_headers, result_headers

        secrets = self._credentials.secrets
        of_result = {} if row.family == "read" else result_headers(response, secrets)
        declared = declared_headers(response, names, secrets) if names else {}
        spelled = {name.lower() for name in declared}
        headers = {**declared, **{name: value for name, value in of_result.items() if name.lower() not in spelled}}
        held = data.values() if isinstance(data, dict) else ()
        return {name: value for name, value in headers.items() if value not in held}

    @property
    def table(self) -> Table:
        """The operation table."""
        return self._names.table

    def masked(self, data: Any) -> Any:
        """Return data for an agent or a person with every credential in it masked."""
        self._credentials.update_secrets()
        return self._credentials.seen.masked(data)

    def secrets(self) -> frozenset[str]:
        """Return the values of all credentials."""
        return self._credentials.secrets

    def _authorized(self) -> Authorization:
        if self._authorization is None:
            from ..auth.discovery import Fetch
            from ..auth.grants import (
                Authorization,  # here, since most credentials are sent as they are
                Grants,
            )

            credentials = self._credentials
            fetch = Fetch(self._timeout, verify=credentials.verify, hosts=self._hosts)
            parts = credentials.adapter.name, credentials.sources, credentials.seen, fetch
            grants = Grants(*parts, shared=credentials.shared_tokens, clock=self._clock)
            self._authorization = Authorization(credentials, grants, self._base_url)
        return self._authorization

    @cached_property
    def _hosts(self) -> Hosts | None:
        """The accepted hosts; None in mock mode, where nothing is sent."""
        if self._mock:
            return None
        from ..hosts.gate import Hosts  # here, for the sake of the time that starting takes

        credentials = self._credentials
        return Hosts(credentials.adapter, *self._settings, credentials.sources.configured_urls)

    def _admit(self, row: Row) -> None:
        if self._hosts is not None:
            try:
                base_url = self._base_url(row)
            except Failure:  # no address is known, which building the request reports
                return
            self._hosts.admit(f"{base_url}/")
        self._admitted.add(row.name)

    def _body(self, row: Row, params: Mapping[str, Any]) -> Any:
        """Return the body of a call with the fields' names in its schema, to be validated as a whole."""
        body = assemble_body(row, params, self._names)
        return None if row.body is None or body is None else self._names.to_agent(body, row.body.schema)


class Apis:
    """The sides of several APIs by name."""

    def __init__(self, table: Table, sides: Mapping[str, Api]) -> None:
        self.table = table
        self._sides = sides

    def of(self, row: Row) -> Api:
        """Return the side of an operation's API."""
        return self._sides[row.api]

    def masked(self, data: Any) -> Any:
        """Return data for an agent or a person with every credential of every API in it masked."""
        self.secrets()
        return next(iter(self._sides.values())).masked(data)

    def secrets(self) -> frozenset[str]:
        """Return the values of all credentials of all APIs."""
        return frozenset().union(*(side.secrets() for side in self._sides.values()))


ApiSide: TypeAlias = Api | Apis
"""The side of a call's API, of one or of several."""


class Transports:
    """The connections of several APIs by name, each with its own rate limits."""

    def __init__(self, transports: Mapping[str, Transport]) -> None:
        self._transports = transports

    def send(self, request: ApiRequest, row: Row) -> Awaitable[ApiResponse]:
        """Send a request over the connections of its API. Raises Failure."""
        return self._transports[row.api].send(request, row)

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in self._transports.values():
            await transport.aclose()
