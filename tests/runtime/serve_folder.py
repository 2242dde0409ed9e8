"""Serve the package of an adapter with its settings: `python serve_folder.py FOLDER stdio|http [PAUSE]`.

PAUSE is the seconds between two questions about work that goes on, where the API names none.
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2])]

from aqlgen.runtime.assembly import assemble  # noqa: E402
from aqlgen.runtime.dispatch import executions  # noqa: E402
from aqlgen.runtime.server.http import bind, serve_http  # noqa: E402
from aqlgen.runtime.server.mcp import build_server  # noqa: E402
from aqlgen.runtime.server.stdio import serve_stdio  # noqa: E402

if len(sys.argv) > 3:
    executions._PAUSES = (float(sys.argv[3]),)  # type: ignore[assignment]
server = build_server(assemble(Path(sys.argv[1])).dispatcher)
if sys.argv[2] == "http":
    sys.exit(serve_http(server, bind("127.0.0.1", 0), host="127.0.0.1", max_body=100_000))
sys.exit(serve_stdio(server, max_line=1 << 22, grace=5.0))
