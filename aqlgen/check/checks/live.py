"""The owner's API itself: reads that are safe and need no invented value, and never a write (trust levels, 2.2.3)."""

from __future__ import annotations

import json
from collections.abc import Collection

from aqlgen.check.connection import Answer, connect
from aqlgen.check.operations import Operation
from aqlgen.check.results import Category, Result
from aqlgen.check.run import Setup, check

_ERA = "2026-07-28"
_MOST = 25
"""Operations of the live API that are called."""


def is_callable_live(operation: Operation) -> bool:
    """Return True for a safe read that can be called as it is: nothing of its request has to be made up."""
    return operation.is_safe_read and not operation.required and operation.row.long_running is None


def is_documented(declared: Collection[str], envelope: Answer) -> bool:
    """Return True for a failure with one of the statuses that the document has for the operation."""
    status = str(envelope.details.get("http_status", ""))
    return len(status) == 3 and (status in declared or f"{status[0]}XX" in declared or "default" in declared)


@check("LI-1", "Safe reads of the live API are answered, or fail as its document says", Category.LIVE, "R-CONF-1",
       where="live")  # fmt: skip
async def live_reads(setup: Setup, result: Result) -> None:
    """Call what needs no parameters, with the owner's credentials, by an adapter that is read only."""
    operations = [operation for operation in setup.operations if is_callable_live(operation)][:_MOST]
    answered = 0
    async with connect(setup.launch.with_variables(MCP_AQL_READ_ONLY="true"), _ERA) as adapter:
        for operation in operations:
            envelope = await adapter.call("read", operation.name, {})
            success = envelope.ok
            answered += success
            code = envelope.code
            right = success or is_documented(setup.declared.get(operation.name, ()), envelope)
            result.expect(right, operation.name, f"fails with {code}, which its document does not have", envelope)
            other = "VALIDATION_UNEXPECTED_CONTENT_WARNING" in json.dumps(envelope.get("warnings") or [])
            result.expect(not other, operation.name, "is answered with another content than documented", envelope)
    if operations:
        result.expect(answered > 0, "the API", f"answers none of {len(operations)} reads with a success")
