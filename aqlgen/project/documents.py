"""The documents of an update: those that a project keeps, and what is asked for in their place or beside them.

A project of one document becomes one of several APIs when a document is added: its own API is named after its document,
and what was kept by `METHOD /path` is kept by `NAME:METHOD /path`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.read import open_document
from aqlgen.document.request import Request
from aqlgen.project import Project
from aqlgen.table.apis import api_names, split_name

__all__ = ["documents", "single"]

Requesting: TypeAlias = Callable[[str, tuple[str, ...], tuple[str, ...]], Request]
"""Returns the request for a document with its overlays and workflows."""


def single(specs: Sequence[str], remove: Sequence[str]) -> str | None:
    """Return the newer document of a project of one, None for none. Raises OptionError for what only several have."""
    if remove:
        raise OptionError.of("bad-option", "the adapter has one API, which cannot be removed")
    if len(specs) > 1:
        raise OptionError.of("bad-option", "the adapter has one API", help="Give a further one with --add.")
    if specs and split_name(specs[0])[0]:
        raise OptionError.of("bad-option", "the adapter has one API, without a name", help="Give its document alone.")
    return specs[0] if specs else None


def documents(
    project: Project,
    specs: Sequence[str],
    add: Sequence[str],
    remove: Sequence[str],
    names: Mapping[str, str],
    ids: Mapping[str, str],
    requesting: Requesting,
) -> tuple[tuple[Request, ...], dict[str, str], dict[str, str]]:
    """Return the documents of the APIs, with the names and the operationIds to keep. Raises AqlgenError."""
    apis = {api.name: api for api in project.apis()}
    if not apis:
        first = _first(project)
        apis = {first.name: first}
        names, ids = ({f"{first.name}:{key}": value for key, value in kept.items()} for kept in (names, ids))
    newer = _newer(specs, apis)
    for name in remove:
        if name not in apis:
            raise _unknown(name, apis, "--remove")
        if name in newer:
            raise OptionError.of("bad-option", f"{name} is both replaced and removed")
        del apis[name]
    requests = [_kept(project, api, newer.get(name), requesting) for name, api in apis.items()]
    for name, spec in map(split_name, add):
        if name in apis:
            way = f"Replace it: --spec {name}={spec}"
            raise OptionError.of("bad-option", f"there is an API {name} already", help=way)
        requests.append(replace(requesting(spec, (), ()), name=name))
    if not requests:
        raise OptionError.of("bad-option", "no API would be left")
    return tuple(requests), dict(names), dict(ids)


def _kept(project: Project, api: Request, newer: str | None, requesting: Requesting) -> Request:
    """Return the request for the newer document of an API, or for the one that the project keeps."""
    if newer is None:
        return api if api.spec else project.request(api)
    return project.beside(requesting(newer, api.overlays, api.workflows), api)


def _first(project: Project) -> Request:
    """Return the one API of a project under the name that it has among several. Raises AqlgenError."""
    request = project.request()
    with open_document(request.spec) as (source, _):
        (name,) = api_names([request], [source.root])
    return replace(request, name=name, was_alone=True)


def _newer(specs: Sequence[str], apis: Mapping[str, Request]) -> dict[str, str]:
    """Return the newer documents by API. Raises OptionError."""
    newer: dict[str, str] = {}
    for written in specs:
        name, spec = split_name(written)
        if not name and len(apis) == 1:
            name = next(iter(apis))
        if not name:
            ways = " or ".join(f"--spec {api}={spec}" for api in list(apis)[:4])
            raise OptionError.of("bad-option", f"--spec {spec} does not name its API", help=f"Write {ways}.")
        if name not in apis:
            raise _unknown(name, apis, "--spec", spec)
        if name in newer:
            raise OptionError.of("bad-option", f"--spec gives {name} twice")
        newer[name] = spec
    return newer


def _unknown(name: str, apis: Mapping[str, Request], option: str, spec: str = "") -> OptionError:
    way = f"The APIs are {', '.join(apis)}." + (f" Write --add {name}={spec} for a further one." if spec else "")
    return OptionError.of("bad-option", f"{option} names {name}, which is not an API of the adapter", help=way)
