# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What must outlive a call, a session or a process, in memory, SQLite or Redis; and what callers keep, sealed."""
