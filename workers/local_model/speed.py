"""Measure a local model's speed in a short warm-up, to estimate how long an evaluation takes."""

import json
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple
from urllib.parse import urlsplit

from assayer.errors import LlmUnavailable
from workers.local_model.server import LocalModel

_WARM_UP_PROMPT = "Compare the plan with the study and name each difference in one sentence. " * 16
_ANSWER_TOKENS = 24
_FIRST_ANSWER_SECONDS = 600.0
"""Longest wait for the warm-up, which takes minutes while other programs use the processors."""
_PROGRESS_SECONDS = 120.0


class ModelSpeed(NamedTuple):
    """Tokens per second when the model processes a single request."""

    prompt: float
    answer: float

    def estimate_seconds(self, prompt_tokens: int, answer_tokens: int) -> float:
        return prompt_tokens / self.prompt + answer_tokens / self.answer


def measure_speed(model: LocalModel, seconds: float = _FIRST_ANSWER_SECONDS) -> ModelSpeed:
    """Have the model read about 200 tokens and write 24; return its speed. Raises LlmUnavailable if it does not
    answer in time."""
    body = {"prompt": _WARM_UP_PROMPT, "n_predict": _ANSWER_TOKENS, "ignore_eos": True, "cache_prompt": False}
    try:
        timings = json.loads(_request(model, "/completion", seconds, json.dumps(body).encode()))["timings"]
    except TimeoutError:
        raise LlmUnavailable(
            f"The local model {model.name} did not answer its first request within {seconds:g} seconds.",
            "Try again when other programs use the processors less, or try a smaller model.",
        ) from None
    except OSError as error:
        raise LlmUnavailable(
            f"The local model {model.name} did not answer its first request: {error}.", "Try a smaller model."
        ) from None
    return ModelSpeed(float(timings["prompt_per_second"]), float(timings["predicted_per_second"]))


def count_tokens_in_progress(model: LocalModel) -> tuple[int, int]:
    """Return how many tokens have been read and written so far for the requests in progress. Raises OSError or
    ValueError if the server does not say."""
    busy_slots = [slot for slot in json.loads(_request(model, "/slots", _PROGRESS_SECONDS)) if slot["is_processing"]]
    tokens_read = sum(int(slot.get("n_prompt_tokens_processed", 0)) for slot in busy_slots)
    return tokens_read, sum(
        int(token.get("n_decoded", 0)) for slot in busy_slots for token in slot.get("next_token", ())
    )


def _request(model: LocalModel, path: str, seconds: float, body: bytes | None = None) -> bytes:
    headers = {"Authorization": f"Bearer {model.api_key}", "Content-Type": "application/json"}
    connection = HTTPConnection(urlsplit(model.address).netloc, timeout=seconds)
    try:
        connection.request("GET" if body is None else "POST", path, body, headers)
        response = connection.getresponse()
        answer = response.read()
    except HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()
    if response.status != 200:
        raise OSError(f"HTTP {response.status}: {answer[:200].decode(errors='replace')}")
    return answer
