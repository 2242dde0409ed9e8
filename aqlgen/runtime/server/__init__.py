# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The MCP server: its tools, its transports, elicitation and log notifications."""
