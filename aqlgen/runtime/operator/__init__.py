# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operator's page: what waits for a person, shown and decided outside of everything that an agent reads."""
