# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operations that the protocol itself brings beside `introspect`, and the check of their parameters (8.5.4).

Codes and messages are those of the API's own operations (R-REQ-3, R-REQ-4). Names of parameters are the specification's
own, `nextActionHint` as it stands there: R-REQ-2 rules the names that an adapter chooses, and these it does not choose.
No other spelling is accepted; the answer to one names the nearest valid one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from .session import Session

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

__all__ = ["Handler", "Person", "ProtocolOperation", "Registry"]

_CONSTRAINTS = ("type", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern")


class Person(Protocol):
    """Whoever sits behind the client, and can answer what an agent cannot (R-SAFE-4).

    `batched` is set when the call is a batch, within which a question cannot take the result's place.
    """

    batched: bool

    @property
    def reachable(self) -> bool:
        """Whether the client can put a question to a person."""
        ...

    async def ask(self, question: str) -> bool:
        """Put a question and give the answer; whatever is not a clear yes is a no."""
        ...


Handler: TypeAlias = Callable[[dict[str, Any], Session, Person | None], Awaitable[Any]]


class ProtocolOperation(NamedTuple):
    """One operation: `parameters` and `returns` as introspection shows them, `examples` as (description, params)."""

    name: str
    family: str
    description: str
    parameters: tuple[Mapping[str, Any], ...]
    returns: Mapping[str, Any]
    examples: tuple[tuple[str, Mapping[str, Any]], ...]
    lifecycle: Mapping[str, Any] | None = None


class Registry:
    """The active protocol operations with their handlers; a handler found here checks its parameters first."""

    def __init__(self, operations: Iterable[tuple[ProtocolOperation, Handler]] = ()) -> None:
        self._found = {operation.name: (operation, _Checked(operation, handler)) for operation, handler in operations}

    def find(self, name: str) -> tuple[ProtocolOperation, Handler] | None:
        """Give the operation of that name and what performs it, or None."""
        return self._found.get(name)

    def active(self) -> tuple[ProtocolOperation, ...]:
        """Give the operations in order."""
        return tuple(operation for operation, _ in self._found.values())


class _Wanted(NamedTuple):
    required: bool
    schema: Mapping[str, Any]


class _Checked:
    """A handler behind the check of its parameters, which is compiled at its first call."""

    def __init__(self, operation: ProtocolOperation, handler: Handler) -> None:
        self.name = operation.name
        self.hidden: frozenset[str] = frozenset()
        self.parameters = {
            one["name"]: _Wanted(one["required"], {key: one[key] for key in _CONSTRAINTS if key in one})
            for one in operation.parameters
        }
        self._handler = handler

    async def __call__(self, params: dict[str, Any], session: Session, person: Person | None) -> Any:
        """Perform the operation. Raises Failure, all problems of the parameters in one."""
        self._check(params)
        return await self._handler(params, session, person)

    @cached_property
    def _validator(self) -> Draft202012Validator:
        from jsonschema_rs import Draft202012Validator

        properties = {name: dict(one.schema) for name, one in self.parameters.items()}
        return Draft202012Validator({"type": "object", "properties": properties})

    def _check(self, params: Mapping[str, Any]) -> None:
        from .params import missing_problem, unknown_problem
        from .problems import failure, problems_of

        missing = [name for name, one in self.parameters.items() if one.required and name not in params]
        unknown = [name for name in params if name not in self.parameters]
        if not missing and not unknown and self._validator.is_valid(params):
            return
        problems = [missing_problem(self, missing)] if missing else []
        problems += [unknown_problem(self, unknown, params)] if unknown else []
        problems += problems_of(self._validator.iter_errors(params), frozenset())
        raise failure(problems)
