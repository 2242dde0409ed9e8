# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""From the bytes of a response to data."""
