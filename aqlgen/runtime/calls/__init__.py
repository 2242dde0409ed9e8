# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Calls that are more than one exchange, or return less than the whole answer."""
