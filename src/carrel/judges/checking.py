"""Has a judge take the check: each word is asked for and kept as one step, which nothing interrupts."""

import asyncio
from collections.abc import Iterable

from carrel.judges import bench, checks
from carrel.judges.bench import OrderedPair
from carrel.judges.checks import BenchReply
from carrel.judges.schemas import JudgeCheck
from carrel.kit.concurrency.cancellation import cancel, run_to_completion
from carrel.kit.concurrency.keyed_lock import KeyedLock
from carrel.single_calls import evaluation
from carrel.single_calls.caller import Caller
from carrel.single_calls.schemas import SingleJudge
from carrel.vault.keyring import UserUuid
from carrel.vault.workspace import Workspace

AT_ONCE = 4
"""How many words of a check are asked for at the same time."""


class Checks:
    """Makes the checks of all users, one after the other for each user, so that no word is paid twice."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._turns = KeyedLock[UserUuid]()

    async def check(self, workspace: Workspace, judge: SingleJudge) -> JudgeCheck:
        """Ask for every word that an unfinished check lacks, or for all of a new one.

        Whoever asks while a check of the judge is under way gets the result of that one. If the check is cancelled, or
        a call fails, every word that was asked for is kept, and the next call goes on from there.

        Raises:
            BadInput, ProviderKeyMissing, RateLimited, ModelCallFailed, ModelCallRefused: as `Caller.call` says.
        """
        before = workspace.read(checks.finished, judge)
        async with self._turns.of(workspace.uuid):
            if workspace.read(checks.finished, judge) != before:
                return workspace.read(checks.latest, judge)
            seed, there = workspace.read(checks.progress, judge)
            every = bench.every(bench.drawn(seed))
            lacking = [asked for asked in every if (asked.pair.name, asked.presented) not in there]
            await self._ask(workspace, judge, seed, lacking)
            return workspace.read(checks.latest, judge)

    async def _ask(self, workspace: Workspace, judge: SingleJudge, seed: str, lacking: Iterable[OrderedPair]) -> None:
        room = asyncio.Semaphore(AT_ONCE)

        async def ask(asked: OrderedPair) -> None:
            async with room:
                # A word that is on its way is paid for, also when nobody waits for it any more.
                await run_to_completion(self._one(workspace, judge, seed, asked))

        tasks = [asyncio.create_task(ask(asked)) for asked in lacking]
        try:
            await asyncio.gather(*tasks)
        finally:
            await cancel(tasks)

    async def _one(self, workspace: Workspace, judge: SingleJudge, seed: str, asked: OrderedPair) -> None:
        said, done = await evaluation.compare_in_one_order(
            self._caller, workspace, judge, asked.matter, bench.INSTRUCTIONS
        )
        costs = [one.cost_micros for one in done if one.cost_micros is not None]
        cost_micros = sum(costs) if len(costs) == len(done) else None
        word = BenchReply(asked.pair.name, asked.presented, said.word, cost_micros)
        await workspace.write(checks.keep, judge, done[-1].host, seed, word)
