"""The support check from asking to the lines that are printed."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assayer.models.assessment import SupportOutcome
from benchmarks.quality import runs
from benchmarks.quality.claim_support.items import KnownClaim, known_claims
from benchmarks.quality.claim_support.measures import Said, by_group, label_quality
from benchmarks.quality.claim_support.with_model import in_calls
from benchmarks.quality.claim_support.without_model import closenesses, contestants, refit
from benchmarks.quality.given import Given
from benchmarks.quality.kept import reasons

__all__ = ["support"]

_OUTCOMES: tuple[SupportOutcome, ...] = ("supports", "partly", "not", "contradicts")


def support(given: Given) -> Iterator[str]:
    sets = {name: known_claims(name, given.asked.first) for name in given.options.sets}
    measured = {name: closenesses(claims, given.vectorise) for name, claims in sets.items()}
    said = contestants(sets, measured)
    yield refit(sets, measured) + "\n"
    if given.asked.judge is None:
        yield "No language model was asked: the program without one, and baselines.\n"
    else:
        yield from given.warning()
        # Thresholds are fitted on the others; they cost nothing here.
        calls = {
            call: batch
            for name, claims in sets.items()
            for call, batch in in_calls(name, [claim for claim in claims if not claim.tuning]).items()
        }
        outcomes = asyncio.run(runs.support(given.asked, given.settings, calls))
        yield from reasons(outcomes)
        found = {claim: outcome for one in outcomes for claim, outcome in one.outcomes.items()}
        said[f"the program with {given.asked.judge}"] = {
            name: [found.get(claim.id) for claim in claims] for name, claims in sets.items()
        }
    for name, claims in sets.items():
        yield from _tables(name, claims, {who: one[name] for who, one in said.items()}, given)


def _tables(name: str, claims: Sequence[KnownClaim], said: Mapping[str, Said], given: Given) -> Iterator[str]:
    rows = [row for row, claim in enumerate(claims) if not claim.tuning]
    held = [claims[row] for row in rows]
    documents = len({claim.document for claim in held})
    yield f"\n## {name}: {len(held)} claims with passages, {documents} documents (the part no threshold saw)\n"
    yield "| outcome | who | true | said | precision | recall | F1 |\n| --- | --- | --- | --- | --- | --- | --- |"
    labels = [label for label in _OUTCOMES if any(claim.gold == label for claim in held)]
    for label in labels:
        for who, outcomes in said.items():
            one = label_quality(held, [outcomes[row] for row in rows], label, given.rounds, given.asked.seeds[0])
            figures = " | ".join(map(_with_interval, (one.precision, one.recall, one.f1)))
            yield f"| {label} | {who} | {one.known} | {one.said} | {figures} |"
    for who, outcomes in said.items():
        if who.startswith("the program"):
            yield f"\n{name}, {who}: how often each group was given each outcome\n"
            yield f"| known as | n | {' | '.join(_OUTCOMES)} | none |\n| --- | --- | --- | --- | --- | --- | --- |"
            for group, counts in by_group(held, [outcomes[row] for row in rows]).items():
                yield f"| {group} | {counts.total()} | {_shares(counts)} |"


def _shares(counts: Counter[SupportOutcome | None]) -> str:
    return " | ".join(f"{counts[outcome] / counts.total():.0%}" for outcome in (*_OUTCOMES, None))


def _with_interval(one: tuple[float, float, float]) -> str:
    value, low, high = one
    return "–" if np.isnan(value) else f"{value:.2f} [{low:.2f}, {high:.2f}]"
