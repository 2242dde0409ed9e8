# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Work that goes on after its call was answered: its handles, what its API tells of it, and how it is asked."""
