# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What the command `login` brought: kept in the adapter's state, a file that only its owner can read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .state import SqliteState

__all__ = ["Logins"]

_SPACE = "logins"


class Logins:
    """Logins by security scheme: refresh_token or access_token with expires, client_id, token_url.

    Looking for one makes no file; without a state that lasts there are none.
    """

    def __init__(self, state: SqliteState | None = None) -> None:
        self._state = state if state is not None and state.path is not None else None

    @property
    def durable(self) -> bool:
        """Whether a login can be kept."""
        return self._state is not None

    def get(self, scheme: str) -> Mapping[str, Any] | None:
        """Give the login of a scheme; None when there is none."""
        state = self._state
        if state is None or state.path is None or not state.path.exists():
            return None
        found = state.get(_SPACE, scheme)
        return found if isinstance(found, dict) else None

    def put(self, scheme: str, login: Mapping[str, Any], seconds: float | None = None) -> None:
        """Keep a login, for so many seconds if told."""
        if self._state is not None:
            self._state.put(_SPACE, scheme, dict(login), seconds)

    def drop(self, scheme: str) -> bool:
        """Forget a login. Tells whether there was one."""
        there = self.get(scheme) is not None
        if there and self._state is not None:
            self._state.drop(_SPACE, scheme)
        return there
