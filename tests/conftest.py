"""The fixtures of every test: a running service over real encrypted databases in a temporary folder."""

import gc
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from starlette.types import ASGIApp

from carrel.app import create_app, services
from carrel.config import Settings
from carrel.kit import reserve
from carrel.vault import files
from tests.support import begun, programs, slow, soak
from tests.support.asgi import client_of, running
from tests.support.clock import FakeClock
from tests.support.host import Host
from tests.support.lent_blank import lent_blank
from tests.support.lent_worker import LentWorkers
from tests.support.service import Service
from tests.support.warm_service import ServiceStarter

# No test is timed, on a machine that may be busy; and every run tries the same examples.
hypothesis_settings.register_profile(
    "carrel", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("carrel")

IN_MEMORY = Path("/dev/shm")
ROOM_BYTES = 2 * 1024**3
"""Where there is less, as in many containers, the files of tests are on the disk."""

REAL_KEYS = (
    "tests/packaging/test_samples.py",
    "tests/sdk/test_derive.py",
    "tests/contract/test_section_7_and_8_errors_and_limits.py",
)
"""Where keys are derived as slowly as hosts do, because that is the subject."""


AS_AN_OPERATOR = (
    "tests/auth/test_flood.py",
    "tests/benchmarks/",
    "tests/campaigns/",
    "tests/checks/test_isolation.py",
    "tests/cli/test_full_disk.py",
    "tests/cli/test_reload.py",
    "tests/cli/test_serve.py",
    "tests/cli/test_without_service.py",
    "tests/deploy/test_prometheus.py",
    "tests/kit/",
    "tests/packaging/",
    "tests/privacy/",
    "tests/proxy/",
    "tests/vault/",
)
"""Where services are started as operators do, because starts, memory or processes are the subject."""


@pytest.fixture(scope="session")
def starter() -> Iterator[ServiceStarter]:
    with ServiceStarter() as starter:
        yield starter


@pytest.fixture(scope="module", autouse=True)
def quick_starts(request: pytest.FixtureRequest, starter: ServiceStarter) -> Iterator[None]:
    """A service that is a fork of a process with everything imported takes half a second less to start."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.node.nodeid.startswith(AS_AN_OPERATOR):
            patch.setattr(Service, "fork", starter.launch)
        yield


@pytest.fixture(scope="module", autouse=True)
def quick_keys(request: pytest.FixtureRequest) -> Iterator[None]:
    """The slow derivation is the SDK's and is tested there; elsewhere, on both sides of the wire, a key is a key."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.node.nodeid.startswith(REAL_KEYS):
            patch.setattr("carrel_sdk.derive.ITERATIONS", 1)
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Every file of a test is in memory, also those of the programs that it starts: nothing waits for a disk."""
    if "TMPDIR" not in os.environ and IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM_BYTES:
        os.environ["TMPDIR"] = tempfile.tempdir = str(IN_MEMORY)
    if config.getoption("markexpr").startswith("soak"):
        soak.commit()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The fast loop does not even import what it leaves out: that takes as long as a fifth of its tests."""
    if "not slow" not in config.getoption("markexpr"):
        return None
    address = collection_path.relative_to(config.rootpath).as_posix()
    return slow.is_slow_place(f"{address}/" if collection_path.is_dir() else address) or None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    for item in items:
        if slow.is_slow(item.nodeid, getattr(item, "fixturenames", [])):
            item.add_marker("slow")
    # Between the two, the choice by markers is made: what does not run needs no program.
    yield
    programs.leave_out(config, items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    programs.refuse_skip(item, report)
    return report


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: looking at it again and again costs a twentieth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_process_in_the_fast_loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that starts a service is slow, and `tests/support/slow.py` says so."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(Service, "start", refuse)


@pytest.fixture(autouse=True)
def campaigns_by_turns(request: pytest.FixtureRequest) -> Iterator[None]:
    """A campaign that measures, `soak(alone=True)`, has the machine to itself."""
    marker = request.node.get_closest_marker("soak")
    if marker is None:
        yield
    else:
        with soak.taking_turns(alone=marker.kwargs.get("alone", False)):
            yield


@pytest.fixture
def figure(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> soak.Figure:
    """For campaigns, `soak(campaign="…")`: the counts go into the line that `make soak` prints and keeps."""
    marker = request.node.get_closest_marker("soak")

    def tell(what: str, **counts: float) -> None:
        # A short form of a campaign, in the same test, has nothing to tell.
        if marker is not None:
            record_property(soak.PROPERTY, (marker.kwargs["campaign"], what, counts))

    return tell


@pytest.fixture(scope="session", autouse=True)
def quick_services() -> Iterator[None]:
    """Services in this process start in a third of the time, because what takes long is there already."""
    with pytest.MonkeyPatch.context() as patch:
        # In memory, as the files of tests are, the room for deletions on a full disk takes 7 ms of each start.
        patch.setattr(reserve, "RESERVE_BYTES", 64 * 1024)
        patch.setattr(files, "Blank", lent_blank)
        yield


@pytest.fixture(scope="session")
def begun_once(quick_services: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A first start makes and tests what a service finds from then on, which is a third of its time."""
    begun.make(begun.settings_in(tmp_path_factory.mktemp("begun")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "run_self_test", lambda data, cipher: None)
        yield


@pytest.fixture(autouse=True)
def lent_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services in this process take their workers over from each other: starting one takes half a second."""
    monkeypatch.setattr(services, "WorkerPool", LentWorkers)


def refuse(service: Service) -> None:
    raise AssertionError("this test starts a service: add its file to tests/support/slow.py")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    texts = getattr(node, "workeroutput", {}).get("not_run", [])
    if os.environ.get(programs.EVERY):
        # The workers end by it, and the process that is watched knows no more than that.
        for text in set(texts) - programs.SAID:
            node.config.pluginmanager.getplugin("terminalreporter").write_line(text, red=True)
    programs.SAID.update(texts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        # Only the process that is watched knows what all of its workers did.
        return
    for text in sorted(programs.SAID):
        terminalreporter.write_line(text)
    figures = soak.lines(terminalreporter.getreports("passed"))
    if figures:
        soak.keep(figures)
        terminalreporter.section("campaigns")
        terminalreporter.write("".join(f"{line}\n" for line in figures))
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and "not proxy" in config.getoption("markexpr"):
        terminalreporter.write_line(
            "NOT RUN: the long campaigns, which make soak runs, and a run against LiteLLM's proxy, which is a large"
            " package: make proxy installs it beside Carrel and runs that"
        )


@pytest.fixture
def settings(tmp_path: Path, begun_once: None) -> Settings:
    return begun.settings_in(tmp_path)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def app(settings: Settings, clock: FakeClock) -> AsyncIterator[ASGIApp]:
    begun.begin(settings)
    app = create_app(settings, clock=clock)
    async with running(app):
        yield app


@pytest.fixture
async def client(app: ASGIApp) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app) as client:
        yield client


@pytest.fixture
def host(client: httpx.AsyncClient) -> Host:
    return Host(client)


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient) -> httpx.AsyncClient:
    """The client, with `ada` signed in."""
    client.headers.update(await host.signed_in("ada"))
    return client
