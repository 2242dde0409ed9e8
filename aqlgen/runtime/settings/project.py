# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The owner's project: the folder that the package stands in, or from which it was installed.

Nothing is taken from the working directory as such: an MCP client may start the adapter in any folder, such as the
repository that somebody works on, and what lies there must not choose an address or switch off a guard.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

__all__ = ["SETTINGS_FILE", "outdated_files", "project_of", "settings_beside"]

SETTINGS_FILE = "adapter.toml"
_COMPARED = ("*.py", "*.json", "operations/*.json")


def project_of(folder: Path) -> Path | None:
    """Return the project of the package in `folder`, None if there is none at hand.

    A package that was installed from a folder has a record of it (PEP 610), which the installer wrote.
    """
    if folder.parent.name == "src":
        return folder.parent.parent
    for record in folder.parent.glob(f"{folder.name}-*.dist-info/direct_url.json"):
        project = _recorded_folder(record)
        if project is not None and (project / "src" / folder.name / "adapter.json").is_file():
            return project
    return None


def settings_beside(folder: Path) -> list[Path]:
    """Return where the settings of the package in `folder` may stand: in its project, then beside its code."""
    project = project_of(folder)
    packaged = folder / SETTINGS_FILE
    return [packaged] if project is None else [project / SETTINGS_FILE, packaged]


def outdated_files(folder: Path) -> list[str]:
    """Return the files of an installed package that are other ones in its project: it was edited or updated since.

    The code that was installed is the code that runs, so that such an edit needs an installation.
    """
    project = project_of(folder)
    source = None if project is None else project / "src" / folder.name
    if source is None or source == folder:
        return []
    names = {path.relative_to(source).as_posix() for pattern in _COMPARED for path in source.glob(pattern)}
    return sorted(name for name in names if _content(source / name) != _content(folder / name))


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _recorded_folder(record: Path) -> Path | None:
    """Return the folder that a package was installed from, None if it came from elsewhere."""
    from urllib.parse import unquote, urlsplit

    try:
        entry = json.loads(record.read_bytes())
        url = urlsplit(str(entry["url"])) if "dir_info" in entry else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if url is None or url.scheme != "file" or url.netloc not in ("", "localhost"):
        return None
    path = unquote(url.path)
    return Path(path.lstrip("/") if os.name == "nt" else path)
