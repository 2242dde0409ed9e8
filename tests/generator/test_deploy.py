"""The files that a project is deployed by: valid by Kubernetes' own schema, and true to what the adapter serves."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from aqlgen.runtime.server.monitoring import HEALTH, METRICS, READY
from aqlgen.runtime.settings import unknown_variable
from aqlgen.runtime.settings.config import SETTINGS
from tests.checkouts import unpack_runtime
from tests.documents import INTEGER, TEXT, list_of, object_of, replies
from tests.generator.agents import operation
from tests.generator.commands import FIXTURES, api, generate, run


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deploy") / "petstore"
    assert run("from-openapi", FIXTURES / "petstore.yaml", "-o", folder, "--add", "all").code == 0
    return folder


@cache
def manifests(project: Path, part: str = "adapter") -> dict[str, Any]:
    """Return the manifests of the adapter or of its store, by their kinds."""
    documents = yaml.safe_load_all((project / "deploy/kubernetes.yaml").read_text())
    return {document["kind"]: document for document in documents if document["metadata"]["name"].endswith(f"-{part}")}


def test_each_manifest_is_valid_by_kubernetes_own_schema(project: Path) -> None:
    kinds = manifests(project)
    assert kinds.keys() >= {"Deployment", "Secret", "ConfigMap", "Service", "HorizontalPodAutoscaler", "NetworkPolicy"}
    for manifest in [*kinds.values(), *manifests(project, "store").values()]:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


def test_the_manifests_fit_one_another_and_the_adapter(project: Path) -> None:
    kinds = manifests(project)
    pod = kinds["Deployment"]["spec"]["template"]
    labels = pod["metadata"]["labels"]
    assert kinds["Deployment"]["spec"]["replicas"] == kinds["HorizontalPodAutoscaler"]["spec"]["minReplicas"] == 3
    selectors = [
        kinds["Deployment"]["spec"]["selector"]["matchLabels"],
        kinds["Service"]["spec"]["selector"],
        kinds["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
        kinds["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
    ]
    assert all(selector.items() <= labels.items() for selector in selectors)
    (container,) = pod["spec"]["containers"]
    (port,) = container["ports"]
    assert kinds["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    probes = {name: container[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {probe["path"] for probe in probes.values()} == {HEALTH, READY}
    assert probes["readinessProbe"]["path"] == READY
    assert {probe["port"] for probe in probes.values()} == {port["name"]}
    assert pod["metadata"]["annotations"]["prometheus.io/path"] == METRICS
    settings = kinds["ConfigMap"]["data"] | dict.fromkeys(kinds["Secret"]["stringData"], "x")
    assert unknown_variable(settings, (item.variable for item in SETTINGS), "petstore_adapter") is None
    stop = next(item.default for item in SETTINGS if item.key == "http.stop_timeout")
    pause = float(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["spec"]["terminationGracePeriodSeconds"] > stop + pause


def test_nothing_secret_and_no_right_too_many_stands_in_them(project: Path) -> None:
    kinds = manifests(project)
    assert set(kinds["Secret"]["stringData"].values()) == {""}, "an adapter without a token does not start"
    pod = kinds["Deployment"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True


def test_the_store_has_a_password_a_key_of_the_owners_and_a_network_of_its_own(project: Path) -> None:
    """R-OPS-3: nobody but the adapter reaches what it keeps there, and nothing starts while a secret is unset."""
    adapter, store = manifests(project), manifests(project, "store")
    (container,) = adapter["Deployment"]["spec"]["template"]["spec"]["containers"]
    url = next(variable["value"] for variable in container["env"] if variable["name"] == "MCP_AQL_STATE_URL")
    assert url == f"redis://:$(STORE_PASSWORD)@{store['Service']['metadata']['name']}:6379/0"
    assert adapter["Secret"]["stringData"].keys() >= {"MCP_AQL_STATE_KEY", "STORE_PASSWORD"}
    pod = store["StatefulSet"]["spec"]["template"]
    assert "--requirepass" in pod["spec"]["containers"][0]["command"][2]
    policy = store["NetworkPolicy"]["spec"]
    assert policy["podSelector"]["matchLabels"] == store["Service"]["spec"]["selector"] == pod["metadata"]["labels"]
    (source,) = policy["ingress"][0]["from"]
    assert source["podSelector"] == adapter["NetworkPolicy"]["spec"]["podSelector"]
    assert "Egress" in policy["policyTypes"]
    assert "egress" not in policy
    assert policy["podSelector"] in [
        peer["podSelector"] for rule in adapter["NetworkPolicy"]["spec"]["egress"] for peer in rule.get("to", ())
    ]
    compose = yaml.safe_load((project / "deploy/compose.yaml").read_text())
    services = compose["services"]
    assert services["adapter"]["environment"]["MCP_AQL_STATE_KEY"].startswith("${MCP_AQL_STATE_KEY:?")
    assert services["adapter"]["environment"]["MCP_AQL_STATE_URL"].startswith("redis://:${STORE_PASSWORD:?")
    assert "${STORE_PASSWORD:?}" in services["store"]["command"]
    assert "ports" not in services["store"]
    assert services["store"]["networks"] == ["store"]
    assert compose["networks"]["store"] == {"internal": True}


@pytest.mark.parametrize(
    ("url", "ports"), [("http://shop.acme.dev:8080/v1", [443, 8080]), ("http://shop.acme.dev", [80, 443]), ("/", [443])]
)
def test_the_network_policy_lets_the_adapter_reach_the_ports_of_its_api(
    tmp_path: Path, url: str, ports: list[int]
) -> None:
    document = api({"GET /goods": operation("listGoods")}, servers=[{"url": url}])
    project = generate(tmp_path, document, "--add", "kubernetes")
    egress = manifests(project.folder)["NetworkPolicy"]["spec"]["egress"]
    everywhere = [rule["ports"] for rule in egress if "to" not in rule]
    assert [port["port"] for port in everywhere[1]] == ports


def test_the_image_and_compose_ask_for_what_the_adapter_answers(project: Path) -> None:
    dockerfile = (project / "Dockerfile").read_text()
    assert f"http://127.0.0.1:8000{HEALTH}" in dockerfile
    user = re.search(r"^USER (\d+)$", dockerfile, re.MULTILINE)
    assert user is not None
    pod = manifests(project)["Deployment"]["spec"]["template"]["spec"]
    assert int(user[1]) == pod["securityContext"]["runAsUser"]
    compose = yaml.safe_load((project / "deploy/compose.yaml").read_text())
    adapter = compose["services"]["adapter"]
    assert unknown_variable(adapter["environment"], (item.variable for item in SETTINGS), "petstore_adapter") is None
    assert all(port.startswith("127.0.0.1:") for port in adapter["ports"])
    assert set(adapter["depends_on"]) <= compose["services"].keys()
    named = {volume.partition(":")[0] for service in compose["services"].values() for volume in service["volumes"]}
    assert named == compose["volumes"].keys()


ACTION = object_of("action", action={"enum": ["rename", "delete"]})


@pytest.mark.usefixtures("forked")
def test_an_update_that_asks_may_read_before_it_writes_and_a_call_that_chooses_no_deletion_is_not_asked_about(
    tmp_path: Path,
) -> None:
    thing = object_of(name=TEXT, size=INTEGER)
    changes = object_of("actions", actions={**list_of(ACTION), "minItems": 1})
    operations = {
        "GET /things/{id}": operation("getThing", responses=replies(thing)),
        "PUT /things/{id}": operation("updateThing", thing, responses=replies(thing)),
        "POST /changes": operation("makeChanges", changes, responses=replies(thing)),
        "DELETE /parts/{id}": operation("deletePart", responses={}),
    }
    overrides = tmp_path / "overrides.yaml"
    overrides.write_text("PUT /things/{id}: {danger: destructive}\n", encoding="utf-8")
    document = api(operations, servers=[{"url": "https://shop.example"}])
    project = generate(tmp_path, document, "--overrides", str(overrides))
    assert project.rows["update_thing"]["update"]["strategy"] == "put-merge"
    changes = next(row for row in project.rows.values() if row["path"] == "/changes")
    assert project.rows["update_thing"]["danger"] == changes["danger"] == "destructive"
    assert changes["carries"]["places"][0]["harmless"] == ["rename"]
    unpack_runtime(project.package)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "destructive or person or forbidden"],
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
