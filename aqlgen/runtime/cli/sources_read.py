# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The owner's files in `doctor`: those that are read, those at hand that are not, and those out of date."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..settings.env_file import VARIABLE, exposed
from ..settings.load import CONFIG_FILE_VARIABLE, settings_file
from ..settings.project import SETTINGS_FILE, outdated_files
from ..text import line

__all__ = ["file_lines", "files_read"]

_MOST = 5


def files_read(folder: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the owner's files: `settings` and `env_file` by path, None for none, `hooks`, and what is wrong with them.

    `not_read` are files of the working directory that look like the owner's and are not used; `outdated` are files of
    the installed package that are other ones in the project.
    """
    settings, env_file = settings_file(folder, environ), environ.get(VARIABLE) or None
    names = {SETTINGS_FILE: settings, ".env": None if env_file is None else Path(env_file)}
    return {
        "settings": None if settings is None else str(settings.absolute()),
        "env_file": env_file,
        "env_file_exposed": env_file is not None and exposed(Path(env_file)),
        "hooks": str(folder / "hooks.py"),
        "not_read": [name for name, used in names.items() if Path(name).is_file() and not _same(Path(name), used)],
        "outdated": outdated_files(folder),
    }


def _same(path: Path, other: Path | None) -> bool:
    try:
        return other is not None and path.samefile(other)
    except OSError:
        return False


def file_lines(files: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines about the owner's files for people."""
    yield "Files"
    for name, key in (("adapter.toml", "settings"), ("hooks.py", "hooks"), (".env", "env_file")):
        yield f"  {name:<26} {line(files[key], 300) if files[key] else 'none'}"
    if files["env_file_exposed"]:
        yield f"  Others can read or write {line(files['env_file'], 300)}: chmod 600"
    variables = {SETTINGS_FILE: CONFIG_FILE_VARIABLE, ".env": VARIABLE}
    for name in files["not_read"]:
        yield f"  {name} in this folder is not read; {variables[name]}={name} reads it"
    if files["outdated"]:
        names = ", ".join(line(name, 80) for name in files["outdated"][:_MOST])
        more = f" and {len(files['outdated']) - _MOST} more" if len(files["outdated"]) > _MOST else ""
        yield f"  Other ones in the project than installed: {names}{more}. Install it again: pip install -e ."
