# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The owner's quotas: what applies to a request, its counting in the store, and what a call is told (R-RATE-1)."""
