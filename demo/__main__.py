"""`python -m demo`: the service and the website, in the foreground."""

import argparse
import sys
from pathlib import Path

from demo.start import PROJECT, Concurrency, StartFailed, run


def main() -> int:
    """Exit code 0 after Ctrl-C or SIGTERM, 1 with one line if it could not be."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--folder", type=Path, default=PROJECT / "demo-data", help="what stays from start to start")
    parser.add_argument("--app", type=Path, default=PROJECT / "web" / "dist", help="where the browser app was built to")
    given = parser.parse_args()
    try:
        run(Concurrency(given.folder.resolve(), given.app.resolve()))
    except StartFailed as failed:
        sys.stderr.write(f"start: {failed}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
