"""The expectations of the torture set's INDEX.tsv about the generated tables of single documents."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVED_WHOLE = ("jsonschema-2020.yaml", "oas32-additional-operations.yaml")
"""Documents that the verdict allows to leave parts out of with a warning; served whole, they give noutcome."""


@dataclass(frozen=True)
class Outcome:
    """The outcome for a document: exit code, JSON answer, findings, and the project if there is outcome."""

    code: int | None
    answer: dict[str, Any]
    findings: list[dict[str, Any]]
    project: Path

    @property
    def summary(self) -> str:
        """The outcome in a few words."""
        if self.code != 0:
            return str(self.answer.get("error", {}).get("message", ""))[:150]
        counts = self.answer["operations"]
        return f"{counts['total']} operations, {counts['skipped']} skipped"

    @property
    def rows(self) -> dict[str, Any]:
        """The operation table."""
        table: dict[str, Any] = {}
        for path in self.project.glob("src/*/operations/*.json"):
            table |= json.loads(path.read_bytes())
        return table

    @property
    def adapter(self) -> dict[str, Any]:
        """The project's data about the API as a whole."""
        adapter: dict[str, Any] = json.loads(next(self.project.glob("src/*/adapter.json")).read_bytes())
        return adapter

    @property
    def text(self) -> str:
        """The table and its types as text."""
        types = next(self.project.glob("src/*/types.json")).read_text("utf-8")
        return json.dumps(self.rows) + types

    def row(self, key: str) -> dict[str, Any]:
        """Return the row of `METHOD /path`."""
        row: dict[str, Any]
        (row,) = [row for row in self.rows.values() if f"{row['method']} {row['path']}" == key]
        return row

    def wires(self, key: str) -> set[str]:
        """Return the parameters of an operation as the API names them, each with its place, `!` if it is required."""
        rows = [(name, row) for name, row in self.row(key)["parameters"].items() if row["in"] != "adapter"]
        return {f"{row['in']} {row.get('name', name)}{'!' * bool(row.get('required'))}" for name, row in rows}

    def keys(self) -> set[str]:
        """Return the operations as `METHOD /path`."""
        return {f"{row['method']} {row['path']}" for row in self.rows.values()}

    def messages(self, code: str) -> str:
        """Return the messages of a code."""
        return "; ".join(finding["message"] for finding in self.findings if finding["code"] == code)


Check = Callable[[Outcome], None]
EXPECTED: dict[str, Check] = {}


def unmet(name: str, outcome: Outcome) -> list[str]:
    """Return the expectation about a document that is not met, if there is outcome."""
    if name not in EXPECTED:
        return []
    try:
        EXPECTED[name](outcome)
    except Exception as error:  # noqa: BLE001 - an assertion, or data that is not as expected
        return [f"expected {traceback.extract_tb(error.__traceback__)[-1].line}: {str(error)[:300]}"]
    return []


def of(name: str) -> Callable[[Check], Check]:
    """Return the decorator of the check of a document."""

    def register(check: Check) -> Check:
        EXPECTED[name] = check
        return check

    return register


@of("allof-chain.json")
def _(outcome: Outcome) -> None:
    properties = {f"body p{number}{'!' * (number % 3 == 0)}" for number in range(1, 16)}
    assert outcome.wires(*outcome.keys()) == {"body id!", *properties}


@of("callbacks-links-webhooks.yaml")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == 2


@of("dangling-parameter-ref.yaml")
def _(outcome: Outcome) -> None:
    assert "#/components/parameters/Missing" in outcome.messages("unresolved-reference")
    assert "getB" in {row["operation_id"] for row in outcome.rows.values()}


@of("dangling-schema-ref.yaml")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == 2
    assert outcome.messages("unresolved-reference").count("#/components/schemas/Missing") == 1


@of("dates-everywhere.yaml")
def _(outcome: Outcome) -> None:
    assert '"2020-01-01", "2021-01-01"' in outcome.text
    assert '"12:30:45"' in outcome.text
    assert outcome.adapter["api_version"] == "2024-01-15"


@of("declared-path-param-not-in-template.yaml")
def _(outcome: Outcome) -> None:
    assert not any("path" in wire for wire in outcome.wires("GET /pets"))


@of("discriminator-mapping.yaml")
def _(outcome: Outcome) -> None:
    assert '["cat", "dog", "lizard!"]' in outcome.text


@of("duplicate-operation-ids.yaml")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == 4
    assert sum(finding["code"] == "duplicate-operation-id" for finding in outcome.findings) == 2


@of("duplicate-yaml-keys.yaml")
def _(outcome: Outcome) -> None:
    assert [finding["line"] for finding in outcome.findings if finding["code"] == "duplicate-key"] == [9]
    assert "line 5" in outcome.messages("duplicate-key")


@of("fx-mermade-extensions-everywhere.yaml")
def _(outcome: Outcome) -> None:
    assert not any(wire.split()[1].startswith("x-") for key in sorted(outcome.keys()) for wire in outcome.wires(key))


@of("fx-ogen-parameters.json")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == outcome.answer["operations"]["total"] == 12


@of("fx-opc-baseline-30.json")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) + outcome.answer["operations"]["skipped"] == 50
    assert outcome.answer["operations"]["skipped"] == 0


@of("fx-progenitor-param-collision.json")
def _(outcome: Outcome) -> None:
    (key,) = outcome.keys()
    assert {wire.split()[1].rstrip("!") for wire in outcome.wires(key)} >= {
        "query",
        "url",
        "request",
        "response",
        "client",
    }


@of("huge-enum.json")
def _(outcome: Outcome) -> None:
    assert "4999" in outcome.text


@of("jsonschema-2020.yaml")
def _(outcome: Outcome) -> None:
    assert "exclusiveMinimum" in outcome.text or "#/$defs/pos" in outcome.messages("unresolved-reference")


@of("keyword-names.yaml")
def _(outcome: Outcome) -> None:
    assert outcome.wires("GET /import/{class}") == {"path class!", "query from", "query lambda", "header self"}
    assert outcome.wires("DELETE /import/{class}") == {"path class!"}
    assert outcome.wires("POST /return") == {"body def!", "body yield!", "body None", "body True"}


@of("many-parameters.json")
def _(outcome: Outcome) -> None:
    (row,) = outcome.rows.values()
    assert len(row["parameters"]) == 300


@of("multi-file-simple/openapi.yaml")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == 2
    assert not outcome.findings


@of("name-collision-case.yaml")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == 6
    assert {row["path"] for row in outcome.rows.values()} == {f"/{letter}" for letter in "abcdef"}


@of("no-operation-ids.yaml")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == 9
    assert {"list_users", "create_user", "get_user", "delete_user", "activate_user"} <= set(outcome.rows)


@of("nullable-30.yaml")
def _(outcome: Outcome) -> None:
    types = next(iter(json.loads(next(outcome.project.glob("src/*/types.json")).read_bytes()).values()))
    assert "null" in json.dumps(types)
    assert '"required": ["a"]' in outcome.text or outcome.wires("POST /n") >= {"body a!"}


@of("oas32-additional-operations.yaml")
def _(outcome: Outcome) -> None:
    assert outcome.keys() == {"QUERY /things", "PURGE /things", "COPY /things", "GET /things"}


@of("odd-paths.yaml")
def _(outcome: Outcome) -> None:
    paths = {"/files/{name}.{ext}", "/jobs/{id}:cancel", "/a/{x}{y}", "/with space/ü%20", "/users/", "/users"}
    assert {row["path"] for row in outcome.rows.values()} == paths


@of("param-content.yaml")
def _(outcome: Outcome) -> None:
    (key,) = outcome.keys()
    assert any(
        parameter.get("content_type") == "application/json" for parameter in outcome.row(key)["parameters"].values()
    )


@of("param-names-odd.yaml")
def _(outcome: Outcome) -> None:
    query = {"$filter", "filter[name]", "filter[name][]", "@type", "a.b", "a_b", "id:in", "2fa"}
    assert outcome.wires("GET /q") == {"header X-Request-ID", *(f"query {name}" for name in query)}


@of("path-level-override.yaml")
def _(outcome: Outcome) -> None:
    assert outcome.wires("GET /items/{id}") == {"path id!", "query verbose", "header verbose"}
    types = {
        parameter["in"]: parameter["schema"]["type"]
        for parameter in outcome.row("GET /items/{id}")["parameters"].values()
    }
    assert types == {"path": "integer", "query": "integer", "header": "string"}
    assert outcome.wires("DELETE /items/{id}") == {"path id!", "query verbose", "header verbose"}


@of("path-without-slash.yaml")
def _(outcome: Outcome) -> None:
    assert {row["path"] for row in outcome.rows.values()} == {"/users", "/users/{id}"}


@of("pure-ref-cycle.yaml")
def _(outcome: Outcome) -> None:
    assert re.search(r"circle.*|A.*B.*C", outcome.messages("unresolved-reference"))


@of("query-styles.yaml")
def _(outcome: Outcome) -> None:
    parameters = outcome.row("GET /things")["parameters"]
    assert parameters["deep"]["style"] == "deepObject"
    assert parameters["space"]["style"] == "spaceDelimited"
    assert parameters["pipe"]["style"] == "pipeDelimited"
    assert parameters["form_csv"]["explode"] is False


@of("readonly-writeonly.yaml")
def _(outcome: Outcome) -> None:
    assert {wire.split()[1] for wire in outcome.wires("POST /users")} == {"name!", "password!"}


@of("request-bodies-odd.yaml")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == 10
    assert outcome.row("POST /b7")["body"]["content_type"] == "application/xml"
    assert outcome.row("DELETE /b8")["body"]["content_type"] == "application/json"


@of("responses-odd.yaml")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == 7


@of("schema-nonsense.yaml")
def _(outcome: Outcome) -> None:
    lines = {finding["line"] for finding in outcome.findings}
    assert {9, 11, 13} <= lines  # the wrong default, the regular expression, the type that there is not


@of("security-combos.yaml")
def _(outcome: Outcome) -> None:
    assert outcome.row("GET /open")["security"] == []
    assert outcome.row("GET /and")["security"] == [["key", "app"]]
    assert all(not row["parameters"] for row in outcome.rows.values())
    assert all(scheme["variables"] for scheme in outcome.adapter["security_schemes"].values())


@of("server-variables.yaml")
def _(outcome: Outcome) -> None:
    variables = outcome.adapter["servers"][0]["variables"]
    assert {name: variable["default"] for name, variable in variables.items()} == {
        "scheme": "https",
        "tenant": "demo",
        "port": "443",
        "basePath": "v2",
    }


@of("swagger2-body-and-form.yaml")
def _(outcome: Outcome) -> None:
    assert "POST /x" in outcome.messages("several-bodies")


@of("swagger2-formdata.yaml")
def _(outcome: Outcome) -> None:
    assert outcome.row("POST /upload")["body"]["content_type"] == "multipart/form-data"
    assert outcome.row("POST /login")["body"]["content_type"] == "application/x-www-form-urlencoded"
    assert outcome.row("GET /csv")["parameters"]["ids"]["explode"] is False
    assert outcome.adapter["security_schemes"]["key"]["in"] == "query"
    assert outcome.adapter["servers"][0]["url"] == "https://api.example.com/v1"


@of("tags-odd.yaml")
def _(outcome: Outcome) -> None:
    assert {row["path"] for row in outcome.rows.values()} == {"/a", "/b", "/c", "/d"}
    assert len(outcome.rows) == 4


@of("title-stdlib-name.yaml")
def _(outcome: Outcome) -> None:
    assert outcome.answer["package"] == "json_adapter"


@of("undeclared-path-param.yaml")
def _(outcome: Outcome) -> None:
    (key,) = outcome.keys()
    assert "path toyId!" in outcome.wires(key)
    assert "/toys/{toyId}" in outcome.messages("bad-parameter")


@of("undefined-security-scheme.yaml")
def _(outcome: Outcome) -> None:
    assert "ghost" in outcome.messages("unknown-security-scheme")


@of("unicode-names.yaml")
def _(outcome: Outcome) -> None:
    assert outcome.wires("GET /benutzer/{größe}") == {"path größe!", "query 名前"}
    assert outcome.wires("POST /用户") == {"body имя", "body naïve key"}
    assert all(name.isascii() for row in outcome.rows.values() for name in row["parameters"])


@of("uppercase-method.yaml")
def _(outcome: Outcome) -> None:
    assert outcome.keys() >= {"GET /a", "GET /b"}
    assert "PURGE /b" in outcome.messages("operation-skipped") or outcome.keys() >= {"PURGE /b"}


@of("vendor-extensions.yaml")
def _(outcome: Outcome) -> None:
    assert len(outcome.rows) == 3


@of("version-as-float.yaml")
def _(outcome: Outcome) -> None:
    assert "3.1" in outcome.messages("version-not-text")


@of("yaml-merge-keys.yaml")
def _(outcome: Outcome) -> None:
    assert outcome.row("GET /m").get("deprecated")
    assert not outcome.row("POST /m").get("deprecated")
    assert "header X-Trace" in outcome.wires("GET /m")


@of("yaml-norway.yaml")
def _(outcome: Outcome) -> None:
    (row,) = outcome.rows.values()
    assert row["operation_id"] == "yes"
    assert row["parameters"]["country"]["schema"]["enum"] == ["SE", "NO", "DK"]
    assert set(row["parameters"]) == {"country", "on", "y"}
    assert outcome.adapter["api_version"] in ("1.10", "1.1")
