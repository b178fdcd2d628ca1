"""A line with a memory: one request for one question, billed once, stopped with the last who wants it."""

import asyncio
import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.models import Fault
from cluster.clock import SystemClock
from workers.llm.completion import Completion
from workers.llm.failures import PermanentFailure, Refusal, Took, TransientFailure
from workers.llm.memory import Kept, MemorySettings, RememberingLine
from workers.llm.question import Asker, Question, Said, Words

FIRST, SECOND = Asker("first"), Asker("second")


def a_question(text: str = "Why?", turn: int = 0) -> Question:
    return Question("m", "tests.asking", (Words("user", text),), (), "{}", 100, 0.0, None, turn)


def said(text: str = "Because.") -> Said:
    return Said(Completion(text, "", "stop", 10, 2), Took(1, 0.5))


class Slow:
    """A line that answers when it is told to."""

    address = "http://slow"

    def __init__(self, *failures: Exception) -> None:
        self.asked: list[Question] = []
        self.cancelled = 0
        self.open = asyncio.Event()
        self.begun = asyncio.Event()
        self._failures = list(failures)

    async def ask(self, question: Question, asker: Asker) -> Said:
        self.asked.append(question)
        self.begun.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self._failures:
            raise self._failures.pop(0)
        return said()

    async def reach(self) -> None: ...

    async def probe(self, model: str) -> None: ...

    async def aclose(self) -> None: ...


async def _asking(line: RememberingLine, slow: Slow, *askers: Asker) -> "Sequence[asyncio.Task[Said]]":
    """Tasks that ask the same and wait for the answer: what is asked of `slow` begins after all of them."""
    tasks = [asyncio.create_task(line.ask(a_question(), asker)) for asker in askers]
    await slow.begun.wait()
    return tasks


async def test_same_question_of_two_runs_is_sent_once_and_billed_to_the_first() -> None:
    slow = Slow()
    line = RememberingLine(slow, SystemClock())
    tasks = await _asking(line, slow, FIRST, SECOND)
    slow.open.set()
    answers = await asyncio.gather(*tasks)
    assert len(slow.asked) == 1
    assert [one.completion for one in answers] == [said().completion] * 2
    assert [one.took.sends for one in answers] == [1, 0]


async def test_run_that_comes_back_gets_its_answer_with_its_bill_and_another_gets_it_for_nothing() -> None:
    slow = Slow()
    slow.open.set()
    line = RememberingLine(slow, SystemClock())
    await line.ask(a_question(), FIRST)
    assert await line.ask(a_question(), FIRST) == said()
    assert (await line.ask(a_question(), SECOND)).took == Took()
    assert len(slow.asked) == 1


async def test_same_words_after_an_unusable_answer_are_another_question() -> None:
    slow = Slow()
    slow.open.set()
    line = RememberingLine(slow, SystemClock())
    await line.ask(a_question(turn=1), FIRST)
    await line.ask(a_question(turn=2), FIRST)
    assert len(slow.asked) == 2


async def test_last_asker_who_is_cancelled_takes_the_request_along_and_an_earlier_one_does_not() -> None:
    slow = Slow()
    line = RememberingLine(slow, SystemClock())
    first, second = await _asking(line, slow, FIRST, SECOND)
    first.cancel()
    await asyncio.wait([first])
    assert slow.cancelled == 0
    second.cancel()
    await asyncio.wait([second])
    slow.open.set()
    await line.ask(a_question(), SECOND)
    assert (slow.cancelled, len(slow.asked)) == (1, 2)


async def test_failure_reaches_every_asker_and_is_not_remembered() -> None:
    failure = TransientFailure(Fault(kind="timeout", detail="late"), overloaded=True)
    failure.took = Took(1, 0.1)
    slow = Slow(failure)
    line = RememberingLine(slow, SystemClock())
    tasks = await _asking(line, slow, FIRST, SECOND)
    slow.open.set()
    failures = await asyncio.gather(*tasks, return_exceptions=True)
    assert [one.took.sends for one in failures if isinstance(one, TransientFailure)] == [1, 0]
    assert (await line.ask(a_question(), FIRST)) == said()


async def test_closing_ends_what_is_in_flight() -> None:
    slow = Slow()
    line = RememberingLine(slow, SystemClock())
    (asking,) = await _asking(line, slow, FIRST)
    await line.aclose()
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
    kept, now = Kept(MemorySettings(seconds=10, answers=answers, characters=characters)), 0.0
    alive: dict[int, tuple[int, float]] = {}
    for number, length, pause in added:
        now += pause
        kept.add(bytes([number]), said("x" * length), "run", now)
        alive[number] = (length, now)
    found = {number: one for number in alive if (one := kept.find(bytes([number]), "run", now)) is not None}
    assert len(found) == len(kept) <= answers
    assert sum(len(one.completion.text) for one in found.values()) <= characters
    assert all(now - alive[number][1] <= 10 for number in found)


@pytest.mark.parametrize(
    "failure",
    [
        TransientFailure(Fault(kind="rate_limited", detail="HTTP 429"), overloaded=True, retry_after=3.0),
        PermanentFailure("quota", 429, Refusal("no more", "insufficient_quota", "")),
    ],
)
def test_failures_keep_all_they_say_across_processes(failure: TransientFailure | PermanentFailure) -> None:
    failure.took = Took(2, 1.5)
    there = pickle.loads(pickle.dumps(failure))  # noqa: S301 - our own bytes
    assert type(there) is type(failure)
    assert (str(there), vars(there)) == (str(failure), vars(failure))


def test_question_and_answer_pickle() -> None:
    question = a_question()
    assert pickle.loads(pickle.dumps((question, said()))) == (question, said())  # noqa: S301 - our own bytes
    assert question.key == a_question().key != a_question("Why not?").key
