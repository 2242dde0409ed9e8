"""A witness: a project's OpenAPI documents, read a second time by code that shares nothing with the adapter's.

It says what requests must look like, which families and dangers a method allows, what introspection must show, and
which lists page; and it plays the API. It imports nothing of the generator, and nothing else of the runtime.
"""

from .answers import Answer
from .document import Document, Operation, Parameter
from .examine import Witness
from .judge import Finding, Grade, Judgement, Request
from .shown import Adapter

__all__ = [
    "Adapter",
    "Answer",
    "Document",
    "Finding",
    "Grade",
    "Judgement",
    "Operation",
    "Parameter",
    "Request",
    "Witness",
]
