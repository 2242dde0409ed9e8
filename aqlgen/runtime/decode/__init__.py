# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""From the API's response to data, or to the failure that it reports."""
