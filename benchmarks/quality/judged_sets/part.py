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
    opinion_figures,
    reviewed,
    sampled,
)
from benchmarks.quality.judged_sets.coverage import judged_coverage, proxy_figures
from benchmarks.quality.judged_sets.decisions import past_decisions
from benchmarks.quality.judged_sets.judged import JudgedSet, compared, scored
from benchmarks.quality.judged_sets.ordered import altered_answers, altered_figures, ordered_figures
from benchmarks.quality.judged_sets.page import TITLES, page, write_page
from benchmarks.quality.judged_sets.queries import (
    query_figures,
    read_queries,
    remembered,
    searched,
    searched_by_words,
)
from benchmarks.quality.judged_sets.reading import judged_sets
from benchmarks.quality.judged_sets.simple import LONGER, WORDS, simple_values
from benchmarks.quality.part_inputs import PartInputs
from benchmarks.quality.rubrics import read_rubrics, said_in
from benchmarks.quality.spending import total
from benchmarks.records import DATA
from benchmarks.throughput.ideas import scholar_ideas
from index import Corpus

_PAPERS = DATA / "papers" / "papers.jsonl.gz"
_NO_MODEL = (
    "no endpoint was given, so InnoEval's board, ScholarEval as judged, a one-paragraph prompt and a language model "
    "without search are not here"
)


def every_judged_set(inputs: PartInputs) -> Iterator[str]:
    """Report the cost before asking, ask what has not been asked yet, and write the page."""
    absent: dict[str, str] = {} if inputs.run_options.judge else {"language models": _NO_MODEL}
    absent |= {title: "not chosen with --sets" for name, title in TITLES.items() if name not in inputs.run_options.sets}
    material = _material(inputs)
    count = sum(len(item.items) for item in material.sets)
    yield f"{count:,} judged items in {len(material.sets)} parts of sets, besides pairs, groups, queries and rubrics."
    answers = None
    if inputs.run_options.judge is not None:
        plan = inputs.run_options._replace(planned=[])
        asyncio.run(ask_everything(plan, inputs.settings, material, {}))
        cost = total(plan.planned or [])
        yield from cost.lines
        if inputs.run_options.judge == "endpoint" and not cost.agreed(
            inputs.run_options.limit_usd, inputs.run_options.yes
        ):
            return
        answers = asyncio.run(ask_everything(inputs.run_options, inputs.settings, material, absent))
    figures = list(_figures(inputs, material, answers, absent))
    if inputs.run_options.judge not in {None, "endpoint"}:
        figures = [figure.model_copy(update={"simulated": True}) for figure in figures]
    folder: Path = inputs.options.page or inputs.run_options.out
    introduction = (
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}; {describe_machine()}; embedding {inputs.embedder.name}; "
        f"{inputs.rounds} rounds."
    )
    caveats = {
        name: " ".join(dict.fromkeys(item.caveat for item in material.sets if item.name == name and item.caveat))
        for name in dict.fromkeys(item.name for item in material.sets)
    }
    write_page(folder, list(page(figures, absent, caveats, introduction)), figures)
    yield f"{len(figures):,} figures: {folder / 'all.md'}, {folder / 'all.json'}"


def _material(inputs: PartInputs) -> Material:
    first = inputs.run_options.first
    ideas = scholar_ideas(DATA)[:first]
    names = {idea.source for idea in ideas}
    return Material(
        sampled(
            [judged for judged in judged_sets(DATA, inputs.rounds) if judged.name in inputs.run_options.sets], first
        ),
        altered_answers(DATA, first),
        read_inno_eval(),
        read_queries(DATA)[:first],
        ideas,
        [rubric for rubric in read_rubrics(DATA / "scholarideas") if rubric.idea in names],
    )


def _figures(
    inputs: PartInputs, material: Material, answers: Answers | None, absent: dict[str, str]
) -> Iterator[Figure]:
    proposals = [item for item in material.sets if item.proposals]
    past, calibrated = (
        past_decisions(proposals, inputs.vectorise, _provenance(inputs), inputs.rounds) if proposals else ({}, [])
    )
    for judged in material.sets:
        values: dict[tuple[str, Kind], NDArray[np.float64]] = dict(answers.values[judged.where]) if answers else {}
        values |= past.get(judged.where, {})
        values |= {(name, "simple"): some for name, some in simple_values(judged, inputs.vectorise)}
        set_calibration = [item for item in calibrated if (item.set, item.part) == judged.where]
        yield from set_figures(judged, values, set_calibration, inputs.rounds)
    pairs, groups, scores = (answers.pairs, answers.groups, answers.scores) if answers else ([], [], {})
    if "innoeval" in inputs.run_options.sets:
        yield from ordered_figures(material.innoeval, pairs, groups, scores, inputs.vectorise, inputs.rounds)
    altered_values = [*simple_values(material.altered, inputs.vectorise)] if "flaws" in inputs.run_options.sets else []
    yield from altered_figures(material.altered, iter(altered_values), "simple", inputs.rounds)
    if answers:
        yield from opinion_figures(material.innoeval, answers.grouped, inputs.rounds)
        by_model = ((name, some) for (name, _), some in answers.values[material.altered.where].items())
        yield from altered_figures(material.altered, by_model, "prompt", inputs.rounds, altered_values)
    if "queries" in inputs.run_options.sets:
        yield from _queries(inputs, material, answers, absent)
    if "scholarideas" in inputs.run_options.sets:
        yield from _coverage(inputs, material, answers, absent)


def set_figures(
    judged_set: JudgedSet,
    values: dict[tuple[str, Kind], NDArray[np.float64]],
    calibrated: Sequence[Figure],
    rounds: int,
) -> Iterator[Figure]:
    """Yield the figures of every scorer, alone and compared with length and words, then those of people."""
    simple = {name: scorer_values for (name, _), scorer_values in values.items() if name in {LONGER, WORDS}}
    for scorer, scorer_values in values.items():
        yield from scored(judged_set, scorer, scorer_values, rounds)
        other_values = {name: simple_value for name, simple_value in simple.items() if name != scorer[0]}
        if np.unique(scorer_values[~np.isnan(scorer_values)]).size > 1:
            yield from compared(judged_set, scorer_values, scorer, other_values, rounds)
        yield from (item for item in calibrated if item.scorer == scorer[0])
    yield from judged_set.people


def _queries(
    inputs: PartInputs, material: Material, answers: Answers | None, absent: dict[str, str]
) -> Iterator[Figure]:
    queries = material.queries
    by_words = searched_by_words(queries, _PAPERS)
    yield from query_figures(queries, by_words, ("TF-IDF of title and abstract", "simple"), inputs.rounds)
    if answers and answers.titles is not None:
        remembered_papers = remembered(answers.titles, _PAPERS)
        yield from query_figures(
            queries, remembered_papers, ("titles that the model remembers", "prompt"), inputs.rounds
        )
    try:
        with closing(Corpus.open(inputs.settings.corpus_path, inputs.embedder)) as corpus:
            results_by_query = asyncio.run(searched(queries, corpus))
    except CorpusError as error:
        absent["the program's search"] = f"no corpus ({error.message})"
        return
    yield from query_figures(queries, results_by_query, ("the program's search", "ours"), inputs.rounds)


def _coverage(
    inputs: PartInputs, material: Material, answers: Answers | None, absent: dict[str, str]
) -> Iterator[Figure]:
    if answers is None:
        covered, reports = asyncio.run(reviewed(inputs.run_options, inputs.settings, material, absent))
    else:
        covered, reports = answers.coverage, answers.reports
    for scorer, rubric_scores in covered.items():
        yield from judged_coverage(material.rubrics, rubric_scores, scorer, inputs.rounds)
    sentences_by_report = {name: said_in(report) for name, report in reports.items()}
    texts = {idea.source: idea.text for idea in material.ideas}
    yield from proxy_figures(material.rubrics, texts, sentences_by_report, inputs.vectorise, inputs.rounds)


def _provenance(inputs: PartInputs) -> TrainingProvenance:
    return TrainingProvenance(
        made_at=dt.datetime.now(dt.UTC),
        files=(describe_file(DATA / "iclr_years" / "submissions.jsonl.gz"),),
        embedding=inputs.embedder.name,
        viewpoints_by=SPLITTER,
        counts={},
        seed=inputs.run_options.seeds[0],
        split="inside the years learned from",
    )
