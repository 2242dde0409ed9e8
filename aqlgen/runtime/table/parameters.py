# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The parameters and the body of an operation: what an agent gives, and how it is sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .codec import column

__all__ = ["ADAPTER", "Body", "JsonSchema", "Location", "Parameter"]

JsonSchema: TypeAlias = Mapping[str, Any]
Location: TypeAlias = Literal["path", "query", "querystring", "header", "cookie", "body", "body_rest", "adapter"]

ADAPTER: Location = "adapter"
"""The location of parameters that the adapter itself acts on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of an operation, by the name that agents use."""

    name: str = column(outside=True)
    """What agents call it."""
    location: Location = column("body", key="in", always=True)  # noqa: RUF009 - a str
    """Where it is sent. `querystring` is the whole query, `body` a field of the body or the whole body, `body_rest` an
    object whose keys are further fields of the body, `adapter` nowhere: the adapter itself acts on it.
    """
    wire: str = column(key="name", like="name")
    """The API's own name, where that is another."""
    required: bool = False
    """Whether every call must give it."""
    stated_style: str | None = column(None, key="style")
    """How lists and objects are written (OpenAPI, Parameter Object), if not as is usual for the location."""
    stated_explode: bool | None = column(None, key="explode")
    """Whether each item of a list or object is a pair of its own, if not as is usual for the style."""
    allow_reserved: bool = False
    """Whether reserved characters are sent as they are."""
    content_type: str | None = None
    """The media type that the value is written in, where it has one."""
    headers: Mapping[str, str] = column(factory=dict)
    """Headers of the field's part in a multipart form."""
    xml: Mapping[str, Any] | None = None
    """How the field's part of a multipart form is written, where that is XML."""
    fields: Mapping[str, "Parameter"] = column(factory=dict, brief=True)
    """How single fields of a parameter are written that is a form itself, by the API's names."""
    deprecated: bool = False
    """Whether agents are warned of it."""
    sensitive: bool = False
    """Whether its values are masked in the audit log and in questions."""
    schema: Mapping[str, Any] = column(factory=dict, always=True)
    """The JSON Schema of its value."""
    description: str = ""
    """What agents are told of it."""
    preset: Any = None
    """The owner's value for a call that gives none."""

    @property
    def style(self) -> str:
        """The style of lists and objects."""
        if self.stated_style is not None:
            return self.stated_style
        return "form" if self.location in ("query", "cookie") else "simple"

    @property
    def explode(self) -> bool:
        """True if each item of a list or object is a pair of its own."""
        return self.style == "form" if self.stated_explode is None else self.stated_explode


def _shows_schema(body: "Body") -> bool:
    return body.validate or body.shape == "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """How the body of a request is made."""

    content_type: str
    """The media type to send."""
    shape: Literal["fields", "whole"]
    """`fields`: of every parameter in the body. `whole`: of the value of one parameter."""
    required: bool = False
    """Whether there is always a body."""
    parameter: str | None = None
    """The parameter that is the whole body."""
    validate: bool = False
    """Whether the body of several fields is validated as a whole, too."""
    schema: Mapping[str, Any] = column(factory=dict, always=_shows_schema)
    """The JSON Schema of the whole."""
    fields: Mapping[str, Parameter] = column(factory=dict, brief=True)
    """How single fields of a form are written that is one parameter's value, by the API's names."""
    xml: Mapping[str, Any] | None = None
    """How the body is written, where it is XML."""

    @property
    def is_null(self) -> bool:
        """True if the body is always null."""
        return self.schema.get("type") == "null"
