"""The line to one endpoint: how many calls it takes at once, in which dialect, over which connections.

It knows nothing of runs' budgets, of answers' meaning, or of trying again: those stay with the Gateway that asks,
which may be in another process.
"""

from typing import Protocol

from assayer.ports import Clock
from workers.llm.concurrency import AdaptiveLimit
from workers.llm.failures import PermanentFailure, Took, TransientFailure
from workers.llm.gate import Gate
from workers.llm.metrics import ASKED, IN_FLIGHT, LIMIT
from workers.llm.probe import probe
from workers.llm.question import Asker, Question, Said
from workers.llm.settings import LlmSettings
from workers.llm.speaker import Speaker

__all__ = ["EndpointLine", "Line"]


class Line(Protocol):
    @property
    def address(self) -> str:
        """The endpoint's, as it may be shown."""
        ...

    async def ask(self, question: Question, asker: Asker) -> Said:
        """One send, or more where the model's dialect must be learnt first. An asker who is cancelled takes the
        request along. Raises TransientFailure or PermanentFailure, which tell what was sent."""
        ...

    async def reach(self) -> None:
        """Whether anybody is there. Raises TransientFailure."""
        ...

    async def probe(self, model: str) -> None:
        """One tiny question. Raises LlmRejected (wrong key, unknown model) or LlmUnavailable, in plain words."""
        ...

    async def aclose(self) -> None:
        """Ends what belongs to whoever holds it."""
        ...


class _Sends:
    """When one question was sent."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.count = 0
        self.first = self.last = 0.0

    def note(self) -> None:
        self.last = self._clock.monotonic()
        if not self.count:
            self.first = self.last
        self.count += 1

    def took(self) -> Took:
        return Took(self.count, self._clock.monotonic() - self.first) if self.count else Took()


class EndpointLine:
    """Belongs to one event loop; close it there."""

    def __init__(self, settings: LlmSettings, clock: Clock) -> None:
        # The SDK takes half a second to import: only those who talk to an LLM wait for it.
        from workers.llm.endpoint import Endpoint

        self._clock = clock
        self._longest_wait = settings.retry_after_max_seconds
        self._endpoint = Endpoint(settings, clock)
        self._speaker = Speaker(self._endpoint, settings.structured)
        most = settings.concurrency.max
        self.gate = Gate(AdaptiveLimit(min(settings.concurrency.start, most), most), clock.monotonic)

    @property
    def address(self) -> str:
        return self._speaker.address

    async def ask(self, question: Question, asker: Asker) -> Said:
        sends = _Sends(self._clock)
        with ASKED.track_inprogress():
            try:
                return await self._passed(question, asker, sends)
            finally:
                LIMIT.set(self.gate.limit.value)

    async def _passed(self, question: Question, asker: Asker, sends: _Sends) -> Said:
        async with self.gate.passage(asker.urgent) as passage:
            try:
                with IN_FLIGHT.track_inprogress():
                    completion = await self._speaker.ask(question.model, question.body, sends.note)
            except TransientFailure as failure:
                failure.took = sends.took()
                if failure.overloaded:
                    # A wait that is too long to be waited for holds nobody else back either.
                    bearable = (failure.retry_after or 0.0) <= self._longest_wait
                    passage.turned_away(failure.retry_after if bearable else None)
                raise
            except PermanentFailure as failure:
                failure.took = sends.took()
                raise
            read, written = question.usage(completion)
            kind = (question.model, question.task, read.bit_length(), written.bit_length())
            passage.answered(kind, self._clock.monotonic() - sends.last)
        return Said(completion, sends.took())

    async def reach(self) -> None:
        await self._endpoint.reach()

    async def probe(self, model: str) -> None:
        await probe(self._speaker, model)

    async def aclose(self) -> None:
        await self._speaker.aclose()
