"""Secrets that a command is given: from stdin, never as an argument, which everybody on the machine could see."""

import sys

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import Output


def read_secret(cli: Output, what: str, option: str, *, given: bool) -> str:
    """The first line of stdin; ends the program if that was not asked for, or there is nothing."""
    if not given:
        terminal.end(terminal.EXIT_USAGE, f"give the {what} on stdin, with {option}", as_json=cli.as_json)
    secret = sys.stdin.readline().strip()
    if not secret:
        terminal.end(terminal.EXIT_USAGE, f"stdin held no {what}", as_json=cli.as_json)
    return secret
