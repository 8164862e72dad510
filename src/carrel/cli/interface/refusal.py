"""How a command refuses wrong usage: one line on stderr and exit code 2."""

import sys
from typing import NoReturn

EXIT_REFUSED = 2


def refuse(reason: str) -> NoReturn:
    """End the program with `reason`, which holds no secret."""
    print(f"carrel: {reason}", file=sys.stderr)
    sys.exit(EXIT_REFUSED)
