# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What an operator sees of an adapter at work: records of calls, metrics, traces."""
