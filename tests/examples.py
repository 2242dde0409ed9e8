"""How many examples a property is shown."""

from __future__ import annotations

import os


def examples(count: int) -> int:
    """Return a quarter of a number of examples, or all with the variable AQLGEN_ALL_EXAMPLES, as in `make bench`."""
    return count if "AQLGEN_ALL_EXAMPLES" in os.environ else count // 4
