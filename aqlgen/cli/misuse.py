"""Command lines that the parser refuses: the error, and what was probably meant."""

from __future__ import annotations

import difflib
from pathlib import Path

from aqlgen.cli.app import app
from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.read.web import is_url


def misused(error: Exception) -> OptionError:
    """Return the parser's refusal as an error of aqlgen's own, with a help."""
    describe = getattr(error, "format_message", None)
    message = (str(describe()) if callable(describe) else str(error)).replace("Value error, ", "").rstrip(".")
    context = getattr(error, "ctx", None)
    path = "aqlgen" if context is None else str(context.command_path)
    unknown = message.startswith("No such command")
    word = message.split("'")[1] if unknown and "'" in message else ""
    if unknown:
        message = message.partition(". Did you mean")[0]
    return OptionError.of("bad-option", message, help=_meant(word) if word else f"See `{path} --help`.")


def _meant(word: str) -> str:
    """Return which command an unknown word may be meant for: a document belongs behind one."""
    if is_url(word) or Path(word).exists() or word.endswith((".json", ".yaml", ".yml")):
        return f"`aqlgen from-openapi {word}` generates an adapter of it, `aqlgen explain {word}` shows its decisions."
    names = [str(command.name) for command in app.registered_commands]
    near = difflib.get_close_matches(word.lower(), names, n=1)
    return f"Did you mean `aqlgen {near[0]}`?" if near else f"The commands are {', '.join(sorted(names))}."
