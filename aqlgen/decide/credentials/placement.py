"""Where a security scheme puts its credential, and the parameters that stand in the same place."""

from __future__ import annotations

from aqlgen.decide.credentials.names import is_signing_part
from aqlgen.ir import SIGNATURE, Location, Parameter, SecurityScheme

__all__ = ["TOKENS", "sends", "sends_parameter"]

TOKENS = frozenset({"oauth2", "openIdConnect"})
"""Kinds of schemes whose credential is a token in the header Authorization."""


def sends(scheme: SecurityScheme) -> tuple[str, str]:
    """Return location and name of what a scheme sends; names of headers are in lower case."""
    if scheme.kind == "apiKey":
        name = scheme.parameter.lower() if scheme.location == Location.HEADER else scheme.parameter
        return scheme.location, name
    return ("", scheme.name) if scheme.kind == "mutualTLS" else (Location.HEADER.value, "authorization")


def sends_parameter(scheme: SecurityScheme, parameter: Parameter) -> bool:
    """Return True if a parameter stands where a scheme puts its credential, or a part of it."""
    if scheme.kind == SIGNATURE and is_signing_part(parameter):
        return True
    name = parameter.name.lower() if parameter.location is Location.HEADER else parameter.name
    return sends(scheme) == (parameter.location.value, name)
