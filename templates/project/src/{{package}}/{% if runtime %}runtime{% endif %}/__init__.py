# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The modules of the installed package aqlgen-runtime, under the names of a project that holds a copy of them."""

from __future__ import annotations

from aqlgen_runtime import __path__ as __path__
