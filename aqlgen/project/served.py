"""The projects that `aqlgen serve` makes: one for each content of a document, in a folder of the user's state.

A folder belongs to the documents by their places, and to the options. What a user accepted by the first start holds for
the next ones: a document that changes, as one behind a URL may at any time, renames nothing and gains no host.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final, Self

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import FileError
from aqlgen.document.assemble import Assembled
from aqlgen.document.read.web import is_url, without_credentials
from aqlgen.options import Options, overrides_content
from aqlgen.render.provenance import FILE, canonical_hash
from aqlgen.resources import build
from aqlgen.runtime.state.custody import states_folder

_DAYS: Final = 30
"""Days after its last start when the project of an earlier content is removed."""

_UNFETCHED: Final = frozenset({"url-unreadable", "no-document-found"})


@dataclass(frozen=True, slots=True)
class ServedProjects:
    """The projects of the same documents and options, each in a folder below `home`."""

    home: Path

    @classmethod
    def of(cls, options: Options, environ: Mapping[str, str], *, accept_hosts: bool) -> Self:
        """Return the projects of the options; headers are credentials, and decide nothing here. Raises FileError."""
        places = [
            (name, without_credentials(spec) if is_url(spec) else spec and os.path.abspath(spec))
            for name, spec in ((request.name, request.spec) for request in options.requests)
        ]
        about = repr((places, options.name, options.auth, overrides_content(options), accept_hosts))
        return cls(states_folder(environ) / "aqlgen" / "served" / _short(about))

    def folder_of(self, documents: Sequence[Assembled]) -> Path:
        """Return the folder for this content of the documents, by this aqlgen."""
        return self.home / _short(repr((build(), [canonical_hash(document.raw) for document in documents])))

    def as_before(self, options: Options) -> Options | None:
        """Return the options with the names and the accepted hosts of the last start, None where there was none."""
        from aqlgen.project import OVERRIDES, Project  # here, since a start with nothing new needs no stage
        from aqlgen.project.options import read_options

        last = self.last()
        if last is None:
            return None
        project = Project.open(last)
        overrides = project.folder / OVERRIDES
        recorded = read_options(project.recorded_options)
        pairs = zip(options.requests, project.documents(), strict=True)
        return replace(
            options,
            overrides=overrides if overrides.is_file() else None,  # with the hosts of --accept-hosts
            requests=tuple(replace(request, accepted=known.accepted) for request, known in pairs),
            names=project.names(),
            ids=project.operation_ids(),
            retired=recorded["retired"],
            stale="report",
        )

    def last(self) -> Path | None:
        """Return the project that was started last, None where there was none."""
        return next(iter(self._projects()), None)

    def warning_of_last(self, error: FileError) -> Diagnostic | None:
        """Return the warning that the last project stands for a document that cannot be fetched.

        None where there is none, and for any other error: a document that was read is never passed over.
        """
        finding, last = error.diagnostics[0], self.last()
        if last is None or finding.code not in _UNFETCHED:
            return None
        generated = datetime.fromtimestamp((last / FILE).stat().st_mtime).astimezone()
        message = f"{finding.message}; the project of {generated:%Y-%m-%d %H:%M} is served"
        return replace(finding, severity=Severity.WARNING, message=message, help="")

    def use(self, folder: Path) -> None:
        """Note that a project is started, and remove those that nobody has started for long."""
        with suppress(OSError):  # as where the state may only be read
            self.home.chmod(0o700)
            os.utime(folder)
        _hold(folder)
        for file in self.home.glob(f"*/{FILE}"):
            with suppress(FileNotFoundError):  # where another start has removed it
                if file.parent.stat().st_mtime < time.time() - _DAYS * 86_400 and not _is_held(file.parent):
                    shutil.rmtree(file.parent, ignore_errors=True)

    def _projects(self) -> list[Path]:
        """Return the projects that there are, the last one started first; not one that another start is writing."""
        projects = [file.parent for file in self.home.glob(f"[!.]*/{FILE}")]
        return sorted(projects, key=lambda folder: folder.stat().st_mtime, reverse=True)


def _hold(folder: Path) -> None:
    """Keep others from removing a folder as long as this process runs, or the adapter that takes its place."""
    with suppress(ImportError, OSError):  # Windows removes no file that is open
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        os.set_inheritable(descriptor, True)
        fcntl.flock(descriptor, fcntl.LOCK_SH)


def _is_held(folder: Path) -> bool:
    """Return True if the adapter in a folder runs."""
    try:
        import fcntl
    except ImportError:
        return False
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _short(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
