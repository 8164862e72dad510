"""Reads secrets from stdin. An argument would be visible to everybody on the machine."""

import sys

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import Output


def read_secret(cli: Output, what: str, option: str, *, given: bool) -> str:
    """The first line of stdin. Ends the program if the option was not given, or if stdin is empty."""
    if not given:
        terminal.end(terminal.EXIT_USAGE, f"give the {what} on stdin, with {option}", as_json=cli.as_json)
    secret = sys.stdin.readline().strip()
    if not secret:
        terminal.end(terminal.EXIT_USAGE, f"stdin held no {what}", as_json=cli.as_json)
    return secret
