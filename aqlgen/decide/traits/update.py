"""How an update reaches the API: as a patch, or by writing the whole resource (R-UPD-2)."""

from __future__ import annotations

from aqlgen.decide.decision import Category, Evidence, Reason, Trait
from aqlgen.ir import Location
from aqlgen.runtime.media import JSON_PATCH, admits_json
from aqlgen.runtime.table import Strategy, Update

from .around import Around, Subject

__all__ = ["update"]


def update(subject: Subject, around: Around) -> Trait[Update] | None:
    """Decide the strategy, the operation that reads the same resource, and whether a lost race can be noticed."""
    if subject.category is not Category.UPDATE or subject.operation.body is None:
        return None
    reader = around.reader(subject)
    strategy, reason = _strategy(subject, reader, around)
    if reader is None:
        return Trait(Update(strategy=strategy), reason)
    return Trait(Update(strategy=strategy, read=reader.name, etag=_tagged(subject, reader)), reason)


def _strategy(subject: Subject, reader: Subject | None, around: Around) -> tuple[Strategy, Reason]:
    sent = subject.sent or ""
    if sent == JSON_PATCH and not _is_object_as_told(subject, around):
        return "json-patch", Reason("content-type", Evidence.METADATA, 1.0, sent)
    if "merge-patch" in sent:
        return "merge-patch", Reason("content-type", Evidence.METADATA, 1.0, sent)
    if subject.method == "PATCH":
        return "patch", Reason("patch-method", Evidence.RULE, 0.9, sent)
    if subject.method != "PUT":
        return "post", Reason("post-method", Evidence.RULE, 0.8, "what is not sent is taken to stay as it is")
    if reader is None:
        return "put", Reason("put-alone", Evidence.RULE, 0.9, "nothing reads the resource")
    if reader.verb == "list":
        return "put", Reason("put-of-many", Evidence.RULE, 0.85, f"{reader.name} gives a list")
    if not admits_json(sent):
        return "put", Reason("put-no-json", Evidence.RULE, 0.9, sent)
    written, read = (set(around.schemas.properties(schema)) for schema in (subject.body, reader.answer))
    if not written or not read:
        note = f"{reader.name} reads it; their fields are not declared"
        return "put-merge", Reason("put-with-reader", Evidence.HEURISTIC, 0.7, note)
    shared = len(written & read) / len(written)
    if shared >= 0.5:
        return "put-merge", Reason("put-with-reader", Evidence.RULE, 0.95, f"{reader.name} reads what is written")
    note = f"{reader.name} gives {len(written & read)} of the {len(written)} fields that are written"
    return "put", Reason("put-other-shape", Evidence.HEURISTIC, 0.6, note)


def _is_object_as_told(subject: Subject, around: Around) -> bool:
    """Return True if a body declared as JSON Patch, which is an array, has the schema of an object.

    It holds the operations in one of its fields, or it is no patch at all, since the method is not PATCH.
    """
    fields = around.schemas.properties(subject.body)
    if subject.method != "PATCH" and fields:
        return True
    lists = (around.schemas.items(array) for array in fields.values())
    return any({"op", "path"} <= around.schemas.properties(array).keys() for array in lists if array is not None)


def _tagged(subject: Subject, reader: Subject) -> bool:
    """Return True if the API gives an ETag or takes If-Match (RFC 9110, 13.1.1)."""
    conditional = any(
        parameter.location is Location.HEADER and parameter.name.lower() == "if-match"
        for parameter in subject.operation.parameters
    )
    headers = reader.success.headers if reader.success is not None else ()
    return conditional or any(header.lower() == "etag" for header in headers)
