# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Introspection: what an agent can learn about the adapter."""
