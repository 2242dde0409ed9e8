# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""JSON Schema, as the adapter reads it."""
