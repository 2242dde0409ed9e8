"""How an update reaches the API: as a patch, or by writing the whole resource (R-UPD-2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Category, Evidence, Reason, Trait
from aqlgen.ir import Location
from aqlgen.runtime.media import JSON_PATCH, admits_json
from aqlgen.runtime.table import Strategy, Update

from .around import Around, Subject
from .places import Place, paired

__all__ = ["patched_as", "replaced", "update"]

_MOST: Final = 0.5
"""The share of the written fields from which on the reader is sure to read what is written."""
_SHOWN: Final = 5
_LONGEST: Final = 4000
_REPLACING: Final = (
    "replaces the entire", "replace the entire", "replaces the whole", "replace the whole", "replaces all fields",
    "replace all fields", "full replacement", "replaces the existing", "completely replaces", "overwrites the entire",
    "overwrites the whole", "overwrites all fields", "is a full update", "fields that are not provided will be removed",
    "fields not provided will be removed", "omitted fields will be removed", "omitted fields are removed",
    "omitted fields will be reset", "omitted fields are reset",
)  # fmt: skip
"""What a document says of an update that replaces, where its method does not."""
_KEEPING: Final = (
    "unspecified fields will remain unchanged", "unspecified fields remain unchanged", "fields will remain unchanged",
    "omitted fields remain unchanged", "omitted fields will not be changed", "omitted fields are left unchanged",
    "only the fields provided", "only provided fields", "only the provided fields", "only the fields specified",
    "only specified fields", "only the specified fields", "only fields that are provided", "not provided will be left",
    "not provided are left unchanged", "not specified will be left", "parameters not provided will be left unchanged",
    "supports partial update", "performs a partial update", "this is a partial update",
)  # fmt: skip
"""What a document says of a PUT that leaves what it lacks."""


def update(subject: Subject, around: Around, *, believing: bool = True) -> Trait[Update] | None:
    """Decide the strategy, the operation that reads the same resource, and whether a lost race can be noticed.

    With `believing` a document's word that a PUT leaves what is not sent counts; it makes nothing less dangerous.
    """
    if subject.category is not Category.UPDATE or subject.operation.body is None:
        return None
    reader = around.reader(subject)
    if reader is not None and not _can_ask(subject, reader):
        reader = None
    if believing and subject.method == "PUT" and _says(subject, _KEEPING) and not _says(subject, _REPLACING):
        value, reason = Update(strategy="patch"), Reason("says-partial", Evidence.METADATA, 0.85, "its text says so")
    else:
        value, reason = _strategy(subject, reader, around)
    if reader is None:
        return Trait(value, reason)
    return Trait(replace(value, read=reader.name, etag=_tagged(subject, reader)), reason)


def replaced(subject: Subject, around: Around) -> str | None:
    """Return why an update may lose what was there, as a note; None if it replaces nothing that it does not name."""
    trait = update(subject, around, believing=False)
    if trait is None or trait.value.strategy != "put":
        return None
    required, fields = around.schemas.required(subject.body), around.schemas.properties(subject.body)
    optional = [name for name in fields if name not in required]
    if not optional or len(fields) < 2:  # a call that gives one of one names all
        return None
    shown = ", ".join(optional[:_SHOWN]) + (f" and {len(optional) - _SHOWN} more" if len(optional) > _SHOWN else "")
    return f"it replaces the whole, {trait.reason.note}; what it lacks of {shown} may be lost"


def _strategy(subject: Subject, reader: Subject | None, around: Around) -> tuple[Update, Reason]:
    sent = subject.sent or ""
    strategy = patched_as(sent)
    if strategy == "merge-patch" or (strategy == "json-patch" and not _is_object_as_told(subject, around)):
        return Update(strategy=strategy), Reason("content-type", Evidence.METADATA, 1.0, sent)
    if subject.method == "PATCH":
        return Update(strategy="patch"), Reason("patch-method", Evidence.RULE, 0.9, sent)
    if subject.method != "PUT" and not _says(subject, _REPLACING):
        note = "what is not sent is taken to stay as it is"
        return Update(strategy="post"), Reason("post-method", Evidence.RULE, 0.8, note)
    if reader is None:
        return Update(strategy="put"), Reason("put-alone", Evidence.RULE, 0.9, "nothing reads the resource")
    if not admits_json(sent):
        return Update(strategy="put"), Reason("put-no-json", Evidence.RULE, 0.9, f"it is sent as {sent}")
    answers = [media.content_type for media in reader.success.media] if reader.success is not None else []
    if answers and not any(map(admits_json, answers)):
        note = f"{reader.name} gives {answers[0]}"
        return Update(strategy="put"), Reason("put-no-json", Evidence.RULE, 0.9, note)
    return _merging(subject, reader, around)


def patched_as(content_type: str) -> Strategy:
    """Return what a patch of a content type sends: RFC 6902, RFC 7396, or a change of another kind."""
    if content_type == JSON_PATCH:
        return "json-patch"
    merges = content_type.partition("/")[2].partition("+")[0].rpartition(".")[2] == "merge-patch"
    return "merge-patch" if merges else "patch"


def _can_ask(subject: Subject, reader: Subject) -> bool:
    """Return True if an update has every parameter that its reader demands, but for the placeholders of the path."""
    known = {(parameter.location, parameter.name) for parameter in subject.operation.parameters}
    return all(
        (parameter.location, parameter.name) in known
        for parameter in reader.operation.parameters
        if parameter.required and parameter.fixed is None and parameter.location is not Location.PATH
    )


def _merging(subject: Subject, reader: Subject, around: Around) -> tuple[Update, Reason]:
    """Decide whether a whole is merged into what is read, by the fields that both declare."""
    schemas = around.schemas
    kinds = schemas.kinds(subject.body)
    if kinds and "object" not in kinds:
        return Update(strategy="put"), Reason("put-no-object", Evidence.RULE, 0.9, "what is written has no fields")
    if reader.verb == "list" or "array" in schemas.kinds(reader.answer):
        return Update(strategy="put"), Reason("put-of-many", Evidence.RULE, 0.85, f"{reader.name} gives a list")
    answered = schemas.kinds(reader.answer)
    if answered and "object" not in answered:
        note = f"{reader.name} gives no fields"
        return Update(strategy="put"), Reason("put-other-shape", Evidence.RULE, 0.9, note)
    written, read = Place((), schemas.properties(subject.body)), schemas.properties(reader.answer)
    if written.fields and read:
        pair = paired(written, Place((), read), schemas)
        if pair is not None:
            value = Update(strategy="put-merge", read_at=pair.read.pointer, write_at=pair.written.pointer)
            if pair.share >= _MOST:
                return value, Reason("put-with-reader", Evidence.RULE, 0.95, f"{reader.name} reads what is written")
            note = f"{reader.name} gives {pair.shared} of the {len(pair.written.fields)} fields that are written"
            return value, Reason("put-with-reader-in-part", Evidence.HEURISTIC, 0.75, note)
    if not written.fields or not _declares(reader, around):
        note = f"{reader.name} reads it; their fields are not declared"
        return Update(strategy="put-merge", undeclared=True), Reason("put-with-reader", Evidence.HEURISTIC, 0.7, note)
    note = f"{reader.name} gives none of the {len(written.fields)} fields that are written"
    return Update(strategy="put"), Reason("put-other-shape", Evidence.HEURISTIC, 0.6, note)


def _declares(reader: Subject, around: Around) -> bool:
    """Return True if the document says which fields an answer has, those of objects within it included."""
    fields = around.schemas.properties(reader.answer)
    objects = [schema for schema in fields.values() if around.schemas.kinds(schema) <= {"object"}]
    return bool(fields) and all(around.schemas.properties(schema) for schema in objects)


def _says(subject: Subject, phrases: tuple[str, ...]) -> bool:
    """Return True if the text of an update has one of the phrases."""
    text = " ".join(f"{subject.operation.summary} {subject.operation.description}".lower().split())[:_LONGEST]
    return any(phrase in text for phrase in phrases)


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
