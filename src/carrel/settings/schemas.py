"""What goes over the wire about a user's settings."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from carrel.http.requests.schema import In
from carrel.providers.registry import canonical

ModelNames = Annotated[list[str], Meta(max_length=20)]


class UserSettings(In, frozen=True):
    """The one settings object of a user. What is left out of a `PUT` goes back to its default.

    `density` is how close the rows of tables stand. `locale` is a BCP 47 tag, `timezone` an IANA name; null: those of
    the browser. Usage is counted in days of the time zone, or of UTC. `resume_after_restart` says whether runs that a
    restart interrupted go on at the next login. `retention_days` is how long finished runs are kept that are not
    pinned; null keeps them.
    """

    theme: Literal["system", "light", "dark"] = "system"
    density: Literal["comfortable", "compact"] = "comfortable"
    locale: Annotated[str, Meta(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$(?!\n)")] | None = None
    timezone: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    default_candidates: ModelNames = msgspec.field(default_factory=list)
    default_judges: ModelNames = msgspec.field(default_factory=list)
    resume_after_restart: bool = True
    retention_days: Annotated[int, Meta(ge=1, le=36_500)] | None = None

    def __post_init__(self) -> None:
        for names in (self.default_candidates, self.default_judges):
            names[:] = map(canonical, names)
