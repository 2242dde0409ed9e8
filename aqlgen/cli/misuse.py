"""Command lines that the parser refuses: the error, and what was probably meant."""

from __future__ import annotations

import difflib
from pathlib import Path

from aqlgen.cli.app import app
from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.read.web import is_url

_WORDS = {
    "generate": "from-openapi",
    "gen": "from-openapi",
    "init": "from-openapi",
    "new": "from-openapi",
    "create": "from-openapi",
    "openapi": "from-openapi",
    "schema": "from-schema",
    "element": "from-schema",
    "answer": "review",
    "inspect": "explain",
    "validate": "explain",
    "lint": "explain",
    "upgrade": "update",
    "regenerate": "update",
    "run": "serve",
    "start": "serve",
    "compare": "diff",
    "verify": "check",
}
"""Other programs' words for what a command does."""

_IN_PLACE = "`aqlgen update` generates a project again in its place, and keeps your edits."
_SETTINGS = "It is a setting of the adapter, not of its generation: see adapter.toml in the project."
_SERVING = "`aqlgen serve` has --http, --host, --port and --mock; an adapter that is made has `--transport http`."
_OPTIONS = {
    **dict.fromkeys(("--force", "--overwrite", "-f"), _IN_PLACE),
    **dict.fromkeys(("--base-url", "--server", "--server-url", "--tool-prefix", "--prefix", "--mode"), _SETTINGS),
    **dict.fromkeys(("--transport", "--host", "--port", "--mock"), _SERVING),
    **dict.fromkeys(("--tag", "--tags", "--filter"), "Give --include tag:NAME, once for each."),
    **dict.fromkeys(("--out", "--output-dir", "--dest", "--directory"), "Give -o DIR."),
    **dict.fromkeys(
        ("--input", "--spec", "-i", "--openapi", "--url"),
        "Give the document without an option; for `update`, with --spec.",
    ),
    **dict.fromkeys(("--json", "--format"), "Give --output-format json."),
}
"""Other programs' options, and what does the same here."""


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
    option = message.removeprefix("No such option: ").split(" ")[0]
    help_text = _meant(word) if word else _OPTIONS.get(option, f"See `{path} --help`.")
    return OptionError.of("bad-option", message, help=help_text)


def _meant(word: str) -> str:
    """Return which command an unknown word may be meant for: a document belongs behind one."""
    if is_url(word) or Path(word).exists() or word.endswith((".json", ".yaml", ".yml")):
        return f"`aqlgen from-openapi {word}` generates an adapter of it, `aqlgen explain {word}` shows its decisions."
    names = [str(command.name) for command in app.registered_commands]
    near = _WORDS.get(word.lower()) or next(iter(difflib.get_close_matches(word.lower(), names, n=1)), "")
    return f"Did you mean `aqlgen {near}`?" if near else f"The commands are {', '.join(sorted(names))}."
