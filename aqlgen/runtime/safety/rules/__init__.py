# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The owner's rules: which operations they are about, and whether a call meets their conditions."""
