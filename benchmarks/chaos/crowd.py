"""Those who use the service meanwhile: tenants that submit, send again, cancel, and write down what was accepted."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from assayer_client import AsyncClient, EvaluationBody, IdeaBody, KeyBody, RetryPolicy, TenantBody
from benchmarks.chaos.findings import Accepted
from benchmarks.chaos.waiting import until

__all__ = ["Submission", "Tenants", "open_tenants", "submissions", "submit_all", "until_all_ended"]

_RETRIES = RetryPolicy(attempts=1000, seconds=600.0, longest_pause=2.0)
_LOOK_SECONDS = 1.0
_RATE = 60_000
"""Requests a minute: the limits of keys are not what is tried here."""


class Submission(NamedTuple):
    at: float
    """Seconds from the start, at the earliest."""
    tenant: int
    text: str
    twice: bool
    """Sent a second time at once, under the same idempotency key, as by a client who lost patience."""
    cancelled_after: float | None
    """Seconds after which its tenant thinks better of it."""


Tenants = Sequence[AsyncClient]


def submissions(seed: int, texts: Sequence[str], tenants: int, seconds: float) -> list[Submission]:
    """Spread evenly over the time; one in five sent twice, one in ten cancelled."""
    random = Random(f"crowd {seed}")
    return [
        Submission(
            at=seconds * number / len(texts),
            tenant=random.randrange(tenants),
            text=text,
            twice=random.random() < 0.2,
            cancelled_after=random.uniform(0.0, 10.0) if random.random() < 0.1 else None,
        )
        for number, text in enumerate(texts)
    ]


@asynccontextmanager
async def open_tenants(address: str, admin: str, count: int) -> AsyncIterator[Tenants]:
    """Made for the occasion, with weights 1, 2, …"""
    async with AsyncExitStack() as stack:
        operator = await stack.enter_async_context(AsyncClient(address, admin, retries=_RETRIES))
        clients = []
        for number in range(count):
            name = f"tenant-{number}"
            await operator.create_tenant(TenantBody(id=name, name=name, weight=number + 1.0))
            plan = KeyBody(name="chaos", tenant=name, scopes=("submit", "read"), requests_per_minute=_RATE)
            key = (await operator.create_key(plan)).secret
            clients.append(await stack.enter_async_context(AsyncClient(address, key, retries=_RETRIES)))
        yield clients


async def submit_all(tenants: Tenants, what: Sequence[Submission], record: Path) -> None:
    """Returns when all are accepted; each is in the record as soon as it is."""
    began = asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        for number, one in enumerate(what):
            group.create_task(_submit(tenants[one.tenant], f"chaos-{number}", one, record, began))


async def _submit(client: AsyncClient, key: str, one: Submission, record: Path, began: float) -> None:
    await asyncio.sleep(max(0.0, began + one.at - asyncio.get_running_loop().time()))
    body = EvaluationBody(idea=IdeaBody(text=one.text))
    told = await asyncio.gather(*(client.submit(body, key=key) for _ in range(1 + one.twice)))
    with record.open("a", encoding="utf-8") as file:
        for accepted in told:
            line = Accepted(tenant=f"tenant-{one.tenant}", key=key, job=accepted.id)
            file.write(line.model_dump_json() + "\n")
    if one.cancelled_after is not None:
        await asyncio.sleep(one.cancelled_after)
        await client.cancel(told[0].id)


async def until_all_ended(tenants: Tenants, seconds: float) -> None:
    """By what the service says; whether it is true is for the reader to find out. Raises TimeoutError."""

    async def ended() -> bool:
        return not any([await _is_busy(client) for client in tenants])

    await until(ended, seconds, _LOOK_SECONDS)


async def _is_busy(client: AsyncClient) -> bool:
    queued = await client.evaluations(state="queued", limit=1)
    running = await client.evaluations(state="running", limit=1)
    return bool(queued.items or running.items)
