"""Shared requests: sent once for all who make them, billed once, stopped with the last who waits."""

import asyncio
import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.models import Fault
from cluster.clock import SystemClock
from workers.llm.chat_completion import ChatMessage, ChatRequest, ChatResult, Completion, Requester
from workers.llm.errors import ErrorBody, PermanentLlmFailure, SendStats, TransientLlmFailure
from workers.llm.shared_requests import CoalescingSettings, CoalescingTransport, RecentResults

FIRST, SECOND = Requester("first"), Requester("second")


def a_request(text: str = "Why?", repair_attempt: int = 0) -> ChatRequest:
    return ChatRequest("m", "tests.asking", (ChatMessage("user", text),), (), "{}", 100, 0.0, None, repair_attempt)


def a_result(text: str = "Because.") -> ChatResult:
    return ChatResult(Completion(text, "", "stop", 10, 2), SendStats(1, 0.5))


class Slow:
    """A transport that answers when it is told to."""

    address = "http://slow"

    def __init__(self, *failures: Exception) -> None:
        self.sent: list[ChatRequest] = []
        self.cancelled = 0
        self.open = asyncio.Event()
        self.begun = asyncio.Event()
        self._failures = list(failures)

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        self.sent.append(request)
        self.begun.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self._failures:
            raise self._failures.pop(0)
        return a_result()

    async def reach(self) -> None: ...

    async def probe(self, model: str) -> None: ...

    async def aclose(self) -> None: ...


async def _asking(
    transport: CoalescingTransport, slow: Slow, *requesters: Requester
) -> "Sequence[asyncio.Task[ChatResult]]":
    """Tasks that ask the same and wait for the answer: what `slow` is sent begins after all of them."""
    tasks = [asyncio.create_task(transport.complete(a_request(), requester)) for requester in requesters]
    await slow.begun.wait()
    return tasks


async def test_same_question_of_two_runs_is_sent_once_and_billed_to_the_first() -> None:
    slow = Slow()
    transport = CoalescingTransport(slow, SystemClock())
    tasks = await _asking(transport, slow, FIRST, SECOND)
    slow.open.set()
    answers = await asyncio.gather(*tasks)
    assert len(slow.sent) == 1
    assert [one.completion for one in answers] == [a_result().completion] * 2
    assert [one.stats.sends for one in answers] == [1, 0]


async def test_run_that_comes_back_gets_its_answer_with_its_bill_and_another_gets_it_for_nothing() -> None:
    slow = Slow()
    slow.open.set()
    transport = CoalescingTransport(slow, SystemClock())
    await transport.complete(a_request(), FIRST)
    assert await transport.complete(a_request(), FIRST) == a_result()
    assert (await transport.complete(a_request(), SECOND)).stats == SendStats()
    assert len(slow.sent) == 1


async def test_same_words_after_an_unusable_answer_are_another_question() -> None:
    slow = Slow()
    slow.open.set()
    transport = CoalescingTransport(slow, SystemClock())
    await transport.complete(a_request(repair_attempt=1), FIRST)
    await transport.complete(a_request(repair_attempt=2), FIRST)
    assert len(slow.sent) == 2


async def test_last_asker_who_is_cancelled_takes_the_request_along_and_an_earlier_one_does_not() -> None:
    slow = Slow()
    transport = CoalescingTransport(slow, SystemClock())
    first, second = await _asking(transport, slow, FIRST, SECOND)
    first.cancel()
    await asyncio.wait([first])
    assert slow.cancelled == 0
    second.cancel()
    await asyncio.wait([second])
    slow.open.set()
    await transport.complete(a_request(), SECOND)
    assert (slow.cancelled, len(slow.sent)) == (1, 2)


async def test_failure_reaches_every_asker_and_is_not_remembered() -> None:
    failure = TransientLlmFailure(Fault(kind="timeout", detail="late"), overloaded=True)
    failure.stats = SendStats(1, 0.1)
    slow = Slow(failure)
    transport = CoalescingTransport(slow, SystemClock())
    tasks = await _asking(transport, slow, FIRST, SECOND)
    slow.open.set()
    failures = await asyncio.gather(*tasks, return_exceptions=True)
    assert [one.stats.sends for one in failures if isinstance(one, TransientLlmFailure)] == [1, 0]
    assert (await transport.complete(a_request(), FIRST)) == a_result()


async def test_closing_ends_what_is_in_flight() -> None:
    slow = Slow()
    transport = CoalescingTransport(slow, SystemClock())
    (asking,) = await _asking(transport, slow, FIRST)
    await transport.aclose()
    await asyncio.wait([asking])
    assert (asking.cancelled(), slow.cancelled) == (True, 1)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 50), st.floats(0, 20)), max_size=40),
    st.integers(0, 5),
    st.integers(0, 120),
)
def test_what_is_kept_stays_within_its_bounds(
    added: list[tuple[int, int, float]], answers: int, characters: int
) -> None:
    recent, now = RecentResults(CoalescingSettings(seconds=10, answers=answers, characters=characters)), 0.0
    alive: dict[int, tuple[int, float]] = {}
    for number, length, pause in added:
        now += pause
        recent.add(bytes([number]), a_result("x" * length), "run", now)
        alive[number] = (length, now)
    found = {number: one for number in alive if (one := recent.find(bytes([number]), "run", now)) is not None}
    assert len(found) == len(recent) <= answers
    assert sum(len(one.completion.text) for one in found.values()) <= characters
    assert all(now - alive[number][1] <= 10 for number in found)


@pytest.mark.parametrize(
    "failure",
    [
        TransientLlmFailure(Fault(kind="rate_limited", detail="HTTP 429"), overloaded=True, retry_after=3.0),
        PermanentLlmFailure("quota", 429, ErrorBody("no more", "insufficient_quota", "")),
    ],
)
def test_failures_keep_all_they_say_across_processes(failure: TransientLlmFailure | PermanentLlmFailure) -> None:
    failure.stats = SendStats(2, 1.5)
    there = pickle.loads(pickle.dumps(failure))  # noqa: S301 - our own bytes
    assert type(there) is type(failure)
    assert (str(there), vars(there)) == (str(failure), vars(failure))


def test_question_and_answer_pickle() -> None:
    request = a_request()
    assert pickle.loads(pickle.dumps((request, a_result()))) == (request, a_result())  # noqa: S301 - our own bytes
    assert request.key == a_request().key != a_request("Why not?").key
