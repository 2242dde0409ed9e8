"""The replacement of a deprecated operation, as the document's words name it (R-WARN-2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cases import each
from tests.generator.commands import api, tabulate

ANSWER = {"responses": {"200": {"description": "ok"}}}


def document(description: str, summary: str = "List tags") -> dict[str, Any]:
    old = {"operationId": "getTagsOld", "summary": summary, "description": description, "deprecated": True, **ANSWER}
    gone = {"operationId": "getTagsOlder", "summary": "Older tags", "deprecated": True, **ANSWER}
    return api(
        {
            "/v1/tags": {"get": old},
            "/v0/tags": {"get": gone},
            "/api/v2/tags": {"get": {"operationId": "getTags", "summary": "Browse the tags", **ANSWER}},
            "/api/v2/labels": {
                "get": {"operationId": "getLabels", "summary": "Browse labels", **ANSWER},
                "delete": {"operationId": "removeLabels", "summary": "Remove labels", **ANSWER},
            },
        }
    )


@each(
    ("description", "path"),
    [
        ("Use GET /v2/tags instead. Deprecated since 1.26.0", "/api/v2/tags"),
        ("**Deprecated.** Please use the `GET /api/v2/tags` endpoint.", "/api/v2/tags"),
        ("This was replaced by `/api/v2/tags`.", "/api/v2/tags"),
        ("Superseded by /api/v2/labels, which is paged", "/api/v2/labels"),
        ("Deprecated in favour of `getTags`", "/api/v2/tags"),
        ("Deprecated: use get_tags.", "/api/v2/tags"),
        ("Use [Browse the tags](/documentation/reference/browse) instead.", "/api/v2/tags"),
        ("Use [another one](https://docs.example/reference/get-labels) instead.", "/api/v2/labels"),
        ('Use "Browse labels" instead', "/api/v2/labels"),
        ("Use `/v2/tags` instead of this one.\nUse /v2/labels instead", "/api/v2/labels"),
        ("Use DELETE /api/v2/labels instead.", None),
        ("Use the newer endpoint instead.", None),
        ("Use /v3/tags instead.", None),
        ("Use GET /v0/tags instead.", None),
        ("This has been deprecated and will not be replaced by /api/v2/tags.", None),
        ("Lists tags, as getLabels does for labels. Deprecated.", None),
        ("Use /v1/tags instead.", None),
    ],
)
def test_words_name_the_replacement(tmp_path: Path, description: str, path: str | None) -> None:
    """R-WARN-2"""
    rows = tabulate(tmp_path, document(description)).rows
    (row,) = (row for row in rows.values() if row["path"] == "/v1/tags")
    wanted = {name for name, other in rows.items() if other["path"] == path and other["method"] == "GET"}
    assert {row.get("deprecation", {}).get("replacement")} == (wanted or {None})


def test_an_extension_says_more_than_words(tmp_path: Path) -> None:
    described = document("Use GET /v2/tags instead.")
    described["paths"]["/v1/tags"]["get"]["x-replaced-by"] = "getLabels"
    rows = tabulate(tmp_path, described).rows
    (row,) = (row for row in rows.values() if row["path"] == "/v1/tags")
    assert rows[row["deprecation"]["replacement"]]["path"] == "/api/v2/labels"
