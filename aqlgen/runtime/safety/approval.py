# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The approval of one call, bound to its request: what is sent is what was approved.

The digest covers method, address, headers and content, files included; credentials do not count, since they may be
renewed. It is taken of the request that the parameters make, before an update is merged into what was read and before
the owner's hooks; what these hooks change is recorded.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ..errors import Code, Failure
from ..redaction import redact

if TYPE_CHECKING:
    from ..table import Row
    from ..wire import ApiRequest

__all__ = ["Approval", "changed", "request_digest"]


def request_digest(request: ApiRequest) -> str:
    """Return the SHA-256 of a request without its credentials."""
    secrets = request.secrets
    headers = [(name.lower(), redact(value, secrets)) for name, value in request.headers]
    content = None if request.content is None else hashlib.sha256(request.content).hexdigest()
    text = json.dumps([request.method, redact(request.url, secrets), sorted(headers), content])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Approval:
    """The approval of the call; `altered_by` lists the owner's hooks that changed the request afterwards."""

    __slots__ = ("_address", "_digest", "_row", "altered_by")

    def __init__(self, row: Row, request: ApiRequest) -> None:
        self._row = row
        self._digest: str | None = request_digest(request)
        self._address = _address(request)
        self.altered_by: list[str] = []

    @property
    def digest(self) -> str:
        """The digest of the approved request, "" once it is the owner's."""
        return self._digest or ""

    def check(self, row: Row, request: ApiRequest) -> None:
        """Raise Failure for a request of the approved operation that is another one than was approved.

        A page's request differs from it by its query: method, host and path are compared.
        """
        if self._digest is None or row.name != self._row.name:
            return
        same = _address(request) == self._address if row.paging else request_digest(request) == self._digest
        if not same:
            raise changed(row)

    def altered(self, hook: str, *, parameters: bool = False) -> None:
        """Record that a hook changed the call; with `parameters` the request is the owner's from here on."""
        self.altered_by.append(hook)
        if parameters:
            self._digest = None


def changed(row: Row) -> Failure:
    """Return the refusal of a request that is another one than was approved."""
    return Failure(
        Code.PERMISSION_DENIED,
        "Permission denied: the request is another one than was approved, since something changed in between, "
        "such as a file. Nothing was sent; call it again.",
        {"operation": row.name, "reason": "changed after it was approved"},
    )


def _address(request: ApiRequest) -> tuple[str, str]:
    return request.method, redact(request.url, request.secrets).partition("?")[0]
