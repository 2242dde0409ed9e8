# yours: aqlgen writes this file once and never touches it again.
"""Functions around every call of this adapter. Define those that you need; a name that is absent costs nothing.

A function whose name is like one of these and is none stops the start, since nothing would call it. Begin the names of
helpers with an underscore.

Each may be `def` or `async def`, and returns what takes the place of what it was given, or None to leave it as it is.
To refuse, raise `Refuse("reason")` (the agent reads the reason) or a `Failure` with another code. Anything else that is
raised, or returned, ends the call as an internal error: it is logged, the agent reads no more than that, and nothing is
sent (after_response comes after sending).
"""

from __future__ import annotations

# The examples need:
#
#     import dataclasses
#     import sys
#
#     from .runtime.hooks import ApiRequest, ApiResponse, Call, GateDecision, Refuse, Step, StepVerdict
#
# For every call that has passed validation, what is about to be done with it, before anybody is asked: `outcome` is
# "allow", "confirm" or "refuse"; `rule`, `danger` and `trust` say what it rests on. Yours is the last word: tighten it,
# relax it, or only record it.
#
#     def on_decision(decision: GateDecision, call: Call) -> GateDecision | None:
#         if call.operation == "update_owner" and "email" in call.params:
#             return decision._replace(outcome="confirm", reasons=("Changes where invoices go",))
#         if call.operation == "delete_draft":
#             return decision._replace(outcome="allow")
#         return None
#
# For every step that an agent reports to the safety loop and that is evaluated: `outcome` is "continue", "confirm",
# "verify" or "block", `risk` is from 0 to 100, `factors` say what it is made of. Yours is the last word here, too:
#
#     def on_step(verdict: StepVerdict, step: Step) -> StepVerdict | None:
#         if step.operation == "delete_draft" and verdict.risk < 60:
#             return verdict._replace(outcome="continue")
#         if "invoice" in step.action:
#             return verdict._replace(outcome="verify", reason="Invoices are for people")
#         return None
#
# Once the call is let through; `call.operation` is its name, `call.params` are under the agent's names. What it
# changes is not asked about again:
#
#     def before_call(call: Call) -> Call | None:
#         if call.operation == "delete_owner":
#             raise Refuse("deleting owners is not for agents; ask the front desk")
#         return None
#
# With the HTTP request in its final form, to sign it, add a header or change the address. A token that the adapter gets
# from an authorization server is put in after this; a mark stands for it:
#
#     async def before_send(request: ApiRequest, call: Call) -> ApiRequest | None:
#         return dataclasses.replace(request, headers=(*request.headers, ("X-Request-Source", "agent")))
#
# A dry run goes through the three above too, with `call.dry_run` true: what they refuse or change is what it shows.
#
# With the HTTP response, before it is decoded:
#
#     def after_response(response: ApiResponse, call: Call) -> ApiResponse | None:
#         print(response.status, call.operation, file=sys.stderr)
#         return None
