"""Access tokens: requests to a token endpoint (RFC 6749), in memory and shared by replicas.

One replica asks for a new token at a time, the others wait and read it from the store, where it is sealed (R-OPS-3).
While the store is away, each replica asks for itself.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote_plus

import anyio

from ..errors import Failure
from ..state import StoreAway
from ..state.locks import Lease
from .discovery import Fetch, Fetched, Unreachable

if TYPE_CHECKING:
    from ..state.custody import Custody

_METHODS = ("client_secret_basic", "client_secret_post")
MOST_EXCHANGES = len(_METHODS)
"""The most requests for one token: one for each method of client authentication."""
_LONGEST = 64 * 1024
_EARLY = 60.0


class Client(NamedTuple):
    """The OAuth client; a public one has no secret."""

    id: str
    secret: str = ""


class AccessToken(NamedTuple):
    """An access token; `expires` is a time of the caller's clock, None if the server did not name one."""

    value: str
    expires: float | None = None
    lifetime: float = 0.0
    refresh: str = ""


class Refused(Exception):
    """The token endpoint gave no token: `error` is its code (RFC 6749, 5.2), `description` its own words."""

    def __init__(self, error: str, description: str = "", status: int = 400) -> None:
        super().__init__(error)
        self.error = error
        self.description = description
        self.status = status


_ERROR_NAMES = (
    "invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type invalid_scope"
    " invalid_target authorization_pending slow_down access_denied expired_token unsupported_token_type"
    " temporarily_unavailable server_error invalid_dpop_proof use_dpop_nonce interaction_required login_required"
    " consent_required"
)
OAUTH_ERRORS = frozenset(_ERROR_NAMES.split())
"""The codes of OAuth and its extensions: any other is a word of the server's own."""


def stated_error(refused: Refused) -> str:
    """Return the code of a refusal if it is one of OAuth, else its status: other words are no part of a message."""
    return refused.error if refused.error in OAUTH_ERRORS else f"HTTP {refused.status}"


def margin(token: AccessToken) -> float:
    """Return how many seconds before its end a token is renewed: 60, but not more than a tenth of its life."""
    return min(_EARLY, token.lifetime / 10)


async def ask(
    fetch: Fetch,
    url: str,
    form: Mapping[str, str],
    client: Client,
    *,
    clock: Callable[[], float],
    methods: dict[tuple[str, Client], str] | None = None,
) -> AccessToken:
    """Request a token; `methods` remembers by URL how a client authenticates there. Raises Refused and Unreachable.

    HTTP Basic, the standard's method, is tried first unless the other one is remembered; if the server does not take
    it, the secret goes into the form.
    """
    known = {} if methods is None else methods
    first = known.get((url, client))
    candidates = sorted(_METHODS if client.secret else ("none",), key=lambda method: method != first)
    for index, method in enumerate(candidates):
        begin = clock()
        answer = await fetch.post(url, *_authenticated(method, form, client))
        refused = _refusal(answer)
        if refused is None:
            known[url, client] = method
            return _token(answer.body, begin)
        if index + 1 == len(candidates) or refused.error not in ("invalid_client", "invalid_request", ""):
            raise refused
    raise Refused("invalid_client")


def _authenticated(method: str, form: Mapping[str, str], client: Client) -> tuple[dict[str, str], dict[str, str]]:
    """Return the form and the headers of a request by a client (RFC 6749, 2.3.1)."""
    sent = dict(form)
    if method == "client_secret_basic":
        pair = f"{quote_plus(client.id)}:{quote_plus(client.secret)}"
        return sent, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    if client.id:
        sent["client_id"] = client.id
    if method == "client_secret_post":
        sent["client_secret"] = client.secret
    return sent, {}


def _refusal(answer: Fetched) -> Refused | None:
    """Return the refusal in an answer, None if it holds a token. Some servers report errors with a success."""
    body = answer.body
    if answer.ok and _text(body.get("access_token")) and not body.get("error"):
        if not str(body.get("token_type") or "Bearer").lower().startswith("bearer"):
            raise Unreachable("gave a token of another type than Bearer, which is not used (RFC 6749, 7.1)")
        return None
    if answer.status >= 500:
        raise Unreachable(f"failed (HTTP {answer.status})")
    if 300 <= answer.status < 400:
        raise Unreachable("redirected the request, which is not followed: its address is not the right one")
    error = body.get("error")
    if not isinstance(error, str):
        if answer.ok:
            raise Unreachable("answered without a token")
        error = "invalid_client" if answer.status == 401 else ""
    description = body.get("error_description")
    return Refused(error, description if isinstance(description, str) else "", answer.status)


def _token(body: Mapping[str, Any], begin: float) -> AccessToken:
    """Read an answer. A token's life begins when it was asked for, so that it never seems to live longer."""
    lifetime = _seconds(body.get("expires_in"))
    expires = None if lifetime is None else begin + lifetime
    return AccessToken(body["access_token"], expires, lifetime or 0.0, _text(body.get("refresh_token")))


def _text(value: Any) -> str:
    """Return the text of a token (RFC 6749, A.12 and A.17), "" for anything else."""
    is_token = isinstance(value, str) and value.strip() and value.isascii() and value.isprintable()
    return value if is_token and len(value) <= _LONGEST else ""


def _seconds(value: Any) -> float | None:
    """Return a number of seconds, which some servers write as a string."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    return seconds if 0 < seconds < 1e10 else None


_MAX_TOKENS = 1000


@dataclass(slots=True)
class _Slot:
    token: AccessToken | None = None
    tries: int = 0
    failure: Failure | None = None
    lock: anyio.Lock = field(default_factory=anyio.Lock)


class AccessTokens:
    """Tokens by whom and what they are for; beyond a thousand, the least recently used are forgotten."""

    def __init__(self, clock: Callable[[], float], shared: SharedTokens | None = None) -> None:
        self._clock = clock
        self._shared = shared
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[AccessToken]], refused: str = "") -> str:
        """Return the token of a key; `make` requests a new one if there is none that lasts or it equals `refused`.

        Raises the Failure of `make`; all that wait for the same request fail with it.
        """
        slot = self._slots.setdefault(key, _Slot())
        self._slots.move_to_end(key)
        if len(self._slots) > _MAX_TOKENS:
            self._slots.popitem(last=False)
        value = self._usable(slot, refused)
        if value is not None:
            return value
        tries = slot.tries
        async with slot.lock:
            value = self._usable(slot, refused)
            if value is not None:
                return value
            if slot.tries != tries and slot.failure is not None:
                raise Failure(slot.failure.code, slot.failure.message, slot.failure.details)
            return await self._renew(key, slot, make, refused)

    async def _renew(self, key: Hashable, slot: _Slot, make: Callable[[], Awaitable[AccessToken]], refused: str) -> str:
        slot.failure = None
        try:
            slot.token = await (make() if self._shared is None else self._shared.renew(key, make, refused))
        except Failure as failure:
            slot.failure = failure
            old = slot.token
            if old is None or old.value == refused or (old.expires is not None and old.expires <= self._clock()):
                raise
            return old.value  # it still lasts for a while, and the next call tries again
        finally:
            slot.tries += 1
        return slot.token.value

    def _usable(self, slot: _Slot, refused: str) -> str | None:
        token = slot.token
        if token is None or token.value == refused:
            return None
        if token.expires is not None and self._clock() >= token.expires - margin(token):
            return None
        return token.value


_TOKEN, _ROTATED = "oauth", "oauth-refresh"
_UNSTATED = 3600.0
"""Seconds for which a token is shared whose server did not say how long it lasts."""


class SharedTokens:
    """The access tokens of all replicas. `clock` is monotonic, as in `AccessToken.expires`.

    A request for a token ends within `seconds`: others wait so long at most, if the replica that makes it dies.
    """

    def __init__(self, custody: Custody, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._custody = custody
        self._seconds = seconds
        self._clock = clock

    async def renew(self, key: Hashable, make: Callable[[], Awaitable[AccessToken]], refused: str = "") -> AccessToken:
        """Return a token of a key that lasts and is not `refused`: another replica's, or a new one that `make` gets."""
        name = hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest()
        async with AsyncExitStack() as stack:
            try:
                token = await self._kept(name, refused)
                if token is None:
                    lease = Lease(self._custody.store, f"oauth {name}", self._seconds)
                    await stack.enter_async_context(lease.held())
                    token = await self._kept(name, refused)  # whoever had the lease just before may have got one
            except (StoreAway, TimeoutError):
                return await make()
            if token is None:
                token = await make()
                with suppress(StoreAway):
                    await self._keep(name, token)
            return token

    async def rotated(self, scheme: str, first: str) -> str | None:
        """Return the token that replaced the owner's refresh token, None without one, or if the store is away."""
        with suppress(StoreAway):
            value: str | None = await self._custody.kept(_ROTATED, f"{scheme} {_short(first)}")
            return value
        return None

    async def keep_rotated(self, scheme: str, first: str, refresh: str) -> None:
        """Store what replaces the owner's refresh token."""
        with suppress(StoreAway):
            await self._custody.keep(_ROTATED, f"{scheme} {_short(first)}", refresh, 365 * 86_400.0)

    async def _kept(self, name: str, refused: str) -> AccessToken | None:
        value = await self._custody.kept(_TOKEN, name)
        if value is None or value["value"] == refused:
            return None
        expires = None if value["expires"] is None else self._clock() + value["expires"] - time.time()
        token = AccessToken(value["value"], expires, value["lifetime"])
        lasts = expires is None or self._clock() < expires - margin(token)
        return token if lasts else None

    async def _keep(self, name: str, token: AccessToken) -> None:
        left = _UNSTATED if token.expires is None else token.expires - self._clock()
        expires = None if token.expires is None else time.time() + left
        if left > 0:
            value = {"value": token.value, "expires": expires, "lifetime": token.lifetime}
            await self._custody.keep(_TOKEN, name, value, left)


def _short(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:32]
