"""One call of a task as a token sequence that contains exactly the tokens that the policy sampled.

Rendering and tokenizing an answer again might yield tokens other than the sampled ones. When an answer is sent back,
the text that the chat template puts after it is therefore appended to the existing tokens."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from assayer.errors import ConfigurationError
from workers.llm.chat_completion import ChatMessage
from workers.policy_training.trajectories import TrajectorySegment, TrajectoryTokens, join_segments

_PLACEHOLDER = "\u241e an answer \u241e"
"""Placeholder for an answer, used to find the text that the template puts after it."""


class WrittenTokens(NamedTuple):
    """Tokens that the policy generated in one answer, including the end token if it was reached."""

    ids: tuple[int, ...]
    logprobs: tuple[float | None, ...] = ()


class PolicyTemplate:
    """Chat template of a policy's tokenizer. Special tokens in message texts are broken up, so that text from a paper
    cannot end or begin a message."""

    def __init__(self, tokenizer: Any, end_tokens: frozenset[int]) -> None:
        """Create a template. `end_tokens` are the tokens that end an answer. Raises ConfigurationError if the tokenizer
        has no chat template."""
        if not getattr(tokenizer, "chat_template", None):
            raise ConfigurationError(
                "The policy's tokenizer has no chat template, which is needed to convert prompts to tokens.",
                "Use an instruction-tuned model.",
            )
        self._tokenizer, self.end_tokens = tokenizer, end_tokens
        special = [str(token) for token in tokenizer.added_tokens_decoder.values() if token.special]
        self._marks = {item: f"{item[0]} {item[1:]}" for item in special if len(item) > 1}

    def render_prompt(self, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
        """Return the tokens of the messages, up to where the answer begins."""
        return self._tokenize(self._render(messages))

    def render_complaint(
        self, messages: Sequence[ChatMessage], complaint: ChatMessage, end_token: int
    ) -> tuple[int, ...]:
        """Return the tokens between an answer, whose last token is `end_token`, and the next answer."""
        *_, text_after = self._render((*messages, ChatMessage("assistant", _PLACEHOLDER), complaint)).partition(
            _PLACEHOLDER
        )
        if not text_after:
            raise ConfigurationError(
                "The policy's chat template drops earlier answers, so the model cannot be asked to correct an answer.",
                "Choose a model with a different chat template.",
            )
        ids = self._tokenize(text_after)
        return ids[1:] if end_token in self.end_tokens and ids[0] in self.end_tokens else ids

    def decode_text(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))

    def _render(self, messages: Sequence[ChatMessage]) -> str:
        chat = [{"role": message.role, "content": self._neutralise(message.content)} for message in messages]
        return str(self._tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))

    def _neutralise(self, text: str) -> str:
        for mark, broken in self._marks.items():
            text = text.replace(mark, broken)
        return text

    def _tokenize(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])


class PolicyConversation:
    """Prompt and answer and, after each unusable answer, a complaint and the next answer."""

    def __init__(self, template: PolicyTemplate, messages: Sequence[ChatMessage]) -> None:
        self._template, self._messages = template, messages
        self._segments = [TrajectorySegment(template.render_prompt(messages), False)]

    @property
    def context(self) -> tuple[int, ...]:
        """Return all tokens so far. They are the context for sampling the next answer."""
        return tuple(token for segment in self._segments for token in segment.ids)

    @property
    def is_answered(self) -> bool:
        return any(segment.generated for segment in self._segments)

    def add_answer(self, tokens: WrittenTokens) -> None:
        self._segments.append(TrajectorySegment(tokens.ids, True, tokens.logprobs))

    def add_complaint(self, complaint: ChatMessage) -> None:
        end_token = self._segments[-1].ids[-1]
        new_tokens = self._template.render_complaint(self._messages, complaint, end_token)
        self._segments.append(TrajectorySegment(new_tokens, False))

    def to_tokens(self) -> TrajectoryTokens:
        """Return the conversation's tokens. Raises InputError if there is no answer."""
        return join_segments(self._segments)
