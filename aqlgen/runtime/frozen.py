# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""`dataclass` for data of which there is much: its frozen classes are frozen to the type checker alone.

At run time a frozen class sets each field through `object.__setattr__`, which takes a tenth of a long generation.
"""

import dataclasses
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, **options: Any) -> Any:
        """Return the decorator of the standard library; instances of `frozen` classes have the hash of their fields."""
        return dataclasses.dataclass(unsafe_hash=frozen, **options)
