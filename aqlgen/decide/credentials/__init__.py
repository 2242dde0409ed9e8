"""The credentials that each request carries, where a document states them in parameters, in part, or not at all.

In: the built document. Out: the document with the security schemes that its parameters stand for, without these
parameters, and with the requirements that hold in practice; each departure from the text has a diagnostic.
"""

from aqlgen.decide.credentials.effective import with_effective_security

__all__ = ["with_effective_security"]
