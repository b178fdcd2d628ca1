"""The policy in training in place of an endpoint: requests of many rollouts, sampled together and kept as tokens."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from workers.llm.chat_completion import ChatMessage, ChatRequest, ChatResult, Completion, Dialect, Requester
from workers.llm.errors import ErrorBody, PermanentLlmFailure, SendStats
from workers.policy_training.policy_conversation import PolicyConversation, PolicyTemplate, WrittenTokens
from workers.policy_training.trajectories import TrajectoryTokens

__all__ = ["Generate", "GenerationWaves", "PolicyTransport"]

Generate = Callable[[Sequence[Sequence[int]]], list[WrittenTokens]]
"""Contexts to what the policy writes after each."""

_IN_WORDS = Dialect("prompt", steps_down=False)
"""Nothing constrains what is sampled: the schema of an answer stands in the prompt."""


class _Waiting(NamedTuple):
    rollout: str
    context: tuple[int, ...]
    written: "asyncio.Future[WrittenTokens]"


class GenerationWaves:
    """Samples once every rollout that still goes on waits for an answer: whole batches, without a clock deciding what
    is in them. Sampling blocks the event loop, as there is nothing else to do."""

    def __init__(self, generate: Generate, rollouts: Sequence[str], at_once: int) -> None:
        """`at_once`: contexts a batch."""
        self._generate, self._at_once = generate, at_once
        self._going = set(rollouts)
        self._place = {name: number for number, name in enumerate(rollouts)}
        self._waiting: list[_Waiting] = []
        self._changed = asyncio.Event()

    async def serve(self) -> None:
        """Until all rollouts have left. What `generate` raises passes through."""
        while self._going:
            await self._changed.wait()
            self._changed.clear()
            self._waiting = [one for one in self._waiting if not one.written.done()]
            if self._waiting and self._going <= {one.rollout for one in self._waiting}:
                self._sample()

    async def written(self, rollout: str, context: tuple[int, ...]) -> WrittenTokens:
        future: asyncio.Future[WrittenTokens] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(rollout, context, future))
        self._changed.set()
        return await future

    def left(self, rollout: str) -> None:
        """It is over, and nobody waits for it any more."""
        self._going.discard(rollout)
        self._changed.set()

    def _sample(self) -> None:
        wave, self._waiting = sorted(self._waiting, key=lambda one: self._place[one.rollout]), []
        for start in range(0, len(wave), self._at_once):
            batch = wave[start : start + self._at_once]
            for one, text in zip(batch, self._generate([one.context for one in batch]), strict=True):
                one.written.set_result(text)


class PolicyTransport:
    """Implements `workers.llm.chat_completion.LlmTransport`."""

    address = "the policy in training"

    def __init__(self, template: PolicyTemplate, waves: GenerationWaves, most_prompt_tokens: int) -> None:
        self._template, self._waves, self._most = template, waves, most_prompt_tokens
        self._calls: dict[str, dict[tuple[object, ...], PolicyConversation]] = {}
        self.too_long: dict[str, str] = {}
        """By rollout: what was not asked, and why."""

    def calls_of(self, run: str) -> tuple[TrajectoryTokens, ...]:
        """Calls of one rollout that were answered, in the order in which they were asked."""
        return tuple(one.tokens() for one in self._calls.get(run, {}).values() if one.answered)

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        """Raises PermanentLlmFailure for a prompt that is too long."""
        call = self._call(request, requester.run)
        context = call.context
        if len(context) > self._most:
            told = f"a prompt has {len(context):,} tokens, and may have {self._most:,}."
            self.too_long[requester.run] = told
            raise PermanentLlmFailure("too_long", 413, ErrorBody(told, "", ""))
        written = await self._waves.written(requester.run, context)
        kept = WrittenTokens(written.ids[: request.max_tokens], written.logprobs[: request.max_tokens])
        call.wrote(kept)
        ended = kept.ids[-1] in self._template.ends
        text = self._template.text(kept.ids)
        answer = Completion(text, "", "stop" if ended else "length", len(context), len(kept.ids))
        return ChatResult(answer, SendStats(1))

    def _call(self, request: ChatRequest, run: str) -> PolicyConversation:
        calls = self._calls.setdefault(run, {})
        key = (request.task, request.messages, request.sample)
        if request.repair_attempt:
            calls[key].asked_again(request.repair_messages[-1])
        else:
            calls[key] = PolicyConversation(self._template, self._asked(request))
        return calls[key]

    def _asked(self, request: ChatRequest) -> list[ChatMessage]:
        return [ChatMessage(one["role"], one["content"]) for one in request.body(_IN_WORDS)["messages"]]

    async def reach(self) -> None:
        """It is here."""

    async def probe(self, model: str) -> None:
        """It answers."""

    async def aclose(self) -> None:
        """It is the trainer's."""
