"""Parameters of an operation: the API's under names for an agent, and the adapter's own.

The API's get snake_case names, specific and unique within the operation (R-REQ-2). The adapter's own are `fields`,
`first`, `after`, `dry_run` and `if_match` (R-SEL-2, 3, 5; R-OPS-5). They are in no location of the request. Where the
adapter pages, they replace the API's own parameters for it, which are accepted under their names still, but not shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Final, TypeAlias

from aqlgen.decide.decision import Category, Decision
from aqlgen.decide.traits.pagination.parameters import bounds
from aqlgen.decide.traits.sensitive import is_secret
from aqlgen.ir import Json, Location, Operation, Parameter
from aqlgen.runtime.table import ADAPTER, Body, Idempotency, Pagination, ReturnType, Update
from aqlgen.runtime.table import Parameter as TableParameter
from aqlgen.runtime.text import folded
from aqlgen.schemas import Place, Types, shorten, useful
from aqlgen.schemas.writer import STRUCTURED
from aqlgen.table.example_calls import leads_away
from aqlgen.table.form_fields import encoded_fields
from aqlgen.words import pascal, singular, snake, split

Shared: TypeAlias = dict[tuple[int, str], tuple[Parameter, TableParameter]]
"""The parameters that several operations refer to, as agents see them, by identity and name."""

MAX_DESCRIPTION = 400
VALID = re.compile(r"[a-z][a-z0-9_]*")
BARE = frozenset("id ids uuid guid gid sid name key slug code".split())
"""Names that say nothing without the thing that they belong to."""
NO_THING = re.compile(r"v?\d[\w.-]*|api|rest|by|by[-_]\w+")

SELECTION: Final[Mapping[str, Json]] = {"$ref": "#/types/FieldSelection"}
MOST: Final = 100
_INPUT: Final = "input"

FIELDS: Final = "minimal, standard, full, or paths such as ['id', 'owner.name']"
_SAFE_METHODS: Final = frozenset({"get", "head", "query"})
_NO_FIELDS: Final = frozenset({"none", "string", "integer", "number", "boolean"})
_ORDER: Final = {location: place for place, location in enumerate(Location)}
_SEARCHES: Final = frozenset({"search", "find", "query", "lookup"})


def agent_name(wire: str, location: str, path: str, resource: str = "") -> str:
    """Return a parameter's name before uniqueness: a bare `id` takes the noun before it, in a query the resource."""
    name = wire if VALID.fullmatch(wire) else snake(wire)
    if location == Location.PATH and name in BARE:
        noun = _noun_before(path.split("{" + wire + "}")[0], name) or resource
        name = f"{noun}_{name}" if noun and f"{{{folded(noun + name)}}}" not in folded(path) else name
    elif location == Location.QUERY and name == "id" and resource:
        name = f"{resource}_id"
    if not name:
        name = f"{location}_{sha256(wire.encode('utf-8', 'surrogatepass')).hexdigest()[:4]}"
    return name


def _noun_before(path: str, name: str) -> str:
    """Return the noun of the last segment that names what a parameter belongs to: for `/pets/by-id/`, pet."""
    for segment in reversed(path.split("/")):
        words = split(segment)
        if words and "{" not in segment and words[-1] != name and not NO_THING.fullmatch(segment.lower()):
            return snake("_".join((*words[:-1], singular(words[-1]))))
    return ""


def with_unique_names(
    parameters: Iterable[TableParameter], beside: Iterable[TableParameter] = ()
) -> tuple[TableParameter, ...]:
    """Make the names unique: the exact spelling or the first one keeps a name, the others get their location.

    (`query_id`.) The names of those `beside` are taken. One that gives way to another in the same location is
    still found by the API's own spelling of it.
    """
    candidates = tuple(parameters)
    spelled = {(parameter.location, parameter.wire) for parameter in candidates}
    taken = {folded(parameter.name) for parameter in beside}
    named = []
    for parameter in candidates:
        name = parameter.name
        gives_way = parameter.wire != name and (parameter.location, name) in spelled
        if gives_way or folded(name) in taken:  # nobody tells `dryrun` from `dry_run`
            name = f"{parameter.location.split('_')[0]}_{name}"
        if folded(name) in taken:
            name = f"{name}_{sha256(parameter.wire.encode()).hexdigest()[:4]}"
        taken.add(folded(name))
        named.append(parameter if name == parameter.name else replace(parameter, name=name))
    return tuple(named)


def plain_parameters(decision: Decision, types: Types, shared: Shared) -> list[TableParameter]:
    """Return the path, query, header and cookie parameters, in that order."""
    operation = decision.operation
    owner = pascal(split(decision.name))
    spelled = {(declared.location, folded(declared.name)) for declared in operation.parameters}
    table_parameters = []
    for parameter in sorted(operation.parameters, key=lambda declared: _ORDER[declared.location]):
        if parameter.fixed is not None:
            continue
        name = agent_name(parameter.name, parameter.location.value, operation.path, decision.resource)
        if folded(name) != folded(parameter.name) and (parameter.location, folded(name)) in spelled:
            name = agent_name(parameter.name, "", "")  # `id` beside `userId` is not that
        if decision.category is Category.UPDATE and folded(name) == _INPUT:
            name = f"{parameter.location.value}_{name}"  # that of what changes, for every reader of the table
        known = shared.get((id(parameter), name))
        if known is None:
            place = Place(request=True, hint=owner, inline=True, steps=(name,))
            known = parameter, _plain(parameter, place, name, types)
            if known[1].schema.keys().isdisjoint(STRUCTURED):  # no type in it is named after the operation
                shared[id(parameter), name] = known
        plain = known[1]
        preset = _preset_of(parameter, plain.schema, operation) if plain.required and not plain.sensitive else None
        if preset is not None:
            plain = replace(plain, required=False, schema={**plain.schema, "default": preset}, preset=preset)
        table_parameters.append(plain)
    return table_parameters


def _plain(parameter: Parameter, place: Place, name: str, types: Types) -> TableParameter:
    """Return a parameter as agents see it, without what a call sends in its stead."""
    schema = types.exemplified(types.schema(parameter.schema, place), parameter.schema, parameter.example)
    described = parameter.description or str(schema.get("description", ""))
    # `writeOnly` is for properties alone (OpenAPI 3.0.4, 4.7.24)
    shown = {key: value for key, value in schema.items() if key not in ("description", "deprecated", "writeOnly")}
    default_style = "form" if parameter.location in (Location.QUERY, Location.COOKIE) else "simple"
    return TableParameter(
        name=name,
        wire=parameter.name,
        location=parameter.location.value,
        required=parameter.required,
        schema=shown,
        description=shorten(useful(described), MAX_DESCRIPTION),
        deprecated=parameter.deprecated or schema.get("deprecated") is True,
        sensitive=is_secret(name, shown, types.keys),
        stated_style=None if parameter.style == default_style else parameter.style,
        stated_explode=None if parameter.explode == (parameter.style == "form") else parameter.explode,
        allow_reserved=parameter.allow_reserved,
        content_type=parameter.content_type,
        fields=encoded_fields(parameter.encoding, types),
    )


def _preset_of(parameter: Parameter, schema: Mapping[str, Json], operation: Operation) -> Json:
    """Return the value of a required parameter that a call leaves out: its only one or its default, else None.

    A write has to name the thing that it is about, at the end of its path, whatever is its default; so has a deletion
    what it goes by beside its path.
    """
    values = schema.get("enum", ())
    only = schema.get("const", values[0] if len(values) == 1 else None)
    is_thing = operation.method not in _SAFE_METHODS and operation.path.endswith(f"{{{parameter.name}}}")
    selects = operation.method == "delete" and parameter.location is not Location.PATH
    value = only if only is not None or is_thing or selects else schema.get("default")
    return None if parameter.location is Location.PATH and leads_away(value) else value


def paged(decision: Decision) -> Pagination | None:
    """Return how the operation pages, if the adapter can page it: list and way to the next page are known."""
    paging = decision.trait(Pagination)
    if paging is None or paging.items is None or decision.category is not Category.READ:
        return None
    return paging if _leads_on(paging) else None


def _leads_on(paging: Pagination) -> bool:
    """Return True if it is known what asks for the next page."""
    if paging.style in ("page", "offset"):
        return paging.lead_param is not None
    return paging.next is not None or (paging.style == "cursor" and paging.item_cursor is not None)


def partial_by(parameters: Iterable[TableParameter]) -> tuple[str, ...]:
    """Return the parameters, by the agent's names, by which the API gives a part of a list that is not paged."""
    asked = [parameter for parameter in parameters if parameter.location in ("query", "body")]
    wires = bounds((parameter.wire, parameter.schema, parameter.description) for parameter in asked)
    return tuple(parameter.name for parameter in asked if parameter.wire in wires)


def backward(paging: Pagination) -> bool:
    """Return True if the API can page backwards, from any place and from the end."""
    return paging.style == "offset" and paging.total is not None and paging.size_param is not None


def added_parameters(
    decision: Decision, parameters: Iterable[TableParameter], fields: Iterable[TableParameter], returns: ReturnType
) -> list[TableParameter]:
    """Return the adapter's own parameters of an operation; the API's are `parameters` and the `fields` of its body."""
    if decision.category is not Category.READ:
        adapter_parameters = [
            _adapter_parameter("dry_run", {"type": "boolean", "default": False}, "Show the request, and send nothing")
        ]
        update = decision.trait(Update)
        declared = any(
            parameter.location == "header" and parameter.wire.lower() == "if-match" for parameter in parameters
        )
        if update is not None and update.etag and not declared:
            adapter_parameters.append(
                _adapter_parameter("if_match", {"type": "string"}, "Only if the resource still has this `_etag`")
            )
        return adapter_parameters
    adapter_parameters = []
    paging = paged(decision)
    if paging is not None:
        adapter_parameters += _pages(paging)
    if paging is not None or has_fields(returns["name"]):
        usual = "full"
        if decision.verb in _SEARCHES:
            usual = "minimal"
        elif paging is not None or decision.verb == "list" or returns["name"] == "array":
            usual = "standard"
        taken = {parameter.name for parameter in (*parameters, *fields)}
        adapter_parameters.append(choosing_parameter("fields", {**SELECTION, "default": usual}, FIELDS, taken))
    return adapter_parameters


def choosing_parameter(
    wire: str, schema: Mapping[str, Json], description: str, taken: Collection[str]
) -> TableParameter:
    """Return a parameter that chooses from an answer; it gives way to the API's names that are `taken`."""
    parameter = _adapter_parameter(wire, schema, description)
    return replace(parameter, name=f"answer_{wire}") if wire in taken else parameter


def has_fields(returns: str) -> bool:
    """Return True for the name of a type that has fields, or may have."""
    return returns not in _NO_FIELDS


def _pages(paging: Pagination) -> list[TableParameter]:
    most = MOST if paging.size_max is None else min(MOST, paging.size_max)
    size: dict[str, Json] = {"type": "integer", "minimum": 1}
    text: dict[str, Json] = {"type": "string", "minLength": 1}
    wires = [] if paging.within is not None else [wire for _, wire in paging.roles]
    instead = f" (the API's {' and '.join(wires)} are understood instead)" if wires else ""
    page_parameters = [
        _adapter_parameter("first", size, f"How many items, at most {most}; without it the API's own page{instead}"),
        _adapter_parameter("after", text, "`pageInfo.endCursor` of the last page, to continue"),
    ]
    if backward(paging):
        page_parameters += [
            _adapter_parameter("last", size, f"How many items from the end; at most {most} are given"),
            _adapter_parameter(
                "before", text, "`pageInfo.startCursor` of a page, for the items before it; with `last`"
            ),
        ]
    return page_parameters


def _adapter_parameter(name: str, schema: Mapping[str, Json], description: str) -> TableParameter:
    return TableParameter(
        name=name, wire=name, location=ADAPTER, required=False, schema=schema, description=description
    )


def paging_parameters(
    paging: Pagination, parameters: Iterable[TableParameter]
) -> tuple[tuple[TableParameter, ...], tuple[TableParameter, ...]]:
    """Split the parameters into those that are shown and those that `first` and `after` replace."""
    wires = {wire for _, wire in paging.roles}
    places = () if paging.within is not None else (paging.location or "query",)
    shown, hidden = [], []
    for parameter in parameters:
        if parameter.location in places and parameter.wire in wires:
            hidden.append(parameter)
        else:
            shown.append(parameter)
    return tuple(shown), tuple(hidden)


def with_key_filled_in(
    parameters: tuple[TableParameter, ...], carrier: Idempotency | None, body: Body | None
) -> tuple[TableParameter, ...]:
    """Return the parameters with that of the idempotency key as one that the adapter fills in where it is left out."""
    if carrier is None or (carrier.location == "body" and body is not None and body.validate):
        return parameters
    from aqlgen.runtime.client.idempotency import new_key  # with it come the client and its settings

    wire, location = carrier.header or carrier.parameter, "header" if carrier.header else carrier.location
    return tuple(
        replace(parameter, required=False, description=_with_filling(parameter.description))
        if (parameter.wire, parameter.location) == (wire, location) and new_key(parameter.schema) is not None
        else parameter
        for parameter in parameters
    )


def _with_filling(description: str) -> str:
    note = "a new one is sent if it is left out; repeat a call with the same one"
    return f"{description.rstrip('. ')}; {note}" if description else note[0].upper() + note[1:]


def page_of(returns: ReturnType) -> ReturnType:
    """Return the return type of a paged operation."""
    of = returns.get("description", "") if returns["name"] == "array" else f"Of a {returns['name']}"
    items = f"`items`: {of[:1].lower()}{of[1:]}" if of else "`items`"
    return {"name": "object", "kind": "object", "description": f"{items}; `pageInfo`: a PageInfo"}


_IDENTIFYING: Final = BARE - {"name"}
_ASKING: Final = frozenset(
    "filter filters where q query search fields field expand expansion embed include includes exclude view format alt"
    " pretty page pages limit offset cursor after before sort order orderby version callback token force dry timeout"
    " async validate preview debug trace locale lang etag idempotency".split()
)
"""Words of parameters that pick, shape the answer, or say how the call is performed."""


def input_of_query(
    operation: str, parameters: Iterable[TableParameter], own_type: Callable[[str, Mapping[str, Json]], str]
) -> tuple[TableParameter, tuple[TableParameter, ...], dict[str, TableParameter]]:
    """Return `input`, the parameters beside it, and those that it holds, by their names.

    `own_type` makes a type of the fields of `input`, by which an agent reads all of them.
    """
    beside: list[TableParameter] = []
    held: dict[str, TableParameter] = {}
    required: list[str] = []
    for parameter in parameters:
        if _is_field(parameter):
            held[parameter.name] = replace(parameter, required=False)
            required += [parameter.name] if parameter.required else []
        else:
            beside.append(parameter)
    properties = {name: as_property(parameter) for name, parameter in held.items()}
    schema: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": False}
    schema |= {"required": required} if required else {}
    whole = TableParameter(
        name=_INPUT,
        wire=_INPUT,
        location="adapter",
        required=bool(required),
        schema={"$ref": f"#/types/{own_type(f'{pascal(split(operation))}Input', schema)}"} if held else schema,
        description="" if held else "The operation takes no fields.",
        sensitive=any(parameter.sensitive for parameter in held.values()),
    )
    return whole, tuple(beside), held


def as_property(parameter: TableParameter) -> dict[str, Json]:
    """Return the schema of a parameter as that of a field."""
    described = {"description": parameter.description} if parameter.description else {}
    spelled = {} if parameter.name == parameter.wire else {"x-name": parameter.wire}
    return {**parameter.schema, **described, **spelled}


def within_input(example: Mapping[str, Json], held: Mapping[str, TableParameter]) -> dict[str, Json]:
    """Return the parameters of a call with those that `input` holds in it."""
    fields = {name: value for name, value in example.items() if name in held}
    beside = {name: value for name, value in example.items() if name not in held}
    return {**beside, _INPUT: fields} if fields else beside


def _is_field(parameter: TableParameter) -> bool:
    """Return True for a query parameter that an update sets."""
    if parameter.location != "query" or parameter.preset is not None:
        return False
    words = split(parameter.wire)
    if not words or words[-1] in ("id", "ids") or "_".join(words) in _IDENTIFYING:
        return False
    return _ASKING.isdisjoint(words)
