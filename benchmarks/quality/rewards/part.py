"""Makes probes, runs the reward judges on them, and prints the tables."""

import argparse
import asyncio
from collections.abc import Iterator

from assayer.errors import ConfigurationError
from assayer.methods.debate.composition import COMPOSITIONS
from assayer.methods.debate.options import DEFAULT_COMPOSITION
from benchmarks.quality import runs
from benchmarks.quality.outcome_file import format_failures
from benchmarks.quality.part_inputs import PartInputs
from benchmarks.quality.rewards import tables
from benchmarks.quality.rewards.probes import group_by_kind, make_probes
from benchmarks.quality.rewards.references import draw_references, read_reworded, read_summarised

_REFERENCE_COUNT = 400


def add_rewards_options(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--compositions",
        nargs="+",
        choices=COMPOSITIONS,
        default=[DEFAULT_COMPOSITION],
        help="debate compositions to run with the model",
    )
    part.add_argument("--each", type=int, default=8, help="number of probes of each kind that the model judges")


def measure_rewards(inputs: PartInputs) -> Iterator[str]:
    """Yield what the guards stop and, with a language model, the rewards of the probes that reach its debates."""
    judge, seed = inputs.run_options.judge, inputs.run_options.seeds[0]
    if judge not in {None, "endpoint", "simulator"}:
        raise ConfigurationError(
            f"The judge {judge!r} only compares ideas and cannot run a debate.", "Use --judge endpoint or --simulate."
        )
    count = inputs.run_options.first or _REFERENCE_COUNT
    probes_by_kind = group_by_kind(
        [*make_probes(draw_references(count, seed), read_reworded(count), read_summarised(count), seed)]
    )
    yield from tables.format_guards(probes_by_kind)
    if judge is None:
        return
    yield from inputs.format_warning()
    probes_reaching_model = [
        probe
        for probes in probes_by_kind.values()
        for probe in [probe for probe in probes if probe.stop is None][: inputs.options.each]
    ]
    for name in inputs.options.compositions:
        outcomes = asyncio.run(
            runs.run_rewards(inputs.run_options, inputs.settings, COMPOSITIONS[name], probes_reaching_model)
        )
        yield f"\n## {name}, seats of {judge}\n"
        yield from tables.format_rewards(outcomes, probes_by_kind)
        yield from format_failures(outcomes)
