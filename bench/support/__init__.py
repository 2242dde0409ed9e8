"""What several measurements need: documents, processes, a raw MCP client, and a bare server to compare with."""
