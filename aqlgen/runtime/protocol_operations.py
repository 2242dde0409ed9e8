"""The protocol's own operations beside `introspect`, and the check of their parameters (specification, 8.5.4).

Codes and messages are those of the API's operations (R-REQ-3, R-REQ-4). The parameters have the specification's names,
such as `nextActionHint`: R-REQ-2 is about names that an adapter chooses, and it does not choose these. No other
spelling is accepted; the error names the nearest valid one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .exact_json import with_floats
from .session import Session

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator
    from mcp.types import InputRequiredResult

    from .table import Adapter
    from .validation.leaves import Leaves

QUESTION_KEY = "confirm"
"""The key of a question that is the result of a call."""

_CONSTRAINTS = ("type", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern")


class Person:
    """The person behind the client, who can confirm what an agent cannot (R-SAFE-4); by itself nobody to ask.

    `batched` is set once a part of a batch or plan is done: a question cannot be the result of the whole then.
    """

    batched = False

    @property
    def reachable(self) -> bool:
        """True if the client can ask a person."""
        return False

    async def ask(self, question: str) -> bool:  # noqa: ARG002
        """Ask a question; everything but a clear yes is a no."""
        return False

    async def ask_text(self, question: str, name: str) -> str | None:  # noqa: ARG002
        """Ask for a text, which the agent does not see, and return it; None if none is given."""
        return None


class Unanswered(BaseException):
    """The end of a call whose result must be the question. It is no error: nothing on its way may catch it as one."""

    def __init__(self, question: str, handle: str, schema: Mapping[str, Any]) -> None:
        super().__init__(question)
        self.question = question
        self.handle = handle
        self.schema = schema

    def result(self) -> InputRequiredResult:
        """Return the question as the call's result."""
        from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

        params = ElicitRequestFormParams(message=self.question, requested_schema=dict(self.schema))
        return InputRequiredResult(
            input_requests={QUESTION_KEY: ElicitRequest(params=params)}, request_state=self.handle
        )


class DiscreetPerson(Person):
    """A person who is asked without any credential in the question."""

    def __init__(self, person: Person, masked: Callable[[str], str]) -> None:
        self._person = person
        self._masked = masked

    @property
    def batched(self) -> bool:
        """True once a part of the call is done."""
        return self._person.batched

    @batched.setter
    def batched(self, batched: bool) -> None:
        self._person.batched = batched

    @property
    def reachable(self) -> bool:
        """True if the client can ask a person."""
        return self._person.reachable

    async def ask(self, question: str) -> bool:
        """Ask a question."""
        return await self._person.ask(self._masked(question))

    async def ask_text(self, question: str, name: str) -> str | None:
        """Ask for a text and return it; None if none is given."""
        return await self._person.ask_text(self._masked(question), name)


Handler: TypeAlias = Callable[[dict[str, Any], Session, Person | None], Awaitable[Any]]


class ProtocolOperation(NamedTuple):
    """An operation: `parameters` and `returns` as introspection shows them, `examples` as (description, params)."""

    name: str
    family: str
    description: str
    parameters: tuple[Mapping[str, Any], ...]
    returns: Mapping[str, Any]
    examples: tuple[tuple[str, Mapping[str, Any]], ...]
    lifecycle: Mapping[str, Any] | None = None
    schemas: Mapping[str, Mapping[str, Any]] = {}
    """The JSON Schemas of parameters that have more to be checked than is shown of them."""


class Registry:
    """The active protocol operations and their handlers; a handler of the registry checks its parameters first."""

    def __init__(self, operations: Iterable[tuple[ProtocolOperation, Handler]] = ()) -> None:
        self._operations = {
            operation.name: (operation, _CheckedHandler(operation, handler)) for operation, handler in operations
        }

    def find(self, name: str) -> tuple[ProtocolOperation, Handler] | None:
        """Return the operation of that name and its handler, or None."""
        return self._operations.get(name)

    def check(self, name: str, params: Mapping[str, Any]) -> None:
        """Check the parameters of an operation. Raises Failure with all problems."""
        self._operations[name][1].check(params)

    def active(self) -> tuple[ProtocolOperation, ...]:
        """Return the operations in order."""
        return tuple(operation for operation, _ in self._operations.values())


class _Parameter(NamedTuple):
    required: bool
    schema: Mapping[str, Any]


class CheckedParameters:
    """The check of an operation's parameters, compiled at the first call."""

    def __init__(self, operation: ProtocolOperation) -> None:
        self.name = operation.name
        self.hidden_parameters: frozenset[str] = frozenset()
        self.parameters = {
            info["name"]: _Parameter(
                info["required"],
                operation.schemas.get(info["name"], {key: info[key] for key in _CONSTRAINTS if key in info}),
            )
            for info in operation.parameters
        }

    @cached_property
    def _validator(self) -> Draft202012Validator:
        from jsonschema_rs import Draft202012Validator

        properties = {name: dict(parameter.schema) for name, parameter in self.parameters.items()}
        return Draft202012Validator({"type": "object", "properties": properties})

    @cached_property
    def _leaves(self) -> Leaves:
        from jsonschema_rs import Draft202012Validator

        from .validation.leaves import Leaves

        return Leaves(lambda schema: Draft202012Validator(dict(schema)))

    def check(self, params: Mapping[str, Any]) -> None:
        """Raise Failure with all problems of the parameters."""
        missing = [name for name, parameter in self.parameters.items() if parameter.required and name not in params]
        unknown = [name for name in params if name not in self.parameters]
        if not missing and not unknown and self._validator.is_valid(with_floats(params)):
            return
        from .validation.problems import failure, missing_problem, unexplained_problem, unknown_problem
        from .validation.value_problems import Explanation
        from .validation.walk import Allowed, Reading, Walk

        problems = [missing_problem(self, missing)] if missing else []
        problems += [unknown_problem(self, unknown)] if unknown else []
        walk = Walk({}, self._leaves, Allowed.NOTHING)
        reading = Reading(dict(params))
        for name, parameter in self.parameters.items():
            if name in params:
                reading.put(name, walk.read(params[name], parameter.schema))
        problems += Explanation({}).problems(reading.faults)
        raise failure(problems or [unexplained_problem(self)])


class _CheckedHandler(CheckedParameters):
    """A handler that checks its parameters first."""

    def __init__(self, operation: ProtocolOperation, handler: Handler) -> None:
        super().__init__(operation)
        self._handler = handler

    async def __call__(self, params: dict[str, Any], session: Session, person: Person | None) -> Any:
        """Perform the operation. Raises Failure with all problems of the parameters."""
        self.check(params)
        return await self._handler(params, session, person)


def field(name: str, type: str, required: bool, description: str, **more: Any) -> dict[str, Any]:
    """Return a ParameterInfo."""
    return {"name": name, "type": type, "required": required, "description": description, **more}


# run_steps, which every adapter offers that offers anything (R-STEP-1)

RUN_STEPS = "run_steps"
MAX_STEPS = 20
MAX_CALLS = 100

_STEPS_DESCRIPTION = "Run several operations in one call, each with values from the answers before it"
_STEPS_TEXT = (
    f"Steps in order: at most {MAX_STEPS} of {{id?, operation, params?, foreach?, where?, fields?}}, of "
    f"at most {MAX_CALLS} calls. Any value may be {{$ref: 'find.items[0].id'}}: a step's id or number (the first is "
    "1), then a path into its data, [*] for each item of a list. foreach: {$ref: 'find.items'} repeats the step with "
    "{$ref: 'item.id'} and {$ref: 'index'}. "
    "where keeps items, of foreach or else of the answer: {state: 'open'} or {size: {gt: 3}} with eq, ne, gt, gte, lt, "
    "lte, in, contains. fields are the paths that are shown. All of it is checked before anything is sent; it halts at "
    "a failure and where something must be confirmed"
)


_STEPS_PARAMETERS = (
    field("steps", "array", False, _STEPS_TEXT, items={"type": "object"}),
    field("return", "object", False, "Result instead of every step's data: values and references"),
    field("dry_run", "boolean", False, "Show the plan with its requests, as far as they are known, and send nothing"),
    field("continue", "string", False, "Token of a halted plan, instead of steps: go on with it", maxLength=80),
    field(
        "unknown",
        "string",
        False,
        "With continue: how to treat a call of unknown outcome",
        enum=["repeat", "skip"],
    ),
    field(
        "confirmation_token", "string", False, "Beside continue: token of a CONFIRMATION_REQUIRED answer", maxLength=80
    ),
)
_STEPS_RETURNS = {"name": "object", "kind": "object", "description": "steps with their data, or the value of return"}


def run_steps_operation(adapter: Adapter) -> ProtocolOperation:
    """Return the operation: of the execute tool, or of the read tool where the adapter offers reads only."""
    writes = any(count for family, count in adapter.counts.items() if family != "read")
    name = adapter.quick_start.get("read") or next(iter(adapter.quick_start.values()), "list_items")
    example = {"steps": [{"id": "find", "operation": name}], "return": {"answer": {"$ref": "find"}}}
    return ProtocolOperation(
        RUN_STEPS,
        "execute" if writes else "read",
        _STEPS_DESCRIPTION,
        _STEPS_PARAMETERS,
        _STEPS_RETURNS,
        (("Perform one step, and return a part of its answer", example),),
    )
