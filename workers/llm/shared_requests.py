"""Shared requests: whoever makes the same request while it is in flight, or soon after, gets the same result.

An evaluator that was killed leaves its requests in flight. They go on, and their results are kept for a while, so
that whoever takes over the evaluation does not pay for them a second time.
"""

from collections import OrderedDict
from dataclasses import dataclass

from pydantic import Field

from assayer.models import Frozen
from assayer.ports import Clock
from workers.concurrency.single_flight import SingleFlight, Waiter
from workers.llm.chat_completion import ChatRequest, ChatResult, LlmTransport, Requester
from workers.llm.errors import PermanentLlmFailure, SendStats, TransientLlmFailure

__all__ = ["CoalescingSettings", "CoalescingTransport", "RecentResults"]


class CoalescingSettings(Frozen):
    seconds: float = Field(default=300.0, ge=0)
    """How long an answer is kept: longer than a lease takes to be given to somebody else."""
    answers: int = Field(default=8192, ge=0)
    characters: int = Field(default=64_000_000, ge=0)
    """Of all answers kept."""


@dataclass(frozen=True)
class _Recent:
    result: ChatResult
    run: str
    at: float


class RecentResults:
    """The answers of the last minutes, within bounds; the oldest go first."""

    def __init__(self, settings: CoalescingSettings) -> None:
        self._settings = settings
        self._answers: OrderedDict[bytes, _Recent] = OrderedDict()
        self._characters = 0

    def __len__(self) -> int:
        return len(self._answers)

    def add(self, key: bytes, result: ChatResult, run: str, now: float) -> None:
        self._drop(key)
        self._answers[key] = _Recent(result, run, now)
        self._characters += len(result.completion.text)
        self._trim(now)

    def find(self, key: bytes, run: str, now: float) -> ChatResult | None:
        self._trim(now)
        kept = self._answers.get(key)
        return None if kept is None else _billed_to(run, kept.result, kept.run)

    def _trim(self, now: float) -> None:
        settings = self._settings
        while self._answers:
            key, oldest = next(iter(self._answers.items()))
            fits = len(self._answers) <= settings.answers and self._characters <= settings.characters
            if fits and now - oldest.at <= settings.seconds:
                return
            self._drop(key)

    def _drop(self, key: bytes) -> None:
        if (kept := self._answers.pop(key, None)) is not None:
            self._characters -= len(kept.result.completion.text)


class _Waiter(Waiter[ChatResult]):
    def __init__(self, run: str) -> None:
        super().__init__()
        self.run = run


class CoalescingTransport:
    """A transport before another. Belongs to one event loop; it owns the requests in flight until it is closed.

    The last caller who is cancelled takes the request along. One who dies tells nobody: the request goes on.
    """

    def __init__(self, transport: LlmTransport, clock: Clock, settings: CoalescingSettings | None = None) -> None:
        self._transport = transport
        self._clock = clock
        self._recent = RecentResults(settings or CoalescingSettings())
        self._in_flight: SingleFlight[bytes, _Waiter] = SingleFlight()

    @property
    def address(self) -> str:
        return self._transport.address

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        key = request.key
        recent = self._recent.find(key, requester.run, self._clock.monotonic())
        if recent is not None:
            return recent
        waiter = _Waiter(requester.run)
        call = self._in_flight.join(key, waiter, lambda _: self._send(key, request, requester))
        payer = call.leader.run
        try:
            result = await waiter.result
        except (TransientLlmFailure, PermanentLlmFailure) as failure:
            if requester.run != payer:
                failure.stats = SendStats()
            raise
        finally:
            self._in_flight.leave(waiter)
        return _billed_to(requester.run, result, payer)

    async def reach(self) -> None:
        await self._transport.reach()

    async def probe(self, model: str) -> None:
        await self._transport.probe(model)

    async def aclose(self) -> None:
        await self._in_flight.aclose()
        await self._transport.aclose()

    async def _send(self, key: bytes, request: ChatRequest, requester: Requester) -> ChatResult:
        result = await self._transport.complete(request, requester)
        self._recent.add(key, result, requester.run, self._clock.monotonic())
        return result


def _billed_to(run: str, result: ChatResult, payer: str) -> ChatResult:
    """Billed to the run for which it was sent, which has died and come back if it asks again; free for others."""
    return result if run == payer else result._replace(stats=SendStats())
