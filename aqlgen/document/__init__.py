"""The document: read, linked, overlaid and upgraded into one OpenAPI 3.x tree, with positions and origins."""
