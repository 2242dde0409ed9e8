"""What the torture set's INDEX.tsv expects of single documents, as far as the generated table tells."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVED_WHOLE = ("jsonschema-2020.yaml", "oas32-additional-operations.yaml")
"""Documents that the verdict allows to leave parts out of with a warning; served whole, they give none."""


@dataclass(frozen=True)
class Outcome:
    """What came of one document: exit code, JSON answer, findings, and the project if there is one."""

    code: int | None
    answer: dict[str, Any]
    findings: list[dict[str, Any]]
    project: Path

    @property
    def summary(self) -> str:
        """Say in a few words what was made."""
        if self.code != 0:
            return str(self.answer.get("error", {}).get("message", ""))[:150]
        counts = self.answer["operations"]
        return f"{counts['total']} operations, {counts['skipped']} skipped"

    @property
    def rows(self) -> dict[str, Any]:
        """Give the operation table."""
        found: dict[str, Any] = {}
        for path in self.project.glob("src/*/operations/*.json"):
            found |= json.loads(path.read_bytes())
        return found

    @property
    def adapter(self) -> dict[str, Any]:
        """Give what the project knows about the API as a whole."""
        found: dict[str, Any] = json.loads(next(self.project.glob("src/*/adapter.json")).read_bytes())
        return found

    @property
    def text(self) -> str:
        """Give the table and its types as text."""
        types = next(self.project.glob("src/*/types.json")).read_text("utf-8")
        return json.dumps(self.rows) + types

    def row(self, key: str) -> dict[str, Any]:
        """Give the row of `METHOD /path`."""
        (row,) = [row for row in self.rows.values() if f"{row['method']} {row['path']}" == key]
        found: dict[str, Any] = row
        return found

    def wires(self, key: str) -> set[str]:
        """Give the parameters of an operation as the API names them, each with its place, `!` when it is required."""
        every = self.row(key)["parameters"].items()
        rows = [(name, one) for name, one in every if one["in"] != "adapter"]
        return {f"{one['in']} {one.get('name', name)}{'!' * bool(one.get('required'))}" for name, one in rows}

    def keys(self) -> set[str]:
        """Give the operations as `METHOD /path`."""
        return {f"{row['method']} {row['path']}" for row in self.rows.values()}

    def said(self, code: str) -> str:
        """Give the messages of a code."""
        return "; ".join(one["message"] for one in self.findings if one["code"] == code)


Check = Callable[[Outcome], None]
EXPECTED: dict[str, Check] = {}


def unmet(name: str, outcome: Outcome) -> list[str]:
    """Say which expectation about a document is not met, if there is one."""
    if name not in EXPECTED:
        return []
    try:
        EXPECTED[name](outcome)
    except Exception as error:  # noqa: BLE001 - an assertion, or data that is not as expected
        return [f"expected {traceback.extract_tb(error.__traceback__)[-1].line}: {str(error)[:300]}"]
    return []


def of(name: str) -> Callable[[Check], Check]:
    """Say for which document a check is."""

    def note(check: Check) -> Check:
        EXPECTED[name] = check
        return check

    return note


@of("allof-chain.json")
def _(one: Outcome) -> None:
    properties = {f"body p{number}{'!' * (number % 3 == 0)}" for number in range(1, 16)}
    assert one.wires(*one.keys()) == {"body id!", *properties}


@of("callbacks-links-webhooks.yaml")
def _(one: Outcome) -> None:
    assert len(one.rows) == 2


@of("dangling-parameter-ref.yaml")
def _(one: Outcome) -> None:
    assert "#/components/parameters/Missing" in one.said("unresolved-reference")
    assert "getB" in {row["operation_id"] for row in one.rows.values()}


@of("dangling-schema-ref.yaml")
def _(one: Outcome) -> None:
    assert len(one.rows) == 2
    assert one.said("unresolved-reference").count("#/components/schemas/Missing") == 1


@of("dates-everywhere.yaml")
def _(one: Outcome) -> None:
    assert '"2020-01-01", "2021-01-01"' in one.text
    assert '"12:30:45"' in one.text
    assert one.adapter["api_version"] == "2024-01-15"


@of("declared-path-param-not-in-template.yaml")
def _(one: Outcome) -> None:
    assert not any("path" in wire for wire in one.wires("GET /pets"))


@of("discriminator-mapping.yaml")
def _(one: Outcome) -> None:
    assert '["cat", "dog", "lizard!"]' in one.text


@of("duplicate-operation-ids.yaml")
def _(one: Outcome) -> None:
    assert len(one.rows) == 4
    assert sum(finding["code"] == "duplicate-operation-id" for finding in one.findings) == 2


@of("duplicate-yaml-keys.yaml")
def _(one: Outcome) -> None:
    assert [finding["line"] for finding in one.findings if finding["code"] == "duplicate-key"] == [9]
    assert "line 5" in one.said("duplicate-key")


@of("fx-mermade-extensions-everywhere.yaml")
def _(one: Outcome) -> None:
    assert not any(wire.split()[1].startswith("x-") for key in sorted(one.keys()) for wire in one.wires(key))


@of("fx-ogen-parameters.json")
def _(one: Outcome) -> None:
    assert len(one.rows) == one.answer["operations"]["total"] == 12


@of("fx-opc-baseline-30.json")
def _(one: Outcome) -> None:
    assert len(one.rows) + one.answer["operations"]["skipped"] == 50
    assert one.answer["operations"]["skipped"] == 0


@of("fx-progenitor-param-collision.json")
def _(one: Outcome) -> None:
    (key,) = one.keys()
    assert {wire.split()[1].rstrip("!") for wire in one.wires(key)} >= {"query", "url", "request", "response", "client"}


@of("huge-enum.json")
def _(one: Outcome) -> None:
    assert "4999" in one.text


@of("jsonschema-2020.yaml")
def _(one: Outcome) -> None:
    assert "exclusiveMinimum" in one.text or "#/$defs/pos" in one.said("unresolved-reference")


@of("keyword-names.yaml")
def _(one: Outcome) -> None:
    assert one.wires("GET /import/{class}") == {"path class!", "query from", "query lambda", "header self"}
    assert one.wires("DELETE /import/{class}") == {"path class!"}
    assert one.wires("POST /return") == {"body def!", "body yield!", "body None", "body True"}


@of("many-parameters.json")
def _(one: Outcome) -> None:
    (row,) = one.rows.values()
    assert len(row["parameters"]) == 300


@of("multi-file-simple/openapi.yaml")
def _(one: Outcome) -> None:
    assert len(one.rows) == 2
    assert not one.findings


@of("name-collision-case.yaml")
def _(one: Outcome) -> None:
    assert len(one.rows) == 6
    assert {row["path"] for row in one.rows.values()} == {f"/{letter}" for letter in "abcdef"}


@of("no-operation-ids.yaml")
def _(one: Outcome) -> None:
    assert len(one.rows) == 9
    assert {"list_users", "create_user", "get_user", "delete_user", "activate_user"} <= set(one.rows)


@of("nullable-30.yaml")
def _(one: Outcome) -> None:
    types = next(iter(json.loads(next(one.project.glob("src/*/types.json")).read_bytes()).values()))
    assert "null" in json.dumps(types)
    assert '"required": ["a"]' in one.text or one.wires("POST /n") >= {"body a!"}


@of("oas32-additional-operations.yaml")
def _(one: Outcome) -> None:
    assert one.keys() == {"QUERY /things", "PURGE /things", "COPY /things", "GET /things"}


@of("odd-paths.yaml")
def _(one: Outcome) -> None:
    paths = {"/files/{name}.{ext}", "/jobs/{id}:cancel", "/a/{x}{y}", "/with space/ü%20", "/users/", "/users"}
    assert {row["path"] for row in one.rows.values()} == paths


@of("param-content.yaml")
def _(one: Outcome) -> None:
    (key,) = one.keys()
    assert any(found.get("content_type") == "application/json" for found in one.row(key)["parameters"].values())


@of("param-names-odd.yaml")
def _(one: Outcome) -> None:
    query = {"$filter", "filter[name]", "filter[name][]", "@type", "a.b", "a_b", "id:in", "2fa"}
    assert one.wires("GET /q") == {"header X-Request-ID", *(f"query {name}" for name in query)}


@of("path-level-override.yaml")
def _(one: Outcome) -> None:
    assert one.wires("GET /items/{id}") == {"path id!", "query verbose", "header verbose"}
    types = {found["in"]: found["schema"]["type"] for found in one.row("GET /items/{id}")["parameters"].values()}
    assert types == {"path": "integer", "query": "integer", "header": "string"}
    assert one.wires("DELETE /items/{id}") == {"path id!", "query verbose", "header verbose"}


@of("path-without-slash.yaml")
def _(one: Outcome) -> None:
    assert {row["path"] for row in one.rows.values()} == {"/users", "/users/{id}"}


@of("pure-ref-cycle.yaml")
def _(one: Outcome) -> None:
    assert re.search(r"circle.*|A.*B.*C", one.said("unresolved-reference"))


@of("query-styles.yaml")
def _(one: Outcome) -> None:
    parameters = one.row("GET /things")["parameters"]
    assert parameters["deep"]["style"] == "deepObject"
    assert parameters["space"]["style"] == "spaceDelimited"
    assert parameters["pipe"]["style"] == "pipeDelimited"
    assert parameters["form_csv"]["explode"] is False


@of("readonly-writeonly.yaml")
def _(one: Outcome) -> None:
    assert {wire.split()[1] for wire in one.wires("POST /users")} == {"name!", "password!"}


@of("request-bodies-odd.yaml")
def _(one: Outcome) -> None:
    assert len(one.rows) == 10
    assert one.row("POST /b7")["body"]["content_type"] == "application/xml"
    assert one.row("DELETE /b8")["body"]["content_type"] == "application/json"


@of("responses-odd.yaml")
def _(one: Outcome) -> None:
    assert len(one.rows) == 7


@of("schema-nonsense.yaml")
def _(one: Outcome) -> None:
    lines = {finding["line"] for finding in one.findings}
    assert {9, 11, 13} <= lines  # the wrong default, the regular expression, the type that there is not


@of("security-combos.yaml")
def _(one: Outcome) -> None:
    assert one.row("GET /open")["security"] == []
    assert one.row("GET /and")["security"] == [["key", "app"]]
    assert all(not row["parameters"] for row in one.rows.values())
    assert all(scheme["variables"] for scheme in one.adapter["security_schemes"].values())


@of("server-variables.yaml")
def _(one: Outcome) -> None:
    variables = one.adapter["servers"][0]["variables"]
    assert {name: variable["default"] for name, variable in variables.items()} == {
        "scheme": "https",
        "tenant": "demo",
        "port": "443",
        "basePath": "v2",
    }


@of("swagger2-body-and-form.yaml")
def _(one: Outcome) -> None:
    assert "POST /x" in one.said("several-bodies")


@of("swagger2-formdata.yaml")
def _(one: Outcome) -> None:
    assert one.row("POST /upload")["body"]["content_type"] == "multipart/form-data"
    assert one.row("POST /login")["body"]["content_type"] == "application/x-www-form-urlencoded"
    assert one.row("GET /csv")["parameters"]["ids"]["explode"] is False
    assert one.adapter["security_schemes"]["key"]["in"] == "query"
    assert one.adapter["servers"][0]["url"] == "https://api.example.com/v1"


@of("tags-odd.yaml")
def _(one: Outcome) -> None:
    assert {row["path"] for row in one.rows.values()} == {"/a", "/b", "/c", "/d"}
    assert len(one.rows) == 4


@of("title-stdlib-name.yaml")
def _(one: Outcome) -> None:
    assert one.answer["package"] == "json_adapter"


@of("undeclared-path-param.yaml")
def _(one: Outcome) -> None:
    (key,) = one.keys()
    assert "path toyId!" in one.wires(key)
    assert "/toys/{toyId}" in one.said("bad-parameter")


@of("undefined-security-scheme.yaml")
def _(one: Outcome) -> None:
    assert "ghost" in one.said("unknown-security-scheme")


@of("unicode-names.yaml")
def _(one: Outcome) -> None:
    assert one.wires("GET /benutzer/{größe}") == {"path größe!", "query 名前"}
    assert one.wires("POST /用户") == {"body имя", "body naïve key"}
    assert all(name.isascii() for row in one.rows.values() for name in row["parameters"])


@of("uppercase-method.yaml")
def _(one: Outcome) -> None:
    assert one.keys() >= {"GET /a", "GET /b"}
    assert "PURGE /b" in one.said("operation-skipped") or one.keys() >= {"PURGE /b"}


@of("vendor-extensions.yaml")
def _(one: Outcome) -> None:
    assert len(one.rows) == 3


@of("version-as-float.yaml")
def _(one: Outcome) -> None:
    assert "3.1" in one.said("version-not-text")


@of("yaml-merge-keys.yaml")
def _(one: Outcome) -> None:
    assert one.row("GET /m").get("deprecated")
    assert not one.row("POST /m").get("deprecated")
    assert "header X-Trace" in one.wires("GET /m")


@of("yaml-norway.yaml")
def _(one: Outcome) -> None:
    (row,) = one.rows.values()
    assert row["operation_id"] == "yes"
    assert row["parameters"]["country"]["schema"]["enum"] == ["SE", "NO", "DK"]
    assert set(row["parameters"]) == {"country", "on", "y"}
    assert one.adapter["api_version"] in ("1.10", "1.1")
