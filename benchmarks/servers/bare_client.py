"""The floor of row 7: the job's calls by a bare aiohttp client that keeps nothing and checks nothing.

python -m benchmarks.servers.bare_client BASE_URL KEY
"""

import asyncio
import json
import resource
import sys
import time

import aiohttp
import msgspec

CONCURRENCY, JUDGES = 64, 2
_PROMPT = "Sum it up in three sentences. " + "The harbour of the old town kept its own ledger of ships. " * 24
_SCHEMA: dict[str, object] = {
    "type": "json_schema",
    "json_schema": {
        "name": "scores",
        "strict": True,
        "schema": {"type": "object", "properties": {"faithful": {"type": "integer", "minimum": 1, "maximum": 5}}},
    },
}


async def main(base_url: str, key: str, answers: int) -> None:
    """Make the calls in two rounds, as the job does, and print what they took."""
    limit = asyncio.Semaphore(CONCURRENCY)
    connector = aiohttp.TCPConnector(limit=CONCURRENCY)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def call(number: int, model: str, response_format: dict[str, object] | None) -> None:
            body: dict[str, object] = {
                "model": model,
                "messages": [{"role": "user", "content": f"{number}. {_PROMPT}"}],
            }
            if response_format is not None:
                body["response_format"] = response_format
            async with (
                limit,
                session.post(f"{base_url}/chat/completions", data=msgspec.json.encode(body)) as answer,
            ):
                answer.raise_for_status()
                msgspec.json.decode(await answer.read())

        started = time.perf_counter()
        before = _cpu()
        await asyncio.gather(*(call(number, "alpha", None) for number in range(answers)))
        await asyncio.gather(*(call(number, "judge-one", _SCHEMA) for number in range(answers * JUDGES)))
        print(json.dumps({"cpu_seconds": _cpu() - before, "wall_seconds": time.perf_counter() - started}))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
