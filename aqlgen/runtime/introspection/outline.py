# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""An operation as the query `search` describes it: all that its details say, each parameter in a line.

`{name, tool, description, params: {"owner*": "string. The account owner", "state": "'open'|'closed' = 'open'"},
returns, example}`. Required parameters come first and are marked `*`. The notation is that of `schema.notation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..text import shown, visible
from .fields import Info, with_notes

__all__ = ["outline"]

_WORDS = {"integer": "int", "boolean": "bool"}
_COPIED = ("aggregation_support", "lifecycle")


def outline(details: Mapping[str, Any]) -> Info:
    """Return the outline of an operation from its details; nothing is lost but what `tool` and `params` say anyway."""
    parameters = sorted(details["parameters"], key=lambda parameter: not parameter["required"])
    info: Info = {
        "name": details["name"],
        "tool": details["mcpTool"],
        "description": details["description"],
        "params": {
            f"{parameter['name']}{'*' if parameter['required'] else ''}": _line(parameter) for parameter in parameters
        },
        "returns": _returned(details["returns"]),
    }
    info |= {key: details[key] for key in _COPIED if key in details}
    examples = [example["request"]["params"] for example in details.get("examples", ())]
    return {**info, "example": examples[0]} if examples else info


def _line(parameter: Mapping[str, Any]) -> str:
    """Return type, constraints, default and description of a parameter."""
    head = _value(parameter)
    if "default" in parameter:
        head += f" = {shown(parameter['default'])}"
    if parameter.get("sensitive"):
        head += ", sensitive"
    items = parameter.get("items", {}).get("description", "")
    text = with_notes(parameter.get("description", ""), [items] if items else [])
    return with_notes(f"{head}.", [text]) if text else head


def _value(info: Mapping[str, Any]) -> str:
    """Return the notation of a value: its type, or its values if they are listed, and its constraints."""
    kind: str = info["type"]
    if kind == "array" and "items" in info:
        return f"[{_value(info['items'])}]"
    if "enum" in info:
        return "|".join(map(shown, info["enum"]))
    text = _WORDS.get(kind, kind)
    if "format" in info:
        text += f" {visible(info['format'])}"
    text += _range(info.get("minLength"), info.get("maxLength"), "({})")
    text += _range(info.get("minimum"), info.get("maximum"), " {}")
    return text + (f" /{visible(info['pattern'])}/" if "pattern" in info else "")


def _range(least: float | None, most: float | None, form: str) -> str:
    if least is None and most is None:
        return ""
    bounds = f"≤{most}" if least is None else f"≥{least}" if most is None else f"{least}..{most}"
    return form.format(bounds)


def _returned(returns: Mapping[str, Any]) -> str:
    """Return the name of the type that an operation returns, and what is said of it."""
    text = returns.get("description", "")
    return f"{returns['name']}: {text}" if text else str(returns["name"])
