"""Bodies that come slowly, and many of them at once."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest
from starlette.types import Message, Receive, Scope, Send

from orchestrator.api.body_pace import BodyPace
from orchestrator.api.problems import HttpProblem
from orchestrator.settings import ApiSettings

LAST: Message = {"type": "http.request", "body": b"x", "more_body": False}
SETTINGS = ApiSettings(body_seconds=0.5, least_body_rate=1_000, max_bodies_per_tenant=2)


async def application(_: Scope, receive: Receive, __: Send) -> None:
    while (await receive()).get("more_body"):
        continue


async def nowhere(_: Message) -> None:
    return


def asked(pace: BodyPace, receive: Callable[[], Awaitable[Message]], tenant: str = "acme") -> Awaitable[None]:
    caller = SimpleNamespace(tenant=tenant)
    scope = {"type": "http", "assayer.caller": caller, "headers": [(b"content-length", b"9")]}
    return pace(scope, receive, nowhere)


async def never() -> Message:
    await asyncio.Event().wait()
    return LAST


async def at_once() -> Message:
    return LAST


async def test_a_body_of_which_nothing_more_comes_is_given_up() -> None:
    with pytest.raises(HttpProblem) as refusal:
        await asked(BodyPace(application, SETTINGS), never)
    assert refusal.value.status_code == 408


@pytest.mark.parametrize(("size", "status"), [(1_000, None), (100, 408)])
async def test_a_body_may_take_the_longer_the_more_of_it_has_come(size: int, status: int | None) -> None:
    now, left = 0.0, 5

    async def a_piece_a_second() -> Message:
        nonlocal now, left
        await asyncio.sleep(0)
        now, left = now + 1, left - 1
        return {"type": "http.request", "body": b"x" * size, "more_body": left > 0}

    pace = BodyPace(application, SETTINGS, lambda: now)
    try:
        await asked(pace, a_piece_a_second)
        ended = None
    except HttpProblem as refusal:
        ended = refusal.status_code
    assert ended == status


async def test_a_tenant_has_so_many_bodies_on_their_way_and_others_are_none_the_worse() -> None:
    patient = BodyPace(application, SETTINGS.model_copy(update={"body_seconds": 60.0}))
    slow = [asyncio.ensure_future(asked(patient, never)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(HttpProblem) as refusal:
        await asked(patient, at_once)
    assert refusal.value.status_code == 429
    await asked(patient, at_once, tenant="other")
    slow[0].cancel()
    await asyncio.gather(slow[0], return_exceptions=True)
    await asked(patient, at_once)
    slow[1].cancel()
    await asyncio.gather(slow[1], return_exceptions=True)
