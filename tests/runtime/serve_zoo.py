"""Serve the zoo over standard input and output with the stand-in API: `python serve_zoo.py FOLDER [MAX_LINE]`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from stand_in import FakeApi  # noqa: E402

from aqlgen.runtime.dispatch.dispatcher import Dispatcher  # noqa: E402
from aqlgen.runtime.server.mcp import build_server  # noqa: E402
from aqlgen.runtime.server.stdio import serve_stdio  # noqa: E402
from aqlgen.runtime.settings.config import Config  # noqa: E402
from aqlgen.runtime.table import Adapter, Table  # noqa: E402


async def stopped() -> None:
    """Show that teardown ran."""
    sys.stderr.write("teardown ran\n")


folder = Path(sys.argv[1])
dispatcher = Dispatcher(Adapter.load(folder), Table(folder), FakeApi(), Config(max_answer_tokens=1_000_000))
sys.exit(
    serve_stdio(
        build_server(dispatcher, stopped), max_line=int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 22, grace=5.0
    )
)
