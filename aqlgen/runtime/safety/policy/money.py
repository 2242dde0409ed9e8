# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What operations that move money need beside a confirmation: a key by which the API knows a repeated call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...client.idempotency import with_idempotency_key
from ...errors import Code, Failure

if TYPE_CHECKING:
    from ...table import Row
    from ...wire import ApiRequest

__all__ = ["require_key"]


def require_key(row: Row, build: Callable[[], ApiRequest]) -> None:
    """Raise Failure if the API knows such a key for an operation that moves money, and a call would have none.

    The adapter makes a key where the API takes any; where it takes only certain ones the call must give it.
    """
    if not row.moves_money or row.idempotency is None:
        return
    request = build()
    if request.method not in ("GET", "HEAD") and not with_idempotency_key(request, row).idempotency_key:
        wire = row.idempotency.header or row.idempotency.parameter or ""
        name = next((name for name, parameter in row.parameters.items() if parameter.wire == wire), wire)
        raise Failure(
            Code.MISSING_PARAM,
            f"Missing required parameter '{name}': operation '{row.name}' moves money, and the adapter cannot make the "
            "key by which the API knows a repeated call. Give one, and the same one if you call again.",
            {"param_name": name, "operation": row.name},
        )
