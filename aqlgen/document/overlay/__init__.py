"""OpenAPI Overlays 1.0 and 1.1: changes to a document that are kept in a file beside it.

In: a linked tree, and an overlay as a `Source`. Out: a changed tree, and diagnostics.
https://spec.openapis.org/overlay/v1.1.0.html
"""
