"""A witness: a project's OpenAPI documents, read a second time by code that shares nothing with the adapter's.

It says what requests must look like, which families and dangers a method allows, what introspection must show, and
which lists page; and it plays the API. It imports nothing of the generator, and nothing else of the runtime.
"""

from .document import Document, Operation
from .examine import Witness
from .judge import Finding, Grade, Request

__all__ = ["Document", "Finding", "Grade", "Operation", "Request", "Witness"]
