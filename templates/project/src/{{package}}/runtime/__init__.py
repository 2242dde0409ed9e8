"""The runtime of every MCP-AQL adapter: the same bytes in each, driven by the data files of its package."""
