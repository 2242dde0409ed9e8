"""The form of an adapter element (element type document and adapter schema of the protocol), as a JSON Schema.

`title` says in words what a text must be, and `examples` what to write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from json import dumps
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.plain import nearest
from aqlgen.document.positions import join
from aqlgen.ir import Json
from aqlgen.words import snake

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""

_LONGEST: Final = 80
_PLAIN: Final = re.compile(r"[\w$-]{1,100}")

_TEXT: Final = {"type": "string"}
_FLAG: Final = {"type": "boolean"}
_OBJECT: Final = {"type": "object"}
_VARIABLE: Final = {
    "type": "string",
    "pattern": "^[A-Z](?!.*_FILE$)[A-Z0-9_]{0,99}$",
    "title": "an environment variable: capitals, digits and _, not with _FILE at the end",
    "examples": ["PETSTORE_API_KEY"],
}
_ADDRESS: Final = {
    "type": "string",
    "pattern": r"^https?://[^\s/?#]",
    "title": "an address that begins with https://",
    "examples": ["https://api.example.com/v1"],
}


def _object(required: str = "", /, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required.split(), "properties": properties, "additionalProperties": False}


_BOUND: Final = {"type": "integer", "minimum": 0, "title": "a whole number, not below 0"}
_PARAMETER: Final = _object(
    "type",
    type={
        "type": "string",
        "pattern": r"^(?!(?:u?int|str|float|double|bool|list|dict|map)\d*$)\w.{0,199}$",
        "title": "one of string, integer, number, boolean, array and object, several with | between, or a type's name",
        "examples": ["string", "integer"],
    },
    name=_TEXT,
    required=_FLAG,
    description=_TEXT,
    default={},
    enum={"type": "array", "minItems": 1, "title": "a list of one value or more"},
    minimum={"type": "number"},
    maximum={"type": "number"},
    pattern=_TEXT,
    format=_TEXT,
    minLength=_BOUND,
    maxLength=_BOUND,
    items={"$ref": "#/$defs/parameter"},
    sensitive=_FLAG,
)
_SIZE: Final = {"type": "integer", "minimum": 1, "title": "a whole number above 0"}
_OPERATION: Final = _object(
    "name maps_to",
    name={
        "type": "string",
        "pattern": "^[a-z][a-z0-9_]{0,63}$",
        "title": "lower-case words joined by _, beginning with a letter, at most 64 characters",
        "examples": ["get_user"],
    },
    maps_to={
        "type": "string",
        "pattern": r"^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /(?![/\\])[^\s#\\]{0,4000}$",
        "title": "METHOD /path below base_url, the method in capitals, without a host, spaces and #",
        "examples": ["GET /users/{user_id}"],
    },
    description=_TEXT,
    params={"type": "object", "additionalProperties": {"$ref": "#/$defs/parameter"}},
    response={"type": "object", "properties": {"type": _TEXT}},
    pagination=_object(
        style={"enum": ["offset", "cursor", "page", "link_header"]},
        default_limit=_SIZE,
        max_limit=_SIZE,
        param_name=_TEXT,
        per_page_param=_TEXT,
    ),
    supports_fields=_FLAG,
    default_fields={"type": "array"},
    danger_level={"enum": ["safe", "reversible", "destructive", "dangerous", "forbidden"]},
    requires_confirmation=_FLAG,
    non_idempotent=_FLAG,
)
_OPERATIONS: Final = {"type": "array", "items": {"$ref": "#/$defs/operation"}}
_AUTH: Final = _object(
    "type",
    type={"enum": ["none", "api_key", "bearer", "basic", "oauth2"]},
    header=_TEXT,
    header_name=_TEXT,
    prefix=_TEXT,
    name=_TEXT,
    token_env=_VARIABLE,
    key_env=_VARIABLE,
    username_env=_VARIABLE,
    password_env=_VARIABLE,
    token_url=_ADDRESS,
    authorization_url=_ADDRESS,
    discovery_url=_ADDRESS,
    scopes={"type": "array", "items": _TEXT},
    **{"in": {"enum": ["header", "query", "cookie"]}},
)
_SCHEMA: Final = {
    "$defs": {"parameter": _PARAMETER, "operation": _OPERATION},
    **_object(
        "name type version description target operations",
        name={
            "type": "string",
            "pattern": "^[a-z][a-z0-9-]{0,62}[a-z0-9]$",
            "title": "lower-case letters, digits and hyphens, 2 to 64, beginning with a letter",
            "examples": ["github-api"],
        },
        type={"enum": ["adapter"]},
        version={
            "type": "string",
            "pattern": r"^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{1,200})?$",
            "title": "three numbers with dots between (Semantic Versioning)",
            "examples": ["1.0.0"],
        },
        description=_TEXT,
        target=_object(
            "base_url transport protocol serialization",
            base_url=_ADDRESS,
            transport={"enum": ["http"]},
            protocol={"enum": ["rest"]},
            serialization={"enum": ["json", "form"]},
        ),
        auth=_AUTH,
        operations=_object(
            create=_OPERATIONS, read=_OPERATIONS, update=_OPERATIONS, delete=_OPERATIONS, execute=_OPERATIONS
        ),
        trust=_OBJECT,
        rate_limits=_OBJECT,
        author=_TEXT,
        tags={"type": "array"},
        triggers={"type": "array"},
        created=_TEXT,
        modified=_TEXT,
    ),
}


@cache
def _validator() -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(_SCHEMA)


def form_findings(root: Json) -> Iterator[Diagnostic]:
    """Yield an error for each part of an element that is not of its form."""
    try:
        errors = _validator().iter_errors(root)
    except ValueError:  # half a surrogate pair
        yield finding(
            "schema-invalid-value", (), "the element has a text that is not Unicode", "Unicode text", "other text"
        )
        return
    for error in errors:
        path: Path = tuple(error.instance_path)
        rule: Any = _SCHEMA
        for step in error.schema_path[:-1]:
            rule = rule[step]
        match error.kind.name:
            case "additionalProperties":
                yield from (
                    _unknown(path, str(key), rule["properties"]) for key in getattr(error.kind, "unexpected", ())
                )
            case "required":
                yield _missing(path, str(getattr(error.kind, "property", "")), rule)
            case _:
                yield _unfit(path, error, rule)


def _unknown(path: Path, key: str, known: dict[str, Any]) -> Diagnostic:
    """Return the error for a key, without the value: a credential may stand there."""
    message = f"{written(path) or 'the element'} has no field {shown(key)}"
    return finding(
        "schema-unknown-field", (*path, key), message, ", ".join(known), key[:_LONGEST], nearest(key, known, "field")
    )


def _missing(path: Path, key: str, rule: dict[str, Any]) -> Diagnostic:
    field = rule["properties"][key]
    expected = " or ".join(field.get("enum", ())) or field["type"]
    message = f"the required field {written((*path, key))} is missing"
    example = (*field.get("examples", ()), *field.get("enum", ()), "…")[0]
    return finding("schema-missing-field", (*path, key), message, expected, "nothing", f"Write `{key}: {example}`.")


def _unfit(path: Path, error: ValidationError, rule: dict[str, Any]) -> Diagnostic:
    """Return the error for a value of another type, or one that is not allowed."""
    value, key, keyword = error.instance, str(path[-1]) if path else "", error.kind.name
    code = "schema-invalid-type" if keyword == "type" else "schema-invalid-value"
    if keyword == "pattern" and (key == "name" or key.endswith("_env")):
        code = "schema-invalid-name"
    expected = " or ".join(rule["enum"]) if keyword == "enum" else rule[keyword if keyword == "type" else "title"]
    examples = list(_examples(value, keyword, rule))
    message = f"{written(path) or 'the element'} must be {expected}, and is {shown(value)}"
    help_text = f"Write `{key}: {examples[0]}`." if examples else ""
    if keyword == "enum":
        help_text = nearest(str(value), rule["enum"], key)
    return finding(code, path, message, expected, shown(value), help_text)


def _examples(value: Json, keyword: str, rule: dict[str, Any]) -> Iterator[str]:
    """Yield values that are as they must be, the one that was probably meant first."""
    known = [*rule.get("examples", ()), *rule.get("enum", ())]
    if keyword == "type" and rule["type"] == "string" and isinstance(value, int | float):
        yield f'"{value}"'
    elif keyword == "type" and isinstance(value, str):
        yield f"{value.lower()} (without quotes)"
    elif keyword == "pattern":
        spelled = snake(str(value)[:_LONGEST])
        yield from (name for name in (spelled, spelled.replace("_", "-")) if re.search(rule["pattern"], name))
    yield from known


def finding(
    code: str,
    path: Path,
    message: str,
    expected: str = "",
    actual: str = "",
    help: str = "",
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    """Return a finding about the value at a path."""
    return Diagnostic(
        code,
        severity,
        message,
        pointer=join(map(str, path)),
        help=help,
        path=written(path),
        expected=expected,
        actual=actual,
    )


def written(path: Path) -> str:
    """Return a path as the protocol's documents write it: `operations.read[0].name`."""
    text = ""
    for key in path:
        if isinstance(key, str) and _PLAIN.fullmatch(key):
            text += f".{key}" if text else key
        else:
            text += f"[{dumps(key)}]"
    return text


def shown(value: Json) -> str:
    """Return a value for a message, its beginning if it is long."""
    if isinstance(value, dict | list):
        return "object" if isinstance(value, dict) else "array"
    text = dumps(value[: _LONGEST + 1] if isinstance(value, str) else value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
