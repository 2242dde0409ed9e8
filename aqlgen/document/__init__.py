"""The document: read, linked, overlaid and upgraded into one OpenAPI 3.x tree, with positions and origins.

In: a `Request`, the user's document, overlays and options. Out: `assemble.Assembled`, one tree whose references all
begin with `#/`, with its source files, origins and diagnostics. Later stages also use `resolve`, for references within
the tree, and `positions`, for JSON pointers with their lines and columns. These three are imported from their modules,
because the commands that read no document should not pay for them.
"""

from aqlgen.document.request import Request

__all__ = ["Request"]
