# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The examination of a running adapter: it is asked what it offers, every operation is called, every request judged.

What the adapter shows is taken for names alone. What a call gives is made from the document, and has to arrive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .arrival import lost
from .comparison import Adapter, Types
from .document import Document, Operation, Parameter, is_filled, normal
from .judge import Finding, Grade, Judgement, Request, judge
from .project import Owner, documents, overlaid, read
from .rules import danger_problem, family_problem, listed_problems
from .samples import ABSENT, PAGE_ITEMS, Answer, answer_of, paging_of, sample
from .shown import Shown

__all__ = ["Witness"]

_PROTOCOL = frozenset((
    "introspect", "confirm_operation", "run_steps", "get_execution_status", "cancel_execution", "abort_execution",
    "complete_execution", "execute_agent", "record_execution_step", "verify_challenge", "get_quota_status",
))  # fmt: skip
_MOST_TURNS = 6
_BYTES = "aGVsbG8="


class Witness:
    """The documents of a project, read a second time. `base` is the address that the adapter was given, if any.

    Raises OSError or ValueError if a file cannot be read. A project that was made from an adapter element has no
    document, and nothing is found in it.
    """

    def __init__(self, folder: Path, base: str | Mapping[str, str] = "") -> None:
        owner, self.base = Owner(folder), base
        read_documents, self._beyond = [], []
        for api, path in documents(folder):
            root = read(path)
            self._beyond += overlaid(root, path)
            file = path.relative_to(folder).as_posix()
            read_documents.append(Document(root, owner, api, file))
        self.documents = tuple(read_documents)
        self._starts: dict[str, int] = {}
        files = [file for place in ("openapi/workflows", "openapi/*/workflows") for file in folder.glob(f"{place}/*.*")]
        plans = [plan for file in files for plan in read(file).get("workflows") or ()]
        self._plans = {normal(str(plan.get("workflowId"))) for plan in plans}

    @property
    def addresses(self) -> dict[str, str]:
        """The base address of each API, "" where its document has no complete one."""
        firsts = {each.api: each.operations[0].address for each in self.documents if each.operations}
        return {api: url if url.startswith("http") and "{" not in url else "" for api, url in firsts.items()}

    def judge(self, request: Request) -> Judgement:
        """Judge a request by the documents."""
        return judge(self.documents, request, self.base)

    def answer(self, request: Request) -> Answer:
        """Answer a request as the API's document has it; 404 to what is in no document."""
        operation = self.judge(request).operation
        missing = Answer(404, {"content-type": "application/json"}, b'{"message": "not in the document"}')
        return missing if operation is None else answer_of(operation, request.url, self._starts)

    async def examine(self, adapter: Adapter, sample: int = 0) -> list[Finding]:
        """Examine an adapter, about `sample` of its operations, 0 for all; the gravest findings come first."""
        findings = [
            Finding(Grade.DOCUMENT, target, "the witness cannot follow this overlay") for target in self._beyond
        ]
        listed = [
            each for each in (await adapter.introspect(query="operations", all=True))["operations"]
            if each["name"] not in _PROTOCOL and normal(each["name"]) not in self._plans
        ]  # fmt: skip
        chosen = listed[:: max(1, round(len(listed) / sample))] if sample else listed
        reached: dict[str, list[str]] = {}
        types = Types(adapter)
        for entry in chosen if self.documents else ():
            examination = _Examination(self, adapter, types, entry, findings)
            operation = await examination.run()
            if operation is not None:
                reached.setdefault(operation.key, []).append(entry["name"])
        operations = {each.key: each for document in self.documents for each in document.operations}
        is_sure = sum(map(len, reached.values())) == len(listed)
        findings += listed_problems(operations, reached, is_whole=len(chosen) == len(listed), is_sure=is_sure)

        order = list(Grade)
        unsure = Grade.DOCUMENT if self._beyond else None
        unique = dict.fromkeys(
            Finding(unsure or each.grade, each.operation, each.text, each.pointer) for each in findings
        )
        return sorted(unique, key=lambda finding: order.index(finding.grade))


@dataclass
class _Examination:
    """The examination of one operation that the adapter lists."""

    witness: Witness
    adapter: Adapter
    types: Types
    entry: Mapping[str, Any]
    findings: list[Finding]
    operation: Operation | None = None
    media: str = ""
    shown: Shown = field(init=False)

    def say(self, grade: Grade, text: str) -> None:
        """Note a finding."""
        pointer = "" if self.operation is None else f"{self.operation.document.file}#{self.operation.pointer}"
        if self.operation is not None and self.operation.is_shared:
            grade = max(grade, Grade.LOOK, key=list(Grade).index)
        self.findings.append(Finding(grade, self.entry["name"], text, pointer))

    async def run(self) -> Operation | None:
        """Examine the operation, and return that of the document which it calls."""
        name = self.entry["name"]
        details = (await self.adapter.introspect(query="operations", name=name)).get("operation")
        if not details:
            self.say(Grade.BROKEN, "is listed, and introspection has no details of it")
            return None
        self.shown = Shown(self.types, details)
        await self._find(details)
        operation = self.operation
        if operation is None:
            return None
        if operation.owner.get("hidden"):
            self.say(Grade.WRONG, "is offered, and the owner left it out")
        await self.shown.place(operation, self.media)
        self._word(operation, await self.adapter.introspect(query="danger", name=name))
        shown = [*await self.shown.problems(operation, self.media), *await self.shown.answer_problems(operation)]
        for grade, text in shown:
            self.say(grade, text)
        if operation.raw.get("deprecated") is True and "deprecated" not in json.dumps(details).lower():
            self.say(Grade.WRONG, "is deprecated, and shown without that")
        for turn in range(self._turns(operation) + 1):
            await self._called(operation, turn)
        await self._bare(operation)
        await self._refused(operation)
        await self._paged(operation)
        return operation

    async def _find(self, details: Mapping[str, Any]) -> None:
        """Call the operation's own example, and take the operation whose request it makes."""
        for example in details.get("examples") or [{"request": {"params": {}}}]:
            judgements, envelope = await self._call(example["request"].get("params") or {})
            if not judgements:
                grade = Grade.LOOK if not details.get("examples") or _is_denied(envelope) else Grade.BROKEN
                self.say(grade, f"its example sends nothing: {_short(envelope)}")
            main = _main(judgements)
            self.operation = None if main is None else main.operation
            self._judged(judgements, "its example")
            if main is not None:
                return

    async def _call(self, params: Mapping[str, Any]) -> tuple[list[tuple[Request, Judgement]], Mapping[str, Any]]:
        self.adapter.requests()
        envelope = await self.adapter.call(self.entry["endpoint"], self.entry["name"], params)
        requests = self.adapter.requests()
        headers = [header for request in requests if request.content for header in request.headers]
        kinds = [value.partition(";")[0].lower() for name, value in headers if name.lower() == "content-type"]
        self.media = self.media or next(iter(kinds), "")
        return [(request, self.witness.judge(request)) for request in requests], envelope

    def _judged(self, judgements: Iterable[tuple[Request, Judgement]], call: str) -> None:
        for _, judgement in judgements:
            for grade, text in judgement.problems:
                self.say(grade, f"{call}: {text}")

    def _word(self, operation: Operation, data: Mapping[str, Any]) -> None:
        """Compare family and danger with what the method allows, or the owner said."""
        danger = ((data.get("operation") or {}).get("danger") or {}).get("level", "")
        for problem in (family_problem(operation, self.entry["semantic_category"]),
                        danger_problem(operation, self.entry["semantic_category"], danger)):  # fmt: skip
            if problem is not None:
                self.say(*problem)

    def _turns(self, operation: Operation) -> int:
        """Return how many calls it takes for each member of an enumeration to be sent once."""
        document = operation.document
        schemas = [each.schema for each in operation.parameters]
        body = operation.body(self.media)
        schemas += list(document.properties(body.schema).values()) if body is not None else []
        schemas += [document.items(schema) for schema in schemas]
        members = [len(part["enum"]) for schema in schemas for part in document.parts(schema)
                   if isinstance(part.get("enum"), list)]  # fmt: skip
        return min(_MOST_TURNS, max([2, *members]))

    async def _called(self, operation: Operation, turn: int) -> None:
        """Call with values of the document, in turn 0 with what is required alone, and see that they arrive."""
        values = self._given(operation, required=not turn, turn=turn)
        if values is None:
            return
        params = self.shown.params(values) | ({"fields": "full"} if turn and self.shown.selects else {})
        judgements, envelope = await self._call(params)
        call = "with all parameters" if turn else "with the required parameters"
        main = _main(judgements)
        if main is None or (envelope.get("success") is False and not any(each.operation for _, each in judgements)):
            grade = Grade.LOOK if _is_denied(envelope) else Grade.WRONG if turn else Grade.BROKEN
            self.say(grade, f"{call}: it sends nothing: {_short(envelope)} for {json.dumps(params)[:150]}")
            return
        self._judged(judgements, call)
        if main.operation is operation:
            before = [request for request, judgement in judgements if judgement is not main and request.method == "GET"]
            answers = [self.witness.answer(request).data for request in before]
            sent = next(request for request, judgement in judgements if judgement is main)
            tags = [self.witness.answer(request).headers.get("etag") for request in before]
            if any(tags) and "if-match" not in {name.lower() for name, _ in sent.headers}:
                self.say(Grade.WRONG, f"{call}: it writes what it read without If-Match")
            for text in lost(operation, values, main, answers):
                self.say(Grade.WRONG, f"{call}: {text}")
            for grade, text in await self.shown.name_problems(operation, envelope.get("data")) if turn == 1 else ():
                self.say(grade, text)

    def _given(self, operation: Operation, *, required: bool, turn: int) -> dict[tuple[str, str], Any] | None:
        """Return values by place and wire name; None if one that is required cannot be made."""
        values: dict[tuple[str, str], Any] = {}
        for parameter in operation.parameters:
            key = (parameter.place, parameter.name)
            if key not in self.shown.names or (required and not parameter.required):
                continue
            value = sample(operation.document, parameter.schema, turn, name=parameter.name)
            if value is not ABSENT and value not in ("", [], {}):
                values[key] = value
            elif parameter.required:
                return None
        body = operation.body(self.media)
        if body is not None and not (required and not operation.body_required and not self.shown.needs_body):
            textual = re.search("json|form|text|xml|yaml|^$", self.media)
            value = (
                sample(operation.document, body.schema, turn, name="body")
                if textual and not self.shown.takes_file
                else _BYTES
            )
            if isinstance(value, dict):
                value = {name: each for name, each in value.items() if self.shown.takes(name)}
            if value is ABSENT:
                return None if operation.body_required or self.shown.needs_body else values
            if required and isinstance(value, dict):
                needed = operation.document.required(body.schema)
                least = {name: each for name, each in value.items() if name in needed}
                value = value if operation.document.problems(body.schema, least) or not least else least
            values["body", ""] = value
        return values

    async def _bare(self, operation: Operation) -> None:
        """Call without any field of a body that is required: the body is sent all the same, or the call refused."""
        values = self._given(operation, required=True, turn=0)
        if values is not None and ("body", "") in values and operation.body_required and not self.shown.whole:
            judgements, _ = await self._call(self.shown.params({**values, ("body", ""): {}}))
            self._judged(judgements, "without a field")

    async def _refused(self, operation: Operation) -> None:
        """Leave out each parameter that is required; nothing may be sent then."""
        values = self._given(operation, required=True, turn=0) or {}
        body = operation.body(self.media)
        needed = {(each.place, each.name) for each in operation.parameters if each.required and not _may_lack(each)}
        params, names = self.shown.params(values), {name for key, name in self.shown.names.items() if key in needed}
        if body is not None and operation.body_required:
            required = {name for name in operation.document.required(body.schema) if not is_filled(name)}
            fields = {("body", name) for name in required} & self.shown.names.keys()
            names |= {self.shown.whole} if self.shown.whole else {self.shown.names[key] for key in fields}
        for missing in sorted(names & params.keys()):
            judgements, _ = await self._call({name: value for name, value in params.items() if name != missing})
            if any(request.method == operation.method for request, _ in judgements):
                self.say(Grade.WRONG, f"{missing} is required, and a call without it is sent")

    async def _paged(self, operation: Operation) -> None:
        """Read a list from its first page to its last: each item must come once."""
        paging, pages = paging_of(operation), {"first", "after"} <= self.shown.entries.keys()
        if paging is None or operation.owner.get("pagination") is not None:
            return
        if not pages:
            self.say(Grade.LOOK, f"its list pages by {paging[1]}, and `first` and `after` are not offered")
            return
        values = self._given(operation, required=True, turn=0)
        params = None if values is None else self.shown.params(values)
        items: list[str] = []
        cursor, count = None, 0
        while params is not None and count < PAGE_ITEMS:
            page = {"first": 2, "fields": "full"} | ({"after": cursor} if cursor else {})
            judgements, envelope = await self._call({**params, **page})
            self._judged(judgements, "a page")
            for _, judgement in judgements:
                if paging[2] and judgement.values.get(("query", paging[2])) != 2:
                    self.say(Grade.WRONG, f"a page of 2 is not asked for by {paging[2]}=2")
            data = envelope.get("data") or {}
            if not isinstance(data, dict) or not isinstance(data.get("items"), list):
                self.say(Grade.WRONG, f"gives no page: {_short(envelope)}")
                return
            items += [json.dumps(item, sort_keys=True) for item in data["items"]]
            info, count = data.get("pageInfo") or {}, count + 1
            cursor = info.get("endCursor")
            if not info.get("hasNextPage"):
                break
        if params is not None and (len(items), len(set(items))) != (PAGE_ITEMS, PAGE_ITEMS):
            self.say(
                Grade.WRONG if paging[2] else Grade.LOOK,
                f"its pages give {len(set(items))} of {PAGE_ITEMS} items, {len(items)} in all",
            )


def _main(judgements: Iterable[tuple[Request, Judgement]]) -> Judgement | None:
    """Return the judgement of the request that does what the operation is for: the last that is no read, if any."""
    known = [each for each in judgements if each[1].operation is not None]
    writes = [each for each in known if each[0].method not in ("GET", "HEAD")]
    return (writes or known)[-1][1] if known else None


def _may_lack(parameter: Parameter) -> bool:
    """Return True for a parameter that a default can fill."""
    parts = (parameter.schema, parameter.owner)
    known = {"default", "const"}
    return is_filled(parameter.name) or any(known & part.keys() for part in parts if isinstance(part, dict))


def _short(envelope: Mapping[str, Any]) -> str:
    error = envelope.get("error") or envelope
    return str(error.get("message", error))[:200]


def _is_denied(envelope: Mapping[str, Any]) -> bool:
    """Return True for a call that is refused for want of a credential or an accepted host."""
    return str((envelope.get("error") or {}).get("code", "")).startswith("PERMISSION")
