"""Does the endpoint answer, with this key, for this model? In words that `assayer doctor` can print."""

from typing import Any

from assayer.errors import LlmRejected, LlmUnavailable
from workers.llm.dialect import Dialect
from workers.llm.failures import PermanentFailure, TransientFailure
from workers.llm.rejections import explain
from workers.llm.speaker import Speaker

__all__ = ["probe"]

DEADLINE_SECONDS = 20.0
_LONGEST_ANSWER = 16


async def probe(speaker: Speaker, model: str) -> None:
    """One tiny question, no retries. Raises LlmRejected (wrong key, unknown model, …) or LlmUnavailable."""

    def body(dialect: Dialect) -> dict[str, Any]:
        question = {"role": "user", "content": "Answer with the single word: yes"}
        return {"model": model, "messages": [question], dialect.tokens_field: _LONGEST_ANSWER}

    try:
        await speaker.ask(model, body, lambda: None, DEADLINE_SECONDS)
    except PermanentFailure as failure:
        raise LlmRejected(*explain(failure, speaker.address, model)) from None
    except TransientFailure as failure:
        if failure.fault.kind in {"connection", "timeout"}:
            raise LlmUnavailable(
                f"The LLM endpoint {speaker.address} is down: {failure}.",
                "Check that it runs and that ASSAYER_LLM__BASE_URL is right.",
            ) from None
        raise LlmUnavailable(
            f"The LLM endpoint {speaker.address} is there but does not answer model {model!r}: {failure}.",
            "Try again later.",
        ) from None
