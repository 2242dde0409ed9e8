# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The person at the terminal, who is asked when the command `call` needs a confirmation (R-SAFE-4)."""

from __future__ import annotations

import sys

__all__ = ["Terminal"]


class Terminal:
    """Asks on standard error and reads the answer; `yes` answers every question with yes."""

    batched = False

    def __init__(self, *, yes: bool) -> None:
        self._yes = yes

    @property
    def reachable(self) -> bool:
        """Whether somebody can answer."""
        return self._yes or (sys.stdin is not None and sys.stdin.isatty())

    async def ask(self, question: str) -> bool:
        """Put a question; anything but a clear yes is a no."""
        if self._yes:
            return True
        sys.stderr.write(f"{question}\nGo on? [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")
