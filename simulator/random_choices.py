"""All random choices about a request, derived from a hash of (seed, prompt, attempt).

A run is therefore reproducible whatever the order of requests, and a retry of a failed request draws again. The text of
the answer depends only on (seed, prompt), so a repeated request gets the same text, unless it asks for samples.
"""

import math
import struct
from hashlib import blake2b
from statistics import NormalDist
from typing import NamedTuple

from simulator.settings import AnswerFault, Settings

Outcome = str
"""Outcome of a request: `answer`, `rate_limited`, `server_error` or `dropped`."""

_UNIT = 2.0**-64
_NORMAL = NormalDist()


class RandomChoices(NamedTuple):
    outcome: Outcome
    latency: float
    """Latency in seconds, without the generation of tokens."""
    is_slow: bool
    faults: tuple[AnswerFault, ...]
    """Kinds of faults in the order in which they are tried until one can be applied; empty for a sound answer."""
    variation: float
    """Number from 0 to 1 that varies a fault: where to truncate, which variant to use."""
    content_seed: int
    """Seed of the answer's content."""


def compute_prompt_key(model: str, messages: list[tuple[str, str]]) -> bytes:
    """Return a 16-byte hash of the model and the messages (role, content)."""
    digest = blake2b(model.encode(), digest_size=16)
    for role, content in messages:
        digest.update(f"\0{role}\0{len(content)}\0".encode())
        digest.update(content.encode("utf-8", "surrogatepass"))
    return digest.digest()


def draw_choices(settings: Settings, key: bytes, attempt: int) -> RandomChoices:
    """Draw all choices for a request; `attempt` is the number of earlier requests with this prompt."""
    seed = settings.seed.to_bytes(8, "little")
    digest = blake2b(key + attempt.to_bytes(8, "little"), key=seed, digest_size=48).digest()
    fate_point, latency_point, slow_point, fault_point, order_point, variation = (
        raw * _UNIT for raw in struct.unpack("<6Q", digest)
    )
    content_seed = int.from_bytes(blake2b(key, key=seed, digest_size=8).digest(), "little")
    is_slow = slow_point < settings.slow_rate
    seconds = _compute_latency(settings, latency_point) * (settings.slow_factor if is_slow else 1.0)
    kinds = _draw_fault_order(settings, order_point) if fault_point < settings.answer_fault_rate else ()
    return RandomChoices(_draw_outcome(settings, fate_point), seconds, is_slow, kinds, variation, content_seed)


def _draw_outcome(settings: Settings, point: float) -> Outcome:
    for name, share in (
        ("rate_limited", settings.rate_limit_rate),
        ("server_error", settings.server_error_rate),
        ("dropped", settings.drop_rate),
    ):
        if point < share:
            return name
        point -= share
    return "answer"


def _compute_latency(settings: Settings, point: float) -> float:
    """Return the lognormal latency, with the settings' mean and coefficient of variation, at a quantile (0 to 1)."""
    if settings.latency_mean == 0 or settings.latency_spread == 0:
        return settings.latency_mean
    variance = math.log1p(settings.latency_spread**2)
    z = _NORMAL.inv_cdf(min(max(point, 1e-12), 1 - 1e-12))
    return settings.latency_mean * math.exp(math.sqrt(variance) * z - variance / 2)


def _draw_fault_order(settings: Settings, point: float) -> tuple[AnswerFault, ...]:
    """Return all kinds in a random order, drawn by weight without replacement."""
    weights = dict(settings.answer_faults)
    order: list[AnswerFault] = []
    while weights:
        kind, remainder = _pick(weights, point * sum(weights.values()))
        order.append(kind)
        point = min(remainder / weights.pop(kind), math.nextafter(1.0, 0.0))
    return tuple(order)


def _pick(weights: dict[AnswerFault, float], target: float) -> tuple[AnswerFault, float]:
    """Return the kind whose share of the cumulative weights contains `target`, and the position within that share."""
    for kind, weight in weights.items():
        if target < weight:
            return kind, target
        target -= weight
    return kind, weight
