# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""MCP: the server and its tools, the transports, and who is at the other end."""
