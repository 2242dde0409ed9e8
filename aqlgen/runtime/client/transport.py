"""Requests to the API over HTTP: time-outs, bounded responses, retries, rate limits, safe redirects."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from ..errors import NOT_PERFORMED, UNKNOWN_OUTCOME, Code, Failure
from ..logs.observers import Observers
from ..wire import QUOTA_NAMES, ApiRequest, ApiResponse, PrivateAddress, changes_something, current_spending
from .isolation import CONNECTIONS, Shares
from .receive import ACCEPT_ENCODING, CodingError, Receiver, ends_cleanly
from .retries import Backoff, Timing, is_tls, is_unsent, unreachable

if TYPE_CHECKING:
    import httpx2

    from ..hosts import CheckedConnections, Resolve
    from ..hosts.gate import Hosts
    from ..settings.config import Config
    from ..table import Row
    from .quotas import QuotaMeter

_CONNECT_TIMEOUT = 10.0
_MAX_REDIRECTS = 5


class HttpTransport:
    """A pool of connections, opened at the first request. The time-out bounds a whole call with its retries.

    Redirects to other origins do not use the pool, which shows the client's certificate. Their addresses are checked,
    except for those that the owner named, as `hosts` returns them.
    """

    def __init__(
        self,
        config: Config,
        *,
        verify: ssl.SSLContext | bool = True,
        transport: httpx2.AsyncBaseTransport | None = None,
        timing: Timing | None = None,
        hosts: Callable[[], Hosts] | None = None,
        resolver: Resolve | None = None,
        observers: Observers | None = None,
    ) -> None:
        self._config = config
        self._timeout = config.timeout
        self._verify = verify
        self._transport = transport
        self._retries = config.retries
        self._timing = timing or Timing()
        self._meter: QuotaMeter | None = None  # from the first response on that tells of a quota
        self._observers = Observers() if observers is None else observers
        self._shares = Shares()
        self._hosts = hosts
        self._resolver = resolver
        self._client: httpx2.AsyncClient | None = None
        self._checked: CheckedConnections | None = None

    async def send(self, request: ApiRequest, row: Row | None) -> ApiResponse:
        """Send and read the response. Raises Failure: INTERNAL_ERROR, RATE_LIMIT_EXCEEDED, or PAYLOAD_TOO_LARGE."""
        import httpx2

        call = _Call(self, request, row)
        try:
            with anyio.fail_after(self._timeout):
                while True:
                    try:
                        outcome = call.answered(await call.exchange())
                    except (Failure, PrivateAddress, httpx2.TransportError) as error:
                        outcome = call.faulted(error)
                    if isinstance(outcome, ApiResponse):
                        return outcome
                    if outcome is not None:
                        await self._timing.pause(outcome)
        except (TimeoutError, httpx2.RequestError, httpx2.StreamError, httpx2.InvalidURL, ValueError) as error:
            return call.ended(error)

    def note(self, request: ApiRequest, operation: str, response: ApiResponse) -> None:
        """Remember the quotas of which a response tells."""
        if self._meter is None and (response.status == 429 or not QUOTA_NAMES.isdisjoint(response.headers)):
            from .quotas import QuotaMeter

            self._meter = QuotaMeter(self._timing.now)
        if self._meter is not None:
            self._meter.note(request, operation, response)

    async def aclose(self) -> None:
        """Close every connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        if self._checked is not None:
            await self._checked.aclose()

    def is_owners(self, url: str) -> bool:
        """Return True if the owner named the origin of a URL."""
        return self._hosts is not None and self._hosts().is_owners(url)

    def checked(self) -> CheckedConnections | None:
        """Return the connections for redirects to other origins; None if a stand-in for the network has no names."""
        if self._transport is not None and self._resolver is None:
            return None
        if self._checked is None:
            from ..hosts import CheckedConnections, resolve

            self._checked = CheckedConnections(transport=self._transport, resolver=self._resolver or resolve)
        return self._checked

    def opened(self) -> httpx2.AsyncClient:
        """Return the pool, which is opened at the first request."""
        if self._client is None:
            import httpx2

            from ..hosts import no_cookies

            self._client = httpx2.AsyncClient(
                verify=self._verify,
                transport=self._transport,
                follow_redirects=False,
                limits=httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=20),
                cookies=no_cookies(),
            )
        return self._client


class _Call:
    """One call: the request that is sent next, of its own or where a redirect leads, and what became of those before.

    `answered` and `faulted` return the answer that counts, else the seconds to wait before the next request, if any.
    """

    def __init__(self, transport: HttpTransport, request: ApiRequest, row: Row | None) -> None:
        self._owner = transport
        self._row = row
        self._timing = transport._timing
        self._ends = self._timing.now() + transport._timeout
        self._first = request
        self._changes = changes_something(row, request.method)
        self._latest: ApiResponse | None = None
        self._performed: ApiResponse | None = None
        self._redirect: ApiResponse | None = None
        self._redirects = 0
        self._away = False
        self._sending = False
        self._uncertain = False
        self._requests = 0
        self._operation = row.name if row is not None else ""
        self._begin(request)

    def _begin(self, request: ApiRequest) -> None:
        """Go on with another request."""
        self._request = request
        acts = self._changes and request.method == self._first.method
        self._backoff = Backoff.of(request, self._owner._retries, acts=acts)
        self._tries = 0
        self._last: ApiResponse | Exception | None = None

    def ended(self, error: Exception) -> ApiResponse:
        """Return the response that counts when the time ran out: that of a write that was done, or of a retry.

        Raises Failure for any other end without an answer.
        """
        import httpx2

        if isinstance(error, (TimeoutError, httpx2.TimeoutException)):
            if self._performed is not None:
                return self._performed
            if self._latest is not None and not (self._changes and self._sending):
                return self._latest
            reason = f"the API did not answer within {self._owner._timeout:g} seconds"
        elif isinstance(error, httpx2.ConnectError):
            from ..hosts import proxy_for

            proxy = None if is_tls(error) else proxy_for(httpx2.URL(self._request.url))
            advice = "" if self._redirects else ". Is the API running? MCP_AQL_BASE_URL sets its address"
            reason = f"{unreachable(error, self._request)}{advice}"
            if proxy is not None:
                reason = f"no connection could be made to the proxy '{proxy[0]}', which {proxy[1]} names"
        elif isinstance(error, httpx2.ProxyError):
            reason = "the proxy between the adapter and the API refused the request"
        elif isinstance(error, (httpx2.TransportError, httpx2.StreamError)):
            reason = "the connection to the API broke before its answer was complete"
        else:
            reason = "the request to the API could not be formed"
        raise self._failed(reason, error) from None

    def _failed(self, reason: str, error: Exception | None = None) -> Failure:
        """Build the failure of a call without an answer, or with one that leads nowhere (no `error`).

        Of a write it tells whether it may have been carried out.
        """
        failure = Failure(Code.INTERNAL_ERROR, f"Internal error: {reason}")
        if self._changes:
            sent = self._uncertain or error is None or (self._sending and not is_unsent(error))
            failure.details |= {"sent": sent, "outcome": UNKNOWN_OUTCOME if sent else NOT_PERFORMED}
        return failure

    def answered(self, response: ApiResponse) -> ApiResponse | float | None:
        """Repeat a request that the API puts off, as often as that does no harm and there is time."""
        self._sending = False
        if self._uncertain:
            response = replace(response, uncertain=True)
        wait = self._backoff.after_response(self._tries, response, self._timing)
        meter = self._owner._meter
        if wait is not None and meter is not None and response.status == 429:
            wait = max(wait, meter.seconds_held(self._request, self._operation))
        if wait is None or wait >= self._seconds_left():
            return self._redirected(response)
        self._last = self._latest = response
        self._uncertain = self._uncertain or response.status >= 500
        self._tries += 1
        return wait

    def faulted(self, error: Exception) -> ApiResponse | float | None:
        """Repeat a request without an answer, as often as that does no harm and there is time. Raises the error."""
        import httpx2

        repeatable = (httpx2.NetworkError, httpx2.RemoteProtocolError, httpx2.ConnectTimeout)
        if isinstance(error, repeatable):
            unsent = is_unsent(error)
            self._uncertain = self._uncertain or not unsent
            wait = None if is_tls(error) else self._backoff.after_fault(self._tries, self._timing, unsent=unsent)
            if wait is not None and wait < self._seconds_left():
                self._last = error
                self._tries += 1
                return wait
        elif isinstance(error, Failure) and self._last is not None and error.details.get("sent") is False:
            if isinstance(self._last, ApiResponse):
                return self._redirected(self._last)
            error = self._last
        counts = self._performed  # the call itself was carried out
        if isinstance(error, PrivateAddress):
            counts = counts or self._redirect
        if counts is None:
            raise error
        return counts

    def _redirected(self, response: ApiResponse) -> ApiResponse | None:
        """Follow a redirect as far as that is safe; return the answer that is none, or leads nowhere."""
        if self._performed is not None and response.status >= 400:
            return self._performed
        if response.status // 100 != 3:
            return response
        from .retries import READS, changes_origin, redirected

        target = redirected(self._request, response, self._owner.is_owners)
        if target is None or not self._first.follows(target):
            return response
        if self._redirects == _MAX_REDIRECTS:
            if self._performed is not None:
                return self._performed
            raise self._failed(f"the API redirected the request more than {_MAX_REDIRECTS} times")
        self._redirects += 1
        self._away = self._away or changes_origin(self._request, target)
        if self._request.method not in READS and target.method in READS:
            self._performed = response
        self._redirect = response
        self._begin(target)
        return None

    def _is_named(self, request: ApiRequest) -> bool:
        """Return True if not only a redirect named the host of a request."""
        import httpx2

        from ..hosts import is_same_private_host

        hosts = (httpx2.URL(each.url).host for each in (self._first, request))
        return self._owner.is_owners(request.url) or is_same_private_host(*hosts)

    async def exchange(self) -> ApiResponse:
        """Send the request, if nothing forbids it, when a connection is free."""
        owner, operation, request, spending = self._owner, self._operation, self._request, current_spending()
        async with owner._shares.of(operation, self._seconds_left(), changes=self._changes):
            with nullcontext() if owner._meter is None else owner._meter.admitted(request, operation):
                if spending is not None and self._row is not None:
                    await spending.admit(self._row, again=self._requests > 0)
                self._requests += 1
                with owner._observers.exchange(request, operation, self._tries) as exchange:
                    response = await self._sent(exchange.request)
                    reader = Receiver(owner._config, exchange.request, self._row, self._seconds_left())
                    try:
                        answer = await reader.read(response)
                    except CodingError as problem:
                        raise self._failed(f"the API's answer {problem}") from None
                    finally:
                        if "network_stream" in response.extensions and not ends_cleanly(response):
                            await response.extensions["network_stream"].aclose()
                        await response.aclose()
                    exchange.status = answer.status
            owner.note(request, operation, answer)
        return answer

    async def _sent(self, request: ApiRequest) -> httpx2.Response:
        import httpx2

        headers = [(name.encode("ascii"), value.encode("utf-8")) for name, value in request.headers]
        if not self._sets_accept_encoding(request):
            headers.append((b"Accept-Encoding", ACCEPT_ENCODING.encode()))
        sent = httpx2.Request(request.method, request.url, headers=headers, content=request.content)
        timeout = httpx2.Timeout(self._owner._timeout, connect=min(_CONNECT_TIMEOUT, self._owner._timeout))
        sent.extensions["timeout"] = timeout.as_dict()
        self._sending = True
        if self._changes and self._owner._transport is None:  # the connection tells when it begins to send
            self._sending = False
            sent.extensions["trace"] = self._traced
        connections = self._owner.checked() if self._away else None
        if connections is None:
            return await self._owner.opened().send(sent, stream=True)
        try:
            return await connections.send(sent, anywhere=self._is_named(request))
        except OSError as error:
            raise httpx2.ConnectError(str(error)) from error

    async def _traced(self, event: str, _: object) -> None:
        self._sending = self._sending or event.endswith("send_request_headers.started")

    def _sets_accept_encoding(self, request: ApiRequest) -> bool:
        """Return True if the call has an Accept-Encoding header, or the API has a parameter for it."""
        declared = self._row.parameters.values() if self._row is not None else ()
        return any(name.lower() == "accept-encoding" for name, _ in request.headers) or any(
            parameter.location == "header" and parameter.wire.lower() == "accept-encoding" for parameter in declared
        )

    def _seconds_left(self) -> float:
        return self._ends - self._timing.now()
