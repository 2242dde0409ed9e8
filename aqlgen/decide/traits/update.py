"""How an update reaches the API: as a patch, or by writing the whole resource (R-UPD-2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Category, Evidence, Reason, Trait
from aqlgen.decide.schemas import Schemas
from aqlgen.ir import Json, Location
from aqlgen.runtime.schema import pointer_of, steps_of
from aqlgen.runtime.table import Strategy, Update
from aqlgen.runtime.text import counted
from aqlgen.runtime.wire import JSON_PATCH, admits_json

from .around import Around, Subject
from .places import DEEPEST, Place, paired

_MOST: Final = 0.5
"""The share of the written fields from which on the reader is sure to read what is written."""
_SEVERAL: Final = 2
"""The fields in common that show that what is called a list is one thing; a list may be the only field of both."""
_SHOWN: Final = 5
_WHOLE: Final = ("whole", "upsert")
"""What the owner says of an update that sends the whole."""


def update(subject: Subject, around: Around) -> Trait[Update] | None:
    """Decide the strategy, the operation that reads the same resource, and whether a lost race can be noticed.

    The owner's word decides where there is one. A document's words never spare an update its read: that all other
    fields are left untouched is said of APIs that reset them, too.
    """
    if subject.category is not Category.UPDATE or subject.operation.body is None:
        return None
    alike = around.lookalike(subject) if subject.send in _WHOLE else around.reader(subject)
    reader = alike if alike is not None and _can_ask(subject, alike) else None
    value, reason = _strategy(subject, reader, around)
    if value.strategy == "put":
        value = replace(value, write_at=_envelope(subject.body, around.schemas))
    if reader is None:
        return Trait(value, reason)
    if value.strategy == "put-merge":
        creates = subject.send == "upsert" or _says_it_creates(subject) or _alone_creates(subject, around)
        value = replace(value, creates=creates)
    elif value.strategy == "json-patch":
        value = replace(value, read_at=_envelope(reader.answer, around.schemas))
    elif reason.rule == "patch-method" and _demands(subject.body, around.schemas):
        whole, _ = _merging(subject, reader, around)
        if whole.strategy == "put-merge":
            value = replace(whole, strategy="patch", fills=True)
    return Trait(replace(value, read=reader.name, etag=_tagged(subject, reader)), reason)


def follows(value: object, send: str | None) -> bool:
    """Return True for an update that sends what the owner says of it."""
    if send is None or not isinstance(value, Update):
        return False
    return value.strategy == "json-patch" or value.strategy == ("patch" if send == "named" else "put-merge")


def replaced(subject: Subject, around: Around) -> str | None:
    """Return why an update may lose what was there, as a note; None if it replaces nothing that it does not name."""
    trait = update(subject, around)
    if trait is None or trait.value.strategy != "put":
        return None
    whole = _resource(subject.body, trait.value.write_at, around.schemas)
    required, fields = around.schemas.required(whole), around.schemas.properties(whole)
    optional = [name for name in fields if name not in required]
    if not optional or len(fields) < 2:  # a call that gives one of one names all
        return None
    shown = ", ".join(optional[:_SHOWN]) + (f" and {len(optional) - _SHOWN} more" if len(optional) > _SHOWN else "")
    return f"it replaces the whole resource, {trait.reason.note}; omitted fields of {shown} may be lost"


def _strategy(subject: Subject, reader: Subject | None, around: Around) -> tuple[Update, Reason]:
    sent = subject.sent or ""
    strategy = patched_as(sent)
    if strategy == "json-patch" and not _is_other_than_told(subject, around):
        return Update(strategy="json-patch"), Reason("content-type", Evidence.METADATA, 1.0, sent)
    if subject.send == "named":
        return Update(strategy="patch"), Reason("send-named", Evidence.OVERRIDE, 1.0, "")
    if subject.send not in _WHOLE:
        if strategy == "merge-patch":
            return Update(strategy="merge-patch"), Reason("content-type", Evidence.METADATA, 1.0, sent)
        if subject.method == "PATCH":
            return Update(strategy="patch"), Reason("patch-method", Evidence.RULE, 0.9, sent)
        if subject.method != "PUT":
            note = "omitted fields are assumed to stay"
            return Update(strategy="post"), Reason("post-method", Evidence.RULE, 0.8, note)
    return _merging(subject, reader, around) if reader is not None else _alone(subject, around)


def _alone(subject: Subject, around: Around) -> tuple[Update, Reason]:
    """Return the strategy of a whole that is not read, and why it is not."""
    alike, note = around.lookalike(subject), "nothing reads the resource"
    if alike is not None:
        is_reader = alike is around.reader(subject)
        note = f"{alike.name} {'needs more than the update has' if is_reader else 'identifies it by another parameter'}"
    return Update(strategy="put"), Reason("put-alone", Evidence.RULE, 0.9, note)


def patched_as(content_type: str) -> Strategy:
    """Return the form of a patch by its content type: RFC 6902, RFC 7396, or another."""
    if content_type == JSON_PATCH:
        return "json-patch"
    merges = content_type.partition("/")[2].partition("+")[0].rpartition(".")[2] == "merge-patch"
    return "merge-patch" if merges else "patch"


def _can_ask(subject: Subject, reader: Subject) -> bool:
    """Return True if an update has every parameter that its reader demands, besides the placeholders of the path."""
    known = {(parameter.location, parameter.name) for parameter in subject.operation.parameters}
    return all(
        (parameter.location, parameter.name) in known
        for parameter in reader.operation.parameters
        if parameter.required and parameter.fixed is None and parameter.location is not Location.PATH
    )


def _unlike(subject: Subject, reader: Subject, schemas: Schemas) -> Reason | None:
    """Return why nothing can be merged into what is read, None if both may be objects in JSON."""
    if not admits_json(subject.sent or ""):
        return Reason("put-no-json", Evidence.RULE, 0.9, f"it is sent as {subject.sent}")
    answers = [media.content_type for media in reader.success.media] if reader.success is not None else []
    if answers and not any(map(admits_json, answers)):
        return Reason("put-no-json", Evidence.RULE, 0.9, f"{reader.name} gives {answers[0]}")
    kinds, answered = schemas.kinds(subject.body), schemas.kinds(reader.answer)
    if kinds and "object" not in kinds:
        return Reason("put-no-object", Evidence.RULE, 0.9, "the update has no fields")
    if "array" in answered:
        return Reason("put-of-many", Evidence.RULE, 0.85, f"{reader.name} gives a list")
    if answered and "object" not in answered:
        return Reason("put-other-shape", Evidence.RULE, 0.9, f"{reader.name} gives no fields")
    return None


def _merging(subject: Subject, reader: Subject, around: Around) -> tuple[Update, Reason]:
    """Decide whether a whole is merged into what is read, by the fields that both declare."""
    schemas = around.schemas
    if (unlike := _unlike(subject, reader, schemas)) is not None:
        return Update(strategy="put"), unlike
    written, read = Place((), schemas.properties(subject.body)), schemas.properties(reader.answer)
    pair = paired(written, Place((), read), schemas) if written.fields and read else None
    if reader.verb == "list" and (pair is None or pair.share < _MOST or pair.shared < _SEVERAL):
        return Update(strategy="put"), Reason("put-of-many", Evidence.RULE, 0.85, f"{reader.name} gives a list")
    if pair is not None:
        value = Update(strategy="put-merge", read_at=pair.read.pointer, write_at=pair.written.pointer)
        if pair.share >= _MOST:
            return value, Reason("put-with-reader", Evidence.RULE, 0.95, f"{reader.name} reads the updated resource")
        note = f"{reader.name} returns {pair.shared} of the {counted(len(pair.written.fields), 'written field')}"
        return value, Reason("put-with-reader-in-part", Evidence.HEURISTIC, 0.75, note)
    if not written.fields or not _declares(reader, around):
        note = f"{reader.name} reads it; their fields are not declared"
        return Update(strategy="put-merge", undeclared=True), Reason("put-with-reader", Evidence.HEURISTIC, 0.7, note)
    note = f"{reader.name} returns none of the {counted(len(written.fields), 'written field')}"
    if subject.send in _WHOLE:
        return Update(strategy="put-merge", undeclared=True), Reason("put-other-shape", Evidence.OVERRIDE, 1.0, note)
    return Update(strategy="put"), Reason("put-other-shape", Evidence.HEURISTIC, 0.6, note)


def _declares(reader: Subject, around: Around) -> bool:
    """Return True if the document says which fields an answer has, those of objects within it included."""
    fields = around.schemas.properties(reader.answer)
    objects = [schema for schema in fields.values() if around.schemas.kinds(schema) <= {"object"}]
    return bool(fields) and all(around.schemas.properties(schema) for schema in objects)


def _says_it_creates(subject: Subject) -> bool:
    """Return True for a PUT that makes what is not there yet (RFC 9110, 9.3.4)."""
    return subject.method == "PUT" and any(response.status == "201" for response in subject.operation.responses)


def _alone_creates(subject: Subject, around: Around) -> bool:
    """Return True for the PUT of a single thing, `/rooms/{id}/lock`, which alone can make again what DELETE removes."""
    methods = {each.method for each in around.of_template(subject.operation.path)}
    is_single = not subject.operation.path.rstrip("/").endswith("}")
    return subject.method == "PUT" and is_single and "DELETE" in methods and "POST" not in methods


def _demands(schema: Json, schemas: Schemas, depth: int = 0) -> bool:
    """Return True if a body, or an object within it, has fields that are required."""
    inner = (field for field in schemas.properties(schema).values() if schemas.kinds(field) <= {"object"})
    return bool(schemas.required(schema)) or (
        depth < DEEPEST and any(_demands(field, schemas, depth + 1) for field in inner)
    )


def _envelope(schema: Json, schemas: Schemas) -> str:
    """Return the pointer to the resource within objects that have it as their only field."""
    steps = list[str]()
    while len(steps) < DEEPEST and len(fields := schemas.properties(schema)) == 1:
        ((name, inner),) = fields.items()
        if not schemas.properties(inner):
            break
        schema, steps = inner, [*steps, name]
    return pointer_of(steps)


def _resource(schema: Json, pointer: str, schemas: Schemas) -> Json:
    """Return the schema at a pointer within a body."""
    for step in steps_of(pointer):
        schema = schemas.properties(schema)[step]
    return schema


def _is_other_than_told(subject: Subject, around: Around) -> bool:
    """Return True if a body declared as JSON Patch is none by its schema: no list of operations on paths (RFC 6902).

    It is a list of other things, it holds the operations in one of its fields, or the method is not PATCH.
    """
    fields = around.schemas.properties(subject.body)
    entries = around.schemas.properties(around.schemas.items(subject.body))
    if entries and "path" not in entries:
        return True
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
