"""Secrets of others that an API's text quotes are kept by no log (R-OPS-4)."""

from __future__ import annotations

import json
from typing import Any

from aqlgen.runtime.logs import JsonFormatter, Logger, Record, without_shapes
from tests.cases import each

BODY = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6"


@each(
    ("secret", "prefix"),
    [
        (f"ghp_{BODY}", "ghp_"),
        (f"github_pat_{BODY}", "github_pat_"),
        (f"glpat-{BODY[:20]}", "glpat-"),
        (f"xoxb-1234567890-{BODY}", "xoxb-"),
        (f"sk_live_{BODY}", "sk_live_"),
        (f"sk-proj-{BODY}", "sk-proj-"),
        (f"AIza{BODY}", "AIza"),
        ("AKIAABCDEFGHIJKLMNOP", "AKIA"),
        (f"eyJ{BODY}.eyJ{BODY}.{BODY}", "eyJ"),
        (f"Bearer {BODY}", "Bearer "),
        (f"hvs.{BODY}", "hvs."),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----"),
    ],
)
def test_a_vendors_secret_is_masked_and_its_prefix_says_whose_it_is(secret: str, prefix: str) -> None:
    assert without_shapes(f"the key '{secret}' is revoked") == f"the key '{prefix}***' is revoked"
    shown: list[Record] = []
    logger = Logger("critical", "shapes")
    logger.listen(shown.append, "debug")
    logger.write("info", f"said {secret}", answer={"list": [f"x {secret}"]})
    line = JsonFormatter().format(shown[0])
    assert BODY[:20] not in line
    data: Any = json.loads(line)["data"]
    assert data["answer"]["list"] == [f"x {prefix}***"]


@each(
    "text",
    [
        "sk-short",
        "secret_name of the basic plan",
        "the risk-assessment-of-every-department is due",
        "/v1/customers/cus_NffrFeUfNV2Hib/sources",
        "2026-11-22T15:37:45Z 5d41402abc4b2a76b9719d911017c592",
    ],
)
def test_ordinary_texts_stay(text: str) -> None:
    assert without_shapes(text) == text
