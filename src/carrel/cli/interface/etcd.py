"""What the commands of a cluster share: the settings, and a connection to etcd."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import settings_of
from carrel.cli.interface.refusal import refuse
from carrel.cluster import connection
from carrel.cluster.etcd import EtcdUnreachable, UserRejected
from carrel.cluster.refusals import ClusterAbsent, ClusterKeyRejected, EtcdCertificateUnusable, EtcdUserRejected
from carrel.cluster.registry import ClusterRegistry
from carrel.config import ABSENT, Settings

T = TypeVar("T")

_TIMEOUT_SECONDS: Final = 10.0
"""For one call of a command. Nothing depends on its speed, unlike on a node's."""


def settings_with_etcd(
    env_file: Path | None, data_dir: str | None = None, *, needs: Collection[str] = ("service_key",)
) -> Settings:
    """The settings, with servers of etcd."""
    settings = settings_of(env_file, data_dir, needs=needs)
    require_etcd(settings)
    return settings


def require_etcd(settings: Settings) -> None:
    """End the program if the settings name no server of etcd."""
    if not settings.etcd:
        refuse("CARREL_ETCD: is not set")


def run(settings: Settings, work: Callable[[ClusterRegistry], Awaitable[T]], *, as_json: bool) -> T:
    """What `work` returns, with the keys of the cluster; the command ends if etcd or the cluster cannot be used."""

    # Without the service key nothing is proven: no address of a node is taken from etcd.
    key = secrets.token_bytes(32) if settings.service_key == ABSENT else settings.service_key.reveal()

    async def connected() -> T:
        etcd = connection.etcd_of(settings, call_seconds=_TIMEOUT_SECONDS)
        try:
            return await work(ClusterRegistry(etcd, settings.cluster, key))
        finally:
            await etcd.close()

    try:
        return asyncio.run(connected())
    except UserRejected:
        fail(EtcdUserRejected.detail, as_json=as_json)
    except EtcdUnreachable:
        fail("no server that CARREL_ETCD names answers", as_json=as_json)
    except (EtcdCertificateUnusable, ClusterAbsent, ClusterKeyRejected) as error:
        fail(error.detail, as_json=as_json)


def fail(words: str, *, as_json: bool = False) -> NoReturn:
    """End the command with these words."""
    terminal.end(terminal.EXIT_FAILED, words, as_json=as_json)
