# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The way to the API: validate, build, send, receive, decode."""
