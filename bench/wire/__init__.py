"""Requests on the wire: a table of what the OpenAPI documents say, and a server made by others from each document."""
