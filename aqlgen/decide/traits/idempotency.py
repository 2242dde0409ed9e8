"""A key by which the API knows a call that is made twice (draft-ietf-httpapi-idempotency-key-header)."""

from __future__ import annotations

from functools import partial

from aqlgen.decide.decision import Category, Evidence, Reason, Trait
from aqlgen.ir import Json, Location
from aqlgen.runtime.table import Idempotency
from aqlgen.words import split

from .around import Around, Subject

__all__ = ["idempotency"]

_CARRIERS = frozenset({"key", "token", "id", "identifier", "nonce"})
_CONVENTION = "Idempotency-Key"
"""The header of the draft, which most APIs with such keys take."""
_DEPTH = 3
_OF_A_REQUEST = frozenset({"request", "client", "transaction"})


def idempotency(subject: Subject, around: Around) -> Trait[Idempotency] | None:
    """Return the header, or else the parameter or field, that carries the key.

    Where no operation names one, a POST carries the header by convention if the document knows such keys: it speaks of
    the header, or an error that it enumerates is about them.
    """
    if subject.category is Category.READ:
        return None
    declared = _declared(subject, around)
    if declared is not None or subject.method != "POST" or not around.once("known keys", lambda: _are_known(around)):
        return declared
    reason = Reason("convention", Evidence.HEURISTIC, 0.7, "the document knows idempotency keys, and names no carrier")
    return Trait(Idempotency(header=_CONVENTION), reason)


def _declared(subject: Subject, around: Around) -> Trait[Idempotency] | None:
    for parameter in subject.operation.parameters:
        header = parameter.location is Location.HEADER
        if header or parameter.location is Location.QUERY:
            reason = _reason(parameter.name, parameter.description)
            if reason is not None:
                wire = parameter.name
                key = Idempotency(header=wire) if header else Idempotency(parameter=wire, location="query")
                return Trait(key, reason)
    for wire, schema in around.schemas.properties(subject.body).items():
        if "boolean" in around.schemas.kinds(schema):
            continue
        if _is_key(wire):
            return Trait(
                Idempotency(parameter=wire, location="body"), Reason("idempotency-key", Evidence.RULE, 0.9, wire)
            )
        described = around.schemas.resolve(schema).get("description")
        reason = _reason(wire, described) if isinstance(described, str) else None
        if reason is not None:
            return Trait(Idempotency(parameter=wire, location="body"), reason)
    return None


def _is_key(wire: str) -> bool:
    return any(word.startswith("idempoten") for word in split(wire))


def _reason(wire: str, description: str) -> Reason | None:
    """Return why a parameter carries the key: its name, or the description of an identifier of the request."""
    if _is_key(wire):
        return Reason("idempotency-key", Evidence.RULE, 0.95, wire)
    words = frozenset(split(wire))
    if words & _CARRIERS and words & _OF_A_REQUEST and "idempoten" in description.lower():
        return Reason("described-as-idempotency-key", Evidence.HEURISTIC, 0.75, wire)
    return None


def _are_known(around: Around) -> bool:
    """Return True if the document knows idempotency keys, and no operation of it declares what carries one."""
    if any(_declared(subject, around) is not None for subject in around.subjects):
        return False
    texts = (around.description, *(subject.operation.description for subject in around.subjects))
    if any(_CONVENTION.lower() in text.lower() for text in texts):
        return True
    schemas = around.schemas
    errors = (
        media.schema
        for subject in around.subjects
        for response in subject.operation.responses
        if response.status[:1] not in ("2", "3")
        for media in response.media
    )
    return any(schemas.once("idempotency", error, partial(_names_keys, around, error)) for error in errors)


def _names_keys(around: Around, schema: Json, depth: int = 0) -> bool:
    """Return True if a value that an error enumerates is about idempotency."""
    for field in around.schemas.properties(schema).values():
        values = around.schemas.word(field, "enum")
        if isinstance(values, list) and any(isinstance(value, str) and _is_key(value) for value in values):
            return True
        if depth < _DEPTH and "object" in around.schemas.kinds(field) and _names_keys(around, field, depth + 1):
            return True
    return False
