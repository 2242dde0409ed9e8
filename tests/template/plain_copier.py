"""Runs copier's command. It compiles the same few texts anew for each of hundreds of files; here that is done once."""

from functools import cache

from jinja2.sandbox import SandboxedEnvironment

SandboxedEnvironment.from_string = cache(SandboxedEnvironment.from_string)  # type: ignore[method-assign]

from copier.__main__ import CopierApp  # noqa: E402

CopierApp.run()
