"""Delivery of messages to webhooks. Any number of processes deliver concurrently."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

from prometheus_client import Counter as Metric

from assayer.errors import AssayerError, StorageError
from assayer.models.sender_references import get_own_reference
from assayer.ports import Clock
from orchestrator.outbox import Abandoned, Delivered, DeliveryOutcome, RetryLater, decide_after_failure
from orchestrator.settings import RedeliverySettings, WebhookDeliverySettings
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.models import ClaimedDelivery, WebhookId
from orchestrator.webhooks.secrets import SecretCipher, build_signed_headers

_LOG = logging.getLogger(__name__)
ATTEMPTS = Metric("assayer_webhook_attempts_total", "Attempts to deliver to webhooks, by outcome.", ["step"])

_OUTCOME_LABELS = {Delivered: "delivered", RetryLater: "later", Abandoned: "failed"}
_BATCH_CHECK_SECONDS = 1.0
"""Minimum seconds between two checks for finished batches."""
_DEADLINES_PER_CLAIM = 3.0
"""Duration of a claim, as a multiple of the timeout of a delivery. A process that does not settle a claim in time is
considered dead."""


class PostMessage(Protocol):
    async def __call__(self, url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> int:
        """Send a message and return the status of the response, without following redirects. Raises AssayerError if no
        response arrives in time, or if the address is not allowed."""
        ...


class DeliverySignal(Protocol):
    async def next(self, timeout: float) -> object:
        """Wait until there may be something to deliver, for at most `timeout` seconds."""
        ...


@dataclass(eq=False)
class WebhookDeliverer:
    outbox: PgWebhooks
    cipher: SecretCipher
    post: PostMessage
    signal: DeliverySignal
    clock: Clock
    draw_fraction: Callable[[], float]
    """Function that returns uniform numbers in [0, 1)."""
    settings: WebhookDeliverySettings
    _in_flight: Counter[WebhookId] = field(default_factory=Counter)
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    _batches_checked_at: float = float("-inf")

    async def run(self) -> None:
        """Deliver messages until cancelled. Deliveries interrupted by the cancellation are repeated by another
        process."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._settled.clear()
                deliveries = await self._claim_deliveries()
                for delivery in deliveries:
                    self._in_flight[delivery.webhook] += 1
                    group.create_task(self._deliver(delivery))
                if not deliveries:
                    await self._wait_for_deliveries()

    async def _claim_deliveries(self) -> list[ClaimedDelivery]:
        settings = self.settings
        free_slots = settings.at_once - self._in_flight.total()
        if free_slots <= 0:
            return []
        # No deliveries are claimed for a webhook with deliveries in progress, so that it never exceeds its limit.
        busy_webhooks = [webhook for webhook, count in self._in_flight.items() if count]
        claim_seconds = _DEADLINES_PER_CLAIM * settings.deadline_seconds
        try:
            await self._add_finished_batches()
            return await self.outbox.claim(free_slots, settings.at_once_per_webhook, busy_webhooks, claim_seconds)
        except StorageError as error:
            _LOG.warning("webhook messages cannot currently be delivered: %s", error)
            return []

    async def _add_finished_batches(self) -> None:
        now = self.clock.monotonic()
        if now - self._batches_checked_at >= _BATCH_CHECK_SECONDS:
            self._batches_checked_at = now
            await self.outbox.queue_finished_batches()

    async def _wait_for_deliveries(self) -> None:
        """Wait until a delivery is settled, a new delivery is signalled, or the polling interval has passed."""
        settled_wait = asyncio.ensure_future(self._settled.wait())
        signal_wait = asyncio.ensure_future(self.signal.next(self.settings.poll_seconds))
        try:
            await asyncio.wait((settled_wait, signal_wait), return_when=asyncio.FIRST_COMPLETED)
        finally:
            settled_wait.cancel()
            signal_wait.cancel()
            await asyncio.gather(settled_wait, signal_wait, return_exceptions=True)

    async def _deliver(self, delivery: ClaimedDelivery) -> None:
        try:
            outcome = decide_outcome(await self._send(delivery), delivery.attempt, self.draw_fraction(), self.settings)
            ATTEMPTS.labels(_OUTCOME_LABELS[type(outcome)]).inc()
            await self.outbox.settle(delivery, outcome)
        except StorageError as error:
            _LOG.warning("Delivery %s will be repeated because its outcome could not be stored: %s", delivery.id, error)
        finally:
            self._in_flight[delivery.webhook] -= 1
            if not self._in_flight[delivery.webhook]:
                del self._in_flight[delivery.webhook]
            self._settled.set()

    async def _send(self, delivery: ClaimedDelivery) -> int | str:
        """Send a delivery. Return the status of the response, or the reason why there is no response."""
        body = json.dumps(_add_reference(delivery.payload), ensure_ascii=False, separators=(",", ":"))
        timeout_seconds = self.settings.deadline_seconds
        try:
            secret = self.cipher.decrypt(delivery.sealed)
            headers = build_signed_headers(secret, delivery.id, self.clock.now(), body)
            async with asyncio.timeout(2 * timeout_seconds):
                return await self.post(delivery.url, body.encode(), headers, timeout_seconds)
        except AssayerError as error:
            return error.message
        except TimeoutError:
            return f"No response arrived within {timeout_seconds:g} s."


def _add_reference(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload. If it describes an evaluation, the sender's reference for the proposal is added."""
    data = payload.get("data")
    if not isinstance(data, dict) or "source" not in data:
        return dict(payload)
    row = None if data.get("batch") is None else data.get("row")
    return {**payload, "data": {**data, "reference": get_own_reference(str(data["source"]), row)}}


def decide_outcome(
    response: int | str, attempt: int, random_fraction: float, settings: RedeliverySettings
) -> DeliveryOutcome:
    """Return the outcome of attempt number `attempt`, from 1. `response` is the status of the receiver's response, or
    the reason why there is no response; `random_fraction` is a uniform random number in [0, 1)."""
    if isinstance(response, int) and 200 <= response < 300:
        return Delivered(f"The receiver responded with status {response}.")
    detail = f"The receiver responded with status {response}." if isinstance(response, int) else response
    if response == HTTPStatus.GONE:
        return Abandoned(f"{detail} The URL no longer accepts messages.")
    return decide_after_failure(detail, attempt, random_fraction, settings)
