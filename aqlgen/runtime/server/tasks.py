"""The Tasks extension of MCP 2026-07-28 (`io.modelcontextprotocol/tasks`) over the adapter's executions (R-LOOP-1).

A client that declares the extension gets a task as the result of a call that began work, and follows it with
`tasks/get`. The id of a task is that of the execution. Each request about a task is a call of get_execution_status or
cancel_execution: it passes the same limits, policy, hooks and audit log, for the same caller.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from mcp.shared.exceptions import MCPError
from mcp.types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
)

from ..envelope import tool_result
from ..errors import Code
from ..executions.handles import BEGUN, LIFETIME
from ..safety.operations import CANCEL, STATUS
from ..text import iso_time
from . import FIRST_SESSIONLESS, TASKS, client_name, has_tasks

_POLL = 5
"""Seconds between two requests about a task where the API says nothing."""
_STATUSES = {"completed": "completed", "failed": "completed", "cancelled": "cancelled"}
"""Statuses of tasks by those of executions, "working" for others. Failed work has a result, which is its error."""

Answer: TypeAlias = CallToolResult | InputRequiredResult
CallTool: TypeAlias = Callable[[Any, CallToolRequestParams], Awaitable[Answer]]


class Tasks:
    """The extension; `families` are the tools of the adapter, by which executions are read and cancelled."""

    def __init__(self, call_tool: CallTool, families: Mapping[str, str | None]) -> None:
        self._call_tool = call_tool
        self._families = families
        self.methods: Mapping[str, Callable[[Any, str], Awaitable[dict[str, Any]]]] = {
            "get": self._get,
            "update": partial(self._acknowledge, "read", STATUS),
            "cancel": partial(self._acknowledge, "execute", CANCEL),
        }

    async def call(self, context: Any, params: CallToolRequestParams) -> Answer | dict[str, Any]:
        """Call a tool; the result is a task if the call itself began work."""
        begun: list[Mapping[str, Any]] = []
        token = BEGUN.set(begun)
        try:
            result = await self._call_tool(context, params)
        finally:
            BEGUN.reset(token)
        if len(begun) != 1 or isinstance(result, InputRequiredResult):
            return result
        data = (result.structured_content or {}).get("data")
        shown = data.get("_execution", data) if isinstance(data, dict) else None
        of_plan = not isinstance(shown, dict) or shown.get("execution_id") != begun[0]["execution_id"]
        return result if of_plan else {**_task(begun[0]), "resultType": "task"}

    async def _get(self, context: Any, task_id: str) -> dict[str, Any]:
        """Answer tasks/get: the state of the work, with its result once it has ended."""
        result = await self._request(context, "read", STATUS, task_id)
        execution = (result.structured_content or {})["data"]
        if execution["status"] == "failed":
            error = {"success": False, "error": execution["error"]}
            result = tool_result(error, client_name(context))
        task = _task(execution)
        if task["status"] == "completed":
            task["result"] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return task

    async def _acknowledge(self, family: str, operation: str, context: Any, task_id: str) -> dict[str, Any]:
        """Answer tasks/update of a known task, and tasks/cancel."""
        await self._request(context, family, operation, task_id)
        return {}

    async def _request(self, context: Any, family: str, operation: str, task_id: str) -> CallToolResult:
        """Call an operation about an execution. Raises MCPError where that fails or needs a confirmation."""
        _check(context, task_id)
        tool = next(tool for tool, serves in self._families.items() if serves in (family, None))
        arguments = {"operation": operation, "params": {"execution_id": task_id}}
        result = await self._call_tool(context, CallToolRequestParams(name=tool, arguments=arguments))
        error: dict[str, Any] = {"code": Code.CONFIRMATION_REQUIRED.value}
        if isinstance(result, CallToolResult):
            envelope = result.structured_content or {}
            if envelope["success"]:
                return result
            error = envelope["error"]
        if error["code"] == Code.CONFIRMATION_REQUIRED:
            message = (
                f"This needs a confirmation: call {tool} with operation '{operation}' and the taskId as execution_id"
            )
            raise MCPError(INTERNAL_ERROR, message, {"code": error["code"]})
        about_task = error.get("details", {}).get("param_name") == "execution_id"
        raise MCPError(INVALID_PARAMS if about_task else INTERNAL_ERROR, error["message"], {"code": error["code"]})


def _check(context: Any, task_id: str) -> None:
    """Raise MCPError for a client without the extension, and for a header that names another task (`Mcp-Name`)."""
    if context.protocol_version < FIRST_SESSIONLESS:
        raise MCPError(METHOD_NOT_FOUND, "Method not found", context.method)
    if not has_tasks(context):
        data: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, f"The client does not declare {TASKS}", data)
    if context.request is not None and context.request.headers.get("mcp-name", task_id) != task_id:
        raise MCPError(HEADER_MISMATCH, "The header Mcp-Name names another task than taskId")


def _task(execution: Mapping[str, Any]) -> dict[str, Any]:
    """Return an execution as the extension shows it; the words of the API are in its result alone."""
    percentage = execution.get("progress", {}).get("percentage")
    return {
        "taskId": execution["execution_id"],
        "status": _STATUSES.get(execution["status"], "working"),
        "statusMessage": execution["status"] + (f", {percentage} %" if percentage is not None else ""),
        "createdAt": execution["started_at"],
        "lastUpdatedAt": iso_time(time.time()),
        "ttlMs": LIFETIME * 1000,
        "pollIntervalMs": execution.get("retry_after_seconds", _POLL) * 1000,
    }
