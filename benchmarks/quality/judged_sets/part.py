"""Measures every available contender on every available judged set, and writes one page."""

import asyncio
import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.errors import CorpusError
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER
from benchmarks.measuring import describe_machine
from benchmarks.quality.figures import Figure, Kind
from benchmarks.quality.grapheval.data import describe_file, read_inno_eval
from benchmarks.quality.judged_sets.contenders import (
    Answers,
    Material,
    ask_everything,
    build_opinion_figures,
    collect_reports,
    sample_items,
)
from benchmarks.quality.judged_sets.coverage import build_coverage_figures, build_similarity_figures
from benchmarks.quality.judged_sets.decisions import score_by_past_decisions
from benchmarks.quality.judged_sets.judged import JudgedSet, build_margin_figures, build_scorer_figures
from benchmarks.quality.judged_sets.ordered import build_altered_figures, build_ordered_figures, read_altered_answers
from benchmarks.quality.judged_sets.page import TITLES, build_page, write_page
from benchmarks.quality.judged_sets.queries import (
    build_query_figures,
    match_titles,
    read_queries,
    search_by_words,
    search_queries,
)
from benchmarks.quality.judged_sets.reading import read_judged_sets
from benchmarks.quality.judged_sets.simple import LONGER, WORDS, compute_simple_values
from benchmarks.quality.part_inputs import PartInputs
from benchmarks.quality.rubrics import list_sentences, read_rubrics
from benchmarks.quality.spending import sum_parts
from benchmarks.records import DATA
from benchmarks.throughput.ideas import read_scholar_ideas
from index import Corpus

_PAPERS = DATA / "papers" / "papers.jsonl.gz"
_NO_MODEL = (
    "no endpoint was given, so InnoEval's board, ScholarEval as judged, a one-paragraph prompt and a language model "
    "without search are not here"
)


def measure_judged_sets(inputs: PartInputs) -> Iterator[str]:
    """Report the cost before asking, ask what has not been asked yet, and write the page."""
    absent: dict[str, str] = {} if inputs.run_options.judge else {"language models": _NO_MODEL}
    absent |= {title: "not chosen with --sets" for name, title in TITLES.items() if name not in inputs.run_options.sets}
    material = _read_material(inputs)
    count = sum(len(judged_set.items) for judged_set in material.sets)
    yield f"{count:,} judged items in {len(material.sets)} parts of sets, besides pairs, groups, queries and rubrics."
    answers = None
    if inputs.run_options.judge is not None:
        plan = inputs.run_options._replace(planned=[])
        asyncio.run(ask_everything(plan, inputs.settings, material, {}))
        cost = sum_parts(plan.planned or [])
        yield from cost.lines
        if inputs.run_options.judge == "endpoint" and not cost.confirm(
            inputs.run_options.limit_usd, inputs.run_options.yes
        ):
            return
        answers = asyncio.run(ask_everything(inputs.run_options, inputs.settings, material, absent))
    figures = list(_build_figures(inputs, material, answers, absent))
    if inputs.run_options.judge not in {None, "endpoint"}:
        figures = [figure.model_copy(update={"simulated": True}) for figure in figures]
    folder: Path = inputs.options.page or inputs.run_options.out
    introduction = (
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}; {describe_machine()}; embedding {inputs.embedder.name}; "
        f"{inputs.rounds} rounds."
    )
    caveats = {
        name: " ".join(
            dict.fromkeys(
                judged_set.caveat for judged_set in material.sets if judged_set.name == name and judged_set.caveat
            )
        )
        for name in dict.fromkeys(judged_set.name for judged_set in material.sets)
    }
    write_page(folder, list(build_page(figures, absent, caveats, introduction)), figures)
    yield f"{len(figures):,} figures: {folder / 'all.md'}, {folder / 'all.json'}"


def _read_material(inputs: PartInputs) -> Material:
    first = inputs.run_options.first
    ideas = read_scholar_ideas(DATA)[:first]
    names = {idea.source for idea in ideas}
    return Material(
        sample_items(
            [
                judged_set
                for judged_set in read_judged_sets(DATA, inputs.rounds)
                if judged_set.name in inputs.run_options.sets
            ],
            first,
        ),
        read_altered_answers(DATA, first),
        read_inno_eval(),
        read_queries(DATA)[:first],
        ideas,
        [rubric for rubric in read_rubrics(DATA / "scholarideas") if rubric.idea in names],
    )


def _build_figures(
    inputs: PartInputs, material: Material, answers: Answers | None, absent: dict[str, str]
) -> Iterator[Figure]:
    proposals = [judged_set for judged_set in material.sets if judged_set.has_proposals]
    past_values, calibrated = (
        score_by_past_decisions(proposals, inputs.vectorise, _build_provenance(inputs), inputs.rounds)
        if proposals
        else ({}, [])
    )
    for judged_set in material.sets:
        values: dict[tuple[str, Kind], NDArray[np.float64]] = (
            dict(answers.values[judged_set.set_and_part]) if answers else {}
        )
        values |= past_values.get(judged_set.set_and_part, {})
        values |= {
            (name, "simple"): scorer_values
            for name, scorer_values in compute_simple_values(judged_set, inputs.vectorise)
        }
        set_calibration = [figure for figure in calibrated if (figure.set, figure.part) == judged_set.set_and_part]
        yield from build_set_figures(judged_set, values, set_calibration, inputs.rounds)
    pairs, groups, scores = (answers.pairs, answers.groups, answers.scores) if answers else ([], [], {})
    if "innoeval" in inputs.run_options.sets:
        yield from build_ordered_figures(material.innoeval, pairs, groups, scores, inputs.vectorise, inputs.rounds)
    altered_values = (
        [*compute_simple_values(material.altered, inputs.vectorise)] if "flaws" in inputs.run_options.sets else []
    )
    yield from build_altered_figures(material.altered, iter(altered_values), "simple", inputs.rounds)
    if answers:
        yield from build_opinion_figures(material.innoeval, answers.grouped, inputs.rounds)
        by_model = (
            (name, scorer_values) for (name, _), scorer_values in answers.values[material.altered.set_and_part].items()
        )
        yield from build_altered_figures(material.altered, by_model, "prompt", inputs.rounds, altered_values)
    if "queries" in inputs.run_options.sets:
        yield from _build_query_figures(inputs, material, answers, absent)
    if "scholarideas" in inputs.run_options.sets:
        yield from _build_coverage_figures(inputs, material, answers, absent)


def build_set_figures(
    judged_set: JudgedSet,
    values: dict[tuple[str, Kind], NDArray[np.float64]],
    calibrated: Sequence[Figure],
    rounds: int,
) -> Iterator[Figure]:
    """Yield the figures of every scorer, alone and compared with length and words, then those of people."""
    simple = {name: scorer_values for (name, _), scorer_values in values.items() if name in {LONGER, WORDS}}
    for scorer, scorer_values in values.items():
        yield from build_scorer_figures(judged_set, scorer, scorer_values, rounds)
        other_values = {name: simple_value for name, simple_value in simple.items() if name != scorer[0]}
        if np.unique(scorer_values[~np.isnan(scorer_values)]).size > 1:
            yield from build_margin_figures(judged_set, scorer_values, scorer, other_values, rounds)
        yield from (item for item in calibrated if item.scorer == scorer[0])
    yield from judged_set.people


def _build_query_figures(
    inputs: PartInputs, material: Material, answers: Answers | None, absent: dict[str, str]
) -> Iterator[Figure]:
    queries = material.queries
    found_by_words = search_by_words(queries, _PAPERS)
    yield from build_query_figures(queries, found_by_words, ("TF-IDF of title and abstract", "simple"), inputs.rounds)
    if answers and answers.titles is not None:
        remembered_papers = match_titles(answers.titles, _PAPERS)
        yield from build_query_figures(
            queries, remembered_papers, ("titles that the model remembers", "prompt"), inputs.rounds
        )
    try:
        with closing(Corpus.open(inputs.settings.corpus_path, inputs.embedder)) as corpus:
            results_by_query = asyncio.run(search_queries(queries, corpus))
    except CorpusError as error:
        absent["the program's search"] = f"no corpus ({error.message})"
        return
    yield from build_query_figures(queries, results_by_query, ("the program's search", "ours"), inputs.rounds)


def _build_coverage_figures(
    inputs: PartInputs, material: Material, answers: Answers | None, absent: dict[str, str]
) -> Iterator[Figure]:
    if answers is None:
        coverage, reports = asyncio.run(collect_reports(inputs.run_options, inputs.settings, material, absent))
    else:
        coverage, reports = answers.coverage, answers.reports
    for scorer, rubric_scores in coverage.items():
        yield from build_coverage_figures(material.rubrics, rubric_scores, scorer, inputs.rounds)
    sentences_by_report = {name: list_sentences(report) for name, report in reports.items()}
    texts = {idea.source: idea.text for idea in material.ideas}
    yield from build_similarity_figures(material.rubrics, texts, sentences_by_report, inputs.vectorise, inputs.rounds)


def _build_provenance(inputs: PartInputs) -> TrainingProvenance:
    return TrainingProvenance(
        made_at=dt.datetime.now(dt.UTC),
        files=(describe_file(DATA / "iclr_years" / "submissions.jsonl.gz"),),
        embedding=inputs.embedder.name,
        viewpoints_by=SPLITTER,
        counts={},
        seed=inputs.run_options.seeds[0],
        split="inside the years learned from",
    )
