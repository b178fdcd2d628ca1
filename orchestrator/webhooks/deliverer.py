"""Delivers what is owed to webhooks. Any number of processes may do so side by side."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable

from prometheus_client import Counter as Metric

from assayer.errors import AssayerError, StorageError
from assayer.ports import Clock
from orchestrator.webhooks.models import Dispatch, WebhookId
from orchestrator.webhooks.ports import Outbox, Post, Wake
from orchestrator.webhooks.schedule import next_step
from orchestrator.webhooks.sealing import Seal
from orchestrator.webhooks.settings import DeliverySettings
from orchestrator.webhooks.signing import signed_headers

__all__ = ["Deliverer"]

_LOG = logging.getLogger(__name__)
TRIES = Metric("assayer_webhook_tries_total", "Tries to deliver to webhooks, by what followed.", ["step"])

_LOOK_SECONDS = 1.0
"""Between looks for batches that have finished."""
_GRACE = 3.0
"""A claim lasts so many deadlines: whoever has not settled it then has died."""


class Deliverer:
    def __init__(
        self,
        outbox: Outbox,
        seal: Seal,
        post: Post,
        wake: Wake,
        clock: Clock,
        draw: Callable[[], float],
        settings: DeliverySettings,
    ) -> None:
        """`draw` gives uniform numbers in [0, 1)."""
        self._outbox = outbox
        self._seal = seal
        self._post = post
        self._wake = wake
        self._clock = clock
        self._draw = draw
        self._settings = settings
        self._flying: Counter[WebhookId] = Counter()
        self._landed = asyncio.Event()
        self._looked = float("-inf")

    async def run(self) -> None:
        """Until it is cancelled. What is in flight then is delivered again by whoever comes after."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._landed.clear()
                claimed = await self._claim()
                for dispatch in claimed:
                    self._flying[dispatch.webhook] += 1
                    group.create_task(self._deliver(dispatch))
                if not claimed:
                    await self._rest()

    async def _claim(self) -> list[Dispatch]:
        settings = self._settings
        free = settings.at_once - self._flying.total()
        if free <= 0:
            return []
        # A webhook with anything in flight waits until all of it has landed: its claims stay within its places.
        busy = [webhook for webhook, flying in self._flying.items() if flying]
        try:
            await self._look()
            return await self._outbox.claim(
                free, settings.at_once_per_webhook, busy, _GRACE * settings.deadline_seconds
            )
        except StorageError as error:
            _LOG.warning("Deliveries to webhooks wait: %s", error)
            return []

    async def _look(self) -> None:
        now = self._clock.monotonic()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            await self._outbox.owe_batches()

    async def _rest(self) -> None:
        """Until something lands, or is owed anew, or fell due."""
        landing = asyncio.ensure_future(self._landed.wait())
        waking = asyncio.ensure_future(self._wake.next(self._settings.poll_seconds))
        try:
            await asyncio.wait((landing, waking), return_when=asyncio.FIRST_COMPLETED)
        finally:
            landing.cancel()
            waking.cancel()
            await asyncio.gather(landing, waking, return_exceptions=True)

    async def _deliver(self, dispatch: Dispatch) -> None:
        try:
            step = next_step(await self._sent(dispatch), dispatch.attempt, self._draw(), self._settings)
            TRIES.labels(type(step).__name__.lower()).inc()
            await self._outbox.settle(dispatch, step)
        except StorageError as error:
            _LOG.warning("Delivery %s will be sent again: its outcome could not be stored: %s", dispatch.id, error)
        finally:
            self._flying[dispatch.webhook] -= 1
            if not self._flying[dispatch.webhook]:
                del self._flying[dispatch.webhook]
            self._landed.set()

    async def _sent(self, dispatch: Dispatch) -> int | str:
        body = json.dumps(dispatch.payload, ensure_ascii=False, separators=(",", ":"))
        seconds = self._settings.deadline_seconds
        try:
            headers = signed_headers(self._seal.open(dispatch.sealed), dispatch.id, self._clock.now(), body)
            async with asyncio.timeout(2 * seconds):
                return await self._post(dispatch.url, body.encode(), headers, seconds)
        except AssayerError as error:
            return error.message
        except TimeoutError:
            return f"No answer came within {seconds:g} s."
