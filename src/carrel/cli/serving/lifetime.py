"""The life of a service process, from its settings to its end."""

import asyncio
import socket
from collections.abc import Callable
from typing import NamedTuple

from carrel import __version__, config
from carrel.app import create_app
from carrel.auth.credentials import Credentials
from carrel.cli.interface.refusal import EXIT_REFUSED, EXIT_TRY_AGAIN, refuse
from carrel.cli.serving import uvicorn_server
from carrel.cli.serving.uvicorn_server import Apply, ReloadRefused, StartRefused
from carrel.config import ConfigError, Settings
from carrel.kit import logs, traces


class Options(NamedTuple):
    """What the command line, the environment and the files say."""

    settings: Settings
    loaded: Settings
    """The settings as they were read, without what the program adds."""
    read: Callable[[], Settings]
    """Reads them anew. Raises `ConfigError`."""
    certificate: str | None
    key: str | None
    tls: bool


def serve(options: Options, listener: socket.socket) -> None:
    """Serve until the end."""
    settings = options.settings
    logs.configure(settings.log_level)
    credentials = Credentials.of(settings)

    def reread() -> Apply:
        try:
            fresh = options.read()
        except ConfigError as error:
            raise ReloadRefused(str(error)) from None
        ignored = config.differences(options.loaded, fresh, but=("plugin_secret", "admin_secret", "metrics_secret"))
        if ignored:
            logs.warning("reload-incomplete", reason=f"{', '.join(ignored)}: only a restart changes this")
        return lambda: credentials.take_over(Credentials.of(fresh))

    stopping = asyncio.Event()
    stop_traces = traces.start(__version__)
    try:
        app = create_app(settings, tls=options.tls, stopping=stopping, credentials=credentials)
    except OSError:
        # No other files are read so early.
        refuse("CARREL_APP_DIR: the built browser app cannot be read")
    try:
        uvicorn_server.run(
            app,
            listener,
            stopping,
            reread,
            folder=settings.data_dir.absolute(),
            certificate=options.certificate,
            key=options.key,
        )
    except StartRefused as error:
        refuse(str(error), EXIT_TRY_AGAIN if error.passes else EXIT_REFUSED)
    finally:
        stop_traces()
