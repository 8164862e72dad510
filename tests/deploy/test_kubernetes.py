"""The manifests for Kubernetes: hardened, with volumes for one pod each, and with names that fit each other."""

from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from carrel.cli.main import main
from carrel.config import PREFIX, SECRETS_DIR, Settings

FILE = Path(__file__).parents[2] / "deploy" / "kubernetes" / "carrel.yaml"
Manifest = dict[str, Any]


@pytest.fixture(scope="module")
def manifests() -> dict[tuple[str, str], Manifest]:
    found = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(FILE.read_text())}
    assert len(found) == FILE.read_text().count("\nkind: ")
    return found


@pytest.fixture(scope="module")
def pods(manifests: dict[tuple[str, str], Manifest]) -> dict[str, Manifest]:
    kinds = ("Job", "StatefulSet", "Deployment")
    return {name: one["spec"]["template"]["spec"] for (kind, name), one in manifests.items() if kind in kinds}


def containers(pod: Manifest) -> list[Manifest]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def test_no_container_has_rights_that_it_does_not_need(pods: dict[str, Manifest]) -> None:
    assert set(pods) == {"carrel", "carrel-proxy", "carrel-cluster-init"}
    for pod in pods.values():
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_no_second_pod_gets_the_volume_of_a_node(manifests: dict[tuple[str, str], Manifest]) -> None:
    nodes = manifests["StatefulSet", "carrel"]["spec"]
    (claim,) = nodes["volumeClaimTemplates"]
    assert claim["spec"]["accessModes"] == ["ReadWriteOncePod"]
    assert nodes["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    (node,) = nodes["template"]["spec"]["containers"]
    assert {"name": claim["metadata"]["name"], "mountPath": "/var/lib/carrel"} in node["volumeMounts"]


def test_each_node_has_a_name_and_an_address_and_is_in_the_cluster(
    manifests: dict[tuple[str, str], Manifest], pods: dict[str, Manifest]
) -> None:
    nodes = manifests["StatefulSet", "carrel"]["spec"]
    assert ("Service", nodes["serviceName"]) in manifests
    names = [f"carrel-{number}" for number in range(nodes["replicas"])]
    for name in names:
        service = manifests["Service", name]["spec"]
        assert service["selector"] == {"statefulset.kubernetes.io/pod-name": name}
        # HAProxy has to see a node that starts.
        assert service["publishNotReadyAddresses"] is True
    (init,) = pods["carrel-cluster-init"]["containers"]
    assert init["args"] == ["cluster", "init", *(f"{name}={name}:8400" for name in names)]


def test_only_the_proxy_reaches_the_nodes_and_nodes_each_other(
    manifests: dict[tuple[str, str], Manifest], pods: dict[str, Manifest]
) -> None:
    policy = manifests["NetworkPolicy", "carrel-node"]["spec"]
    proxy, nodes = (
        manifests[kind, name]["spec"]["template"]["metadata"]["labels"]
        for kind, name in (("Deployment", "carrel-proxy"), ("StatefulSet", "carrel"))
    )
    allowed = [(rule["from"][0]["podSelector"]["matchLabels"], rule["ports"]) for rule in policy["ingress"]]
    assert allowed == [(proxy, [{"port": 8400}]), (nodes, [{"port": 8411}])]
    assert policy["podSelector"] == {"matchLabels": nodes}
    (node,) = pods["carrel"]["containers"]
    given = {variable["name"]: variable.get("value", "") for variable in node["env"]}
    assert given["CARREL_NODE_PEER"] == "$(CARREL_NODE_NAME).carrel-nodes:8411"
    assert manifests["Service", "carrel-nodes"]["spec"]["publishNotReadyAddresses"] is True
    (folder,) = {str(Path(given[f"CARREL_NODE_{name}"]).parent) for name in ("CA", "CERT", "KEY")}
    assert {"name": "peers", "mountPath": folder, "readOnly": True} in node["volumeMounts"]


def test_commands_can_be_typed_and_settings_exist(
    manifests: dict[tuple[str, str], Manifest], pods: dict[str, Manifest]
) -> None:
    for pod in pods.values():
        for container in containers(pod):
            if container["image"].startswith("carrel-service:") and "command" not in container:
                _typed(main, container["args"])
    given = set(manifests["ConfigMap", "carrel"]["data"]) - {SECRETS_DIR}
    (node,) = pods["carrel"]["containers"]
    given |= {variable["name"] for variable in node["env"]}
    assert {name.removeprefix(PREFIX).lower() for name in given} <= set(Settings.__struct_fields__)


def _typed(group: click.Group, words: list[str]) -> None:
    command = group.get_command(click.Context(group), words[0])
    assert command is not None
    if isinstance(command, click.Group):
        _typed(command, words[1:])
    else:
        command.make_context(words[0], list(words[1:]))


def test_secrets_are_for_the_service_alone(pods: dict[str, Manifest]) -> None:
    for pod in pods.values():
        for container in containers(pod):
            mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
            if container["image"].startswith("carrel-service:"):
                kept = mounts["etcd-secrets" if container["name"] == "map" else "secrets"]
                assert kept["readOnly"] is True
            else:
                assert not {"secrets", "etcd-secrets"} & set(mounts)
                assert "envFrom" not in container


def test_images_are_those_of_the_compose_file(pods: dict[str, Manifest]) -> None:
    compose = yaml.safe_load((FILE.parents[1] / "compose.yaml").read_text())
    images = {container["image"] for pod in pods.values() for container in containers(pod)}
    assert images == {compose["services"]["carrel"]["image"], "haproxy:2.8-alpine"}
