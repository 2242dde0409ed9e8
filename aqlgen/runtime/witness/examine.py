"""The examination of a running adapter: it is asked what it offers, every operation is called, every request judged.

What the adapter shows is taken for names alone. What a call gives is made from the document, and has to arrive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from .answers import COUNTS, PAGE_ITEMS, TAG, Answer, answer_of, paging_of
from .arrival import lost, unanswered
from .document import Document, Operation, Parameter, normal
from .judge import Finding, Grade, Judgement, Request, judge
from .project import Owner, documents, overlaid, read, reviewed, unserved
from .rules import rule_problems
from .samples import ABSENT, apart, sample
from .shown import Adapter, Shown
from .table import Table
from .types import Types

_PROTOCOL = frozenset((
    "introspect", "confirm_operation", "run_steps", "get_execution_status", "cancel_execution", "abort_execution",
    "complete_execution", "execute_agent", "record_execution_step", "verify_challenge", "get_quota_status",
))  # fmt: skip
_MOST_TURNS = 6
EXAMPLE, CALLS = "its example", ("with the required parameters", "with all parameters")
"""How findings begin that are of the calls of an operation."""
NO_TYPE = "is named as a type, and cannot be shown"
_BYTES = "aGVsbG8="
_MISSING = Answer(404, {"content-type": "application/json"}, b'{"message": "not in the document"}')


class Witness:
    """The documents of a project, read a second time. `base` is the address that the adapter was given, if any.

    Raises OSError or ValueError if a file cannot be read. A project that was made from an adapter element has no
    document, and nothing is found in it.
    """

    def __init__(self, folder: Path, base: str | Mapping[str, str] = "") -> None:
        owner, self.base = Owner(folder), base
        known, self.unfollowed = [], []
        for api, path in documents(folder):
            root, unknown = overlaid(read(path), path)
            self.unfollowed += unknown
            known.append(Document(root, owner, api, path.relative_to(folder).as_posix()))
        self.documents = tuple(known)
        self.reviewed, self._unserved, self.table = reviewed(folder), unserved(folder), Table(folder)
        self._starts: dict[str, int] = {}
        files = [file for place in ("openapi/workflows", "openapi/*/workflows") for file in folder.glob(f"{place}/*.*")]
        self._plans = {normal(plan.get("workflowId")) for file in files for plan in read(file).get("workflows") or ()}

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
        return _MISSING if operation is None else answer_of(operation, request.url, self._starts)

    async def examine(self, adapter: Adapter, sample: int = 0) -> list[Finding]:
        """Examine an adapter, about `sample` of its operations, 0 for all; the gravest findings come first."""
        listed = [
            each for each in (await adapter.introspect(query="operations", all=True))["operations"]
            if each["name"] not in _PROTOCOL and normal(each["name"]) not in self._plans
        ]  # fmt: skip
        chosen = listed[:: max(1, round(len(listed) / sample))] if sample else listed
        unfollowed = [
            Finding(Grade.DOCUMENT, each, "the witness cannot follow this overlay") for each in self.unfollowed
        ]
        reached: dict[str, list[str]] = {}
        findings, types = [], Types(adapter.introspect)
        for entry in chosen if self.documents else ():
            examination = _Examination(self, adapter, types, entry)
            await examination.run()
            findings += examination.findings
            if examination.operation is not None:
                reached.setdefault(examination.operation.key, []).append(entry["name"])
        findings += [Finding(Grade.WRONG, name, NO_TYPE) for name in sorted(types.unknown)]
        findings += [Finding(Grade.WRONG, "adapter.json", text) for text in self.table.differences(self.documents)]
        if len(chosen) == len(listed) or not sample:
            findings += self._unreached(reached, is_sure=sum(map(len, reached.values())) == len(listed))
        if self.unfollowed:
            findings = [Finding(Grade.DOCUMENT, each.operation, each.text, each.pointer) for each in findings]
        order = list(Grade)
        return sorted(dict.fromkeys(unfollowed + findings), key=lambda finding: order.index(finding.grade))

    def _unreached(self, reached: Mapping[str, list[str]], *, is_sure: bool) -> Iterator[Finding]:
        """Yield the operations of the documents that several operations of the adapter reach, or none."""
        for operation in (each for document in self.documents for each in document.operations if not each.is_shared):
            names, pointer = reached.get(operation.key, []), f"{operation.document.file}#{operation.pointer}"
            if len(names) > 1:
                yield Finding(Grade.BROKEN, operation.key, f"is reached by {' and '.join(names)}", pointer)
            elif not (names or operation.owner.get("hidden") or operation.method in ("OPTIONS", "TRACE")):
                grade = Grade.WRONG if is_sure and operation.key not in self._unserved else Grade.LOOK
                yield Finding(grade, operation.key, "no operation reaches it", pointer)


class _Examination:
    """The examination of one operation that the adapter lists."""

    def __init__(self, witness: Witness, adapter: Adapter, types: Types, entry: Mapping[str, Any]) -> None:
        self._witness, self._adapter, self._types, self._entry = witness, adapter, types, entry
        self.findings: list[Finding] = []
        self.operation: Operation | None = None
        self._media, self._family = "", str(entry["semantic_category"])

    def _say(self, grade: Grade, text: str) -> None:
        operation, pointer = self.operation, ""
        if operation is not None:
            pointer = f"{operation.document.file}#{operation.pointer}"
            grade = Grade.LOOK if operation.is_shared and grade is not Grade.DOCUMENT else grade
        self.findings.append(Finding(grade, self._entry["name"], text, pointer))

    async def run(self) -> None:
        """Examine the operation."""
        name = self._entry["name"]
        details = (await self._adapter.introspect(query="operations", name=name)).get("operation")
        if not details:
            self._say(Grade.BROKEN, "is listed, and introspection has no details of it")
            return
        row = self._witness.table.rows.get((name, self._family.lower()))
        if row is None:
            self._say(Grade.BROKEN, "is in no file of the table")
            return
        self._shown = Shown(self._types, details, row)
        await self._find(details)
        operation = self.operation
        if operation is None:
            return
        if operation.owner.get("hidden") is True:
            self._say(Grade.WRONG, "is offered, and the owner left it out")
        answer = (await self._adapter.introspect(query="danger", name=name)).get("operation") or {}
        level, asked = str((answer.get("danger") or {}).get("level", "")), answer.get("asked", "never")
        effects = sorted({"money", "access", "people", "ends"} & set(answer.get("effects") or ()))
        seen, known = (self._family, level, asked, *effects), self._witness.reviewed
        if known and known.get(name) != seen:
            self._say(Grade.WRONG, f"is {seen}, and reviewed as {known.get(name)} in OPERATIONS.md")
        await self._shown.place(operation, self._media)
        for problem in rule_problems(operation, name, self._family, level):
            self._say(*problem)
        texts = await self._shown.problems(operation, self._media)
        texts += await self._witness.table.row_differences(row, operation, self._media, self._types)
        for text in texts:
            self._say(Grade.WRONG, text)
        for turn in range(self._turns(operation) + 1):
            await self._called(operation, turn)
        await self._paged(operation)

    async def _find(self, details: Mapping[str, Any]) -> None:
        """Call the operation's own example, and take the operation whose request it makes."""
        for example in details.get("examples") or [{"request": {}}]:
            params = example["request"].get("params") or {}
            params |= dict.fromkeys(params.keys() & self._shown.tags, TAG)
            main, _, envelope = await self._call(params, EXAMPLE)
            if main is not None:
                if not envelope.get("success"):
                    is_asked = "MISSING" in str(envelope.get("error"))  # for what the read of an update does not give
                    self.operation = None if is_asked else self.operation
                    text = f"{EXAMPLE} fails: {_short(envelope)}"
                    self._say_unsent(Grade.LOOK if is_asked else Grade.BROKEN, text, envelope)
                return
            grade = Grade.BROKEN if details.get("examples") else Grade.LOOK
            self._say_unsent(grade, f"{EXAMPLE} sends nothing: {_short(envelope)}", envelope)

    def _say_unsent(self, grade: Grade, text: str, envelope: Mapping[str, Any]) -> None:
        """Note a call that sends nothing; a want of a credential or accepted host is not its fault."""
        is_denied = str((envelope.get("error") or {}).get("code", "")).startswith("PERMISSION")
        self._say(Grade.LOOK if is_denied else grade, text)

    async def _call(self, params: Mapping[str, Any], call: str) -> tuple[Judgement | None, list[Judgement], Any]:
        """Call, and return the judgement of the request that the call is for, those beside it, and the envelope."""
        self._adapter.requests()
        envelope = await self._adapter.call(self._entry["endpoint"], self._entry["name"], params)
        judgements = [self._witness.judge(request) for request in self._adapter.requests()]
        writes = [each for each in judgements if each.request.method not in ("GET", "HEAD")]
        main = next(reversed(writes or judgements), None)
        if main is not None and self.operation is None:
            name, self._media = normal(self._entry["name"]), main.media
            named = (each for each in main.matches if normal(each.raw.get("operationId")) == name)
            self.operation = next(named, main.operation)
        others = [each for each in judgements if each is not main]
        for judgement in judgements:
            for grade, text in judgement.problems:
                is_merged = bool(others) and text.startswith("body/")  # what was read and is not named
                is_unsure = grade is Grade.WRONG and (judgement is not main or is_merged or call == EXAMPLE)
                self._say(Grade.LOOK if is_unsure else grade, f"{call}: {text}")
        return main, others, envelope

    def _turns(self, operation: Operation) -> int:
        """Return how many calls it takes for each member of an enumeration to be sent once."""
        document, body = operation.document, operation.body(self._media)
        schemas = [each.schema for each in operation.parameters]
        schemas += document.properties(body.schema).values() if body is not None else ()
        schemas += [document.items(each) for each in schemas]
        members = [len(part.get("enum") or ()) for schema in schemas for part in document.parts(schema)]
        return min(_MOST_TURNS, max([2, *members]))

    async def _called(self, operation: Operation, turn: int) -> None:
        """Call with values of the document, in turn 0 with what is required alone, and see that they arrive."""
        values = self._given(operation, turn)
        if values is None:
            return
        shown, call = self._shown, CALLS[min(turn, 1)]
        params = shown.params(values) | shown.in_full
        main, others, envelope = await self._call(params, call)
        if main is None:
            text = f"{call}: it sends nothing: {_short(envelope)} for {json.dumps(params)[:150]}"
            self._say_unsent(Grade.WRONG if turn else Grade.BROKEN, text, envelope)
        elif main.operation is operation:
            answers = [self._witness.answer(each.request) for each in others if each.request.method == "GET"]
            texts = [*lost(operation, values, main, answers, self._family, shown.names)]
            paging, answer = paging_of(operation), self._witness.answer(main.request)
            if shown.answers_whole and operation.method != "HEAD" and envelope["success"]:
                texts += unanswered(answer, envelope, paging and paging.field)
            texts += await shown.misnamed(operation.success[0], envelope.get("data"), paging.field if paging else "")
            for text in texts:
                self._say(Grade.WRONG, f"{call}: {text}")

    def _given(self, operation: Operation, turn: int) -> dict[tuple[str, str], Any] | None:
        """Return values by place and wire name, in turn 0 of what is required; None if one cannot be made."""
        values: dict[tuple[str, str], Any] = {}
        for parameter in operation.parameters:
            if self._shown.gives(parameter.key) and (turn or parameter.required):
                value = self._value(operation, parameter, turn)
                if value is ABSENT and parameter.required:
                    return None
                if value not in (ABSENT, "", [], {}):
                    values[parameter.key] = value
        body = operation.body(self._media)
        if body is not None and (turn or self._shown.needs_body or _needs(operation, body.schema)):
            value = self._body(operation, body.schema, turn)
            if value is ABSENT:
                return None
            if value != {} or self._shown.whole:
                values["body", ""] = value
        return values

    def _value(self, operation: Operation, parameter: Parameter, turn: int) -> Any:
        """Return a value of a parameter, the second of an enumeration for an empty one; of any object one with a field.

        Pairs of an object that have the name of another parameter, or of a pair of another object, are left out.
        """
        first, second = (
            sample(operation.document, parameter.schema, turn + at, name=parameter.name) for at in range(2)
        )
        value = TAG if normal(parameter.name) == "ifmatch" else second if first == "" else first
        value = apart(value, parameter.style)
        names = operation.names_beside(parameter)
        if parameter.place == "path" and isinstance(value, str) and re.search(r"\}[^/{}]+\{", operation.path):
            return re.sub(r"\W", "", value)  # no sign says where it ends
        if isinstance(value, dict) and operation.is_loose(parameter) and names & value.keys():
            self._say(Grade.DOCUMENT, f"{parameter.name} has fields of other parameters, too")
            return {name: each for name, each in value.items() if name not in names} or ABSENT
        return {"key": "x"} if value == {} and parameter.required else value

    def _body(self, operation: Operation, schema: Any, turn: int) -> Any:
        media = self._media or min(operation.bodies, key=lambda name: "json" not in name)
        if "json" not in media and (self._shown.takes_file or not re.search("form|text|xml|yaml|\\*", media)):
            return _BYTES
        document, value = operation.document, sample(operation.document, schema, turn, name="body")
        if media.startswith("text/plain"):
            return value if isinstance(value, str | int | float) else "text"
        if not isinstance(value, dict):
            is_form = "form" in media and value is not ABSENT  # a form has fields, whatever is known of them
            return {"key": "x"} if is_form else value
        value = {name: each for name, each in value.items() if self._shown.takes(name)}
        least = {name: each for name, each in value.items() if name in document.required(schema)}
        least = least or dict(islice(value.items(), 1))
        is_base = bool(document.subtypes(document.deref(schema)))  # whose problems are not those of its subtype
        return value if turn or is_base or not least or document.problems(schema, least) else least

    async def _paged(self, operation: Operation) -> None:
        """Read a list from its first page to its last: each item must come once."""
        paging, values = paging_of(operation), self._given(operation, 0)
        if paging is None or operation.owner.get("pagination") is not None or values is None:
            return
        if not self._shown.pages:
            self._say(Grade.LOOK, f"its list pages by {paging.lead}, and `first` and `after` are not offered")
            return
        items: list[str] = []
        sizes = [operation.document.at(each.schema) for each in operation.parameters if each.name == paging.size]
        size = max([2, *(int(each.get("minimum", 2)) for each in sizes)])
        page: dict[str, Any] = {"first": size, **self._shown.in_full}
        for most in (each["maximum"] for each in sizes if "maximum" in each):
            await self._call({**self._shown.params(values), "first": int(most) + 1}, "a page that is too large")
        for _ in range(PAGE_ITEMS):
            main, _, envelope = await self._call({**self._shown.params(values), **page}, "a page")
            if paging.size and main is not None and str(main.values.get(("query", paging.size))) != str(size):
                self._say(Grade.WRONG, f"a page of {size} is not asked for by {paging.size}={size}")
            data = envelope.get("data")
            if not isinstance(data, dict) or not isinstance(data.get("items"), list):
                self._say(Grade.WRONG, f"gives no page: {_short(envelope)}")
                return
            items += [json.dumps(item, sort_keys=True) for item in data["items"]]
            info, sent = data.get("pageInfo") or {}, main and self._witness.answer(main.request).data
            total = isinstance(sent, dict) and any(normal(name) in COUNTS and sent[name] == PAGE_ITEMS for name in sent)
            if total and "after" not in page and info.get("hasNextPage") and info.get("totalCount") != PAGE_ITEMS:
                self._say(Grade.WRONG, f"its answer counts {PAGE_ITEMS} items, pageInfo says {info.get('totalCount')}")
            page["after"] = info.get("endCursor")
            if not info.get("hasNextPage"):
                break
        if not len(items) == len(set(items)) == PAGE_ITEMS:
            text = f"its pages give {len(set(items))} of {PAGE_ITEMS} items, {len(items)} in all"
            self._say(Grade.WRONG if paging.size else Grade.LOOK, text)


def _needs(operation: Operation, schema: Any) -> bool:
    """Return True for a body that must be sent: where the document does not say it, one that cannot be empty."""
    required = operation.body_required
    return bool(operation.document.problems(schema, {})) if required is None else required


def _short(envelope: Mapping[str, Any]) -> str:
    error = envelope.get("error") or envelope
    return str(error.get("message", error))[:200]
