# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""From validated parameters to the request that is sent."""
