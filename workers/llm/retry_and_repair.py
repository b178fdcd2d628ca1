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
from workers.llm.answer_schema import build_answer_schema, build_bounded_schema
from workers.llm.chat_completion import (
    ChatMessage,
    ChatRequest,
    ChatResult,
    LlmTransport,
    Requester,
    load_prompt_template,
)
from workers.llm.completion import Completion
from workers.llm.context_window import FittedQuestion
from workers.llm.error_body import clip_line
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure, build_rejection_error
from workers.llm.ledger import CallUsage
from workers.llm.settings import LlmSettings

if TYPE_CHECKING:
    from workers.llm.batches.batch_tier import BatchTier

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_LOG = logging.getLogger(__name__)
_MAX_MEASURED_ANSWERS = 64
"""Number of recent answers to a task, of which the longest is the estimate for the next answer."""
_MIN_MEASURED_ANSWERS = 8
MAX_QUOTED_CHARS = 12_000
"""Maximum number of characters of an unusable answer that are sent back with its errors."""
_MAX_QUOTED_REPETITION_CHARS = 500
"""Maximum number of characters quoted from an answer that repeats itself, because a longer quote would invite more
repetition."""
_NO_ANSWER = "(no answer)"
"""Placeholder for an empty answer, because some endpoints reject empty messages."""
_INVISIBLE_COMPLAINT = "Without its invisible characters the answer does not fit the schema."
_TAIL_CHARS = 2_000
_REPETITION_RATIO = 0.1
"""Compression ratio of an answer's last characters below which the answer counts as repeating itself. JSON compresses
to about a third."""


class AnswerLengths:
    """Lengths of recent answers in tokens, by task and model. Most are far shorter than the maximum."""

    def __init__(self) -> None:
        self._latest: defaultdict[tuple[str, str], deque[int]] = defaultdict(
            lambda: deque(maxlen=_MAX_MEASURED_ANSWERS)
        )

    def add(self, request: ChatRequest, tokens: int) -> None:
        self._latest[request.task, request.model].append(tokens)

    def estimate(self, request: ChatRequest) -> int:
        """Return the tokens to reserve in the budget: the length of the longest recent answer or, until there are
        enough answers, the maximum."""
        latest = self._latest[request.task, request.model]
        return min(request.max_tokens, max(latest)) if len(latest) >= _MIN_MEASURED_ANSWERS else request.max_tokens


@dataclass
class AnswerServices:
    """Settings and services shared by all questions to an endpoint."""

    settings: LlmSettings
    transport: LlmTransport
    batches: "BatchTier | None" = None
    answer_lengths: AnswerLengths = field(default_factory=AnswerLengths)
    is_estimating_usage: bool = False
    """Whether the endpoint has been found not to report usage."""

    def __post_init__(self) -> None:
        initial_seconds, longest = self.settings.backoff_initial_seconds, self.settings.backoff_max_seconds
        self._jitter = wait_random(0, initial_seconds)
        self._backoff = wait_exponential(multiplier=initial_seconds, max=longest) + self._jitter

    def should_retry(self, error: BaseException) -> bool:
        """Return whether to retry. A transient failure is not retried if the endpoint asks for a longer wait than the
        settings allow."""
        return (
            isinstance(error, TransientLlmFailure)
            and (error.retry_after or 0.0) <= self.settings.retry_after_max_seconds
        )

    def compute_delay(self, state: RetryCallState) -> float:
        """Return the delay before a retry: the endpoint's requested wait plus jitter or, if it requested none,
        exponential backoff with jitter."""
        failure = state.outcome.exception() if state.outcome is not None else None
        requested_seconds = failure.retry_after if isinstance(failure, TransientLlmFailure) else None
        return self._backoff(state) if requested_seconds is None else requested_seconds + self._jitter(state)


_FAULTS_REPAIRED_ONCE: Collection[FaultKind] = ("truncated", "refused_request")
"""Faults after which a second repair would usually end the same way."""


def _is_repeating(faults: Sequence[Fault]) -> bool:
    """Return whether the last fault is one that is repaired only once, and has occurred before."""
    last_kind = faults[-1].kind
    return last_kind in _FAULTS_REPAIRED_ONCE and sum(fault.kind == last_kind for fault in faults) > 1


class Conversation(Generic[In, Out]):
    """Exchange with a model about one of a run's questions, including repairs."""

    def __init__(
        self, services: AnswerServices, task: Task[In, Out], question: FittedQuestion[In], run: Run, usage: CallUsage
    ) -> None:
        self._services, self._task, self._question, self._run, self._usage = services, task, question, run, usage
        self._request = build_first_request(task, usage.model, question, services.settings, run.answers_of)

    async def get_answer(self) -> Out:
        """Return the first valid answer.

        If none is valid, return the last one whose only fault is that it cites unknown sources, without those
        citations. If the task has advice on a valid answer, the answer is sent back once, and used unless a better one
        follows. Raises an LlmError if there is no usable answer, BudgetExhausted if the budget does not allow another
        attempt."""
        usage, fallback_answer, attempts = self._usage, None, 0
        improvable_answer: Out | None = None
        try:
            while True:
                attempts += 1
                completion = await self._send()
                parsed_answer = parse_answer(completion, self._task.output)
                parsed = self._check_rules(parsed_answer)
                if (
                    parsed.value is not None
                    and improvable_answer is None
                    and attempts <= self._services.settings.repair_attempts
                ):
                    parsed, improvable_answer = self._apply_advice(parsed)
                elif improvable_answer is not None and parsed.value is None:
                    break
                if parsed.fault is not None:
                    usage.faults.append(parsed.fault)
                if parsed.value is not None:
                    return parsed.value
                fallback_answer = self._remove_unknown_citations(parsed_answer) or fallback_answer
                if attempts > self._services.settings.repair_attempts or _is_repeating(usage.faults):
                    break
                self._request = build_repair_request(
                    self._request, completion, parsed, self._services.settings, self._question
                )
        except (LlmError, BudgetExhausted):
            if fallback_answer is None and improvable_answer is None:
                raise
        if improvable_answer is not None:
            return improvable_answer
        if fallback_answer is None:
            raise self._build_no_answer_error(attempts)
        usage.redacted = fallback_answer.sentences
        value: Out = fallback_answer.value
        return value

    def _build_no_answer_error(self, attempts: int) -> LlmError:
        faults = tuple(self._usage.faults)
        last_fault = faults[-1]
        message = (
            f"Model {self._request.model!r} gave no valid answer to task {self._task.name} "
            f"in {_format_tries(attempts)}. "
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
        complaints = [_INVISIBLE_COMPLAINT] if value is None else self._task.complaints(self._question.data, value)
        if not complaints:
            return parsed._replace(value=value)
        fault = Fault(kind="failed_check", detail=clip_line("; ".join(complaints)))
        return ParsedAnswer(None, fault, tuple(complaints))

    def _apply_advice(self, parsed: ParsedAnswer[Out]) -> tuple[ParsedAnswer[Out], Out | None]:
        """Return the fault to send back and the answer itself, if the task has advice on the answer; otherwise the
        answer unchanged and None. Models that need bounded answers do not follow advice."""
        value = parsed.value
        if value is None or self._services.settings.bounded_answers:
            return parsed, None
        advice = list(self._task.advice(self._question.data, value))
        if not advice:
            return parsed, None
        fault = Fault(kind="failed_check", detail=clip_line("; ".join(advice)))
        return ParsedAnswer(None, fault, tuple(advice)), value

    def _remove_unknown_citations(self, parsed: ParsedAnswer[Out]) -> RedactedAnswer | None:
        """Return the answer without its citations of unknown sources, as a fallback; None if it has other faults."""
        data = self._question.data
        value = None if parsed.value is None else self._task.clean(data, parsed.value)
        return None if value is None else self._task.redact(data, value)

    async def _send(self) -> Completion:
        """Send the request with retries. Raises LlmUnavailable if all fail, LlmRejected or RequestRefused if the
        endpoint rejects it, or BudgetExhausted."""
        services, usage = self._services, self._usage
        retrying = AsyncRetrying(
            stop=stop_after_attempt(services.settings.max_attempts),
            wait=services.compute_delay,
            retry=retry_if_exception(services.should_retry),
            reraise=True,
        )
        try:
            return await retrying(self._send_once)
        except TransientLlmFailure as failure:
            wait_note = "" if failure.retry_after is None else f" (it asked to wait {failure.retry_after:.0f} s)"
            raise LlmUnavailable(
                f"The LLM endpoint {services.transport.address} did not answer in {_format_tries(usage.attempts)}. "
                f"Last failure: {str(failure).rstrip('.')}{wait_note}.",
                failure.hint,
                tuple(usage.faults),
            ) from failure
        except PermanentLlmFailure as failure:
            variable = services.settings.variable_in_use
            error = build_rejection_error(failure, services.transport.address, usage.model, variable, usage.faults)
            usage.faults = list(error.faults)
            raise error from failure

    async def _send_once(self) -> Completion:
        """Send the request once, within the budget, and count its usage."""
        run, request, usage, lengths = self._run, self._request, self._usage, self._services.answer_lengths
        estimate, price = request.prompt_tokens, usage.price
        max_cost = 0.0 if price is None else price.compute_cost(estimate, lengths.estimate(request))
        reservation = await run.budget.reserve(max_cost, estimate)
        requester = Requester(run.id, get_urgency())
        spent_usd, spent_tokens = usage.cost_usd or 0.0, usage.prompt_tokens
        try:
            result = await self._complete_request(request, requester)
            if requester.sends:
                self._record_missing_usage(result.completion)
                billed_tokens, written_tokens = request.count_usage(result.completion)
                lengths.add(request, written_tokens)
                usage.add_answer(result.waited, billed_tokens, written_tokens, result.completion.cached_prompt_tokens)
        except TransientLlmFailure as failure:
            usage.faults.append(failure.fault)
            if failure.read_tokens is not None:
                usage.add_tokens(*request.count_usage_without_answer(failure.read_tokens))
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

    async def _complete_request(self, request: ChatRequest, requester: Requester) -> ChatResult:
        batches, until = self._services.batches, self._run.waits_until
        if batches is None or until is None:
            return await self._services.transport.complete(request, requester)
        return await batches.complete(request, requester, until)

    def _record_missing_usage(self, completion: Completion) -> None:
        if completion.prompt_tokens is None and not self._services.is_estimating_usage:
            self._services.is_estimating_usage = True
            _LOG.warning("%s does not report usage; tokens and costs are estimates", self._services.transport.address)


def _format_tries(count: int) -> str:
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
        schema=(bounded or build_answer_schema(output)).text,
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
        complaint = load_prompt_template("shorter").substitute()
        if _is_repetitive(answer):
            max_quoted = _MAX_QUOTED_REPETITION_CHARS
        else:
            max_tokens = max(max_tokens, min(2 * max_tokens, settings.max_answer_tokens))
    else:
        errors = "\n".join(f"- {error}" for error in parsed.errors)
        complaint = load_prompt_template("repair").substitute(errors=errors)
    max_quoted, max_tokens = question.compute_repair_room(max_quoted, max_tokens)
    return request._replace(
        repair_messages=(ChatMessage("assistant", answer[:max_quoted] or _NO_ANSWER), ChatMessage("user", complaint)),
        max_tokens=max_tokens,
        repair_attempt=request.repair_attempt + 1,
    )


def _is_repetitive(answer: str) -> bool:
    """Return whether an answer ends by repeating the same text over and over, as small models sometimes do."""
    tail = answer[-_TAIL_CHARS:].encode()
    return len(tail) >= _TAIL_CHARS // 2 and len(zlib.compress(tail)) < _REPETITION_RATIO * len(tail)
