"""`python -m demo`: the service and the website, in the foreground."""

import argparse
import sys
from pathlib import Path

from demo.start import PROJECT, Paths, StartFailed, end_with_parent, run


def main() -> int:
    """Returns 0 after Ctrl-C or SIGTERM, and 1 with one line if something did not start."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--folder", type=Path, default=PROJECT / "demo-data", help="where data is kept between starts")
    parser.add_argument("--app", type=Path, default=PROJECT / "web" / "dist", help="where the browser app was built to")
    parser.add_argument("--end-with-parent", action="store_true", help="end when the program that started it is killed")
    given = parser.parse_args()
    if given.end_with_parent:
        end_with_parent()
    try:
        run(Paths(given.folder.resolve(), given.app.resolve()))
    except StartFailed as failed:
        sys.stderr.write(f"start: {failed}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
