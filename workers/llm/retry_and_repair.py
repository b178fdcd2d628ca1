"""Ask a model one question: send it within the run's budget, retry transient failures, and send a faulty answer back
with its errors."""

import asyncio
import logging
import zlib
from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from assayer.citing.answer_texts import RedactedAnswer
from assayer.errors import AnswerRefused, BudgetExhausted, LlmError, LlmUnavailable, MalformedAnswer, RequestRefused
from assayer.llm import Task
from assayer.models import Fault, FaultKind
from assayer.run.context_variables import get_urgency
from assayer.run.run import Run
from workers.llm.answer_parsing import ParsedAnswer, parse_answer
from workers.llm.answer_schema import answer_schema, build_bounded_schema
from workers.llm.chat_completion import ChatMessage, ChatRequest, ChatResult, LlmTransport, Requester, prompt_template
from workers.llm.completion import Completion
from workers.llm.context_window import FittedQuestion
from workers.llm.error_body import clip_line
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure, rejection_error
from workers.llm.ledger import CallUsage
from workers.llm.settings import LlmSettings

if TYPE_CHECKING:
    from workers.llm.batches.batch_tier import BatchTier

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_LOG = logging.getLogger(__name__)
_MEASURED = 64
"""Number of recent answers to a task, of which the longest is the estimate for the next answer."""
_MIN_MEASURED = 8
MAX_QUOTED_CHARS = 12_000
"""Maximum number of characters of an unusable answer that are sent back with its errors."""
_QUOTED_RUN_ON = 500
"""Maximum number of characters quoted from an answer that repeats itself, because a longer quote would invite more
repetition."""
_NO_ANSWER = "(no answer)"
"""Placeholder for an empty answer, because some endpoints reject empty messages."""
_INVISIBLE = "Without its invisible characters the answer does not fit the schema."
_TAIL = 2_000
_RUN_ON_SHARE = 0.1
"""Compression ratio of an answer's last characters below which the answer counts as repeating itself. JSON compresses
to about a third."""


class AnswerLengths:
    """Lengths of recent answers in tokens, by task and model. Most are far shorter than the maximum."""

    def __init__(self) -> None:
        self._latest: defaultdict[tuple[str, str], deque[int]] = defaultdict(lambda: deque(maxlen=_MEASURED))

    def add(self, request: ChatRequest, tokens: int) -> None:
        self._latest[request.task, request.model].append(tokens)

    def estimate(self, request: ChatRequest) -> int:
        """Return the tokens to reserve in the budget: the length of the longest recent answer or, until there are
        enough answers, the maximum."""
        latest = self._latest[request.task, request.model]
        return min(request.max_tokens, max(latest)) if len(latest) >= _MIN_MEASURED else request.max_tokens


@dataclass
class Asking:
    """Settings and services shared by all questions to an endpoint."""

    settings: LlmSettings
    transport: LlmTransport
    batches: "BatchTier | None" = None
    lengths: AnswerLengths = field(default_factory=AnswerLengths)
    estimating: bool = False
    """Whether the endpoint has been found not to report usage."""

    def __post_init__(self) -> None:
        initial_seconds, longest = self.settings.backoff_initial_seconds, self.settings.backoff_max_seconds
        self._jitter = wait_random(0, initial_seconds)
        self._backoff = wait_exponential(multiplier=initial_seconds, max=longest) + self._jitter

    def may_pass(self, error: BaseException) -> bool:
        """Return whether to retry. A transient failure is not retried if the endpoint asks for a longer wait than the
        settings allow."""
        return (
            isinstance(error, TransientLlmFailure)
            and (error.retry_after or 0.0) <= self.settings.retry_after_max_seconds
        )

    def wait(self, state: RetryCallState) -> float:
        """Return the delay before a retry: the endpoint's requested wait plus jitter or, if it requested none,
        exponential backoff with jitter."""
        failure = state.outcome.exception() if state.outcome is not None else None
        requested_seconds = failure.retry_after if isinstance(failure, TransientLlmFailure) else None
        return self._backoff(state) if requested_seconds is None else requested_seconds + self._jitter(state)


_REPAIRED_ONCE: Collection[FaultKind] = ("truncated", "refused_request")
"""Faults after which a second repair would usually end the same way."""


def _is_repeating(faults: Sequence[Fault]) -> bool:
    """Return whether the last fault is one that is repaired only once, and has occurred before."""
    last_kind = faults[-1].kind
    return last_kind in _REPAIRED_ONCE and sum(fault.kind == last_kind for fault in faults) > 1


class Conversation(Generic[In, Out]):
    """Exchange with a model about one of a run's questions, including repairs."""

    def __init__(
        self, asking: Asking, task: Task[In, Out], question: FittedQuestion[In], run: Run, usage: CallUsage
    ) -> None:
        self._asking, self._task, self._question, self._run, self._usage = asking, task, question, run, usage
        self._request = build_first_request(task, usage.model, question, asking.settings, run.answers_of)

    async def answer(self) -> Out:
        """Return the first valid answer.

        If none is valid, return the last one whose only fault is that it cites unknown sources, without those
        citations. If the task has advice on a valid answer, the answer is sent back once, and used unless a better one
        follows. Raises an LlmError if there is no usable answer, BudgetExhausted if the budget does not allow another
        attempt."""
        usage, without_unknown_citations, attempts = self._usage, None, 0
        improvable_answer: Out | None = None
        try:
            while True:
                attempts += 1
                completion = await self._send()
                given = parse_answer(completion, self._task.output)
                parsed = self._check_rules(given)
                if (
                    parsed.value is not None
                    and improvable_answer is None
                    and attempts <= self._asking.settings.repair_attempts
                ):
                    parsed, improvable_answer = self._apply_advice(parsed)
                elif improvable_answer is not None and parsed.value is None:
                    break
                if parsed.fault is not None:
                    usage.faults.append(parsed.fault)
                if parsed.value is not None:
                    return parsed.value
                without_unknown_citations = self._without_unknown_citations(given) or without_unknown_citations
                if attempts > self._asking.settings.repair_attempts or _is_repeating(usage.faults):
                    break
                self._request = build_repair_request(
                    self._request, completion, parsed, self._asking.settings, self._question
                )
        except (LlmError, BudgetExhausted):
            if without_unknown_citations is None and improvable_answer is None:
                raise
        if improvable_answer is not None:
            return improvable_answer
        if without_unknown_citations is None:
            raise self._no_answer(attempts)
        usage.redacted = without_unknown_citations.sentences
        value: Out = without_unknown_citations.value
        return value

    def _no_answer(self, tries: int) -> LlmError:
        faults = tuple(self._usage.faults)
        last_fault = faults[-1]
        message = (
            f"Model {self._request.model!r} gave no valid answer to task {self._task.name} in {_count_tries(tries)}. "
            f"Last fault: {last_fault.detail}."
        )
        if last_fault.kind == "refused_request":
            return RequestRefused(message, "", faults, last_fault.detail)
        return (AnswerRefused if last_fault.kind == "refusal" else MalformedAnswer)(message, faults=faults)

    def _check_rules(self, parsed: ParsedAnswer[Out]) -> ParsedAnswer[Out]:
        """Check the cleaned answer against the task's rules that the schema cannot express. A violation replaces an
        earlier fault, so that each answer has at most one fault."""
        if parsed.value is None:
            return parsed
        value = self._task.clean(self._question.data, parsed.value)
        complaints = [_INVISIBLE] if value is None else self._task.complaints(self._question.data, value)
        if not complaints:
            return parsed._replace(value=value)
        fault = Fault(kind="failed_check", detail=clip_line("; ".join(complaints)))
        return ParsedAnswer(None, fault, tuple(complaints))

    def _apply_advice(self, parsed: ParsedAnswer[Out]) -> tuple[ParsedAnswer[Out], Out | None]:
        """Return the fault to send back and the answer itself, if the task has advice on the answer; otherwise the
        answer unchanged and None. Models that need bounded answers do not follow advice."""
        value = parsed.value
        if value is None or self._asking.settings.bounded_answers:
            return parsed, None
        advice = list(self._task.advice(self._question.data, value))
        if not advice:
            return parsed, None
        fault = Fault(kind="failed_check", detail=clip_line("; ".join(advice)))
        return ParsedAnswer(None, fault, tuple(advice)), value

    def _without_unknown_citations(self, parsed: ParsedAnswer[Out]) -> RedactedAnswer | None:
        """Return the answer without its citations of unknown sources, as a fallback; None if it has other faults."""
        data = self._question.data
        value = None if parsed.value is None else self._task.clean(data, parsed.value)
        return None if value is None else self._task.redact(data, value)

    async def _send(self) -> Completion:
        """Send the request with retries. Raises LlmUnavailable if all fail, LlmRejected or RequestRefused if the
        endpoint rejects it, or BudgetExhausted."""
        asking, usage = self._asking, self._usage
        retrying = AsyncRetrying(
            stop=stop_after_attempt(asking.settings.max_attempts),
            wait=asking.wait,
            retry=retry_if_exception(asking.may_pass),
            reraise=True,
        )
        try:
            return await retrying(self._attempt)
        except TransientLlmFailure as failure:
            waits = "" if failure.retry_after is None else f" (it asked to wait {failure.retry_after:.0f} s)"
            raise LlmUnavailable(
                f"The LLM endpoint {asking.transport.address} did not answer in {_count_tries(usage.attempts)}. "
                f"Last failure: {str(failure).rstrip('.')}{waits}.",
                failure.hint,
                tuple(usage.faults),
            ) from failure
        except PermanentLlmFailure as failure:
            variable = asking.settings.variable_in_use
            error = rejection_error(failure, asking.transport.address, usage.model, variable, usage.faults)
            usage.faults = list(error.faults)
            raise error from failure

    async def _attempt(self) -> Completion:
        """Send the request once, within the budget, and count its usage."""
        run, request, usage, lengths = self._run, self._request, self._usage, self._asking.lengths
        estimate, price = request.prompt_tokens, usage.price
        max_cost = 0.0 if price is None else price.cost(estimate, lengths.estimate(request))
        reservation = await run.budget.reserve(max_cost, estimate)
        requester = Requester(run.id, get_urgency())
        spent_usd, spent_tokens = usage.cost_usd or 0.0, usage.prompt_tokens
        try:
            result = await self._complete(request, requester)
            if requester.sends:
                self._note_missing_usage(result.completion)
                billed_tokens, written_tokens = request.usage(result.completion)
                lengths.add(request, written_tokens)
                usage.add_answer(result.waited, billed_tokens, written_tokens, result.completion.cached_prompt_tokens)
        except TransientLlmFailure as failure:
            usage.faults.append(failure.fault)
            if failure.read is not None:
                usage.add_tokens(*request.usage_without_answer(failure.read))
            raise
        except asyncio.CancelledError:
            if requester.sends:
                # The endpoint has read the prompt and bills it. How much it had written is unknown.
                usage.add_tokens(estimate, 0)
            raise
        finally:
            usage.add_sends(requester)
            billed_tokens = usage.prompt_tokens - spent_tokens
            cost = None if price is None and billed_tokens else (usage.cost_usd or 0.0) - spent_usd
            run.budget.settle(reservation, cost, billed_tokens)
        return result.completion

    async def _complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        batches, until = self._asking.batches, self._run.waits_until
        if batches is None or until is None:
            return await self._asking.transport.complete(request, requester)
        return await batches.complete(request, requester, until)

    def _note_missing_usage(self, completion: Completion) -> None:
        if completion.prompt_tokens is None and not self._asking.estimating:
            self._asking.estimating = True
            _LOG.warning("%s does not report usage; tokens and costs are estimates", self._asking.transport.address)


def _count_tries(count: int) -> str:
    return "1 try" if count == 1 else f"{count} tries"


def build_first_request(
    task: Task[Any, Any], model: str, question: FittedQuestion[Any], settings: LlmSettings, answers_of: str = ""
) -> ChatRequest:
    output: type[BaseModel] = task.output
    bounded = build_bounded_schema(output, task.bounds(question.data)) if settings.bounded_answers else None
    return ChatRequest(
        model=model,
        task=task.name,
        messages=tuple(ChatMessage(message.role, message.content) for message in question.messages),
        repair_messages=(),
        schema=(bounded or answer_schema(output)).text,
        max_tokens=question.max_tokens,
        temperature=settings.temperature if task.temperature is None else task.temperature,
        # With the same seed, an endpoint that honours seeds would return the same answer for every sample.
        seed=None if settings.seed is None else settings.seed + task.sample,
        sample=task.sample,
        answers_of=answers_of,
    )


def build_repair_request(
    request: ChatRequest,
    completion: Completion,
    parsed: ParsedAnswer[Any],
    settings: LlmSettings,
    question: FittedQuestion[Any],
) -> ChatRequest:
    """Return a request that asks again, with the validator's error messages. Only the last unusable answer is included,
    so that the prompt does not keep growing."""
    answer, max_quoted, max_tokens = (
        (completion.text or completion.refusal).strip(),
        MAX_QUOTED_CHARS,
        request.max_tokens,
    )
    if parsed.fault is not None and parsed.fault.kind == "truncated":
        complaint = prompt_template("shorter").substitute()
        if _repeats_itself(answer):
            max_quoted = _QUOTED_RUN_ON
        else:
            max_tokens = max(max_tokens, min(2 * max_tokens, settings.max_answer_tokens))
    else:
        errors = "\n".join(f"- {error}" for error in parsed.errors)
        complaint = prompt_template("repair").substitute(errors=errors)
    max_quoted, max_tokens = question.room_for_repair(max_quoted, max_tokens)
    return request._replace(
        repair_messages=(ChatMessage("assistant", answer[:max_quoted] or _NO_ANSWER), ChatMessage("user", complaint)),
        max_tokens=max_tokens,
        repair_attempt=request.repair_attempt + 1,
    )


def _repeats_itself(answer: str) -> bool:
    """Return whether an answer ends by repeating the same text over and over, as small models sometimes do."""
    tail = answer[-_TAIL:].encode()
    return len(tail) >= _TAIL // 2 and len(zlib.compress(tail)) < _RUN_ON_SHARE * len(tail)
