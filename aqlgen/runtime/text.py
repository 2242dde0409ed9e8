# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Text of the API's document made fit to be shown: bounded, and without control characters."""

from __future__ import annotations

import re

__all__ = ["clean", "counted", "line"]

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
_SPACE = re.compile(r"\s+")


def clean(text: str, most: int = 2000) -> str:
    """Drop control and direction characters, keep line breaks, and cut after `most` characters."""
    if not text.isascii() or not text.isprintable():
        text = _CONTROL.sub("", text.replace("\r\n", "\n"))
    text = text.strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def line(text: str, most: int) -> str:
    """Make one line of it, no longer than `most` characters."""
    return clean(_SPACE.sub(" ", _CONTROL.sub("", text.replace("\n", " "))), most)


def counted(number: int, what: str) -> str:
    """Say how many there are of something: `1 operation`, `1,200 operations`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
