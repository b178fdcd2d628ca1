"""How many probes of a kind have the reward 1: from debates of scripted seats, and from the judge without a model."""

import asyncio
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.methods.debate.composition import COMPOSITIONS, Composition
from assayer.methods.debate.options import ViewpointJudge
from assayer.methods.debate.viewpoint_judge import judge_by_viewpoints
from assayer.models.reward import Reward
from assayer.ports import Embedder
from benchmarks.quality.rewards.debates import both_ways, share
from benchmarks.quality.rewards.noise import SeatNoise, ballot_of
from benchmarks.quality.rewards.probes import Probe, by_kind
from benchmarks.quality.rewards.scripted_seats import item_key
from benchmarks.quality.rewards.with_model import ScriptedDebate

__all__ = ["ProbesPassed", "passed_before_viewpoints", "passed_by_rules", "passed_over_http", "write_csv"]


class ProbesPassed(NamedTuple):
    """Of all probes of one kind, those that guards stop included."""

    kind: str
    composition: str
    noise: str
    probes: int
    stopped: int
    """By guards, before any call."""
    passed: int


def passed_by_rules(probes: Sequence[Probe], noises: Sequence[SeatNoise]) -> list[ProbesPassed]:
    """Every kind before every composition of all noises: a debate for each probe that no guard stops."""
    return [
        ProbesPassed(
            kind,
            name,
            noise.name,
            len(own),
            sum(one.stop is not None for one in own),
            sum(_believed(composition, noise, one) for one in own if one.stop is None),
        )
        for noise in noises
        for name, composition in COMPOSITIONS.items()
        for kind, own in by_kind(probes).items()
    ]


def _believed(composition: Composition, noise: SeatNoise, probe: Probe) -> bool:
    key = item_key(probe.item)
    seats = [seat for group in composition.groups for seat in group]
    ballots = tuple(
        ballot_of(noise, key, probe.matches, seat, number)
        for number in range(1, composition.rounds + 1)
        for seat in seats
    )
    return both_ways(composition, ballots)[0].match


def passed_over_http(debates: Sequence[ScriptedDebate]) -> list[ProbesPassed]:
    """Of the probes that reach the seats; a debate that was lost has no reward 1."""
    counts: dict[tuple[str, str, str], list[bool]] = {}
    for one in debates:
        counts.setdefault((one.probe.kind, one.composition, one.noise), []).append(one.value == 1)
    return [ProbesPassed(*place, len(some), 0, sum(some)) for place, some in counts.items()]


def passed_before_viewpoints(
    probes: Sequence[Probe], embedder: Embedder, judge: ViewpointJudge
) -> Mapping[str, tuple[Sequence[Reward], Sequence[Probe]]]:
    """The rewards of each kind, and the probes that they are of."""

    async def rewards() -> Mapping[str, tuple[Sequence[Reward], Sequence[Probe]]]:
        return {
            kind: ([await judge_by_viewpoints(one.item, embedder, judge) for one in own], own)
            for kind, own in by_kind(probes).items()
        }

    return asyncio.run(rewards())


def write_csv(passed: Iterable[ProbesPassed], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*ProbesPassed._fields, "share of the probes, with Wilson's 95 % interval"])
        writer.writerows([*one, share(one.passed, one.probes)] for one in passed)
