"""The documents of a command: one, or those of several APIs, each with the files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.request import Request
from aqlgen.options import Options
from aqlgen.table.identity import split_name


def options_of(
    specs: Sequence[str],
    *,
    name: str | None,
    overrides: Path | None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    field_case: str | None = None,
    auth: str | None = None,
    runtime: str | None = None,
    strict: bool = False,
    header: Iterable[str] | None,
    overlay: Iterable[str] | None = None,
    workflows: Iterable[str] | None = None,
    allow_refs: Iterable[str] | None = None,
) -> Options:
    """Return the options for one document, or for several APIs. Raises OptionError."""
    pairs = [split_name(spec) for spec in specs]
    headers, allowed = tuple(header or ()), tuple(allow_refs or ())
    options = Options(
        (Request.of(pairs[0][1], headers, overlay or (), allowed, workflows or ()),),
        name=name,
        overrides=overrides,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        field_case=field_case,
        auth=auth,
        strict=strict,
        runtime=runtime,
    )
    if len(pairs) == 1 and not pairs[0][0]:
        return options
    if auth is not None:
        message, advice = (
            "--auth is for an adapter of one API",
            "Say it in overrides.yaml, under apis.",
        )
        raise OptionError.of("bad-option", message, help=advice)
    if [spec for _, spec in pairs].count("-") > 1:
        raise OptionError.of("bad-option", "only one document can be standard input", help="Give the others as files.")
    requests = requests_of(pairs, headers, tuple(overlay or ()), tuple(workflows or ()), allowed)
    return replace(options, requests=requests)


def requests_of(
    pairs: Iterable[tuple[str, str]],
    headers: Sequence[str],
    overlays: Sequence[str],
    workflows: Sequence[str],
    allowed: Sequence[str],
) -> tuple[Request, ...]:
    """Return the requests of several APIs, by names and documents. Raises OptionError."""
    pairs = list(pairs)
    beside: dict[str, dict[str, list[str]]] = {}
    for option, files in (("--overlay", overlays), ("--workflows", workflows)):
        for written in files:
            name, file = split_name(written)
            if not name or name not in dict(pairs):
                known = next((api for api, _ in pairs if api), "NAME")
                raise OptionError.of(
                    "bad-option",
                    f"{option} {written} does not name the API that it is for",
                    help=f"Name it, and the API's document too: {known}=SPEC {option} {known}={file}",
                )
            beside.setdefault(name, {}).setdefault(option, []).append(file)
    return tuple(
        Request.of(
            spec,
            headers,
            beside.get(name, {}).get("--overlay", ()),
            allowed,
            beside.get(name, {}).get("--workflows", ()),
            name,
        )
        for name, spec in pairs
    )
