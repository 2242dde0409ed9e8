# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""`python -m <package>` does what the project's command does."""

from __future__ import annotations

import sys

from .runtime.start import main

if __name__ == "__main__":
    sys.exit(main())
