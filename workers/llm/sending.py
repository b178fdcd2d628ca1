"""One question to the line: admitted by the budget, asked again while that may help, paid for."""

import asyncio
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
from assayer.urgency import somebody_waits
from workers.llm.completion import Completion
from workers.llm.conversation import Conversation
from workers.llm.failures import PermanentFailure, Took, TransientFailure
from workers.llm.line import Line
from workers.llm.question import Asker, Question, Said
from workers.llm.rejections import rejection
from workers.llm.settings import LlmSettings
from workers.llm.tally import Tally

__all__ = ["Sender"]

_LOG = logging.getLogger(__name__)


class Sender:
    def __init__(self, settings: LlmSettings, line: Line, clock: Clock) -> None:
        self._settings = settings
        self._line = line
        self._clock = clock
        self._estimating = False
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
        question = talk.question
        try:
            return await retrying(self._attempt, run, question, tally)
        except TransientFailure as failure:
            waits = "" if failure.retry_after is None else f" (it asks to wait {failure.retry_after:.0f} s)"
            raise LlmUnavailable(
                f"The LLM endpoint {self._line.address} gave no answer in {tally.attempts} tries; "
                f"the last: {failure}{waits}.",
                "Check that it runs and that ASSAYER_LLM__BASE_URL is right.",
                tuple(tally.faults),
            ) from failure
        except PermanentFailure as failure:
            error = rejection(failure, self._line.address, question.model, tally.faults)
            tally.faults = list(error.faults)
            raise error from failure

    async def _attempt(self, run: Run, question: Question, tally: Tally) -> Completion:
        run.check()
        estimate, price = question.prompt_tokens, tally.price
        most = 0.0 if price is None else price.cost(estimate, question.max_tokens)
        cost: float | None = 0.0
        billed = 0
        reservation = await run.budget.reserve(most, estimate)
        try:
            run.check()
            said = await self._ask(question, Asker(run.id, somebody_waits()), tally)
            if said.took.sends:
                billed, written = self._usage(question, said.completion)
                tally.billed(billed, written)
                cost = None if price is None else price.cost(billed, written)
        finally:
            run.budget.settle(reservation, cost, billed)
        return said.completion

    async def _ask(self, question: Question, asker: Asker, tally: Tally) -> Said:
        try:
            said = await self._line.ask(question, asker)
        except TransientFailure as failure:
            tally.asked(failure.took, self._clock.monotonic())
            tally.faults.append(failure.fault)
            raise
        except PermanentFailure as failure:
            tally.asked(failure.took, self._clock.monotonic())
            raise
        except asyncio.CancelledError:
            # It may have been waiting still; that it was sent is what must not be hidden.
            tally.asked(Took(1), self._clock.monotonic())
            raise
        tally.asked(said.took, self._clock.monotonic())
        return said

    def _usage(self, question: Question, completion: Completion) -> tuple[int, int]:
        if completion.prompt_tokens is None and not self._estimating:
            self._estimating = True
            _LOG.warning("%s reports no usage: tokens and costs are estimates", self._line.address)
        return question.usage(completion)

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
