"""`aqlgen review`: write answers to the questions of the review to overrides.yaml, with who answered."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from aqlgen.cli.app import Folder, Output, OutputFormat, app, examples
from aqlgen.cli.output import progress, read_text
from aqlgen.decide.decision import Asked
from aqlgen.decide.review.answers import Answer, read_answers
from aqlgen.diagnostics.errors import OptionError
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import json_text
from aqlgen.ir import Json
from aqlgen.pipeline import prepare
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.overriding import with_entries
from aqlgen.project.write import write_file
from aqlgen.runtime.text import line, visible


@app.command(
    "review",
    epilog=examples(
        "aqlgen review petstore-adapter --answers answers.jsonl",
        "aqlgen review --answers answers.jsonl --as-person Rosa",
    ),
)
def review_command(
    folder: Folder = Path(),
    *,
    answers: Annotated[Path, typer.Option("--answers", metavar="FILE", help="Answers, as JSON lines.")],
    as_person: Annotated[
        str | None,
        typer.Option(
            "--as-person", metavar="NAME", help="Record the answers as yours, after you confirm them in the terminal."
        ),
    ] = None,
    output_format: OutputFormat = Output.HUMAN,
) -> None:
    """Write answers to the questions of `aqlgen explain --questions` to the project's overrides.yaml.

    Only answers that add a confirmation are written. To remove one, pass --as-person, and confirm in the terminal.
    """
    person = _person(as_person)
    project = Project.open(folder)
    text = read_text(answers, "bad-answer")
    with progress(shown=output_format is Output.HUMAN) as stage:
        prepared = prepare(project.options(names=project.names()), stage)
    proposed = read_answers(text, str(answers), prepared.decisions)
    if person:
        written = [answer for answer in proposed if answer.settles]
        if written and not _is_confirmed(written, person):
            written = []
    else:
        written = [answer for answer in proposed if answer.raises]
    entries = dict(answer.entry(person) for answer in written)
    if entries:
        write_file(with_entries(folder, entries, "answer"), folder / OVERRIDES)
    left = [answer for answer in proposed if answer not in written and answer.asked is not answer.decision.asked]
    if output_format is Output.JSON:
        typer.echo(json_text(_as_json(folder / OVERRIDES, written, left)))
    else:
        typer.echo("\n".join(_summary(folder / OVERRIDES, written, left)))


def _person(name: str | None) -> str:
    """Return the name of the person at the terminal, "" for none. Raises OptionError where nobody can be asked."""
    if name is None:
        return ""
    if not line(name, 80).strip():
        raise OptionError.of("bad-option", "--as-person is empty", help="Give your name.")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = "--as-person needs a terminal, where a person confirms the answers"
        raise OptionError.of(
            "bad-option", message, help="Run it in one. Without it, answers that ask more are written."
        )
    return line(name, 80)


def _is_confirmed(answers: Iterable[Answer], person: str) -> bool:
    """Show a person every answer with its evidence, and return True if they type yes."""
    shown = list(answers)
    for answer in shown:
        decision = answer.decision
        says = [decision.danger_reason.note, *(evidence.says for evidence in decision.evidence)]
        typer.echo(f"{visible(decision.operation.key)}: {decision.asked} -> {answer.asked}", err=True)
        typer.echo(f"  {visible('; '.join(dict.fromkeys(filter(None, says))))}", err=True)
        typer.echo(f"  {visible(answer.by)} proposes it{visible(f': {answer.why}' if answer.why else '')}", err=True)
    typed = typer.prompt(f"Write {counted(len(shown), 'answer')} as {person}? Type yes", default="no", err=True)
    return str(typed).strip().lower() == "yes"


def _summary(file: Path, written: Sequence[Answer], left: Sequence[Answer]) -> Iterator[str]:
    yield f"Wrote {counted(len(written), 'answer')} to {visible(str(file))}." + (
        " `aqlgen update` applies the file." if written else ""
    )
    for answer in left:
        key = visible(answer.decision.operation.key)
        yield f"Skipped: {key}: {answer.decision.asked} -> {answer.asked}: {_why_left(answer)}."


def _why_left(answer: Answer) -> str:
    if answer.decision.asked is Asked.ALWAYS and not answer.settles:
        return f"it is known to be {answer.decision.danger}: only `danger` in overrides.yaml lowers that"
    return "only a person may remove a confirmation: add --as-person NAME in a terminal"


def _as_json(file: Path, written: Sequence[Answer], left: Sequence[Answer]) -> dict[str, Json]:
    def told(answer: Answer) -> dict[str, Json]:
        decision = answer.decision
        return {"operation": decision.operation.key, "was": decision.asked.value, "answer": answer.asked.value}

    return {
        "success": True,
        "overrides": str(file),
        "written": [told(answer) for answer in written],
        "left": [told(answer) | {"reason": _why_left(answer)} for answer in left],
    }
