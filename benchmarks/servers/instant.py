"""Carrel with models that answer at once and cost nothing, and an eye on its event loop. It exists in this folder only.

python -m benchmarks.servers.instant serve …

`GET /watch` answers with what the loop did since it was asked last, and how many calls were made.
"""

import asyncio
import json
import time
from typing import Any
from unittest.mock import patch

import carrel.app
from carrel.app import services
from carrel.cli.program import run
from carrel.providers.base import Answer, CompareMatter, ModelInfo, ModelRequest, ScoreMatter, Usage
from carrel.providers.registry import Registry, register_free

_GENERATORS = 10
_TICK_SECONDS = 0.001
_LONG_SECONDS = 0.02


class InstantModels:
    """The provider `test`: `test:m1` … generate, `test:judge` judges, and calls cost nothing."""

    name = "test"

    def __init__(self) -> None:
        self.answered = 0
        register_free(self.name)

    def models(self) -> tuple[ModelInfo, ...]:
        """Ten generators and a judge."""
        return (
            *(
                ModelInfo(name=f"m{number}", family=f"family-{number}", roles=("generate",), description="")
                for number in range(1, _GENERATORS + 1)
            ),
            ModelInfo(name="judge", family="family-judge", roles=("judge",), description=""),
        )

    async def complete(self, request: ModelRequest) -> Answer:
        """An answer, one step of the loop later."""
        self.answered += 1
        await asyncio.sleep(0)
        matter = request.matter
        text = f"{request.model} of {len(request.prompt)} characters. " * 12
        if isinstance(matter, ScoreMatter):
            marks = {criterion.name: 1 + len(matter.answer) % 5 for criterion in matter.criteria}
            text = json.dumps({"reason": "So it is.", "scores": marks})
        elif isinstance(matter, CompareMatter):
            text = json.dumps({"reason": "So it is.", "winner": "first"})
        return Answer(text=text, finish_reason="stop", usage=Usage(input_tokens=200, output_tokens=100))

    async def close(self) -> None:
        """Nothing is held."""


class Watch:
    """Wakes every millisecond and notes by how much it came too late: so long the loop did nothing else."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.longest = self.longest_of_loop = 0.0
        self.long = 0

    async def keep(self) -> None:
        """Watch for ever."""
        while True:
            before, used = time.perf_counter(), time.thread_time()
            await asyncio.sleep(_TICK_SECONDS)
            late = time.perf_counter() - before - _TICK_SECONDS
            self.longest = max(self.longest, late)
            # What of it the loop itself computed, and not other threads or the machine.
            self.longest_of_loop = max(self.longest_of_loop, time.thread_time() - used)
            self.long += late > _LONG_SECONDS

    def told(self) -> dict[str, float]:
        """In milliseconds."""
        return {
            "longest_ms": 1000 * self.longest,
            "longest_of_loop_ms": 1000 * self.longest_of_loop,
            "long": self.long,
        }


def _watched(app: Any, models: InstantModels) -> Any:
    watch = Watch()
    tasks: list[asyncio.Task[None]] = []

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != "/watch":
            await app(scope, receive, send)
            return
        if not tasks:
            tasks.append(asyncio.create_task(watch.keep()))
        body = json.dumps(watch.told() | {"answered": models.answered}).encode()
        watch.forget()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return serve


if __name__ == "__main__":
    instant = InstantModels()
    create_app = carrel.app.create_app
    with (
        patch.object(services, "Registry", lambda own, *rest: Registry([*own, instant], *rest)),
        patch.object(carrel.app, "create_app", lambda *args, **kwargs: _watched(create_app(*args, **kwargs), instant)),
    ):
        run()
