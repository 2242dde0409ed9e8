"""A fork of the stand-in for the interpreter is what the interpreter would be (bench/support/preloaded.py)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
TELL = """import os, sys
print(__name__, sys.argv, sys.path, os.getcwd(), os.umask(0), sorted(os.environ), sys.stdin.read())"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lib" / "petstore").mkdir(parents=True)
    (tmp_path / "lib" / "petstore" / "__main__.py").write_text(TELL)
    (tmp_path / "lib" / "aqlgen.py").write_text("NAME = 'another'")
    (tmp_path / "script.py").write_text(TELL)
    return tmp_path


def outcome(
    python: str | Path, folder: Path, arguments: Sequence[str], variables: Mapping[str, str]
) -> tuple[int, str, str]:
    """Return the exit code, the output and the last line of the errors of a process; its own path is left out.

    Newer versions of Python show the lines of a `-c` program in a traceback, those of a fork do not.
    """
    done = subprocess.run(
        [python, *arguments],
        input="typed",
        cwd=folder,
        env=os.environ | variables,
        umask=0o27,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = done.stderr.replace(str(python), "python").replace(sys.executable, "python")
    return done.returncode, done.stdout, "".join(errors.splitlines()[-1:])


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["-c", TELL, "a", "-b"], {}),
        (["-P", "-c", TELL], {"PYTHONPATH": "lib::/nowhere"}),
        (["-m", "petstore", "x"], {"PYTHONPATH": "lib"}),
        (["-P", "-m", "petstore"], {"PYTHONPATH": "lib", "PYTHONDONTWRITEBYTECODE": "1"}),
        (["script.py", "--option"], {"LC_ALL": "C"}),
        (["-c", "import aqlgen; print(aqlgen.NAME)"], {"PYTHONPATH": "lib"}),
        (["-I", "-c", TELL], {}),
        (["-c", "import sys, time; print(time.tzname, hash('x'))"], {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}),
        (["-c", "import sys; print(sys.stdout.encoding)"], {"PYTHONIOENCODING": "latin-1"}),
        (["-m", "nothing_of_this_name"], {}),
        (["nothing.py"], {}),
        ([], {}),
        (["-c", "raise SystemExit('why')"], {}),
        (["-c", "raise SystemExit(300)"], {}),
        (["-c", "1 / 0"], {}),
        (["-c", "raise KeyboardInterrupt"], {}),
        (["-c", "import os; os.abort()"], {}),
        (["-c", "import os; print('lost'); os._exit(7)"], {}),
        (["-c", "import atexit; atexit.register(print, 'the end'); print('kept')"], {}),
        (
            ["-c", "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()"],
            {},
        ),
        (["-c", "import os, sys; sys.stdin.close(); os.close(1); print('nobody reads it')"], {}),
    ],
)
def test_a_process_is_as_the_interpreters(
    preloaded: Path, folder: Path, arguments: list[str], variables: dict[str, str]
) -> None:
    ours = outcome(preloaded, folder, arguments, variables)
    assert ours == outcome(sys.executable, folder, arguments, variables)


@pytest.mark.parametrize("program", [None, "import signal; signal.signal(15, lambda *_: exit(9))"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGUSR1])
def test_a_signal_reaches_the_process(preloaded: Path, number: signal.Signals, program: str | None) -> None:
    code = f"{program}\nimport time\nprint(flush=True)\ntime.sleep(60)"
    ended = []
    for python in (preloaded, sys.executable):
        process = subprocess.Popen([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout
        process.stdout.readline()
        process.send_signal(number)
        process.communicate(timeout=20)
        ended.append(process.returncode)
    assert ended[0] == ended[1]


def test_processes_import_what_is_in_the_work_tree_once(preloaded: Path) -> None:
    program = "import sys; print('aqlgen.cli' in sys.modules, 'mcp.server' in sys.modules, 'pytest' in sys.modules)"
    done = subprocess.run([preloaded, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True True False\n"
