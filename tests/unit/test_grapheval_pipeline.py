"""GraphEval from an idea to a report, over a graph in memory."""

import dataclasses
import datetime as dt

import numpy as np
import pytest

from assayer.backends import Backends
from assayer.errors import ConfigurationError, InputError
from assayer.ideas.parsing import parse_idea
from assayer.methods.grapheval import GraphEvalOptions
from assayer.methods.grapheval.graph.arrays import UNKNOWN
from assayer.methods.grapheval.graph.growth import edges_by_cosine
from assayer.methods.grapheval.graph.in_memory import ExactNeighbourIndex, InMemoryViewpointGraph
from assayer.methods.grapheval.graph.records import GraphPlan, LabelledIdea, PreparedIdea, Viewpoints
from assayer.methods.grapheval.graph.subgraph import LocalScorer, SubgraphExtractor
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.pipeline import evaluate
from assayer.methods.grapheval.repetition import repeated_idea
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration, TrainingProvenance, fit_calibration
from assayer.methods.grapheval.scoring.holdout import held_out_scores, stratified_folds
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER, split_viewpoints
from assayer.models import Absent, Idea, IdeaId, RepeatedIdea, Verdict
from index.memory_corpus import MemoryCorpus
from tests.unit.twins import NoFullTexts, a_run
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.llm.fallback_llm import FallbackLlm

EMBEDDER = HashingEmbedder()
OPTIONS = GraphEvalOptions()
LOCAL = LocalScorer(LabelPropagation(), OPTIONS.reach)
TOPICS = {
    "reject": "Drawing maps of towns by hand takes surveyors {n} weeks. Ink on paper maps fades after {n} winters.",
    "accept": "Bees visit flower strips beside orchards {n} times. Honey from such orchards weighs {n} kilograms.",
}
MAPS = "We draw maps of towns by hand, as surveyors do with ink on paper. Town maps drawn by hand fade after winters."
WORLD = Backends(FallbackLlm(EMBEDDER), MemoryCorpus((), EMBEDDER), NoFullTexts(), EMBEDDER)


UNCALIBRATED = Absent(reason="no calibration was fitted.")


def idea_of(text: str = MAPS, title: str = "Maps") -> Idea:
    return parse_idea(text, "maps.txt", title)


async def graph_of(
    ideas: list[LabelledIdea], classes: tuple[str, ...] = ("reject", "accept")
) -> InMemoryViewpointGraph:
    graph = InMemoryViewpointGraph()
    await graph.create(
        GraphPlan(
            name="default",
            embedder=EMBEDDER.name,
            dimensions=EMBEDDER.dimensions,
            maker=SPLITTER,
            classes=classes,
            ordered=True,
        )
    )
    new = []
    for idea in ideas:
        taken = Viewpoints(viewpoints=split_viewpoints(idea.text, 64), maker=SPLITTER)
        new.append(PreparedIdea(idea, taken, await EMBEDDER.embed([one.text for one in taken.viewpoints], "passage")))
    await graph.add(new)
    return graph


def known(number: int, label: str | None, day: dt.date | None = dt.date(2020, 1, 1), text: str = "") -> LabelledIdea:
    words = text or TOPICS[label or "reject"].format(n=number + 2)
    url = f"https://example.org/{number}"
    return LabelledIdea(id=IdeaId(f"k{number}"), title=f"Plan {number}", text=words, label=label, date=day, url=url)


def forty(day: dt.date | None = dt.date(2020, 1, 1)) -> list[LabelledIdea]:
    return [known(number, ("reject", "accept")[number % 2], day) for number in range(40)]


async def judge_of(
    graph: InMemoryViewpointGraph, calibration: ProbabilityCalibration | Absent = UNCALIBRATED
) -> GraphJudge:
    contents = await graph.load()
    neighbours = ExactNeighbourIndex()
    neighbours.add(contents.arrays.vectors)
    return GraphJudge(contents, neighbours, LabelPropagation(), OPTIONS.reach, calibration)


async def calibrated(graph: InMemoryViewpointGraph) -> GraphJudge:
    contents = await graph.load()
    provenance = TrainingProvenance(
        made_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        files=(),
        embedding=EMBEDDER.name,
        viewpoints_by=SPLITTER,
        counts={"reject": 20, "accept": 20},
        seed=0,
        split="5 stratified folds",
    )
    scores = held_out_scores(LOCAL, contents.arrays, stratified_folds(contents.arrays, 5, seed=0))
    labels = contents.arrays.labels
    return await judge_of(
        graph, fit_calibration("plans", LOCAL.name, contents.plan.classes, scores, labels, provenance)
    )


async def verdict_of(judge: GraphJudge, idea: Idea | None = None, cutoff: dt.date | None = None) -> Verdict:
    evaluation = await evaluate(idea or idea_of(), WORLD, a_run(cutoff), OPTIONS, judge)
    verdict = evaluation.report.verdict
    assert isinstance(verdict, Verdict)
    return verdict


async def test_an_idea_beside_rejected_ones_is_told_so_with_the_neighbours_that_say_it() -> None:
    verdict = await verdict_of(await calibrated(await graph_of(forty())))
    assert verdict.decision == "reject"
    by_name = {one.name: one for one in verdict.probabilities}
    assert by_name["reject"].low <= by_name["reject"].probability <= by_name["reject"].high
    assert by_name["reject"].probability > by_name["reject"].rate == 0.5
    assert sum(one.probability for one in verdict.probabilities) == pytest.approx(1, abs=1e-3)
    (first, *_) = verdict.evidence
    assert first.text in MAPS
    assert {one.label for one in first.neighbours} == {"reject"}
    assert all(one.url.startswith("https://example.org/") for one in first.neighbours)
    assert [one.similarity for one in first.neighbours] == sorted(one.similarity for one in first.neighbours)[::-1]
    assert verdict.maker == SPLITTER
    assert "plans, 2026-01-01: 40 ideas" in str(verdict.calibration)


async def test_without_a_calibration_no_outcome_is_named_but_the_evidence_is_there() -> None:
    verdict = await verdict_of(await judge_of(await graph_of(forty())))
    assert isinstance(verdict.decision, Absent)
    assert verdict.probabilities == ()
    assert verdict.evidence


async def test_a_graph_without_labels_gives_no_verdict_and_says_why() -> None:
    graph = await graph_of([known(number, None) for number in range(5)])
    verdict = await verdict_of(await judge_of(graph))
    assert isinstance(verdict.decision, Absent)
    assert verdict.evidence == ()


async def test_ideas_known_after_the_cutoff_or_at_no_known_date_never_count() -> None:
    ideas = [*forty(dt.date(2019, 5, 1)), known(50, "accept", dt.date(2021, 1, 1), MAPS), known(51, "accept", None)]
    judge = await judge_of(await graph_of(ideas))
    run = a_run(dt.date(2020, 1, 1))
    evaluation = await evaluate(idea_of(), WORLD, run, OPTIONS, judge)
    verdict = evaluation.report.verdict
    assert isinstance(verdict, Verdict)
    dates = {one.date for evidence in verdict.evidence for one in evidence.neighbours}
    assert dates == {dt.date(2019, 5, 1)}
    dropped = {one.reason: one.count for one in evaluation.report.coverage.dropped}
    assert dropped["known only after the cutoff, or undated"] == 2


async def test_the_ideas_own_record_never_counts() -> None:
    ideas = [*forty(), known(60, "accept", text=MAPS)]
    run = a_run()
    evaluation = await evaluate(idea_of(), WORLD, run, OPTIONS, await judge_of(await graph_of(ideas)))
    verdict = evaluation.report.verdict
    assert isinstance(verdict, Verdict)
    assert "k60" not in {one.idea for evidence in verdict.evidence for one in evidence.neighbours}
    assert {one.reason: one.count for one in evaluation.report.coverage.dropped}["is the evaluated idea itself"] == 1


async def test_an_idea_that_the_graph_holds_already_is_told_before_the_verdict() -> None:
    judge = await judge_of(await graph_of([*forty(), known(60, "accept", text=MAPS)]))
    report = (await evaluate(idea_of(), WORLD, a_run(), OPTIONS, judge)).report
    assert isinstance(report.verdict, Verdict)
    assert isinstance(report.verdict.repeats, RepeatedIdea)
    assert (report.verdict.repeats.kind, report.verdict.repeats.idea) == ("same", "k60")
    (notice,) = [one for one in report.notices if one.kind == "repeated_idea"]
    assert "repeats “Plan 60” (k60)" in notice.text


async def test_statements_taken_from_another_idea_are_shown_beside_their_source() -> None:
    source = "Ink on old maps fades in the winters. Surveyors walk all the streets of a town by foot."
    rest = " ".join(f"Clerks of {name} copy the plans of their harbour twice a year." for name in "abcdefgh")
    own = "Bees sleep under leaves of the lilac tree. Honey keeps for a hundred years in clay jars."
    judge = await judge_of(await graph_of([*forty(), known(60, "accept", text=f"{source} {rest}")]))
    plan = judge.contents.plan.model_copy(update={"embedder": "all-MiniLM-L6-v2"})
    as_fitted = dataclasses.replace(judge, contents=dataclasses.replace(judge.contents, plan=plan))
    vectors = await EMBEDDER.embed([one.text for one in split_viewpoints(f"{source} {own}", 64)], "passage")
    idea = parse_idea(f"{own} {source}", "own.txt", "Another title altogether")
    viewpoints = split_viewpoints(f"{source} {own}", 64)
    placed = as_fitted.place(idea, vectors, edges_by_cosine(vectors, plan.intra), None, UNKNOWN)
    found = repeated_idea(idea.id, viewpoints, placed, as_fitted)
    assert isinstance(found, RepeatedIdea)
    assert (found.kind, found.idea) == ("copy", "k60")
    assert [one.text for one in found.pairs] == [one.text for one in viewpoints[:2]]


async def test_without_known_limits_of_likeness_nobody_claims_that_nothing_is_repeated() -> None:
    verdict = await verdict_of(await judge_of(await graph_of(forty())))
    assert isinstance(verdict.repeats, Absent)


async def test_the_report_says_first_how_weak_the_signal_is() -> None:
    judge = await judge_of(await graph_of(forty()))
    report = (await evaluate(idea_of(), WORLD, a_run(), OPTIONS, judge)).report
    assert report.notices[0].kind == "weak_signal"
    assert report.method == "grapheval"
    assert report.provenance.corpus_version.startswith("viewpoint graph default, ")


async def test_an_idea_without_a_statement_is_refused() -> None:
    idea = idea_of("maps; " * 25)
    idea = idea.model_copy(update={"text": "Maps maps. Maps."})
    with pytest.raises(InputError, match="no statement"):
        await verdict_of(await judge_of(await graph_of(forty())), idea)


async def test_another_embedding_than_the_graphs_is_refused() -> None:
    judge = await judge_of(await graph_of(forty()))
    other = HashingEmbedder(64)
    backends = Backends(FallbackLlm(other), MemoryCorpus((), other), NoFullTexts(), other)
    with pytest.raises(ConfigurationError, match="hashed-words-256; this program uses hashed-words-64"):
        await evaluate(idea_of(), backends, a_run(), OPTIONS, judge)


async def test_a_calibration_of_another_scorer_or_embedding_is_refused() -> None:
    graph = await graph_of(forty())
    fitted = (await calibrated(graph)).calibration
    assert isinstance(fitted, ProbabilityCalibration)
    with pytest.raises(ConfigurationError, match="another scorer"):
        await judge_of(graph, fitted.model_copy(update={"scorer": "label propagation, 9 rounds"}))
    provenance = fitted.provenance.model_copy(update={"embedding": "bge"})
    with pytest.raises(ConfigurationError, match="another embedding model: bge"):
        await judge_of(graph, fitted.model_copy(update={"provenance": provenance}))


async def test_the_same_idea_twice_gives_the_same_report() -> None:
    judge = await calibrated(await graph_of(forty()))
    one, other = [await evaluate(idea_of(), WORLD, a_run(), OPTIONS, judge) for _ in range(2)]
    assert one == other


async def test_scores_around_an_idea_are_those_of_the_whole_graph_when_it_is_small_enough() -> None:
    arrays = (await (await graph_of(forty())).load()).arrays
    rows = np.arange(6, dtype=np.int32)
    far = LocalScorer(LabelPropagation(), 5).score(arrays, rows)
    one_by_one = np.concatenate([LabelPropagation().score(arrays.with_unknown(rows), rows[[n]]) for n in range(6)])
    np.testing.assert_allclose(far, one_by_one, atol=1e-9)


async def test_surroundings_reach_exactly_as_far_as_their_hops() -> None:
    arrays = (await (await graph_of(forty())).load()).arrays
    near = arrays.adjacency().toarray() > 0
    for hops in (1, 2):
        reached = np.zeros(len(near), np.bool_)
        reached[3] = True
        for _ in range(hops):
            reached |= near[reached].any(axis=0)
        found = SubgraphExtractor(arrays, hops).nodes_within(np.array([3]), hops)
        assert found.tolist() == np.flatnonzero(reached).tolist()


@pytest.mark.parametrize("hops", [1, 2, 3])
async def test_an_idea_put_beside_a_graph_sees_what_it_would_see_as_a_part_of_it(hops: int) -> None:
    others = forty()
    graph = await graph_of(others)
    contents = await graph.load()
    judge = await judge_of(graph)
    texts = [viewpoint.text for viewpoint in split_viewpoints(MAPS, 64)]
    vectors = await EMBEDDER.embed(texts, "passage")
    surrounded = dataclasses.replace(judge, hops=hops)
    placed = surrounded.place(idea_of(), vectors, edges_by_cosine(vectors, contents.plan.intra), None, UNKNOWN)
    taken = Viewpoints(viewpoints=split_viewpoints(MAPS, 64), maker=SPLITTER)
    await graph.add([PreparedIdea(known(99, None, text=MAPS), taken, vectors)])
    grown = (await graph.load()).arrays
    (inside,) = LocalScorer(LabelPropagation(), hops).score(grown, np.array([40], np.int32))
    np.testing.assert_allclose(placed.subgraph.score(LabelPropagation()), inside, atol=1e-6)
