"""What one model behind one endpoint understands, learnt from its refusals."""

from typing import Any, Literal, NamedTuple

from workers.llm.failures import PermanentFailure, Refusal
from workers.llm.schema import AnswerSchema
from workers.llm.settings import StructuredSetting

__all__ = ["Dialect", "first_dialect"]

Structured = Literal["json_schema", "json_object", "prompt"]
"""How JSON is asked for; `prompt` is by words alone."""

_STRUCTURED = ("response_format", "json_schema", "json_object", "structured output", "guided")
_UNSUPPORTED = ("unsupported", "not support", "unknown", "unrecognized", "unexpected", "instead", "extra")


class Dialect(NamedTuple):
    structured: Structured
    steps_down: bool
    """Whether structured output may give way to a plainer form."""
    tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True

    def adapted(self, failure: PermanentFailure) -> "Dialect | None":
        """What to try after a refusal; None when another dialect would not help."""
        if failure.reason != "bad_request":
            return None
        return self._simpler(failure.refusal)

    def _simpler(self, refusal: Refusal) -> "Dialect | None":
        if refusal.mentions(*_UNSUPPORTED):
            if self.tokens_field == "max_tokens" and refusal.mentions("max_completion_tokens"):
                return self._replace(tokens_field="max_completion_tokens")
            if self.temperature and refusal.mentions("temperature"):
                return self._replace(temperature=False)
        if self.steps_down and self.structured != "prompt" and refusal.mentions(*_STRUCTURED):
            plainer: Structured = "json_object" if self.structured == "json_schema" else "prompt"
            return self._replace(structured=plainer)
        return None

    def parameters(
        self, name: str, schema: AnswerSchema, max_tokens: int, temperature: float | None, seed: int | None
    ) -> dict[str, Any]:
        """Everything of a request's body but model and messages."""
        body: dict[str, Any] = {self.tokens_field: max_tokens}
        if self.temperature and temperature is not None:
            body["temperature"] = temperature
        if seed is not None:
            body["seed"] = seed
        if self.structured == "json_schema":
            answer = {"name": name, "strict": True, "schema": schema.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": answer}
        elif self.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body


def first_dialect(setting: StructuredSetting) -> Dialect:
    structured: Structured = "json_object" if setting == "json_object" else "json_schema"
    return Dialect(structured, steps_down=setting == "auto")
