"""Makes probes, runs the reward judges on them, and prints the tables."""

import argparse
import asyncio
from collections.abc import Iterator

from assayer.errors import ConfigurationError
from assayer.methods.debate.composition import COMPOSITIONS
from assayer.methods.debate.options import DEFAULT_COMPOSITION
from benchmarks.quality import runs
from benchmarks.quality.given import Given
from benchmarks.quality.kept import reasons
from benchmarks.quality.rewards import tables
from benchmarks.quality.rewards.probes import by_kind, made_probes
from benchmarks.quality.rewards.references import references, reworded, summarised

_REFERENCES = 400


def add_rewards_options(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--compositions",
        nargs="+",
        choices=COMPOSITIONS,
        default=[DEFAULT_COMPOSITION],
        help="debate compositions to run with the model",
    )
    part.add_argument("--each", type=int, default=8, help="number of probes of each kind that the model judges")


def rewards(given: Given) -> Iterator[str]:
    """Yield what the guards stop and, with a language model, the rewards of the probes that reach its debates."""
    judge, seed = given.asked.judge, given.asked.seeds[0]
    if judge not in {None, "endpoint", "simulator"}:
        raise ConfigurationError(
            f"The judge {judge!r} only compares ideas and cannot run a debate.", "Use --judge endpoint or --simulate."
        )
    count = given.asked.first or _REFERENCES
    kinds = by_kind([*made_probes(references(count, seed), reworded(count), summarised(count), seed)])
    yield from tables.guard_table(kinds)
    if judge is None:
        return
    yield from given.warning()
    reached = [
        probe
        for probes in kinds.values()
        for probe in [probe for probe in probes if probe.stop is None][: given.options.each]
    ]
    for name in given.options.compositions:
        outcomes = asyncio.run(runs.rewards(given.asked, given.settings, COMPOSITIONS[name], reached))
        yield f"\n## {name}, seats of {judge}\n"
        yield from tables.model_table(outcomes, kinds)
        yield from reasons(outcomes)
