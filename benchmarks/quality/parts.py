"""Points, pairs and groups, from asking to the lines that are printed."""

import asyncio
from collections.abc import Iterator, Mapping

import numpy as np

from assayer.errors import CorpusError
from assayer.models import IdeaId
from assayer.ranking.report_evidence import evidence_of
from benchmarks.quality import runs
from benchmarks.quality.given import Given
from benchmarks.quality.grapheval.data import CATEGORIES, inno_eval
from benchmarks.quality.grapheval.graphs import embedded
from benchmarks.quality.groups import GroupOutcome, groups_report, read_groups
from benchmarks.quality.pair_tables import pairs_report
from benchmarks.quality.pairs import PairOutcome
from benchmarks.quality.points import PointOutcome, Setup, points_report
from cluster.ranking_inputs import read_reports

__all__ = ["groups", "pairs", "points"]


def points(given: Given) -> Iterator[str]:
    data = inno_eval()
    outcomes: list[PointOutcome] = []
    if given.asked.judge is None:
        yield "InnoEval's reviewers are language models and nothing honest takes their place: without one, baselines"
        yield "and GraphEval only.\n"
    else:
        outcomes = asyncio.run(runs.points(given.asked, given.settings, data, given.options.all))
        yield from given.warning()
    own = {one.id for one in data.points}
    ours = [one for one in outcomes if one.item in own]
    asked = {one.item for one in ours}
    if ours and len(asked) < len(data.points):
        yield f"Only {len(asked)} of {len(data.points)} papers were asked about: the others count as without a score.\n"
    setup = Setup(given.rounds, given.options.fold_repeats, given.asked.seeds[0])
    yield from points_report(data, ours, embedded(data.points, given.vectorise, CATEGORIES), setup)


def pairs(given: Given) -> Iterator[str]:
    data = inno_eval()
    outcomes: list[PairOutcome] = []
    if given.asked.judge is not None:
        evidence = _evidence(given)
        outcomes = asyncio.run(runs.pairs(given.asked, given.settings, data, given.options.both, evidence))
        yield from given.warning()
    known = embedded(data.grouped, given.vectorise, CATEGORIES)
    yield from pairs_report(data, outcomes, _scores(given), known, given.asked.seeds, given.rounds)


def groups(given: Given) -> Iterator[str]:
    data = inno_eval()
    shuffled = {seed: read_groups(seed=seed) for seed in given.asked.seeds}
    outcomes: list[GroupOutcome] = []
    if given.asked.judge is not None:
        outcomes = asyncio.run(runs.groups(given.asked, given.settings, shuffled, _evidence(given)))
        yield from given.warning()
    known = embedded(data.grouped, given.vectorise, CATEGORIES)
    yield from groups_report(data, outcomes, _scores(given), known, shuffled[given.asked.seeds[0]], given.rounds)


def _evidence(given: Given) -> dict[str, str] | None:
    """What the reports of `--evidence` found, by the paper's id; None where the judge is to see the papers alone."""
    folder = given.options.evidence
    if folder is None:
        return None
    chars = given.settings.ranking.evidence_chars
    return {report.idea.source: evidence_of(report, chars) for report in read_reports(folder)}


def _scores(given: Given) -> Mapping[IdeaId, float]:
    """InnoEval's points of papers, as far as they were made by this judge; of repeats the mean."""
    if given.asked.judge is None:
        return {}
    try:
        outcomes = runs.kept_points(given.asked, given.settings).outcomes
    except CorpusError:  # without a corpus no points were made
        return {}
    found: dict[IdeaId, list[float]] = {}
    for one in outcomes:
        if one.score is not None:
            found.setdefault(IdeaId(one.item), []).append(one.score)
    return {paper: float(np.mean(values)) for paper, values in found.items()}
