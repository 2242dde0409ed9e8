"""The options of a generation that a project records, so that `aqlgen update` generates it in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from aqlgen.decide.overrides import field_cases
from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.request import Request
from aqlgen.ir import Json
from aqlgen.options import AS_GIVEN, PARTS, Options
from aqlgen.runtime.table import Accepted
from aqlgen.table.identity import is_api_name

if TYPE_CHECKING:
    from aqlgen.pipeline import Prepared


def mapping(value: Json) -> dict[str, str]:
    """Return a JSON object with its values as text; {} for anything else."""
    return {key: str(member) for key, member in value.items()} if isinstance(value, dict) else {}


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(member for member in value if isinstance(member, str)) if isinstance(value, list) else ()


def _field_case(value: Json) -> str | None:
    case = _text(value)
    return case if case in field_cases() else None


def _accepted(value: Json) -> Accepted | None:
    if not isinstance(value, dict):
        return None
    return {"api": list(_texts(value.get("api"))), "oauth": list(_texts(value.get("oauth")))}


def _recorded_origins(accepted: Accepted | None) -> Json:
    """Return the origins that the owner accepted by generating; the hosts of `overrides.yaml` stand there."""
    return {"api": list((accepted or {}).get("api", ())), "oauth": list((accepted or {}).get("oauth", ()))}


def addresses(apis: Iterable[Request]) -> str:
    """Return the addresses of the documents of several APIs, a line for each, as `aqlgen update --spec` takes them."""
    return "\n".join(f"{api.name}={api.public_url}" for api in apis if api.public_url)


def _api(api: Request) -> Json:
    """Return the record of one of several APIs."""
    origins = _recorded_origins(api.accepted)
    entry = {"name": api.name, "spec_url": api.public_url, "accepted": origins, "base": api.base}
    return entry | ({"was_alone": True} if api.was_alone else {})


def read_apis(recorded: Mapping[str, Json]) -> list[Request]:
    """Return the several APIs that a provenance records, without the places of their documents."""
    entries = recorded.get("apis")
    return [
        replace(read_document(entry), name=entry["name"], was_alone=entry.get("was_alone") is True)
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and is_api_name(str(entry.get("name")))
    ]


def read_document(recorded: Mapping[str, Json]) -> Request:
    """Return the document that a provenance, or its entry of an API, records, without its place."""
    accepted = _accepted(recorded.get("accepted"))
    return Request("", accepted=accepted, base=_text(recorded.get("base")), spec_url=_text(recorded.get("spec_url")))


_READERS: Final[Mapping[object, Callable[[Json], Any]]] = {None: _text, False: lambda value: value is True, (): _texts}
"""The reader of a field that is recorded as it is given, by its default."""

_GIVEN: Final = {option.name: _READERS[option.default] for option in fields(Options) if option.metadata == AS_GIVEN}

RECORDED: Final[Mapping[str, Callable[[Json], Any]]] = {
    "name": _text,
    "include": _texts,
    "exclude": _texts,
    "field_case": _field_case,
    "runtime": lambda value: "source" if value == "source" else None,
    "parts": lambda value: tuple(part for part in _texts(value) if part in PARTS) if isinstance(value, list) else None,
    **_GIVEN,
    "names": mapping,
    "retired": mapping,
}
"""The recorded fields of `Options`, each with its reader, which takes nonsense for the default."""

_ONLY_IF_SET: Final = frozenset({"runtime", "apis", "retired", *_GIVEN})


def recorded_options(options: Options, prepared: Prepared, license: str) -> dict[str, Json]:
    """Return the record of the options in the provenance."""
    first = prepared.requests[0]
    several = options.of_several
    accepted = (None if several else options.requests[0].accepted) or prepared.table.adapter.accepted
    values: dict[str, Json] = {
        "name": prepared.identity.name,
        "include": list(options.include),
        "exclude": list(options.exclude),
        "field_case": options.field_case,
        "license": license,
        "runtime": "source" if options.runtime == "source" else "",
        "parts": sorted(options.parts),
        **{name: list(value) if isinstance(value := getattr(options, name), tuple) else value for name in _GIVEN},
        "spec_url": addresses(prepared.requests) if several else first.public_url,
        "accepted": _recorded_origins(accepted),
        "base": None if several else prepared.base,
        "apis": list(map(_api, prepared.requests)) if several else [],
        "names": dict(sorted(prepared.pinned.items())),
        "retired": dict(prepared.retired),
    }
    return {name: value for name, value in values.items() if value or name not in _ONLY_IF_SET}


def read_options(recorded: Mapping[str, Json]) -> dict[str, Any]:
    """Return the fields of `Options` that a provenance records."""
    return {name: read(recorded.get(name)) for name, read in RECORDED.items()}


def spdx(expression: str) -> str:
    """Return the canonical form of an SPDX expression, "" for none. Raises OptionError."""
    if not expression:
        return ""
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        return str(canonicalize_license_expression(expression))
    except InvalidLicenseExpression:
        raise OptionError.of(
            "bad-option",
            f"--license {expression!r} is not an SPDX licence expression",
            help="Use an identifier from the SPDX list, such as MIT, Apache-2.0 or LicenseRef-Proprietary.",
        ) from None
