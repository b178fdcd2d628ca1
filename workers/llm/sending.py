"""One question to the endpoint: admitted by the budget and the gate, retried while that may help."""

import logging

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from assayer.errors import LlmUnavailable
from assayer.ports import Clock
from assayer.run import Run
from workers.llm.completion import Completion
from workers.llm.concurrency import AdaptiveLimit
from workers.llm.conversation import Conversation
from workers.llm.failures import PermanentFailure, TransientFailure
from workers.llm.gate import Gate, Passage
from workers.llm.rejections import rejection
from workers.llm.settings import LlmSettings
from workers.llm.speaker import Speaker
from workers.llm.tally import Tally

__all__ = ["Sender"]

_LOG = logging.getLogger(__name__)


class Sender:
    def __init__(self, settings: LlmSettings, speaker: Speaker, clock: Clock) -> None:
        self._settings = settings
        self._speaker = speaker
        self._clock = clock
        self._estimating = False
        most = settings.concurrency.max
        limit = AdaptiveLimit(min(settings.concurrency.start, most), most)
        self.gate = Gate(limit, clock.monotonic)
        first, longest = settings.backoff_initial_seconds, settings.backoff_max_seconds
        self._spread = wait_random(0, first)
        self._backoff = wait_exponential(multiplier=first, max=longest) + self._spread

    async def exchange(self, run: Run, talk: Conversation, tally: Tally) -> Completion:
        """Raises LlmUnavailable, LlmRejected, AnswerRefused, BudgetExhausted or RunCancelled."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._settings.max_attempts),
            wait=self._wait,
            retry=retry_if_exception(self._may_pass),
            reraise=True,
        )
        try:
            return await retrying(self._attempt, run, talk, tally)
        except TransientFailure as failure:
            waits = "" if failure.retry_after is None else f" (it asks to wait {failure.retry_after:.0f} s)"
            raise LlmUnavailable(
                f"The LLM endpoint {self._speaker.address} gave no answer in {tally.attempts} tries; "
                f"the last: {failure}{waits}.",
                "Check that it runs and that ASSAYER_LLM__BASE_URL is right.",
                tuple(tally.faults),
            ) from failure
        except PermanentFailure as failure:
            error = rejection(failure, self._speaker.address, talk.model, tally.faults)
            tally.faults = list(error.faults)
            raise error from failure

    async def _attempt(self, run: Run, talk: Conversation, tally: Tally) -> Completion:
        run.check()
        estimate, price = talk.prompt_tokens, tally.price
        most = 0.0 if price is None else price.cost(estimate, talk.max_tokens)
        cost: float | None = 0.0
        billed = 0
        reservation = await run.budget.reserve(most, estimate)
        try:
            async with self.gate.passage() as passage:
                run.check()
                completion = await self._send(passage, talk, tally)
            billed, written = self._usage(talk, completion)
            tally.billed(billed, written)
            cost = None if price is None else price.cost(billed, written)
        finally:
            run.budget.settle(reservation, cost, billed)
        return completion

    async def _send(self, passage: Passage, talk: Conversation, tally: Tally) -> Completion:
        try:
            completion = await self._speaker.ask(talk.model, talk.body, lambda: tally.sent(self._clock.monotonic()))
        except TransientFailure as failure:
            tally.faults.append(failure.fault)
            if failure.overloaded:
                # A wait that is too long to be waited for holds nobody else back either.
                passage.turned_away(failure.retry_after if self._may_pass(failure) else None)
            raise
        read, written = talk.usage(completion)
        kind = (talk.model, tally.task, read.bit_length(), written.bit_length())
        passage.answered(kind, self._clock.monotonic() - tally.last_sent)
        return completion

    def _usage(self, talk: Conversation, completion: Completion) -> tuple[int, int]:
        if completion.prompt_tokens is None and not self._estimating:
            self._estimating = True
            _LOG.warning("%s reports no usage: tokens and costs are estimates", self._speaker.address)
        return talk.usage(completion)

    def _may_pass(self, error: BaseException) -> bool:
        """Whether to try again: not when the endpoint asks for more patience than the settings have."""
        if not isinstance(error, TransientFailure):
            return False
        return (error.retry_after or 0.0) <= self._settings.retry_after_max_seconds

    def _wait(self, state: RetryCallState) -> float:
        """Exponential with jitter, after what the endpoint asked for: then not all calls come back at once."""
        failure = state.outcome.exception() if state.outcome is not None else None
        asked = failure.retry_after if isinstance(failure, TransientFailure) else None
        return self._backoff(state) if asked is None else asked + self._spread(state)
