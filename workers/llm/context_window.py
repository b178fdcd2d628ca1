"""Find out the context windows of an endpoint's models, and cut questions to fit them.

How a question is cut depends only on the question and the window, so that a resumed run asks the same questions and
finds the cached answers."""

import math
import operator
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from assayer.errors import RequestRefused
from assayer.llm import Task
from assayer.models import Message
from assayer.text.cutting import keep_beginning
from workers.llm.answer_schema import build_answer_schema
from workers.llm.chat_completion import estimate_tokens

In = TypeVar("In", bound=BaseModel)

_ANY_MODEL = ""
_ANSWER_SHARE = 1 / 3
"""Share of a window reserved for the answer, unless its task needs less."""
_OVERHEAD_TOKENS = 64
"""Number of tokens that a server's chat template adds."""
_QUOTED_SHARE = 1 / 4
"""Share of the rest of a window available for quoting an unusable answer, assuming one token per character."""
_MIN_ANSWER_TOKENS = 256
_SCHEMA_CHARS_PER_TOKEN = 4
"""Schema characters per token, without a safety margin: most servers of small models compile the schema into a grammar
instead of adding it to the prompt."""
_MIN_IDEA_CHARS = 500
_STEP_CHARS = 100
_SHRINK_FACTOR = 0.8
_WINDOW_FIELDS = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "max_context_length",
    "context_window",
    "n_ctx",
)
"""Names under which servers list a model's context window: vLLM, LM Studio, OpenRouter and others."""


class ContextWindows:
    """Context windows of an endpoint's models, in tokens, as far as they are known."""

    def __init__(self, configured: int | None) -> None:
        self._configured_window = configured
        self._listed_windows: Mapping[str, int] = {}
        self._stated_windows: dict[str, int] = {}
        """Context windows stated in refusals, by model."""

    def get_window(self, model: str) -> int | None:
        listed_tokens = self._listed_windows.get(model) or self._listed_windows.get(_ANY_MODEL)
        return self._stated_windows.get(model) or self._configured_window or listed_tokens

    def add(self, tokens_by_model: Mapping[str, int]) -> None:
        """Add the context windows that the endpoint lists."""
        self._listed_windows = tokens_by_model or self._listed_windows

    def learn(self, model: str, refusal: RequestRefused, question_window: int | None) -> bool:
        """Update the window after a question that was cut to `question_window` tokens was refused. Return whether a
        shorter question could be accepted."""
        named_tokens, known_tokens = refusal.context_tokens, self.get_window(model)
        if named_tokens is None:
            return False
        if known_tokens is None or named_tokens < known_tokens:
            self._stated_windows[model] = named_tokens
        elif known_tokens == question_window:  # the endpoint counts more tokens than we estimate
            self._stated_windows[model] = math.floor(known_tokens * _SHRINK_FACTOR)
        return True


def parse_listed_windows(models: object) -> dict[str, int]:
    """Return the context windows that a response to `GET /models` states, by model."""
    entries = models.get("data", models.get("models")) if isinstance(models, dict) else None
    windows: dict[str, int] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            meta = entry.get("meta")
            sizes = [entry.get(name) for name in _WINDOW_FIELDS] + [
                meta.get("n_ctx") if isinstance(meta, dict) else None
            ]
            size = next((size for size in sizes if isinstance(size, int) and size >= 1_024), None)
            if size is not None:
                windows[entry["id"]] = size
    return windows


def parse_props_window(props: object) -> dict[str, int]:
    """Return the context window of one slot from llama.cpp's `GET /props`; it applies to any model name."""
    generation = props.get("default_generation_settings") if isinstance(props, dict) else None
    size = generation.get("n_ctx") if isinstance(generation, dict) else None
    return {_ANY_MODEL: size} if isinstance(size, int) and size > 0 else {}


class FittedQuestion(NamedTuple, Generic[In]):
    """Question, shortened if necessary to fit a context window."""

    data: In
    messages: tuple[Message, ...]
    max_tokens: int
    """Maximum number of tokens in the answer."""
    window: int | None = None
    tokens: int = 0
    """Estimated tokens of the messages and the schema, if a window is known."""
    dropped: tuple[tuple[str, int], ...] = ()
    """Kinds of entries that were removed to make the question fit, as nouns, with how many were removed."""
    unread_chars: int = 0
    """Number of characters removed from the idea."""

    def compute_repair_room(self, quoted: int, max_tokens: int) -> tuple[int, int]:
        """Return how many characters of an unusable answer, at most `quoted`, and how many tokens of the next answer,
        at most `max_tokens`, fit into the window together with the question."""
        if self.window is None:
            return quoted, max_tokens
        max_answer_tokens = max(_MIN_ANSWER_TOKENS, self.window - 4 * _OVERHEAD_TOKENS - self.tokens)
        quoted = min(quoted, int(max_answer_tokens * _QUOTED_SHARE))
        return quoted, min(max_tokens, max_answer_tokens - quoted)


def fit_question(task: Task[In, Any], data: In, window: int | None, max_tokens: int) -> FittedQuestion[In]:
    """Cut a question so that it and its answer fit a context window.

    First, entries are removed from the end of the task's `cuts`, where the least relevant ones are; then the end of the
    idea is cut. The result may still be too long. The answer is limited to `max_tokens` tokens and to the task's own
    limit."""
    messages, max_tokens = task.messages(data), min(max_tokens, task.max_tokens)
    if window is None:
        return FittedQuestion(data, messages, max_tokens)
    cutter = _Cutter(task, window - _OVERHEAD_TOKENS - min(max_tokens, int(window * _ANSWER_SHARE)))
    tokens = cutter.count_tokens(messages)
    dropped, unread = [], 0
    question = data
    for field, noun in task.cuts:
        if tokens <= cutter.max_tokens:
            break
        question, tokens = cutter.cut(question, field, range(1, len(getattr(data, field)) + 1), operator.getitem)
        if (removed := len(getattr(data, field)) - len(getattr(question, field))) > 0:
            dropped.append((noun, removed))
    idea = getattr(question, "idea", None)
    if tokens > cutter.max_tokens and isinstance(idea, str):
        sizes = range(_MIN_IDEA_CHARS, len(idea), _STEP_CHARS)
        question, tokens = cutter.cut(question, "idea", sizes, lambda text, size: keep_beginning(text, size.stop))
        unread = len(idea) - len(getattr(question, "idea"))  # noqa: B009 - a field that not every question has
    answer = min(max_tokens, max(_MIN_ANSWER_TOKENS, window - _OVERHEAD_TOKENS - tokens))
    return FittedQuestion(question, task.messages(question), answer, window, tokens, tuple(dropped), unread)


class _Cutter(Generic[In]):
    """Shortens one task's questions to at most `max_tokens` tokens."""

    def __init__(self, task: Task[In, Any], max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self._task = task
        output: type[BaseModel] = task.output
        self._schema_tokens = len(build_answer_schema(output).text) // _SCHEMA_CHARS_PER_TOKEN

    def count_tokens(self, messages: Sequence[Message]) -> int:
        return self._schema_tokens + estimate_tokens(*(message.content for message in messages))

    def cut(
        self, question: In, field: str, sizes: Sequence[int], beginning: Callable[[Any, slice], Any]
    ) -> tuple[In, int]:
        """Return the question with the longest beginning of the field that fits (or, if none fits, the shortest), and
        its number of tokens."""
        content = getattr(question, field)

        def shorten(size: int) -> In:
            return question.model_copy(update={field: beginning(content, slice(size))})

        def count_tokens(size: int) -> int:
            return self.count_tokens(self._task.messages(shorten(size)))

        if not sizes:
            return question, self.count_tokens(self._task.messages(question))
        size = sizes[max(bisect_right(sizes, self.max_tokens, key=count_tokens) - 1, 0)]
        return shorten(size), count_tokens(size)
