# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The runtime of every MCP-AQL adapter: the same bytes in each, driven by the data files of its package."""
