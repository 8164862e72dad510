"""What runs as `carrel`: the commands, after the one thing that has to come before every import."""

import signal
import sys

from carrel.cli.interface.refusal import without_service

_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""The signals that the service heeds."""


def run() -> None:
    """Run the command that is named on the command line."""
    if sys.argv[1:2] == ["serve"]:
        from carrel.kit.processes import allocator

        allocator.restart_without_cache()

        from carrel.kit.processes import private_memory

        private_memory.continue_in_child(dict(zip(_PASSED_ON, _PASSED_ON, strict=True)))

    # Imported here, because a restart would import it twice.
    from carrel.cli.main import main

    try:
        main()
    except ModuleNotFoundError as error:
        without_service(error)
