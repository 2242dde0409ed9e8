# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The keys that seal what callers bring back: secrets, from MCP_AQL_STATE_KEY or the file of MCP_AQL_STATE_KEY_FILE."""

from __future__ import annotations

from .load import ConfigError, Variables

__all__ = ["STATE_KEY", "StateKeys"]

STATE_KEY = "MCP_AQL_STATE_KEY"
_LEAST_LENGTH = 32
_MOST = 20
_HINT = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


class StateKeys:
    """The owner's keys, one a line, the first of which seals; none if the store keeps one itself.

    A file is read again when it changes; keys that are no good do not replace those that were.
    """

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self._text: str | None = None
        self._keys: tuple[str, ...] = ()

    def __call__(self) -> tuple[str, ...]:
        """Return the keys as they are now."""
        text = self._variables.value(STATE_KEY)
        if text != self._text:
            keys = _lines(text)
            if not self._problem(keys):
                self._text, self._keys = text, keys
        return self._keys

    def check(self) -> None:
        """Raise ConfigError if keys are set that are no good. A key is never shown."""
        unreadable = self._variables.unreadable([STATE_KEY])
        problem = f"{unreadable[0]} names a file that cannot be read" if unreadable else ""
        text = self._variables.value(STATE_KEY)
        if not problem and (text or (text is not None and not self._variables.steady([STATE_KEY]))):
            problem = self._problem(_lines(text))
        if problem:
            raise ConfigError(problem)

    @property
    def source(self) -> str:
        """The name of the variable that the keys come from, '' if there are none."""
        if not self():
            return ""
        return STATE_KEY if self._variables.steady([STATE_KEY]) else f"{STATE_KEY}_FILE"

    @staticmethod
    def _problem(keys: tuple[str, ...]) -> str:
        if not keys or len(keys) > _MOST:
            return f"{STATE_KEY} must hold keys, one a line, {_MOST} at most; {_HINT}"
        for number, key in enumerate(keys, 1):
            if len(key) < _LEAST_LENGTH:
                which = f"key {number} of {len(keys)}" if len(keys) > 1 else "the key"
                return (
                    f"{which} in {STATE_KEY} is too short to be safe, {_LEAST_LENGTH} characters are the least; {_HINT}"
                )
        return ""


def _lines(text: str | None) -> tuple[str, ...]:
    return tuple(line.strip() for line in (text or "").splitlines() if line.strip())
