"""LLM transport that answers with the policy in training. Requests from many rollouts are sampled together, and their
tokens are kept."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from assayer.errors import RequestRefused
from assayer.models import Fault
from workers.llm.chat_completion import ChatMessage, ChatRequest, ChatResult, Requester
from workers.llm.completion import Completion
from workers.llm.dialect_fallback import Dialect
from workers.policy_training.policy_conversation import PolicyConversation, PolicyTemplate, WrittenTokens
from workers.policy_training.trajectories import TrajectoryTokens

Generate = Callable[[Sequence[Sequence[int]]], list[WrittenTokens]]
"""Function that returns the tokens that the policy generates after each context."""

_POLICY_DIALECT = Dialect("prompt", may_step_down=False)
"""The policy's dialect: the answer's schema is in the prompt, because sampling is not constrained."""


class _WaitingRequest(NamedTuple):
    rollout: str
    context: tuple[int, ...]
    tokens: "asyncio.Future[WrittenTokens]"


class GenerationWaves:
    """Samples for all rollouts together, in batches. Sampling starts when every active rollout is waiting for an
    answer, so that batches do not depend on timing. Sampling blocks the event loop, but the loop has no other work at
    that time."""

    def __init__(self, generate: Generate, rollouts: Sequence[str], at_once: int) -> None:
        """Create the sampler. `at_once` is the maximum number of contexts per batch."""
        self._generate, self._at_once = generate, at_once
        self._active_rollouts = set(rollouts)
        self._positions = {name: number for number, name in enumerate(rollouts)}
        self._waiting_requests: list[_WaitingRequest] = []
        self._change_event = asyncio.Event()

    async def serve(self) -> None:
        """Sample until all rollouts have ended. Exceptions from `generate` propagate."""
        while self._active_rollouts:
            await self._change_event.wait()
            self._change_event.clear()
            self._waiting_requests = [item for item in self._waiting_requests if not item.tokens.done()]
            if self._waiting_requests and self._active_rollouts <= {item.rollout for item in self._waiting_requests}:
                self._sample()

    async def generate(self, rollout: str, context: tuple[int, ...]) -> WrittenTokens:
        future: asyncio.Future[WrittenTokens] = asyncio.get_running_loop().create_future()
        self._waiting_requests.append(_WaitingRequest(rollout, context, future))
        self._change_event.set()
        return await future

    def remove(self, rollout: str) -> None:
        """Remove a rollout that has ended, so that sampling no longer waits for it."""
        self._active_rollouts.discard(rollout)
        self._change_event.set()

    def _sample(self) -> None:
        wave, self._waiting_requests = (
            sorted(self._waiting_requests, key=lambda item: self._positions[item.rollout]),
            [],
        )
        for start in range(0, len(wave), self._at_once):
            batch = wave[start : start + self._at_once]
            for item, text in zip(batch, self._generate([item.context for item in batch]), strict=True):
                item.tokens.set_result(text)


class PolicyTransport:
    """Answers requests with the policy in training. Implements `workers.llm.chat_completion.LlmTransport`."""

    address = "the policy in training"

    def __init__(self, template: PolicyTemplate, waves: GenerationWaves, most_prompt_tokens: int) -> None:
        self._template, self._waves, self._max_prompt_tokens = template, waves, most_prompt_tokens
        self._calls: dict[str, dict[tuple[object, ...], PolicyConversation]] = {}
        self.too_long: dict[str, str] = {}
        """Error message, by rollout, for rollouts with a prompt that was too long."""

    def list_calls(self, run: str) -> tuple[TrajectoryTokens, ...]:
        """Return one rollout's answered calls, in the order of their requests."""
        return tuple(item.to_tokens() for item in self._calls.get(run, {}).values() if item.is_answered)

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        """Have the policy answer a request. Raises RequestRefused if the prompt is too long. The error names no context
        window, so that the gateway does not cut the question."""
        call = self._call(request, requester.run)
        context = call.context
        if len(context) > self._max_prompt_tokens:
            reason = f"a prompt has {len(context):,} tokens; the limit is {self._max_prompt_tokens:,}."
            self.too_long[requester.run] = reason
            raise RequestRefused(reason, "", (Fault(kind="refused_request", detail=reason),))
        requester.record_send(0.0)
        generated_tokens = await self._waves.generate(requester.run, context)
        answer_tokens = WrittenTokens(
            generated_tokens.ids[: request.max_tokens], generated_tokens.logprobs[: request.max_tokens]
        )
        call.add_answer(answer_tokens)
        is_complete = answer_tokens.ids[-1] in self._template.end_tokens
        text = self._template.decode_text(answer_tokens.ids)
        answer = Completion(text, "", "stop" if is_complete else "length", len(context), len(answer_tokens.ids))
        return ChatResult(answer)

    def _call(self, request: ChatRequest, run: str) -> PolicyConversation:
        calls = self._calls.setdefault(run, {})
        key = (request.task, request.messages, request.sample)
        if request.repair_attempt:
            calls[key].add_complaint(request.repair_messages[-1])
        else:
            calls[key] = PolicyConversation(self._template, self._convert_messages(request))
        return calls[key]

    def _convert_messages(self, request: ChatRequest) -> list[ChatMessage]:
        return [ChatMessage(item["role"], item["content"]) for item in request.build_body(_POLICY_DIALECT)["messages"]]

    async def reach(self) -> Mapping[str, int]:
        """Return no context windows. The policy is always reachable."""
        return {}

    async def probe(self, model: str) -> None:
        """Do nothing, because the policy always answers."""

    async def aclose(self) -> None:
        """Do nothing, because the policy belongs to the trainer."""
