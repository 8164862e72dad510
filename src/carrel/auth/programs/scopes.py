"""What a program may do, and the declaration of it on a route: `opt=scopes.READ | raises(NotFound)`."""

from typing import Any, Final, Literal

from carrel.errors import Forbidden

Scope = Literal["read", "run", "write"]
"""`read` shows what is there, `run` starts and steers what spends money, `write` changes and deletes."""

SCOPES: Final[tuple[Scope, ...]] = ("read", "run", "write")
NEEDS: Final = "carrel.scope"
"""The key in a route's `opt`. A route that declares nothing is closed to programs."""

READ: Final[dict[str, Any]] = {NEEDS: "read"}
RUN: Final[dict[str, Any]] = {NEEDS: "run"}
WRITE: Final[dict[str, Any]] = {NEEDS: "write"}
PERSON: Final[dict[str, Any]] = {NEEDS: "person"}
"""Closed to programs: what would outlive the key of a program, such as other credentials, and what ends sessions."""


class ScopeMissing(Forbidden):
    """The program's key does not have the scope that the route needs."""

    code = "scope-missing"
    detail = "The program key does not have the scope that this needs."


class PersonRequired(Forbidden):
    """The route is closed to programs, whatever their scopes."""

    code = "person-required"
    detail = "A program may not do this; the user has to sign in."


def require(granted: frozenset[str], needed: str | None) -> None:
    """Refuse a program that has not been granted the scope `needed`.

    Raises:
        ScopeMissing, PersonRequired: 403.
    """
    if needed not in SCOPES:
        raise PersonRequired
    if needed not in granted:
        raise ScopeMissing


def in_order(scopes: frozenset[str]) -> list[Scope]:
    """The scopes in their fixed order."""
    return [scope for scope in SCOPES if scope in scopes]
