"""Schedule of kills and endpoint faults, drawn from a seed before the run starts."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

_MAX_PAUSE_MULTIPLE = 3.0
"""Upper bound of a pause in multiples of the mean, because exponential pauses are unbounded."""


class Kill(NamedTuple):
    kind: str
    pause: float
    """Seconds between the recovery of the API from the previous kill and this one."""


class FaultPeriod(NamedTuple):
    """Behaviour of the language model's endpoint during a period."""

    name: str
    knobs: Mapping[str, float]
    """Settings of `simulator.settings.Settings` to change."""
    seconds: float = 0.0


NO_FAULTS = FaultPeriod("calm", {"rate_limit_rate": 0.0, "server_error_rate": 0.0, "drop_rate": 0.0, "slow_rate": 0.0})

_FAULTS = (
    FaultPeriod("429", {"rate_limit_rate": 0.4, "retry_after": 0.5}),
    FaultPeriod("5xx", {"server_error_rate": 0.4}),
    FaultPeriod("cut connections", {"drop_rate": 0.15}),
    FaultPeriod(
        "all of these", {"rate_limit_rate": 0.2, "server_error_rate": 0.2, "drop_rate": 0.05, "slow_rate": 0.05}
    ),
    FaultPeriod("down", {"server_error_rate": 1.0}),
)


def plan_kills(seed: int, kinds: Sequence[str], mean_pause: float) -> Iterator[Kill]:
    """Yield kills forever, in rounds that contain each kind once in random order."""
    random = Random(f"kills {seed}")
    while True:
        for kind in random.sample(list(kinds), len(kinds)):
            yield Kill(kind, min(random.expovariate(1 / mean_pause), _MAX_PAUSE_MULTIPLE * mean_pause))


def plan_faults(seed: int, mean_seconds: float) -> Iterator[FaultPeriod]:
    """Yield calm periods and storms alternately, forever. Storms take a third of the time; all kinds are equally
    frequent."""
    random = Random(f"weather {seed}")
    while True:
        for faults in random.sample(_FAULTS, len(_FAULTS)):
            yield NO_FAULTS._replace(seconds=random.uniform(0.5, 1.5) * mean_seconds)
            knobs = {**NO_FAULTS.knobs, **faults.knobs}
            yield FaultPeriod(faults.name, knobs, random.uniform(0.25, 0.75) * mean_seconds)
