"""`doctor` tells which credentials are used, what is missing, and whether the API answers (R-OWN-3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from api.hand_made import make_package, operation
from local import Answer, Asked, Running, serving

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.cli import main
from aqlgen.runtime.cli.doctor import doctor, render_doctor
from aqlgen.runtime.cli.probe import choose
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.load import ConfigError
from aqlgen.runtime.table import Adapter, Table

KEY = {"type": "apiKey", "in": "header", "name": "X-Key", "variables": ["P_KEY"]}
BEARER = {"type": "http", "scheme": "bearer", "variables": ["P_TOKEN"]}
ENVIRON = {"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_CONFIG": ""}
URL = "https://api.acme.dev/v1"


def write(folder: Path, rows: Mapping[str, Any] | None = None, url: str = URL, **adapter: Any) -> Path:
    defaults = {"security_schemes": {"key": KEY, "token": BEARER}, "security": [["key"]]}
    make_package(folder, rows or {"op": operation()}, adapter={"servers": [{"url": url}], **defaults, **adapter})
    return folder


def page(report: Mapping[str, Any]) -> str:
    return render_doctor(json.loads(json.dumps(report, default=str)))


def states(report: Mapping[str, Any]) -> dict[str, str]:
    return {entry["scheme"]: entry["state"] for entry in report["credentials"]}


def test_what_stops_the_start_stops_doctor(tmp_path: Path) -> None:
    """R-OWN-3"""
    folder = write(tmp_path, {"create_section": operation()})
    (tmp_path / "own.toml").write_text("[quota.operations.create_sectio]\nper_day = 1\n")
    environ = {**ENVIRON, "MCP_AQL_CONFIG": str(tmp_path / "own.toml")}
    problem = "'quota.operations' in own.toml: 'create_sectio' fits no operation. Did you mean 'create_section'?"
    for start in (assemble, doctor):
        with pytest.raises(ConfigError) as caught:
            start(folder, environ=environ)
        assert str(caught.value) == problem


def test_a_token_endpoint_is_shown_with_the_chosen_server(tmp_path: Path) -> None:
    """R-OWN-3: it is relative to the server, as tokens are asked for."""
    flows = {"clientCredentials": {"token_url": "/oauth2/token"}}
    roles = {"client_id": "P_ID", "client_secret": "P_SECRET"}
    scheme = {"type": "oauth2", "variables": ["P_TOKEN"], "flows": flows, "optional_variables": roles}
    server = {"url": "https://{host}/v1", "variables": {"host": {"default": "subdomain.acme.dev"}}}
    make_package(tmp_path, {"op": operation()}, adapter={"servers": [server], "security_schemes": {"token": scheme}})
    (entry,) = doctor(tmp_path, {**ENVIRON, "MCP_AQL_SERVER_VARIABLES": "host=own.acme.dev"})["credentials"]
    assert [option["token_url"] for option in entry["grants"]] == ["https://own.acme.dev/oauth2/token"]


def test_each_credential_says_which_operations_use_it(tmp_path: Path) -> None:
    rows = {
        "a": operation(),
        "b": operation(security=[["token"], ["key"]]),
        "c": operation(security=[["token", "key"]]),
        "d": operation(security=[]),
        "e": operation(security=[[], ["token"]]),
    }
    folder = write(
        tmp_path, rows, security_schemes={"key": KEY, "token": BEARER, "old": {**KEY, "variables": ["P_OLD"]}}
    )
    report = doctor(folder, ENVIRON)
    assert states(report) == {"key": "needed", "token": "needed", "old": "not_required"}
    assert report["callable"] == {"operations": 5, "with_credentials": 2, "with_address": 5, "accepted": 5, "ready": 2}
    assert report["next"] == [
        "Set P_KEY for 1 operation",
        "Set P_TOKEN or P_KEY for 1 operation",
        "Set P_TOKEN and P_KEY for 1 operation",
    ]
    report = doctor(folder, {**ENVIRON, "P_KEY": "k", "P_OLD": "o"})
    assert states(report) == {"key": "used", "token": "needed", "old": "unused"}
    entries = {entry["scheme"]: entry for entry in report["credentials"]}
    assert entries["key"]["operations"] == {"naming": 3, "needing": 2, "using": 2, "lacking": 0}
    assert entries["token"]["operations"] == {"naming": 3, "needing": 1, "using": 0, "lacking": 1}
    text = page(report)
    assert "used by 2 of 5 operations" in text
    assert "set but unused: declared, and no operation requires it" in text
    assert text.splitlines()[-2:] == [
        "Ready for 4 of 5 operations; the others need the missing settings.",
        "  Set P_TOKEN for 1 operation",
    ]
    report = doctor(folder, {**ENVIRON, "P_KEY": "k", "P_TOKEN": "t"})
    assert "Ready: nothing is missing for any of 5 operations." in page(report)


def test_a_credential_that_another_stands_in_for_is_unused(tmp_path: Path) -> None:
    folder = write(tmp_path, {"op": operation(security=[["token"], ["key"]])})
    report = doctor(folder, {**ENVIRON, "P_KEY": "k", "P_TOKEN": "t"})
    assert states(report) == {"key": "unused", "token": "used"}
    assert "set but unused: another is used for 1 operation" in page(report)
    assert states(doctor(folder, {**ENVIRON, "P_KEY": "k"})) == {"key": "used", "token": "optional"}


def test_what_to_set_names_every_way_to_a_token(tmp_path: Path) -> None:
    oauth = {
        "type": "oauth2",
        "variables": ["P_TOKEN"],
        "flows": {flow: {"token_url": "https://login.acme.dev"} for flow in ("authorizationCode", "clientCredentials")},
        "optional_variables": {"client_id": "P_ID", "client_secret": "P_SECRET"},
    }
    folder = write(tmp_path, security_schemes={"oauth": oauth}, security=[["oauth"], ["absent"]])
    report = doctor(folder, ENVIRON)
    assert doctor(folder, {**ENVIRON, "MCP_AQL_BASE_URL": "http://[::1"})["base_url"] is None
    assert report["next"] == [
        "Set P_TOKEN, or P_ID and run `login`, or P_ID and P_SECRET, or the credential 'absent', of a kind that is not "
        "served, for 1 operation"
    ]


def test_a_document_without_schemes_is_told_how_to_add_one(tmp_path: Path) -> None:
    text = page(doctor(write(tmp_path, security_schemes={}, security=[]), ENVIRON))
    assert "the document declares no security scheme" in text
    assert "security_schemes: {token: {type: http, scheme: bearer}}" in text
    assert text.splitlines()[-1].endswith("; the document names no credential.")


@pytest.mark.parametrize("url", ["https://your-domain.atlassian.net", "https://{tenant}.acme.dev", "/v1"])
def test_nothing_is_ready_at_a_placeholder(tmp_path: Path, url: str) -> None:
    folder = write(tmp_path, url=url)
    report = doctor(folder, {**ENVIRON, "P_KEY": "k"})
    assert report["callable"]["ready"] == 0
    text = page(report)
    assert "\nNot ready: the address of the API is not known." in text
    assert "  Set MCP_AQL_" in text.splitlines()[-1]
    report = doctor(folder, {**ENVIRON, "P_KEY": "k", "MCP_AQL_BASE_URL": URL})
    assert (report["address"]["source"], report["address"]["problem"]) == ("environment", None)
    assert page(report).splitlines()[-1].startswith("Ready: ")


def test_a_local_address_is_ready_if_the_api_is_there(tmp_path: Path) -> None:
    folder = write(tmp_path, url="http://localhost:8080")
    last = page(doctor(folder, {**ENVIRON, "P_KEY": "k"})).splitlines()[-1]
    assert last == "Ready if the API is at http://localhost:8080 (local); else set MCP_AQL_BASE_URL."
    ready = page(doctor(folder, {**ENVIRON, "P_KEY": "k", "MCP_AQL_BASE_URL": "http://localhost:8080"}))
    assert ready.splitlines()[-1] == "Ready: nothing is missing for any of 1 operation."


def test_nothing_is_ready_before_the_owner_has_chosen_a_host_that_is_a_variable(tmp_path: Path) -> None:
    server = {"url": "https://{tenant}.acme.dev", "variables": {"tenant": {"default": "subdomain"}}}
    folder, environ = write(tmp_path, servers=[server]), {**ENVIRON, "P_KEY": "k"}
    text = page(doctor(folder, environ))
    assert "  default: 'subdomain' is the default of '{tenant}'; set MCP_AQL_SERVER_VARIABLES=tenant=…" in text
    assert text.splitlines()[-1].startswith("Ready only after you have chosen the host: set MCP_AQL_SERVER_VARIABLES=")
    text = page(doctor(folder, {**environ, "MCP_AQL_SERVER_VARIABLES": "tenant=mine"}))
    assert text.splitlines()[-1] == "Ready: nothing is missing for any of 1 operation."


def test_an_operation_with_an_address_of_its_own_is_looked_at_too(tmp_path: Path) -> None:
    rows = {"a": operation(), "b": operation(servers=[{"url": "https://{box}.acme.dev"}])}
    report = doctor(write(tmp_path, rows), {**ENVIRON, "P_KEY": "k"})
    assert report["callable"]["ready"] == 1
    assert "1 operation at https://{box}.acme.dev: '{box}' is to be filled in" in page(report)


def chosen(folder: Path, rows: Mapping[str, Any], *ready: str, **adapter: Any) -> list[str]:
    write(folder, rows, **adapter)
    credentials = [{"scheme": name, "set": True} for name in ready]
    return [probe.row.name for probe in choose(Adapter.load(folder), Table(folder), Config(), credentials)]


ID = {"id": {"in": "path", "required": True, "schema": {"type": "string"}}}
ME = {"id": {"in": "path", "required": True, "schema": {"type": "string", "default": "me"}}}
PAGE = {"first": {"in": "adapter", "schema": {"type": "integer"}}}
LIST = {"responses": {"200": {"content_type": "application/json", "schema": {"type": "array"}}}}
FEED = {"responses": {"200": {"content_type": "text/event-stream", "schema": {}}}}


def test_the_reads_that_are_tried_are_chosen_by_structure(tmp_path: Path) -> None:
    """R-OWN-3: those that need the credential, without parameters, lists first; names say nothing."""
    rows = {
        "change": operation("POST", path="/me"),
        "head": operation("HEAD", path="/me"),
        "danger": operation(path="/me", danger="reversible"),
        "item": operation(path="/users/{id}", parameters=ID),
        "mine": operation(path="/users/{id}", parameters=ME),
        "public": operation(path="/me", security=[]),
        "one": operation(path="/me"),
        "feed": operation(path="/me", **FEED),
        "all": operation(path="/pets/of/all/people", **LIST),
        "text": operation(path="/socket", responses={"200": {"content_type": "text/plain", "schema": {}}}),
    }
    assert chosen(tmp_path, rows, "key") == ["all", "one", "mine", "text", "public"]
    assert chosen(tmp_path / "e", rows) == ["public", "all", "one", "mine", "text"]
    assert chosen(tmp_path / "g", {"op": operation(security=[["absent"], []])}) == ["op"]
    assert chosen(tmp_path / "f", {name: rows[name] for name in ("change", "head", "danger", "item")}, "key") == []
    many = {f"op{number}": operation(path=f"/pets{number}") for number in range(9)}
    assert len(chosen(tmp_path / "h", many, "key")) == 5
    pages = {"op": operation(parameters=PAGE, pagination={"style": "page", "parameter": "page"})}
    chosen(tmp_path / "i", pages, "key")
    (probe,) = choose(Adapter.load(tmp_path / "i"), Table(tmp_path / "i"), Config(), [{"scheme": "key", "set": True}])
    assert (probe.params, probe.credentials, probe.demands) == ({"first": 1}, ("key",), True)


def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str, **environ: str
) -> tuple[int, dict[str, Any], str]:
    """Run `doctor --call` as JSON and for people. Returns the exit code, the outcome of the call and the page."""
    for name, value in {**ENVIRON, "P_KEY": "sesame", **environ}.items():
        monkeypatch.setenv(name, value)
    hooks = SimpleNamespace()
    code = main(folder, hooks, ["doctor", "--call", "--output-format", "json", *arguments])
    outcome = json.loads(capsys.readouterr().out)["call"]
    main(folder, hooks, ["doctor", "--call", *arguments])
    return code, outcome, capsys.readouterr().out


WRONG = Answer({"error": "x"}, 401)


@pytest.mark.parametrize(
    ("answer", "code", "credential", "words"),
    [
        (
            Answer({"name": "Ada"}),
            0,
            "accepted",
            "The API accepted the credential 'key': without it the read gave HTTP 401.",
        ),
        (Answer({"ok": False, "error": "invalid_auth"}), 1, "unknown", "a reported failure"),
        (Answer(b"<p>Log in", 200, {"Content-Type": "text/html"}), 1, "unknown", "a web page"),
        (WRONG, 1, "refused", "HTTP 401 in 3 reads: the credential 'key' is wrong"),
        (Answer({"error": "x"}, 403), 1, "not_allowed", "HTTP 403 in 3 reads: the credential 'key' is wrong"),
        (Answer({"error": "x"}, 404), 1, "unknown", "HTTP 404 in 3 reads: nothing is there"),
        (Answer({"error": "x"}, 500), 1, "unknown", "HTTP 500 in 3 reads: it failed"),
    ],
)
def test_the_call_says_in_words_what_became_of_the_credential(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: Answer,
    code: int,
    credential: str,
    words: str,
) -> None:
    """R-OWN-3: each read is sent without the credential first, and with it where that was refused."""
    rows = {name: operation(path=f"/{name}") for name in ("a", "b", "c")}
    with serving(lambda asked: answer if "x-key" in asked.headers else WRONG) as local:
        exit_code, outcome, text = run(write(tmp_path, rows, url=local.url), monkeypatch, capsys, MCP_AQL_RETRIES="0")
        assert [request.headers.get("x-key") for request in local.asked[:2]] == [None, "sesame"]
    assert (outcome["status"], outcome["credential"]) == (answer.status, credential)
    assert exit_code == code
    assert words in text
    assert f"HTTP {answer.status}" in text
    assert text.splitlines()[-1].startswith("Ready" if code == 0 else "Not ready")
    assert not any(word in text for word in ("sesame", "Ada", "invalid_auth", "Log in"))


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(("value", "is_hinted"), [("sesame", True), ("Token sesame", False)])
def test_a_key_that_is_refused_alone_in_authorization_gets_a_hint(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    value: str,
    is_hinted: bool,
    status: int,
) -> None:
    schemes = {"key": {**KEY, "name": "Authorization"}}
    with serving(lambda _: Answer({"error": "x"}, status)) as local:
        folder = write(tmp_path, url=local.url, security_schemes=schemes)
        code, outcome, text = run(folder, monkeypatch, capsys, P_KEY=value)
    assert code == 1
    assert ("some APIs need 'Bearer <value>'." in outcome["verdict"]) is is_hinted
    assert "sesame" not in text


class Api:
    """An API whose paths are public or protected, and some of which always fail."""

    def __init__(self, key: str = "sesame", **statuses: int) -> None:
        self.key, self.statuses = key, statuses

    def __call__(self, asked: Asked) -> Answer:
        name = asked.path.strip("/")
        if name in self.statuses:
            return Answer({}, self.statuses[name])
        return Answer({}, 200 if name.startswith("public") or asked.headers.get("x-key") == self.key else 401)


CASES: dict[str, tuple[Api, tuple[str, ...], str, str, str]] = {
    "public reads prove nothing": (
        Api("x"), ("public1", "public2"), "unknown",
        "Proves nothing of the credential 'key': 2 reads succeeded without it.", "Ready: ",
    ),
    "a public read is followed by one that proves": (
        Api(), ("public1", "z"), "accepted", "The API accepted the credential 'key'", "Ready: ",
    ),
    "a wrong key is refused where the first reads are public": (
        Api("x"), ("public1", "public2", "z"), "refused", "401 in 1 read: the credential 'key' is wrong", "Not ready: ",
    ),
    "a read that fails is followed by the next": (
        Api(a1=500, a2=404), ("a1", "a2", "z"), "accepted", "The API accepted the credential 'key'", "Ready: ",
    ),
    "failures that do not agree blame nothing": (
        Api(a1=500, a2=404), ("a1", "a2"), "unknown", "the reads do not agree (HTTP 404, HTTP 500)", "Not ready: ",
    ),
    "a read that is forbidden says no more than the others": (
        Api(a1=403), ("a1", "z"), "accepted", "The API accepted the credential 'key'", "Ready: ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_read_proves_something_only_where_it_fails_without_the_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    """R-OWN-3"""
    api, names, credential, words, last = CASES[case]
    with serving(api) as local:
        folder = write(tmp_path, {name: operation(path=f"/{name}") for name in names}, url=local.url)
        _, outcome, text = run(folder, monkeypatch, capsys, MCP_AQL_RETRIES="0")
    assert outcome["credential"] == credential
    assert words in text
    assert text.splitlines()[-1].startswith(last)


def test_an_api_that_wants_none_of_what_its_document_declares_is_found_out_and_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda asked: Answer({}, 400 if "x-key" in asked.headers else 200)) as local:
        folder = write(tmp_path, url=local.url)
        code, outcome, text = run(folder, monkeypatch, capsys, P_KEY="")
        assert (code, outcome["credential"]) == (0, "not_sent")
        assert "if it needs none, set MCP_AQL_AUTH=none" in text
        assert text.splitlines()[-2].startswith("Not ready: no credential is set")
        _, _, text = run(folder, monkeypatch, capsys, MCP_AQL_AUTH="none")
        assert "none is sent: MCP_AQL_AUTH is none" in text
        assert text.splitlines()[-1] == "Ready: nothing is missing for any of 1 operation."
        adapter = Running(folder, {"MCP_AQL_AUTH": "none", "P_KEY": "sesame"})
        assert adapter.calls()[0]["success"]
    refused = Running(folder, {}).calls()[0]["error"]
    assert "MCP_AQL_AUTH=none" in refused["message"]


def test_a_credential_that_nothing_requires_leaves_it_open_whether_all_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda asked: Answer({}, 200 if "x-key" in asked.headers else 401)) as local:
        folder = write(tmp_path, url=local.url, security=[[], ["key"]])
        assert page(doctor(folder, ENVIRON)).splitlines()[-1].startswith("Ready if the API wants no credential")
        assert "needed by 0 of 1 operation" in page(doctor(folder, ENVIRON))
        _, outcome, text = run(folder, monkeypatch, capsys, P_KEY="")
        assert (outcome["credential"], text.splitlines()[-1][:9]) == ("not_sent", "Not ready")
        assert "the adapter sent none: set P_KEY" in text
        _, outcome, text = run(folder, monkeypatch, capsys)
        assert (outcome["credential"], text.splitlines()[-1][:6]) == ("accepted", "Ready:")


def test_an_answer_without_a_credential_proves_nothing_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda _: Answer({})) as local:
        public = write(tmp_path / "a", {"op": operation(security=[])}, url=local.url)
        _, outcome, text = run(public, monkeypatch, capsys)
        assert (outcome["credential"], "proves nothing about a credential" in text) == ("not_sent", True)
        either = write(tmp_path / "b", {"op": operation(security=[[], ["key"]])}, url=local.url)
        _, outcome, text = run(either, monkeypatch, capsys)
        assert (outcome["credential"], "1 read succeeded without it" in text) == ("unknown", True)
        assert text.splitlines()[-1].endswith("the credential is not proven.")
    with serving(lambda _: Answer({}, 401)) as local:
        optional = write(tmp_path / "c", {"op": operation(security=[[], ["token"], ["key"]])}, url=local.url)
        _, outcome, text = run(optional, monkeypatch, capsys, P_KEY="")
        assert (outcome["credential"], "the adapter sent none: set P_TOKEN or P_KEY" in text) == ("not_sent", True)
        both = write(tmp_path / "d", {"op": operation(security=[["token", "key"]])}, url=local.url)
        assert "\nNot ready: a credential is missing." in run(both, monkeypatch, capsys)[2]


def test_a_parameter_that_every_read_needs_is_named_where_nothing_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = {"tenant": {"in": "header", "name": "X-Tenant", "required": True, "schema": {"type": "string"}}}
    folder = write(tmp_path, {name: operation(path=f"/{name}", parameters=tenant) for name in ("a", "b")})
    code, outcome, text = run(folder, monkeypatch, capsys)
    assert (code, outcome["credential"]) == (1, "unknown")
    assert "header:X-Tenant has no known value for 2 reads" in outcome["verdict"]
    assert text.splitlines()[-1].endswith("; the credential is not proven.")


def test_a_call_with_mock_sends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, outcome, text = run(write(tmp_path, url="https://your-domain.dev"), monkeypatch, capsys, "--mock", P_KEY="")
    assert (code, outcome["status"], outcome["mock"], outcome["credential"]) == (0, 200, True, "not_sent")
    assert "Nothing was sent" in text


def test_the_owners_hooks_see_the_call(tmp_path: Path) -> None:
    operations: list[str] = []

    async def after_response(response: Any, call: Any) -> None:
        operations.append(call.operation)

    with serving(lambda _: Answer({})) as local:
        folder = write(tmp_path, url=local.url)
        hooks = SimpleNamespace(after_response=after_response)
        assert doctor(folder, {**ENVIRON, "P_KEY": "k"}, hooks, call=True)["call"]["status"] == 200
    assert operations == ["op"]


def test_what_the_api_does_not_answer_is_said_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(_: Asked) -> Answer:
        raise AssertionError

    with serving(never) as local:
        url = local.url
    code, outcome, text = run(write(tmp_path, url=url), monkeypatch, capsys)
    assert (code, outcome["status"], outcome["credential"]) == (1, None, "unknown")
    assert "No answer of the API" in text
