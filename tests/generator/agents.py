"""An agent before an adapter that was generated for a test: each call reaches the API or is held back before."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.settings.tables import ConfirmationSettings
from tests.documents import JSON, body_of, replies
from tests.generator.commands import Tabulation, api, tabulate
from tests.in_process import StandIn, dispatcher_of

_PATIENT = ConfirmationSettings(per_minute=100_000)
OK = replies({"type": "object"})


def operation(called: str = "", body: Any = None, media: str = JSON, **more: Any) -> dict[str, Any]:
    sent = {} if body is None else {"requestBody": body_of(body, media)}
    return {**({"operationId": called} if called else {}), "responses": OK, **sent, **more}


@dataclass
class Agent:
    """Calls of a generated adapter, before an API that takes everything and answers with one thing."""

    table: Tabulation
    server: StandIn
    dispatcher: Dispatcher

    def call(self, name: str, /, **params: Any) -> str:
        """Call an operation; return what became of it: its code if nothing is sent, "sent" or "not sent"."""
        before = len(self.server.sent)
        outcome = self.outcome(name, **params)
        sent = len(self.server.sent) > before
        if not outcome:
            return "sent" if sent else "not sent"
        assert not sent
        return outcome

    def outcome(self, name: str, /, **params: Any) -> str:
        """Call an operation; return the code of its error, "" for none."""
        envelope = asyncio.run(self.dispatcher.handle(None, {"operation": name, "params": params}))
        return "" if envelope["success"] else str(envelope["error"]["code"])

    def danger(self, name: str) -> str:
        return str(self.table.rows[name]["danger"])


def adapter(tmp_path: Path, paths: Mapping[str, Any], *, overrides: str = "", **settings: Any) -> Agent:
    """Generate an adapter and start it beside its API."""
    tmp_path.mkdir(exist_ok=True)
    document = api(dict(paths), servers=[{"url": "https://api.example/v1"}])
    table = tabulate(tmp_path, document, overrides=overrides or None)
    server = StandIn(lambda _request: {})
    dispatcher = dispatcher_of(
        table.write(tmp_path / "package"), server, base_url=None, confirmation=_PATIENT, **settings
    )
    return Agent(table, server, dispatcher)
