# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""One assertion over many operations: what is wrong with which, the first of them readable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

SHOWN = 25


class Findings:
    """Collects what is wrong; `check` fails the test with all of it."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def expect(self, holds: bool, name: str, what: str, answer: Mapping[str, Any] | None = None) -> None:
        """Note that `what` does not hold for operation or type `name`; `answer` is shown, cut to a line."""
        if not holds:
            shown = "" if answer is None else "  " + json.dumps(answer, ensure_ascii=False)[:400]
            self._lines.append(f"{name}: {what}{shown}")

    def check(self) -> None:
        more = len(self._lines) - SHOWN
        text = "\n".join(self._lines[:SHOWN]) + (f"\n… and {more} more" if more > 0 else "")
        assert not self._lines, f"{len(self._lines)} findings\n{text}"
