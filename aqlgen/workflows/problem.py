"""What of an Arazzo document a plan cannot say."""

from __future__ import annotations

__all__ = ["UnsayableError"]


class UnsayableError(Exception):
    """A part of a workflow that `run_steps` has no form for, with its JSON pointer in the document, and advice."""

    def __init__(self, message: str, pointer: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer
        self.help = help
