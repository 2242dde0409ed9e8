"""The spelling of operation names: `^[a-z][a-z0-9_]{0,63}$`, no Python keyword, no name of the protocol itself."""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Sequence
from typing import Final

LIMIT: Final = 64
RESERVED: Final = frozenset(
    {
        "introspect",
        "execute_agent",
        "record_execution_step",
        "complete_execution",
        "abort_execution",
        "confirm_operation",
        "verify_challenge",
        "run_steps",
        "get_execution_status",
        "cancel_execution",
    }
)
"""The operations that adapters have themselves: the protocol's (R-REQ-8), and those beside them."""

_VALID: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def is_valid(name: str) -> bool:
    """Return True if a name is spelled as an operation's may be; reserved names are checked separately."""
    return _VALID.fullmatch(name) is not None and not keyword.iskeyword(name) and not keyword.issoftkeyword(name)


def fit(words: Sequence[str]) -> str:
    """Join words to a name of at most 64 characters, dropping words behind the verb; "" if there is no such name."""
    words = _without_repeats(words)
    while len(words) > 2 and len("_".join(words)) > LIMIT:
        words = [words[0], *words[2:]]
    text = "_".join(words)[:LIMIT].rstrip("_")
    if text[:1].isdigit():
        text = f"n{text}"[:LIMIT]
    return text if is_valid(text) and text not in RESERVED else ""


def hashed(words: Sequence[str], key: str) -> str:
    """Join words to a name that no other operation has, by a hash of the operation's key."""
    suffix = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    text = "_".join(_without_repeats(words))[: LIMIT - 10].rstrip("_") or "call"
    return f"{text if text[0].isalpha() else f'n{text}'}_{suffix}"


def _without_repeats(words: Sequence[str]) -> list[str]:
    return [word for index, word in enumerate(words) if word and (index == 0 or words[index - 1] != word)]
