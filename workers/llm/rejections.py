"""Permanent failures in plain words: what the endpoint said, and which setting to look at."""

from collections.abc import Sequence
from typing import NamedTuple

from assayer.errors import AnswerRefused, LlmError, LlmRejected
from assayer.models import Fault
from workers.llm.failures import PermanentFailure

__all__ = ["Explanation", "explain", "rejection"]


class Explanation(NamedTuple):
    message: str
    hint: str


def explain(failure: PermanentFailure, address: str, model: str) -> Explanation:
    """Never quotes the endpoint about keys: some repeat parts of them."""
    said = failure.refusal.message or "no reason given"
    status = failure.status
    explanations = {
        "wrong_key": (
            f"The LLM endpoint {address} refuses the API key ({status}).",
            "Set ASSAYER_LLM__API_KEY to a valid key for it, or check ASSAYER_LLM__BASE_URL.",
        ),
        "forbidden": (
            f"The API key may not use model {model!r} at {address} ({status}).",
            "Check what the key in ASSAYER_LLM__API_KEY is allowed to do, or choose another ASSAYER_LLM__MODEL.",
        ),
        "unknown_model": (
            f"The LLM endpoint {address} does not know the model {model!r} ({status}).",
            "Check ASSAYER_LLM__MODEL and ASSAYER_LLM__FAST_MODEL.",
        ),
        "unknown_path": (
            f"There is no chat completions API under {address} ({status}).",
            "Check ASSAYER_LLM__BASE_URL: it usually ends in /v1.",
        ),
        "quota": (
            f"The account behind the API key has no quota left at {address} ({status}).",
            "Top it up, or set another ASSAYER_LLM__API_KEY.",
        ),
        "too_long": (
            f"The question is longer than model {model!r} takes ({status}: {said}).",
            "Choose an ASSAYER_LLM__MODEL with a longer context.",
        ),
        "filtered": (f"The endpoint's content filter refused the question ({status}).", ""),
        "bad_question": (
            f"The LLM endpoint {address} refused this question, though model {model!r} has answered others "
            f"({status}: {said}).",
            "",
        ),
        "bad_request": (
            f"The LLM endpoint {address} refused the request for model {model!r} ({status}: {said}).",
            "Check ASSAYER_LLM__MODEL, and ASSAYER_LLM__STRUCTURED if it concerns response_format.",
        ),
    }
    return Explanation(*explanations[failure.reason])


def rejection(failure: PermanentFailure, address: str, model: str, faults: Sequence[Fault]) -> LlmError:
    """A question that is filtered, overlong or refused among others concerns that question alone; anything else
    would meet every call."""
    message, hint = explain(failure, address, model)
    if failure.reason in {"too_long", "filtered", "bad_question"}:
        return AnswerRefused(message, hint, (*faults, Fault(kind="refusal", detail=message)))
    return LlmRejected(message, hint, tuple(faults))
