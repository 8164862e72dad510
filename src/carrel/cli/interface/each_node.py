"""The nodes of a cluster, each at its own address, as `--all-nodes` of an operator's command asks for."""

import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import httpx
from carrel_sdk.admin import Admin

from carrel.cli.interface import terminal
from carrel.cli.interface.etcd import require_etcd, run
from carrel.cluster.registry import ClusterRegistry
from carrel.config import Settings


@contextmanager
def admins(
    settings: Settings, secret: str, node_ca: Path | None, *, allow_http: bool, as_json: bool
) -> Iterator[dict[str, Admin]]:
    """The operator's client of each node, by its name. Ends the program if one of them does not run."""

    async def work(found: ClusterRegistry) -> tuple[dict[str, str], dict[str, str]]:
        await found.cluster()
        return await found.members(), await found.present()

    require_etcd(settings)
    members, present = run(settings, work, as_json=as_json)
    down = sorted(members.keys() - present.keys())
    if down:
        terminal.end(terminal.EXIT_UNREACHABLE, f"{', '.join(down)}: does not run", as_json=as_json)
    tls = trusting(node_ca) if node_ca is not None else None
    with ExitStack() as opened:
        yield {
            name: opened.enter_context(admin_of(address, secret, tls, allow_http=allow_http))
            for name, address in sorted(members.items())
        }


def admin_of(address: str, secret: str, tls: ssl.SSLContext | None, *, allow_http: bool) -> Admin:
    """The operator's client of one node; with HTTPS if there is somebody to trust."""
    origin = f"{'http' if tls is None else 'https'}://{address}"
    transport = None if tls is None else httpx.HTTPTransport(verify=tls)
    return Admin(origin, secret, allow_http=allow_http, http=transport)


def trusting(node_ca: Path) -> ssl.SSLContext:
    """Trusts the authority that signed the nodes' certificates.

    Raises:
        click.BadParameter: the file cannot be used.
    """
    try:
        return ssl.create_default_context(cafile=node_ca)
    except OSError:
        raise click.BadParameter(f"{node_ca} cannot be read, or holds no certificate") from None
