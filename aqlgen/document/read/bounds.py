"""Refusing documents that would take more memory or stack than any real one."""

from __future__ import annotations

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.read.limits import Limits

MOST_FINDINGS = 200
"""How many repeated keys are worth telling; a hostile document has millions."""


def too_deep(name: str, limits: Limits, line: int = 0, column: int = 0) -> DocumentError:
    """Build the error: the document nests deeper than the bound."""
    return _refusal("document-too-deep", f"nested deeper than {limits.depth} levels", name, line, column)


def too_many(name: str, limits: Limits, line: int = 0, column: int = 0) -> DocumentError:
    """Build the error: the document holds more values than the bound, counting what aliases repeat."""
    message = f"the document holds more than {limits.nodes:,} values, counting what YAML aliases repeat"
    return _refusal("document-too-large", message, name, line, column)


def too_large(name: str, limits: Limits) -> DocumentError:
    """Build the error: more bytes than the bound."""
    return _refusal("document-too-large", f"the document is larger than {limits.size // (1024 * 1024)} MiB", name, 0, 0)


def _refusal(code: str, message: str, name: str, line: int, column: int) -> DocumentError:
    return DocumentError(Diagnostic(code, Severity.ERROR, message, file=name, line=line, column=column))
