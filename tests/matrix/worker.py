"""Serves the commands of one unpacked wheel: a line of JSON asks for one, a line of JSON answers.

No network is reached. One process for all tests: what takes longest, starting Python and importing, is done once.
"""

from __future__ import annotations

import gc
import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout

sys.path.insert(0, sys.argv[1])


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        raise RuntimeError(f"the network was asked for: {event} {arguments}")


def perform(arguments: list[str]) -> dict[str, object]:
    from aqlgen.cli import main

    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["aqlgen", *arguments]
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        finally:
            gc.enable()
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a child prints is not an answer
    sys.addaudithook(refuse_network)
    for line in sys.stdin:
        asked = json.loads(line)
        answers.write(json.dumps(perform(asked)) + "\n")
        answers.flush()


serve()
