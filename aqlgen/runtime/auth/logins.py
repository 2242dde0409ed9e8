"""The credentials of persons: the logins that the command `login` stored, and those of each caller over HTTP.

Logins are by security scheme, in a file of this machine. A caller's credential comes from a header
that the owner names. If one is named for a scheme, a call over HTTP gets its credential from there or not at all:
nobody acts with the owner's. The Authorization header that a client shows to the adapter itself is never sent on to the
API.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeAlias

from ..settings.config import Config
from ..settings.load import ConfigError
from ..state import StoreAway
from ..state.locks import Lease
from ..table import Adapter

if TYPE_CHECKING:
    from ..state.sqlite import SqliteState

_SPACE = "logins"


class Logins:
    """Logins in a file that only its owner can read.

    A login has a refresh_token, or an access_token with expires, and client_id and token_url. Reading creates no file;
    without a state file, no login is found. Raises StoreAway if the file cannot be used.
    """

    def __init__(self, state: SqliteState | None = None) -> None:
        self._state = state if state is not None and state.path is not None else None

    @property
    def durable(self) -> bool:
        """True if a login can be stored."""
        return self._state is not None

    def get(self, scheme: str) -> Mapping[str, Any] | None:
        """Return the login of a scheme, None if there is none."""
        state = self._state
        if state is None or state.path is None or not state.path.exists():
            return None
        login = state.do("get", _SPACE, scheme)
        return login if isinstance(login, dict) else None

    def put(self, scheme: str, login: Mapping[str, Any], seconds: float | None = None) -> None:
        """Store a login, for a number of seconds or for good."""
        if self._state is not None:
            self._state.do("put", _SPACE, scheme, dict(login), seconds)

    def replace(self, scheme: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Store a login in the place of another, unless somebody has logged in again, or forgot it."""
        if self._state is not None:
            self._state.do("swap", _SPACE, scheme, dict(old), dict(new))

    def turn(self, scheme: str, seconds: float) -> AbstractAsyncContextManager[None]:
        """Keep other processes from renewing a stored login. Raises StoreAway, and TimeoutError after `seconds`."""
        from ..state.sqlite import SqliteStore

        if self._state is None:
            raise StoreAway("no file has logins")
        return Lease(SqliteStore(self._state), f"login {scheme}", seconds).held()

    def drop(self, scheme: str) -> bool:
        """Delete a login. Returns True if there was one."""
        existed = self.get(scheme) is not None
        if existed and self._state is not None:
            self._state.do("drop", _SPACE, scheme)
        return existed


PerUser: TypeAlias = Mapping[str, str]
"""The headers that fill schemes for each caller, by scheme."""


def per_user_of(config: Config, adapter: Adapter) -> PerUser:
    """Read the settings. Raises ConfigError for a scheme that the API does not have or that cannot be filled."""
    fillable = [name for name, entry in adapter.security_schemes.items() if entry.get("type") != "mutualTLS"]
    forward: dict[str, str] = {}
    for header, named in config.forward_header:
        scheme = _scheme("auth.forward_header", named, fillable)
        if scheme in forward:
            raise ConfigError(f"'auth.forward_header' fills the scheme '{scheme}' from two headers")
        forward[scheme] = header.lower()
    return forward


def _scheme(key: str, named: str, fillable: Iterable[str]) -> str:
    known = list(fillable)
    if named in known:
        return named
    if not named and len(known) == 1:
        return known[0]
    listed = ", ".join(f"'{name}'" for name in known) or "none"
    problem = f"names the security scheme '{named}', which it cannot fill" if named else "must name a security scheme"
    raise ConfigError(f"'{key}' {problem}; those of the API are {listed}")
