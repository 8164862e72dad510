"""The life of a service process: how it begins, by itself or as a successor, and how it ends."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Mapping
from typing import NamedTuple

from carrel import config
from carrel.app import create_app
from carrel.app.hot_restart import HandOver, HotRestart, Terms
from carrel.auth.credentials import Credentials
from carrel.cli.interface.refusal import refuse
from carrel.cli.serving.predecessor import Predecessor, PredecessorGone
from carrel.cli.serving.replacement import Replacement
from carrel.cli.serving.successor import Successor
from carrel.cli.serving.uvicorn_server import Apply, Prepared, ReloadRefused, StartRefused
from carrel.config import ConfigError, Settings
from carrel.kit import logs
from carrel.kit.processes import service_manager
from carrel.vault import process
from carrel.vault.key_memory import KeyMemoryRefused


class Options(NamedTuple):
    """What the command line, the environment and the files say."""

    settings: Settings
    loaded: Settings
    """The settings as they were read, without what the program adds."""
    read: Callable[[], Settings]
    """Reads them anew. Raises `ConfigError`."""
    environ: Mapping[str, str]
    """The variables that the process was started with."""
    certificate: str | None
    key: str | None
    tls: bool


class _Beginning(NamedTuple):
    """What a service begins with. Keys and connections are there after a hot restart only."""

    listener: socket.socket
    connections: list[socket.socket]
    hand_over: HandOver | None
    on_started: Callable[[], None]
    """Called when everything is open, before the first request."""


def serve(options: Options, listener: socket.socket | None) -> None:
    """Serve until the end. Without a `listener` this process was started as the successor of another one."""
    # Until the server heeds it, and while everything is closed for a successor, this signal must not end the process.
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    logs.configure(options.settings.log_level)
    credentials = Credentials.of(options.settings)
    hot_restart = HotRestart()
    server = _prepared(options, credentials, hot_restart)
    beginning = _from_predecessor(options) if listener is None else _Beginning(listener, [], None, lambda: None)
    while True:
        hot_restart.taken = beginning.hand_over
        try:
            left = server.run(beginning.listener.dup(), beginning.connections, beginning.on_started)
        except StartRefused as error:
            refuse(str(error))
        if left is None:
            return
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if hot_restart.left is None:
            left.successor.kill()
            refuse("the keys could not be handed over; start the service again")
        if left.successor.takes(beginning.listener, left.connections, hot_restart.left):
            _step_aside(left.successor, hot_restart.left)
            return
        logs.error("hot-restart-failed", reason="the successor did not start, so this process goes on")
        beginning = _Beginning(beginning.listener, left.connections, hot_restart.left, hot_restart.left.keys.wipe)
        credentials = Credentials(credentials.plugin, credentials.admin)
        hot_restart = HotRestart()
        server = _prepared(options, credentials, hot_restart)


def _prepared(options: Options, credentials: Credentials, hot_restart: HotRestart) -> Prepared:
    settings = options.settings

    def reread() -> Apply:
        try:
            fresh = options.read()
        except ConfigError as error:
            raise ReloadRefused(str(error)) from None
        ignored = config.differences(options.loaded, fresh, but=("plugin_secret", "admin_secret"))
        if ignored:
            logs.warning("reload-incomplete", reason=f"{', '.join(ignored)}: only a restart changes this")
        return lambda: credentials.take_over(Credentials.of(fresh))

    stopping = asyncio.Event()
    replacement = Replacement(
        hot_restart, options.environ, lambda: Terms.of(settings), is_allowed=settings.hot_restart == "on"
    )
    try:
        app = create_app(settings, tls=options.tls, stopping=stopping, credentials=credentials, hot_restart=hot_restart)
    except OSError:
        # No other files are read so early.
        refuse("CARREL_APP_DIR: the built browser app cannot be read")
    try:
        return Prepared(app, stopping, reread, replacement, certificate=options.certificate, key=options.key)
    except StartRefused as error:
        refuse(str(error))


def _from_predecessor(options: Options) -> _Beginning:
    if options.settings.hot_restart == "off":
        refuse("CARREL_HOT_RESTART: is off, so no keys are taken over")
    try:
        predecessor = Predecessor.of(os.environ)
        # Before a key comes.
        process.harden()
        predecessor.offer(Terms.of(options.settings))
        taken = predecessor.take()
    except PredecessorGone:
        refuse("the process that this one was to follow has ended, or goes on by itself")
    except OSError:
        refuse("the data folder cannot be used")
    except KeyMemoryRefused:
        refuse("no memory for keys could be locked; raise RLIMIT_MEMLOCK")
    keys = taken.hand_over.keys
    return _Beginning(taken.listener, taken.connections, taken.hand_over, lambda: predecessor.confirm(keys))


def _step_aside(successor: Successor, hand_over: HandOver) -> None:
    """End this process, whose keys are all wiped. systemd learns first which process goes on."""
    hand_over.keys.wipe()
    logs.info("handed-over", count=len(hand_over.users))
    service_manager.tell(f"MAINPID={successor.pid}")
    successor.release()
