"""The only way to every language model: cache, budget, retries, repair, ledger.

run ── answered before? ─────────────────────────────> ledger ─> answer
 └ converse: ask, parse, ask again with the errors; at last, strike the sentences that cite what was not given
     └ send: retry what may pass
         └ attempt: budget ─> transport ────────────> cache + ledger ─> answer
                       └> batches, where an answer may wait
"""

import asyncio
import datetime as dt
import logging
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel, ValidationError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from assayer.citing.answer_texts import StruckAnswer
from assayer.errors import AnswerRefused, BudgetExhausted, LlmError, LlmUnavailable, MalformedAnswer
from assayer.llm import Answer, Task
from assayer.models import CachedAnswer, Fault, Message
from assayer.ports import Clock
from assayer.run.context_variables import Urgency, current_urgency, is_urgent, urgency
from assayer.run.run import Run
from workers.concurrency.single_flight import SingleFlight, Waiter
from workers.llm.answer_store import AnswerStore, CallLedger, CallUsage
from workers.llm.chat_completion import ChatRequest, ChatResult, Completion, LlmTransport, Requester
from workers.llm.errors import PermanentLlmFailure, SendStats, TransientLlmFailure, one_line, rejection_error
from workers.llm.settings import LlmSettings
from workers.llm.structured_output import ParsedAnswer, RepairConversation, parse_answer

if TYPE_CHECKING:
    from workers.llm.batches.batch_tier import BatchTier

__all__ = ["LlmGateway", "RetryingSender"]


In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_LOG = logging.getLogger(__name__)


class RetryingSender:
    """Sends one request: admitted by the budget, sent again while that may help, its usage counted."""

    def __init__(
        self, settings: LlmSettings, transport: LlmTransport, clock: Clock, batches: "BatchTier | None" = None
    ) -> None:
        self._settings = settings
        self._transport = transport
        self._batches = batches
        self._clock = clock
        self._estimating = False
        first, longest = settings.backoff_initial_seconds, settings.backoff_max_seconds
        self._spread = wait_random(0, first)
        self._backoff = wait_exponential(multiplier=first, max=longest) + self._spread

    async def send(self, run: Run, request: ChatRequest, usage: CallUsage) -> Completion:
        """Raises LlmUnavailable, LlmRejected, AnswerRefused or BudgetExhausted."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._settings.max_attempts),
            wait=self._wait,
            retry=retry_if_exception(self._may_pass),
            reraise=True,
        )
        try:
            return await retrying(self._attempt, run, request, usage)
        except TransientLlmFailure as failure:
            waits = "" if failure.retry_after is None else f" (it asks to wait {failure.retry_after:.0f} s)"
            raise LlmUnavailable(
                f"The LLM endpoint {self._transport.address} gave no answer in {usage.attempts} tries; "
                f"the last: {failure}{waits}.",
                "Check that it runs and that ASSAYER_LLM__BASE_URL is right.",
                tuple(usage.faults),
            ) from failure
        except PermanentLlmFailure as failure:
            error = rejection_error(failure, self._transport.address, request.model, usage.faults)
            usage.faults = list(error.faults)
            raise error from failure

    async def _attempt(self, run: Run, request: ChatRequest, usage: CallUsage) -> Completion:
        estimate, price = request.prompt_tokens, usage.price
        most = 0.0 if price is None else price.cost(estimate, request.max_tokens)
        cost: float | None = 0.0
        billed, before = 0, (usage.prompt_tokens, usage.completion_tokens)
        asked = run.clock.now()
        reservation = await run.budget.reserve(most, estimate)
        try:
            result = await self._complete(request, Requester(run.id, current_urgency()), usage, run.waits_until)
            run.activities.add("permits", asked, run.clock.now() - dt.timedelta(seconds=result.stats.seconds))
            if result.stats.sends:
                billed, written = self._tokens(request, result.completion)
                waited = result.waited
                cost = usage.add_waited(waited, billed, written) if waited else usage.add_tokens(billed, written)
        except (TransientLlmFailure, asyncio.CancelledError):
            billed, written = usage.prompt_tokens - before[0], usage.completion_tokens - before[1]
            cost = None if price is None else price.cost(billed, written)
            raise
        finally:
            run.budget.settle(reservation, cost, billed)
        return result.completion

    async def _complete(
        self, request: ChatRequest, requester: Requester, usage: CallUsage, waits_until: dt.datetime | None
    ) -> ChatResult:
        try:
            if self._batches is None or waits_until is None:
                result = await self._transport.complete(request, requester)
            else:
                result = await self._batches.complete(request, requester, waits_until)
        except TransientLlmFailure as failure:
            usage.add_sends(failure.stats, self._clock.monotonic())
            usage.faults.append(failure.fault)
            if failure.read is not None:
                usage.add_tokens(*request.usage_without_answer(failure.read))
            raise
        except PermanentLlmFailure as failure:
            usage.add_sends(failure.stats, self._clock.monotonic())
            raise
        except asyncio.CancelledError as cancelled:
            stats = next((one for one in cancelled.args if isinstance(one, SendStats)), None)
            # Where nobody knows, it may have been waiting still; that it was sent is what must not be hidden.
            usage.add_sends(stats or SendStats(1), self._clock.monotonic())
            if stats is not None and stats.sends:
                # The endpoint has read the prompt, and bills it; what it had written by then nobody can tell.
                usage.add_tokens(request.prompt_tokens, 0)
            raise
        usage.add_sends(result.stats, self._clock.monotonic())
        return result

    async def bill(self, run: Run, usage: CallUsage) -> None:
        """Leaves to others what others pay for. Raises StorageError."""
        answered = [key for key, used in usage.waited.items() if used is not None]
        if self._batches is not None and answered:
            usage.forgo(set(answered) - await self._batches.bill(answered, run.id))

    async def settle(self, usage: CallUsage) -> None:
        """What came of the call is in the ledger."""
        if self._batches is not None and usage.waited:
            await self._batches.settle(list(usage.waited))

    def _tokens(self, request: ChatRequest, completion: Completion) -> tuple[int, int]:
        if completion.prompt_tokens is None and not self._estimating:
            self._estimating = True
            _LOG.warning("%s reports no usage: tokens and costs are estimates", self._transport.address)
        return request.usage(completion)

    def _may_pass(self, error: BaseException) -> bool:
        """Whether to try again: not when the endpoint asks for more patience than the settings have."""
        if not isinstance(error, TransientLlmFailure):
            return False
        return (error.retry_after or 0.0) <= self._settings.retry_after_max_seconds

    def _wait(self, state: RetryCallState) -> float:
        """Exponential with jitter, after what the endpoint asked for: then not all calls come back at once."""
        failure = state.outcome.exception() if state.outcome is not None else None
        asked = failure.retry_after if isinstance(failure, TransientLlmFailure) else None
        return self._backoff(state) if asked is None else asked + self._spread(state)


class _Answered(NamedTuple):
    answer: Answer[Any]
    """For the run that asked."""
    stored: CachedAnswer
    """For the runs that waited."""


class LlmGateway:
    """Implements `assayer.llm.Llm`. Belongs to one event loop; close it there."""

    def __init__(
        self,
        settings: LlmSettings,
        answers: AnswerStore,
        clock: Clock,
        transport: LlmTransport | None = None,
        batches: "BatchTier | None" = None,
    ) -> None:
        """Without a `transport` it opens one of its own. It closes the one it has. Without `batches` every call is
        asked of the live endpoint, also those that may wait."""
        self._settings = settings
        self._clock = clock
        self._ledger = CallLedger(answers, clock)
        self._transport = _endpoint_transport(settings, clock) if transport is None else transport
        self._sender = RetryingSender(settings, self._transport, clock, batches)
        self._batches = batches
        self._in_flight: SingleFlight[str, Waiter[_Answered | LlmError]] = SingleFlight()
        self._haste: WeakValueDictionary[str, Urgency] = WeakValueDictionary()

    @property
    def models(self) -> tuple[str, ...]:
        return self._settings.models

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Waits until everything that was paid for is stored."""
        await self._ledger.aclose()
        await self._transport.aclose()

    async def reach(self) -> None:
        """Whether a server answers, without asking a model anything. Raises LlmUnavailable at once, where a request
        would be sent again for a minute."""
        try:
            await self._transport.reach()
        except TransientLlmFailure as failure:
            raise LlmUnavailable(
                f"The LLM endpoint {self._transport.address} is down: {failure}.",
                "Check that it runs and that ASSAYER_LLM__BASE_URL is right.",
            ) from None

    async def probe(self) -> str:
        """Asks every model one tiny question and says that they answer. Raises LlmRejected (wrong key, unknown
        model) or LlmUnavailable, in plain words."""
        for model in self.models:
            await self._transport.probe(model)
        return f"{' and '.join(self.models)} at {self._transport.address} answer{'s' * (len(self.models) == 1)}."

    def require_prices(self, *others: str) -> None:
        """Raises ConfigurationError unless the cost of every model's answers can be told, and of the `others`'."""
        self._settings.require_prices(*self.models, *others)

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """A question that is being asked already is not asked twice: its answer is waited for."""
        model = task.model or self._settings.model_for(task.tier)
        if run.budget.max_usd is not None:
            self.require_prices(model)
        messages = task.messages(data)
        key = task.key(model, self._parameters(task, run), messages)
        # Who may not wait does not join who may.
        flight = f"waiting {key}" if self._waits(run) else key
        # Who joins in a hurry takes along what waits already. Kept for as long as one of them asks.
        haste = self._haste.setdefault(flight, Urgency())
        if is_urgent():
            haste.rise()

        async def answer() -> "_Answered | LlmError":
            with urgency(haste):
                return await self._answer(task, data, run, model, messages, key)

        outcome, shared = await self._in_flight.run(flight, answer)
        if shared:
            return await self._follow(task, model, run, key, outcome)
        if isinstance(outcome, LlmError):
            raise outcome
        return outcome.answer

    async def _follow(
        self, task: Task[In, Out], model: str, run: Run, key: str, shared: "_Answered | LlmError"
    ) -> Answer[Out]:
        if isinstance(shared, _Answered):
            stored = shared.stored
            return await self._ledger.record_hit(run, stored, task.output.model_validate_json(stored.value))
        usage = self._new_usage(task, model)
        usage.faults.extend(shared.faults)
        await self._ledger.record_failed(run, key, usage, shared)
        raise type(shared)(shared.message, shared.hint, shared.faults)

    async def _answer(
        self, task: Task[In, Out], data: In, run: Run, model: str, messages: Sequence[Message], key: str
    ) -> "_Answered | LlmError":
        """From the cache, or paid for. An error of the LLM is everybody's who asks the same; all others are the run's
        own."""
        try:
            # A claim would hold up others for as long as a batch is out; the book of batches knows each call once.
            cached = await (self._ledger.find(key) if self._waits(run) else self._ledger.find_or_claim(key))
            value = None if cached is None else _value_if_valid(cached, task, data)
            if cached is not None and value is not None:
                return _Answered(await self._ledger.record_hit(run, cached, value), cached)
            return await self._pay(task, data, run, model, messages, key, cached)
        except LlmError as error:
            return error

    async def _pay(
        self,
        task: Task[In, Out],
        data: In,
        run: Run,
        model: str,
        messages: Sequence[Message],
        key: str,
        unusable: CachedAnswer | None,
    ) -> "_Answered":
        """`unusable` is what the cache holds; the new answer takes its place."""
        conversation = RepairConversation(task, model, messages, self._settings, run.answers_of)
        usage = self._new_usage(task, model)
        try:
            with nullcontext() if self._waits(run) else self._ledger.renewed_claim(key):
                value = await self._converse(task, data, run, conversation, usage)
        except (LlmError, BudgetExhausted) as error:
            await self._sender.bill(run, usage)
            await self._ledger.record_failed(run, key, usage, error)
            await self._sender.settle(usage)
            raise
        except asyncio.CancelledError:
            self._ledger.record_abandoned(run, key, usage)
            raise
        await self._sender.bill(run, usage)
        record = usage.record(self._clock.monotonic())
        stored = CachedAnswer(key=key, value=value.model_dump_json(by_alias=True), record=record)
        if self._settings.keep_messages:
            stored = stored.model_copy(update={"messages": tuple(messages)})
        await self._ledger.record_paid(run, stored, unusable)
        await self._sender.settle(usage)
        return _Answered(Answer(value, record), stored)

    async def _converse(
        self, task: Task[In, Out], data: In, run: Run, conversation: RepairConversation, usage: CallUsage
    ) -> Out:
        spare: StruckAnswer | None = None
        try:
            for _ in range(self._settings.repair_attempts + 1):
                completion = await self._sender.send(run, conversation.request, usage)
                given = parse_answer(completion, task.output)
                parsed = _with_task_check(given, task, data)
                if parsed.fault is not None:
                    usage.faults.append(parsed.fault)
                if parsed.value is not None:
                    return parsed.value
                spare = _without_foreign_citations(given, task, data) or spare
                conversation.repair(completion, parsed)
        except (LlmError, BudgetExhausted):
            if spare is None:
                raise
        if spare is not None:
            usage.struck = spare.sentences
            value: Out = spare.value
            return value
        last = usage.faults[-1]
        error = AnswerRefused if last.kind == "refusal" else MalformedAnswer
        raise error(
            f"Model {conversation.request.model!r} gave no valid answer to task {task.name} in "
            f"{self._settings.repair_attempts + 1} tries; the last: {last.detail}.",
            faults=tuple(usage.faults),
        )

    def _waits(self, run: Run) -> bool:
        return self._batches is not None and run.waits_until is not None

    def _new_usage(self, task: Task[In, Out], model: str) -> CallUsage:
        return CallUsage(task.name, task.version, model, self._settings.prices.get(model))

    def _parameters(self, task: Task[In, Out], run: Run) -> dict[str, Any]:
        """What determines an answer beside task, model and messages, and whose it is. How JSON was asked for is not
        part of it: every answer is held against the same schema."""
        settings = self._settings
        return {
            "endpoint": settings.endpoint,
            "temperature": settings.temperature if task.temperature is None else task.temperature,
            "seed": settings.seed,
            "max_tokens": task.max_tokens,
            **({"answers_of": run.answers_of} if run.answers_of else {}),
        }


def _endpoint_transport(settings: LlmSettings, clock: Clock) -> LlmTransport:
    # The SDK takes half a second to import: only those who talk to an LLM wait for it.
    from workers.llm.client import EndpointTransport

    return EndpointTransport(settings, clock)


def _value_if_valid(cached: CachedAnswer, task: Task[In, Out], data: In) -> Out | None:
    """The value as stored, or None when it does not satisfy the task any more."""
    try:
        value = task.output.model_validate_json(cached.value, strict=True)
    except ValidationError:
        return None
    visible = task.cleaned(data, value)
    return None if visible is None or task.complaints(data, visible) else visible


def _with_task_check(parsed: ParsedAnswer[Out], task: Task[In, Out], data: In) -> ParsedAnswer[Out]:
    """What the schema cannot say, of the answer as it can be seen. A complaint takes the place of an earlier fault: one
    fault an answer."""
    if parsed.value is None:
        return parsed
    value = task.cleaned(data, parsed.value)
    complaints = [_INVISIBLE] if value is None else task.complaints(data, value)
    if not complaints:
        return parsed._replace(value=value)
    return ParsedAnswer(None, Fault(kind="failed_check", detail=one_line("; ".join(complaints))), tuple(complaints))


_INVISIBLE = "Without characters that nobody can see the answer does not fit the schema."


def _without_foreign_citations(parsed: ParsedAnswer[Out], task: Task[In, Out], data: In) -> StruckAnswer | None:
    """What is left of an answer that has no other fault, should no attempt give a better one."""
    value = None if parsed.value is None else task.cleaned(data, parsed.value)
    return None if value is None else task.struck(data, value)
