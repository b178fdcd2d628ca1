"""Latency for an honest client that sends one request after another, in a process that does nothing else."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from statistics import quantiles

import httpx2

from benchmarks.hostile.attacks.target import Target

_ROW = b'{"title": "Rehearsal by risk", "text": "We predict which stored examples the next round of fine-tuning will \
overwrite, and rehearse those. Eight text domains in a fixed order, uniform replay as the baseline; accuracy and \
forgetting are reported."}\n'
_JSONL = {"Content-Type": "application/jsonl"}
_PAUSE_SECONDS = 0.02


@dataclass
class HonestAnswers:
    seconds: list[float] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    """Number of refusals by status or kind of error."""

    @property
    def p95(self) -> float:
        """95th percentile of the seconds per request, including refused requests; 0 for fewer than two requests."""
        return quantiles(self.seconds, n=20, method="inclusive")[-1] if len(self.seconds) > 1 else 0.0

    @property
    def median(self) -> float:
        return quantiles(self.seconds, n=2, method="inclusive")[0] if len(self.seconds) > 1 else 0.0


async def ask_honestly(target: Target, seconds: float) -> HonestAnswers:
    """Request a list, the state of a batch and an estimate, repeatedly."""
    answers = HonestAnswers()
    deadline = time.monotonic() + seconds
    headers = {"Authorization": f"Bearer {target.honest_key}"}
    async with httpx2.AsyncClient(base_url=target.url, headers=headers, timeout=60) as client:
        while time.monotonic() < deadline:
            await _time_request(answers, client, "GET", "/v1/evaluations?limit=20")
            await _time_request(answers, client, "GET", f"/v1/batches/{target.honest_batch}")
            await _time_request(answers, client, "POST", "/v1/batches/estimate", _ROW)
            await asyncio.sleep(_PAUSE_SECONDS)
    return answers


async def _time_request(
    answers: HonestAnswers, client: httpx2.AsyncClient, method: str, path: str, body: bytes | None = None
) -> None:
    began = time.monotonic()
    try:
        response = await client.request(method, path, content=body, headers=_JSONL if body else None)
    except httpx2.HTTPError as error:
        answers.refusals[type(error).__name__] += 1
    else:
        if not response.is_success:
            answers.refusals[str(response.status_code)] += 1
    answers.seconds.append(time.monotonic() - began)
