# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The audit log (R-SAFE-5): a JSON line for each decision about a call that is no plain read, and its end.

A line is written whole, by one system call, before the call goes on: if it cannot be written, the call does not run.
Lines are chained by hashes (`audit_chain`). The log never holds credentials, what has the shape of one, or values of
parameters that are sensitive or have the name of a secret; of a token it holds only the beginning.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exact_json import write_json
from ..hooks import Call
from ..logs.log import Logger, without_shapes_in
from ..redaction import MASK, redacted
from ..session import current_caller, current_request
from ..table import Row
from ..text import escaped, iso_time
from .literals import SECRET_NAME, secret_names

if TYPE_CHECKING:
    from ..schema.reader import Types
    from .audit_chain import Chain

__all__ = ["Audit", "Decisions", "masked_params"]

_KEPT_OUT = re.compile(r"iban", re.IGNORECASE)
"""Names of what people have to see in a question, and the log has not to keep."""
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
_QUOTING = frozenset({"params", "action", "element_name", "factors", "reason", "token_id"})
"""Keys of entries whose values quote callers and hooks: the log shows them at level debug alone."""
_LONGEST = 300
_MOST_ITEMS = 50


class Audit:
    """Appends entries to the file at `path`; without a path, writes them to the log, as records of level notice.

    There they have no parameters and no reasons, unless the log is of level debug.
    """

    def __init__(
        self,
        path: Path | None = None,
        logger: Logger | None = None,
        *,
        adapter: str = "",
        secrets: Callable[[], Iterable[str]] = tuple,
        max_size: int = 0,
        keep: int = 0,
    ) -> None:
        self.path = path
        self._chain: Chain | None = None
        if path is not None:
            from .audit_chain import Chain

            self._chain = Chain(path, max_size=max_size, keep=keep)
        self._logger = logger
        self._adapter = adapter
        self._secrets = secrets

    def write(self, event: str, **details: Any) -> None:
        """Write one entry; keys without a value are left out. Raises OSError when it cannot be written."""
        now = iso_time(time.time(), "milliseconds")
        details = {"request_id": current_request(), **details, "caller": current_caller()}
        known = {key: value for key, value in details.items() if value is not None}
        if isinstance(known.get("params"), Mapping):
            known["params"] = {name: _masked(name, value) for name, value in known["params"].items()}
        if self._chain is None:
            if self._logger is not None:
                if not self._logger.tells_all:
                    known = {key: value for key, value in known.items() if key not in _QUOTING}
                self._logger.write("notice", event, logger="audit", private=True, **known)
            return
        entry = {"timestamp": now, "event": event, "adapter_name": self._adapter, **known}
        line = escaped(write_json(without_shapes_in(redacted(entry, self._secrets())), _encode))
        self._append(line.encode("utf-8", "backslashreplace"))

    def repair(self) -> None:
        """Write an entry about a line that was torn when the last process ended, if one was."""
        with suppress(OSError):  # the first entry that cannot be written is refused, and says so
            self._append(b"")

    def _append(self, line: bytes) -> None:
        torn = 0 if self._chain is None else self._chain.append(line)
        if torn and self._logger is not None:
            text = "a line of the audit log was torn while it was written: its entry is lost, those behind it are not"
            self._logger.write("warning", text, trace={"bytes left": str(torn)})

    def record(self, event: str, details: Mapping[str, Any]) -> None:
        """Write an entry about something that has already happened: a fault is only logged."""
        try:
            self.write(event, **details)
        except OSError as error:
            if self._logger is not None:
                self._logger.write("critical", "the audit log cannot be written", trace={"error": str(error)})


class Decisions:
    """The entries about decisions on calls, each written before it is acted upon.

    `types` returns the table's types. `trust` is the adapter's trust level, `trust_source` the setting that states it,
    None for its record.
    """

    def __init__(
        self,
        audit: Audit,
        logger: Logger,
        adapter: str,
        types: Callable[[], Types],
        trust: str | None = None,
        trust_source: str | None = None,
    ) -> None:
        self.audit = audit
        self._logger = logger
        self._adapter = adapter
        self._types = types
        self._trust = {"adapter_trust": trust, "trust_source": trust_source}

    def record(self, event: str, row: Row, call: Call, result: str, **more: Any) -> None:
        """Write an entry about a call. Raises Failure when it cannot be written."""
        try:
            self.audit.write(
                event,
                operation=row.name,
                endpoint=row.family,
                danger_level=row.danger,
                **self._trust,
                result=result,
                session_id=call.session_id,
                request_id=call.request_id,
                params=masked_params(row, call.params, self._types()),
                **more,
            )
        except OSError as error:
            from .refusals import unwritable

            self._logger.write("critical", "the audit log cannot be written", trace={"error": str(error)})
            raise unwritable(row, call.request_id, self._adapter) from None

    def revoked(self, session_id: str | None, unused: set[str]) -> None:
        """Record, when a session ends, how many of its tokens nobody can use any more."""
        if unused:
            details = {"session_id": session_id, "tokens": len(unused), "reason": "the session ended"}
            self.audit.record("TOKEN_REVOKED", details)


def masked_params(row: Row, params: Mapping[str, Any], types: Types) -> dict[str, Any]:
    """Return the parameters of a call as they may be kept: secrets masked, long values cut."""
    secrets = secret_names(row, types)
    return {
        name: MASK if name in row.parameters and row.parameters[name].sensitive else _masked(name, value, secrets)
        for name, value in params.items()
    }


def _masked(name: str, value: Any, secrets: frozenset[str] = frozenset()) -> Any:
    if name in secrets or SECRET_NAME.search(name) or _KEPT_OUT.search(name):
        return MASK
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}… ({len(value)} characters)"
    if isinstance(value, Mapping):
        return {key: _masked(str(key), inner, secrets) for key, inner in list(value.items())[:_MOST_ITEMS]}
    if isinstance(value, (list, tuple)):
        kept = [_masked("", item, secrets) for item in value[:_MOST_ITEMS]]
        return kept if len(value) <= _MOST_ITEMS else [*kept, f"… ({len(value)} in all)"]
    return value
