"""Every operation through the proxy: three nodes do what `openapi.json` says, as one process does."""

from collections.abc import Iterator

import pytest

from tests.cluster.proxied import Proxied, proxied
from tests.support import soak
from tests.support.etcd import EtcdServer
from tests.support.generated_requests import MODES, OPERATIONS, UNAVOIDED, behaves, every_secret
from tests.support.soak import Figure

pytestmark = [pytest.mark.program("etcd", "haproxy"), pytest.mark.soak(campaign="nodes")]

OF_THE_PROXY = {502, 503, 504}
"""What the proxy says when it finds no node, or not the right one."""


@pytest.fixture(scope="module")
def cluster(server: EtcdServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    folder = tmp_path_factory.mktemp("cluster")
    with proxied(folder, server, ("a", "b", "c"), {"CARREL_FREE_PLAN": "full"}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def headers(cluster: Proxied) -> dict[str, str]:
    return every_secret(cluster.front, cluster.admin["X-SVC-Admin-Secret"])


@MODES
@pytest.mark.parametrize("label", OPERATIONS)
def test_the_operation_does_behind_the_proxy_what_it_says(
    cluster: Proxied, headers: dict[str, str], label: str, mode: str, figure: Figure
) -> None:
    requests = behaves(cluster.front, headers, label, mode, soak.size(30), UNAVOIDED | OF_THE_PROXY)
    figure("requests generated from openapi.json, through the proxy", requests=requests, undocumented_answers=0)
