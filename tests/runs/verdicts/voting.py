"""What tests of blind votes share: who takes part, and how to vote and to read an export."""

import asyncio
import csv
import zipfile
from io import BytesIO, StringIO
from typing import Any

import httpx

LABELS = ("Candidate Alpha", "Candidate Beta", "Candidate Gamma")
MODELS = ("local:lead", "local:lexrank", "local:random")


async def table_of(ada: httpx.AsyncClient, run: str, name: str) -> list[dict[str, str]]:
    """A table of a run's export, by its file name."""
    assert (await ada.post(f"{run}/export")).status_code == 202
    async with asyncio.timeout(60):
        while (answer := await ada.get(f"{run}/export")).status_code != 200:
            await asyncio.sleep(0.02)
    with zipfile.ZipFile(BytesIO(answer.content)) as archive:
        return list(csv.DictReader(StringIO(archive.read(name).decode("utf-8-sig"), newline="")))


async def next_pair(ada: httpx.AsyncClient, run: str) -> dict[str, Any]:
    answer = await ada.post(f"{run}/votes/next")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def cast(ada: httpx.AsyncClient, run: str, pair: str, verdict: str, **more: object) -> dict[str, Any]:
    answer = await ada.post(f"{run}/votes", json={"pair": pair, "verdict": verdict, **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def bring_in(ada: httpx.AsyncClient, run: str, csv_text: str, voter: str = "") -> httpx.Response:
    return await ada.post(f"{run}/votes/import", json={"csv": csv_text, "voter": voter})
