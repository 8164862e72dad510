"""How a command refuses wrong usage, or cannot begin: one line on stderr, and an exit code."""

import sys
from typing import NoReturn

from carrel.cli.interface.printing import one_line, say

EXIT_REFUSED = 2
EXIT_TRY_AGAIN = 75
"""What keeps the service from starting may pass by itself (`EX_TEMPFAIL` of sysexits.h)."""
_OURS = ("carrel", "carrel_sdk")


def refuse(reason: str, code: int = EXIT_REFUSED) -> NoReturn:
    """End the program with `reason`, which holds no secret."""
    say(one_line(f"carrel: {reason}"), stderr=True)
    sys.exit(code)


def is_of_service(error: ModuleNotFoundError) -> bool:
    """Whether a package of the service is missing, as where only the terminal program is installed."""
    return (error.name or "").partition(".")[0] not in _OURS


def without_service(error: ModuleNotFoundError) -> NoReturn:
    """End the program because a package is missing that only the service's own commands need."""
    if not is_of_service(error):
        raise error
    refuse(f"this command needs the packages of the service, and {error.name} is not installed")
