"""What a person sees of an update: what changed for agents, which files, and what is left to do."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from aqlgen.commands.updated import Updated
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import visible
from aqlgen.project.made import Made

SHOWN = 10
"""How many files of a kind are named before the rest is counted."""


def summary(done: Updated, *, verbose: bool) -> str:
    """Say what an update did, or would do."""
    merged = done.merged
    if merged.nothing:
        return f"{visible(str(done.folder.resolve()))} is up to date."
    did = "Updated" if done.written else "Would update"
    files = sum(map(len, (merged.added, merged.changed, merged.removed, merged.conflicts)))
    parts = [f"{did} {visible(str(done.folder))}: {counted(files, 'file')}, {_versions(done.before, done.after)}."]
    parts.append(done.changes.as_text(every=verbose))
    for what, paths in (("added", merged.added), ("changed", merged.changed), ("removed", merged.removed)):
        parts += _files(what, paths, every=verbose)
    if done.overrides_added:
        parts.append(f"Edits by hand that are overrides now: {', '.join(map(visible, done.overrides_added))}.")
    if done.aliases_added:
        parts.append(f"Renamed, and answering to their old names for a time: {_some(done.aliases_added)}.")
    if merged.conflicts:
        parts.append(conflicts(done))
    elif done.written:
        parts.append(f"Look at it with `git diff --cached`, then commit it. {_back(done)}")
    return "\n".join(parts)


def conflicts(done: Updated) -> str:
    """Name the files that are left to the user, and what to do about them."""
    would = "" if done.written else "would be "
    lines = [f"{counted(len(done.merged.conflicts), 'conflict')} {would}left to resolve:"]
    lines += [f"  {visible(one.path)}: {visible(one.why)}" for one in done.merged.conflicts]
    if done.written:
        lines.append(
            "Edit what stands between <<<<<<< and >>>>>>>, or `git rm` what is to go; `git add` the rest, and commit."
        )
        lines.append(_back(done))
    return "\n".join(lines)


def _back(done: Updated) -> str:
    """Say how to undo the update, and nothing else: there may be other work elsewhere in the repository."""
    return f"`git restore --source=HEAD --staged --worktree {quote(str(done.folder))}` takes it back."


def _versions(before: Made, after: Made) -> str:
    """Say what the update was about."""
    parts = []
    if before.aqlgen != after.aqlgen:
        parts.append(f"aqlgen {visible(before.aqlgen)} to {after.aqlgen}")
    if before.input != after.input:
        parts.append("a newer document")
    return " and ".join(parts) or "by the same aqlgen from the same document"


def _files(what: str, paths: tuple[str, ...], *, every: bool) -> Iterator[str]:
    if paths:
        yield f"{what}: {_some(paths, len(paths) if every else SHOWN)}"


def _some(what: tuple[str, ...], most: int = SHOWN) -> str:
    more = f" and {len(what) - most} more" if len(what) > most else ""
    return f"{', '.join(map(visible, what[:most]))}{more}"
