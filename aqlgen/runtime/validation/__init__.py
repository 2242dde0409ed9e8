# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The check of a call's parameters before anything is sent."""
