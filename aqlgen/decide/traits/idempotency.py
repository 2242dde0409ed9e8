"""A key by which the API knows a call that is made twice (draft-ietf-httpapi-idempotency-key-header)."""

from __future__ import annotations

from aqlgen.decide.decision import Category, Evidence, Reason, Trait
from aqlgen.ir import Location
from aqlgen.runtime.table import Idempotency
from aqlgen.words import split

from .around import Around, Subject

_CARRIERS = frozenset({"key", "token", "id", "identifier", "nonce"})
_OF_A_REQUEST = frozenset({"request", "client", "transaction"})


def idempotency(subject: Subject, around: Around) -> Trait[Idempotency] | None:
    """Return the header, or else the parameter or field, that carries the key."""
    if subject.category is Category.READ:
        return None
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
