"""How a command refuses wrong usage: one line on stderr and exit code 2."""

import sys
from typing import NoReturn

EXIT_REFUSED = 2
_OURS = ("carrel", "carrel_sdk")


def refuse(reason: str) -> NoReturn:
    """End the program with `reason`, which holds no secret."""
    print(f"carrel: {reason}", file=sys.stderr)
    sys.exit(EXIT_REFUSED)


def is_of_service(error: ModuleNotFoundError) -> bool:
    """Whether a package of the service is missing, as where only the terminal program is installed."""
    return (error.name or "").partition(".")[0] not in _OURS


def without_service(error: ModuleNotFoundError) -> NoReturn:
    """End the program because a package is missing that only the service's own commands need."""
    if not is_of_service(error):
        raise error
    refuse(f"this command needs the packages of the service, and {error.name} is not installed")
