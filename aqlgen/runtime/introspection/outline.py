"""Outlines: an operation as the query `search` describes it, each parameter in a line (R-INT-6).

`{name, tool, danger, description, params: {"owner*": "string. The account owner", "state": "'open'|'closed' = 'open'"},
options, returns}`. Required parameters come first and are marked `*`. The notation is that of
`schema.notation`. It has all of the details except examples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..calls.selection import Selection
from ..schema import union_of
from ..schema.notation import SIZES
from ..settings.config import Config
from ..table import ADAPTER, Parameter, Row, Table
from ..text import brief, first_ones, shown, visible
from . import protocol
from .fields import Info, with_notes

_WORDS = {"integer": "int", "boolean": "bool"}
_MOST_FIELDS, _MOST_NAMED = 12, 20
_FIELD_TEXT = 100
_JSON = "application/json"


@dataclass(frozen=True, slots=False)
class Outlines:
    """Outlines of the operations of a table without their common parameters, which query `options` explains.

    `asks` says whether a call may have to be confirmed.
    """

    table: Table
    asks: Callable[[Row], bool]
    common: Collection[str] = ()

    @cached_property
    def _selection(self) -> Selection:
        return Selection(self.table)

    def of(self, details: Mapping[str, Any], row: Row, token: str | None) -> Info:
        """Return the outline of an operation of the API; `token` is the parameter for a confirmation token."""
        shown = {
            "parameters": list(self._parameters(details["parameters"], row, token)),
            "returns": self._returned(details["returns"], row),
            "examples": (),
        }
        info = outline({**details, **shown}, protocol.OPTIONS.keys() & {*row.adapter_parameters})
        asks = self.asks(row)
        if asks or row.danger != "safe":
            info["danger"] = f"{row.danger}, asks first" if asks else row.danger
        if row.method == "PATCH" and row.body is not None and row.body.content_type not in ("", _JSON):
            info["sends"] = row.body.content_type
        return info

    def _parameters(self, parameters: Iterable[Info], row: Row, token: str | None) -> Iterator[Info]:
        """Yield the parameters to show; of those in the path the first sentence says enough."""
        for parameter in parameters:
            name = parameter["name"]
            location = row.parameters[name].location if name in row.parameters else ""
            if name == token or (name in self.common and location in ("query", "header")):
                continue
            text = parameter.get("description", "")
            yield {**parameter, "description": brief(text, 1, len(text))} if location == "path" and text else parameter

    def _returned(self, returns: Mapping[str, Any], row: Row) -> Mapping[str, Any]:
        """Return the return type of an operation, with the first of its fields."""
        fields, kind = self._selection.fields(row)
        if not fields:
            return returns
        return {
            "name": "items" if row.paging is not None else returns["name"],
            "description": ", ".join(first_ones(fields, _MOST_FIELDS, kind)),
        }

    def names(self, row: Row, config: Config) -> str:
        """Return the tool of an operation and the names of its parameters and of the fields of objects."""
        sent = [
            (name, parameter)
            for name, parameter in row.parameters.items()
            if parameter.location != ADAPTER and name not in {*row.hidden_parameters, *self.common}
        ]
        sent.sort(key=lambda item: not item[1].required)
        names = [
            f"{name}{'*' * parameter.required}{self._fields_of(parameter)}" for name, parameter in sent[:_MOST_FIELDS]
        ]
        tool = protocol.tool_name(config, row.family)
        return f"{tool}: {', '.join(names)}" if names else tool

    def _fields_of(self, parameter: Parameter) -> str:
        """Return the names of the fields of a parameter in the body, the required ones first."""
        if not parameter.location.startswith("body"):
            return ""
        shape = union_of(self.table.types, parameter.schema)
        fields = sorted(shape.properties, key=lambda field: field not in shape.required)[:_MOST_NAMED]
        marked = ", ".join(f"{field}{'*' * (field in shape.required)}" for field in fields)
        return f"{{{marked}}}" if marked else ""


def type_outline(details: Mapping[str, Any]) -> Info:
    """Return a type of the API with each of its fields in a line."""
    if "fields" not in details:
        return dict(details)
    briefly = [
        {**field, "description": brief(field.get("description", ""), _FIELD_TEXT)} for field in details["fields"]
    ]
    fields = {f"{field['name']}{'*' * field['required']}": _line(field) for field in briefly}
    return {**details, "fields": fields}


def outline(details: Mapping[str, Any], explained: Collection[str] = ()) -> Info:
    """Return the outline of an operation from its details. `explained` are parameters that query `options` explains."""
    described = [parameter for parameter in details["parameters"] if parameter["name"] not in explained]
    parameters = sorted(described, key=lambda parameter: not parameter["required"])
    options = [_option(parameter) for parameter in details["parameters"] if parameter["name"] in explained]
    info: Info = {
        "name": details["name"],
        "tool": details["mcpTool"],
        "description": details["description"],
        "params": {
            f"{parameter['name']}{'*' if parameter['required'] else ''}": _line(parameter) for parameter in parameters
        },
        **({"options": ", ".join(options)} if options else {}),
        "returns": _returned(details["returns"]),
    }
    info |= {"lifecycle": details["lifecycle"]} if "lifecycle" in details else {}
    examples = [example["request"]["params"] for example in details.get("examples", ())]
    return {**info, "example": examples[0]} if examples and examples[0] else info


def _option(parameter: Mapping[str, Any]) -> str:
    """Return the name of a parameter, with its values if they are listed, or its default if that is a word."""
    if "enum" in parameter:
        return f"{parameter['name']}={_value(parameter)}"
    default = parameter.get("default")
    return f"{parameter['name']}={default}" if isinstance(default, str) else str(parameter["name"])


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
        text += f" {visible(info['format'])}" * (info["format"] not in SIZES)
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
