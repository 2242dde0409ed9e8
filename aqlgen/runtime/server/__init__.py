# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The MCP server: its tools, its transports, elicitation and log notifications."""
