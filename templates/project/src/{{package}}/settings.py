# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What this adapter hands to the runtime: where its data stands, and the functions around its requests.

The settings themselves stand in `adapter.toml` and the environment.
"""

from __future__ import annotations

from pathlib import Path

from . import hooks as hooks

FOLDER = Path(__file__).resolve().parent
