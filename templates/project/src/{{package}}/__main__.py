# shared: yours to edit; `aqlgen update` merges its own changes into it.
"""`python -m <package>` does what the project's command does."""

from __future__ import annotations

import sys

from .server import main

if __name__ == "__main__":
    sys.exit(main())
