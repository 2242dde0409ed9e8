"""The diagrams of docs/pictures, drawn from the code: `python -m tests.diagrams` writes them.

Each is a card of 480 points with its own background, so that it reads on light and dark pages and on a phone.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from textwrap import wrap

from aqlgen.runtime.safety.policy import by_level
from aqlgen.runtime.settings.trust import TRUST_LEVELS
from aqlgen.runtime.table.parts import DangerLevel
from tests.generator.commands import run

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs/pictures"
STYLE = """
  .card { fill: #fff; stroke: #d0d7de } .plain { fill: #f6f8fa; stroke: #8c959f }
  .tool { fill: #ddf4ff; stroke: #0969da } .you { fill: #fff8c5; stroke: #9a6700 }
  .line { stroke: #57606a; stroke-width: 1.5 } .head { fill: #57606a }
  text { font-family: system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif }
  .title { font-size: 17px; font-weight: 600; fill: #1f2328 } .note { font-size: 15px; fill: #424a53 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d } .plain { fill: #21262d; stroke: #8b949e }
    .tool { fill: #0c2d4d; stroke: #4493f8 } .you { fill: #3a2d00; stroke: #d29922 }
    .line { stroke: #9198a1 } .head { fill: #9198a1 }
    .title { fill: #f0f6fc } .note { fill: #c9d1d9 }
  }
"""
WIDTH, MARGIN, LINE = 480, 16, 21

Box = tuple[str, str, str]
"""The style, the title and the note of a box."""

STAGES: Mapping[str, Box] = {
    "Plans.first": ("tool", "Plan or workflow", "each step takes this way by itself"),
    "Metering.first": ("tool", "Your quotas", "warn, pause and stop"),
    "Dispatcher.operation": ("tool", "Operation", "looked up in the table"),
    "Checking.parameters": ("tool", "Parameters", "checked, and repaired if only one meaning fits"),
    "Checking.preview": ("tool", "Dry run", "ends here and shows the request"),
    "LoopStages.before": ("tool", "Safety loop, if on", "only what the agent has reported"),
    "Dispatcher.gate": (
        "you",
        "Policy, confirmation, audit log",
        "allow, ask or refuse; a person sees the exact request",
    ),
    "LoopStages.around": ("tool", "Safety loop, if on", "uses up the report"),
    "Concurrency.around": ("tool", "Turn", "waits if calls exclude each other"),
    "Checking.hooked": ("you", "Your hooks", "before_call, before_send, after_response"),
    "Performer.perform": ("tool", "Request", "accepted hosts, credentials, retries, rate limits"),
}
"""Every stage of a call, as a reader should know it; contributing/architecture.md has their order."""


def picture(title: str, boxes: Iterable[Box], *, arrows: bool) -> str:
    """Return boxes one below the other as an SVG."""
    parts, top, gap = [], MARGIN, 22 if arrows else 12
    for number, (style, name, note) in enumerate(boxes):
        lines = wrap(note, 50)
        height = 36 + LINE * len(lines)
        if number and arrows:
            parts.append(f'<path class="line" d="M240 {top - gap + 2} V{top - 8}"/>')
            parts.append(f'<polygon class="head" points="240,{top - 2} 235,{top - 10} 245,{top - 10}"/>')
        parts.append(
            f'<rect class="{style}" x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{height}" rx="8"/>'
        )
        parts.append(f'<text class="title" x="{MARGIN + 14}" y="{top + 24}">{escape(name)}</text>')
        for index, line in enumerate(lines, 1):
            parts.append(f'<text class="note" x="{MARGIN + 14}" y="{top + 24 + LINE * index}">{escape(line)}</text>')
        top += height + gap
    height = top - gap + MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>',
        *parts,
        "</svg>\n",
    ])  # fmt: skip


def way() -> str:
    """Return the way of a call, by the list of stages that contributing/architecture.md shows."""
    page = (ROOT / "contributing/architecture.md").read_text(encoding="utf-8")
    stages = re.findall(r"^\| `(\w+\.\w+)` \| ", page, re.MULTILINE)
    agent = ("plain", "Agent", "calls one of five tools; the client sees which")
    api = ("plain", "API", "its answer is data, never an instruction")
    answer = ("tool", "Answer", "fields, warnings and a limit in tokens")
    return picture("The way of a call", [agent, *(STAGES[stage] for stage in stages), api, answer], arrows=True)


def asked() -> str:
    """Return when somebody is asked, as policy `standard` decides."""
    notes = {
        "safe": "reads",
        "reversible": "writes without known harm; unproven ones are confirmed at their first call in a session",
        "destructive": "deletes or ends something, gives access, reaches people",
        "dangerous": "moves money, deletes many things",
        "forbidden": "wipes everything; only you can allow it",
    }
    words = {"allow": ("plain", "runs"), "confirm": ("you", "confirmed each time"), "refuse": ("tool", "refused")}
    levels: tuple[DangerLevel, ...] = ("safe", "reversible", "destructive", "dangerous", "forbidden")
    boxes = []
    for level in levels:
        style, word = words[by_level("standard", level, TRUST_LEVELS[1]).outcome]
        boxes.append((style, f"{level}: {word}", notes[level]))
    return picture("When a call needs a confirmation", boxes, arrows=False)


def owners() -> str:
    """Return who owns each file of a project, by the first lines of the files."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "petstore-adapter"
        run("from-openapi", ROOT / "fixtures/petstore.yaml", "-o", project, "--quiet")
        run("add", "ci", "docker", "overrides", "hooks", "settings", "--project", project, "--quiet")
        names: dict[str, set[str]] = {}
        for file in sorted(file for file in project.rglob("*") if file.is_file()):
            start = file.read_bytes()[:80].decode("utf-8", "replace")
            owner = next((owner for owner in ("yours", "shared") if f"{owner}:" in start), "machine")
            names.setdefault(owner, set()).add(_shown(file.relative_to(project)))
    files = {owner: ", ".join(sorted(shown)) for owner, shown in names.items()}
    return picture("Whose file is which", [
        ("you", "Yours: an update leaves them alone", files["yours"]),
        ("tool", "Shared: an update merges line by line", files["shared"]),
        ("plain", "aqlgen's: an update replaces them", files["machine"]),
    ], arrows=False)  # fmt: skip


def _shown(path: Path) -> str:
    """Return a file, or the folder that stands for it: the one at the top, below `src` that of the package."""
    if path.parts[0] != "src":
        return path.parts[0] + "/" * (len(path.parts) > 1)
    inner = path.relative_to(*path.parts[:2])
    name = inner.name if inner.name == "hooks.py" else f"*{inner.suffix}"
    return f"src/<package>/{name if len(inner.parts) == 1 else inner.parts[0] + '/'}"


DIAGRAMS = {"way-of-a-call.svg": way, "when-it-asks.svg": asked, "whose-file.svg": owners}

if __name__ == "__main__":
    for file_name, draw in DIAGRAMS.items():
        (PICTURES / file_name).write_text(draw(), encoding="utf-8")
