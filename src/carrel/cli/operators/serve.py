"""`carrel serve`: the service, one process."""

import errno
import gc
import ipaddress
import os
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec
import rich_click as click

from carrel import config
from carrel.cli.interface.printing import one_line, say
from carrel.cli.interface.refusal import EXIT_TRY_AGAIN, refuse
from carrel.cli.serving import built_app
from carrel.config import ConfigError, Settings


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8400, show_default=True)
@click.option("--data-dir", help="Folder with the databases.  [default: CARREL_DATA_DIR]")
@click.option("--tls-cert", type=click.Path(dir_okay=False), help="Certificate chain, PEM.")
@click.option("--tls-key", type=click.Path(dir_okay=False), help="Its private key, PEM.")
@click.option("--behind-proxy", is_flag=True, help="A reverse proxy terminates TLS for this service.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]))
@click.option("--check", is_flag=True, help="Say whether all of this can be used, and end. A running service goes on.")
@click.option("--env-file", type=click.Path(path_type=Path), help="Configuration file.  [default: .env, if it exists]")
def command(
    host: str,
    port: int,
    data_dir: str | None,
    tls_cert: str | None,
    tls_key: str | None,
    behind_proxy: bool,
    log_level: str | None,
    check: bool,
    env_file: Path | None,
) -> None:
    """Run the service in the foreground until SIGTERM or Ctrl-C. On SIGHUP it reads secrets and certificate anew."""
    # The start makes objects that all stay. Searching them for garbage would take a twelfth of the time. The server
    # turns the collector on again when it has started.
    gc.disable()
    if env_file is not None and not env_file.is_file():
        refuse(f"--env-file: {env_file} is not there")
    given = {"data_dir": data_dir, "log_level": log_level}
    overrides = {name: text for name, text in given.items() if text is not None}
    # The variables of a process never change from outside, so those that were there at the start stay in force.
    environ = dict(os.environ)

    def read() -> Settings:
        return config.load(dict(environ), env_file=env_file or Path(".env"), overrides=overrides)

    if check:
        _check(env_file or Path(".env"), read, tls_cert, tls_key)
        return
    try:
        settings = loaded = read()
    except ConfigError as error:
        refuse(str(error))
    config.forget_secrets(os.environ)
    if settings.app_dir is None:
        settings = msgspec.structs.replace(settings, app_dir=built_app.folder())
    if (tls_cert is None) != (tls_key is None):
        refuse("--tls-cert and --tls-key belong together")
    tls = tls_cert is not None or behind_proxy
    if not tls and not _is_loopback(host):
        refuse("for other machines the service needs HTTPS: give --tls-cert and --tls-key, or --behind-proxy")
    listener = _listen(host, port)

    # Imported here, so that the refusals above come at once.
    from carrel.cli.serving.lifetime import Options, serve

    serve(Options(settings, loaded, read, tls_cert, tls_key, tls=tls), listener)


def _check(env_file: Path, read: Callable[[], Settings], certificate: str | None, key: str | None) -> None:
    # Imported here, because they would cost a start time.
    from carrel.cli.serving import examination
    from carrel.http.server.tls import Certificate, CertificateUnusable

    found = [one for one in examination.everything(env_file, read) if one.state != "good"]
    for one in found:
        say(one_line(f"{one.what}: {one.words}"), stderr=True)
    try:
        if certificate is not None and key is not None:
            Certificate(certificate, key)
    except CertificateUnusable:
        refuse("--tls-cert, --tls-key: cannot be read, or do not belong together")
    if any(one.state == "bad" for one in found):
        refuse("it would not start, or not run well")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, opened before anything else."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            refuse(f"port {port} on {host} is in use", EXIT_TRY_AGAIN)
        refuse(f"port {port} on {host} is not allowed, or this machine has no such address")
    return listener
