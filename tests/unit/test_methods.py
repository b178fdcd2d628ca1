"""The table of methods, and labelled ideas beside a report made without a language model."""

import pytest

from assayer.backends import Backends
from assayer.errors import InputError
from assayer.llm import Llm
from assayer.methods.grapheval import GraphEvalOptions
from assayer.methods.grapheval.graph.in_memory import ExactNeighbourIndex, InMemoryViewpointGraph
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation
from assayer.models import Absent, Verdict
from cluster.methods import METHODS, MethodContext
from cluster.settings import Settings
from index.memory_corpus import MemoryCorpus
from tests.unit.test_grapheval_pipeline import EMBEDDER, forty, graph_of, idea_of
from tests.unit.twins import NoFullTexts, TwinLlm, a_run
from workers.llm.fallback_llm import FallbackLlm

NO_GRAPH = Absent(reason="there is no graph of labelled ideas.")


def bench_of(judge: GraphJudge | Absent, llm: Llm | None = None) -> MethodContext:
    literature = MemoryCorpus((), EMBEDDER)
    return MethodContext(Settings(), Backends(llm or FallbackLlm(EMBEDDER), literature, NoFullTexts(), EMBEDDER), judge)


async def judge_of(graph: InMemoryViewpointGraph) -> GraphJudge:
    contents = await graph.load()
    neighbours = ExactNeighbourIndex()
    neighbours.add(contents.arrays.vectors)
    return GraphJudge(
        contents, neighbours, LabelPropagation(), GraphEvalOptions().reach, Absent(reason="no calibration was fitted.")
    )


async def test_without_a_model_and_without_a_graph_the_report_says_why_labelled_ideas_say_nothing() -> None:
    report = (await METHODS["scholareval"].evaluate(idea_of(), a_run(), bench_of(NO_GRAPH))).report
    assert report.verdict == NO_GRAPH
    assert "weak_signal" not in {notice.kind for notice in report.notices}


async def test_without_a_model_the_verdict_of_labelled_ideas_stands_beside_the_report_and_is_accounted_for() -> None:
    context = bench_of(await judge_of(await graph_of(forty())))
    report = (await METHODS["scholareval"].evaluate(idea_of(), a_run(), context)).report
    assert isinstance(report.verdict, Verdict)
    assert report.verdict.evidence
    assert "weak_signal" in {notice.kind for notice in report.notices}
    assert "viewpoint graph default" in {use.source for use in report.coverage.sources}
    assert len(report.parts) == 2


async def test_a_verdict_that_fails_is_absent_with_its_reason_and_costs_the_report_nothing() -> None:
    judge = await judge_of(await graph_of(forty()))
    idea = idea_of().model_copy(update={"text": "Maps maps. Maps."})
    report = (await METHODS["scholareval"].evaluate(idea, a_run(), bench_of(judge))).report
    assert isinstance(report.verdict, Absent)
    assert "no statement" in report.verdict.reason
    assert "verdict of labelled ideas" in {one.what for one in report.coverage.dropped}


async def test_where_a_model_judges_labelled_ideas_are_not_asked() -> None:
    context = bench_of(await judge_of(await graph_of(forty())), TwinLlm(EMBEDDER))
    report = (await METHODS["scholareval"].evaluate(idea_of(), a_run(), context)).report
    assert report.verdict is None


async def test_grapheval_needs_a_graph_and_says_how_to_build_one() -> None:
    with pytest.raises(InputError, match="assayer graph build"):
        await METHODS["grapheval"].evaluate(idea_of(), a_run(), bench_of(NO_GRAPH))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_names_its_tasks_and_options(name: str) -> None:
    method = METHODS[name]
    assert all(task.name.startswith((f"{name}.", "plan.", "support.")) for task in method.tasks)
    assert method.options(Settings()).model_dump()
