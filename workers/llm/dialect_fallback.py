"""A model's dialect at an endpoint: which parameters it accepts, and how to request JSON from it. The dialect is found
out from refusals."""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from workers.llm.error_body import ErrorBody
from workers.llm.errors import PermanentLlmFailure
from workers.llm.refusal_reasons import FORM_WORDS
from workers.llm.settings import ReasoningEffort, StructuredSetting

StructuredMode = Literal["json_schema", "json_object", "prompt"]
"""Method of requesting JSON; `prompt` relies only on instructions in the prompt."""

_SIMPLER_MODES: Mapping[StructuredMode, StructuredMode] = {
    "json_schema": "json_object",
    "json_object": "prompt",
    "prompt": "prompt",
}
_UNSUPPORTED_WORDS = (
    "unsupported",
    "not support",
    "unknown",
    "unrecognized",
    "unexpected",
    "instead",
    "extra",
    "deprecated",
)
_FORM_STATUSES = frozenset({400, 404, 405, 415, 422, 500, 501})
_FEATURE_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("structured", re.compile("|".join(map(re.escape, FORM_WORDS)))),
    (
        "tokens",
        re.compile(r"max_(?:completion_|output_|new_)?tokens|maxoutputtokens|(?:completion|output|maximum) tokens"),
    ),
    ("temperature", re.compile(r"\btemperature\b")),
    ("seed", re.compile(r"\bseed\b")),
    ("reasoning_effort", re.compile(r"reasoning[_. ]effort|\breasoning\b|\bthinking\b")),
    ("system", re.compile(r"system (?:role|message|prompt|instruction)|developer instruction|['\"`]system['\"`]")),
    ("stream", re.compile(r"\bstream(?:ing)?\b")),
)
"""Words that show what a refusal is about. If several occur, the first one in the text counts."""
_TOKEN_NUMBER = re.compile(r"(\d[\d,_]*)( \(exclusive\))?")
_MIN_TOKENS = 256


class Dialect(NamedTuple):
    structured: StructuredMode
    may_step_down: bool
    """Whether structured output may fall back to a simpler form."""
    tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True
    reasoning_effort: ReasoningEffort | None = None
    system: bool = True
    """Whether a system message can be sent. If not, its text is put before the question."""
    stream: bool = False
    """Whether the endpoint responds only with a stream."""
    max_tokens_accepted: int | None = None
    """Maximum number of answer tokens that a request may ask for; None if the endpoint has not refused any number."""

    def adapt(self, failure: PermanentLlmFailure, max_tokens: int = 0, guess: bool = True) -> "Dialect | None":
        """Return the dialect to try after a request for at most `max_tokens` was refused; None if another dialect would
        not help. With `guess`, a refusal that does not state its cause leads to a simpler dialect."""
        if failure.reason != "bad_request" or failure.status not in _FORM_STATUSES:
            return None
        text = failure.body.text
        named_features = [(match.start(), name) for name, pattern in _FEATURE_WORDS if (match := pattern.search(text))]
        for _, name in sorted(named_features):
            if (dialect := self._drop_feature(name, failure.body, max_tokens)) is not None:
                return dialect
        return self._simplify() if guess and (not failure.body.message or "parameter" in text) else None

    def _drop_feature(self, name: str, body: ErrorBody, max_tokens: int) -> "Dialect | None":
        """Return the dialect without the feature named in a refusal; None if the request did not use it."""
        dialect: Dialect | None
        match name:
            case "structured":
                dialect = self._replace(structured=_SIMPLER_MODES[self.structured]) if self.may_step_down else None
            case "tokens":
                dialect = self._reduce_tokens(body, max_tokens)
            case "reasoning_effort":
                dialect = self._replace(reasoning_effort=None)
            case "stream":
                dialect = self._replace(stream=True)
            case "temperature":
                dialect = self._replace(temperature=False)
            case "seed":
                dialect = self._replace(seed=False)
            case _:
                dialect = self._replace(system=False)
        return None if dialect == self else dialect

    def _reduce_tokens(self, body: ErrorBody, max_tokens: int) -> "Dialect | None":
        if (
            self.tokens_field == "max_tokens"
            and body.contains_any("max_completion_tokens")
            and body.contains_any(*_UNSUPPORTED_WORDS)
        ):
            return self._replace(tokens_field="max_completion_tokens")
        requested_tokens = min(max_tokens, self.max_tokens_accepted or max_tokens)
        number_texts = _TOKEN_NUMBER.findall(body.message)
        stated_numbers = (int(re.sub(r"\D", "", number)) - bool(exclusive) for number, exclusive in number_texts)
        stated_limits = [number for number in stated_numbers if _MIN_TOKENS <= number < requested_tokens]
        new_limit = max(stated_limits, default=requested_tokens // 2)
        return self._replace(max_tokens_accepted=new_limit) if new_limit >= _MIN_TOKENS else None

    def _simplify(self) -> "Dialect | None":
        """Return a simpler dialect, after a refusal that does not state its cause."""
        optional = ("structured", "temperature", "seed", "reasoning_effort")
        simpler = (self._drop_feature(name, ErrorBody("", "", ""), 0) for name in optional)
        return next((dialect for dialect in simpler if dialect is not None), None)


def create_initial_dialect(setting: StructuredSetting, reasoning_effort: ReasoningEffort | None = None) -> Dialect:
    structured: StructuredMode = "json_schema" if setting == "auto" else setting
    return Dialect(structured, setting == "auto", reasoning_effort=reasoning_effort)
