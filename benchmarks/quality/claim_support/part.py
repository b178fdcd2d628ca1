"""Runs the support check and prints its tables."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assayer.models import SupportOutcome
from benchmarks.quality import runs
from benchmarks.quality.claim_support.items import KnownClaim, known_claims
from benchmarks.quality.claim_support.measures import Outcomes, by_group, label_quality
from benchmarks.quality.claim_support.with_model import in_calls
from benchmarks.quality.outcome_file import failure_reasons
from benchmarks.quality.part_inputs import PartInputs

_OUTCOMES: tuple[SupportOutcome, ...] = ("supports", "partly", "not", "contradicts")


def support(inputs: PartInputs) -> Iterator[str]:
    """Yield tables of how well the program recognises supported claims, and a baseline that always says `supports`."""
    sets = {
        name: [claim for claim in known_claims(name, inputs.run_options.first) if not claim.tuning]
        for name in inputs.options.sets
    }
    outcomes: dict[str, dict[str, Outcomes]] = {
        name: {"always supports": ["supports"] * len(claims)} for name, claims in sets.items()
    }
    if inputs.run_options.judge is None:
        yield "No language model was used: baseline only.\n"
    else:
        yield from inputs.warning()
        calls = {call: batch for name, claims in sets.items() for call, batch in in_calls(name, claims).items()}
        answered = asyncio.run(runs.support(inputs.run_options, inputs.settings, calls))
        yield from failure_reasons(answered)
        ended_calls = {item.item for item in answered}
        sets = {
            name: [claim for call, batch in in_calls(name, claims).items() if call in ended_calls for claim in batch]
            for name, claims in sets.items()
        }
        outcomes = {name: {"always supports": ["supports"] * len(claims)} for name, claims in sets.items()}
        by_claim = {claim: outcome for item in answered for claim, outcome in item.outcomes.items()}
        for name, claims in sets.items():
            outcomes[name][f"the program with {inputs.run_options.judge}"] = [
                by_claim.get(claim.id) for claim in claims
            ]
    for name, claims in sets.items():
        yield from _tables(name, claims, outcomes[name], inputs)


def _tables(
    name: str, claims: Sequence[KnownClaim], outcomes_by_scorer: Mapping[str, Outcomes], inputs: PartInputs
) -> Iterator[str]:
    documents = len({claim.document for claim in claims})
    yield f"\n## {name}: {len(claims)} claims with passages, {documents} documents (the half not used for tuning)\n"
    yield "| outcome | who | true | said | precision | recall | F1 |\n| --- | --- | --- | --- | --- | --- | --- |"
    labels = [label for label in _OUTCOMES if any(claim.gold == label for claim in claims)]
    for label in labels:
        for scorer, outcomes in outcomes_by_scorer.items():
            quality = label_quality(claims, outcomes, label, inputs.rounds, inputs.run_options.seeds[0])
            figures = " | ".join(map(_with_interval, (quality.precision, quality.recall, quality.f1)))
            yield f"| {label} | {scorer} | {quality.known} | {quality.said} | {figures} |"
    for scorer, outcomes in outcomes_by_scorer.items():
        if scorer.startswith("the program"):
            yield f"\n{name}, {scorer}: how often each group was given each outcome\n"
            yield f"| known as | n | {' | '.join(_OUTCOMES)} | none |\n| --- | --- | --- | --- | --- | --- | --- |"
            for group, counts in by_group(claims, outcomes).items():
                yield f"| {group} | {counts.total()} | {_shares(counts)} |"


def _shares(counts: Counter[SupportOutcome | None]) -> str:
    return " | ".join(f"{counts[outcome] / counts.total():.0%}" for outcome in (*_OUTCOMES, None))


def _with_interval(item: tuple[float, float, float]) -> str:
    value, low, high = item
    return "–" if np.isnan(value) else f"{value:.2f} [{low:.2f}, {high:.2f}]"
