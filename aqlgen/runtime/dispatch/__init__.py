# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The path of a request from its arguments to its envelope."""
