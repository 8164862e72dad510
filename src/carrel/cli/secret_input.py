"""Secrets that a command is given: from stdin, never as an argument, which everybody on the machine could see."""

import sys

from carrel.cli import terminal
from carrel.cli.terminal import Output


def read_secret(at: Output, what: str, option: str, *, given: bool) -> str:
    """The first line of stdin; ends the program if that was not asked for, or there is nothing."""
    if not given:
        terminal.end(terminal.EXIT_USAGE, f"give the {what} on stdin, with {option}", as_json=at.as_json)
    secret = sys.stdin.readline().strip()
    if not secret:
        terminal.end(terminal.EXIT_USAGE, f"stdin held no {what}", as_json=at.as_json)
    return secret
