"""Writes that an agent makes again, at an API that charges and knows idempotency keys (R-ERR-2, R-RATE-2)."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from api.hand_made import STRING, make_package, operation
from local import Answer, Asked, Running, serving

from aqlgen.runtime.table import FAMILIES
from tests.cases import side_by_side

OUTCOMES: dict[str, Answer] = {
    **{f"HTTP {status}": Answer({"error": "x"}, status) for status in (408, 500, 502, 503, 504)},
    "elsewhere": Answer(None, 302, {"Location": "https://elsewhere.example/"}),
    "in a circle": Answer(None, 307, {"Location": "/charges"}),
}
CARRIERS: dict[str, dict[str, Any]] = {
    "header": {"idempotency": {"header": "Idempotency-Key"}},
    "query": {"idempotency": {"parameter": "key", "in": "query"}},
    "field": {"idempotency": {"parameter": "key", "in": "body"}},
    "field of the whole body": {"idempotency": {"parameter": "key", "in": "body"}},
}


class Bank:
    """Charges once a key, fails the first requests, and afterwards repeats what it did under a key."""

    def __init__(self, failure: Answer) -> None:
        self.failure = failure
        self.failures = 7
        self.charges: list[str] = []

    def __call__(self, asked: Asked) -> Answer:
        if asked.method == "GET":
            return Answer([{"id": charge} for charge in self.charges])
        stated = dict(parse_qsl(urlsplit(asked.path).query)) | json.loads(asked.body)
        key = asked.headers.get("idempotency-key") or stated["key"]
        if key not in self.charges:
            self.charges.append(key)
        self.failures -= 1
        return self.failure if self.failures >= 0 else Answer({"id": key}, 201)


def row(carrier: str) -> dict[str, Any]:
    """Return an operation that charges, whose key is carried so."""
    amount = {"in": "body", "required": True, "schema": {"type": "integer"}}
    places = {"header": {"in": "header", "name": "Idempotency-Key"}, "query": {"in": "query"}, "field": {"in": "body"}}
    if carrier in places:
        parameters = {"amount": amount, "key": {**places[carrier], "schema": STRING}}
        body = {"content_type": "application/json", "shape": "fields"}
    else:
        fields = {"type": "object", "properties": {"amount": {"type": "integer"}, "key": STRING}}
        parameters = {"input": {"in": "body", "required": True, "schema": fields}}
        body = {"content_type": "application/json", "shape": "whole", "parameter": "input", "schema": fields}
    return operation(
        "POST", "/charges", verb="create", danger="reversible", parameters=parameters, body=body, **CARRIERS[carrier]
    )


def running(folder: Path, carrier: str, url: str, retries: int = 0) -> Running:
    about = {"servers": [{"url": url}], "counts": {**dict.fromkeys(FAMILIES, 0), "create": 1}}
    make_package(folder, {"charge": row(carrier)}, family="create", adapter=about)
    return Running(folder, {"MCP_AQL_RETRIES": str(retries)})


def params(carrier: str) -> dict[str, Any]:
    return {"amount": 5} if "whole" not in carrier else {"input": {"amount": 5}}


def with_key(params: dict[str, Any], error: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with the key as the message of a failure tells."""
    [path] = re.findall(r"With '([\w.]+)' as in details\.idempotency_key", error["message"])
    name, _, field = path.partition(".")
    key = error["details"]["idempotency_key"]
    return {**params, name: {**params[name], field: key} if field else key}


def test_a_write_of_unknown_outcome_that_is_made_again_as_its_failure_tells_is_carried_out_once(
    tmp_path: Path,
) -> None:
    """R-ERR-2, R-RATE-2"""

    def repeat(outcome: str, carrier: str) -> None:
        bank = Bank(OUTCOMES[outcome])
        with serving(bank) as local:
            adapter = running(tmp_path / f"{outcome}-{carrier}", carrier, local.url)

            async def run() -> tuple[dict[str, Any], dict[str, Any]]:
                failed = await adapter.call("charge", **params(carrier))
                bank.failures = 0
                return failed, await adapter.call("charge", **with_key(params(carrier), failed["error"]))

            failed, again = adapter.run(run())
        assert failed["error"]["details"]["outcome"] == "unknown"
        assert again["success"], again
        assert len(bank.charges) == 1

    side_by_side(repeat, product(OUTCOMES, CARRIERS))


def test_a_plan_makes_a_write_of_unknown_outcome_again_under_the_same_key(tmp_path: Path) -> None:
    """R-STEP-3, R-RATE-2"""
    bank = Bank(OUTCOMES["HTTP 500"])
    with serving(bank) as local:
        adapter = running(tmp_path, "header", local.url)

        async def run() -> dict[str, Any]:
            halted = await adapter.call("run_steps", steps=[{"operation": "charge", "params": params("header")}])
            bank.failures = 0
            token = halted["error"]["details"]["plan"]["continue"]
            return await adapter.call("run_steps", **{"continue": token, "unknown": "repeat"})

        again = adapter.run(run())
    assert again["success"], again
    assert len(bank.charges) == 1


def test_an_earlier_attempt_that_may_have_been_carried_out_counts_behind_a_later_refusal(tmp_path: Path) -> None:
    """R-ERR-2: the second answer of 429 says nothing about the first of 503."""
    answers = iter([Answer(None, 503), Answer(None, 429), Answer(None, 429)])
    with serving(lambda _: next(answers)) as local:
        adapter = running(tmp_path, "header", local.url, retries=2)
        failed = adapter.run(adapter.call("charge", amount=5))
    assert failed["error"]["code"] == "RATE_LIMIT_EXCEEDED"
    assert failed["error"]["details"]["outcome"] == "unknown"
    assert failed["error"]["details"]["idempotency_key"] == local.asked[0].headers["idempotency-key"]
