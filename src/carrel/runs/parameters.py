"""Parameters that several routes about runs take."""

from typing import Annotated

from carrel.http.requests.routing import Query

RoundNumber = Annotated[int | None, Query(name="round", ge=1, description="Of this round; else of the present one.")]
