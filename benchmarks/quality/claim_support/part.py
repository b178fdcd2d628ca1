"""Runs the support check and prints its tables."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assayer.models import SupportOutcome
from benchmarks.quality import runs
from benchmarks.quality.claim_support.items import KnownClaim, read_claims
from benchmarks.quality.claim_support.measures import Outcomes, count_by_group, measure_label
from benchmarks.quality.claim_support.with_model import split_into_calls
from benchmarks.quality.outcome_file import format_failures
from benchmarks.quality.part_inputs import PartInputs

_OUTCOMES: tuple[SupportOutcome, ...] = ("supports", "partly", "not", "contradicts")


def measure_support(inputs: PartInputs) -> Iterator[str]:
    """Yield tables of how well the program recognises supported claims, and a baseline that always says `supports`."""
    sets = {
        name: [claim for claim in read_claims(name, inputs.run_options.first) if not claim.is_tuning]
        for name in inputs.options.sets
    }
    outcomes: dict[str, dict[str, Outcomes]] = {
        name: {"always supports": ["supports"] * len(claims)} for name, claims in sets.items()
    }
    if inputs.run_options.judge is None:
        yield "No language model was used: baseline only.\n"
    else:
        yield from inputs.format_warning()
        calls = {call: batch for name, claims in sets.items() for call, batch in split_into_calls(name, claims).items()}
        support_outcomes = asyncio.run(runs.run_support(inputs.run_options, inputs.settings, calls))
        yield from format_failures(support_outcomes)
        ended_calls = {support_outcome.item for support_outcome in support_outcomes}
        sets = {
            name: [
                claim
                for call, batch in split_into_calls(name, claims).items()
                if call in ended_calls
                for claim in batch
            ]
            for name, claims in sets.items()
        }
        outcomes = {name: {"always supports": ["supports"] * len(claims)} for name, claims in sets.items()}
        by_claim = {
            claim: outcome
            for support_outcome in support_outcomes
            for claim, outcome in support_outcome.outcomes.items()
        }
        for name, claims in sets.items():
            outcomes[name][f"the program with {inputs.run_options.judge}"] = [
                by_claim.get(claim.id) for claim in claims
            ]
    for name, claims in sets.items():
        yield from _format_tables(name, claims, outcomes[name], inputs)


def _format_tables(
    name: str, claims: Sequence[KnownClaim], outcomes_by_scorer: Mapping[str, Outcomes], inputs: PartInputs
) -> Iterator[str]:
    documents = len({claim.document for claim in claims})
    yield f"\n## {name}: {len(claims)} claims with passages, {documents} documents (the half not used for tuning)\n"
    yield "| outcome | who | true | said | precision | recall | F1 |\n| --- | --- | --- | --- | --- | --- | --- |"
    labels = [label for label in _OUTCOMES if any(claim.gold == label for claim in claims)]
    for label in labels:
        for scorer, outcomes in outcomes_by_scorer.items():
            quality = measure_label(claims, outcomes, label, inputs.rounds, inputs.run_options.seeds[0])
            figures = " | ".join(map(_format_interval, (quality.precision, quality.recall, quality.f1)))
            yield f"| {label} | {scorer} | {quality.known} | {quality.predicted} | {figures} |"
    for scorer, outcomes in outcomes_by_scorer.items():
        if scorer.startswith("the program"):
            yield f"\n{name}, {scorer}: how often each group was given each outcome\n"
            yield f"| known as | n | {' | '.join(_OUTCOMES)} | none |\n| --- | --- | --- | --- | --- | --- | --- |"
            for group, counts in count_by_group(claims, outcomes).items():
                yield f"| {group} | {counts.total()} | {_format_shares(counts)} |"


def _format_shares(counts: Counter[SupportOutcome | None]) -> str:
    return " | ".join(f"{counts[outcome] / counts.total():.0%}" for outcome in (*_OUTCOMES, None))


def _format_interval(figures: tuple[float, float, float]) -> str:
    value, low, high = figures
    return "–" if np.isnan(value) else f"{value:.2f} [{low:.2f}, {high:.2f}]"
