"""The overrides that an update writes: hand edits of generated files, and old names as aliases."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aqlgen.commands.updated import Asked
from aqlgen.diagnostics.errors import OptionError
from aqlgen.edits import InsertionError, Recovered, aliases, insert, recover
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Prepared, Progress
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.committed import Committed
from aqlgen.project.pristine import Pristine

__all__ = ["aliased", "overridden", "recovered", "with_aliases"]


def recovered(committed: Committed, asked: Asked, progress: Progress) -> Recovered:
    """Turn hand edits of machine files into overrides. Raises OptionError for edits that overrides cannot express."""
    edited = committed.edited()
    if asked.spec is not None:  # the document as it was edited may be given as the new one
        edited = {path: content for path, content in edited.items() if not _is_given(asked.spec, path, content)}
    if not edited:
        return Recovered()
    progress("reading edits")
    pristine = Pristine(committed, {}).find({path: committed.project.recorded[path] for path in edited})
    edits = recover(committed.project, edited, pristine, progress)
    if edits.refused:
        folder = committed.project.folder
        raise OptionError(*(replace(refusal, file=str(folder / refusal.file)) for refusal in edits.refused))
    return edits


def _is_given(spec: str, path: str, content: bytes) -> bool:
    return path.startswith("openapi/") and Path(spec).is_file() and Path(spec).read_bytes() == content


@contextmanager
def overridden(options: Options, overrides: bytes | None) -> Iterator[Options]:
    """Yield the options with new overrides, in a temporary file; None keeps the overrides of the options."""
    if overrides is None:
        yield options
        return
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        path = Path(name) / OVERRIDES
        path.write_bytes(overrides)
        yield replace(options, overrides=path)


def aliased(options: Options, asked: Asked, prepared: Prepared, names: Mapping[str, str]) -> dict[str, dict[str, Json]]:
    """Return the overrides that keep the old names of renamed operations; `names` are the names before."""
    if asked.aliases is None:
        return {}
    until = datetime.now(UTC).date() + timedelta(days=asked.aliases)
    return aliases(names, options.ids, prepared.decisions, until)


def with_aliases(project: Project, overrides: bytes | None, added: Mapping[str, Mapping[str, Json]]) -> bytes:
    """Return the overrides, the project's own when None, with aliases. Raises OptionError if they cannot be added."""
    path = project.folder / OVERRIDES
    if overrides is None:
        overrides = path.read_bytes() if path.is_file() else b""
    try:
        return insert(overrides.decode("utf-8"), added).encode("utf-8")
    except InsertionError as error:
        message = f"the aliases of {error} cannot be put where its overrides stand"
        raise OptionError.of("bad-override", message, file=str(path), help="Put them there by hand.") from None
