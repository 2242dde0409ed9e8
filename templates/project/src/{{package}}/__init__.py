# shared: yours to edit; `aqlgen update` merges its own changes into it.
"""An MCP-AQL adapter: the data files beside this module say what it serves, `runtime` serves it."""
