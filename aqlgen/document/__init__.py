"""The document: read, linked, overlaid and upgraded into one OpenAPI 3.x tree, with positions and origins.

In: a `Request`, the user's document, overlays and options (`request`). Out: `Assembled`, one tree in which every
reference begins with `#/`, with its source files and diagnostics (`assemble`). Later stages also use `resolve`, for
references within the tree, and `positions`, for JSON pointers and their lines and columns.
"""
