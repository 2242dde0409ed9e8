# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Credentials: where they come from and how they are sent."""
