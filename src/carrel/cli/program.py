"""What runs as `carrel`: the commands, after the one thing that has to come before every import."""

import sys

from carrel.cli.interface.refusal import without_service


def run() -> None:
    """Run the command that is named on the command line."""
    if sys.argv[1:2] == ["serve"]:
        from carrel.kit.processes import allocator

        allocator.restart_without_cache()

    # Imported here, because a restart would import it twice.
    from carrel.cli.main import main

    try:
        main()
    except ModuleNotFoundError as error:
        without_service(error)
