# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Where requests may go: origins, what the owner accepted, checked addresses, and what goes to each host."""
