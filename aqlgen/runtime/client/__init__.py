# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The HTTP client that carries requests to the API."""
