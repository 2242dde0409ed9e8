# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""From parameters to the bytes of a request."""
