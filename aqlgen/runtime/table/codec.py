"""Between the dataclasses of the table and JSON: one encoder and one decoder, driven by the fields themselves.

A field is a key of the JSON object, in the order of declaration; what has its default is left out. `column` says where
a field differs. Values are taken as they are: the table's JSON Schema is what checks them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from datetime import date
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin

T = TypeVar("T")
_Plan: TypeAlias = tuple[Mapping[str, tuple[str, Callable[[Any], Any] | None]], tuple[tuple[str, str], ...]]
"""What `decode` needs: attribute and reader by key, and the attributes with the one whose value is their default."""


class Column:
    """How a field of a table dataclass stands in JSON.

    `default` is the value that is left out, MISSING for a field that must be given; `like` is the attribute whose value
    is the default, "" for none. `always` tells whether the default is written too, or what tells so of an object.
    """

    __slots__ = ("always", "attribute", "brief", "default", "key", "like", "read", "type", "write")

    def __init__(self, cls: type, field: dataclasses.Field[Any]) -> None:
        settings = field.metadata
        self.attribute = field.name
        self.key: str = settings.get("key") or field.name
        self.type = field.type
        self.default = field.default if field.default_factory is MISSING else field.default_factory()
        self.like: str = settings.get("like", "")
        required = self.default is MISSING and not self.like
        self.always: bool | Callable[[Any], bool] = required or settings.get("always", False)
        self.brief: bool = settings.get("brief", False)
        self.read = _reader(field.type, cls)
        self.write = _writer(field.type, cls, brief=self.brief)


def column(
    default: Any = MISSING,
    *,
    factory: Callable[[], Any] | None = None,
    key: str = "",
    like: str = "",
    always: bool | Callable[[Any], bool] = False,
    outside: bool = False,
    brief: bool = False,
) -> Any:
    """Declare a field that differs from the rule.

    `key` is its name in JSON where that is another. `like` names the attribute whose value is its default. `always`
    writes the default too. `outside` is for a value that stands outside the object, such as its key in a mapping.
    `brief` leaves out all defaults in the objects that the field holds.
    """
    metadata = {"key": key, "like": like, "always": always, "outside": outside, "brief": brief}
    if factory is not None:
        return dataclasses.field(default_factory=factory, metadata=metadata)
    if default is MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


_COLUMNS: dict[type, Mapping[str, Column]] = {}
_PLANS: dict[type, _Plan] = {}


def columns(cls: type) -> Mapping[str, Column]:
    """Return the columns of a table dataclass by their keys in JSON, in the order in which they are written."""
    known = _COLUMNS.get(cls)
    if known is None:
        fields = (field for field in dataclasses.fields(cls) if field.init and not field.metadata.get("outside"))
        known = _COLUMNS[cls] = {column.key: column for column in (Column(cls, field) for field in fields)}
    return known


def decode(cls: type[T], entry: Mapping[str, Any], **outside: Any) -> T:
    """Read an object of JSON; unknown keys are ignored, `outside` gives the fields that are not in it.

    Raises TypeError or KeyError when a field is missing that has no default.
    """
    plan = _PLANS.get(cls)
    if plan is None:
        plan = _PLANS[cls] = _plan(cls)
    known, likes = plan
    values = outside
    for key, value in entry.items():
        target = known.get(key)
        if target is not None:
            attribute, read = target
            values[attribute] = value if read is None else read(value)
    for attribute, other in likes:
        if attribute not in values:
            values[attribute] = values[other]
    return cls(**values)


def encode(value: Any, *, brief: bool = False) -> dict[str, Any]:
    """Return the JSON object of a table dataclass, keys in the order of its fields, without what has its default.

    With `brief` nothing is written that has its default.
    """
    entry: dict[str, Any] = {}
    for table_column in columns(type(value)).values():
        attribute_value = getattr(value, table_column.attribute)
        default = getattr(value, table_column.like) if table_column.like else table_column.default
        always = table_column.always
        if attribute_value == default and (brief or always is False or not (always is True or always(value))):
            continue
        write = table_column.write
        if write is not None and attribute_value is not None:
            attribute_value = write(attribute_value)
        entry[table_column.key] = attribute_value
    return entry


def _plan(cls: type) -> _Plan:
    table_columns = columns(cls).values()
    likes = tuple((table_column.attribute, table_column.like) for table_column in table_columns if table_column.like)
    return {table_column.key: (table_column.attribute, table_column.read) for table_column in table_columns}, likes


def _reader(hint: Any, cls: type) -> Callable[[Any], Any] | None:
    """Return the function that turns JSON into a value of a type; None where JSON's own value is meant."""
    kind, inner = _kind(hint, cls)
    if kind is date:
        return date.fromisoformat
    if kind is tuple:
        read = _reader(inner, cls)
        return tuple if read is None else lambda items: tuple(map(read, items))
    if kind is Mapping and dataclasses.is_dataclass(inner):
        return lambda entries: {name: decode(inner, entry, name=name) for name, entry in entries.items()}
    if dataclasses.is_dataclass(kind):
        return lambda entry: decode(kind, entry)
    return None


def _writer(hint: Any, cls: type, *, brief: bool) -> Callable[[Any], Any] | None:
    """Return the function that turns a value of a type into JSON; None where it is JSON already."""
    kind, inner = _kind(hint, cls)
    if kind is date:
        return date.isoformat
    if kind is tuple:
        write = _writer(inner, cls, brief=brief)
        return list if write is None else lambda items: list(map(write, items))
    if kind is Mapping and dataclasses.is_dataclass(inner):
        return lambda values: {name: encode(value, brief=brief) for name, value in values.items()}
    if dataclasses.is_dataclass(kind):
        return lambda value: encode(value, brief=brief)
    return None


def _kind(hint: Any, cls: type) -> tuple[type[Any], type[Any]]:
    """Return a type without its None, and the type of what it holds: the items of a tuple, the values of a mapping."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (member for member in get_args(hint) if member is not NoneType)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return tuple, arguments[0]
    if isinstance(origin, type) and arguments and issubclass(origin, Mapping):
        return Mapping, cls if arguments[1] == cls.__name__ else arguments[1]  # a class names itself in quotes
    return hint, NoneType
