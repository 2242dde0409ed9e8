# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The safety loop: reports of agents, their evaluation, blocks and verification (specification, 8.6 to 8.8)."""
