"""Runs copier's command, without what takes it long and changes nothing of the outcome.

It compiles the same few texts anew for each of hundreds of files, and for each it asks git whether the repository keeps
the modes of files, as it does here.
"""

from collections.abc import Callable
from functools import cache

import copier._main
from jinja2.sandbox import SandboxedEnvironment


def quicken(replace: Callable[[object, str, object], None]) -> None:
    """Let each text be compiled once, and the modes be left to git; `replace` sets an attribute."""
    replace(SandboxedEnvironment, "from_string", cache(SandboxedEnvironment.from_string))
    replace(copier._main, "is_git_available", lambda: False)  # asked for nothing else


if __name__ == "__main__":
    from copier.__main__ import CopierApp

    quicken(setattr)
    CopierApp.run()
