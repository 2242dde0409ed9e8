"""The store that processes and their operator share in tests of the loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aqlgen.runtime.safety.loop.agents import Board
from aqlgen.runtime.safety.questions import QuestionStore
from aqlgen.runtime.state.custody import State, open_store


class OneStore:
    """A store at a URL; each process, and the operator, opens it anew."""

    def __init__(self, url: str, name: str, keys: tuple[str, ...] = ()) -> None:
        self.url, self.name, self.keys = url, name, keys
        self.states: list[State] = []

    def state(self) -> State:
        """Open the store once more."""
        self.states.append(State(open_store(self.url, self.name, {}), self.name, lambda: self.keys))
        return self.states[-1]

    @property
    def desk(self) -> QuestionStore:
        """The operator's desk, as another process opens it."""
        return QuestionStore(self.state().shared)

    @property
    def board(self) -> Board:
        """The operator's board, as another process opens it."""
        return Board(self.state().shared)

    async def close(self) -> None:
        """Close the stores."""
        for state in self.states:
            await state.close()


def challenge_of(directive: Mapping[str, Any]) -> str:
    """Return the id of the challenge in a directive's notifications."""
    notes = [note for note in directive["notifications"] if "verificationId" in note["metadata"]]
    return str(notes[0]["metadata"]["verificationId"])
