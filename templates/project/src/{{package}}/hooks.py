# yours: an update does not change this file.
"""Your functions for every call of this adapter. Define the hooks that you need.

The adapter does not start with a function whose name resembles the name of a hook, because nothing would call it. Begin
the names of your other functions with an underscore.

A hook is a `def` or an `async def`. It returns a changed copy of its first argument, or None for no change. To refuse
the call, raise `Refuse("reason")` (the agent reads the reason), or a `Failure` with another code. Any other exception
or value ends the call with an internal error: the log has the details, the agent gets no details, and nothing is sent
(after_response runs after sending).
"""

from __future__ import annotations

# The examples need:
#
#     import dataclasses
#     import sys
#
#     from .runtime.hooks import ApiRequest, ApiResponse, Call, GateDecision, Refuse, Step, StepVerdict
#
# on_decision runs for every valid call, after the policy has decided, and before anybody is asked. The decision has an
# `outcome` ("allow", "confirm" or "refuse"), and its reasons: `rule`, `danger` and `trust`. You have the last word:
# make it stricter or less strict, or only record it.
#
#     def on_decision(decision: GateDecision, call: Call) -> GateDecision | None:
#         if call.operation == "update_owner" and "email" in call.params:
#             return decision._replace(outcome="confirm", reasons=("Changes where invoices go",))
#         if call.operation == "delete_draft":
#             return decision._replace(outcome="allow")
#         return None
#
# on_step runs for every evaluated step that an agent reports to the safety loop. The verdict has an `outcome`
# ("continue", "confirm", "verify" or "block"), a `risk` from 0 to 100, and the `factors` of the risk. You have the last
# word here, too:
#
#     def on_step(verdict: StepVerdict, step: Step) -> StepVerdict | None:
#         if step.operation == "delete_draft" and verdict.risk < 60:
#             return verdict._replace(outcome="continue")
#         if "invoice" in step.action:
#             return verdict._replace(outcome="verify", reason="Invoices are for people")
#         return None
#
# before_call runs after policy and confirmation. `call.operation` is the operation's name, and `call.params` has the
# agent's names. Nobody is asked about your changes:
#
#     def before_call(call: Call) -> Call | None:
#         if call.operation == "delete_owner":
#             raise Refuse("deleting owners is not for agents; ask the front desk")
#         return None
#
# before_send gets the final HTTP request: sign it, add a header or change the address. The adapter inserts a token from
# an authorization server afterwards; the request has a placeholder for it:
#
#     async def before_send(request: ApiRequest, call: Call) -> ApiRequest | None:
#         return dataclasses.replace(request, headers=(*request.headers, ("X-Request-Source", "agent")))
#
# A dry run also runs on_decision, before_call and before_send, with `call.dry_run` true, and shows their effect.
#
# after_response gets the HTTP response, before it is decoded:
#
#     def after_response(response: ApiResponse, call: Call) -> ApiResponse | None:
#         print(response.status, call.operation, file=sys.stderr)
#         return None
