# yours: aqlgen writes this file once and never touches it again.
"""Functions around every request of this adapter. Define those that you need; a name that is absent costs nothing.

Each may be `def` or `async def`, and returns what takes the place of what it was given, or None to leave it as it is.
To refuse, raise `Refuse("reason")` (the agent reads the reason) or a `Failure` with another code. Anything else that is
raised ends the call as an internal error.
"""

from __future__ import annotations

# The examples need:
#
#     import dataclasses
#     import sys
#
#     from .runtime.hooks import Call, Refuse
#     from .runtime.wire import ApiRequest, ApiResponse
#
# Once the call has passed validation; `call.operation` is its name, `call.params` are under the agent's names:
#
#     def before_call(call: Call) -> Call | None:
#         if call.operation == "delete_owner":
#             raise Refuse("deleting owners is not for agents; ask the front desk")
#         return None
#
# With the HTTP request in its final form, to sign it, add a header or change the address:
#
#     async def before_send(request: ApiRequest, call: Call) -> ApiRequest | None:
#         return dataclasses.replace(request, headers=(*request.headers, ("X-Request-Source", "agent")))
#
# With the HTTP response, before it is decoded:
#
#     def after_response(response: ApiResponse, call: Call) -> ApiResponse | None:
#         print(response.status, call.operation, file=sys.stderr)
#         return None
