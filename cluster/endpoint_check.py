"""Test request to the language model for `assayer doctor`, which shows how JSON was requested, whether the answer is
valid, and how fast it is."""

from typing import NamedTuple

from pydantic import BaseModel

from assayer.errors import LlmRejected, LlmUnavailable
from assayer.models import Fault
from assayer.ports import Clock
from cluster.methods import METHODS
from workers.llm import LlmSettings
from workers.llm.answer_parsing import parse_answer
from workers.llm.answer_schema import build_answer_schema
from workers.llm.chat_completion import ChatMessage, ChatRequest, Requester
from workers.llm.context_window import ContextWindows
from workers.llm.dialect_fallback import StructuredMode
from workers.llm.endpoint import LlmEndpoint
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure, explain_rejection
from workers.llm.providers import find_provider

_QUESTION = (
    "Fill in the form about this plan, each text in at most ten words, each list with at most one entry: we ask "
    "whether shade helps seedlings through a dry summer; plots are drawn by lot, survival is counted weekly."
)
_MAX_TOKENS = 4_000
_FORMS: dict[StructuredMode, str] = {
    "json_schema": "JSON mode with a schema",
    "json_object": "JSON mode without a schema; the schema is in the prompt",
    "prompt": "no JSON mode; the schema is in the prompt",
}


class StructuredAnswer(NamedTuple):
    structured: StructuredMode
    """Way in which JSON was requested, after any fallbacks."""
    fault: Fault | None
    """Fault in the answer; None if it is valid."""
    tokens: int
    """Number of tokens in the answer."""
    seconds: float
    context: int | None
    """Context window in tokens, as stated by the settings, the endpoint or the provider's documentation; None if
    unknown."""

    def __str__(self) -> str:
        fits = "is valid" if self.fault is None else f"is invalid ({self.fault.detail}) and would be rejected"
        window = f"{self.context:,} tokens" if self.context else "not stated"
        speed = (
            f"{self.tokens:,} tokens in {self.seconds:,.1f} s ({self.tokens / max(self.seconds, 1e-3):,.0f} tokens/s)"
        )
        return (
            f"{_FORMS[self.structured]}; the answer to the request with the largest schema {fits}; {speed}. "
            f"Context window: {window}."
        )


async def ask_with_largest_schema(endpoint: LlmEndpoint, settings: LlmSettings, clock: Clock) -> StructuredAnswer:
    """Send the strong-tier model a request with the largest answer schema of all tasks. Raises LlmRejected if the
    endpoint rejects it, LlmUnavailable if the endpoint does not respond."""
    output = _choose_largest_output()
    schema = build_answer_schema(output).text
    question = ChatMessage("user", _QUESTION)
    request = ChatRequest(
        model=settings.model,
        task="doctor.form",
        messages=(question,),
        repair_messages=(),
        schema=schema,
        max_tokens=_MAX_TOKENS,
        temperature=settings.temperature,
        seed=settings.seed,
    )
    windows = ContextWindows(settings.context_tokens)
    try:
        windows.add(await endpoint.reach())
        started = clock.monotonic()
        completion = (await endpoint.complete(request, Requester("doctor"))).completion
    except PermanentLlmFailure as failure:
        text = explain_rejection(failure, endpoint.address, settings.model, settings.variable_in_use)
        raise LlmRejected(*text) from None
    except TransientLlmFailure as failure:
        raise LlmUnavailable(f"The request with the largest schema failed: {failure}.") from None
    seconds = clock.monotonic() - started
    provider = find_provider(settings.base_url)
    return StructuredAnswer(
        structured=endpoint.get_dialect(settings.model).structured,
        fault=parse_answer(completion, output).fault,
        tokens=request.count_usage(completion)[1],
        seconds=seconds,
        context=windows.get_window(settings.model) or (provider[1].model(settings.model).context if provider else None),
    )


def _choose_largest_output() -> type[BaseModel]:
    outputs: list[type[BaseModel]] = [task.output for method in METHODS.values() for task in method.tasks]
    return max(outputs, key=lambda output: len(build_answer_schema(output).text))
