"""Everything that ends a command, one exit code per branch.

    AqlgenError
    ├── DocumentError     2  the document cannot be used; carries its diagnostics
    │   └── SchemaError   2  an adapter element is not as the protocol's documents have it
    ├── OptionError       3  an option or an override is wrong
    ├── FileError         4  reading or writing failed
    └── TemplateError     5  a template failed

Exit code 1 is an internal error: any other exception, reported by the command line without a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from aqlgen.diagnostics import Diagnostic, Severity


class AqlgenError(Exception):
    """A problem that the user can act on. `diagnostics` holds at least one finding, the worst first.

    `sources` are the documents that were read before it, for excerpts of them.
    """

    exit_code: ClassVar[int] = 1
    type: ClassVar[str] = "internal"

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics
        self.sources: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls,
        code: str,
        message: str,
        *,
        help: str = "",
        file: str = "",
        line: int = 0,
        column: int = 0,
        pointer: str = "",
    ) -> Self:
        """Build the error around a single finding of severity error."""
        finding = Diagnostic(
            code, Severity.ERROR, message, pointer=pointer, file=file, line=line, column=column, help=help
        )
        return cls(finding)


class DocumentError(AqlgenError):
    """The document is not OpenAPI, not readable as JSON or YAML, or holds nothing that can be served."""

    exit_code = 2
    type = "document"


class SchemaError(DocumentError):
    """An adapter element is invalid."""

    type = "SCHEMA_VALIDATION_ERROR"


class OptionError(AqlgenError):
    """A command-line option or an override cannot be used."""

    exit_code = 3
    type = "option"


class FileError(AqlgenError):
    """A file, folder or URL could not be read or written. `status` is that of a server's answer, 0 without one."""

    status: int = 0
    exit_code = 4
    type = "file"

    @classmethod
    def of_all(cls, code: str, message: str, files: Sequence[str], *, help: str) -> Self:
        """Build the error around a finding for each of several files."""
        others = (Diagnostic(code, Severity.ERROR, f"see {files[0]}", file=file) for file in files[1:])
        return cls(Diagnostic(code, Severity.ERROR, message, file=files[0], help=help), *others)


class TemplateError(AqlgenError):
    """A template could not be rendered or what it gave could not be formatted."""

    exit_code = 5
    type = "template"
