"""The table of the document by which `check` tests the runtime: `python -m tests.check.probe` writes it."""

from __future__ import annotations

from pathlib import Path

from aqlgen.document.request import Request
from aqlgen.options import Options
from aqlgen.pipeline import prepare
from aqlgen.table.model import table_files

PROBE = Path(__file__).parents[2] / "aqlgen/check/probe"


def files() -> dict[str, bytes]:
    """Return the files of the table as they follow from the document."""
    request = Request(str(PROBE / "openapi/openapi.yaml"))
    options = Options((request,), name="probe", overrides=PROBE / "overrides.yaml")
    return dict(table_files(prepare(options, lambda _: None).table))


if __name__ == "__main__":
    for name, content in files().items():
        (PROBE / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (PROBE / "src" / name).write_bytes(content)
