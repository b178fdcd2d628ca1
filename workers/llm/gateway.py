"""Gateway for all LLM requests: cache, budget, retries, repair, ledger.

run ── fit to the context window; in the cache? ────────────────> ledger ─> answer
  └ conversation: ask, parse, ask again with the errors; finally drop sentences that cite unknown sources
     └ attempt: budget ─> endpoint ────────────────> cache + ledger ─> answer
                       └> batches, if the answer can wait"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel, ValidationError

from assayer.errors import BudgetExhausted, LlmError, LlmUnavailable, RequestRefused
from assayer.llm import Answer, Task
from assayer.models import CachedAnswer
from assayer.ports import Clock
from assayer.run.context_variables import Urgency, is_urgent, urgency
from assayer.run.run import Run
from workers.llm.chat_completion import LlmTransport
from workers.llm.context_window import ContextWindows, FittedQuestion, fit_question
from workers.llm.errors import TransientLlmFailure
from workers.llm.ledger import CallLedger, CallUsage
from workers.llm.retry_and_repair import AnswerServices, Conversation
from workers.llm.settings import LlmSettings
from workers.outbound.single_flight import SingleFlight, Waiter
from workers.outbound.store import AnswerStore

if TYPE_CHECKING:
    from workers.llm.batches.batch_tier import BatchTier

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_LOG = logging.getLogger(__name__)
_MAX_CUTS = 5
"""Maximum number of times a question is sent if the endpoint keeps refusing it as too long."""


class _Answered(NamedTuple):
    answer: Answer[Any]
    """Answer for the run that made the request."""
    stored: CachedAnswer
    """Answer for the other runs that waited for the same request."""


class LlmGateway:
    """Answers tasks with language models. Implements `assayer.llm.Llm`. It belongs to one event loop, in which it must
    be closed."""

    def __init__(
        self,
        settings: LlmSettings,
        answers: AnswerStore,
        clock: Clock,
        transport: LlmTransport | None = None,
        batches: "BatchTier | None" = None,
    ) -> None:
        """Create a gateway. It closes its transport. Without `transport`, it creates one from the settings. Without
        `batches`, even calls that could wait go to the live endpoint."""
        self._settings = settings
        self._clock = clock
        self._ledger = CallLedger(answers, clock)
        self._transport = _build_own_endpoint(settings, clock) if transport is None else transport
        self._services = AnswerServices(settings, self._transport, batches)
        self._batches = batches
        self._windows = ContextWindows(settings.context_tokens)
        self._endpoint = settings.endpoint
        self._in_flight: SingleFlight[str, Waiter[_Answered | LlmError]] = SingleFlight()
        self._urgency_by_key: WeakValueDictionary[str, Urgency] = WeakValueDictionary()

    @property
    def models(self) -> tuple[str, ...]:
        return self._settings.models

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the gateway after all paid answers have been stored."""
        await self._in_flight.aclose()
        await self._ledger.aclose()
        await self._transport.aclose()

    async def reach(self) -> None:
        """Check that a server responds, without sending a request to a model, and store the context windows that it
        states. Raises LlmUnavailable immediately, without the retries of a normal request."""
        try:
            self._windows.add(await self._transport.reach())
        except TransientLlmFailure as failure:
            raise LlmUnavailable(
                f"The LLM endpoint {self._transport.address} is down: {failure}.",
                "Check that it is running and that ASSAYER_LLM__BASE_URL is correct.",
            ) from None

    def get_context_tokens(self, model: str) -> int | None:
        """Return the context window of a model; None while it is unknown."""
        return self._windows.get_window(model)

    async def probe(self) -> str:
        """Send a tiny request to every model, and return a message that names the models that answered. Raises
        LlmRejected (wrong key, unknown model) or LlmUnavailable."""
        for model in self.models:
            await self._transport.probe(model)
        return f"{' and '.join(self.models)} at {self._transport.address} answer{'s' * (len(self.models) == 1)}."

    def require_prices(self, *other_models: str) -> None:
        """Raise ConfigurationError unless all models, including `other_models`, have a price."""
        self._settings.require_prices(*self.models, *other_models)

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """Return a model's answer to a task. If the question exceeds the model's context window, it is cut, and the
        run's journal records this. Raises an LlmError if there is no valid answer, BudgetExhausted, or
        ConfigurationError if the budget needs a price."""
        model = task.model or self._settings.get_model_for(task.tier)
        if run.budget.max_usd is not None:
            self.require_prices(model)
        cuts_left = _MAX_CUTS
        while True:
            cuts_left -= 1
            question = fit_question(task, data, self._windows.get_window(model), self._settings.max_answer_tokens)
            try:
                answer = await self._answer_once(task, question, run, model)
            except RequestRefused as refused:
                if not (cuts_left and self._windows.learn(model, refused, question.window)):
                    raise
                _LOG.info("model %s: %s", model, refused.message)
            else:
                _record_cut(question, run)
                return answer

    async def _answer_once(
        self, task: Task[In, Out], question: FittedQuestion[In], run: Run, model: str
    ) -> Answer[Out]:
        """Answer a question. If an identical request is in flight, wait for its answer instead of sending it again."""
        key = task.key(model, self._build_key_parameters(task, run), question.messages)
        # Interactive callers never wait behind batch callers.
        flight_key = f"waiting {key}" if self._may_wait(run) else key
        # An urgent caller makes the shared request urgent for as long as any caller waits for the answer.
        urgency_of_call = self._urgency_by_key.setdefault(flight_key, Urgency())
        if is_urgent():
            urgency_of_call.make_urgent()

        async def start_answer(_: object) -> "_Answered | LlmError":
            with urgency(urgency_of_call):
                return await self._answer(task, question, run, model, key)

        outcome, is_shared = await self._join_or_start(flight_key, start_answer)
        if isinstance(outcome, LlmError):
            if not is_shared:
                raise outcome
            usage = self._create_usage(task, model)
            usage.faults.extend(outcome.faults)
            await self._ledger.record_failed(run, key, usage, outcome)
            raise copy(outcome)
        if not is_shared:
            return outcome.answer
        stored = outcome.stored
        return await self._ledger.record_hit(run, stored, task.output.model_validate_json(stored.value))

    async def _join_or_start(
        self, flight_key: str, answer: Callable[[object], Coroutine[Any, Any, "_Answered | LlmError"]]
    ) -> "tuple[_Answered | LlmError, bool]":
        """Return the outcome of the request in flight, and whether another caller started it. If it fails for a reason
        that concerns only that caller, such as its budget, start it again."""
        while True:
            waiter = Waiter[_Answered | LlmError]()
            self._in_flight.join(flight_key, waiter, answer)
            try:
                return await waiter.result, waiter.has_joined
            except Exception:
                if not waiter.has_joined:
                    raise
            finally:
                if (cancelled_task := self._in_flight.leave(waiter)) is not None:
                    await asyncio.gather(cancelled_task, return_exceptions=True)

    async def _answer(
        self, task: Task[In, Out], question: FittedQuestion[In], run: Run, model: str, key: str
    ) -> "_Answered | LlmError":
        """Return the answer from the cache or from a paid request. LLM errors are shared by all callers that made the
        request; other errors concern only this run."""
        # A claim would block other processes while a batch is in flight. The batch book already holds each call only
        # once.
        with nullcontext(None) if self._may_wait(run) else self._ledger.claims.create_claimant() as claimant:
            try:
                cached = await self._ledger.find(key, claimant)
                value = None if cached is None else _validate_cached(cached, task, question.data)
                if cached is not None and value is not None:
                    return _Answered(await self._ledger.record_hit(run, cached, value), cached)
                return await self._pay(task, question, run, self._create_usage(task, model), key, cached, claimant)
            except LlmError as error:
                return error
            except Exception:
                if claimant is not None:
                    await self._ledger.claims.release(key, claimant)
                raise

    async def _pay(
        self,
        task: Task[In, Out],
        question: FittedQuestion[In],
        run: Run,
        usage: CallUsage,
        key: str,
        replaced: CachedAnswer | None,
        claimant: str | None,
    ) -> "_Answered":
        """Request and store a new answer. `replaced` is the cached answer that it replaces, if any."""
        try:
            value = await Conversation(self._services, task, question, run, usage).get_answer()
        except (LlmError, BudgetExhausted) as error:
            await self._bill_batch_answers(run, usage)
            await self._ledger.record_failed(run, key, usage, error, claimant)
            await self._settle(usage)
            raise
        except asyncio.CancelledError:
            self._ledger.record_abandoned(run, key, usage, claimant)
            raise
        await self._bill_batch_answers(run, usage)
        record = usage.record(self._clock.monotonic())
        messages = question.messages if self._settings.keep_messages else ()
        stored = CachedAnswer(key=key, value=value.model_dump_json(by_alias=True), record=record, messages=messages)
        await self._ledger.record_paid(run, stored, replaced, claimant)
        await self._settle(usage)
        return _Answered(Answer(value, record), stored)

    async def _bill_batch_answers(self, run: Run, usage: CallUsage) -> None:
        """Bill the call's batch answers to the run, and remove the usage of answers for which other runs pay. Raises
        StorageError."""
        batch_keys = [key for key, used in usage.batch_usage.items() if used is not None]
        if self._batches is not None and batch_keys:
            usage.forgo(set(batch_keys) - await self._batches.claim_billing(batch_keys, run.id))

    async def _settle(self, usage: CallUsage) -> None:
        """Settle the call's batch entries, after its outcome has been written to the ledger."""
        if self._batches is not None and usage.batch_usage:
            await self._batches.settle(list(usage.batch_usage))

    def _may_wait(self, run: Run) -> bool:
        return self._batches is not None and run.waits_until is not None

    def _create_usage(self, task: Task[In, Out], model: str) -> CallUsage:
        return CallUsage(task.name, task.version, model, self._settings.prices.get(model))

    def _build_key_parameters(self, task: Task[In, Out], run: Run) -> dict[str, Any]:
        """Return the parameters in the cache key besides task, model and messages, including the answer's owner. The
        method of requesting JSON is excluded, because every answer is checked against the same schema."""
        settings = self._settings
        return {
            "endpoint": self._endpoint,
            "temperature": settings.temperature if task.temperature is None else task.temperature,
            "seed": settings.seed,
            "max_tokens": min(task.max_tokens, settings.max_answer_tokens),
            **settings.optional_inputs,
            **({"answers_of": run.answers_of} if run.answers_of else {}),
        }


def _build_own_endpoint(settings: LlmSettings, clock: Clock) -> LlmTransport:
    # Imported here, so that a gateway with another transport does not load the HTTP client.
    from workers.llm.endpoint import LlmEndpoint

    return LlmEndpoint(settings, clock)


def _validate_cached(cached: CachedAnswer, task: Task[In, Out], data: In) -> Out | None:
    """Return the stored value, or None if it no longer satisfies the task."""
    try:
        value = task.output.model_validate_json(cached.value, strict=True)
    except ValidationError:
        return None
    visible = task.clean(data, value)
    return None if visible is None or task.complaints(data, visible) else visible


def _record_cut(question: FittedQuestion[Any], run: Run) -> None:
    """Record, for the report, what was removed from a question to make it fit."""
    if question.window is None:
        return
    reason = f"did not fit into the language model's context window of {question.window:,} tokens"
    for noun, count in question.dropped:
        if noun:
            run.journal.record_dropped(noun, reason, count)
    run.unread_characters = max(run.unread_characters, question.unread_chars)
