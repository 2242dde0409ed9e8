"""Decides about every operation its category, its name, its danger and its traits, each with its reason (R-NAME-4).

`stage` runs the decisions, `facts` holds what is known about one operation, `category` and `naming` hold the rules.
What is exported here is loaded when it is first used: a command that needs `decision` alone does not pay for the stage.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aqlgen.decide.overrides import Override, Overrides
    from aqlgen.decide.overrides import load as load_overrides
    from aqlgen.decide.stage import Known, decide

__all__ = ["Known", "Override", "Overrides", "decide", "load_overrides"]


def __getattr__(name: str) -> Any:
    """Load an exported name. Raises AttributeError for any other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("aqlgen.decide.stage"), name)
