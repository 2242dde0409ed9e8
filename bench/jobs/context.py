"""What a model reads and writes in a session, counted in o200k tokens.

Every turn the model reads all that came before it: the tools, each request that it wrote and each answer. `added` is
that once; `read` is the sum over all turns, the last one included, in which the model reads the last answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.tokens import count


@dataclass
class Context:
    """The tokens of one session. `tools` are those of the list of tools."""

    tools: int
    calls: int = 0
    added: int = 0
    read: int = 0
    answers: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.added = self.read = self.tools

    def call(self, request: str, answer: str) -> None:
        """Count a call: its request, its answer, and the turn in which the model reads both."""
        self.calls += 1
        self.answers.append(count(answer))
        self.added += count(request) + self.answers[-1]
        self.read += self.added
