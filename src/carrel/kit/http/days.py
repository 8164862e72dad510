"""The two query parameters of every list of days: from which one on, and before which one."""

from typing import Annotated

from litestar.params import QueryParameter

FromDay = Annotated[
    str | None, QueryParameter(name="from", max_length=10, description="The first day, such as 2026-11-21.")
]
ToDay = Annotated[str | None, QueryParameter(name="to", max_length=10, description="The day after the last one.")]
