# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Deciding which calls run, are confirmed or are refused: the policy by danger and trust, and the owner's rules."""
