"""Meaning of the finish reasons that endpoints state. Besides OpenAI's, they use those of Gemini (`SAFETY`,
`MAX_TOKENS`), Anthropic (`end_turn`, `refusal`), Mistral (`model_length`), DeepSeek (`insufficient_system_resource`),
Together (`eos`) and others, or objects, as SGLang does."""

import re
from typing import Literal, NamedTuple

from workers.llm.error_body import clip_line

FinishReason = Literal["stop", "length", "content_filter", "refusal", "failure"]
"""`failure`: the endpoint stopped an answer that the model had not finished."""

_FILTER_WORDS = "filter|safety|recitation|block|prohibited|spii|sensitive|moderat|guardrail|toxic|flagged|unsafe"
_FAILURE_WORDS = (
    "error|abort|cancel|fail|insufficient|network|timed?_?out|malformed|interrupt|overload|disconnect|unexpected"
)
_REASON_WORDS: tuple[tuple[FinishReason, re.Pattern[str]], ...] = (
    ("failure", re.compile("rate_limit")),
    ("length", re.compile("length|max_(?:[a-z]+_)?tokens|limit|context_window|truncated")),
    ("content_filter", re.compile(_FILTER_WORDS)),
    ("refusal", re.compile("refus|declin")),
    ("failure", re.compile(_FAILURE_WORDS)),
)
"""Words in finish reasons; the first that matches counts. All other reasons mean that the model finished."""
_STANDARD_REASONS = {"", "stop", "length", "content_filter"}


class Finish(NamedTuple):
    reason: FinishReason
    stated: str
    """Reason in the endpoint's own words; empty if they are OpenAI's."""
    error: dict[str, object] | None = None
    """Error that the endpoint states as the reason."""


def read_finish(stated: object) -> Finish:
    """Return the meaning of the finish reason in a response. If the response has none, the answer is complete."""
    if stated is None or stated == "stop":
        return Finish("stop", "")
    if isinstance(stated, dict):
        finish = read_finish(stated.get("type"))
        if finish.reason != "failure" or not stated.get("message"):
            return finish
        return finish._replace(error={"message": stated["message"], "code": stated.get("status_code")})
    text = stated if isinstance(stated, str) else ""
    word = re.sub(r"[^a-z]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower()).strip("_")
    meanings: list[FinishReason] = [reason for reason, words in _REASON_WORDS if words.search(word)]
    return Finish(meanings[0] if meanings else "stop", "" if text in _STANDARD_REASONS else clip_line(text, 60))
