"""The target of a call to GitHub: the address, the repository, and the token."""

from typing import NamedTuple

from carrel.config import Secret


class Target(NamedTuple):
    """One repository. `base_url` has no slash at its end; `branch` is `None` for the repository's default."""

    base_url: str
    repository: str
    branch: str | None
    token: Secret

    @property
    def url(self) -> str:
        """The repository's own address."""
        return f"{self.base_url}/repos/{self.repository}"
