"""The options of a generation that a project records, so that `aqlgen update` generates it in the same way.

`RECORDED` is the only list of them; it takes in the fields that `Options` marks. A test finds an option of
`aqlgen from-openapi` that is in none of the lists here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, fields, replace
from typing import Any, Final

from aqlgen.decide.overrides import field_cases
from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.request import Request
from aqlgen.ir import Json
from aqlgen.options import AS_GIVEN, PARTS
from aqlgen.pipeline import Options, Prepared
from aqlgen.runtime.table import Accepted
from aqlgen.table.identity import is_api_name


@dataclass(frozen=True, slots=True)
class Recorded:
    """How an option is recorded: its JSON value, and its reader, None for one that is not a field of `Options`."""

    value: Callable[[Options, Prepared, str], Json]
    read: Callable[[Json], Any] | None
    if_empty: bool = True
    """Whether it is recorded when it is empty."""


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
    """Return what the owner accepted by generating; the hosts of `overrides.yaml` stand there."""
    return {"api": list((accepted or {}).get("api", ())), "oauth": list((accepted or {}).get("oauth", ()))}


def addresses(apis: Iterable[Request]) -> str:
    """Return the addresses of the documents of several APIs, a line for each, as `aqlgen update --spec` takes them."""
    return "\n".join(f"{api.name}={api.public_url}" for api in apis if api.public_url)


def _api(api: Request) -> Json:
    """Return what is recorded of one of several APIs."""
    origins = _recorded_origins(api.accepted)
    entry = {"name": api.name, "spec_url": api.public_url, "accepted": origins, "base": api.base}
    return entry | ({"was_alone": True} if api.was_alone else {})


def read_apis(recorded: Mapping[str, Json]) -> list[Request]:
    """Return what a provenance records of several APIs, without the places of their documents."""
    entries = recorded.get("apis")
    return [
        replace(read_document(entry), name=entry["name"], was_alone=entry.get("was_alone") is True)
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and is_api_name(str(entry.get("name")))
    ]


def read_document(recorded: Mapping[str, Json]) -> Request:
    """Return what a provenance, or its entry of an API, records of a document, without its place."""
    accepted = _accepted(recorded.get("accepted"))
    return Request("", accepted=accepted, base=_text(recorded.get("base")), spec_url=_text(recorded.get("spec_url")))


_READERS: Final[Mapping[object, Callable[[Json], Any]]] = {None: _text, False: lambda value: value is True, (): _texts}
"""The reader of a field that is recorded as it is given, by its default."""


def as_given(option: Field[Any]) -> Recorded:
    """Return how a field is recorded that is recorded as it is given, and only where it is set."""

    def value(options: object, *_: object) -> Json:
        stated: Json = getattr(options, option.name)
        return list(stated) if isinstance(stated, tuple) else stated

    return Recorded(value, _READERS[option.default], if_empty=False)


RECORDED: Final[Mapping[str, Recorded]] = {
    "name": Recorded(lambda _options, prepared, _licence: prepared.identity.name, _text),
    "include": Recorded(lambda options, _prepared, _licence: list(options.include), _texts),
    "exclude": Recorded(lambda options, _prepared, _licence: list(options.exclude), _texts),
    "field_case": Recorded(lambda options, _prepared, _licence: options.field_case, _field_case),
    "license": Recorded(lambda _options, _prepared, licence: licence, None),
    "runtime": Recorded(
        lambda options, _prepared, _licence: "source" if options.runtime == "source" else "",
        lambda value: "source" if value == "source" else None,
        if_empty=False,
    ),
    "parts": Recorded(
        lambda options, _prepared, _licence: sorted(options.parts),
        lambda value: tuple(part for part in _texts(value) if part in PARTS) if isinstance(value, list) else None,
    ),
    **{option.name: as_given(option) for option in fields(Options) if option.metadata == AS_GIVEN},
    "spec_url": Recorded(
        lambda options, prepared, _licence: (
            addresses(prepared.requests) if options.of_several else prepared.requests[0].public_url
        ),
        None,
    ),
    "accepted": Recorded(
        lambda options, prepared, _licence: _recorded_origins(
            (None if options.of_several else options.requests[0].accepted) or prepared.table.adapter.accepted
        ),
        None,
    ),
    "base": Recorded(lambda options, prepared, _licence: None if options.of_several else prepared.base, None),
    "apis": Recorded(
        lambda options, prepared, _licence: list(map(_api, prepared.requests)) if options.of_several else [],
        None,
        if_empty=False,
    ),
    "names": Recorded(lambda _options, prepared, _licence: dict(sorted(prepared.pinned.items())), mapping),
    "retired": Recorded(lambda _options, prepared, _licence: dict(prepared.retired), mapping, if_empty=False),
}
"""By the name in the provenance, which is that of the field of `Options`."""

KEPT: Final[Mapping[str, str]] = {
    "spec": "openapi/",
    "overlay": "openapi/overlays/",
    "workflows": "openapi/workflows/",
    "overrides": "overrides.yaml",
}
"""Options of `aqlgen from-openapi` that name files, and where the project keeps those."""

NOT_RECORDED: Final[Mapping[str, str]] = {
    "output": "the project is there",
    "header": "it may be a credential",
    "allow_refs": "the project keeps the document as one file",
    "accept_hosts": "overrides.yaml has the hosts",
    "dry_run": "it is about a single run",
    "strict": "it is about a single run",
    "output_format": "it is about a single run",
    "verbose": "it is about a single run",
    "quiet": "it is about a single run",
}
"""Options of `aqlgen from-openapi` that an update does not know, each with the reason."""


def recorded_options(options: Options, prepared: Prepared, license: str) -> dict[str, Json]:
    """Return what the provenance records of the options."""
    values = {name: recorded.value(options, prepared, license) for name, recorded in RECORDED.items()}
    return {name: value for name, value in values.items() if value or RECORDED[name].if_empty}


def read_options(recorded: Mapping[str, Json]) -> dict[str, Any]:
    """Return the fields of `Options` that a provenance records; values that make no sense are left out."""
    return {name: option.read(recorded.get(name)) for name, option in RECORDED.items() if option.read is not None}


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
