"""Turns at repositories that want to be asked slowly, whichever process of the cluster asks."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assayer.ports import Clock
from workers.full_texts.settings import FullTextSettings
from workers.remote.bucket import Granted, Limits, News, Want
from workers.remote.turns import TurnKeeper, Turns

__all__ = ["HostPace"]

_SEND_WITHIN = 5.0


class HostPace:
    """One request at a time in this process, and the spacing over all processes that share `turns`."""

    def __init__(self, settings: FullTextSettings, turns: Turns, clock: Clock) -> None:
        limits = Limits(
            spacing=settings.hosts.arxiv_spacing_seconds,
            transit=settings.download.answer_seconds,
            connections=1,
            daily_budget=None,
            send_within=_SEND_WITHIN,
            answer_within=settings.download.seconds,
        )
        self._clock = clock
        self._keepers = {"arxiv_files": TurnKeeper(turns, f"files {settings.hosts.arxiv}", limits, clock)}
        self._voices = {source: asyncio.Lock() for source in self._keepers}
        self._claimant = secrets.token_hex(8)

    @asynccontextmanager
    async def turn(self, source: str) -> AsyncIterator[None]:
        """For one request; at once where the repository sets no pace. Raises StorageError."""
        keeper = self._keepers.get(source)
        if keeper is None:
            yield
            return
        async with self._voices[source]:
            ticket = secrets.token_hex(8)
            try:
                await self._granted(keeper, Want(self._claimant, ticket, 1))
                await keeper.exchange([News("sent", ticket, self._clock.monotonic())], None)
                yield
            finally:
                now = self._clock.monotonic()
                over = (News("answered", ticket, now), News("unused", ticket, now), News("left", self._claimant, now))
                await keeper.exchange(over, None)

    async def _granted(self, keeper: TurnKeeper, want: Want) -> None:
        while True:
            verdict = await keeper.exchange((), want)
            if verdict is None or isinstance(verdict, Granted):
                return
            await asyncio.sleep(verdict.seconds)
