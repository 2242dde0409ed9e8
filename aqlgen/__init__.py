"""aqlgen turns an OpenAPI document into an MCP-AQL adapter."""

__version__ = "0.1.0"
