"""The proxy of these tests, in its own environment, and a workspace of a real service that may call it."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.request import Request, urlopen

import msgspec
import pytest
from carrel_sdk import Host, Workspace

from tests.support.kills import ROOT
from tests.support.service import Service

_PYTHON = ROOT / ".venv-proxy/bin/python"
_INSTALLED = ROOT / ".venv-proxy/.installed"
_START_SECONDS = 180


class Entry(msgspec.Struct, frozen=True):
    """What the proxy's gate noted of one completion; see `faulty_proxy.Entry`."""

    number: int
    at: float
    model: str
    judges: bool
    prompt: str
    fault: str
    forwarded: bool
    status: int | None
    tokens: tuple[int, int] | None


@dataclass
class Proxy:
    """A proxy that serves."""

    url: str
    key: str

    @property
    def host(self) -> str:
        """What CARREL_PROVIDER_HOSTS must name."""
        return self.url.removeprefix("http://")

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def journal(self) -> list[Entry]:
        """Every completion that was ever asked for."""
        return msgspec.json.decode(self.get("/journal"), type=list[Entry])

    def get(self, path: str) -> bytes:
        with urlopen(Request(self.url + path), timeout=_START_SECONDS) as answer:
            return bytes(answer.read())


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    assert _INSTALLED.exists(), "the proxy is not installed: make proxy"
    folder = tmp_path_factory.mktemp("proxy")
    # Nothing of the developer's gets in, no key above all; and no list of prices is fetched from anywhere.
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    environment["PYTHONPATH"] = str(ROOT)
    with (folder / "proxy.log").open("wb") as log:
        process = subprocess.Popen(
            [_PYTHON, "-m", "tests.proxy.faulty_proxy"],
            env=environment,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, (folder / "proxy.log").read_text()
            proxy = Proxy(**json.loads(line))
            proxy.get("/health/liveliness")
            yield proxy
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture(scope="module")
def workspace(proxy: Proxy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Ada's, with the proxy's key for two of Carrel's providers, which speak two dialects."""
    service = Service(tmp_path_factory.mktemp("service"), settings={"CARREL_PROVIDER_HOSTS": proxy.host})
    service.start()
    host = Host(service.url, service.plugin_secret)
    host.sign_up("ada", membership="paid", password="pw")
    with Workspace(service.url, lambda: str(host.session("ada"))) as workspace:
        for provider in ("openai", "compatible"):
            workspace.provider_keys.store(provider, proxy.key, base_url=proxy.base_url)
        # A proxy is not the provider's own host, so no list knows what its calls cost.
        workspace.models.set_price("openai", input_per_million="0.4", output_per_million="1.6")
        yield workspace
    host.close()
    assert service.stop() == 0
    log = service.log()
    assert proxy.key not in log
    assert "Scripted" not in log
