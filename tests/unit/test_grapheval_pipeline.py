"""GraphEval from an idea to a report, over a graph in memory."""

import dataclasses
import datetime as dt

import numpy as np
import pytest

from assayer.backends import Backends
from assayer.errors import ConfigurationError, InputError
from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.llm import NoLlm
from assayer.methods.grapheval.graph.arrays import UNKNOWN
from assayer.methods.grapheval.graph.growth import find_edges_by_cosine
from assayer.methods.grapheval.graph.records import GraphContents, PreparedIdea, Viewpoints
from assayer.methods.grapheval.graph.subgraph import LocalScorer, SubgraphExtractor
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.options import HOPS
from assayer.methods.grapheval.pipeline import evaluate
from assayer.methods.grapheval.repetition import find_repeated_idea
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration, TrainingProvenance, fit_calibration
from assayer.methods.grapheval.scoring.holdout import score_held_out, split_into_folds
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER, split_viewpoints
from assayer.models import Absent, RepeatedIdea, Verdict
from tests.grapheval_graphs import graph_contents
from tests.memory_corpus import MemoryCorpus
from tests.unit.grapheval_judging import (
    BACKENDS,
    EMBEDDER,
    MAPS_TEXT,
    OPTIONS,
    PLAN,
    forty_labelled_ideas,
    graph_of_ideas,
    judge_over,
    labelled_idea,
    maps_idea,
    prepared_ideas,
    verdict_by,
)
from tests.unit.twins import NoFullTexts, a_run
from workers.embedding.hashing_embedder import HashingEmbedder

LOCAL = LocalScorer(LabelPropagation(), HOPS)


def calibrated(contents: GraphContents) -> GraphJudge:
    provenance = TrainingProvenance(
        made_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        files=(),
        embedding=EMBEDDER.name,
        viewpoints_by=SPLITTER,
        counts={"reject": 20, "accept": 20},
        seed=0,
        split="5 stratified folds",
    )
    scores = score_held_out(LOCAL, contents.arrays, split_into_folds(contents.arrays, 5, seed=0))
    labels = contents.arrays.labels
    return judge_over(contents, fit_calibration("plans", LOCAL.name, contents.plan.classes, scores, labels, provenance))


async def test_idea_near_rejected_ideas_is_rejected_with_neighbour_evidence() -> None:
    verdict = await verdict_by(calibrated(await graph_of_ideas(forty_labelled_ideas())))
    assert verdict.decision == "reject"
    by_name = {probability.name: probability for probability in verdict.probabilities}
    assert by_name["reject"].low <= by_name["reject"].probability <= by_name["reject"].high
    assert by_name["reject"].probability > by_name["reject"].rate == 0.5
    assert sum(probability.probability for probability in verdict.probabilities) == pytest.approx(1, abs=1e-3)
    (first, *_) = verdict.evidence
    assert first.text in MAPS_TEXT
    assert {neighbour.label for neighbour in first.neighbours} == {"reject"}
    assert all(neighbour.url.startswith("https://example.org/") for neighbour in first.neighbours)
    assert [neighbour.similarity for neighbour in first.neighbours] == sorted(
        neighbour.similarity for neighbour in first.neighbours
    )[::-1]
    assert verdict.extractor == SPLITTER
    assert "plans, 2026-01-01: 40 ideas" in str(verdict.calibration)


async def test_uncalibrated_verdict_names_no_outcome_but_keeps_evidence() -> None:
    verdict = await verdict_by(judge_over(await graph_of_ideas(forty_labelled_ideas())))
    assert isinstance(verdict.decision, Absent)
    assert verdict.probabilities == ()
    assert verdict.evidence


async def test_neighbours_after_cutoff_or_undated_are_excluded() -> None:
    ideas = [
        *forty_labelled_ideas(dt.date(2019, 5, 1)),
        labelled_idea(50, "accept", dt.date(2021, 1, 1), MAPS_TEXT),
        labelled_idea(51, "accept", None),
    ]
    judge = judge_over(await graph_of_ideas(ideas))
    run = a_run(dt.date(2020, 1, 1))
    evaluation = await evaluate(EvaluationContext.open(maps_idea(), BACKENDS, run, OPTIONS), judge)
    verdict = evaluation.report.verdict
    assert isinstance(verdict, Verdict)
    dates = {neighbour.date for evidence in verdict.evidence for neighbour in evidence.neighbours}
    assert dates == {dt.date(2019, 5, 1)}
    dropped = {item.reason: item.count for item in evaluation.report.coverage.dropped}
    assert dropped["known only after the cutoff, or undated"] == 2


async def test_all_statements_beyond_the_limit_are_counted() -> None:
    judge = judge_over(await graph_of_ideas(forty_labelled_ideas()))
    text = " ".join(f"Surveyors draw map {number} of their town by hand." for number in range(60))
    options = OPTIONS.model_copy(update={"viewpoints": 4})
    report = (await evaluate(EvaluationContext.open(maps_idea(text), BACKENDS, a_run(), options), judge)).report
    assert {item.reason: item.count for item in report.coverage.dropped}["beyond the first 4"] == 56


async def test_idea_already_in_graph_is_reported_and_its_record_excluded() -> None:
    judge = judge_over(await graph_of_ideas([*forty_labelled_ideas(), labelled_idea(60, "accept", text=MAPS_TEXT)]))
    report = (await evaluate(EvaluationContext.open(maps_idea(), BACKENDS, a_run(), OPTIONS), judge)).report
    assert isinstance(report.verdict, Verdict)
    assert isinstance(report.verdict.repeats, RepeatedIdea)
    assert (report.verdict.repeats.kind, report.verdict.repeats.idea) == ("same", "k60")
    assert "k60" not in {neighbour.idea for evidence in report.verdict.evidence for neighbour in evidence.neighbours}
    assert {item.reason: item.count for item in report.coverage.dropped}["is the evaluated idea itself"] == 1
    (notice,) = [item for item in report.notices if item.kind == "repeated_idea"]
    assert "repeats “Plan 60” (k60)" in notice.text


async def test_statements_taken_from_another_idea_are_shown_beside_their_source() -> None:
    source = "Ink on old maps fades in the winters. Surveyors walk all the streets of a town by foot."
    rest = " ".join(f"Clerks of {name} copy the plans of their harbour twice a year." for name in "abcdefgh")
    own = "Bees sleep under leaves of the lilac tree. Honey keeps for a hundred years in clay jars."
    judge = judge_over(
        await graph_of_ideas([*forty_labelled_ideas(), labelled_idea(60, "accept", text=f"{source} {rest}")])
    )
    plan = judge.contents.plan.model_copy(update={"embedder": "all-MiniLM-L6-v2"})
    as_fitted = dataclasses.replace(judge, contents=dataclasses.replace(judge.contents, plan=plan))
    vectors = await EMBEDDER.embed(
        [split_viewpoint.text for split_viewpoint in split_viewpoints(f"{source} {own}", 64)], "passage"
    )
    idea = parse_idea(f"{own} {source}", "own.txt", "Another title altogether")
    viewpoints = split_viewpoints(f"{source} {own}", 64)
    placed = as_fitted.place(idea, vectors, find_edges_by_cosine(vectors, plan.intra), UNKNOWN)
    found = find_repeated_idea(idea.id, viewpoints, placed, as_fitted)
    assert isinstance(found, RepeatedIdea)
    assert (found.kind, found.idea) == ("copy", "k60")
    assert [pair.text for pair in found.pairs] == [viewpoint.text for viewpoint in viewpoints[:2]]


async def test_an_idea_without_a_statement_is_refused() -> None:
    idea = maps_idea("maps; " * 25)
    idea = idea.model_copy(update={"text": "Maps maps. Maps."})
    with pytest.raises(InputError, match="no statement"):
        await verdict_by(judge_over(await graph_of_ideas(forty_labelled_ideas())), idea)


async def test_embedding_model_different_from_graph_is_rejected() -> None:
    judge = judge_over(await graph_of_ideas(forty_labelled_ideas()))
    other = HashingEmbedder(64)
    backends = Backends(NoLlm(), MemoryCorpus((), other), NoFullTexts(), other)
    with pytest.raises(ConfigurationError, match="hashed-words-256, but the configured model is hashed-words-64"):
        await evaluate(EvaluationContext.open(maps_idea(), backends, a_run(), OPTIONS), judge)


async def test_a_calibration_of_another_scorer_or_embedding_is_refused() -> None:
    graph = await graph_of_ideas(forty_labelled_ideas())
    fitted = (calibrated(graph)).calibration
    assert isinstance(fitted, ProbabilityCalibration)
    with pytest.raises(ConfigurationError, match="does not match the scorer"):
        judge_over(graph, fitted.model_copy(update={"scorer": "label propagation, 9 rounds"}))
    provenance = fitted.provenance.model_copy(update={"embedding": "bge"})
    with pytest.raises(ConfigurationError, match="does not match the embedding model: it was fitted for bge"):
        judge_over(graph, fitted.model_copy(update={"provenance": provenance}))


async def test_neighbourhood_extends_exactly_the_requested_number_of_hops() -> None:
    arrays = (await graph_of_ideas(forty_labelled_ideas())).arrays
    near = arrays.build_adjacency().toarray() > 0
    for hops in (1, 2):
        reached = np.zeros(len(near), np.bool_)
        reached[3] = True
        for _ in range(hops):
            reached |= near[reached].any(axis=0)
        found = SubgraphExtractor(arrays, hops).find_nodes_within(np.array([3]), hops)
        assert found.tolist() == np.flatnonzero(reached).tolist()


@pytest.mark.parametrize("hops", [1, 2, 3])
async def test_idea_scores_the_same_beside_the_graph_and_inside_it(hops: int) -> None:
    others = forty_labelled_ideas()
    contents = await graph_of_ideas(others)
    judge = judge_over(contents)
    texts = [viewpoint.text for viewpoint in split_viewpoints(MAPS_TEXT, 64)]
    vectors = await EMBEDDER.embed(texts, "passage")
    surrounded = dataclasses.replace(judge, hops=hops)
    placed = surrounded.place(maps_idea(), vectors, find_edges_by_cosine(vectors, contents.plan.intra), UNKNOWN)
    taken = Viewpoints(viewpoints=split_viewpoints(MAPS_TEXT, 64), maker=SPLITTER)
    new = [PreparedIdea(labelled_idea(99, None, text=MAPS_TEXT), taken, vectors)]
    grown = graph_contents(PLAN, await prepared_ideas(others), new).arrays
    (inside,) = LocalScorer(LabelPropagation(), hops).score(grown, np.array([40], np.int32))
    np.testing.assert_allclose(placed.subgraph.score(LabelPropagation()), inside, atol=1e-6)
