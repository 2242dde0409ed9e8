"""Formatting values for an overrides file: on one line, so that YAML reads the same value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import yaml

from aqlgen.diagnostics.plain import escaped
from aqlgen.ir import Json

__all__ = ["block", "flow"]

_STEP: Final = 2
_DEEP: Final = 3
"""The level from which on mappings are on one line, as in `petId: {name: pet}`."""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines in quotes, never as blocks."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - its name is the library's
        """Write a repeated value each time."""
        return True


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if text != " ".join(text.split()) else None)


_Dumper.add_representer(str, _text)


def flow(value: Json) -> str:
    """Write a value on one line, so that it can stand within braces too."""
    for unicode in (True, False):
        text = str(
            yaml.dump(
                [value],
                Dumper=_Dumper,
                default_flow_style=True,
                width=float("inf"),
                allow_unicode=unicode,
                sort_keys=False,
            )
        )
        if escaped(text) == text:
            break
    return text.strip()[1:-1].strip()


def block(path: Sequence[str], value: Json, indent: int, end: str, level: int = 0) -> str:
    """Write a value under its keys, one a line, the deep ones on one line; `level` is that of the first key."""
    lines = []
    for depth, key in enumerate(path):
        pad = " " * (indent + depth * _STEP)
        rest = path[depth + 1 :]
        if rest and level + depth + 1 < _DEEP:
            lines.append(f"{pad}{_key(key)}:")
            continue
        for part in reversed(rest):
            value = {part: value}
        lines.append(f"{pad}{_key(key)}: {flow(value)}")
        break
    return end.join(lines) + end


def _key(key: str) -> str:
    """Write a key of a line of its own, where braces need no quotes."""
    text = str(yaml.dump(key, Dumper=_Dumper, width=float("inf"), allow_unicode=True)).removesuffix("...\n").strip()
    return text if escaped(text) == text else flow(key)
