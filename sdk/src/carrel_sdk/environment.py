"""Address and token from the environment, for programs that name neither."""

import os
from collections.abc import Mapping


def address(environ: Mapping[str, str] = os.environ) -> str:
    """The address in CARREL_URL.

    Raises:
        ValueError: there is none.
    """
    url = environ.get("CARREL_URL", "").strip().rstrip("/").removesuffix("/api")
    if not url:
        raise ValueError("there is no address: give base_url or set CARREL_URL")
    return url


def token(environ: Mapping[str, str] = os.environ) -> str:
    """The session token in CARREL_TOKEN, or else the program key in CARREL_PROGRAM_KEY.

    Raises:
        ValueError: there is neither.
    """
    found = environ.get("CARREL_TOKEN", "").strip() or environ.get("CARREL_PROGRAM_KEY", "").strip()
    if not found:
        raise ValueError("there is no token: give token_source or set CARREL_TOKEN or CARREL_PROGRAM_KEY")
    return found
