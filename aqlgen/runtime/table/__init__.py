# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operation table: plain data, one row an operation, from which everything the adapter does is read (R-INT-7).

This is the one definition of it: the generator builds and writes these types, the adapter reads them. `adapter.json`
says what the adapter is, `operations/<family>.json` hold the rows by name, and `types.json` holds the API's types.
"""

from __future__ import annotations

from .adapter import (
    FAMILIES,
    FORMAT,
    Accepted,
    Adapter,
    ApiSection,
    Flow,
    FormatError,
    SecurityScheme,
    check_format,
    scheme_of,
)
from .choices import chosen
from .codec import decode, encode
from .files import WORKFLOWS, Table, is_plain_read, row_of, values_of
from .parts import (
    ADAPTER,
    Body,
    Carried,
    CarriedPlace,
    Deprecation,
    Idempotency,
    JsonSchema,
    Location,
    LongRunning,
    Pagination,
    PagingStyle,
    Parameter,
    Strategy,
    Update,
)
from .row import Choice, DangerLevel, FormerName, Kind, Response, ReturnType, Row, Server, Workflow

__all__ = [
    "ADAPTER",
    "FAMILIES",
    "FORMAT",
    "WORKFLOWS",
    "Accepted",
    "Adapter",
    "ApiSection",
    "Body",
    "Carried",
    "CarriedPlace",
    "Choice",
    "DangerLevel",
    "Deprecation",
    "Flow",
    "FormatError",
    "FormerName",
    "Idempotency",
    "JsonSchema",
    "Kind",
    "Location",
    "LongRunning",
    "Pagination",
    "PagingStyle",
    "Parameter",
    "Response",
    "ReturnType",
    "Row",
    "SecurityScheme",
    "Server",
    "Strategy",
    "Table",
    "Update",
    "Workflow",
    "check_format",
    "chosen",
    "decode",
    "encode",
    "is_plain_read",
    "row_of",
    "scheme_of",
    "values_of",
]
