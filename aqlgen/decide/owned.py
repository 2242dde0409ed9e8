"""The document as the owner's overrides have it: security requirements and headers, before anything is decided.

The security schemes themselves are put in when the document is built, so that its own requirements can name them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from aqlgen.decide.decision import Override
from aqlgen.decide.overrides import Overrides, check_requirements, nearest, unmatched
from aqlgen.diagnostics import Diagnostic
from aqlgen.ir import Document, Location, Operation, Origin, SecurityScheme

_AUTHORIZATION: Final = "authorization"
_AUTHORIZED: Final = frozenset({"http", "oauth2", "openIdConnect"})
"""Kinds of schemes whose credential is sent in the header Authorization."""


def with_adapter_overrides(document: Document, overrides: Overrides) -> tuple[Document, list[Diagnostic]]:
    """Return the document with what the owner decides for the whole adapter, and the findings about that.

    A header of the owner is not a parameter and replaces the security schemes that send it. With its value in the
    environment it is a security scheme, which every operation requires. The owner's requirements apply to operations
    that declare none or an empty list.
    """
    adapter, findings = overrides.adapter, []
    headers = frozenset(_folded(header.name) for header in adapter.headers)
    replaced = frozenset(scheme.name for scheme in document.schemes if _sent_header(scheme) in headers)
    schemes = tuple(scheme for scheme in document.schemes if scheme.name not in replaced)
    secret_headers = _secret_headers(overrides)
    known = [scheme.name for scheme in schemes]
    security, scopes = _without(document.security, replaced), document.scopes
    if adapter.security is not None:
        security, scopes = adapter.security.alternatives, adapter.security.scopes
        findings += check_requirements(adapter.security, known, overrides.file, adapter.places["security"])
    for name in adapter.variables:
        if name not in known:
            place = adapter.places[f"variables.{name}"]
            message = f"there is no security scheme `{name}`"
            findings.append(unmatched(overrides.file, place, message, nearest(name, known, "security scheme")))
    operations = tuple(
        _with_adapter(operation, headers, replaced, defaults=adapter.security is not None)
        for operation in document.operations
    )
    operations = tuple(_with_schemes(operation, secret_headers) for operation in operations)
    security = _and(security, secret_headers)
    schemes = (*(scheme for scheme in schemes if scheme.name not in secret_headers), *secret_headers.values())
    return replace(document, schemes=schemes, security=security, scopes=scopes, operations=operations), findings


def with_requirements(operation: Operation, override: Override, overrides: Overrides) -> Operation:
    """Return an operation with the security requirements of its override, if that has any."""
    if override.security is None:
        return operation
    security = override.security.alternatives
    operation = replace(operation, security=security, scopes=override.security.scopes)
    return _with_schemes(operation, _secret_headers(overrides))


def _secret_headers(overrides: Overrides) -> dict[str, SecurityScheme]:
    """Return the headers whose values are in the environment, as security schemes by their names."""
    return {
        header.scheme: SecurityScheme(
            name=header.scheme,
            kind="apiKey",
            description="Sent with every request, by overrides.yaml.",
            location="header",
            parameter=header.name,
            http_scheme="",
            origin=Origin(""),
        )
        for header in overrides.adapter.headers
        if header.variable
    }


def _with_schemes(operation: Operation, schemes: Collection[str]) -> Operation:
    """Return an operation that requires schemes beside those that it requires, if it states its own."""
    if operation.security is None or not schemes:
        return operation
    return replace(operation, security=_and(operation.security, schemes))


def _and(alternatives: Iterable[tuple[str, ...]], schemes: Collection[str]) -> tuple[tuple[str, ...], ...]:
    stated = tuple(alternatives)
    return tuple((*names, *schemes) for names in stated or ((),)) if schemes else stated


def _with_adapter(
    operation: Operation, headers: Collection[str], replaced: Collection[str], *, defaults: bool
) -> Operation:
    security, scopes = operation.security, operation.scopes
    if security is not None:
        security = _without(security, replaced)
        if defaults and not any(security):
            security, scopes = None, {}
    parameters = tuple(
        parameter
        for parameter in operation.parameters
        if parameter.location is not Location.HEADER or _folded(parameter.name) not in headers
    )
    return replace(operation, security=security, scopes=scopes, parameters=parameters)


def _sent_header(scheme: SecurityScheme) -> str:
    """Return the header that a scheme's credential is sent in, folded; "" for none."""
    if scheme.kind in _AUTHORIZED:
        return _AUTHORIZATION
    return _folded(scheme.parameter) if scheme.kind == "apiKey" and scheme.location == "header" else ""


def _folded(header: str) -> str:
    """Return a header as servers compare it, which may read `_` as `-`."""
    return header.strip().lower().replace("_", "-")


def _without(alternatives: Iterable[tuple[str, ...]], replaced: Collection[str]) -> tuple[tuple[str, ...], ...]:
    left = (tuple(name for name in schemes if name not in replaced) for schemes in alternatives)
    return tuple(dict.fromkeys(left))
