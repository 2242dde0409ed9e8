# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Pages of the API's lists."""
