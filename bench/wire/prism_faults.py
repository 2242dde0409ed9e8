"""What Prism finds wrong with a request, and the classes of its refusals in which the request is not wrong.

As in `explained`, whose classes hold here too, every class is a rule that is checked against the document and the
request as it was sent. Prism names a fault by the keyword of JSON Schema that refused the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from bench.wire import explained
from bench.wire.explained import Class
from bench.wire.refusals import Refusal, kinds, parts, resolved

__all__ = ["CLASSES", "reasons", "violations"]

TOO_MANY = "Too many violations! "
"""What stands before violations that were cut to the size of a header."""
PROBLEM = "stoplight.io/prism/errors#"
UNJUDGED = "SCHEMA_TOO_COMPLEX"
"""The problem of an answer that Prism cannot make up: then it does not tell what it found in the request."""
CODES = {"required": "E3007", "type": "E3008", "additionalProperties": "E3009", "oneOf": "E3012", "enum": "E3016"}
"""The codes that the classes of `explained` look for, by keyword."""
NAMED = re.compile(r"required property '([^']{1,200})'|found '([^']{1,200})'")
TEMPLATE = re.compile(r"\{([^{}]{1,200})\}")


def violations(exchange: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the errors that Prism found in a request: location (without `request`), code and message."""
    errors: list[Mapping[str, Any]] = [
        {**item, "location": item["location"][1:]}
        for item in _items(exchange["verdict"].get("sl-violations", ""))
        if item["location"][:1] == ["request"] and item.get("severity") == "Error"
    ]
    answer = exchange.get("answer", "")
    is_refused = exchange["status"] in (401, 404, 405, 406, 415, 422) or UNJUDGED in answer
    if errors or PROBLEM not in answer or not is_refused:
        return errors
    try:
        listed = json.loads(answer).get("validation") or ()
    except ValueError:
        listed = ()
    name = answer.partition(PROBLEM)[2].partition('"')[0]
    return [{"location": [], **item} for item in listed] or [{"location": [], "code": name, "message": ""}]


def _items(text: str) -> Iterator[Mapping[str, Any]]:
    """Return the violations of a header, which may be cut; those of the request come first."""
    text, decoder, at = text.removeprefix(TOO_MANY), json.JSONDecoder(), 1
    while at < len(text) and text[at - 1] in "[,":
        try:
            item, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield item
        at += 1


def reasons(line: Mapping[str, Any], document: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return why a call is not valid, each reason with whether it is explained; none if it is valid."""
    error = line.get("error", {})
    if not line["exchanges"]:
        is_signed = "service of AWS is not known" in error.get("message", "")
        return [("signature at another address", True) if is_signed else (f"adapter {error.get('code')}", False)]
    why = []
    method, path = line["row"]
    for index, exchange in enumerate(line["exchanges"]):
        before = line["exchanges"][index - 1] if index else None
        errors = violations(exchange)
        whys = []
        for item in errors:
            refusal = _refusal(document, method, path, exchange, item, before)
            name = next((name for name, kind in CLASSES.items() if kind.holds(refusal)), None)
            if name or not _follows(item, errors, refusal):
                where = ".".join(map(str, item["location"])) or "request"
                whys.append((name or f"{where}: {item.get('code')}", name is not None))
        why += whys or [("no alternative", False)] * bool(errors)
    if not why and error and method not in {exchange["method"] for exchange in line["exchanges"]}:
        is_told = "in another form than it takes" in error.get("message", "")
        return [("read in another form", True) if is_told else (f"adapter {error.get('code')}", False)]
    return why


def _follows(item: Mapping[str, Any], errors: list[Mapping[str, Any]], refusal: Refusal) -> bool:
    """Return True if a violation only says that no alternative holds, or why another one does not."""
    where, code = item["location"], item.get("code")
    whole = [other["location"] for other in errors if other.get("code") in ("oneOf", "anyOf")]
    if len(errors) < 2 or not any(where[: len(place)] == place for place in whole):
        return False
    if code == "required":
        name = refusal.message.removeprefix("Missing required property ")
        branches = [
            branch for schema in refusal.schemas() for key in ("oneOf", "anyOf") for branch in schema.get(key, ())
        ]
        return any(
            all(name not in part.get("required", ()) for part in parts(refusal.document, branch)) for branch in branches
        )
    return code in ("oneOf", "anyOf", "const", "enum", "type")


def _refusal(
    document: Mapping[str, Any],
    method: str,
    path: str,
    exchange: Mapping[str, Any],
    item: Mapping[str, Any],
    before: Mapping[str, Any] | None,
) -> Refusal:
    """Return a violation in the words of `refusals`."""
    code, message, place = str(item.get("code", "")), str(item.get("message", "")), ".".join(map(str, item["location"]))
    match = NAMED.search(message)
    if code == "required" and match:
        message = f"Missing required property {match[1]}"
    if code == "additionalProperties" and match:
        message = f"Unknown property: {match[2]}"
    other = _taken(document, path, exchange, place.split("."))
    exchange = {**exchange, "verdict": {**exchange["verdict"], **({"x-steady-matched-path": other} if other else {})}}
    refusal = Refusal(document, method, path, exchange, CODES.get(code, code), place, message, before)
    if code == "oneOf" and _several(refusal):
        return Refusal(document, method, path, exchange, CODES[code], place, "ambiguous", before)
    return refusal


def _taken(document: Mapping[str, Any], path: str, exchange: Mapping[str, Any], steps: list[str]) -> str | None:
    """Return the path that a template of another name belongs to, which Prism took the request for."""
    templates = {name.lower() for name in TEMPLATE.findall(path)}
    if steps[0] != "path" or len(steps) < 2 or steps[1].lower() in templates:
        return None
    method = exchange["method"].lower()
    others = [key for key, item in document.get("paths", {}).items() if method in item and key != path]
    candidates = [key for key in others if steps[1].lower() in {name.lower() for name in TEMPLATE.findall(key)}]
    return next((key for key in candidates if explained.matches(key, exchange["url"])), None)


def _several(refusal: Refusal) -> bool:
    """Return True if a validator that is not Prism's admits the value by several alternatives of `oneOf` too."""
    value = _sent(refusal)
    rest = {key: refusal.document[key] for key in ("components", "definitions") if key in refusal.document}
    for schema in refusal.schemas():
        admitted = 0
        for branch in schema.get("oneOf", ()):
            try:
                admitted += jsonschema_rs.validator_for({**resolved(refusal.document, branch), **rest}).is_valid(value)
            except (ValueError, jsonschema_rs.ReferencingError):
                continue
        if admitted > 1:
            return True
    return False


def _sent(refusal: Refusal) -> Any:
    """Return the value that was sent at the place of a JSON body; None elsewhere."""
    try:
        value = json.loads(refusal.exchange["body"])
        for step in refusal.steps[1:]:
            value = value[int(step)] if isinstance(value, list) else value[step]
    except (ValueError, LookupError, TypeError):
        return None
    return value


def empty_form(refusal: Refusal) -> bool:
    """Return True if a required body is missed where an empty form was sent, which is one without fields."""
    return (
        refusal.message == "Body parameter is required"
        and refusal.exchange["body"] == ""
        and refusal.content_type == "application/x-www-form-urlencoded"
    )


def array_or_null(refusal: Refusal) -> bool:
    """Return True if Prism keeps one value of a query as text because the array may also be something else."""
    if refusal.steps[0] != "query" or len(refusal.steps) < 2 or refusal.code not in ("E3008", "anyOf", "E3012"):
        return False
    for parameter in refusal.parameters:
        if parameter.get("in") == "query" and parameter.get("name", "").lower() == refusal.steps[1].lower():
            whole = resolved(refusal.document, parameter.get("schema", {}))
            is_plain = whole.get("type") == "array" and not whole.get("nullable")
            return not is_plain and any("array" in kinds(part) for part in parts(refusal.document, whole))
    return False


def base64_of_bytes(refusal: Refusal) -> bool:
    """Return True if bytes were sent as their media type says, and the document has them in base64 beside it."""
    return (
        refusal.code == "format"
        and refusal.place == "body"
        and refusal.content_type.partition("/")[0] in ("application", "image", "audio", "video")
        and not re.search("json|xml|form", refusal.content_type)
        and any(schema.get("format") == "byte" for schema in refusal.schemas())
    )


def dotted(refusal: Refusal) -> bool:
    """Return True if the name of a template has characters that Prism's library of templates does not know."""
    names = TEMPLATE.findall(refusal.path)
    return refusal.code == "NO_PATH_MATCHED_ERROR" and any(re.search(r"[^A-Za-z0-9_]", name) for name in names)


def beside_reference(refusal: Refusal) -> bool:
    """Return True if `required` stands beside a parameter's `$ref`, where it is ignored (OpenAPI 3.1.1, 4.8.23)."""
    name = refusal.message.removeprefix("Missing required property ").lower()
    if refusal.code != "E3007" or refusal.steps[0] not in ("query", "header", "path"):
        return False
    for parameter in refusal.operation.get("parameters", ()):
        target = resolved(refusal.document, parameter)
        if "$ref" in parameter and target.get("name", "").lower() == name:
            return parameter.get("required") is True and target.get("required") is not True
    return False


def accept_as_parameter(refusal: Refusal) -> bool:
    """Return True if Accept is declared as a parameter whose value, which was sent, no answer has."""
    declared = [parameter for parameter in refusal.parameters if parameter.get("name", "").lower() == "accept"]
    schemas = [parameter.get("schema", {}) for parameter in declared if parameter.get("in") == "header"]
    values = {str(value) for schema in schemas for value in (schema.get("default"), *schema.get("enum", ()))}
    return refusal.code == "NOT_ACCEPTABLE" and refusal.exchange["headers"].get("accept") in values


def default_of_no_format(refusal: Refusal) -> bool:
    """Return True if the document's own default or example at the place is not of the format either."""
    values = [
        example
        for parameter in refusal.parameters
        if [parameter.get("in"), parameter.get("name")] == refusal.steps[:2]
        for example in (parameter, *parameter.get("examples", {}).values())
    ]
    for schema in refusal.schemas() if refusal.code == "format" else ():
        validator = jsonschema_rs.validator_for({"format": schema.get("format", "")}, validate_formats=True)
        stated = [place[key] for place in (schema, *values) for key in ("default", "example", "value") if key in place]
        if not all(map(validator.is_valid, stated)):
            return True
    return False


CLASSES = {
    **explained.CLASSES,
    "path with a fragment": Class(
        "document", explained.CLASSES["path with a fragment"].text, lambda refusal: bool({"#", "?"} & set(refusal.path))
    ),
    "read in another form": Class(
        "document",
        "what an update reads is declared in another form than what it writes: the adapter asks for it",
        lambda _: False,
    ),
    "answer too complex": Class(
        "server",
        "it cannot make up an answer, and then tells nothing of the request",
        lambda refusal: refusal.code == UNJUDGED,
    ),
    "empty form": Class("server", "it takes an empty form for no body", empty_form),
    "array or null": Class(
        "server", "it reads a query as an array only where the type is an array and nothing beside", array_or_null
    ),
    "base64 of bytes": Class(
        "document", "the body is of bytes by its media type, and its schema says base64", base64_of_bytes
    ),
    "Accept as a parameter": Class(
        "document", "it declares Accept as a parameter, with a value that its answers do not have", accept_as_parameter
    ),
    "default of no format": Class(
        "document", "its own default or example is not of the format beside it", default_of_no_format
    ),
    "dotted template": Class("server", "it matches no path whose template has a dot or a hyphen", dotted),
    "beside a reference": Class(
        "server", "it reads `required` beside the `$ref` of a parameter, which OpenAPI says to ignore", beside_reference
    ),
}
