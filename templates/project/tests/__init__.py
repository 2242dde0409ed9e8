# shared: yours to edit; `aqlgen update` merges its own changes into it.
"""The adapter's own tests: the same in each adapter, driven by its table."""
