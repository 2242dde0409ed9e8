# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Calls of this API to copy, for `--help`: chosen from the table, with sample values, and each of them runs."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..introspection.introspect import Introspection
from ..settings.config import Config
from ..settings.load import ConfigError, load
from ..table import Adapter, Row, Table
from .values import Declared, ValueProblem, declared_parameters, read_pairs

__all__ = ["example_calls"]

_CHANGES, _HARMLESS = ("create", "update"), ("safe", "reversible")
_LONGEST = 200
_TRIED = 300
"""The number of operations of a kind that are read: the help of a large API comes as fast as that of a small one."""


def example_calls(folder: Path, adapter: Adapter, most: int) -> list[str]:
    """Return commands that run: safe reads first, those without parameters before others, then a harmless change."""
    command = f"{adapter.name}-adapter call"
    try:
        table, config = _table(folder)
        introspection = Introspection(adapter, table, config)
        calls = []
        for row, params in _chosen(table):
            words = _words(params, declared_parameters(introspection, table, row.name))
            if len(" ".join(words)) <= _LONGEST:
                calls.append(" ".join((command, row.name, *words, "--mock")))
    except (OSError, ValueError, KeyError, TypeError):  # a damaged table: the command itself says so
        return []
    return calls[:most]


def _table(folder: Path) -> tuple[Table, Config]:
    try:
        config = load(folder, os.environ)
    except ConfigError:
        config = Config()
    return Table(folder, read_only=config.read_only), config


def _chosen(table: Table) -> Iterator[tuple[Row, Mapping[str, Any]]]:
    """Yield a read without required parameters, then the read and the change whose example is shortest."""
    names = list(table.values("danger"))
    reads = _rows(table, [name for name, family, (danger,) in names if family == "read" and danger == "safe"])
    free = next((row for row in reads if not _required(row)), None)
    if free is not None:
        yield free, {}
    asking = [row for row in reads if _required(row)]
    changing = [name for name, family, (danger,) in names if family in _CHANGES and danger in _HARMLESS]
    for rows in (asking, _rows(table, changing)):
        examples = [(row, row.example) for row in rows if row.example]
        if examples:
            yield min(examples, key=lambda pair: len(json.dumps(pair[1])))


def _rows(table: Table, names: list[str]) -> list[Row]:
    rows = (table.find(name) for name in names[:_TRIED])
    return [row for row in rows if row is not None]


def _required(row: Row) -> bool:
    return any(parameter.required for parameter in row.parameters.values())


def _words(params: Mapping[str, Any], declared: Declared) -> list[str]:
    """Return parameters as words of a command line: NAME=VALUE if that is read back as it is, else one JSON object."""
    pairs = [
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in params.items()
    ]
    try:
        plain = all(isinstance(value, (str, int, float)) for value in params.values())
        as_pairs = plain and read_pairs(pairs, declared) == params
    except ValueProblem:
        as_pairs = False
    texts = pairs if as_pairs else [json.dumps(params, ensure_ascii=False, separators=(",", ":"))]
    return [shlex.quote(text) for text in texts]
