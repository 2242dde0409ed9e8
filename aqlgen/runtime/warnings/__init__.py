# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The warnings of a call."""
