# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The variables `MCP_AQL_…` that are no settings, and the refusal of those that are neither.

A guard that is misspelt would be no guard, so that a variable nobody reads stops the start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["VARIABLES", "Variable", "unknown_variable"]

_OURS = re.compile(r"MCP[_-]?AQL(?:[_-].*)?", re.IGNORECASE | re.DOTALL)


class Variable(NamedTuple):
    """A variable with what it is for. With `from_file`, the same name with `_FILE` names a file with the value."""

    name: str
    description: str
    from_file: bool = False


VARIABLES = (
    Variable(
        "MCP_AQL_CONFIG", "The file of settings to read instead of the project's `adapter.toml`, or a policy in JSON."
    ),
    Variable("MCP_AQL_ENV_FILE", "A file of variables to add to the environment."),
    Variable("MCP_AQL_HTTP_TOKEN", "Tokens of those who may use the adapter over HTTP, one a line.", from_file=True),
    Variable("MCP_AQL_STATE_KEY", "Keys that seal what callers keep, one a line; the first seals.", from_file=True),
    Variable("MCP_AQL_AUTH_EXCHANGE_CLIENT_ID", "The client that exchanges callers' tokens.", from_file=True),
    Variable("MCP_AQL_AUTH_EXCHANGE_CLIENT_SECRET", "The secret of that client.", from_file=True),
)


def unknown_variable(environ: Mapping[str, str], settings: Iterable[str], package: str) -> str | None:
    """Return the sentence about a variable that is set, looks like ours, and that nothing reads; None without one.

    `settings` are the variables of settings. Those of the credentials of an adapter begin with its package's name.
    """
    known = {*settings, *(entry.name for entry in VARIABLES)}
    known |= {f"{entry.name}_FILE" for entry in VARIABLES if entry.from_file}
    credentials = f"{package.removesuffix('_adapter').upper()}_"
    for name in sorted(environ):
        if name in known or not environ[name] or not _OURS.fullmatch(name) or name.startswith(credentials):
            continue
        from difflib import get_close_matches

        nearest = get_close_matches(name.upper(), sorted(known), 1, 0.6)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        return f"the variable {name} is no setting.{hint} adapter.toml names the variable of each; unset this one"
    return None
