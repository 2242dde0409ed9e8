# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The owner's settings."""
