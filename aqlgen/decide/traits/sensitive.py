"""Parameters whose values are secrets: masked in the audit log, never shown in a question (R-SAFE-5)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from aqlgen.decide.decision import Evidence, Reason, Sensitive, Trait
from aqlgen.ir import Json
from aqlgen.runtime.text import folded
from aqlgen.words import split

from .around import Around, Subject
from .keys import listed_keys

_SECRET = re.compile(
    r"(^|_)(password|passwd|passphrase|passcode|secret|token|jwt|api_?key|private_?key|access_?key|signing_key|"
    r"encryption_key|credential|otp|cvv|cvc|ssn)(s)?($|_)"
)
_NOT_SECRET = re.compile(
    r"(^|_)(page|next|continuation|cursor|sync|previous|idempotency|max|min|num|count|skip|start|client_request)_"
    r"|_(url|uri|id|ids|type|types|name|names|count|limit|length|expiry|expires|expiration|ttl|size|enabled|required|"
    r"policy|format|version|hint|at|in|lifetime|method|algorithm|prefix|label|status|email|emails|message|text|template)$"
)
"""Names that are about a secret and hold none: its address, its kind, its age."""

_MARKS = frozenset({"x-sensitive", "x-secret", "x-ms-secret", "x-speakeasy-param-sensitive", "x-mcpaql-sensitive"})


def is_secret(name: str, schema: Mapping[str, Json], keys: Collection[str] = ()) -> bool:
    """Return True if a value is a secret, by what the schema says of it or by the name in snake_case.

    `keys` are the names, folded, of `listed_keys`, which are none by their names alone.
    """
    return _why(name, schema, keys) is not None


def sensitive(subject: Subject, around: Around) -> Trait[Sensitive] | None:
    """Return the parameters and fields of the body that hold secrets."""
    reasons: dict[str, Reason] = {}
    keys = around.once("keys", lambda: listed_keys(around.subjects, around.schemas))
    for wire, schema in _values(subject, around):
        reason = _why("_".join(split(wire)), schema, keys)
        if reason is not None:
            reasons.setdefault(wire, reason)
    if not reasons:
        return None
    weakest = min(reasons.values(), key=lambda reason: reason.confidence)
    note = ", ".join(reasons)
    reason = Reason(weakest.rule, weakest.evidence, weakest.confidence, note)
    return Trait(Sensitive(parameters=tuple(reasons)), reason)


def _values(subject: Subject, around: Around) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for parameter in subject.operation.parameters:  # `writeOnly` is for properties alone (OpenAPI 3.0.4, 4.7.24)
        schema = around.schemas.resolve(parameter.schema)
        yield parameter.name, {key: value for key, value in schema.items() if key != "writeOnly"}
    for wire, schema in around.schemas.properties(subject.body).items():
        yield wire, around.schemas.resolve(schema)


def _why(name: str, schema: Mapping[str, Json], keys: Collection[str]) -> Reason | None:
    if schema.get("format") == "password":
        return Reason("format-password", Evidence.METADATA, 1.0)
    if not _MARKS.isdisjoint(schema) and any(schema.get(mark) is True for mark in _MARKS):
        return Reason("declared", Evidence.METADATA, 1.0)
    if schema.get("writeOnly") is True:
        return Reason("write-only", Evidence.METADATA, 0.8)
    kind = schema.get("type")
    text = kind == "string" or (isinstance(kind, list) and "string" in kind)
    if text and "enum" not in schema and _SECRET.search(name) and not _NOT_SECRET.search(name):
        return None if folded(name) in keys else Reason("secret-name", Evidence.RULE, 0.85)
    return None
