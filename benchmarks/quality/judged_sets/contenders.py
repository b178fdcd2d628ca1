"""Contenders that need a language model: the program, a one-paragraph prompt, a model without search."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assayer.errors import CorpusError
from assayer.ideas.parsing import parse_idea
from assayer.models import Idea, IdeaId, Report
from benchmarks.quality import runs
from benchmarks.quality.figures import Figure, Kind
from benchmarks.quality.grapheval.data import InnoEval
from benchmarks.quality.groups import Group, GroupOutcome, Measures, measure_order, order_grades, read_groups
from benchmarks.quality.judged_sets.asking import OPINIONS, REVIEWS, collect_opinions, collect_reviews, collect_titles
from benchmarks.quality.judged_sets.judged import JudgedItem, JudgedSet
from benchmarks.quality.judged_sets.ordered import build_group_figures, build_pair_figure
from benchmarks.quality.judged_sets.queries import Query
from benchmarks.quality.judged_sets.reading import ACCEPTED
from benchmarks.quality.pair_tables import compute_gaps, score_gaps
from benchmarks.quality.pairs import PairOutcome
from benchmarks.quality.papers import EARLIEST, build_idea, read_cutoffs
from benchmarks.quality.part_inputs import RunOptions
from benchmarks.quality.report_text import extract_judgement
from benchmarks.quality.rubrics import Rubric
from benchmarks.quality.spending import KNOWN_COSTS, estimate_cost
from cluster.settings import Settings

Values = dict[tuple[str, Kind], NDArray[np.float64]]
CoverageScores = dict[tuple[str, int], int]

_NOT_CHOSEN = "not chosen on the command line"
_UNFINISHED = "stopped before the last item; run the command again to continue"

BOARD = "InnoEval's board"
_METHOD = "scholareval"
_REPORT = "ScholarEval's report"

CONTENDERS: Mapping[str, frozenset[str]] = {
    "pairs": frozenset({"innoeval"}),
    "opinions": frozenset({"innoeval", "ai_researcher", "iclr_years", "reviews", "flaws"}),
    "groups": frozenset({"innoeval"}),
    "titles": frozenset({"queries"}),
    "reviews": frozenset({"scholarideas"}),
    "report": frozenset({"scholarideas"}),
    "board": frozenset({"innoeval", "ai_researcher"}),
}
"""Contenders that need the language model, in this order, and the sets of each; the last two search a corpus."""


class Material(NamedTuple):
    """Sets, queries, ideas and rubrics about which contenders are asked."""

    sets: Sequence[JudgedSet]
    altered: JudgedSet
    innoeval: InnoEval
    queries: Sequence[Query]
    ideas: Sequence[Idea]
    """Ideas of ScholarIdeas."""
    rubrics: Sequence[Rubric]


class Answers(NamedTuple):
    values: dict[tuple[str, str], Values]
    """Values by set and part, in the order of the items; NaN without an answer."""
    grouped: dict[str, dict[str, float]]
    """Values of the InnoEval group papers asked about, by scorer and paper; NaN without an answer."""
    pairs: list[PairOutcome]
    groups: list[GroupOutcome]
    scores: dict[IdeaId, float]
    titles: dict[str, tuple[str, ...]] | None
    """None if not every query was asked."""
    coverage: dict[tuple[str, Kind], CoverageScores]
    reports: dict[str, Report]


async def ask_everything(
    run_options: RunOptions, settings: Settings, material: Material, absent: dict[str, str]
) -> Answers:
    """Ask everything that has not been asked yet; if `run_options.planned` is set, only estimate the cost. Questions
    that were not asked, or only partly, are recorded in `absent`."""
    absent |= {name: _NOT_CHOSEN for name in CONTENDERS if name not in run_options.contenders}
    pairs = await runs.run_pairs(run_options, settings, material.innoeval) if "pairs" in run_options.contenders else []
    values, opinions_by_scorer = await _collect_opinions(run_options, settings, material, absent)
    groups = (
        await runs.run_groups(run_options, settings, {0: read_groups()}) if "groups" in run_options.contenders else []
    )
    remembered_titles = (
        await collect_titles(run_options, settings, material.queries) if "titles" in run_options.contenders else None
    )
    if remembered_titles is None:
        absent.setdefault("titles", _UNFINISHED)
    coverage, reports = await collect_reports(run_options, settings, material, absent)
    scores = (
        await _collect_board_scores(run_options, settings, material, values, absent)
        if "board" in run_options.contenders
        else {}
    )
    return Answers(values, opinions_by_scorer, pairs, groups, scores, remembered_titles, coverage, reports)


async def _collect_opinions(
    run_options: RunOptions, settings: Settings, material: Material, absent: dict[str, str]
) -> tuple[dict[tuple[str, str], Values], dict[str, dict[str, float]]]:
    """Return values by set and part, and those of InnoEval's group papers by scorer."""
    values: dict[tuple[str, str], Values] = {item.set_and_part: {} for item in (*material.sets, material.altered)}
    opinions_by_scorer: dict[str, dict[str, float]] = {}
    papers = [JudgedItem(item.id, item.text, 0.0) for item in material.innoeval.grouped][: run_options.first]
    for scorer in OPINIONS if "opinions" in run_options.contenders else ():
        for judged_set in (*material.sets, *([material.altered] if "flaws" in run_options.sets else [])):
            opinion_values = await collect_opinions(
                run_options, settings, judged_set.name, judged_set.question, judged_set.items, scorer
            )
            if opinion_values is None:
                absent[f"{scorer}: {judged_set.name}, {judged_set.part}"] = _UNFINISHED
            else:
                values[judged_set.set_and_part][scorer, "prompt"] = np.array(
                    [opinion_values.get(item.id, np.nan) for item in judged_set.items]
                )
        opinion_values = (
            await collect_opinions(run_options, settings, "innoeval", ACCEPTED, papers, scorer)
            if "innoeval" in run_options.sets
            else {}
        )
        if opinion_values is None:
            absent[f"{scorer}: innoeval, pairs and groups"] = _UNFINISHED
        elif opinion_values:
            opinions_by_scorer[scorer] = {paper.id: opinion_values.get(paper.id, np.nan) for paper in papers}
    return values, opinions_by_scorer


async def _collect_board_scores(
    run_options: RunOptions,
    settings: Settings,
    material: Material,
    values: dict[tuple[str, str], Values],
    absent: dict[str, str],
) -> dict[IdeaId, float]:
    """Return InnoEval's scores of its points and of `ai_researcher`'s proposals, and add them to `values`."""
    scored_sets = [scored_set for scored_set in material.sets if scored_set.name in {"innoeval", "ai_researcher"}]
    papers, days = {point.id: point for point in material.innoeval.points}, read_cutoffs()
    ideas = {}
    for item in (item for judged_set in scored_sets for item in judged_set.items):
        paper = papers.get(IdeaId(item.id))
        day = days.get(IdeaId(item.id), EARLIEST)
        ideas[item.id] = parse_idea(item.text, item.id, "") if paper is None else build_idea(paper, day)
    try:
        outcomes = await runs.run_points(
            run_options, settings, [*ideas.values()], runs.open_points_file(run_options, settings)
        )
    except CorpusError as error:
        absent[BOARD] = f"it searches a corpus, and there is none ({error.message})"
        return {}
    scores_by_item: dict[str, list[float]] = {}
    if len({outcome.item for outcome in outcomes} & {*ideas}) < len(ideas):
        absent[BOARD] = _UNFINISHED
        return {}
    for outcome in outcomes:
        if outcome.score is not None:
            scores_by_item.setdefault(outcome.item, []).append(outcome.score)
    means = {item: float(np.mean(scores)) for item, scores in scores_by_item.items()}
    for judged_set in scored_sets:
        values[judged_set.set_and_part][BOARD, "ours"] = np.array(
            [means.get(item.id, np.nan) for item in judged_set.items]
        )
    return {IdeaId(item): value for item, value in means.items()}


async def collect_reports(
    run_options: RunOptions, settings: Settings, material: Material, absent: dict[str, str]
) -> tuple[dict[tuple[str, Kind], CoverageScores], dict[str, Report]]:
    """Return the rubric coverage of reviews by contender, and ScholarEval's reports, with or without a model."""
    texts = {idea.source: idea.text for idea in material.ideas}
    reviews_by_scorer: dict[tuple[str, Kind], dict[str, str]] = {}
    reports: dict[str, Report] = {}
    folder = Path()
    for scorer in REVIEWS if run_options.judge and "reviews" in run_options.contenders else ():
        written_reviews = await collect_reviews(run_options, settings, texts, scorer)
        if written_reviews is None:
            absent[f"{scorer}: reviews"] = _UNFINISHED
        else:
            reviews_by_scorer[scorer, "prompt"] = written_reviews
    try:
        if run_options.judge is None or "report" in run_options.contenders:
            outcomes, folder = await runs.run_reports(run_options, settings, _METHOD, material.ideas)
            reports = {
                path.stem: Report.model_validate_json(path.read_bytes())
                for path in sorted(folder.glob("*.json"))
                if path.stem in texts
            }
            if len({outcome.item for outcome in outcomes} & {*texts}) < len(texts):
                absent[_REPORT] = _UNFINISHED
            else:
                reviews_by_scorer[_REPORT, "ours"] = {
                    name: extract_judgement(report) for name, report in reports.items()
                }
    except CorpusError as error:
        absent[_REPORT] = f"it searches a corpus, and there is none ({error.message})"
    if run_options.judge is None:
        return {}, reports
    if run_options.planned is not None:  # the texts to compare with the rubrics are not written yet
        reviewers = len(REVIEWS) * ("reviews" in run_options.contenders) + ("report" in run_options.contenders)
        cost = estimate_cost(KNOWN_COSTS["coverage"], len(texts) * reviewers, [], settings.llm)
        run_options.planned.append(("coverage", cost))
        return {}, reports
    coverage = {}
    for (scorer, kind), reviews_by_idea in reviews_by_scorer.items():
        origin = f"{scorer}, {folder.name}" if kind == "ours" else f"{scorer}, version {REVIEWS[scorer].version}"
        coverage_outcomes = await runs.run_coverage(run_options, settings, reviews_by_idea, material.rubrics, origin)
        if len({outcome.item for outcome in coverage_outcomes} & {*reviews_by_idea}) < len(reviews_by_idea):
            absent[f"{scorer}: coverage"] = _UNFINISHED
        else:
            coverage[scorer, kind] = {
                (outcome.item, number): value
                for outcome in coverage_outcomes
                for number, value in outcome.scores.items()
            }
    return coverage, reports


def build_opinion_figures(
    data: InnoEval, opinions_by_scorer: Mapping[str, Mapping[str, float]], rounds: int
) -> Iterator[Figure]:
    """Yield figures of InnoEval's pairs and groups from opinions on single papers, where position has no influence.
    Only pairs and groups whose papers were all asked about are included."""
    for scorer, opinion_values in opinions_by_scorer.items():
        values = {
            (group, paper): opinion_values.get(paper, np.nan)
            for group, papers in data.groups.items()
            for paper in papers
        }
        for difficulty, pairs in data.pairs.items():
            if pairs_asked := [
                pair for pair in pairs if pair.better in opinion_values and pair.worse in opinion_values
            ]:
                yield build_pair_figure(
                    ("innoeval", f"pairs, {difficulty}"),
                    (scorer, "prompt"),
                    score_gaps(compute_gaps(values, pairs_asked)),
                    rounds,
                )
        complete_groups = [
            group for group in read_groups() if all(idea.source in opinion_values for idea in group.ideas)
        ]
        if complete_groups:
            yield from build_group_figures(
                (scorer, "prompt"), [_measure_group_order(group, opinion_values) for group in complete_groups], rounds
            )


def _measure_group_order(group: Group, opinion_values: Mapping[str, float]) -> Measures:
    """Measure a group's order; a group with an unanswered paper has none."""
    values = {idea.id: opinion_values[idea.source] for idea in group.ideas}
    return measure_order(None if np.isnan([*values.values()]).any() else order_grades(group, values))


def sample_items(sets: Sequence[JudgedSet], first: int | None) -> list[JudgedSet]:
    """Return at most `first` items of each set, chosen by the checksum (CRC-32) of their ids."""
    if first is None:
        return [*sets]
    return [
        judged_set._replace(items=sorted(judged_set.items, key=lambda item: crc32(item.id.encode()))[:first])
        for judged_set in sets
    ]
