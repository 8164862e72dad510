"""Parameters that several routes about runs take."""

from typing import Annotated

from litestar.params import QueryParameter

RoundNumber = Annotated[
    int | None, QueryParameter(name="round", ge=1, description="Of this round; else of the present one.")
]
