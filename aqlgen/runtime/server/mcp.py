# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The MCP server: it lists the tools, and passes calls to the dispatcher."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    SetLevelRequestParams,
)

from ..decode.attachments import Attachments
from ..dispatch.dispatcher import Dispatcher
from ..envelope import tool_result
from ..introspection.protocol import tool_name
from ..session import CALLER_KEY, Sessions, with_caller
from ..text import line
from .elicitation import ClientPerson, Questions, Unanswered
from .notifications import Relay, asked_level
from .tools import build_tools, routes

__all__ = ["build_server"]

Context = ServerRequestContext[Sessions, Any]
_STOP_TIMEOUT = 2.0


def build_server(dispatcher: Dispatcher, on_stop: Callable[[], Awaitable[None]] | None = None) -> Server[Sessions]:
    """Build the server of an adapter, for any transport and both protocol eras.

    `on_stop` is awaited when a run of the server ends: over stdio and in memory with each connection.
    """
    adapter, config = dispatcher.adapter, dispatcher.config
    listing = ListToolsResult(tools=build_tools(adapter, config))
    families = routes(adapter, config)
    questions = Questions()
    relays: dict[Sessions, Relay] = {}

    @asynccontextmanager
    async def lifespan(_: Server[Sessions]) -> AsyncIterator[Sessions]:
        sessions = Sessions()
        relays[sessions] = Relay(dispatcher.log)
        try:
            yield sessions
        finally:
            relays.pop(sessions).close()
            sessions.close()
            if on_stop is not None:
                with anyio.CancelScope(shield=True), anyio.move_on_after(_STOP_TIMEOUT):
                    await on_stop()

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return listing

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if params.name not in families:
            names = ", ".join(families)
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: '{line(params.name, 64)}'. Tools: {names}")
        sessions = context.lifespan_context
        session = sessions.of(context)
        person = ClientPerson(context, params, session, questions)
        try:
            with with_caller(*_caller(context), session.id), Attachments(config.files_max_attached) as attachments:
                envelope = await dispatcher.handle(families[params.name], params.arguments, session, person)
        except Unanswered as unanswered:
            return unanswered.result()
        finally:
            sessions.release(session)
        try:
            result = tool_result(envelope)
            if attachments.items and envelope["success"]:
                result.content.extend(attachments.blocks())
        except Exception:  # noqa: BLE001 - an exception's text would reach the client
            raise MCPError(code=INTERNAL_ERROR, message="The result of this call cannot be written as JSON") from None
        return result

    async def call_tool_with_log(
        context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        level = asked_level(context)
        if level is None:
            return await call_tool(context, params)
        async with relays[context.lifespan_context].during(context, level):
            return await call_tool(context, params)

    async def set_level(context: Context, params: SetLevelRequestParams) -> EmptyResult:
        sessions = context.lifespan_context
        relays[sessions].subscribe(context, sessions.of(context), params.level)
        return EmptyResult()

    server = Server(
        f"{adapter.name}-adapter",
        version=adapter.version,
        title=line(adapter.title, 100) or None,
        instructions=(
            f"Call {tool_name(config, 'read')} with operation 'introspect' to find operations (query 'operations', "
            "search) and their parameters (query 'operations', name)."
            + (" This adapter is read only." if config.read_only else "")
        ),
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool_with_log,
    )
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    return server


def _caller(context: Context) -> tuple[Mapping[str, str] | None, str | None]:
    """Return the headers and the id of who sent a request."""
    request = context.request
    return (None, None) if request is None else (request.headers, request.scope.get(CALLER_KEY))
