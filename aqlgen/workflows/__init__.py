"""Arazzo documents beside the API's: each workflow becomes an operation that runs a plan of steps.

In: the documents as they were read, and the table. Out: the workflows, and a diagnostic for each one that cannot be
said as a plan, which is left out. There is no second engine: what a workflow does is what `run_steps` does with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from aqlgen.decide.naming.spelling import fit, hashed
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.positions import split
from aqlgen.document.read import Source
from aqlgen.document.texts.instructions import instruction_in
from aqlgen.ir import Json
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.schema import JSON_TYPES
from aqlgen.runtime.steps.plan import check_plan, read_plan
from aqlgen.runtime.steps.references import INPUTS
from aqlgen.runtime.table import ADAPTER, Parameter, Row, Workflow
from aqlgen.runtime.table.row import DangerLevel
from aqlgen.runtime.text import without_unseen
from aqlgen.schemas import shorten
from aqlgen.table.model import Table
from aqlgen.words import snake
from aqlgen.words import split as words_of
from aqlgen.workflows.expressions import Scope, UnsayableError, member
from aqlgen.workflows.steps import Api, write_step

_MOST: Final = 200
_DANGERS: Final[Sequence[str]] = get_args(DangerLevel)
_FORM: Final = "Write an Arazzo 1.0 document; see https://spec.openapis.org/arazzo/latest.html"

Text = Callable[[Json, str], str]
"""Returns a text of the document as agents may read it; the second argument is its pointer."""
_KEPT: Final[Mapping[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (int, float)),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), int),
}
"""Bounds that stay, with the type of each."""
_FORMATS: Final = ("date", "date-time", "uuid", "email", "uri", "password")
_DEPTH: Final = 6
_MOST_INPUTS: Final = 100
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Translated:
    """The workflows, sorted by name, and what there is to say of their documents."""

    workflows: tuple[Workflow, ...]
    diagnostics: tuple[Diagnostic, ...]


def translate(sources: Sequence[Source], table: Table, taken: Iterable[str] = ()) -> Translated:
    """Return the workflows of documents; `taken` are names of other APIs.

    Raises DocumentError for what is not an Arazzo 1.0 document.
    """
    rows = tuple(decided.row for decided in table.rows)
    taken = {*taken, *(name for row in rows for name in (row.name, *(alias.name for alias in row.aliases)))}
    workflows: dict[str, Workflow] = {}
    diagnostics: list[Diagnostic] = []
    for source in sources:
        document = _Document(source, rows, table, taken)
        for workflow in document.workflows():
            workflows[workflow.name] = workflow
        diagnostics += document.diagnostics
    return Translated(tuple(workflows[name] for name in sorted(workflows)), tuple(diagnostics))


class _Document:
    def __init__(self, source: Source, rows: tuple[Row, ...], table: Table, taken: set[str]) -> None:
        self._file = source.name
        self._root: Mapping[str, Json] = source.root if isinstance(source.root, dict) else {}
        self._rows = rows
        self._table = table
        self._taken = taken
        self.diagnostics: list[Diagnostic] = []

    def workflows(self) -> Iterator[Workflow]:
        """Yield the workflows that a plan can say."""
        version, entries = self._root.get("arazzo"), self._root.get("workflows")
        if not isinstance(version, str) or version.split(".")[:2] != ["1", "0"]:
            raise self._refusal("this is not an Arazzo 1.0 document", "/arazzo" if "arazzo" in self._root else "")
        if not isinstance(entries, list) or len(entries) > _MOST:
            raise self._refusal(f"workflows is not a list of up to {_MOST}", "/workflows")
        try:
            api = self._api()
        except UnsayableError as problem:
            self._leave_out("none of its workflows is served", problem)
            return
        for index, entry in enumerate(entries):
            pointer = f"/workflows/{index}"
            name = entry.get("workflowId") if isinstance(entry, dict) else None
            try:
                workflow = self._workflow(entry, api, pointer)
            except UnsayableError as problem:
                self._leave_out(f"the workflow {str(name)[:80]} is left out", problem)
                continue
            self._taken.add(workflow.name)
            yield workflow

    def _api(self) -> Api:
        descriptions = self._root.get("sourceDescriptions")
        sources = [
            entry
            for entry in (descriptions if isinstance(descriptions, list) else [])
            if isinstance(entry, dict) and entry.get("type", "openapi") == "openapi"
        ]
        if len(sources) != 1:
            raise UnsayableError(
                f"the document is about {len(sources)} APIs, and an adapter is about one", "/sourceDescriptions"
            )
        components = self._root.get("components")
        name = str(sources[0].get("name"))
        return Api(self._rows, name, components if isinstance(components, dict) else {})

    def _workflow(self, entry: Json, api: Api, pointer: str) -> Workflow:
        workflow_id = entry.get("workflowId") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(workflow_id, str) or not workflow_id:
            raise UnsayableError("it has no workflowId", pointer)
        for key in ("dependsOn", "successActions", "failureActions"):
            if entry.get(key):
                raise UnsayableError(f"a plan has nothing for {key}", member(pointer, key))
        inputs = _inputs_of(self._root, entry.get("inputs"), member(pointer, "inputs"), self._text)
        scope = Scope({parameter.wire: name for name, parameter in inputs.items()})
        written = self._steps(entry, api, scope, member(pointer, "steps"))
        outputs = self._outputs(entry.get("outputs"), scope, member(pointer, "outputs"))
        self._check(written, outputs, member(pointer, "steps"))
        rows = [done.row for done in scope.steps.values()]
        gravest = max(rows, key=lambda row: _DANGERS.index(row.danger))
        families = {row.family for row in rows} - {"read"}
        summary = self._text(entry.get("summary"), member(pointer, "summary"), 200)
        description = self._text(entry.get("description"), member(pointer, "description"), 1000)
        summary = summary or shorten(description, 200) or f"Workflow {' '.join(words_of(workflow_id))}"
        return Workflow(
            name=self._name(workflow_id),
            workflow_id=workflow_id,
            family="read" if not families else families.pop() if len(families) == 1 else "execute",
            summary=summary,
            description=description or summary,
            danger=gravest.danger,
            danger_reason=f"{gravest.name} is {gravest.danger}",
            inputs=inputs,
            steps=written,
            outputs=outputs,
        )

    def _steps(self, entry: dict[str, Json], api: Api, scope: Scope, pointer: str) -> list[dict[str, Json]]:
        """Return the steps as those of a plan; `scope` learns of each."""
        steps = entry.get("steps")
        if not isinstance(steps, list) or not steps:
            raise UnsayableError("it has no steps", pointer)
        written = []
        for number, step in enumerate(steps, 1):
            place = f"{pointer}/{number - 1}"
            if not isinstance(step, dict):
                raise UnsayableError("a step is not an object", place)
            last = number == len(steps)
            result = write_step(step, number, entry.get("parameters"), api, scope, place, last=last)
            written.append(result.step)
            scope.steps[str(step["stepId"])] = result.done
        return written

    def _outputs(self, outputs: Json, scope: Scope, pointer: str) -> dict[str, Json] | None:
        if not outputs:
            return None
        if not isinstance(outputs, dict):
            raise UnsayableError("outputs is not an object", pointer)
        return {name: scope.value(value, member(pointer, name)) for name, value in outputs.items()}

    def _check(self, steps: list[dict[str, Json]], outputs: dict[str, Json] | None, pointer: str) -> None:
        """Check a plan as far as it can be checked without the values of its inputs. Raises UnsayableError."""
        try:
            plan = read_plan(_without_inputs(steps), _without_inputs(outputs))
            rows = {row.name: row for row in self._rows}
            check_plan(plan, rows.__getitem__, lambda *_: None, self._table.types)  # each call checks its values
        except Failure as failure:
            raise UnsayableError(failure.message.removesuffix(" Nothing was sent."), pointer) from None

    def _name(self, workflow_id: str) -> str:
        words = words_of(workflow_id)
        for name in (fit(words), fit((*words, "workflow"))):
            if name and name not in self._taken:
                return name
        return hashed(words, workflow_id)

    def _text(self, value: Json, pointer: str, limit: int = 300) -> str:
        """Return a text as agents may read it: one that reads as an instruction to a model is left out."""
        if not isinstance(value, str):
            return ""
        seen = without_unseen(value)
        instruction = instruction_in(seen)
        if instruction is None:
            from aqlgen.document.texts.markup import rendered

            return shorten(rendered(seen).text, limit)
        message = f"a text reads as an instruction to a model ({'; '.join(instruction.rules)}); it is left out"
        self.diagnostics.append(
            Diagnostic("instruction-in-text", Severity.WARNING, message, pointer=pointer, file=self._file)
        )
        return ""

    def _leave_out(self, what: str, problem: UnsayableError) -> None:
        message = f"{what}: {problem.message}"
        self.diagnostics.append(
            Diagnostic(
                "workflow-left-out",
                Severity.WARNING,
                message,
                pointer=problem.pointer,
                file=self._file,
                help=problem.help,
            )
        )

    def _refusal(self, message: str, pointer: str) -> DocumentError:
        return DocumentError.of("invalid-workflows", message, pointer=pointer, file=self._file, help=_FORM)


def _without_inputs(value: Any) -> Any:
    """Return a part of a plan with a plain value for each input."""
    if isinstance(value, dict):
        text = value.get("$ref") if len(value) == 1 else None
        if isinstance(text, str) and text.startswith(f"{INPUTS}."):
            return "input"
        return {key: _without_inputs(inner) for key, inner in value.items()}
    return list(map(_without_inputs, value)) if isinstance(value, list) else value


# The inputs as parameters (Arazzo 1.0, Workflow Object, inputs)


def _inputs_of(root: Mapping[str, Json], schema: Json, pointer: str, text: Text) -> dict[str, Parameter]:
    """Return the inputs by the agent's names. Raises UnsayableError.

    Of the schemas stays what tells an agent what to give; each call of a step is checked by its own operation.
    """
    if schema is None:
        return {}
    reader = _Reader(root, text)
    target, pointer = reader.resolved(schema, pointer)
    properties, required = target.get("properties", {}), target.get("required", [])
    if not isinstance(properties, dict) or target.get("type", "object") != "object" or len(properties) > _MOST_INPUTS:
        raise UnsayableError(f"the inputs are not an object of up to {_MOST_INPUTS} properties", pointer)
    inputs: dict[str, Parameter] = {}
    for wire, inner in properties.items():
        place = member(member(pointer, "properties"), wire)
        name = snake(wire)[:64]
        if not name or name in inputs:
            raise UnsayableError(f"the input {wire[:40]!r} has no unique snake_case name", place)
        read = reader.schema(inner, place, _DEPTH)
        inputs[name] = Parameter(
            name=name,
            location=ADAPTER,
            wire=wire,
            required=isinstance(required, list) and wire in required and "default" not in read,
            sensitive=read.get("format") == "password",
            schema={key: value for key, value in read.items() if key != "description"},
            description=str(read.get("description", "")),
        )
    return inputs


class _Reader:
    def __init__(self, root: Mapping[str, Json], text: Text) -> None:
        self._root = root
        self._text = text

    def resolved(self, schema: Json, pointer: str) -> tuple[Mapping[str, Json], str]:
        """Return the schema that a reference within the document leads to. Raises UnsayableError."""
        for _ in range(_DEPTH):
            if not isinstance(schema, dict):
                raise UnsayableError("a schema of the inputs is not an object", pointer)
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return schema, pointer
            if not reference.startswith("#/"):
                raise UnsayableError("a schema of the inputs is outside the document", member(pointer, "$ref"))
            node: Json = dict(self._root)
            for part in split(reference[1:]):
                node = node.get(part) if isinstance(node, dict) else None
            schema, pointer = node, reference[1:]
        raise UnsayableError("a reference of the inputs leads on and on", pointer)

    def schema(self, schema: Json, pointer: str, depth: int) -> dict[str, Json]:
        """Return the kept part of a schema: types, values, bounds and members."""
        if not depth or schema is True:
            return {}
        target, pointer = self.resolved(schema, pointer)
        kept: dict[str, Json] = {
            key: target[key]
            for key, kind in _KEPT.items()
            if isinstance(target.get(key), kind) and not isinstance(target[key], bool)
        }
        kinds = target.get("type")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if isinstance(kinds, list) and kinds and JSON_TYPES.issuperset(map(str, kinds)):
            kept["type"] = kinds[0] if len(kinds) == 1 else list(dict.fromkeys(kinds))
        if target.get("format") in _FORMATS:
            kept["format"] = target["format"]
        if target.get("description"):
            kept["description"] = self._text(target["description"], member(pointer, "description"))
        return kept | self._values(target, pointer) | self._members(target, pointer, depth)

    def _values(self, target: Mapping[str, Json], pointer: str) -> dict[str, Json]:
        """Return the listed values and the default, which are plain and read as no instruction."""
        kept: dict[str, Json] = {}
        values = target.get("enum", [target["const"]] if "const" in target else None)
        if isinstance(values, list) and 0 < len(values) <= _MOST_INPUTS and all(map(_is_plain, values)):
            if not all(self._is_clean(value, pointer) for value in values):
                raise UnsayableError("a listed value is not plain text", member(pointer, "enum"))
            kept["enum"] = values
        if "default" in target and _is_plain(target["default"]):
            kept |= {"default": target["default"]} if self._is_clean(target["default"], f"{pointer}/default") else {}
        return kept

    def _is_clean(self, value: Json, pointer: str) -> bool:
        return not isinstance(value, str) or self._text(value, pointer) == value

    def _members(self, target: Mapping[str, Json], pointer: str, depth: int) -> dict[str, Json]:
        """Return the kept part of the properties and the items."""
        kept: dict[str, Json] = {}
        properties, required = target.get("properties"), target.get("required")
        if isinstance(properties, dict) and len(properties) <= _MOST_INPUTS:
            place = member(pointer, "properties")
            inner = {key: self.schema(schema, member(place, key), depth - 1) for key, schema in properties.items()}
            names = required if isinstance(required, list) else []
            kept = {"properties": inner, "required": [name for name in properties if name in names]}
        if isinstance(target.get("items"), dict):
            kept["items"] = self.schema(target["items"], member(pointer, "items"), depth - 1)
        return kept


def _is_plain(value: Json) -> bool:
    return value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _LONGEST)
