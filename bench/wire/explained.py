"""The classes of refusals by a server that another project made of the document, in which the request is not wrong.

Every class is a rule that is checked against the document and the request as it was sent, never a list of operations.
What no class explains counts as the adapter's fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from bench.wire.refusals import Refusal, fits, kinds, parts

__all__ = ["CLASSES", "explain", "matches"]

VARIABLE = re.compile(r"\{[^{}]*\}")
UNDECLARED = re.compile(r"Unknown property: (.+)")
MISSING = re.compile(r"Missing required (?:discriminator )?property:? \"?([^\"]+)\"?")
IGNORED = frozenset({"accept", "content-type", "authorization"})


def _bare(path: str) -> str:
    return VARIABLE.sub("{}", path.partition("#")[0].partition("?")[0]).rstrip("/")


def matches(path: str, url: str) -> bool:
    """Return True if a path with templates matches the path of a URL."""
    pattern = "".join("[^/]+" if piece == "{}" else re.escape(piece) for piece in re.split(r"(\{\})", _bare(path)))
    return re.fullmatch(pattern, urlsplit(url).path.rstrip("/")) is not None


def same_url(refusal: Refusal) -> bool:
    """Return True if two paths that only differ in the names of their templates match, which OpenAPI forbids."""
    return _taken_for(refusal) and _order(str(refusal.matched)) == _order(refusal.path)


def spelled(refusal: Refusal) -> bool:
    """Return True if a value spells what is literal in another path, which then is meant (OpenAPI 3.1.1, 4.8.8.2)."""
    return _taken_for(refusal) and _order(str(refusal.matched)) < _order(refusal.path)


def less_concrete(refusal: Refusal) -> bool:
    """Return True if the server took a path with a template for one that spells the same URL out."""
    return _taken_for(refusal) and _order(str(refusal.matched)) > _order(refusal.path)


def _taken_for(refusal: Refusal) -> bool:
    """Return True if the server took the request for another operation, whose path matches the URL too."""
    other = refusal.matched
    if other is None or other == refusal.path or refusal.exchange["method"] != refusal.method:
        return False
    return matches(other, refusal.exchange["url"])


def _order(path: str) -> list[bool]:
    return ["{}" in segment for segment in _bare(path).split("/")]


def fragment(refusal: Refusal) -> bool:
    """Return True if the path has a fragment or a query of its own, which no request carries to the routing."""
    return ("#" in refusal.path or "?" in refusal.path) and refusal.code in ("E2001", "E3005", "E3006", "E3007")


def unencoded(refusal: Refusal) -> bool:
    """Return True if the path holds characters that a URL must encode, and the server compares without decoding."""
    url = urlsplit(refusal.exchange["url"]).path
    return refusal.code == "E2001" and unquote(url) != url and matches(refusal.path, unquote(url))


def within_segment(refusal: Refusal) -> bool:
    """Return True if the template stands beside other text in its segment, which the server takes for its value."""
    if refusal.steps[0] != "path" or refusal.matched is None:
        return False
    segments = refusal.path.split("/")
    return any(VARIABLE.search(segment) and not VARIABLE.fullmatch(segment) for segment in segments)


def closed_parts(refusal: Refusal) -> bool:
    """Return True if a part is closed to a field that another part declares, so that no request has both."""
    match = UNDECLARED.match(refusal.message)
    if refusal.code != "E3009" or match is None:
        return False
    schemas = refusal.schemas()
    closed = any(
        schema.get("additionalProperties") is False and match[1] not in schema.get("properties", {})
        for schema in schemas
    )
    return closed and any(match[1] in schema.get("properties", {}) for schema in schemas)


def read_only(refusal: Refusal) -> bool:
    """Return True if the field is read-only: required of answers and not of requests (OpenAPI 3.0.4, 4.7.24.2)."""
    match = MISSING.match(refusal.message)
    if refusal.code != "E3007" or match is None:
        return False
    declared = [
        schema["properties"][match[1]] for schema in refusal.schemas() if match[1] in schema.get("properties", {})
    ]
    return any(part.get("readOnly") is True for schema in declared for part in parts(refusal.document, schema))


def form_text(refusal: Refusal) -> bool:
    """Return True if the server holds a text of a form against another type, instead of reading it by its schema."""
    if not (refusal.content_type.startswith("multipart/") or refusal.content_type.endswith("form-urlencoded")):
        return False
    values = refusal.sent()
    if not values:
        return False
    schemas = refusal.schemas(refusal.steps[:2])
    wanted = {kind for schema in schemas for kind in kinds(schema)}
    read = [_read(value) for value in values]
    if "array" in wanted and all(isinstance(value, dict) for value in read):
        return True  # an item in a part of its own
    return any(kind != "string" and fits(kind, value) for kind in wanted for value in read)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def exploded(refusal: Refusal) -> bool:
    """Return True if an object is exploded into its own fields, and the server looks for the parameter's name."""
    if refusal.steps[0] != "query" or len(refusal.steps) < 2:
        return False
    for parameter in refusal.parameters:
        if parameter.get("in") == "query" and parameter.get("name") == refusal.steps[1]:
            form = parameter.get("style", "form") == "form" and parameter.get("explode", True)
            return form and any(
                "object" in kinds(part) for part in parts(refusal.document, parameter.get("schema", {}))
            )
    return False


def forbidden_values(refusal: Refusal) -> bool:
    """Return True if the enumeration holds the value with another type than the schema's, or no fitting value."""
    misfits = [
        value
        for schema in refusal.schemas()
        for value in schema.get("enum", ())
        if kinds(schema) and not any(fits(kind, value) for kind in kinds(schema))
    ]
    fitting = any(
        fits(kind, value) for schema in refusal.schemas() for value in schema.get("enum", ()) for kind in kinds(schema)
    )
    named = any(f'"{value}"' in refusal.message for value in misfits)
    empty = any(schema.get("enum") == [] for schema in refusal.schemas())
    return refusal.code in ("E3016", "E3008", "E3003", "E3001") and (
        empty or (bool(misfits) and (named or not fitting))
    )


def overlapping(refusal: Refusal) -> bool:
    """Return True if several alternatives of `oneOf` admit the value, so that strictly none is the one."""
    return (
        refusal.code == "E3012"
        and "ambiguous" in refusal.message
        and any("oneOf" in schema for schema in refusal.schemas())
    )


def given_back(refusal: Refusal) -> bool:
    """Return True if the server answered the value before: an update gives back what it does not change."""
    if refusal.before is None or refusal.steps[0] != "body" or len(refusal.steps) < 2:
        return False
    try:
        there, sent = (json.loads(text) for text in (refusal.before.get("answer") or "", refusal.exchange["body"]))
    except ValueError:
        return False
    for step in refusal.steps[1:]:
        there, sent = (_at(node, step) for node in (there, sent))
    return sent is not None and there == sent


def _at(value: Any, step: str) -> Any:
    if isinstance(value, list):
        return value[int(step)] if step.isdigit() and int(step) < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def patch_of_object(refusal: Refusal) -> bool:
    """Return True if the content type is JSON Patch, an array (RFC 6902, 3), and the schema is of an object."""
    return (
        refusal.content_type == "application/json-patch+json"
        and refusal.place == "body"
        and any("object" in kinds(schema) or "properties" in schema for schema in refusal.schemas())
    )


def other_keywords(refusal: Refusal) -> bool:
    """Return True if keywords of objects beside another type make the server gather fields for a parameter."""
    return refusal.steps[0] == "query" and any(
        kinds(schema) and "object" not in kinds(schema) and ("additionalProperties" in schema or "properties" in schema)
        for schema in refusal.schemas()
    )


def type_of_parameter(refusal: Refusal) -> bool:
    """Return True if Content-Type is declared as a parameter with values that the body lacks, and one was sent."""
    declared = [parameter for parameter in refusal.parameters if parameter.get("name", "").lower() == "content-type"]
    schemas = [parameter.get("schema", parameter) for parameter in declared if parameter.get("in") == "header"]
    return refusal.code == "E3006" and any(refusal.content_type in schema.get("enum", ()) for schema in schemas)


def ignored(refusal: Refusal) -> bool:
    """Return True if it is about Accept, Content-Type or Authorization, which are ignored (OpenAPI 3.0.4, 4.7.12.2)."""
    return refusal.steps[0] == "header" and refusal.steps[-1 if len(refusal.steps) < 2 else 1].lower() in IGNORED


def own_example(refusal: Refusal) -> bool:
    """Return True if what was sent at the place is the document's own example of it."""
    if refusal.steps[0] != "body":
        return False
    try:
        sent = json.loads(refusal.exchange["body"])
    except ValueError:
        return False
    steps = refusal.steps[1:] if refusal.code != "E3007" else refusal.steps[1:-1]
    for example in refusal.examples:
        ours, theirs = sent, example
        for step in steps:
            ours, theirs = _at(ours, step), _at(theirs, step)
        if ours is not None and ours == theirs:
            return True
    return False


def token_twice(refusal: Refusal) -> bool:
    """Return True if a token is missed as a parameter or field while a scheme's token is sent in Authorization."""
    name = refusal.steps[-1] if refusal.code != "E3007" else refusal.message.rpartition(": ")[2]
    secured = refusal.operation.get("security", refusal.document.get("security"))
    is_missed = refusal.code in ("E3002", "E3004", "E3007") and name.lower().endswith("token")
    return is_missed and bool(secured) and "authorization" in refusal.exchange["headers"]


def credential_of_object(refusal: Refusal) -> bool:
    """Return True if the field of a credential is declared as an object that has such a field itself."""
    if refusal.code != "E3008" or refusal.steps[0] != "body" or len(refusal.steps) < 2:
        return False
    return any(refusal.steps[-1] in schema.get("properties", {}) for schema in refusal.schemas())


def no_style(refusal: Refusal) -> bool:
    """Return True if arrays or objects are nested in a query, for which OpenAPI has no style (3.1.1, 4.8.12.3)."""
    steps = refusal.steps
    return (
        steps[0] == "query"
        and len(steps) > 2
        and bool({"array", "object"} & {kind for schema in refusal.schemas() for kind in kinds(schema)})
    )


@dataclass(frozen=True, slots=True)
class Class:
    """A kind of refusal: whose fault it is, a description, and the test for it."""

    fault: str
    text: str
    holds: Callable[[Refusal], bool]


CLASSES = {
    "closed allOf": Class(
        "document",
        "a part of `allOf` is closed to the fields of the others: no request fits",
        closed_parts,
    ),
    "values of another type": Class(
        "document",
        "an enumeration that is empty, or whose values are not of the type beside it",
        forbidden_values,
    ),
    "path with a fragment": Class(
        "document",
        "paths that differ in a fragment or a query, which no request carries",
        fragment,
    ),
    "JSON Patch of an object": Class(
        "document",
        "JSON Patch, which is an array, with a schema of an object",
        patch_of_object,
    ),
    "Content-Type as a parameter": Class(
        "document",
        "a Content-Type parameter of values that the body does not have",
        type_of_parameter,
    ),
    "two paths for one URL": Class(
        "document",
        "two templates match one URL alike, which OpenAPI forbids",
        same_url,
    ),
    "overlapping alternatives": Class(
        "document",
        "several alternatives of `oneOf` admit the value",
        overlapping,
    ),
    "its own example": Class(
        "document",
        "its own example of the body, which was sent, breaks its schema",
        own_example,
    ),
    "value that is another path": Class(
        "document",
        "its own default or example spells a more concrete path",
        spelled,
    ),
    "token twice": Class(
        "document",
        "it requires the token of its scheme, sent in Authorization, once more as a parameter or field",
        token_twice,
    ),
    "credential within itself": Class(
        "document",
        "the field of the credential is declared as an object that holds a field of that name",
        credential_of_object,
    ),
    "no style defined": Class(
        "document",
        "nested values in a query, for which OpenAPI defines no style",
        no_style,
    ),
    "read-only": Class(
        "server",
        "it asks requests for what is required of answers only",
        read_only,
    ),
    "less concrete path": Class(
        "server",
        "it takes a template where another path spells the URL out",
        less_concrete,
    ),
    "text of a form": Class(
        "server",
        "it does not read the texts of a form by their schema",
        form_text,
    ),
    "exploded object": Class(
        "server",
        "it looks for an exploded object under the parameter's own name",
        exploded,
    ),
    "given back as read": Class(
        "server",
        "its own answer, which an update reads and gives back, breaks its schema",
        given_back,
    ),
    "keywords of objects": Class(
        "server",
        "it takes a text for an object for keywords that only speak of objects",
        other_keywords,
    ),
    "alternatives at once": Class(
        "document",
        "the body is one of several closed objects, and a call with everything gives the fields of all",
        lambda _: False,
    ),
    "switching protocols": Class(
        "document",
        "its only success is 101: the connection becomes another protocol",
        lambda _: False,
    ),
    "ignored headers": Class(
        "server",
        "it wants Accept or Content-Type by a definition that OpenAPI says to ignore",
        ignored,
    ),
    "within a segment": Class(
        "server",
        "it takes the rest of a segment for the value of a template",
        within_segment,
    ),
    "no answer in time": Class(
        "server",
        "it makes up answers of huge arrays and does not end within the time-out",
        lambda _: False,
    ),
    "signature at another address": Class(
        "server",
        "its address is not AWS's, which names the service that a request is signed for",
        lambda _: False,
    ),
    "encoded path": Class(
        "server",
        "it compares paths without decoding them",
        unencoded,
    ),
}


def explain(refusal: Refusal) -> str | None:
    """Return the name of a refusal's class."""
    return next((name for name, kind in CLASSES.items() if kind.holds(refusal)), None)
