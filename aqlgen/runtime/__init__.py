# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The runtime of every MCP-AQL adapter: the same bytes in each, driven by the data files of its package."""

SEAL = "SEAL"
"""The file of the archive that has the hash of every other one, `HASH  PATH` a line."""
