"""Output that all commands share: the progress of a run, and findings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import typer

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.diagnostics.report import Text

_MOST_BYTES: Final = 4 << 20

_ALWAYS: Final = "document-found"
"""The code of a note that is shown without `verbose`, too."""

_STAGES: Final = {
    "reading": "Reading the document",
    "building": "Understanding its operations",
    "deciding": "Deciding about its operations",
    "tabulating": "Building the operation table",
    "rendering": "Rendering the project",
    "writing": "Writing the project",
    "looking": "Looking at the project",
    "reading edits": "Turning edits into overrides",
    "merging": "Merging",
    "comparing": "Comparing with the earlier state",
    "checking": "Testing the adapter",
    "writing the page": "Writing the page",
}


class Echo(Protocol):
    """Prints a line, as `typer.echo` does."""

    def __call__(self, message: str, *, err: bool = False) -> None:
        """Print a text, on standard error if `err`."""


@contextmanager
def progress(*, shown: bool) -> Iterator[Callable[[str], None]]:
    """Show on a terminal which stage is at work, in one line that is rewritten; do nothing elsewhere."""
    if not shown or not sys.stderr.isatty():
        yield lambda _stage: None
        return
    from rich.console import Console  # here, since most runs have no terminal to be rich on

    with Console(stderr=True).status("Starting") as status:
        yield lambda stage: status.update(_shown(stage))


def _shown(stage: str) -> str:
    """Return the line of a stage, with the count of a long run: `Building the operation table … 3,000 of 11,422`."""
    name, _, count = stage.partition(": ")
    return f"{_STAGES[name]} … {count}".rstrip()


def print_diagnostics(
    diagnostics: Sequence[Diagnostic], sources: Sequence[Text], *, verbose: bool, echo: Echo = typer.echo
) -> None:
    """Print diagnostics on standard error, notes only with `verbose`, except which document is used."""
    from aqlgen.diagnostics.report import as_text

    shown = [
        diagnostic
        for diagnostic in diagnostics
        if verbose or diagnostic.severity is not Severity.NOTE or diagnostic.code == _ALWAYS
    ]
    if shown:
        echo(as_text(shown, sources, show_all=verbose), err=True)


def read_text(path: Path, code: str) -> str:
    """Return the text of a file of at most 4 MiB. Raises FileError, and OptionError with the code."""
    file = str(path)
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            message = f"{file} is larger than {_MOST_BYTES >> 20} MiB"
            raise OptionError.of(code, message, file=file, help="Give it in several files.")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OptionError.of(code, "not UTF-8 text", file=file, help="Save the file as UTF-8.") from None
    except FileNotFoundError:
        raise FileError.of("file-not-found", f"there is no file {file}", file=file) from None
    except OSError as error:
        raise FileError.of("file-unreadable", f"cannot read {file}: {error.strerror}", file=file) from None
