# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""An MCP-AQL adapter: the data files beside this module say what it serves, `runtime` serves it."""
